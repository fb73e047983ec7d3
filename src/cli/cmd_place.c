/* cmd_place.c -- `weir place FILE`: the node of each rank of each job, as table, map or SVG.
 *
 * Places the jobs as `weir run` would, with rank/place, and simulates nothing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/output.h"
#include "cli/cli.h"
#include "cli/cli_figure.h"
#include "cli/cli_table.h"
#include "load/load.h"
#include "rank/place/place_show.h"
#include "world/machine.h"

struct place_opts {
    const char *svg;
    struct cli_list sets;
    uint32_t groups;
    bool ranks, csv, json, force;
};

static const struct cli_opt place_rows[] = {
    {.name = "ranks",
     .type = CLI_FLAG,
     .offset = offsetof(struct place_opts, ranks),
     .help = "print the node of every rank instead of the map"},
    {.name = "svg",
     .type = CLI_TEXT,
     .offset = offsetof(struct place_opts, svg),
     .value = "OUT.svg",
     .help = "draw the map into this file"},
    CLI_FORCE(struct place_opts, force),
    {.name = "groups",
     .type = CLI_U32,
     .offset = offsetof(struct place_opts, groups),
     .value = "N",
     .def = "64",
     .help = "print at most N groups of the map"},
    CLI_SET(struct place_opts, sets),
    CLI_CSV(struct place_opts, csv),
    CLI_JSON(struct place_opts, json),
    CLI_OPT_END,
};

/* The jobs as placed. */
struct placed {
    const struct world_config *c;
    struct place place;
    uint32_t njobs, *ranks, **node;
    const char **name;
};

/* How many ranks a job has is its own to say, or its program's. */
static bool cmd_place_count_ranks(const struct conf *conf, const struct world_job *j, uint32_t *ret,
                                  struct wr_err *err)
{
    struct load_start how = {.ranks = j->ranks, .seed = 1};
    struct wr_err inner;
    struct load l;

    if (!load_open(&l, &j->program, &how, &inner)) {
        conf_fail(conf, &j->program, err, "%s", inner.text);
        err->code = inner.code;
        return false;
    }
    *ret = l.ranks;
    load_close(&l);
    return true;
}

static bool cmd_place_one_job(struct placed *p, uint32_t i, const struct conf *conf,
                              struct wr_err *err)
{
    const struct world_job *j = (const struct world_job *)p->c->jobs.items + i;
    struct wr_err inner;

    p->name[i] = j->name && *j->name ? j->name : j->program.kind->name;
    if (!cmd_place_count_ranks(conf, j, &p->ranks[i], err))
        return false;
    struct place_job want = {.how = j->placement,
                             .ranks = p->ranks[i],
                             .per_node = j->per_node,
                             .deal = (enum place_deal)j->deal};

    p->node[i] = wr_alloc(p->ranks[i] * sizeof *p->node[i]);
    if (!place_job(&p->place, &want, p->node[i], &inner))
        return conf_fail(conf, &j->placement, err, "job %s: %s", p->name[i], inner.text);
    return true;
}

static bool cmd_place_jobs(struct placed *p, const struct conf *conf, struct wr_err *err)
{
    struct wr_err inner;

    if (!p->njobs)
        return wr_fail(err, WR_INPUT,
                       "the configuration has no jobs to place; add some, `weir config explain "
                       "jobs` says how");
    if (p->c->exclude && *p->c->exclude && !place_exclude(&p->place, p->c->exclude, &inner))
        return conf_fail(conf, &p->c->exclude, err, "%s", inner.text);
    for (uint32_t i = 0; i < p->njobs; i++)
        if (!cmd_place_one_job(p, i, conf, err))
            return false;
    return true;
}

/* ---- showing ---- */

static void cmd_place_print_ranks(const struct placed *p, FILE *out, enum cli_format format)
{
    static const struct cli_column columns[] = {
        {"job", NULL}, {"rank", NULL}, {"node", NULL}, {"router", NULL}, {"group", NULL}};
    struct cli_table *t = cli_table_open(out, format, columns, 5);

    for (uint32_t i = 0; i < p->njobs; i++)
        for (uint32_t r = 0; r < p->ranks[i]; r++) {
            uint32_t node = p->node[i][r];

            cli_table_text(t, p->name[i]);
            cli_table_int(t, r);
            cli_table_int(t, node);
            cli_table_int(t, p->place.router[node]);
            cli_table_int(t, p->place.group[node]);
        }
    cli_table_close(t);
}

static void cmd_place_print_jobs(const struct placed *p, FILE *out, enum cli_format format)
{
    static const struct cli_column columns[] = {
        {"letter", "map"}, {"job", NULL},     {"placement", NULL},
        {"ranks", NULL},   {"nodes", NULL},   {"routers", NULL},
        {"groups", NULL},  {"least", "from"}, {"most", "to nodes per group"},
    };
    struct cli_table *t = cli_table_open(out, format, columns, 9);
    const struct world_job *jobs = p->c->jobs.items;

    for (uint32_t i = 0; i < p->njobs; i++) {
        struct place_shape s = place_shape(&p->place, i);
        char letter[2] = {place_letter(i), 0};

        cli_table_text(t, letter);
        cli_table_text(t, p->name[i]);
        cli_table_text(t, jobs[i].placement.kind->name);
        cli_table_int(t, p->ranks[i]);
        cli_table_int(t, s.nodes);
        cli_table_int(t, s.routers);
        cli_table_int(t, s.groups);
        cli_table_int(t, s.least);
        cli_table_int(t, s.most);
    }
    cli_table_close(t);
}

static void cmd_place_print_map(const struct placed *p, const struct place_view *v, uint32_t most,
                                FILE *out)
{
    struct wr_str text = {0};
    uint32_t more = place_text(v, most, &text);

    if (more)
        wr_str_addf(&text, "  ... and %u more groups; --svg draws them all\n", more);
    fprintf(out, "\n%u nodes: %u free (.), %u excluded (x), %u down (!)\n\ngroup\n%s",
            p->place.nnodes, p->place.nfree, p->place.nexcluded, p->place.ndown, wr_str_get(&text));
    wr_str_fini(&text);
}

static bool cmd_place_draw_map(const struct place_view *v, const struct place_opts *o,
                               struct wr_err *err)
{
    struct wr_str text = {0};

    place_svg(v, &text);
    bool ok = cli_figure_write(o->svg, &text, o->force ? WR_FORCE : 0, err);

    wr_str_fini(&text);
    return ok;
}

static bool cmd_place_print(const struct cli_call *call, const struct placed *p, struct wr_err *err)
{
    const struct place_opts *o = call->opts;
    const char *title = p->c->title && *p->c->title ? p->c->title : call->args[0];
    struct place_view v = {.p = &p->place, .title = title, .names = p->name};
    enum cli_format format;

    if (!cli_format_of(o->json, o->csv, &format, err) ||
        (o->svg && !cmd_place_draw_map(&v, o, err)))
        return false;
    if (o->ranks) {
        cmd_place_print_ranks(p, call->out, format);
        return true;
    }
    cmd_place_print_jobs(p, call->out, format);
    if (format == CLI_AS_TEXT)
        cmd_place_print_map(p, &v, o->groups, call->out);
    return true;
}

/* ---- all of it ---- */

static bool cmd_place_config(const struct cli_call *call, const struct conf *conf,
                             const struct world_config *c, struct wr_err *err)
{
    struct world_network network;
    struct placed p = {.c = c, .njobs = (uint32_t)c->jobs.n};

    if (!world_network_open(&network, conf, &c->machine, err))
        return false;
    bool ok = place_open(&p.place, &network.topo, network.net.rails, c->seed, err);

    p.ranks = wr_zalloc(p.njobs + 1ull, sizeof *p.ranks);
    p.node = wr_zalloc(p.njobs + 1ull, sizeof *p.node);
    p.name = wr_zalloc(p.njobs + 1ull, sizeof *p.name);
    ok = ok && cmd_place_jobs(&p, conf, err) && cmd_place_print(call, &p, err);
    for (uint32_t i = 0; i < p.njobs; i++)
        free(p.node[i]);
    free(p.ranks);
    free(p.node);
    free(p.name);
    place_close(&p.place);
    world_network_close(&network);
    return ok;
}

static int cmd_place_main(const struct cli_call *call, struct wr_err *err)
{
    const struct place_opts *o = call->opts;
    struct world_config config = {0};
    struct conf *conf;

    if (!conf_load(&conf, &config, world_rows, call->args[0], o->sets.v, o->sets.n, err))
        return cli_error(err);
    bool ok = cmd_place_config(call, conf, &config, err);

    conf_close(conf);
    return ok ? 0 : cli_error(err);
}

const struct cli_verb cli_cmd_place = {
    .name = "place",
    .summary = "show which rank of which job sits on which node",
    .args = "FILE",
    .min_args = 1,
    .max_args = 1,
    .input = 1,
    .about =
        "FILE is the configuration of a run with jobs. Prints how each job lies on the machine "
        "and a map with a line per group and a letter per node, as a run would place them.\n\n"
        "--ranks prints every rank's node; as CSV it is a file that the placement `list` reads.",
    .examples = "weir place examples/two-jobs.yaml\n"
                "weir place examples/milc-1056.yaml --set jobs.0.placement=hybrid --svg map.svg\n"
                "weir place examples/two-jobs.yaml --ranks --csv > map.csv\n",
    .opts = place_rows,
    .opts_size = sizeof(struct place_opts),
    .main = cmd_place_main,
};
