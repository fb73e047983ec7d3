/* spec.c -- the configuration of `weir roofline collect`: rows, standard cases, checks.
 *
 * Rows and help texts are an interface. rpc_spec_check() runs once after parsing; later code relies
 * on what it checked (sizes, storage, launcher, allocation).
 */
#include "rpc/spec.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "rpc/nic/nic.h"

#define IN(type, field) offsetof(struct type, field)

static const char *const measures_names[] = {"rate", "client", "server", "point", NULL};

static const char *const pairs_names[] = {"all", "nodes", "own", NULL};

static const struct conf_row case_rows[] = {
    {.key = "name",
     .type = CONF_STRING,
     .offset = IN(rpc_case, name),
     .help = "what it is called in the run file"},
    {.key = "op",
     .type = CONF_CHOICE,
     .offset = IN(rpc_case, op),
     .def = "noop",
     .names = rpc_op_names,
     .help = "noop: an empty call; get, put: the server writes to or reads from the client's "
             "memory; sread, swrite: the same from and to storage"},
    {.key = "size",
     .type = CONF_BYTES,
     .offset = IN(rpc_case, size_b),
     .def = "0 B",
     .min = 0,
     .max = 1 << 30,
     .help = "of a transfer, or of a noop's payload"},
    {.key = "depth",
     .type = CONF_U32,
     .offset = IN(rpc_case, depth),
     .def = "1",
     .min = 1,
     .max = 4096,
     .help = "calls of a client that are under way together"},
    {.key = "clients",
     .type = CONF_U32,
     .offset = IN(rpc_case, clients),
     .def = "0",
     .min = 0,
     .max = 100000,
     .help = "how many of the clients take part; 0: all"},
    {.key = "think",
     .type = CONF_TIME,
     .offset = IN(rpc_case, think_ps),
     .def = "0",
     .min = 0,
     .max = 1e15,
     .help = "pause of a client between an answer and its next call"},
    {.key = "rate",
     .type = CONF_REAL,
     .offset = IN(rpc_case, rate),
     .def = "0",
     .min = 0,
     .max = 1e9,
     .help = "open loop: calls per second of a client at random times, however long answers "
             "take; 0: the next call follows the answer"},
    {.key = "burst",
     .type = CONF_TIME,
     .offset = IN(rpc_case, on_ps),
     .def = "0",
     .min = 0,
     .max = 1e15,
     .help = "length of bursts, between which there is a gap"},
    {.key = "gap",
     .type = CONF_TIME,
     .offset = IN(rpc_case, off_ps),
     .def = "0",
     .min = 0,
     .max = 1e15,
     .help = "length of the gap between bursts; 0: there are no bursts"},
    {.key = "measures",
     .type = CONF_CHOICE,
     .offset = IN(rpc_case, measures),
     .def = "rate",
     .names = measures_names,
     .help = "rate: only itself; client: C of the model, each client in turn, alone, with each "
             "server; server: S of the model; point: a rate to compare with the model"},
    CONF_END,
};

static const struct conf_row storage_rows[] = {
    {.key = "path",
     .type = CONF_PATH,
     .offset = IN(rpc_storage, path),
     .help = "a directory for a file that is removed again, or a block device, which is only read"},
    {.key = "size",
     .type = CONF_BYTES,
     .offset = IN(rpc_storage, size_b),
     .def = "64 MiB",
     .min = 1 << 20,
     .max = 1e15,
     .help = "how much of it each server uses"},
    {.key = "direct",
     .type = CONF_BOOL,
     .offset = IN(rpc_storage, direct),
     .def = "true",
     .help = "past the page cache (O_DIRECT)"},
    CONF_END,
};

static const struct conf_row nic_rows[] = {
    {.key = "name",
     .type = CONF_STRING,
     .offset = IN(rpc_nic_spec, name),
     .def = "",
     .help = "the NIC that every process takes, as hsn0; without, bucket and policy choose"},
    {.key = "only",
     .type = CONF_STRING,
     .offset = IN(rpc_nic_spec, only),
     .def = "",
     .help = "patterns of names that may be taken, as hsn*,!hsn3; without, those that libfabric "
             "offers"},
    {.key = "bucket",
     .type = CONF_CHOICE,
     .offset = IN(rpc_nic_spec, bucket),
     .def = "passthrough",
     .names = nic_bucket_names,
     .help = "which NICs a process may take; passthrough: whichever libfabric takes"},
    {.key = "policy",
     .type = CONF_CHOICE,
     .offset = IN(rpc_nic_spec, policy),
     .def = "roundrobin",
     .names = nic_policy_names,
     .help = "which of these it takes"},
    CONF_END,
};

const struct conf_row rpc_spec_rows[] = {
    {.key = "transport",
     .type = CONF_STRING,
     .offset = IN(rpc_spec, transport),
     .def = "shm",
     .help = "shm: memory shared by processes of a node; tcp: sockets; fabric: libfabric"},
    {.key = "provider",
     .type = CONF_STRING,
     .offset = IN(rpc_spec, provider),
     .def = "",
     .help = "of libfabric, as `fi_info -l` names them"},
    {.key = "bind",
     .type = CONF_STRING,
     .offset = IN(rpc_spec, bind),
     .def = "",
     .help = "address of the interface servers listen on, perhaps with :PORT; without, only this "
             "machine reaches them"},
    {.key = "nic",
     .type = CONF_SECTION,
     .offset = IN(rpc_spec, nic),
     .rows = nic_rows,
     .help = "which NIC each process takes; see `weir roofline nics`"},
    {.key = "servers",
     .type = CONF_U32,
     .offset = IN(rpc_spec, servers),
     .def = "1",
     .min = 1,
     .max = 10000,
     .help = "server processes"},
    {.key = "attach",
     .type = CONF_LIST,
     .item = CONF_PATH,
     .offset = IN(rpc_spec, attach),
     .def = "",
     .help = "servers that run already, by the tickets that `weir roofline serve` wrote; none is "
             "started then"},
    {.key = "clients",
     .type = CONF_U32,
     .offset = IN(rpc_spec, clients),
     .def = "4",
     .min = 1,
     .max = 10000,
     .help = "client processes; client K calls server K modulo their number"},
    {.key = "pairs",
     .type = CONF_CHOICE,
     .offset = IN(rpc_spec, pairs),
     .def = "all",
     .names = pairs_names,
     .help = "measures: client: all: each client with each server; nodes: one client with one "
             "server for each pair of hosts; own: each client with the server it calls"},
    {.key = "per_node",
     .type = CONF_U32,
     .offset = IN(rpc_spec, per_node),
     .def = "1",
     .min = 1,
     .max = 1e6,
     .help = "processes that a node will hold, for the model"},
    {.key = "wait",
     .type = CONF_CHOICE,
     .offset = IN(rpc_spec, wait),
     .def = "adaptive",
     .names = rpc_wait_names,
     .help = "how servers and clients wait"},
    {.key = "spindown",
     .type = CONF_TIME,
     .offset = IN(rpc_spec, spindown_ps),
     .def = "50 us",
     .min = 0,
     .max = 1e12,
     .help = "adaptive: how long one looks before one sleeps"},
    {.key = "launch",
     .type = CONF_STRING,
     .offset = IN(rpc_spec, launch),
     .def = "",
     .help = "command that starts a process elsewhere, as in \"ssh {host} {cmd}\" or \"srun -N1 "
             "-n1 -w {host} {cmd}\"; {rank} and {role} may stand in it too; without, processes "
             "are started here"},
    {.key = "hosts",
     .type = CONF_LIST,
     .item = CONF_STRING,
     .offset = IN(rpc_spec, hosts),
     .def = "",
     .help = "what stands for {host}: servers first, then clients, in turn"},
    {.key = "warmup",
     .type = CONF_TIME,
     .offset = IN(rpc_spec, warmup_ps),
     .def = "200 ms",
     .min = 0,
     .max = 1e15,
     .help = "time before the window, which does not count"},
    {.key = "window",
     .type = CONF_TIME,
     .offset = IN(rpc_spec, window_ps),
     .def = "1 s",
     .min = 1e9,
     .max = 3.6e15,
     .help = "what is measured, the same for all processes"},
    {.key = "samples",
     .type = CONF_U32,
     .offset = IN(rpc_spec, samples),
     .def = "3",
     .min = 1,
     .max = 1000,
     .help = "how often each case is repeated"},
    {.key = "repeats",
     .type = CONF_U32,
     .offset = IN(rpc_spec, repeats),
     .def = "2",
     .min = 0,
     .max = 100,
     .help = "how often a window that others disturbed is measured again at most; 0: it is only "
             "marked"},
    {.key = "seed",
     .type = CONF_U64,
     .offset = IN(rpc_spec, seed),
     .def = "1",
     .help = "of random times and places"},
    {.key = "storage",
     .type = CONF_SECTION,
     .offset = IN(rpc_spec, storage),
     .def = "",
     .rows = storage_rows,
     .help = "what servers read from and write to"},
    {.key = "cases",
     .type = CONF_LIST,
     .offset = IN(rpc_spec, cases),
     .def = "",
     .rows = case_rows,
     .size = sizeof(struct rpc_case),
     .help = "what is measured; without, the standard cases"},
    CONF_END,
};

static const struct rpc_case standard[] = {
    {.name = "rpc-client", .op = RPC_OP_NOOP, .depth = 1, .measures = RPC_MEASURES_CLIENT},
    {.name = "rpc-server", .op = RPC_OP_NOOP, .depth = 16, .measures = RPC_MEASURES_SERVER},
    {.name = "rpc-all", .op = RPC_OP_NOOP, .depth = 1, .measures = RPC_MEASURES_POINT},
    {.name = "bw-client",
     .op = RPC_OP_GET,
     .depth = 1,
     .size_b = 4 << 20,
     .measures = RPC_MEASURES_CLIENT},
    {.name = "bw-server",
     .op = RPC_OP_GET,
     .depth = 2,
     .size_b = 4 << 20,
     .measures = RPC_MEASURES_SERVER},
    {.name = "bw-all",
     .op = RPC_OP_GET,
     .depth = 1,
     .size_b = 4 << 20,
     .measures = RPC_MEASURES_POINT},
    {.name = "put-4MiB", .op = RPC_OP_PUT, .depth = 1, .size_b = 4 << 20},
    {.name = "get-4KiB", .op = RPC_OP_GET, .depth = 1, .size_b = 4 << 10},
    {.name = "get-64KiB", .op = RPC_OP_GET, .depth = 1, .size_b = 64 << 10},
    {.name = "get-1MiB", .op = RPC_OP_GET, .depth = 1, .size_b = 1 << 20},
    /* with storage */
    {.name = "iops-client",
     .op = RPC_OP_SREAD,
     .depth = 1,
     .size_b = 4 << 10,
     .measures = RPC_MEASURES_CLIENT},
    {.name = "iops-server",
     .op = RPC_OP_SREAD,
     .depth = 8,
     .size_b = 4 << 10,
     .measures = RPC_MEASURES_SERVER},
    {.name = "sbw-client",
     .op = RPC_OP_SREAD,
     .depth = 1,
     .size_b = 1 << 20,
     .measures = RPC_MEASURES_CLIENT},
    {.name = "sbw-server",
     .op = RPC_OP_SREAD,
     .depth = 4,
     .size_b = 1 << 20,
     .measures = RPC_MEASURES_SERVER},
    {.name = "swrite-4KiB", .op = RPC_OP_SWRITE, .depth = 4, .size_b = 4 << 10},
};
enum { STANDARD = sizeof standard / sizeof *standard, WITHOUT_STORAGE = 10 };

static bool spec_on_storage(const struct rpc_case *c)
{
    return c->op == RPC_OP_SREAD || c->op == RPC_OP_SWRITE;
}

const char *rpc_case_metric(const struct rpc_case *c)
{
    if (c->op == RPC_OP_NOOP)
        return "rpc";
    if (!spec_on_storage(c))
        return "bw";
    return c->size_b <= 64 << 10 ? "iops" : "sbw";
}

static bool spec_check_case(const struct rpc_spec *s, const struct rpc_case *c,
                            const struct conf *conf, struct wr_err *err)
{
    if (c->clients > s->clients)
        return conf_fail(conf, &c->clients, err, "case %s wants %u clients of %u; give fewer",
                         c->name, c->clients, s->clients);
    if (c->op == RPC_OP_NOOP && c->size_b > 192)
        return conf_fail(conf, &c->size_b, err,
                         "a noop carries at most 192 B; use get or put for more");
    if (c->op != RPC_OP_NOOP && c->size_b < 8)
        return conf_fail(conf, &c->size_b, err, "case %s moves nothing; give it a size from 8 B on",
                         c->name);
    if (spec_on_storage(c) && !s->storage.path)
        return conf_fail(conf, &c->op, err, "case %s needs storage; add `storage: {path: ...}`",
                         c->name);
    if (spec_on_storage(c) && (c->size_b % 4096 || c->size_b > s->storage.size_b))
        return conf_fail(conf, &c->size_b, err,
                         "case %s: storage is used in multiples of 4 KiB, up to its size; give "
                         "another size",
                         c->name);
    if (c->off_ps > 0 && !(c->on_ps > 0))
        return conf_fail(conf, &c->off_ps, err,
                         "case %s has gaps and no bursts between them; give burst", c->name);
    return true;
}

static bool spec_check_nic(const struct rpc_spec *s, const struct conf *c, struct wr_err *err)
{
    bool chosen = (s->nic.name && *s->nic.name) || s->nic.bucket != NIC_PASSTHROUGH;

    if (chosen && !strcmp(s->transport, "shm"))
        return conf_fail(c, &s->nic.name, err,
                         "shared memory needs no NIC; take transport: fabric, or leave nic out");
    if (s->nic.only && *s->nic.only && s->nic.bucket == NIC_PASSTHROUGH)
        return conf_fail(c, &s->nic.only, err,
                         "only says among which NICs a bucket chooses, and there is none; add "
                         "`bucket: all`, or package or numa");
    if (chosen && s->bind && *s->bind)
        return conf_fail(c, &s->bind, err,
                         "bind and nic both say what is listened on; leave one out");
    return true;
}

/* Batch systems say how many processes an allocation holds; a launcher would wait for the rest
 * without end. */
static bool spec_check_allocation(const struct rpc_spec *s, const struct conf *c,
                                  struct wr_err *err)
{
    static const struct {
        const char *launcher, *variable;
    } known[] = {{"srun", "SLURM_NTASKS"}, {"mpiexec", "PBS_NP"}, {"aprun", "PBS_NP"}};
    uint64_t want = (s->attach.n ? 0 : (uint64_t)s->servers) + s->clients;

    for (size_t i = 0; s->launch && i < sizeof known / sizeof *known; i++) {
        const char *tasks = strstr(s->launch, known[i].launcher) ? getenv(known[i].variable) : NULL;
        unsigned long n = tasks ? strtoul(tasks, NULL, 10) : 0;

        if (n && n < want && !strstr(s->launch, "--overlap"))
            return conf_fail(c, &s->clients, err,
                             "%llu servers and clients do not fit the allocation, which holds %lu "
                             "processes (%s); ask for a larger one or for fewer clients",
                             (unsigned long long)want, n, known[i].variable);
    }
    return true;
}

/* Of servers that run already there are as many as tickets. */
static bool spec_check_attach(struct rpc_spec *s, const struct conf *c, struct wr_err *err)
{
    if (!s->attach.n)
        return true;
    if (s->servers != 1 && s->servers != s->attach.n)
        return conf_fail(c, &s->servers, err,
                         "%u servers and %zu tickets; leave out servers, tickets are counted",
                         s->servers, s->attach.n);
    s->servers = (uint32_t)s->attach.n;
    return true;
}

struct rpc_sizes rpc_spec_sizes(const struct rpc_spec *s)
{
    struct rpc_sizes z = {.depth = 0};

    assert(s->cases.n);
    for (size_t i = 0; i < s->cases.n; i++) {
        const struct rpc_case *k = (const struct rpc_case *)s->cases.items + i;
        uint64_t size = k->op == RPC_OP_NOOP ? 0 : k->size_b;

        z.depth = k->depth > z.depth ? k->depth : z.depth;
        z.server_bulk_b = size > z.server_bulk_b ? size : z.server_bulk_b;
        if (size * k->depth > z.client_bulk_b)
            z.client_bulk_b = size * k->depth;
    }
    return z;
}

bool rpc_spec_check(struct rpc_spec *s, const struct conf *c, struct wr_arena *arena,
                    struct wr_err *err)
{
    if (!rpc_transport_find(s->transport, err))
        return conf_fail(c, &s->transport, err, "no transport \"%s\"; take shm, tcp or fabric",
                         s->transport);
    if (s->launch && *s->launch && !strstr(s->launch, "{cmd}"))
        return conf_fail(c, &s->launch, err,
                         "a launcher must say where the command stands; write {cmd} in it");
    if (s->launch && strstr(s->launch, "{host}") && !s->hosts.n)
        return conf_fail(c, &s->launch, err, "the launcher wants a {host}; add `hosts: [...]`");
    if (!spec_check_nic(s, c, err) || !spec_check_attach(s, c, err) ||
        !spec_check_allocation(s, c, err))
        return false;
    if (!s->cases.n) {
        size_t n = s->storage.path ? STANDARD : WITHOUT_STORAGE;

        s->cases.items = wr_arena_alloc(arena, sizeof standard);
        memcpy(s->cases.items, standard, n * sizeof standard[0]);
        s->cases.n = n;
        if (s->storage.path && s->storage.size_b < 1 << 20)
            return conf_fail(c, &s->storage.size_b, err, "the standard cases need 1 MiB; give it");
        return true;
    }
    for (size_t i = 0; i < s->cases.n; i++)
        if (!spec_check_case(s, (const struct rpc_case *)s->cases.items + i, c, err))
            return false;
    return true;
}
