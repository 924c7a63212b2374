/*
 * descriptors.c - what the file descriptors of a process are: their names, and which are the two
 * ends of a channel.
 */
#include "cmd/record/record.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/hash.h"

typedef union address {
    struct sockaddr any;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
    struct sockaddr_un un;
} address;

static address address_of(const char *bytes, size_t size)
{
    address a = {.any.sa_family = AF_UNSPEC};
    memcpy(&a, bytes, size < sizeof a ? size : sizeof a);
    return a;
}

/* ---- channels -------------------------------------------------------------------------------- */

/* The inode of the socket that is connected with a Unix socket, see sock_diag(7); 0: the kernel
 * does not know it, as for one that is closed. */
static uint64_t find_peer(uint64_t inode)
{
    const struct {
        struct nlmsghdr head;
        struct unix_diag_req of;
    } request = {
        {.nlmsg_len = sizeof request,
         .nlmsg_type = SOCK_DIAG_BY_FAMILY,
         .nlmsg_flags = NLM_F_REQUEST},
        {.sdiag_family = AF_UNIX,
         .udiag_states = UINT32_MAX,
         .udiag_ino = (uint32_t)inode,
         .udiag_show = UDIAG_SHOW_PEER,
         .udiag_cookie = {UINT32_MAX, UINT32_MAX}},
    };
    union {
        struct nlmsghdr head;
        char bytes[1024];
    } answer;
    const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    ssize_t size = -1;
    uint32_t peer = 0;
    if (fd >= 0 && send(fd, &request, sizeof request, 0) == (ssize_t)sizeof request)
        size = recv(fd, &answer, sizeof answer, MSG_DONTWAIT);
    if (fd >= 0)
        close(fd);
    if (size < 0 || !NLMSG_OK(&answer.head, (size_t)size) ||
        answer.head.nlmsg_type != SOCK_DIAG_BY_FAMILY)
        return 0;
    const char *message = NLMSG_DATA(&answer.head);
    const struct rtattr *a = (const void *)(message + NLMSG_ALIGN(sizeof(struct unix_diag_msg)));
    size_t left = NLMSG_PAYLOAD(&answer.head, NLMSG_ALIGN(sizeof(struct unix_diag_msg)));
    for (; RTA_OK(a, left); a = RTA_NEXT(a, left))
        if (a->rta_type == UNIX_DIAG_PEER && RTA_PAYLOAD(a) == sizeof peer)
            memcpy(&peer, RTA_DATA(a), sizeof peer);
    return peer;
}

/* An address of IPv4 may be one of IPv6 at the other end. 0: it is of neither. */
static uint64_t inet_end(const char *bytes, size_t size)
{
    struct {
        struct in6_addr host;
        uint32_t port;
    } end = {.host = {.s6_addr = {[10] = 0xff, [11] = 0xff}}};
    const address a = address_of(bytes, size);
    if (a.any.sa_family == AF_INET) {
        memcpy(&end.host.s6_addr[12], &a.in.sin_addr, sizeof a.in.sin_addr);
        end.port = a.in.sin_port;
    } else if (a.any.sa_family == AF_INET6) {
        end.host = a.in6.sin6_addr;
        end.port = a.in6.sin6_port;
    } else {
        return 0;
    }
    return gt_hash_bytes(gt_hash_seed(), &end, sizeof end);
}

/* All eventfds have the same name, and others of that kind: a process has one with each number. */
static uint64_t file_end(const char link[RING_LINK], int32_t pid, uint16_t fd)
{
    static const char nameless[] = "anon_inode:";
    const uint64_t end = gt_hash_bytes(gt_hash_seed(), link, strnlen(link, RING_LINK));
    return strncmp(link, nameless, strlen(nameless)) == 0
               ? gt_hash_add(gt_hash_seed(), end, (uint64_t)(uint32_t)pid << 16 | fd)
               : end;
}

/* A Unix socket that is not connected has an end, too: datagrams may come from one that is. */
void descriptor_find_ends(descriptor *d, int32_t pid, uint16_t fd)
{
    const ring_descriptor *is = &d->is;
    const bool connected = is->type == RING_FD_CONNECTED;
    d->own = d->peer = 0;
    if (is->type == RING_FD_FILE) {
        d->own = d->peer = file_end(is->link, pid, fd);
    } else if (address_of(is->socket.peer, RING_ADDRESS).any.sa_family == AF_UNIX) {
        d->own = is->socket.inode;
        d->peer = connected ? find_peer(d->own) : 0;
    } else if (connected) {
        d->own = inet_end(is->socket.own, RING_INET_ADDRESS);
        d->peer = inet_end(is->socket.peer, RING_ADDRESS);
    }
}

bool descriptors_are_ends(const descriptor *a, const descriptor *b)
{
    return a->own && b->own && (a->peer || b->peer) && (!a->peer || a->peer == b->own) &&
           (!b->peer || b->peer == a->own);
}

/* ---- names ----------------------------------------------------------------------------------- */

/* A Unix socket without a name has the number that its link in /proc/self/fd has. */
static int put_unix(const struct sockaddr_un *a, uint64_t inode, char *text)
{
    const size_t room = sizeof a->sun_path;
    if (a->sun_path[0])
        return sprintf(text, "%.*s", (int)room, a->sun_path);
    if (a->sun_path[1]) /* an abstract name */
        return sprintf(text, "@%.*s", (int)room - 1, a->sun_path + 1);
    return sprintf(text, "socket:[%" PRIu64 "]", inode);
}

static int put_socket(const ring_descriptor *d, char *text)
{
    const address a = address_of(d->socket.peer, RING_ADDRESS);
    char host[INET6_ADDRSTRLEN];
    if (a.any.sa_family == AF_INET && inet_ntop(AF_INET, &a.in.sin_addr, host, sizeof host))
        return sprintf(text, "%s:%u", host, ntohs(a.in.sin_port));
    if (a.any.sa_family == AF_INET6 && inet_ntop(AF_INET6, &a.in6.sin6_addr, host, sizeof host))
        return sprintf(text, "[%s]:%u", host, ntohs(a.in6.sin6_port));
    if (a.any.sa_family == AF_UNIX)
        return put_unix(&a.un, d->socket.inode, text);
    return sprintf(text, "a socket of family %u", a.any.sa_family);
}

int descriptor_put(const descriptor *d, char text[DESCRIPTOR_TEXT])
{
    const char *before = d->is.type == RING_FD_SOCKET ? ": at " : ": ";
    const int size = sprintf(text, "%s", before);
    switch (d->is.type) {
    case RING_FD_FILE: return size + sprintf(text + size, "%.*s", RING_LINK, d->is.link);
    case RING_FD_CONNECTED:
    case RING_FD_SOCKET: return size + put_socket(&d->is, text + size);
    default: return 0;
    }
}

/* ---- of a process ---------------------------------------------------------------------------- */

void descriptors_set(source *s, uint16_t fd, descriptor *d)
{
    *s->backlog -= sizeof *d;
    if (d->is.type == RING_FD_CONNECTED && !d->peer)
        descriptor_find_ends(d, s->pid, fd); /* the connection may have been accepted by now */
    if (fd >= s->fd_count) {
        const size_t count = 2U * fd + 16;
        descriptor **grown = reallocarray(s->fds, count, sizeof *s->fds);
        if (!grown) {
            s->failed = true;
            free(d);
            return;
        }
        memset(&grown[s->fd_count], 0, (count - s->fd_count) * sizeof *s->fds);
        s->fds = grown;
        s->fd_count = count;
    }
    free(s->fds[fd]);
    s->fds[fd] = d;
}

/* Of other kinds the object is an address. */
static bool is_of_fd(const ring_record *call)
{
    return call->kind >= RING_NETWORK && !(call->object & RING_OF_SYSTEM);
}

const descriptor *descriptors_of(const source *s, const ring_record *call)
{
    const uint32_t fd = ring_fd(call->object);
    return is_of_fd(call) && fd < s->fd_count ? s->fds[fd] : NULL;
}

uint64_t descriptor_use(const ring_record *call)
{
    return is_of_fd(call) ? call->object & (RING_FROM | RING_TO | RING_CONNECTS) : 0;
}
