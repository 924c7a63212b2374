#include "cmd/view/server.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <nettle/memops.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cmd/diag.h"
#include "cmd/memory.h"
#include "formats/view/page/page.h"

enum {
    TOKEN_BYTES = 32,
    TOKEN_DIGITS = 2 * TOKEN_BYTES,
    ANSWER_STACK = 1 << 20,
    MOST_CONNECTIONS = 128,      /* then others wait */
    MOST_OF_ADDRESS = 120,       /* then others are closed */
    SILENT_SECONDS = 15,         /* after which a connection is closed */
    MOST_OF_REQUEST = 32 * 1024, /* bytes of memory for a connection, and so of a request */
};

/* ---- libmicrohttpd ----------------------------------------------------------------------------
 */

#define MHD_FUNCTIONS(X)                                                                           \
    X(start_daemon)                                                                                \
    X(stop_daemon)                                                                                 \
    X(create_response_from_buffer)                                                                 \
    X(add_response_header)                                                                         \
    X(queue_response)                                                                              \
    X(destroy_response)                                                                            \
    X(lookup_connection_value)                                                                     \
    X(get_connection_values_n)

typedef struct http {
    bool ready;
#define MEMBER(name) __typeof__(MHD_##name) *name;
    MHD_FUNCTIONS(MEMBER)
#undef MEMBER
} http;

/* False after a diagnostic. The library stays loaded. */
static bool load_http(http *h)
{
    static const char name[] = "libmicrohttpd.so.12";
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL), *function = library;
#define LOAD(name)                                                                                 \
    if (function && (function = dlsym(library, "MHD_" #name)))                                     \
        memcpy(&h->name, &function, sizeof function);
    MHD_FUNCTIONS(LOAD)
#undef LOAD
    if (!function)
        diag_error("gotrace view needs %s (Debian: libmicrohttpd12): %s", name, dlerror());
    h->ready = function;
    return function;
}

/* ---- the server -------------------------------------------------------------------------------
 */

struct server {
    http http;
    int listening; /* -1: not; the daemon closes it */
    struct MHD_Daemon *daemon;
    view_api *api;           /* of what is below "/" */
    view_api *const *traces; /* of "/N/"; NULL: there is one trace */
    size_t count;
    char token[TOKEN_DIGITS + 1];
    char cookie[24]; /* its name, which has the port, because a browser sends the cookies of all
                        ports of a host to each of them */
    char address[TOKEN_DIGITS + 48];
};

typedef struct MHD_Connection connection;

typedef struct header {
    const char *name, *value; /* NULL after the last */
} header;

/* The page of several traces has frames with those of each. */
#define POLICY(frames, ancestors)                                                                  \
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "                \
    "img-src 'self' data:; " frames "base-uri 'none'; form-action 'none'; "                        \
    "frame-ancestors " ancestors

static const char policy[] = POLICY("", "'none'"),
                  policy_of_several[] = POLICY("frame-src 'self'; ", "'self'");

static const header always[] = {
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cache-Control", "no-store"},
    {NULL, NULL},
};

/* What is sent. */
typedef struct content {
    const char *type;
    const char *bytes;
    size_t size;
    enum MHD_ResponseMemoryMode memory; /* whether the bytes are copied, or freed */
} content;

static bool add_headers(const http *h, struct MHD_Response *r, const header *list)
{
    while (list->name && h->add_response_header(r, list->name, list->value) == MHD_YES)
        list++;
    return !list->name;
}

/* Without memory the connection is closed. */
static enum MHD_Result send_content(const server *s, connection *c, unsigned status,
                                    const content *sent, const header *more)
{
    const http *h = &s->http;
    const header own[] = {{"Content-Security-Policy", s->traces ? policy_of_several : policy},
                          {MHD_HTTP_HEADER_CONTENT_TYPE, sent->type},
                          {NULL, NULL}};
    void *bytes = (void *)(uintptr_t)sent->bytes; /* which are not changed */
    struct MHD_Response *r = h->create_response_from_buffer(sent->size, bytes, sent->memory);
    if (!r) {
        if (sent->memory == MHD_RESPMEM_MUST_FREE)
            free(bytes);
        return MHD_NO;
    }
    const bool done = add_headers(h, r, always) && add_headers(h, r, own) &&
                      (!more || add_headers(h, r, more));
    const enum MHD_Result result = done ? h->queue_response(c, status, r) : MHD_NO;
    h->destroy_response(r);
    return result;
}

/* message: it needs no escapes in JSON. */
static enum MHD_Result refuse(const server *s, connection *c, unsigned status, const char *message)
{
    static const header methods[] = {{MHD_HTTP_HEADER_ALLOW, "GET, HEAD"}, {NULL, NULL}};
    char text[256];
    const int size = snprintf(text, sizeof text, "{\"error\": \"%s\"}\n", message);
    const content sent = {"application/json", text, (size_t)size, MHD_RESPMEM_MUST_COPY};
    return send_content(s, c, status, &sent,
                        status == MHD_HTTP_METHOD_NOT_ALLOWED ? methods : NULL);
}

/* ---- who may ask ------------------------------------------------------------------------------
 */

static bool is_token(const server *s, const char *text)
{
    return text && strlen(text) == TOKEN_DIGITS && memeql_sec(text, s->token, TOKEN_DIGITS);
}

/* Whether this is a name of this machine, with any port: with `ssh -L` the browser connects to
 * another one than the server's. */
static bool is_local(const char *host)
{
    static const char *const names[] = {"127.0.0.1", "localhost"};
    for (size_t i = 0; host && i < sizeof names / sizeof *names; i++) {
        const size_t size = strlen(names[i]);
        if (strncmp(host, names[i], size) != 0)
            continue;
        const char *port = host + size;
        if (*port == '\0' || (*port == ':' && port[1] && !port[1 + strspn(port + 1, "0123456789")]))
            return true;
    }
    return false;
}

/* Whether the page that asks, if it is known, is one of that host. */
static bool is_own_origin(const char *origin, const char *host)
{
    static const char scheme[] = "http://";
    return !origin || (strncmp(origin, scheme, sizeof scheme - 1) == 0 &&
                       strcmp(origin + sizeof scheme - 1, host) == 0);
}

/* ---- answers ----------------------------------------------------------------------------------
 */

typedef struct arguments {
    view_argument list[VIEW_ARGUMENTS_MOST];
    size_t count;
    bool wrong; /* too many, or one has a byte 0 */
} arguments;

static enum MHD_Result add_argument(void *ctx, enum MHD_ValueKind kind, const char *name,
                                    size_t name_size, const char *value, size_t value_size)
{
    arguments *a = ctx;
    (void)kind;
    a->wrong = a->wrong || a->count == VIEW_ARGUMENTS_MOST || strlen(name) != name_size ||
               (value && strlen(value) != value_size);
    if (a->wrong)
        return MHD_NO;
    a->list[a->count++] = (view_argument){name, value};
    return MHD_YES;
}

static enum MHD_Result answer_question(const server *s, connection *c, view_api *api,
                                       const char *question)
{
    arguments a = {.count = 0};
    view_reply reply = {.bytes = NULL};
    s->http.get_connection_values_n(c, MHD_GET_ARGUMENT_KIND, add_argument, &a);
    if (a.wrong)
        return refuse(s, c, MHD_HTTP_BAD_REQUEST, "too many arguments, or one with a byte 0");
    if (!view_api_answer(api, question, a.list, a.count, &reply))
        return refuse(s, c, MHD_HTTP_SERVICE_UNAVAILABLE,
                      "memory was refused, or the temporary file cannot be read");
    const content sent = {reply.type, reply.bytes, reply.size, MHD_RESPMEM_MUST_FREE};
    return send_content(s, c, reply.status, &sent, NULL);
}

static enum MHD_Result answer_file(const server *s, connection *c, const char *path)
{
    for (const view_page_file *f = view_page_files; f->path; f++) {
        const content sent = {f->type, f->bytes, f->size, MHD_RESPMEM_PERSISTENT};
        if (strcmp(f->path, path) == 0)
            return send_content(s, c, MHD_HTTP_OK, &sent, NULL);
    }
    return refuse(s, c, MHD_HTTP_NOT_FOUND, "no such file or question");
}

static enum MHD_Result answer_path(const server *s, connection *c, const char *path)
{
    static const char questions[] = VIEW_API_PATH;
    view_api *api = s->api;
    _Static_assert(SERVER_TRACES <= 9, "a digit is the number of a trace");
    if (s->traces && path[0] == '/' && path[1] >= '1' && path[1] < '1' + (int)s->count &&
        path[2] == '/') {
        api = s->traces[path[1] - '1'];
        path += 2;
    } else if (s->traces && strcmp(path, "/") == 0) {
        path = "/panes.html";
    }
    if (strncmp(path, questions, sizeof questions - 1) == 0)
        return answer_question(s, c, api, path + sizeof questions - 1);
    return answer_file(s, c, path);
}

/* The browser then shows an address without the token. */
static enum MHD_Result give_cookie(const server *s, connection *c)
{
    char cookie[TOKEN_DIGITS + 96];
    snprintf(cookie, sizeof cookie, "%s=%s; Path=/; HttpOnly; SameSite=Strict", s->cookie,
             s->token);
    const header more[] = {
        {MHD_HTTP_HEADER_LOCATION, "/"}, {MHD_HTTP_HEADER_SET_COOKIE, cookie}, {NULL, NULL}};
    const content nothing = {"text/plain", "", 0, MHD_RESPMEM_PERSISTENT};
    return send_content(s, c, MHD_HTTP_SEE_OTHER, &nothing, more);
}

/* Called when the head of a request was read, again for each part of a body, and at the end. */
static enum MHD_Result answer(void *ctx, connection *c, const char *path, const char *method,
                              const char *version, const char *data, size_t *size, void **request)
{
    const server *s = ctx;
    const http *h = &s->http;
    (void)version, (void)data;
    /* An answer before the end of the request closes the connection. */
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return refuse(s, c, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD");
    if (*size)
        return MHD_NO;
    if (!*request) {
        *request = ctx;
        return MHD_YES;
    }
    const char *host = h->lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);
    const char *origin = h->lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_ORIGIN);
    if (!is_local(host) || !is_own_origin(origin, host))
        return refuse(s, c, MHD_HTTP_FORBIDDEN, "not from another host or page");
    if (strcmp(path, "/") == 0 &&
        is_token(s, h->lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "token")))
        return give_cookie(s, c);
    if (!is_token(s, h->lookup_connection_value(c, MHD_COOKIE_KIND, s->cookie)))
        return refuse(s, c, MHD_HTTP_FORBIDDEN, "open the address that gotrace view has printed");
    return answer_path(s, c, path);
}

/* ---- from beginning to end --------------------------------------------------------------------
 */

static bool make_token(char token[TOKEN_DIGITS + 1])
{
    unsigned char bytes[TOKEN_BYTES];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        return false;
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

/* Returns the port, or 0 with errno set. */
static unsigned listen_at(server *s, uint16_t port)
{
    struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    s->listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    /* A port is free again as soon as the server before has ended. */
    if (s->listening >= 0 &&
        setsockopt(s->listening, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int)) == 0 &&
        bind(s->listening, (struct sockaddr *)&at, size) == 0 &&
        listen(s->listening, MOST_CONNECTIONS) == 0 &&
        getsockname(s->listening, (struct sockaddr *)&at, &size) == 0)
        return ntohs(at.sin_port);
    return 0;
}

server *server_open(uint16_t port)
{
    server *s = calloc(1, sizeof *s);
    if (!s) {
        memory_report_refused();
        return NULL;
    }
    s->listening = -1;
    const unsigned actual = load_http(&s->http) ? listen_at(s, port) : 0;
    if (actual && make_token(s->token)) {
        snprintf(s->cookie, sizeof s->cookie, "gotrace-%u", actual);
        snprintf(s->address, sizeof s->address, "http://127.0.0.1:%u/?token=%s", actual, s->token);
        return s;
    }
    if (s->listening >= 0 && errno == EADDRINUSE)
        diag_error("--port %u: another program uses it; choose another one, or none", port);
    else if (s->http.ready)
        diag_error("cannot listen at 127.0.0.1: %s", strerror(errno));
    server_close(s);
    return NULL;
}

const char *server_address(const server *s)
{
    return s->address;
}

bool server_start(server *s, view_api *api, view_api *const *traces, size_t count)
{
    s->api = api;
    s->traces = traces;
    s->count = count;
    struct MHD_OptionItem options[] = {
        {MHD_OPTION_LISTEN_SOCKET, s->listening, NULL},
        {MHD_OPTION_THREAD_POOL_SIZE, SERVER_THREADS, NULL},
        {MHD_OPTION_THREAD_STACK_SIZE, ANSWER_STACK, NULL},
        {MHD_OPTION_CONNECTION_LIMIT, MOST_CONNECTIONS, NULL},
        {MHD_OPTION_PER_IP_CONNECTION_LIMIT, MOST_OF_ADDRESS, NULL},
        {MHD_OPTION_CONNECTION_TIMEOUT, SILENT_SECONDS, NULL},
        {MHD_OPTION_CONNECTION_MEMORY_LIMIT, MOST_OF_REQUEST, NULL},
        {MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL},
        {MHD_OPTION_END, 0, NULL},
    };
    s->daemon = s->http.start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL, answer, s,
                                     MHD_OPTION_ARRAY, options, MHD_OPTION_END);
    s->listening = -1;
    if (!s->daemon)
        diag_error("cannot start the threads of the server: %s", strerror(errno));
    return s->daemon;
}

void server_close(server *s)
{
    if (!s)
        return;
    if (s->daemon)
        s->http.stop_daemon(s->daemon);
    if (s->listening >= 0)
        close(s->listening);
    free(s);
}
