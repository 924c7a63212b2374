/*
 * server.h - the HTTP server of `gotrace view`, by libmicrohttpd: the files of the page (page.h),
 * and the questions that it asks (api.h).
 *
 * It listens at 127.0.0.1 only. A random token, in the address that opens the page, is exchanged
 * for a cookie, without which nothing is answered, so that no other user of the machine and no
 * other page in the browser can read the trace. A request that names another host is refused, so
 * that no name of another site can be made to mean this server (DNS rebinding).
 *
 * libmicrohttpd is loaded by server_open instead of linked: it loads GnuTLS and seven other
 * libraries, which would double the time in which the program starts, and the memory that it then
 * has.
 */
#ifndef VIEW_SERVER_H
#define VIEW_SERVER_H

#include "formats/view/api/api.h"

enum {
    SERVER_THREADS = 4,
    SERVER_TRACES = 8, /* at most shown together */
};

typedef struct server server;

/* Listens at that port; 0: at any free one. Returns NULL after a diagnostic. */
server *server_open(uint16_t port);

/* Where the page is, with the token: "http://127.0.0.1:PORT/?token=TOKEN". */
const char *server_address(const server *s);

/* Begins to answer, in threads. api: of the questions below "/api/1/". traces: NULL, or those that
 * are shown together: then "/" is the page of all, "/N/" that of the N-th, from 1, and its
 * questions are below "/N/api/1/". They are borrowed until server_close. Connections that were made
 * since server_open are answered now. False after a diagnostic. */
bool server_start(server *s, view_api *api, view_api *const *traces, size_t count);

/* Ends the threads. Also of NULL. */
void server_close(server *s);

#endif
