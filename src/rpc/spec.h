/* spec.h -- what `weir roofline collect` measures, from a YAML file. */
#ifndef RPC_SPEC_H
#define RPC_SPEC_H

#include "conf/conf.h"
#include "rpc/rpc.h"

/* What a case is for: a parameter of the model, a point to compare with it, or only itself. */
enum rpc_measures {
    RPC_MEASURES_RATE,
    RPC_MEASURES_CLIENT,
    RPC_MEASURES_SERVER,
    RPC_MEASURES_POINT
};

struct rpc_case {
    const char *name;
    uint32_t op, depth, clients, measures; /* clients 0: all */
    uint64_t size_b;
    double think_ps, rate, on_ps, off_ps;
};

struct rpc_storage {
    const char *path; /* NULL: none */
    uint64_t size_b;
    bool direct;
};

struct rpc_nic_spec {
    const char *name; /* NULL: by bucket and policy */
    const char *only; /* candidates by name; NULL or "": what libfabric offers */
    uint32_t bucket, policy;
};

/* With which servers a client is measured alone. */
enum rpc_pairs { RPC_PAIRS_ALL, RPC_PAIRS_NODES, RPC_PAIRS_OWN };

/* A specification; its fields are the keys of spec.c, which explains them. Constant after checking.
 */
struct rpc_spec {
    const char *transport, *provider, *bind, *launch; /* bind: an address; launch: a command */
    struct conf_list attach;             /* of const char *: tickets of servers that run already */
    uint32_t pairs;                      /* enum rpc_pairs */
    struct conf_list hosts;              /* of const char * */
    uint32_t servers, clients, per_node; /* processes; of each host */
    uint32_t wait;                       /* enum rpc_wait, of servers */
    uint32_t samples, repeats;           /* sub-windows of a window; windows of a case */
    double spindown_ps, warmup_ps, window_ps;
    uint64_t seed;
    struct rpc_storage storage;
    struct rpc_nic_spec nic;
    struct conf_list cases; /* of struct rpc_case; none: the standard ones */
};

extern const struct conf_row rpc_spec_rows[];

/* Fills in the standard cases and looks whether all fit together. */
bool rpc_spec_check(struct rpc_spec *s, const struct conf *c, struct wr_arena *arena,
                    struct wr_err *err);

/* What all cases need. */
struct rpc_sizes {
    uint32_t depth;
    uint64_t server_bulk_b, client_bulk_b;
};
struct rpc_sizes rpc_spec_sizes(const struct rpc_spec *s);

/* The model's name of what a case measures: rpc, bw, iops, sbw. */
const char *rpc_case_metric(const struct rpc_case *c);
static inline bool rpc_case_counts_bytes(const struct rpc_case *c)
{
    const char *m = rpc_case_metric(c);

    return m[0] == 'b' || m[0] == 's';
}

#endif
