/* cmd_roofline_nics.c -- `weir roofline nics`: the NIC that each process would choose (rpc/nic).
 *
 * struct crowd holds the processes and the CPUs that each is bound to, given or spread over the
 * machine.
 */
#include <math.h>

#include <stdlib.h>
#include <string.h>

#include "cli/cli_table.h"
#include "cli/cmd_roofline.h"
#include "rpc/nic/nic.h"

enum place { PLACE_SPREAD, PLACE_PACKED };
static const char *const place_names[] = {"spread", "packed", NULL};

struct nics_opts {
    const char *xml, *only, *provider;
    struct cli_list bind;
    uint32_t processes, cores, place, bucket, policy, trials;
    uint64_t seed;
    bool json, compare, list;
};

static const struct cli_opt nics_rows[] = {
    {.name = "hwloc-xml",
     .type = CLI_TEXT,
     .offset = offsetof(struct nics_opts, xml),
     .value = "FILE",
     .help = "the machine as `lstopo FILE.xml` wrote it; without, this one"},
    {.name = "bind",
     .type = CLI_LIST,
     .offset = offsetof(struct nics_opts, bind),
     .value = "LIST",
     .help = "CPUs of one process, as in 0-3,8; may be given several times, once per process"},
    {.name = "processes",
     .letter = 'p',
     .former_letter = 'n',
     .type = CLI_U32,
     .offset = offsetof(struct nics_opts, processes),
     .value = "N",
     .def = "0",
     .help = "how many processes there are, without --bind; 0: as many as fit, at most 16"},
    {.name = "cores",
     .type = CLI_U32,
     .offset = offsetof(struct nics_opts, cores),
     .value = "N",
     .def = "1",
     .help = "CPUs that each is bound to, without --bind; 0: they are not bound"},
    {.name = "place",
     .type = CLI_CHOICE,
     .offset = offsetof(struct nics_opts, place),
     .value = "HOW",
     .def = "spread",
     .help = "begin with the first CPU of each package, or fill one after the other",
     .names = place_names},
    {.name = "only",
     .type = CLI_TEXT,
     .offset = offsetof(struct nics_opts, only),
     .value = "PATTERNS",
     .help = "take only NICs whose names match, as in hsn*,!hsn3; without, only those that "
             "libfabric offers, or of another machine those with a device of a fabric, if there "
             "are any"},
    {.name = "provider",
     .type = CLI_TEXT,
     .offset = offsetof(struct nics_opts, provider),
     .value = "NAME",
     .help = "take the NICs that this provider of libfabric offers; without, those of the one that "
             "libfabric prefers"},
    {.name = "bucket",
     .type = CLI_CHOICE,
     .offset = offsetof(struct nics_opts, bucket),
     .value = "BUCKET",
     .def = "package",
     .help = "which NICs may be taken: all, those of the package or the NUMA node a process is "
             "on, or what the library takes",
     .names = nic_bucket_names},
    {.name = "policy",
     .type = CLI_CHOICE,
     .offset = offsetof(struct nics_opts, policy),
     .value = "POLICY",
     .def = "roundrobin",
     .help = "which of these is taken: by the first CPU of the binding, by the CPU a process is "
             "on, by chance, in turn, or the one that fewest have taken",
     .names = nic_policy_names},
    {.name = "compare",
     .type = CLI_FLAG,
     .offset = offsetof(struct nics_opts, compare),
     .help = "print how evenly every bucket and policy spreads these processes"},
    {.name = "list",
     .type = CLI_FLAG,
     .offset = offsetof(struct nics_opts, list),
     .help = "print the machine's NICs"},
    {.name = "trials",
     .type = CLI_U32,
     .offset = offsetof(struct nics_opts, trials),
     .value = "N",
     .def = "200",
     .help = "with --compare, how often what depends on chance is tried"},
    {.name = "seed",
     .type = CLI_U64,
     .offset = offsetof(struct nics_opts, seed),
     .value = "N",
     .def = "1",
     .help = "of all chance"},
    CLI_JSON(struct nics_opts, json),
    CLI_OPT_END,
};

/* The processes of a node. */
struct crowd {
    const struct nic_machine *m;
    struct nic_cpus *bound; /* [n] the CPUs that each may run on */
    uint32_t n;
    uint64_t seed; /* of the CPU that each happens to be on in a trial */
};

/* ---- CPUs that processes are bound to ---- */

static bool nics_bind_given(struct crowd *c, const struct cli_list *bind, struct wr_err *err)
{
    c->n = (uint32_t)bind->n;
    c->bound = wr_zalloc(c->n, sizeof *c->bound);
    for (uint32_t i = 0; i < c->n; i++) {
        if (!nic_cpus_parse(&c->bound[i], bind->v[i], err))
            return wr_wrap(err, "--bind");
        for (uint32_t cpu = 0; cpu < NIC_CPUS; cpu++)
            if (nic_cpus_has(&c->bound[i], cpu) && !nic_cpus_has(&c->m->cpus, cpu))
                return wr_fail(err, WR_INPUT,
                               "--bind %s: the machine has no CPU %u; it has %u CPUs", bind->v[i],
                               cpu, nic_cpus_count(&c->m->cpus));
    }
    return true;
}

/* The CPUs of one package, or of the machine. */
static void nics_cpus_of(struct nic_cpus *ret, const struct nic_machine *m, uint32_t package)
{
    *ret = (struct nic_cpus){{0}};
    for (uint32_t cpu = 0; cpu < NIC_CPUS; cpu++)
        if (nic_cpus_has(&m->cpus, cpu) && (package == NIC_NOWHERE || m->package[cpu] == package))
            nic_cpus_add(ret, cpu);
}

static uint32_t nics_packages_of(const struct nic_machine *m)
{
    uint32_t n = 0;

    for (uint32_t cpu = 0; cpu < NIC_CPUS; cpu++)
        if (nic_cpus_has(&m->cpus, cpu) && m->package[cpu] != NIC_NOWHERE && m->package[cpu] >= n)
            n = m->package[cpu] + 1u;
    return n ? n : 1;
}

static bool nics_bind_in_order(struct crowd *c, const struct nics_opts *o, struct wr_err *err)
{
    uint32_t packages = o->place == PLACE_SPREAD ? nics_packages_of(c->m) : 1;
    uint32_t fit = nic_cpus_count(&c->m->cpus) / (o->cores ? o->cores : 1);

    c->n = o->processes ? o->processes : fit < 16 ? fit : 16;
    uint32_t share = (c->n + packages - 1) / packages;

    c->bound = wr_zalloc(c->n, sizeof *c->bound);
    for (uint32_t i = 0; i < c->n; i++) {
        struct nic_cpus free;
        uint32_t first = i % share * o->cores;

        nics_cpus_of(&free, c->m, packages > 1 ? i / share : NIC_NOWHERE);
        if (!o->cores)
            c->bound[i] = c->m->cpus;
        else if (first + o->cores > nic_cpus_count(&free))
            return wr_fail(err, WR_INPUT,
                           "%u processes with %u CPUs each do not fit the machine's %u CPUs; give "
                           "fewer",
                           c->n, o->cores, nic_cpus_count(&c->m->cpus));
        for (uint32_t k = 0; k < o->cores; k++)
            nic_cpus_add(&c->bound[i], nic_cpus_nth(&free, first + k));
    }
    return true;
}

/* ---- what they take ---- */

struct outcome {
    uint32_t used, most;
};

/* Where a process is among the CPUs it may be on is chance. */
static bool nics_choose_all(struct crowd *c, enum nic_bucket bucket, enum nic_policy policy,
                            uint32_t trial, struct nic_choice *choice, uint32_t *cpu,
                            struct outcome *ret, struct wr_err *err)
{
    struct nic_load load = {{0}, {0}};

    *ret = (struct outcome){0, 0};
    for (uint32_t i = 0; i < c->n; i++) {
        struct nic_ask ask = {.bucket = bucket, .policy = policy, .bound = c->bound[i]};
        struct wr_rng rng;

        wr_rng_init(&rng, c->seed, i, trial);
        ask.cpu = nic_cpus_nth(&ask.bound, wr_rng_below(&rng, nic_cpus_count(&ask.bound)));
        if (!nic_pick(&choice[i], c->m, &ask, &load, &rng, err))
            return false;
        cpu[i] = ask.cpu;
    }
    for (uint32_t k = 0; k < c->m->nnics; k++) {
        ret->used += load.owners[k] > 0;
        ret->most = load.owners[k] > ret->most ? load.owners[k] : ret->most;
    }
    return true;
}

static const struct cli_column choice_columns[] = {
    {"process", NULL}, {"bound", "bound to"}, {"cpu", "on CPU"}, {"candidates", NULL},
    {"nic", "NIC"},    {"fabric", NULL},      {"local", NULL},   {"fell_back", "bucket empty"}};

static void nics_print_choices(FILE *out, enum cli_format format, const struct crowd *c,
                               const struct nic_choice *choice, const uint32_t *cpu)
{
    struct cli_table *t = cli_table_open(out, format, choice_columns, 8);

    for (uint32_t i = 0; i < c->n; i++) {
        const struct nic *nic = &c->m->nic[choice[i].nic];
        char bound[128];

        nic_cpus_text(&c->bound[i], bound, sizeof bound);
        cli_table_int(t, i);
        cli_table_text(t, bound);
        cli_table_int(t, cpu[i]);
        cli_table_int(t, choice[i].candidates);
        cli_table_text(t, nic->name);
        cli_table_text(t, nic->fabric);
        cli_table_bool(t, nic_cpus_has(&nic->local, cpu[i]));
        cli_table_bool(t, choice[i].fell_back);
    }
    cli_table_close(t);
}

static bool nics_show_choices(const struct cli_call *call, struct crowd *c, struct wr_err *err)
{
    const struct nics_opts *o = call->opts;
    struct nic_choice *choice = wr_zalloc(c->n, sizeof *choice);
    uint32_t *cpu = wr_zalloc(c->n, sizeof *cpu), fell_back = 0;
    struct outcome got;
    bool ok = nics_choose_all(c, (enum nic_bucket)o->bucket, (enum nic_policy)o->policy, 0, choice,
                              cpu, &got, err);

    if (ok) {
        if (o->json)
            fputs("{\"processes\":\n", call->out);
        nics_print_choices(call->out, o->json ? CLI_AS_JSON : CLI_AS_TEXT, c, choice, cpu);
        fprintf(call->out,
                o->json ? ", \"nics\": %u, \"used\": %u, \"most\": %u}\n"
                        : "\nof %u NICs %u are used, the busiest by %u processes\n",
                nic_candidates(c->m), got.used, got.most);
        for (uint32_t i = 0; i < c->n; i++)
            fell_back += choice[i].fell_back;
        if (fell_back && !o->json)
            fprintf(call->out,
                    "for %u processes there is no NIC in their %s; they choose among all\n",
                    fell_back, nic_bucket_names[o->bucket]);
    }
    free(choice);
    free(cpu);
    return ok;
}

/* ---- every policy ---- */

static const struct cli_column compare_columns[] = {{"policy", NULL},
                                                    {"mean_nics_used", "NICs used, mean"},
                                                    {"min_nics_used", "least"},
                                                    {"mean_max_load", "busiest, mean"},
                                                    {"relative_bandwidth", "bandwidth"}};

static bool nics_compare_one(struct cli_table *t, struct crowd *c, uint32_t bucket, uint32_t policy,
                             uint32_t trials, struct wr_err *err)
{
    struct nic_choice *choice = wr_zalloc(c->n, sizeof *choice);
    uint32_t *cpu = wr_zalloc(c->n, sizeof *cpu), least = UINT32_MAX;
    double used = 0, most = 0;
    bool ok = true;
    char name[48];

    for (uint32_t k = 0; ok && k < trials; k++) {
        struct outcome got;

        ok = nics_choose_all(c, bucket, policy, k, choice, cpu, &got, err);
        used += got.used;
        most += got.most;
        least = got.used < least ? got.used : least;
    }
    free(choice);
    free(cpu);
    if (!ok)
        return false;
    bool through = bucket == NIC_PASSTHROUGH;

    snprintf(name, sizeof name, "%s%s%s", nic_bucket_names[bucket], through ? "" : "/",
             through ? "" : nic_policy_names[policy]);
    cli_table_text(t, name);
    cli_table_real(t, used / trials);
    cli_table_int(t, least);
    cli_table_real(t, most / trials);
    cli_table_real(t, used / trials / fmin(nic_candidates(c->m), c->n));
    return true;
}

static bool nics_compare_all(const struct cli_call *call, struct crowd *c, struct wr_err *err)
{
    const struct nics_opts *o = call->opts;
    struct cli_table *t =
        cli_table_open(call->out, o->json ? CLI_AS_JSON : CLI_AS_TEXT, compare_columns, 5);
    bool ok = true;

    for (uint32_t b = 0; nic_bucket_names[b]; b++)
        for (uint32_t p = 0; ok && nic_policy_names[p] && (b != NIC_PASSTHROUGH || !p); p++)
            ok = nics_compare_one(t, c, b, p, o->trials, err);
    cli_table_close(t);
    return ok;
}

static const struct cli_column nic_columns[] = {
    {"nic", "NIC"},           {"fabric", NULL},         {"pci", "PCI"},
    {"near", "near to CPUs"}, {"left_out", "left out"},
};

static void nics_list(FILE *out, enum cli_format format, const struct nic_machine *m)
{
    struct cli_table *t = cli_table_open(out, format, nic_columns, 5);

    for (uint32_t i = 0; i < m->nnics; i++) {
        char cpus[128];

        nic_cpus_text(&m->nic[i].local, cpus, sizeof cpus);
        cli_table_text(t, m->nic[i].name);
        cli_table_text(t, m->nic[i].fabric);
        cli_table_text(t, m->nic[i].pci);
        cli_table_text(t, cpus);
        if (m->nic[i].left_out)
            cli_table_text(t, m->nic[i].left_out);
        else
            cli_table_null(t);
    }
    cli_table_close(t);
}

static bool nics_run(const struct cli_call *call, const struct nic_machine *m, struct wr_err *err)
{
    const struct nics_opts *o = call->opts;
    struct crowd c = {.m = m, .seed = o->seed};

    if (!m->nnics)
        return wr_fail(err, WR_INPUT, "%s has no NIC; give another --hwloc-xml",
                       o->xml ? o->xml : "this machine");
    if (o->list) {
        nics_list(call->out, o->json ? CLI_AS_JSON : CLI_AS_TEXT, m);
        return true;
    }
    if (!o->trials || o->trials > 100000 || o->processes > 100000)
        return wr_fail(err, WR_INPUT,
                       "--trials and --processes are at most 100000, and a trial there must be; "
                       "give other numbers");
    bool ok = (o->bind.n ? nics_bind_given(&c, &o->bind, err) : nics_bind_in_order(&c, o, err)) &&
              (o->compare ? nics_compare_all : nics_show_choices)(call, &c, err);

    free(c.bound);
    return ok;
}

/* This machine's libfabric does not know what another machine has. */
static bool nics_restrict(struct nic_machine *m, const struct nics_opts *o, struct wr_err *err)
{
    struct nic_offer offer[NIC_MOST];
    size_t n = o->xml || o->only ? 0 : nic_offers(offer, NIC_MOST, o->provider);

    if (o->provider && (o->xml || o->only))
        return wr_fail(err, WR_INPUT,
                       "--provider asks this machine's libfabric which NICs it offers; leave out "
                       "--hwloc-xml and --only, or use --only alone");
    if (o->provider && !n)
        return wr_fail(err, WR_INPUT,
                       "libfabric has no provider \"%s\" with messages and RMA here; `fi_info` "
                       "lists what there is",
                       o->provider);
    return nic_restrict(m, o->only, offer, n, err);
}

static int nics_main(const struct cli_call *call, struct wr_err *err)
{
    const struct nics_opts *o = call->opts;
    struct nic_machine *m;

    if (!nic_machine_open(&m, o->xml, err))
        return cli_error(err);
    bool ok = nics_restrict(m, o, err) && nics_run(call, m, err);

    free(m);
    return ok ? 0 : cli_error(err);
}

const struct cli_verb cli_roofline_nics = {
    .name = "nics",
    .summary = "show which NIC each process would take, and how evenly",
    .about =
        "A process first finds the NICs that it may take, then takes one of them. The table says "
        "which it is for every process of a job, and --compare how evenly every choice spreads "
        "them. Whether a process is near to its NIC depends on the CPU it is on, which of those "
        "it is bound to is chance.\n"
        "\n"
        "Where a bucket has no NIC, all are candidates, and the table says so.\n"
        "\n"
        "Candidates are the NICs that libfabric offers, so that no process takes management "
        "Ethernet beside InfiniBand; --list says which are left out and why, and --only chooses "
        "by name instead.",
    .examples = "weir roofline nics --list\n"
                "weir roofline nics --hwloc-xml node.xml -p 16 --cores 2\n"
                "weir roofline nics --hwloc-xml node.xml --bind 0-51 --bind 52-103\n"
                "weir roofline nics --hwloc-xml node.xml --compare --cores 0\n",
    .opts = nics_rows,
    .opts_size = sizeof(struct nics_opts),
    .main = nics_main,
};
