/* nic.h -- which NIC a process should take.
 *
 * Three steps: which NICs a job may take at all, a bucket of them, then one of the bucket.
 *
 *   machine (hwloc) ──restrict──> candidates ──bucket──> all | package | numa | passthrough
 *                    (libfabric)                          │
 *                               policy: byset, bycore, random, roundrobin, leastloaded
 *
 * The package and the NUMA node are those of the CPU the process is on. Pass-through
 * leaves it to the library, whose rule is shown: among the NICs that are local to the
 * binding, the first bound CPU modulo their number.
 *
 * roundrobin and leastloaded need to know what others took: struct nic_load, which is shared by
 * the processes of a job through a table of owners (nic_table_take). Owners that died are
 * forgotten.
 */
#ifndef RPC_NIC_NIC_H
#define RPC_NIC_NIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/rng.h"

enum { NIC_MOST = 64, NIC_CPUS = 4096, NIC_NAME = 32, NIC_NOWHERE = UINT16_MAX };

struct nic_cpus {
    uint64_t w[NIC_CPUS / 64];
};

static inline bool nic_cpus_has(const struct nic_cpus *c, uint32_t cpu)
{
    return cpu < NIC_CPUS && c->w[cpu / 64] >> cpu % 64 & 1;
}

static inline void nic_cpus_add(struct nic_cpus *c, uint32_t cpu)
{
    c->w[cpu / 64] |= UINT64_C(1) << cpu % 64;
}

uint32_t nic_cpus_count(const struct nic_cpus *c);
uint32_t nic_cpus_nth(const struct nic_cpus *c, uint32_t n); /* the n-th CPU in it, from 0 */
/* "0-3,8": as the kernel and taskset write it. */
bool nic_cpus_parse(struct nic_cpus *ret, const char *text, struct wr_err *err);
void nic_cpus_text(const struct nic_cpus *c, char *into, size_t size);

struct nic {
    char name[NIC_NAME];   /* of the network interface: hsn0 */
    char fabric[NIC_NAME]; /* of the fabric's device, cxi0; "" if it has none */
    char pci[NIC_NAME];    /* 0000:01:00.0, or "" */
    struct nic_cpus local; /* CPUs it is near to */
    const char *left_out;  /* why no process takes it, nic_restrict; NULL: one may */
};

struct nic_machine {
    uint32_t nnics;
    struct nic nic[NIC_MOST];
    struct nic_cpus cpus;
    uint16_t package[NIC_CPUS], numa[NIC_CPUS]; /* of each CPU; NIC_NOWHERE: unknown */
};

/* From hwloc's XML, or with NULL this machine. In the order of PCI addresses. */
bool nic_machine_open(struct nic_machine **ret, const char *xml, struct wr_err *err);
bool nic_have_hwloc(void);

/* What libfabric offers: of a provider, one device. What it does not say is "". */
struct nic_offer {
    char domain[NIC_NAME]; /* cxi0, mlx5_0, eth0 */
    char device[NIC_NAME];
    char pci[NIC_NAME];
};

/* The devices of `provider`, or with NULL of the one that libfabric prefers. How many; 0: there is
 * no libfabric, or no such provider. */
size_t nic_offers(struct nic_offer *ret, size_t most, const char *provider);

/* Leaves out the NICs that are not to be taken. With `only`, those whose names (of the interface or
 * the fabric's device) it does not match: patterns as in "hsn*,!hsn3". Without, those that are not
 * offered, and where no offer is of a NIC of this machine those without a device of a fabric, if
 * others have one. Fails if `only` matches none. */
bool nic_restrict(struct nic_machine *m, const char *only, const struct nic_offer *o, size_t n,
                  struct wr_err *err);
uint32_t nic_candidates(const struct nic_machine *m); /* those that are not left out */

enum nic_bucket { NIC_ALL, NIC_PACKAGE, NIC_NUMA, NIC_PASSTHROUGH };
enum nic_policy { NIC_BYSET, NIC_BYCORE, NIC_RANDOM, NIC_ROUNDROBIN, NIC_LEASTLOADED };
extern const char *const nic_bucket_names[]; /* both end with NULL */
extern const char *const nic_policy_names[];

/* What others took so far. A bucket's counter is found by the first NIC in it. */
struct nic_load {
    uint32_t owners[NIC_MOST];
    uint32_t turn[NIC_MOST];
};

struct nic_ask {
    enum nic_bucket bucket;
    enum nic_policy policy;
    struct nic_cpus bound; /* not empty */
    uint32_t cpu;          /* where it is now */
};

struct nic_choice {
    uint32_t nic;
    uint32_t candidates; /* NICs in the bucket */
    bool fell_back;      /* the bucket had none, and all were taken instead */
};

/* Takes one and counts it in `load`. Fails if the machine has no NIC. */
bool nic_pick(struct nic_choice *ret, const struct nic_machine *m, const struct nic_ask *ask,
              struct nic_load *load, struct wr_rng *rng, struct wr_err *err);

/* The same among the processes of a job on this node: `path` is the job's table, made if
 * absent. The calling process becomes the owner until it ends. */
bool nic_table_take(struct nic_choice *ret, const char *path, const struct nic_machine *m,
                    const struct nic_ask *ask, struct wr_rng *rng, struct wr_err *err);
/* The calling process owns nothing any more; the last owner removes the table. */
void nic_table_leave(const char *path);
/* Removes the tables in a directory, with NULL where they are by default, whose owners are all
 * gone. */
void nic_tables_collect(const char *dir);
/* Where the table of this job is: by the batch system's job number, else by login session. */
void nic_table_path(char *into, size_t size);

#endif
