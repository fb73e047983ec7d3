/* fabric.c -- any provider of libfabric with reliable datagrams and RMA.
 *
 * One endpoint, one completion queue. Receive buffers are posted before any peer sends and
 * posted again when they were read; messages that fit are injected, others leave from a pool of
 * buffers. Memory for RMA is registered once. A client introduces itself with its address and gets
 * a number, which its messages carry from then on.
 */
#include <arpa/inet.h>
#include <assert.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "base/units.h"
#include "rpc/peer_process.h"
#include "rpc/transport.h"

enum { BUFFER_B = RPC_INLINE_MOST + sizeof(struct rpc_head), RECEIVES = 256, SENDS = 256 };
enum { SENDS_PEER = SENDS / 8 }; /* a peer that takes no answers leaves buffers for others */
enum { BATCH = 32, NAME_B = 256, MOVES = 1024, WAIT_MOST_NS = 100000000 };

enum use { USE_RECEIVE, USE_SEND, USE_MOVE };

/* What a completion points at. */
struct work {
    struct fi_context2 context; /* the provider's; first */
    enum use use;
    uint32_t next; /* of those that are free */
    uint32_t peer; /* the receiver, and its turn */
    uint64_t cookie;
    uint8_t *at;
};

/* The library is opened when it is wanted: merely being linked with it costs every start
 * of the program the 0.2 s that some of its drivers take to look for their hardware. */
/* Functions of libfabric, found when the transport is opened first: weir runs without it. */
struct library {
    int (*getinfo)(uint32_t version, const char *node, const char *service, uint64_t flags,
                   const struct fi_info *hints, struct fi_info **ret);
    void (*freeinfo)(struct fi_info *info);
    struct fi_info *(*dupinfo)(const struct fi_info *info);
    int (*fabric)(struct fi_fabric_attr *attr, struct fid_fabric **ret, void *context);
    const char *(*strerror)(int code);
};

/* An endpoint over libfabric. */
struct fabric {
    /* Set up by open: */
    struct rpc_ep ep;
    struct library lib;
    struct fi_info *info; /* of the provider that was chosen */
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av; /* addresses of peers */
    struct fid_cq *cq; /* completions of all operations */
    struct fid_ep *fid;
    struct fid_mr *buffers_mr, *bulk_mr; /* registrations of `buffers` and of ep.bulk */
    uint8_t *buffers;                    /* of messages, received and sent */
    size_t buffers_b;
    /* While running: */
    struct work work[RECEIVES + SENDS + MOVES]; /* operations that libfabric may have */
    uint32_t free_send, free_move;              /* places in work[]; UINT32_MAX: none */
    fi_addr_t peer[RPC_PEERS];                  /* if there[] */
    bool there[RPC_PEERS], gone[RPC_PEERS];     /* gone: of a server, the provider says so */
    struct rpc_process own, process[RPC_PEERS]; /* to find out whether a peer has exited */
    uint16_t turn[RPC_PEERS];                   /* how many had that place before */
    uint16_t sends[RPC_PEERS];                  /* buffers with messages to it that have not left */
    uint32_t mine; /* of a client: its number at the server, from 1; 0: not known yet */
    bool broken;   /* of a client: the provider says that the server is gone */
    bool blocks;   /* the provider can sleep */
    int wait_fd;   /* if it blocks */
};

/* What a hello carries, before the provider's own address. */
struct introduction {
    uint32_t len;
    uint8_t name[NAME_B];
    uint32_t spare;
    struct rpc_process process;
};

static struct fabric *fabric_of(struct rpc_ep *ep)
{
    return (struct fabric *)(void *)ep;
}

/* ---- open ---- */

#define TRY(call, what)                                                              \
    do {                                                                             \
        int failed_ = (int)(call);                                                   \
        if (failed_)                                                                 \
            return wr_fail(err, WR_SYSTEM,                                           \
                           "libfabric: %s: %s; try another provider, see "           \
                           "`fi_info`",                                              \
                           what, f->lib.strerror(failed_ < 0 ? -failed_ : failed_)); \
    } while (0)

static bool fabric_open_library(struct library *lib, struct wr_err *err)
{
    const struct {
        const char *name;
        void *at;
    } want[] = {
        {"fi_getinfo", &lib->getinfo},   {"fi_freeinfo", &lib->freeinfo},
        {"fi_dupinfo", &lib->dupinfo},   {"fi_fabric", &lib->fabric},
        {"fi_strerror", &lib->strerror},
    };
    void *so = dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL);

    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        void *symbol = so ? dlsym(so, want[i].name) : NULL;

        if (!symbol)
            return wr_fail(err, WR_SYSTEM, "%s; install libfabric1, or use transport: shm",
                           dlerror());
        memcpy(want[i].at, &symbol, sizeof symbol);
    }
    return true;
}

static struct fi_info *fabric_hints(const struct library *lib, const struct rpc_ep_opts *o)
{
    struct fi_info *h = lib->dupinfo(NULL);

    h->caps =
        FI_MSG | FI_RMA | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE | FI_SEND | FI_RECV;
    h->mode = FI_CONTEXT | FI_CONTEXT2;
    h->ep_attr->type = FI_EP_RDM;
    h->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    h->domain_attr->threading = FI_THREAD_DOMAIN;
    h->tx_attr->msg_order = 0; /* none: every message names its call */
    if (o->provider)
        h->fabric_attr->prov_name = strdup(o->provider);
    if (o->domain)
        h->domain_attr->name = strdup(o->domain);
    return h;
}

/* ADDRESS or ADDRESS:PORT. NULL: any port. */
static const char *fabric_split_port(char *into, size_t size, const char *bind)
{
    snprintf(into, size, "%s", bind);
    char *colon = strrchr(into, ':');

    if (!colon || strchr(into, ':') != colon || strspn(colon + 1, "0123456789") == 0)
        return NULL;
    *colon = '\0';
    return colon + 1;
}

/* Loopback unless an address is given; providers without addresses of that kind take their own. */
static bool fabric_find_provider(struct fabric *f, struct wr_err *err)
{
    const struct rpc_ep_opts *o = &f->ep.o;
    struct fi_info *hints = fabric_hints(&f->lib, o);
    char node[128];
    const char *port = fabric_split_port(node, sizeof node, o->bind ? o->bind : "127.0.0.1");
    int failed = f->lib.getinfo(FI_VERSION(1, 14), o->domain ? NULL : node,
                                o->server && !o->domain ? port : NULL, o->domain ? 0 : FI_SOURCE,
                                hints, &f->info);

    /* Names that are no addresses must be the provider's own, or all would have the same. */
    if (!failed && !o->bind && f->info->addr_format == FI_ADDR_STR) {
        f->lib.freeinfo(f->info);
        f->info = NULL;
        failed = -FI_ENODATA;
    }
    if (failed && !o->bind)
        failed = f->lib.getinfo(FI_VERSION(1, 14), NULL, NULL, 0, hints, &f->info);
    f->lib.freeinfo(hints);
    if (failed)
        return wr_fail(err, WR_INPUT,
                       "libfabric has no provider \"%s\" with messages and RMA%s%s: "
                       "%s; `fi_info` lists what there is",
                       o->provider ? o->provider : "any", o->bind ? " at " : "",
                       o->bind ? o->bind : "", f->lib.strerror(-failed));
    return true;
}

/* Any other kind of waiting may turn out to be looking again and again, without end. */
static bool fabric_open_queue(struct fabric *f, struct wr_err *err)
{
    struct fi_cq_attr attr = {.size = 4096,
                              .format = FI_CQ_FORMAT_MSG,
                              .wait_obj = f->ep.o.may_block ? FI_WAIT_FD : FI_WAIT_NONE};

    if (f->ep.o.may_block && !fi_cq_open(f->domain, &attr, &f->cq, f)) {
        f->blocks = !fi_control(&f->cq->fid, FI_GETWAIT, &f->wait_fd);
        return true;
    }
    attr.wait_obj = FI_WAIT_NONE;
    TRY(fi_cq_open(f->domain, &attr, &f->cq, f), "a completion queue");
    return true;
}

static bool fabric_open_endpoint(struct fabric *f, struct wr_err *err)
{
    struct fi_av_attr av = {.type = FI_AV_UNSPEC, .count = f->ep.o.peers + 1};

    TRY(f->lib.fabric(f->info->fabric_attr, &f->fabric, f), "opening the fabric");
    TRY(fi_domain(f->fabric, f->info, &f->domain, f), "opening the domain");
    if (fi_av_open(f->domain, &av, &f->av, f)) {
        av.count = 0; /* some refuse more than they can hold, whether it will be used or not */
        TRY(fi_av_open(f->domain, &av, &f->av, f), "a table of addresses");
    }
    if (!fabric_open_queue(f, err))
        return false;
    TRY(fi_endpoint(f->domain, f->info, &f->fid, f), "an endpoint");
    TRY(fi_ep_bind(f->fid, &f->av->fid, 0), "binding the addresses");
    TRY(fi_ep_bind(f->fid, &f->cq->fid, FI_TRANSMIT | FI_RECV), "binding the queue");

    int failed = fi_enable(f->fid);

    /* libfabric 2.1 frees memory twice when an endpoint that could not be enabled is closed: it is
     * left to the end of the process. */
    if (failed)
        f->fid = NULL;
    TRY(failed, "enabling the endpoint");
    return true;
}

static bool fabric_map(uint8_t **ret, size_t size, struct wr_err *err)
{
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (at == MAP_FAILED)
        return wr_fail_errno(err, "no memory of %zu bytes; ask for less", size);
    *ret = at;
    return true;
}

static bool fabric_open_memory(struct fabric *f, struct wr_err *err)
{
    f->buffers_b = (size_t)(RECEIVES + SENDS) * BUFFER_B;
    if (!fabric_map(&f->buffers, f->buffers_b, err))
        return false;
    TRY(fi_mr_reg(f->domain, f->buffers, f->buffers_b, FI_SEND | FI_RECV, 0, 1, 0, &f->buffers_mr,
                  NULL),
        "registering buffers");
    if (!f->ep.o.bulk_b)
        return true;
    if (!fabric_map(&f->ep.bulk, f->ep.o.bulk_b, err))
        return false;
    TRY(fi_mr_reg(f->domain, f->ep.bulk, f->ep.o.bulk_b,
                  FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 2, 0, &f->bulk_mr,
                  NULL),
        "registering memory for RMA");
    return true;
}

static bool fabric_post_receive(struct fabric *f, struct work *w)
{
    ssize_t failed;

    while ((failed = fi_recv(f->fid, w->at, BUFFER_B, fi_mr_desc(f->buffers_mr), FI_ADDR_UNSPEC,
                             &w->context)) == -FI_EAGAIN)
        fi_cq_read(f->cq, NULL, 0);
    return !failed;
}

static bool fabric_post_all(struct fabric *f, struct wr_err *err)
{
    f->free_send = f->free_move = UINT32_MAX;
    for (uint32_t i = 0; i < RECEIVES + SENDS + MOVES; i++) {
        struct work *w = &f->work[i];
        uint32_t *list = i < RECEIVES + SENDS ? &f->free_send : &f->free_move;

        w->use = i < RECEIVES ? USE_RECEIVE : i < RECEIVES + SENDS ? USE_SEND : USE_MOVE;
        w->at = i < RECEIVES + SENDS ? f->buffers + (size_t)i * BUFFER_B : NULL;
        if (w->use == USE_RECEIVE) {
            if (!fabric_post_receive(f, w))
                return wr_fail(err, WR_SYSTEM,
                               "libfabric takes no receive buffers; try another "
                               "provider");
            continue;
        }
        w->next = *list;
        *list = i;
    }
    return true;
}

static void fabric_close(struct rpc_ep *ep)
{
    struct fabric *f = fabric_of(ep);
    struct fid *fids[] = {f->fid ? &f->fid->fid : NULL,
                          f->bulk_mr ? &f->bulk_mr->fid : NULL,
                          f->buffers_mr ? &f->buffers_mr->fid : NULL,
                          f->cq ? &f->cq->fid : NULL,
                          f->av ? &f->av->fid : NULL,
                          f->domain ? &f->domain->fid : NULL,
                          f->fabric ? &f->fabric->fid : NULL};

    for (size_t i = 0; i < sizeof fids / sizeof *fids; i++)
        if (fids[i])
            fi_close(fids[i]);
    if (f->info)
        f->lib.freeinfo(f->info);
    if (f->buffers)
        munmap(f->buffers, f->buffers_b);
    if (ep->bulk)
        munmap(ep->bulk, ep->o.bulk_b);
    free(f);
}

static bool fabric_open_all(struct fabric *f, struct wr_err *err)
{
    return fabric_open_library(&f->lib, err) && fabric_find_provider(f, err) &&
           fabric_open_endpoint(f, err) && fabric_open_memory(f, err) && fabric_post_all(f, err);
}

/* Some providers take signals for themselves and end the process with them: what Ctrl-C does is not
 * theirs to decide. */
static bool fabric_open(struct rpc_ep **ret, const struct rpc_ep_opts *o, struct wr_err *err)
{
    static const int ours[] = {SIGINT, SIGTERM};
    assert(o->peers && o->peers <= RPC_PEERS);
    struct fabric *f = wr_zalloc(1, sizeof *f);
    struct sigaction kept[2];

    f->ep = (struct rpc_ep){.t = &rpc_fabric, .o = *o, .inlined = RPC_INLINE_MOST};
    f->own = rpc_process_own();
    for (int i = 0; i < 2; i++)
        sigaction(ours[i], NULL, &kept[i]);
    bool ok = fabric_open_all(f, err);

    for (int i = 0; i < 2; i++)
        sigaction(ours[i], &kept[i], NULL);
    if (!ok) {
        fabric_close(&f->ep);
        return false;
    }
    *ret = &f->ep;
    return true;
}

/* ---- addresses and introduction of peers ---- */

static bool fabric_own_name(struct fabric *f, struct introduction *ret)
{
    size_t len = sizeof ret->name;

    if (fi_getname(&f->fid->fid, ret->name, &len) || len > sizeof ret->name)
        return false;
    ret->len = (uint32_t)len;
    return true;
}

/* fabric:NAME@NODE.PID, what the provider calls us in hexadecimal, and whose life that is. */
static void fabric_address(struct rpc_ep *ep, char into[RPC_ADDRESS])
{
    const struct rpc_process *own = &fabric_of(ep)->own;
    struct introduction i = {.len = 0};
    size_t n = (size_t)snprintf(into, RPC_ADDRESS, "fabric:");

    fabric_own_name(fabric_of(ep), &i);
    for (uint32_t k = 0; k < i.len; k++)
        n += (size_t)snprintf(into + n, RPC_ADDRESS - n, "%02x", i.name[k]);
    snprintf(into + n, RPC_ADDRESS - n, "@%" PRIx64 ".%" PRId32, own->node, own->pid);
}

static bool fabric_connect(struct rpc_ep *ep, const char *address, struct wr_err *err)
{
    struct fabric *f = fabric_of(ep);
    const char *at = address + 7;
    uint8_t name[NAME_B];
    size_t n = 0;
    unsigned byte;

    if (!strncmp(address, "fabric:", 7))
        for (; n < NAME_B && sscanf(at, "%2x", &byte) == 1; at += 2)
            name[n++] = (uint8_t)byte;
    if (!n || fi_av_insert(f->av, name, 1, &f->peer[0], 0, NULL) != 1)
        return wr_fail(err, WR_INPUT,
                       "\"%.60s\" is no address of this provider; use the same "
                       "transport and provider on both sides",
                       address);
    if (sscanf(at, "@%" SCNx64 ".%" SCNd32, &f->process[0].node, &f->process[0].pid) != 2)
        f->process[0] = (struct rpc_process){.pid = 0};
    f->there[0] = true;
    return true;
}

static size_t fabric_introduce(struct rpc_ep *ep, void *into, size_t size)
{
    struct introduction i = {.process = fabric_of(ep)->own};

    if (size < sizeof i || !fabric_own_name(fabric_of(ep), &i))
        return 0;
    memcpy(into, &i, sizeof i);
    return sizeof i;
}

static bool fabric_meet(struct rpc_ep *ep, uint32_t peer, const void *bytes, size_t len)
{
    struct fabric *f = fabric_of(ep);
    struct introduction i = {.len = 0};

    assert(peer < ep->o.peers);
    /* Another version gets an answer that says so, and its life may be missing. */
    if (len < offsetof(struct introduction, spare) || f->there[peer])
        return false;
    memcpy(&i, bytes, len < sizeof i ? len : sizeof i);
    if (i.len > NAME_B || fi_av_insert(f->av, i.name, 1, &f->peer[peer], 0, NULL) != 1)
        return false;
    f->there[peer] = true;
    f->gone[peer] = false;
    f->process[peer] = i.process;
    return true;
}

/* Messages of its may still be on their way: they carry the turn that is over. */
static void fabric_forget(struct rpc_ep *ep, uint32_t peer)
{
    struct fabric *f = fabric_of(ep);

    if (!f->there[peer])
        return;
    f->there[peer] = false;
    f->turn[peer]++;
    f->sends[peer] = 0;
    fi_av_remove(f->av, &f->peer[peer], 1, 0);
}

/* Some providers report a peer that has exited when a message is sent to it; none does reliably. */
static bool fabric_alive(struct rpc_ep *ep, uint32_t peer)
{
    struct fabric *f = fabric_of(ep);

    return !f->there[peer] ||
           (!f->broken && !f->gone[peer] && !rpc_process_exited(&f->process[peer], &f->own));
}

/* ---- messages ---- */

/* The number that a client has at the server, its place and turn, travels in `spare` of each
 * message's head, and is given out with the answer to its hello. */
static uint32_t fabric_number_of(const struct fabric *f, uint32_t peer)
{
    return (uint32_t)f->turn[peer] << 16 | (peer + 1);
}

/* UINT32_MAX: drop it. */
static uint32_t fabric_free_place(const struct fabric *f)
{
    for (uint32_t i = 0; i < f->ep.o.peers; i++)
        if (!f->there[i])
            return i;
    return UINT32_MAX;
}

static uint32_t fabric_peer_of(struct fabric *f, const uint8_t *bytes, size_t len)
{
    struct rpc_head h;

    if (len < sizeof h)
        return 0;
    memcpy(&h, bytes, sizeof h);
    if (!f->ep.o.server) {
        f->mine = h.spare;
        return 0;
    }
    if (h.kind == RPC_HELLO)
        return fabric_free_place(f);
    uint32_t peer = (h.spare & 0xffff) - 1;

    return peer < f->ep.o.peers && f->there[peer] && h.spare == fabric_number_of(f, peer)
               ? peer
               : UINT32_MAX;
}

static bool fabric_means_gone(int64_t code)
{
    static const int gone[] = {FI_ECONNREFUSED, FI_ECONNRESET, FI_ENOTCONN,  FI_EHOSTUNREACH,
                               FI_ECONNABORTED, FI_ESHUTDOWN,  FI_ETIMEDOUT, FI_EIO};

    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        if (code == gone[i])
            return true;
    return false;
}

/* A provider cannot report that an injected message failed, so pings are never injected. */
static bool fabric_send(struct rpc_ep *ep, uint32_t peer, const struct rpc_head *head,
                        const void *payload)
{
    struct fabric *f = fabric_of(ep);
    uint32_t k = f->free_send;
    size_t len = sizeof *head + head->len;
    struct rpc_head own = *head;

    if (k == UINT32_MAX || !f->there[peer] || (ep->o.server && f->sends[peer] >= SENDS_PEER))
        return false;
    struct work *w = &f->work[k];

    own.spare = ep->o.server ? fabric_number_of(f, peer) : f->mine;
    memcpy(w->at, &own, sizeof own);
    if (head->len)
        memcpy(w->at + sizeof own, payload, head->len);
    w->peer = fabric_number_of(f, peer);
    bool inject = len <= f->info->tx_attr->inject_size && head->id != RPC_PING_ID;
    ssize_t failed =
        inject ? fi_inject(f->fid, w->at, len, f->peer[peer])
               : fi_send(f->fid, w->at, len, fi_mr_desc(f->buffers_mr), f->peer[peer], &w->context);

    if (failed) {
        f->gone[peer] |= fabric_means_gone(-failed);
        fi_cq_read(f->cq, NULL, 0); /* lets the provider work, and takes nothing */
        return false;
    }
    if (!inject) {
        f->free_send = w->next;
        f->sends[peer]++;
    }
    return true;
}

static void fabric_flush(struct rpc_ep *ep)
{
    (void)ep;
}

static void fabric_release_work(struct fabric *f, struct work *w)
{
    assert(w->use != USE_RECEIVE); /* receive buffers are posted again instead */
    uint32_t *list = w->use == USE_SEND ? &f->free_send : &f->free_move;

    w->next = *list;
    *list = (uint32_t)(w - f->work);
}

static void fabric_complete(struct fabric *f, struct work *w, size_t len, bool ok)
{
    if (w->use == USE_MOVE) {
        uint64_t cookie = w->cookie;

        fabric_release_work(f, w);
        f->ep.on_bulk(f->ep.ctx, cookie, ok);
    } else if (w->use == USE_SEND) {
        uint32_t peer = (w->peer & 0xffff) - 1;

        if (w->peer == fabric_number_of(f, peer % RPC_PEERS))
            f->sends[peer]--;
        fabric_release_work(f, w);
    } else {
        uint32_t peer = ok ? fabric_peer_of(f, w->at, len) : UINT32_MAX;

        if (peer != UINT32_MAX)
            f->ep.on_msg(f->ep.ctx, peer, w->at, len);
        fabric_post_receive(f, w);
    }
}

static void fabric_complete_failed(struct fabric *f)
{
    struct fi_cq_err_entry e = {.flags = 0};

    if (fi_cq_readerr(f->cq, &e, 0) != 1 || e.err == FI_ECANCELED)
        return;
    f->broken |= !f->ep.o.server && fabric_means_gone(e.err);
    if (e.op_context) {
        struct work *w = e.op_context;
        uint32_t peer = (w->peer & 0xffff) - 1;

        if (w->use == USE_SEND && fabric_means_gone(e.err) &&
            w->peer == fabric_number_of(f, peer % RPC_PEERS))
            f->gone[peer] = true;
        fabric_complete(f, w, 0, false);
    }
}

static uint32_t fabric_progress(struct rpc_ep *ep)
{
    struct fabric *f = fabric_of(ep);
    struct fi_cq_msg_entry e[BATCH];
    ssize_t n = fi_cq_read(f->cq, e, BATCH);

    if (n == -FI_EAVAIL) {
        fabric_complete_failed(f);
        return 1;
    }
    for (ssize_t i = 0; i < n; i++)
        if (e[i].op_context)
            fabric_complete(f, e[i].op_context, e[i].len, true);
    return n > 0 ? (uint32_t)n : 0;
}

static bool fabric_blocks(struct rpc_ep *ep)
{
    return fabric_of(ep)->blocks;
}

/* Until there is something to read, which is left to progress(). The provider is asked first
 * whether it may be waited for: it may hold something already that its descriptor does not show. */
static uint32_t fabric_wait(struct rpc_ep *ep, uint64_t timeout_ns)
{
    struct fabric *f = fabric_of(ep);
    struct fid *fids[] = {&f->cq->fid};
    struct pollfd p = {.fd = f->wait_fd, .events = POLLIN};
    uint64_t ns = timeout_ns < WAIT_MOST_NS ? timeout_ns : WAIT_MOST_NS;

    if (!f->blocks)
        sched_yield();
    else if (!fi_trywait(f->fabric, fids, 1))
        ppoll(&p, 1, &(struct timespec){0, (long)ns}, NULL);
    return 0;
}

/* ---- memory of others ---- */

static struct rpc_ref fabric_refer(struct rpc_ep *ep, size_t at, size_t len)
{
    struct fabric *f = fabric_of(ep);
    bool virtual = f->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;

    return (struct rpc_ref){.at = at + (virtual ? (uint64_t)(uintptr_t)ep->bulk : 0),
                            .key = f->bulk_mr ? fi_mr_key(f->bulk_mr) : 0,
                            .len = len};
}

/* The provider checks that the peer offered that memory. */
static enum rpc_moved fabric_bulk(struct rpc_ep *ep, const struct rpc_bulk *b)
{
    struct fabric *f = fabric_of(ep);
    uint32_t k = f->free_move;
    ssize_t failed;

    if (k == UINT32_MAX || !f->there[b->peer])
        return k == UINT32_MAX ? RPC_MOVES_LATER : RPC_MOVES_NOT;
    struct work *w = &f->work[k];

    f->free_move = w->next;
    w->cookie = b->cookie;
    failed = (b->way == RPC_TO_PEER)
                 ? fi_write(f->fid, ep->bulk + b->at, b->ref.len, fi_mr_desc(f->bulk_mr),
                            f->peer[b->peer], b->ref.at, b->ref.key, &w->context)
                 : fi_read(f->fid, ep->bulk + b->at, b->ref.len, fi_mr_desc(f->bulk_mr),
                           f->peer[b->peer], b->ref.at, b->ref.key, &w->context);
    if (failed)
        fabric_release_work(f, w);
    if (failed == -FI_EAGAIN)
        fi_cq_read(f->cq, NULL, 0); /* lets the provider work, and takes nothing */
    return !failed ? RPC_MOVES : failed == -FI_EAGAIN ? RPC_MOVES_LATER : RPC_MOVES_NOT;
}

const struct rpc_transport rpc_fabric = {
    .name = "fabric",
    .summary = "libfabric: any provider with reliable datagrams and RMA",
    .looks = 8,
    .kernel_wakes = true,
    .open = fabric_open,
    .close = fabric_close,
    .address = fabric_address,
    .connect = fabric_connect,
    .introduce = fabric_introduce,
    .meet = fabric_meet,
    .forget = fabric_forget,
    .refer = fabric_refer,
    .send = fabric_send,
    .flush = fabric_flush,
    .progress = fabric_progress,
    .bulk = fabric_bulk,
    .blocks = fabric_blocks,
    .wait = fabric_wait,
    .alive = fabric_alive,
};
