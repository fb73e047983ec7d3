/* place_list.c -- the placement `list`: nodes from a file, or from a set of nodes. */
#include <stdlib.h>

#include "base/file.h"
#include "base/mem.h"
#include "place_file.h"
#include "place_priv.h"

struct list_params {
    const char *file, *nodes;
    struct conf_list where; /* const char * */
};

static const struct conf_row list_rows[] = {
    {"file", CONF_PATH, offsetof(struct list_params, file), "",
     .help = "A node for each rank: one per line, or CSV with columns `rank` and `node` or "
             "`terminal_id`."},
    {"where", CONF_LIST, offsetof(struct list_params, where), "",
     .help = "Of a CSV file, the lines with these values, as in [placement=cont, slot=0].",
     .item = CONF_STRING, .size = sizeof(const char *)},
    {"nodes", CONF_STRING, offsetof(struct list_params, nodes), "",
     .help = "Instead of a file: the nodes in order, as in \"0-3, 8, group 2\"; ranks are dealt to "
             "them."},
    CONF_END,
};

/* May the job have this node? */
static bool list_is_free(const struct place_ask *ask, uint32_t node, struct wr_err *err)
{
    int32_t owner = ask->at->owner[node];

    if (owner == PLACE_FREE)
        return true;
    if (owner >= 0)
        return wr_fail(err, WR_INPUT, "node %u belongs to job %d; name another", node, owner);
    return wr_fail(err, WR_INPUT, "node %u is %s; name another", node,
                   owner == PLACE_DOWN ? "down" : "excluded");
}

struct gather {
    const struct place_ask *ask;
    uint8_t *seen;
    uint32_t *node, n;
};

static bool list_gather_node(void *ctx, uint32_t node, struct wr_err *err)
{
    struct gather *g = ctx;

    if (!list_is_free(g->ask, node, err))
        return false;
    if (g->seen[node])
        return wr_fail(err, WR_INPUT,
                       "node %u is named twice; name it once, ranks_per_node says "
                       "how many ranks it takes",
                       node);
    g->seen[node] = 1;
    g->node[g->n++] = node;
    return true;
}

static bool list_map_words(const struct place_ask *ask, const char *words, uint32_t *node,
                           struct wr_err *err)
{
    const struct place_job *job = ask->job;
    struct gather g = {.ask = ask,
                       .seen = wr_zalloc(ask->at->nnodes, 1),
                       .node = wr_alloc(ask->at->nnodes * sizeof *g.node)};
    bool ok = place_set_each(ask->at, words, list_gather_node, &g, err);

    if (ok && g.n < ask->nodes)
        ok = wr_fail(err, WR_INPUT, "%u nodes are named and the job needs %u; name more", g.n,
                     ask->nodes);
    for (uint32_t r = 0; ok && r < job->ranks; r++)
        node[r] = g.node[job->deal == PLACE_CYCLIC ? r % ask->nodes : r / job->per_node];
    free(g.seen);
    free(g.node);
    return ok;
}

/* Every node is free, and no node gets more than its share. */
static bool list_check_map(const struct place_ask *ask, const char *name, const uint32_t *node,
                           const uint32_t *line, struct wr_err *err)
{
    uint32_t *count = wr_zalloc(ask->at->nnodes, sizeof *count), r = 0;
    bool ok = true;

    for (; ok && r < ask->job->ranks; r++) {
        ok = list_is_free(ask, node[r], err);
        if (ok && ++count[node[r]] > ask->job->per_node)
            ok = wr_fail(err, WR_INPUT,
                         "node %u gets more than %u ranks; set ranks_per_node or name another",
                         node[r], ask->job->per_node);
    }
    free(count);
    return ok ? true : wr_wrap(err, "%s:%u", name, line[r - 1]);
}

static bool list_map_file(const struct place_ask *ask, const struct list_params *par,
                          uint32_t *node, struct wr_err *err)
{
    const struct place_file f = {.ranks = ask->job->ranks,
                                 .nnodes = ask->at->nnodes,
                                 .rails = ask->at->rails,
                                 .where = par->where.items,
                                 .nwhere = par->where.n};
    size_t len;
    char *text;

    /* Lines of a CSV file have a dozen numbers, and it may hold other jobs' ranks. */
    if (!wr_file_read(&text, &len, par->file, 1 << 20 | 256ull * 8 * ask->at->nnodes, err))
        return false;
    uint32_t *line = wr_alloc(f.ranks * sizeof *line);
    bool ok = place_file_parse(&f, par->file, text, len, node, line, err) &&
              list_check_map(ask, par->file, node, line, err);

    free(line);
    free(text);
    return ok;
}

static bool list_map(const struct place_ask *ask, uint32_t *node, struct wr_err *err)
{
    const struct list_params *par = ask->params;
    bool file = par->file && *par->file, words = par->nodes && *par->nodes;

    if (file == words)
        return wr_fail(err, WR_INPUT, "give either `file` or `nodes`");
    if (words && par->where.n)
        return wr_fail(err, WR_INPUT, "`where` chooses lines of a file; leave it out with `nodes`");
    return file ? list_map_file(ask, par, node, err) : list_map_words(ask, par->nodes, node, err);
}

const struct place_ops place_list = {
    .kind = {"list", "nodes named one by one, in a file or in words", list_rows,
             sizeof(struct list_params)},
    .map = list_map,
};
