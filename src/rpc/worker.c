/* worker.c -- the main loop of a worker process: reads commands, runs a server or a client.
 *
 * See worker.h for the protocol. At most one of `server` and `driver` is set. The worker ends when
 * its input closes, so it never outlives the process that started it.
 */
#include "rpc/worker.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "base/version.h"
#include "rpc/take_nic.h"
#include "rpc/worker_commands.h"

enum { LOOK_NS = 2000000, WAIT_NS = 20000000 };

/* A process of a collection: a server or a client, as it is commanded. */
struct worker {
    int in, out;               /* commands; answers */
    struct wr_str text;        /* read and not yet handled */
    bool ended;                /* the commands are over */
    struct rpc_server *server; /* or NULL */
    struct rpc_driver *driver; /* or NULL: one of the two */
    struct rpc_taken_nic nic;  /* given back at the end */
};

static void worker_send(struct worker *w, json_t *what)
{
    assert(what);
    char *text = json_dumps(what, JSON_COMPACT);
    size_t n = strlen(text), at = 0;

    text[n++] = '\n'; /* in the place of the zero */
    while (at < n) {
        ssize_t put = write(w->out, text + at, n - at);

        if (put < 0 && errno != EINTR) {
            w->ended = true;
            break;
        }
        at += put > 0 ? (size_t)put : 0;
    }
    free(text);
    json_decref(what);
}

static const char *worker_text(const json_t *j, const char *key)
{
    const char *s = json_string_value(json_object_get(j, key));

    return s && *s ? s : NULL;
}

static bool worker_open(struct worker *w, const json_t *j, struct wr_err *err)
{
    char address[RPC_ADDRESS] = "";
    const char *server_at;
    struct rpc_opts o;

    if (w->server)
        return wr_fail(err, WR_BUG, "opened twice; report this");
    /* A client may be sent to another server. */
    rpc_driver_close(w->driver);
    w->driver = NULL;
    if (!rpc_open_parse(&o, &server_at, j, err) || !rpc_take_nic(&w->nic, &o, err))
        return false;
    if (o.oversubscribed)
        rpc_share_processors();
    o.ticks = server_at && rpc_tick();
    if (server_at ? !rpc_driver_open(&w->driver, &o, server_at, err)
                  : !rpc_server_open(&w->server, &o, err))
        return false;
    if (w->server)
        rpc_server_address(w->server, address);
    enum rpc_wait waits =
        w->server ? rpc_server_waits(w->server) : rpc_client_waits(rpc_driver_client(w->driver));

    worker_send(w, json_pack("{ss, ss, ss, ss, sI}", "ready", address, "version",
                             wr_version_number(), "waits", rpc_wait_names[waits], "nic",
                             w->nic.name, "pid", (json_int_t)getpid()));
    return true;
}

static bool worker_load(struct worker *w, const json_t *j, struct wr_err *err)
{
    struct rpc_load l;

    if (!w->driver)
        return wr_fail(err, WR_BUG, "a load without a client; report this");
    rpc_load_parse(&l, j);
    struct rpc_seen *seen = wr_alloc(sizeof *seen);

    rpc_drive(w->driver, &l, seen, NULL);
    worker_send(w, json_pack("{so}", "seen", rpc_seen_json(seen)));
    free(seen);
    return true;
}

/* Usage of the server so far. A client asks its server, if this pool did not start it. */
static bool worker_usage(struct worker *w, const json_t *j, struct wr_err *err)
{
    struct rpc_used u;

    (void)j;
    if (!w->server && !w->driver)
        return wr_fail(err, WR_BUG, "usage without a server or client; report this");
    if (w->server)
        u = rpc_server_used(w->server);
    else if (!rpc_driver_ask(w->driver, &u)) {
        worker_send(w, json_pack("{s{}}", "usage"));
        return true;
    }
    worker_send(w,
                json_pack("{s{ss, sI, sI, sI, sI, sI, sI}}", "usage", "waits",
                          rpc_wait_names[u.waits <= RPC_TIMED ? u.waits : RPC_TIMED], "user_ns",
                          (json_int_t)u.user_ns, "sys_ns", (json_int_t)u.sys_ns, "switches",
                          (json_int_t)u.switches, "forced_switches", (json_int_t)u.forced_switches,
                          "dropped", (json_int_t)u.dropped, "refused", (json_int_t)u.refused));
    return true;
}

static const struct {
    const char *name;
    bool (*run)(struct worker *w, const json_t *j, struct wr_err *err);
} verbs[] = {{"open", worker_open}, {"load", worker_load}, {"usage", worker_usage}};

static void worker_execute(struct worker *w, const char *line, size_t n)
{
    json_t *j = json_loadb(line, n, 0, NULL);
    const char *what = j ? worker_text(j, "do") : NULL;
    struct wr_err err = {.text = "not understood; use the same weir on both sides"};
    bool ok = false;

    for (size_t i = 0; what && i < sizeof verbs / sizeof *verbs; i++)
        if (!strcmp(verbs[i].name, what))
            ok = verbs[i].run(w, j, &err);
    if (!ok)
        worker_send(w, json_pack("{ss, si}", "failed", err.text, "code", (int)err.code));
    json_decref(j);
}

static void worker_execute_all(struct worker *w)
{
    char *end;

    while (w->text.s && (end = memchr(w->text.s, '\n', w->text.n))) {
        size_t n = (size_t)(end - w->text.s) + 1;

        worker_execute(w, w->text.s, n - 1);
        memmove(w->text.s, w->text.s + n, w->text.n - n + 1);
        w->text.n -= n;
    }
}

/* Reads what there is; waits for it if nothing else is to be done. */
static void worker_read(struct worker *w, int timeout_ms)
{
    struct pollfd p = {.fd = w->in, .events = POLLIN};
    char part[4096];

    if (poll(&p, 1, timeout_ms) <= 0)
        return;
    ssize_t n = read(w->in, part, sizeof part);

    if (n > 0)
        wr_str_addn(&w->text, part, (size_t)n);
    else if (n == 0 || errno != EINTR)
        w->ended = true;
    if (w->text.n > 1 << 20)
        w->ended = true;
    worker_execute_all(w);
}

int rpc_worker_main(int in, int out)
{
    struct worker w = {.in = in, .out = out};
    uint64_t looked = 0, sleeps = 0;
    uint32_t steps = 0;

    assert(in >= 0 && out >= 0);
    /* The process that started this worker decides when it ends: it closes the pipe. */
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    while (!w.ended) {
        if (!w.server) {
            worker_read(&w, -1);
            continue;
        }
        rpc_server_step(w.server, WAIT_NS);
        if (++steps % 64 && rpc_server_sleeps(w.server) == sleeps)
            continue;
        sleeps = rpc_server_sleeps(w.server);
        uint64_t now = wr_clock_ns();

        if (now - looked > LOOK_NS) {
            looked = now;
            worker_read(&w, 0);
        }
    }
    rpc_driver_close(w.driver);
    rpc_server_close(w.server);
    rpc_leave_nic(&w.nic);
    wr_str_fini(&w.text);
    return 0;
}
