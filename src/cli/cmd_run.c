/* cmd_run.c -- `weir run FILE`: simulates a configuration and writes a run file.
 *
 * struct run_job goes through load, execute, print, close. Of several processes (mpirun) only the
 * first writes and prints; all agree on errors before each step, so that none waits for another.
 */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/note.h"
#include "base/output.h"
#include "base/signals.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/cli_simulate.h"
#include "cli/run_profile.h"
#include "cli/show.h"
#include "rank/rank.h"
#include "sim/launched.h"
#include "sim/peers.h"
#include "world/record.h"
#include "world/world.h"

struct run_opts {
    const char *out, *logs;
    struct cli_list sets;
    const char *threads;
    bool force, progress, profile, json, alone;
};

static const struct cli_opt run_rows[] = {
    {.name = "output",
     .letter = 'o',
     .type = CLI_TEXT,
     .offset = offsetof(struct run_opts, out),
     .value = "RUN",
     .help = "the run file to write; by default the configuration's name with the ending .weir"},
    {.name = "force",
     .letter = 'f',
     .type = CLI_FLAG,
     .offset = offsetof(struct run_opts, force),
     .help = "replace an existing run file, and what is where --logs writes"},
    {.name = "threads",
     .letter = 't',
     .former_letter = 'j',
     .type = CLI_TEXT,
     .offset = offsetof(struct run_opts, threads),
     .value = "N",
     .def = "1",
     .help = "threads that share the simulation, or auto; the results are the same for any "
             "number"},
    {.name = "single-process",
     .former = "alone",
     .type = CLI_FLAG,
     .offset = offsetof(struct run_opts, alone),
     .help =
         "simulate in this process alone, although mpirun, mpiexec or srun has started several"},
    {.name = "profile",
     .type = CLI_FLAG,
     .offset = offsetof(struct run_opts, profile),
     .help = "also print what each thread did and how long it waited, with advice"},
    {.name = "json",
     .type = CLI_FLAG,
     .offset = offsetof(struct run_opts, json),
     .help = "print what `weir show RUN --json` prints of the new run file, and nothing else; with "
             "--profile only the table of threads"},
    {.name = "logs",
     .former_letter = 'l',
     .type = CLI_TEXT,
     .offset = offsetof(struct run_opts, logs),
     .value = "FILE",
     .help = "also write the tables that jobs' programs log as text"},
    CLI_SET(struct run_opts, sets),
    CLI_PROGRESS(struct run_opts, progress),
    CLI_OPT_END,
};

/* "dir/name.yaml" -> "name.weir", in the current directory. */
static const char *cmd_run_default_output(const struct cli_call *call)
{
    const char *path = call->args[0], *slash = strrchr(path, '/');
    const char *leaf = slash ? slash + 1 : path, *dot = strrchr(leaf, '.');
    int n = dot && dot > leaf ? (int)(dot - leaf) : (int)strlen(leaf);

    return wr_arena_printf(call->arena, "%.*s.weir", n, leaf);
}

/* Means over the ranks of each job, in milliseconds. */
static void cmd_run_print_jobs(const struct world *w, const struct world_config *c, FILE *out)
{
    const struct ranks *rs = world_ranks(w);
    struct rank_stat s;
    uint64_t accesses = 0;
    uint32_t at = 0;

    for (uint32_t j = 0; j < world_jobs(w); j++) {
        double ms[5] = {0};
        uint32_t n = 0;

        for (; at < ranks_count(rs); at++, n++) {
            ranks_stat(rs, at, &s);
            if (s.job != j)
                break;
            double rest = (double)(s.account_ps[RANK_COMPUTE] + s.account_ps[RANK_IO] +
                                   s.account_ps[RANK_IDLE]);

            ms[0] += (double)s.elapsed_ps / 1e9;
            ms[1] += (double)s.account_ps[RANK_COMPUTE] / 1e9;
            ms[2] += ((double)s.elapsed_ps - rest) / 1e9;
            ms[3] += (double)s.account_ps[RANK_IO] / 1e9;
            ms[4] += (double)s.account_ps[RANK_IDLE] / 1e9;
            accesses += s.accesses;
        }
        fprintf(out,
                "job %s: %u ranks, %.6g ms on average: compute %.6g, communication %.6g, I/O %.6g, "
                "idle %.6g\n",
                wr_text_clip(world_job_name(w, j)).s, n, ms[0] / n, ms[1] / n, ms[2] / n, ms[3] / n,
                ms[4] / n);
    }
    if (accesses && c->storage.kind)
        fprintf(
            out,
            "%llu accesses to files of %s storage; `weir show RUN server_stat` has its devices\n",
            (unsigned long long)accesses, c->storage.kind->name);
    else if (accesses)
        fprintf(out, "%llu accesses to files took %s each (io.time): no storage was modelled\n",
                (unsigned long long)accesses, wr_text_time(c->io.time_ps).s);
}

static void cmd_run_print_headline(const struct world *w, const struct world_config *c,
                                   enum world_end end, FILE *out)
{
    struct world_result *r = wr_alloc(sizeof *r);

    world_result(w, r);
    fprintf(out, "%llu messages, %llu packets, %llu packet-hops in %.3f us of simulated time\n",
            (unsigned long long)r->count.messages, (unsigned long long)r->count.packets,
            (unsigned long long)r->count.hops, (double)r->sim_end_ps / 1e6);
    if (c->jobs.n)
        cmd_run_print_jobs(w, c, out);
    else
        fprintf(out, "offered %.2f %%, accepted %.2f %% of the injection bandwidth\n",
                100 * r->offered, 100 * r->accepted);
    if (r->latency.n)
        fprintf(out, "message latency: mean %.3f us, median %.3f us, p99 %.3f us, max %.3f us\n",
                wr_hist_mean(&r->latency) / 1e6, wr_hist_quantile(&r->latency, 0.5) / 1e6,
                wr_hist_quantile(&r->latency, 0.99) / 1e6, (double)r->latency.max / 1e6);
    if (end == WORLD_DRAIN_LIMIT)
        fprintf(out,
                "saturated: %llu of %llu measured messages did not arrive within traffic.drain; "
                "latencies are of those that did\n",
                (unsigned long long)r->unfinished, (unsigned long long)r->measured);
    free(r);
}

/* Simulate into an open run file (process 0 has it) and close it, whatever happens. */
static bool cmd_run_simulate(struct world *w, struct run *run, struct wr_progress *progress,
                             const struct sim_peers *peers, enum world_end *ret, struct wr_err *err)
{
    struct wr_err ignored;

    wr_interrupt_catch();
    bool ok = world_run(w, run, progress, ret, err) && (!run || world_write(w, run, err));

    if (run)
        wr_progress_fini(progress);
    wr_interrupt_release();
    if (!run)
        return ok;
    if (!ok) {
        bool lost = peers && sim_peers_lost(peers);

        run_finish(run, lost ? RUN_INCOMPLETE : RUN_FAILED, err->text, &ignored);
        return false;
    }
    if (*ret == WORLD_INTERRUPTED)
        return run_finish(run, RUN_INCOMPLETE, "interrupted", err);
    return run_finish(run, RUN_COMPLETE, NULL, err);
}

static bool cmd_run_write_logs(const struct world *w, const struct run_opts *o, struct wr_err *err)
{
    struct wr_str text = {0};

    world_print_logs(w, &text);
    bool ok = wr_output_text(o->logs, &wr_format_log, o->force ? WR_FORCE : 0, &text, err);

    wr_str_fini(&text);
    return ok;
}

/* A number of threads, or auto, which is 0. */
static bool cmd_run_read_threads(const char *text, uint32_t *ret, struct wr_err *err)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);

    if (!strcmp(text, "auto"))
        n = 0;
    else if (*text < '0' || *text > '9' || *end || !n || n > WORLD_MOST_THREADS)
        return wr_fail(err, WR_INPUT, "-t %s: give a number of threads from 1 to %d, or auto", text,
                       WORLD_MOST_THREADS);
    *ret = (uint32_t)n;
    return true;
}

/* The processes that a launcher has started to run it together; NULL: this one alone. */
static bool cmd_run_open_peers(struct sim_peers **ret, bool alone, struct wr_err *err)
{
    struct sim_link *link = NULL;

    if (!alone && !sim_link_launched(&link, err))
        return wr_wrap(
            err, "cannot join the launcher's other processes (--single-process does not try)");
    if (link)
        sim_peers_open(ret, link);
    return true;
}

/* All must have the same configuration. The inputs are process 0's, but a program that is not the
 * same release, or another file beside the configuration, may resolve it differently. */
static bool cmd_run_check_same_input(struct sim_peers *peers, const struct conf *conf,
                                     struct wr_err *err)
{
    uint64_t mine = 0, first;
    bool ok = world_record_digest(conf, &mine, err);

    first = mine;
    if (!sim_peers_agree(peers, ok, err) || !sim_peers_broadcast(peers, &first, sizeof first, err))
        return false;
    ok = first == mine || wr_fail(err, WR_INPUT,
                                  "the configuration or a file it names is not that of process "
                                  "0; start the same release of weir everywhere");
    return sim_peers_agree(peers, ok, err);
}

/* A run by this process, or by its share of several. */
struct run_job {
    const struct cli_call *call;
    const struct run_opts *o;
    const char *path;
    struct sim_peers *peers;
    bool leads; /* has the run file and the terminal */
    uint32_t threads;
    struct world_config c;
    struct conf *conf;
    struct world *w;
    enum world_end end;
};

static bool cmd_run_load_conf(struct run_job *j, struct wr_err *err)
{
    const struct run_opts *o = j->o;

    if (conf_load(&j->conf, &j->c, world_rows, j->call->args[0], o->sets.v, o->sets.n, err))
        return true;
    j->conf = NULL;
    return false;
}

/* Process 0 reads the configuration and what it names; the others get it from process 0. */
static bool cmd_run_load_world(struct run_job *j, struct wr_err *err)
{
    if (!sim_peers_agree(j->peers, !j->leads || cmd_run_load_conf(j, err), err))
        return false;
    if (j->peers) {
        bool ok =
            world_record_share(j->peers, j->conf, err) && (j->leads || cmd_run_load_conf(j, err));

        if (!sim_peers_agree(j->peers, ok, err) ||
            !cmd_run_check_same_input(j->peers, j->conf, err))
            return false;
    }
    return world_open_shared(&j->w, j->conf, &j->c, j->threads, j->peers, err);
}

static bool cmd_run_execute(struct run_job *j, struct wr_err *err)
{
    const struct run_opts *o = j->o;
    const struct world_config *c = &j->c;
    bool by_count = c->traffic.messages && !c->jobs.n;
    struct wr_progress progress;
    struct run *run = NULL;

    if (!sim_peers_agree(
            j->peers,
            !j->leads || ((!o->logs || wr_output_check(o->logs, &wr_format_log,
                                                       o->force ? WR_FORCE : 0, err)) &&
                          simulate_create(&run, j->path, j->conf, c->seed, j->call, o->force, err)),
            err)) {
        struct wr_err ignored;

        if (run)
            run_finish(run, RUN_FAILED, err->text, &ignored);
        return false;
    }
    if (!j->leads)
        return cmd_run_simulate(j->w, NULL, NULL, j->peers, &j->end, err);
    wr_progress_init(&progress, simulate_progress(o->progress), "run", by_count ? "messages" : "us",
                     by_count    ? (double)c->traffic.messages * net_nodes(world_net(j->w))
                     : c->jobs.n ? 0
                                 : (double)world_horizon_ps(c) * 1e-6);
    if (world_why_one(j->w))
        wr_note("runs with one thread: %s", world_why_one(j->w));
    return cmd_run_simulate(j->w, run, &progress, j->peers, &j->end, err);
}

static void cmd_run_warn_assumed(const struct world *w)
{
    struct wr_str why = {0};
    uint64_t n = world_assumed(w, &why);

    if (n)
        wr_note("the times of %llu requests to storage are assumed: %s", (unsigned long long)n,
                wr_str_get(&why));
    wr_str_fini(&why);
}

static bool cmd_run_print_result(const struct run_job *j, struct wr_err *err)
{
    const struct run_opts *o = j->o;

    if (o->logs && !cmd_run_write_logs(j->w, o, err))
        return false;
    if (!o->json)
        cmd_run_print_headline(j->w, &j->c, j->end, j->call->out);
    else if (!o->profile && !cli_show_json(j->call->out, j->path, err))
        return false;
    cmd_run_warn_assumed(j->w);
    if (o->profile)
        run_profile_print(j->w, j->threads == WORLD_THREADS_AUTO, o->json, j->call->out);
    else
        run_profile_warn(j->w);
    if (j->end == WORLD_INTERRUPTED)
        return wr_fail(err, WR_INTERRUPTED, "interrupted; %s holds what was simulated so far",
                       j->path);
    if (world_log_fault(j->w))
        return wr_fail(err, WR_INPUT, "%s\nthe run is complete but for this column",
                       world_log_fault(j->w));
    return true;
}

/* The others end as well as the first; what there is to say, the first says. */
static int cmd_run_close(struct run_job *j, bool ok, struct wr_err *err)
{
    bool lost = j->peers && sim_peers_lost(j->peers);
    int status = ok ? 0 : cli_error(err);

    world_close(j->w);
    conf_close(j->conf);
    wr_file_supply_end();
    sim_peers_close(j->peers, !lost);
    if (!j->leads)
        *err = (struct wr_err){0};
    return status;
}

static int cmd_run_main(const struct cli_call *call, struct wr_err *err)
{
    const struct run_opts *o = call->opts;
    struct run_job j = {
        .call = call, .o = o, .path = o->out ? o->out : cmd_run_default_output(call)};

    if (!cmd_run_read_threads(o->threads, &j.threads, err) ||
        !cmd_run_open_peers(&j.peers, o->alone, err))
        return cli_error(err);
    j.leads = !j.peers || !sim_peers_rank(j.peers);
    bool ok = cmd_run_load_world(&j, err) && cmd_run_execute(&j, err) &&
              (!j.leads || cmd_run_print_result(&j, err));

    return cmd_run_close(&j, ok, err);
}

const struct cli_verb cli_cmd_run = {
    .name = "run",
    .summary = "simulate a machine under traffic or jobs, into a run file",
    .args = "FILE",
    .min_args = 1,
    .max_args = 1,
    .input = 1,
    .about =
        "Simulates what FILE (YAML; `weir config explain` lists its keys) describes, packet by "
        "packet, and writes everything that was counted into a run file. With `jobs:` in FILE, "
        "programs run on ranks until the last has ended; a deadlock is reported with the ranks "
        "that "
        "each rank waits for.\n\n"
        "With -t the machine is divided into partitions that threads simulate side by side, and "
        "started by mpirun (or mpiexec, or srun) the threads of all its processes do. The results "
        "are the same for any number of threads and processes; what cannot be divided is simulated "
        "with one thread. If a process dies the run ends, and its file says that it is "
        "incomplete.\n\n"
        "Ctrl-C ends the run cleanly: the run file then holds what was simulated so far and "
        "says that it is incomplete.",
    .examples = "weir run examples/uniform-1056.yaml\n"
                "weir run examples/uniform-1056.yaml --set traffic.load=30% -o load30.weir\n"
                "weir run --json examples/ring.yaml\n"
                "weir run -t 2 --profile examples/frontier.yaml\n"
                "mpirun -n 4 weir run -t 2 examples/frontier.yaml\n"
                "weir run examples/two-jobs.yaml --logs two-jobs.log\n",
    .opts = run_rows,
    .opts_size = sizeof(struct run_opts),
    .main = cmd_run_main,
};
