/* file_priv.h -- what a topology file says, before it becomes wiring.
 *
 * Names are slices of the text, which lives as long as the topology. Numbers of
 * things are 32 bits because the text is limited to 1 GiB.
 */
#ifndef NET_TOPO_FILE_PRIV_H
#define NET_TOPO_FILE_PRIV_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"

#define FILE_MAX_BYTES (UINT32_C(1) << 30)

struct file_word {
    uint32_t at, len; /* in the text; len 0: none */
    uint32_t line, column;
};

/* The three name spaces. Routers and nodes share one, so that no node has the name of a router. */
enum file_space { FILE_THING, FILE_GROUP, FILE_CLASS };

struct file_name {
    struct file_word word;
    uint32_t space, index; /* index: among routers, nodes, groups or classes */
    bool is_node;
};

struct file_router {
    uint32_t name, group;
    uint64_t nodes, cables; /* ports it needs */
};

struct file_node {
    uint32_t name, router;
};

struct file_link {
    uint32_t a, b, cables;
    uint8_t cls;
};

/* What a topology file says; filled by topo_file_read(), then constant. */
struct file_machine {
    const char *path, *text;        /* the caller's, and must outlive it */
    WR_VEC(struct file_name) names; /* of everything below */
    WR_VEC(struct file_router) routers;
    WR_VEC(struct file_node) nodes;
    WR_VEC(struct file_link) links;
    uint32_t ngroups, nclasses; /* nclasses: counted from TOPO_OWN */
    uint32_t class_name[16];    /* of own classes; TOPO_NONE: the unnamed one */
    struct wr_map by_name;      /* a space and a text to an index of `names` */
};

bool topo_file_read(struct file_machine *m, const char *path, const char *text, size_t len,
                    struct wr_err *err);
void topo_file_machine_fini(struct file_machine *m);

/* "path:line:column: ..." */
bool topo_file_fail(const struct file_machine *m, struct file_word at, struct wr_err *err,
                    const char *fmt, ...) __attribute__((format(printf, 4, 5)));

#endif
