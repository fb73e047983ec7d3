/* socket.c -- connections to servers that the user declared as storage.
 *
 * WEIR_PROF_SOCKETS is a comma-separated list of ports, addresses, addresses with a port
 * ("10.0.0.7:2049", "[fe80::1]:2049") and paths of Unix sockets. A descriptor is resolved at its
 * first use; each server has a row, like a mount. Without the list sockets are not examined. The
 * kernel's rchar and wchar include read and write on sockets, but not send and recv.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib_priv.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

static char wanted[1024];
bool lib_sockets;

void lib_socket_init(const char *list)
{
    if (list)
        lib_put(wanted, sizeof wanted, 0, list);
    lib_sockets = wanted[0] != 0;
}

/* The peer of a socket as text, and the parts that a list entry may name. */
struct peer {
    char text[160], address[128], port[8];
};

static bool socket_peer_inet(struct peer *p, int family, const void *address, in_port_t port)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    size_t at = 0;

    if (family == AF_INET6 && !memcmp(address, mapped, sizeof mapped)) {
        family = AF_INET;
        address = (const char *)address + sizeof mapped;
    }
    if (!inet_ntop(family, address, p->address, sizeof p->address))
        return false;
    lib_put_u64(p->port, sizeof p->port, 0, ntohs(port));
    at = lib_put(p->text, sizeof p->text, at, family == AF_INET6 ? "[" : "");
    at = lib_put(p->text, sizeof p->text, at, p->address);
    at = lib_put(p->text, sizeof p->text, at, family == AF_INET6 ? "]:" : ":");
    lib_put(p->text, sizeof p->text, at, p->port);
    return true;
}

static bool socket_peer(struct peer *p, int fd)
{
    union {
        struct sockaddr any;
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
        struct sockaddr_un un;
    } a = {0};
    socklen_t n = sizeof a;

    *p = (struct peer){0};
    if (lib_sys(SYS_getpeername, fd, &a, &n))
        return false;
    if (a.any.sa_family == AF_INET)
        return socket_peer_inet(p, AF_INET, &a.in.sin_addr, a.in.sin_port);
    if (a.any.sa_family == AF_INET6)
        return socket_peer_inet(p, AF_INET6, &a.in6.sin6_addr, a.in6.sin6_port);
    if (a.any.sa_family != AF_UNIX || n <= offsetof(struct sockaddr_un, sun_path))
        return false;
    a.un.sun_path[sizeof a.un.sun_path - 1] = 0;
    lib_put(p->text, sizeof p->text, 0, a.un.sun_path);
    return p->text[0] != 0;
}

static bool socket_peer_equals(const char *text, const char *item, size_t n)
{
    return strlen(text) == n && !memcmp(text, item, n);
}

/* One of the two paths may be relative: compare their ends. */
static bool socket_peer_ends(const char *text, const char *item, size_t n)
{
    size_t len = strlen(text);

    if (len > n)
        return text[len - n - 1] == '/' && !memcmp(text + len - n, item, n);
    return n > len && len && item[n - len - 1] == '/' && !memcmp(item + n - len, text, len);
}

static bool socket_peer_wanted(const struct peer *p)
{
    for (const char *item = wanted; *item;) {
        size_t n = strcspn(item, ",");

        if (n && (socket_peer_equals(p->text, item, n) || socket_peer_equals(p->address, item, n) ||
                  socket_peer_equals(p->port, item, n) ||
                  (!*p->port && socket_peer_ends(p->text, item, n))))
            return true;
        item += n + (item[n] == ',');
    }
    return false;
}

/* The row of the server that a socket is connected to; not storage: PROF_ROW_OTHER. */
uint32_t lib_socket_row(int fd)
{
    struct peer p;
    char path[208];

    if (!lib_sockets || !socket_peer(&p, fd) || !socket_peer_wanted(&p) || !lib_enter_slow())
        return PROF_ROW_OTHER;
    lib_put(path, sizeof path, lib_put(path, sizeof path, 0, "socket "), p.text);
    uint32_t row = PROF_ROW_REST, n = lib.shared ? 0 : lib.head->names_n;

    for (uint32_t i = PROF_ROW_FIRST; i < n && row == PROF_ROW_REST; i++)
        if (lib.names[i].kind == PROF_K_SOCKET && !strcmp(lib.names[i].path, path))
            row = i;
    if (row == PROF_ROW_REST)
        row = lib_name_claim();
    if (row != PROF_ROW_REST && row >= n) {
        struct prof_name *name = &lib.names[row];

        name->mount = row;
        lib_put(name->path, sizeof name->path, 0, path);
        __atomic_store_n(&name->kind, PROF_K_SOCKET, __ATOMIC_RELEASE);
    }
    lib_leave_slow();
    return row;
}

/* The descriptor may have been resolved before it was connected. */
LIB_API int connect(int fd, const struct sockaddr *to, socklen_t n)
{
    int r = LIB_REAL(connect)(fd, to, n);

    if (lib_unlikely(lib_sockets))
        lib_fd_closed(fd);
    return r;
}

/* SOCKET(type, send, WRITE, bytes requested, bytes moved given r, prototype, arguments) */
#define SOCKET(type, name, op, ask, moved, proto, args)                                       \
    LIB_API type name proto                                                                   \
    {                                                                                         \
        uint32_t row = lib_unlikely(lib_sockets) && lib_slot() ? lib_fd(fd) : PROF_ROW_OTHER; \
                                                                                              \
        if (lib_likely(row == PROF_ROW_OTHER))                                                \
            return LIB_REAL(name) args;                                                       \
        struct lib_call c = lib_begin(PROF_##op, row, ask);                                   \
        type r = LIB_REAL(name) args;                                                         \
                                                                                              \
        lib_end(&c, PROF_##op, (int64_t)(moved));                                             \
        lib_async(PROF_##op, row, (int64_t)(moved));                                          \
        return r;                                                                             \
    }

#define OUT int fd, const void *b, size_t n, int how
#define IN int fd, void *b, size_t n, int how
SOCKET(ssize_t, send, WRITE, n, r, (OUT), (fd, b, n, how))
SOCKET(ssize_t, sendto, WRITE, n, r, (OUT, const struct sockaddr *to, socklen_t len),
       (fd, b, n, how, to, len))
SOCKET(ssize_t, sendmsg, WRITE, 0, r, (int fd, const struct msghdr *m, int how), (fd, m, how))
SOCKET(ssize_t, recv, READ, n, r, (IN), (fd, b, n, how))
SOCKET(ssize_t, recvfrom, READ, n, r, (IN, struct sockaddr *from, socklen_t *len),
       (fd, b, n, how, from, len))
SOCKET(ssize_t, recvmsg, READ, 0, r, (int fd, struct msghdr *m, int how), (fd, m, how))

/* What programs compiled with _FORTIFY_SOURCE call. */
ssize_t __recv_chk(int fd, void *b, size_t n, size_t cap, int how);
ssize_t __recvfrom_chk(int fd, void *b, size_t n, size_t cap, int how, struct sockaddr *from,
                       socklen_t *len);
SOCKET(ssize_t, __recv_chk, READ, n, r, (int fd, void *b, size_t n, size_t cap, int how),
       (fd, b, n, cap, how))
SOCKET(ssize_t, __recvfrom_chk, READ, n, r,
       (int fd, void *b, size_t n, size_t cap, int how, struct sockaddr *from, socklen_t *len),
       (fd, b, n, cap, how, from, len))

static int64_t socket_sum(const struct mmsghdr *m, int n)
{
    int64_t sum = 0;

    for (int i = 0; i < n; i++)
        sum += m[i].msg_len;
    return sum;
}

SOCKET(int, sendmmsg, WRITE, 0, socket_sum(m, r), (int fd, struct mmsghdr *m, unsigned n, int how),
       (fd, m, n, how))
SOCKET(int, recvmmsg, READ, 0, socket_sum(m, r),
       (int fd, struct mmsghdr *m, unsigned n, int how, struct timespec *t), (fd, m, n, how, t))
