/* cmd_topo.c -- `weir topo FILE`: size, links, distances and picture of a machine; runs nothing. */
#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/output.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/cli_figure.h"
#include "cli/cli_table.h"
#include "net/net.h"
#include "net/topo/svg.h"
#include "net/topo/topo_describe.h"
#include "world/machine.h"

struct topo_opts {
    const char *svg;
    struct cli_list sets;
    bool json, force;
};

static const struct cli_opt topo_rows[] = {
    {.name = "svg",
     .type = CLI_TEXT,
     .offset = offsetof(struct topo_opts, svg),
     .value = "OUT.svg",
     .help = "draw the machine into this file"},
    CLI_FORCE(struct topo_opts, force),
    CLI_SET(struct topo_opts, sets),
    CLI_JSON(struct topo_opts, json),
    CLI_OPT_END,
};

/* A run's configuration has the machine inside; a machine file is the machine. */
union topo_file_config {
    struct world_config run;
    struct world_machine machine;
};

/* What is printed: the machine as built, and what was counted on it. */
struct topo_view {
    const char *name;
    const struct topo *topo;
    const struct net_params *net;
    struct topo_description d;
    double half_bps, half_share; /* between the halves; of what the smaller one injects */
    uint64_t net_bytes, packet_bytes;
};

/* Does the file speak of a run: is there a key `machine` at the left margin? */
static bool cmd_topo_describes_run(const char *path)
{
    char *line = NULL;
    size_t cap = 0;
    bool found = false;
    struct wr_err ignored;
    FILE *f = NULL;

    (void)wr_file_open(&f, path, &ignored);
    while (f && !found && getline(&line, &cap, f) > 0) {
        size_t n = strcspn(line, ": \t");

        found = n == strlen("machine") && !strncmp(line, "machine", n) &&
                line[n + strspn(line + n, " \t")] == ':';
    }
    free(line);
    if (f)
        fclose(f);
    return found;
}

static struct wr_text cmd_topo_text_rate(double bps)
{
    static const char *const unit[] = {"B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s"};
    struct wr_text t;
    int i = 0;

    for (; bps >= 1000 && i < 5; i++)
        bps /= 1000;
    snprintf(t.s, sizeof t.s, "%.4g %s", bps, unit[i]);
    return t;
}

static struct wr_text cmd_topo_text_bytes(uint64_t bytes)
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double v = (double)bytes;
    struct wr_text t;
    int i = 0;

    for (; v >= 1024 && i < 4; i++)
        v /= 1024;
    snprintf(t.s, sizeof t.s, "%.4g %s", v, unit[i]);
    return t;
}

/* "11", or "8 to 11" */
static struct wr_text cmd_topo_text_range(uint32_t least, uint32_t most)
{
    struct wr_text t;

    if (least == most)
        snprintf(t.s, sizeof t.s, "%u", most);
    else
        snprintf(t.s, sizeof t.s, "%u to %u", least, most);
    return t;
}

static void cmd_topo_view_init(struct topo_view *v, const struct world_network *network,
                               const char *name)
{
    *v = (struct topo_view){.name = name, .topo = &network->topo, .net = &network->net};
    topo_describe(v->topo, &v->d);
    for (uint32_t c = TOPO_OWN; c < v->topo->nclasses; c++)
        v->half_bps += (double)v->d.cut.of_class[c] * v->net->link[c].bandwidth;
    uint64_t smaller =
        v->d.cut.terms[0] < v->d.cut.terms[1] ? v->d.cut.terms[0] : v->d.cut.terms[1];

    if (smaller)
        v->half_share = v->half_bps / ((double)smaller * v->net->link[TOPO_INJECT].bandwidth);
    v->net_bytes = net_memory(v->topo, &network->route, v->net);
    v->packet_bytes = net_packet_memory();
}

static void cmd_topo_print_sizes(const struct topo_view *v, FILE *out)
{
    const struct topo *t = v->topo;
    const struct topo_description *d = &v->d;
    uint32_t rails = v->net->rails;

    fprintf(out, "%s: %s, %s\n\n", v->name, t->ops->kind.name, t->ops->kind.summary);
    fprintf(out, "nodes    %u", t->nterms / rails);
    if (rails > 1)
        fprintf(out, " with %u rails each", rails);
    fprintf(out, "\nrouters  %u", t->nrouters);
    if (t->ngroups > 1)
        fprintf(out, " in %u groups", t->ngroups);
    fprintf(out, "; %s ports used, of these %s to routers\n",
            cmd_topo_text_range(d->least_ports, d->most_ports).s,
            cmd_topo_text_range(d->least_degree, d->most_degree).s);
    if (t->nfailed)
        fprintf(out, "failed   cables: %llu; terminals gone with their routers: %llu\n",
                (unsigned long long)d->dead_cables, (unsigned long long)d->dead_terms);
}

static void cmd_topo_print_rest(const struct topo_view *v, FILE *out)
{
    const struct topo_description *d = &v->d;

    fprintf(out, "hops     %.4f on average and %u at most, between routers on minimal paths%s\n",
            d->hops.mean, d->hops.most, d->hops.sampled ? " (from a sample of the pairs)" : "");
    if (d->hops.cut_off)
        fprintf(out, "cut off  %llu pairs of terminals have no way left\n",
                (unsigned long long)d->hops.cut_off);
    if (d->cut.cables)
        fprintf(out,
                "halves   %llu and %llu terminals share %llu cables: %s each way, %.4g %% of what "
                "the smaller half injects\n",
                (unsigned long long)d->cut.terms[0], (unsigned long long)d->cut.terms[1],
                (unsigned long long)d->cut.cables, cmd_topo_text_rate(v->half_bps).s,
                100 * v->half_share);
    fprintf(out,
            "memory   %s for the wiring, %s for the network before traffic, %s per packet in "
            "flight\n\n",
            cmd_topo_text_bytes(d->bytes).s, cmd_topo_text_bytes(v->net_bytes).s,
            cmd_topo_text_bytes(v->packet_bytes).s);
}

static void cmd_topo_print_links(const struct topo_view *v, FILE *out)
{
    static const struct cli_column columns[] = {
        {"class", NULL},
        {"cables", NULL},
        {"bandwidth", NULL},
        {"latency", NULL},
        {"together", "together, each way"},
    };
    struct cli_table *table = cli_table_open(out, CLI_AS_TEXT, columns, 5);

    for (uint32_t c = 0; c < v->topo->nclasses; c++) {
        const struct net_link_params *l = &v->net->link[c];

        cli_table_text(table, v->topo->class_name[c]);
        cli_table_int(table, (int64_t)v->d.cables[c]);
        cli_table_text(table, cmd_topo_text_rate(l->bandwidth).s);
        cli_table_text(table, wr_text_time(l->latency_ps).s);
        cli_table_text(table, cmd_topo_text_rate(l->bandwidth * (double)v->d.cables[c]).s);
    }
    cli_table_close(table);
    fputc('\n', out);
}

static void cmd_topo_print_hops(const struct topo_view *v, FILE *out)
{
    static const struct cli_column columns[] = {
        {"hops", NULL}, {"pairs", "pairs of terminals"}, {"share", "%"}};
    const struct topo_hops *h = &v->d.hops;
    struct cli_table *table = cli_table_open(out, CLI_AS_TEXT, columns, 3);

    for (uint32_t i = 0; i < TOPO_HOPS_MAX; i++) {
        char share[32], hops[32];

        if (!h->count[i])
            continue;
        snprintf(hops, sizeof hops, "%u%s", i, i + 1 == TOPO_HOPS_MAX ? " or more" : "");
        snprintf(share, sizeof share, "%6.2f", 100 * (double)h->count[i] / (double)h->pairs);
        cli_table_text(table, hops);
        cli_table_int(table, (int64_t)h->count[i]);
        cli_table_text(table, share);
    }
    cli_table_close(table);
}

static json_t *cmd_topo_json_links(const struct topo_view *v)
{
    json_t *all = json_array();

    for (uint32_t c = 0; c < v->topo->nclasses; c++) {
        const struct net_link_params *l = &v->net->link[c];
        json_t *name = json_string(v->topo->class_name[c]);

        json_array_append_new(all, json_pack("{so, sI, sf, sf, sI}", "class",
                                             name ? name : json_string("?"), "cables",
                                             (json_int_t)v->d.cables[c], "bandwidth_bytes_per_s",
                                             l->bandwidth, "latency_ns", l->latency_ps / 1e3,
                                             "buffer_bytes", (json_int_t)l->buffer_b));
    }
    return all;
}

static json_t *cmd_topo_json_hops(const struct topo_hops *h)
{
    json_t *counts = json_array();

    for (uint32_t i = 0; i < TOPO_HOPS_MAX; i++)
        if (h->count[i])
            json_array_append_new(
                counts, json_pack("{si, sI}", "hops", (int)i, "pairs", (json_int_t)h->count[i]));
    return json_pack("{sf, si, sb, sI, sI, so}", "mean", h->mean, "max", (int)h->most, "sampled",
                     h->sampled, "pairs", (json_int_t)h->pairs, "cut_off", (json_int_t)h->cut_off,
                     "distribution", counts);
}

static void cmd_topo_print_json(const struct topo_view *v, FILE *out)
{
    const struct topo *t = v->topo;
    const struct topo_description *d = &v->d;
    json_t *name = json_string(v->name);
    json_t *all =
        json_pack("{so, ss, sI, sI, sI, sI, sI, so, so}", "machine", name ? name : json_string("?"),
                  "topology", t->ops->kind.name, "nodes", (json_int_t)(t->nterms / v->net->rails),
                  "terminals", (json_int_t)t->nterms, "rails", (json_int_t)v->net->rails, "routers",
                  (json_int_t)t->nrouters, "groups", (json_int_t)t->ngroups, "links",
                  cmd_topo_json_links(v), "hops", cmd_topo_json_hops(&d->hops));

    json_object_set_new(all, "ports",
                        json_pack("{sI, sI, sI, sI}", "least", (json_int_t)d->least_ports, "most",
                                  (json_int_t)d->most_ports, "least_to_routers",
                                  (json_int_t)d->least_degree, "most_to_routers",
                                  (json_int_t)d->most_degree));
    json_object_set_new(all, "failed",
                        json_pack("{sI, sI}", "cables", (json_int_t)d->dead_cables, "terminals",
                                  (json_int_t)d->dead_terms));
    json_object_set_new(all, "halves",
                        json_pack("{s[I, I], sI, sf, sf}", "terminals", (json_int_t)d->cut.terms[0],
                                  (json_int_t)d->cut.terms[1], "cables", (json_int_t)d->cut.cables,
                                  "bandwidth_bytes_per_s", v->half_bps, "share_of_injection",
                                  v->half_share));
    json_object_set_new(all, "memory",
                        json_pack("{sI, sI, sI}", "wiring_bytes", (json_int_t)d->bytes,
                                  "network_bytes", (json_int_t)v->net_bytes, "packet_bytes",
                                  (json_int_t)v->packet_bytes));
    json_dumpf(all, out, JSON_INDENT(2));
    fputc('\n', out);
    json_decref(all);
}

static bool cmd_topo_write_svg(const struct topo_view *v, const struct topo_opts *o,
                               struct wr_err *err)
{
    struct wr_str text = {0};

    topo_svg(v->topo, v->name, &text);
    bool ok = cli_figure_write(o->svg, &text, o->force ? WR_FORCE : 0, err);

    wr_str_fini(&text);
    return ok;
}

static bool cmd_topo_print(const struct cli_call *call, const struct world_network *network,
                           const char *name, struct wr_err *err)
{
    const struct topo_opts *o = call->opts;
    struct topo_view v;

    cmd_topo_view_init(&v, network, name);
    if (o->svg && !cmd_topo_write_svg(&v, o, err))
        return false;
    if (o->json) {
        cmd_topo_print_json(&v, call->out);
        return true;
    }
    cmd_topo_print_sizes(&v, call->out);
    cmd_topo_print_rest(&v, call->out);
    cmd_topo_print_links(&v, call->out);
    cmd_topo_print_hops(&v, call->out);
    return true;
}

static int cmd_topo_main(const struct cli_call *call, struct wr_err *err)
{
    const struct topo_opts *o = call->opts;
    const char *path = call->args[0];
    union topo_file_config into = {0};
    bool run = cmd_topo_describes_run(path);
    struct world_network network;
    struct conf *conf;

    if (!conf_load(&conf, &into, run ? world_rows : world_machine_rows, path, o->sets.v, o->sets.n,
                   err))
        return cli_error(err);
    const struct world_machine *m = run ? &into.run.machine : &into.machine;
    bool ok = world_network_open(&network, conf, m, err);

    if (ok) {
        ok = cmd_topo_print(call, &network, m->name && *m->name ? m->name : path, err);
        world_network_close(&network);
    }
    conf_close(conf);
    return ok ? 0 : cli_error(err);
}

const struct cli_verb cli_cmd_topo = {
    .name = "topo",
    .summary = "describe and draw a machine",
    .args = "FILE",
    .min_args = 1,
    .max_args = 1,
    .input = 1,
    .about =
        "FILE is a machine file or the configuration of a run. Prints how many nodes, routers and "
        "links there are, how many hops packets make on minimal paths, what two halves of the "
        "machine can exchange, and what memory a run needs.\n\n"
        "The halves are the topology's own (half of the groups, of the pods, of the longest "
        "dimension) or else the first half of the nodes against the second; what they share "
        "bounds the bisection bandwidth from above.\n\n"
        "A large machine is drawn thinned: several routers share a spot, and not every cable is "
        "a line. The picture says so.",
    .examples = "weir topo examples/machines/reference-1056.yaml\n"
                "weir topo examples/machines/reference-1056.yaml --svg reference.svg\n"
                "weir topo examples/uniform-1056.yaml --set machine.topology.groups=9 --json\n",
    .opts = topo_rows,
    .opts_size = sizeof(struct topo_opts),
    .main = cmd_topo_main,
};
