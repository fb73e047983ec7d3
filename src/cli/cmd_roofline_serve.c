/* cmd_roofline_serve.c -- `weir roofline serve`: a server that clients on other nodes attach to. */
#include <stdio.h>
#include <string.h>

#include "base/signals.h"
#include "base/units.h"
#include "cli/cli_json.h"
#include "cli/cmd_roofline.h"
#include "rpc/serve.h"

struct serve_opts {
    const char *ticket, *idle;
    struct cli_list sets;
    bool force, json;
};

static const struct cli_opt serve_rows[] = {
    {.name = "ticket",
     .former_letter = 't',
     .type = CLI_TEXT,
     .offset = offsetof(struct serve_opts, ticket),
     .value = "FILE",
     .def = "server.ticket",
     .help = "write address and token there, for `weir roofline collect`"},
    {.name = "force",
     .letter = 'f',
     .type = CLI_FLAG,
     .offset = offsetof(struct serve_opts, force),
     .help = "replace a ticket that is there already"},
    {.name = "idle",
     .type = CLI_TEXT,
     .offset = offsetof(struct serve_opts, idle),
     .value = "TIME",
     .def = "1 h",
     .help = "end when no client called for this long; 0: only when stopped"},
    {.name = "set",
     .type = CLI_LIST,
     .offset = offsetof(struct serve_opts, sets),
     .value = "KEY=VALUE",
     .help = "override one value of the specification, as in --set transport=fabric; may be given "
             "several times"},
    {.name = "json",
     .type = CLI_FLAG,
     .offset = offsetof(struct serve_opts, json),
     .help = "print JSON instead of text: an object when it is ready and one at its end, a line "
             "each"},
    CLI_OPT_END,
};

static void roofline_serve_print_ready(void *ctx, const struct rpc_ticket *t)
{
    const struct cli_call *call = ctx;
    const struct serve_opts *o = call->opts;

    if (o->json) {
        cli_json_print_line(call->out,
                            json_pack("{s:o, s:o}", "address", cli_json_string(t->address),
                                      "ticket", cli_json_string(o->ticket)));
        return;
    }
    fprintf(call->out,
            "serving at %s\nticket: %s; go on with `weir roofline collect --set attach=[%s]`, "
            "Ctrl-C ends this\n",
            t->address, o->ticket, o->ticket);
    fflush(call->out);
}

static void roofline_serve_print_end(const struct cli_call *call, const struct rpc_served *d)
{
    const struct serve_opts *o = call->opts;
    uint64_t calls = d->stats.handled, dropped = 0;

    for (int i = 0; i < RPC_OPS; i++)
        calls += d->stats.calls[i];
    for (int i = RPC_TAKEN + 1; i < RPC_DROPS; i++)
        dropped += d->stats.dropped[i];
    if (o->json) {
        cli_json_print_line(call->out,
                            json_pack("{s:b, s:I, s:I, s:I, s:I, s:I}", "idle", (int)d->idle,
                                      "clients", (json_int_t)d->stats.peers, "calls",
                                      (json_int_t)calls, "bulk_b", (json_int_t)d->stats.bytes,
                                      "calls_refused", (json_int_t)d->stats.refused,
                                      "messages_dropped", (json_int_t)dropped));
        return;
    }
    fprintf(call->out,
            "%s: %llu clients, %llu calls, %s of bulk data; %llu calls refused, %llu messages "
            "dropped\n",
            d->idle ? "no client called any more" : "stopped", (unsigned long long)d->stats.peers,
            (unsigned long long)calls, wr_text_bytes(d->stats.bytes).s,
            (unsigned long long)d->stats.refused, (unsigned long long)dropped);
}

static bool roofline_serve_until_stopped(const struct cli_call *call, const struct rpc_spec *s,
                                         struct wr_err *err)
{
    const struct serve_opts *o = call->opts;
    struct rpc_served done;
    double idle_ps = 0;

    if (strcmp(o->idle, "0") != 0 && !wr_parse_time(&idle_ps, o->idle, err))
        return wr_wrap(err, "--idle %s", wr_text_clip(o->idle).s);
    struct rpc_serve_opts how = {.ticket = o->ticket,
                                 .force = o->force,
                                 .idle_ns = (uint64_t)(idle_ps / 1e3),
                                 .stop = wr_interrupted,
                                 .ready = roofline_serve_print_ready,
                                 .ctx = (void *)(uintptr_t)call};

    wr_interrupt_catch();
    if (!rpc_serve(&done, s, &how, err))
        return false;
    roofline_serve_print_end(call, &done);
    return true;
}

static int roofline_serve_main(const struct cli_call *call, struct wr_err *err)
{
    const struct serve_opts *o = call->opts;
    struct rpc_spec s = {0};
    struct conf *conf;

    if (!conf_load(&conf, &s, rpc_spec_rows, call->nargs ? call->args[0] : NULL, o->sets.v,
                   o->sets.n, err))
        return cli_error(err);
    bool ok =
        rpc_spec_check(&s, conf, call->arena, err) && roofline_serve_until_stopped(call, &s, err);

    conf_close(conf);
    return ok ? 0 : cli_error(err);
}

const struct cli_verb cli_roofline_serve = {
    .name = "serve",
    .goes_on = true,
    .summary = "be a server that `weir roofline collect` attaches to",
    .args = "[SPEC.yaml]",
    .max_args = 1,
    .input = 1,
    .about =
        "Starts one server in this process, prints its address, and writes a ticket: a file with "
        "address and token, readable by its owner alone, which `attach:` of a specification names. "
        "Of the specification transport, provider, bind, nic, wait and storage count, and the "
        "cases, which say how large transfers may be; give both sides the same one.\n"
        "\n"
        "What comes without the token is dropped and counted; over TCP a connection has a second "
        "to show it, and takes no place before. The server ends with Ctrl-C, with SIGTERM, or when "
        "no client called for an hour (--idle), and takes its ticket away; that of one that was "
        "killed "
        "is replaced by the next.",
    .examples = "weir roofline serve spec.yaml --ticket node7.ticket\n"
                "weir roofline collect spec.yaml --set attach=[node7.ticket]\n",
    .opts = serve_rows,
    .opts_size = sizeof(struct serve_opts),
    .main = roofline_serve_main,
};
