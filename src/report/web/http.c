/* http.c -- the answers over HTTP, with libmicrohttpd.
 *
 * Each connection has a thread of its own, so that none waits for another's report; conns.c keeps
 * those few on which nothing comes. */
#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "conns_priv.h"
#include "web_priv.h"

enum { THREAD_STACK_B = 2 << 20, BACKLOG = 128, SILENCE_S = 15 };

/* Set up by web_serve(); the daemon's threads use site and conns, each under its own lock. */
struct web_server {
    struct MHD_Daemon *daemon;
    struct web_site *site;
    struct web_conns conns;
    char *socket; /* a file to remove at the end, or NULL */
};

/* One request while it comes in. */
struct coming {
    char *target; /* as it was sent */
    struct wr_str body;
    bool begun, too_long;
};

static void *http_on_target(void *cls, const char *uri, struct MHD_Connection *c)
{
    struct coming *in = wr_zalloc(1, sizeof *in);

    (void)cls;
    (void)c;
    in->target = strndup(uri, WEB_LONGEST_TARGET + 1);
    return in;
}

static void http_on_connection(void *cls, struct MHD_Connection *c, void **socket_context,
                               enum MHD_ConnectionNotificationCode what)
{
    struct web_server *w = cls;

    if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
        web_conn_close(&w->conns, *socket_context);
        return;
    }
    const union MHD_ConnectionInfo *fd =
        MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
    const union MHD_ConnectionInfo *from =
        MHD_get_connection_info(c, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    *socket_context = web_conn_open(&w->conns, fd->connect_fd, from ? from->client_addr : NULL);
}

static struct web_conn *http_conn_of(struct MHD_Connection *c)
{
    const union MHD_ConnectionInfo *i =
        MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

    return i ? i->socket_context : NULL;
}

static void http_on_done(void *cls, struct MHD_Connection *c, void **ctx,
                         enum MHD_RequestTerminationCode why)
{
    struct web_server *w = cls;
    struct coming *in = *ctx;

    (void)why;
    web_conn_waits(&w->conns, http_conn_of(c));
    if (in) {
        free(in->target);
        wr_str_fini(&in->body);
        free(in);
    }
    *ctx = NULL;
}

static enum MHD_Result http_send_answer(struct MHD_Connection *c, struct web_answer *a)
{
    const struct {
        const char *name, *value;
    } headers[] = {
        {"Content-Type", a->type},
        {"Content-Security-Policy", a->policy},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Cache-Control", "no-store"},
    };
    struct MHD_Response *r = MHD_create_response_from_buffer(
        a->body.n, a->body.s ? a->body.s : strdup(""), MHD_RESPMEM_MUST_FREE);

    if (!r)
        return MHD_NO;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        MHD_add_response_header(r, headers[i].name, headers[i].value);
    if (a->status == 405)
        MHD_add_response_header(r, "Allow", "GET, HEAD");
    enum MHD_Result ok = MHD_queue_response(c, a->status, r);
    MHD_destroy_response(r);
    return ok;
}

static const char *http_header(struct MHD_Connection *c, const char *name)
{
    return MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

static enum MHD_Result http_on_request(void *cls, struct MHD_Connection *c, const char *url,
                                       const char *method, const char *version, const char *data,
                                       size_t *size, void **ctx)
{
    struct web_server *w = cls;
    struct coming *in = *ctx;
    struct wr_arena arena = {0};
    struct web_request q;
    struct web_answer a = {.policy = "default-src 'none'"};

    (void)url;
    (void)version;
    if (!in->begun) { /* only the head is there yet */
        in->begun = true;
        return MHD_YES;
    }
    /* A body comes in pieces; the answer is due when no more do. */
    if (*size) {
        in->too_long |= in->body.n + *size > WEB_LONGEST_BODY;
        if (!in->too_long)
            wr_str_addn(&in->body, data, *size);
        *size = 0;
        return MHD_YES;
    }
    web_conn_answers(&w->conns, http_conn_of(c));
    if (!in->target || !web_parse(&q, in->target, &arena)) {
        web_refuse(&a, 400, "this address cannot be read; see docs/formats/report.md");
    } else if (in->too_long) {
        web_refuse(&a, 413, "this is too long; send less");
    } else {
        q.method = method;
        q.host = http_header(c, "Host");
        q.origin = http_header(c, "Origin");
        q.authorization = http_header(c, "Authorization");
        q.type = http_header(c, "Content-Type");
        q.body = in->body.s;
        q.len = in->body.n;
        web_answer(w->site, &q, &a);
    }
    enum MHD_Result ok = http_send_answer(c, &a);
    wr_arena_fini(&arena);
    return ok;
}

static bool http_find_address(struct sockaddr_storage *ret, socklen_t *ret_len, const char *address,
                              unsigned port, struct wr_err *err)
{
    struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found;
    char service[16];

    snprintf(service, sizeof service, "%u", port);
    int rc = getaddrinfo(address, service, &hints, &found);
    if (rc)
        return wr_fail(err, WR_INPUT, "no address \"%s\": %s; try 127.0.0.1", address,
                       gai_strerror(rc));
    memcpy(ret, found->ai_addr, found->ai_addrlen);
    *ret_len = found->ai_addrlen;
    freeaddrinfo(found);
    return true;
}

/* A socket of our own, so that a port in use gives its own error. */
static int http_listen_at(const char *address, unsigned port, unsigned *ret_port,
                          struct wr_err *err)
{
    struct sockaddr_storage at = {0};
    socklen_t len = 0;
    int one = 1;

    if (!http_find_address(&at, &len, address, port, err))
        return -1;
    int fd = socket(at.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, len) || listen(fd, BACKLOG) ||
        getsockname(fd, (struct sockaddr *)&at, &len)) {
        wr_fail_errno(
            err, "cannot listen at %s, port %u; choose another port, or 0 for any that is free",
            address, port);
        if (fd >= 0)
            close(fd);
        return -1;
    }
    *ret_port = ntohs(at.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&at)->sin6_port
                                               : ((struct sockaddr_in *)&at)->sin_port);
    return fd;
}

/* A socket of a server that was killed is in the way; anything else of that name is not ours. */
static bool http_remove_dead_socket(const struct sockaddr_un *at, struct wr_err *err)
{
    struct stat st;

    if (lstat(at->sun_path, &st))
        return errno == ENOENT ||
               wr_fail_errno(err, "cannot look at %s; check the path", at->sun_path);
    int fd = S_ISSOCK(st.st_mode) ? socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1;
    bool dead = fd >= 0 && connect(fd, (const struct sockaddr *)at, sizeof *at) < 0 &&
                errno == ECONNREFUSED;
    if (fd >= 0)
        close(fd);
    if (!dead || unlink(at->sun_path))
        return wr_fail(err, WR_INPUT, "%s is there already; choose another name", at->sun_path);
    return true;
}

/* The permissions of the file protect it: only its owner can open it. */
static int http_listen_at_file(const char *path, struct wr_err *err)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};

    if (strlen(path) >= sizeof at.sun_path) {
        wr_fail(err, WR_INPUT,
                "%s: the name of a socket has at most %zu bytes; choose a shorter one", path,
                sizeof at.sun_path - 1);
        return -1;
    }
    memcpy(at.sun_path, path, strlen(path) + 1);
    if (!http_remove_dead_socket(&at, err))
        return -1;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    mode_t before = umask(0177);
    bool bound = fd >= 0 && !bind(fd, (struct sockaddr *)&at, sizeof at);
    umask(before);
    if (!bound || listen(fd, BACKLOG)) {
        wr_fail_errno(err, "cannot listen at %s; choose a directory that you may write", path);
        if (fd >= 0)
            close(fd);
        return -1;
    }
    return fd;
}

static struct MHD_Daemon *http_start_daemon(struct web_server *w, int fd)
{
    unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL;

    return MHD_start_daemon(
        flags, 0, NULL, NULL, http_on_request, w, MHD_OPTION_LISTEN_SOCKET, fd,
        MHD_OPTION_URI_LOG_CALLBACK, http_on_target, NULL, MHD_OPTION_NOTIFY_COMPLETED,
        http_on_done, w, MHD_OPTION_NOTIFY_CONNECTION, http_on_connection, w,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)WEB_MOST_CONNS + 64u, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)SILENCE_S, MHD_OPTION_THREAD_STACK_SIZE, (size_t)THREAD_STACK_B, MHD_OPTION_END);
}

bool web_serve(struct web_server **ret, struct web_site *s, const struct web_listen *at,
               unsigned *ret_port, struct wr_err *err)
{
    int fd = at->socket ? http_listen_at_file(at->socket, err)
                        : http_listen_at(at->address, at->port, ret_port, err);

    if (fd < 0)
        return false;
    struct web_server *w = wr_zalloc(1, sizeof *w);
    w->site = s;
    w->socket = at->socket ? wr_strdup(at->socket) : NULL;
    web_conns_init(&w->conns);
    w->daemon = http_start_daemon(w, fd);
    if (!w->daemon) {
        close(fd);
        web_serve_end(w);
        return wr_fail(err, WR_SYSTEM, "cannot start the server; are there threads left?");
    }
    *ret = w;
    return true;
}

void web_serve_tick(struct web_server *w)
{
    web_conns_tick(&w->conns);
}

void web_serve_end(struct web_server *w)
{
    if (w->daemon)
        MHD_stop_daemon(w->daemon);
    if (w->socket)
        unlink(w->socket);
    free(w->socket);
    web_conns_fini(&w->conns);
    free(w);
}
