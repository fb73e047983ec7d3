/* cmd_serve.c -- `weir serve [DIR|RUN...]`: reports of runs in a local web page (report/web).
 *
 * Chooses address and token: beyond the loopback interface a token is always needed.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/self.h"
#include "base/signals.h"
#include "base/token.h"
#include "cli/cli.h"
#include "cli/cli_json.h"
#include "report/sections/sections.h"
#include "report/web/bundle.h"
#include "report/web/web.h"

static const char serve_variable[] = "WEIR_SERVE_TOKEN";

struct serve_opts {
    const char *listen, *socket, *token_file;
    uint32_t port, deadline;
    bool allow_run, no_token, json;
};

static const struct cli_opt serve_rows[] = {
    {.name = "port",
     .former_letter = 'p',
     .type = CLI_U32,
     .offset = offsetof(struct serve_opts, port),
     .value = "N",
     .def = "8765",
     .help = "listen at this port; 0: at any that is free"},
    {.name = "listen",
     .type = CLI_TEXT,
     .offset = offsetof(struct serve_opts, listen),
     .value = "ADDRESS",
     .def = "127.0.0.1",
     .help = "listen at this address"},
    {.name = "socket",
     .type = CLI_TEXT,
     .offset = offsetof(struct serve_opts, socket),
     .value = "FILE",
     .help = "listen at this socket file instead, which only its owner may open; without a token"},
    {.name = "token-file",
     .type = CLI_TEXT,
     .offset = offsetof(struct serve_opts, token_file),
     .value = "FILE",
     .help = "ask for the token in this file, 32 hexadecimal digits; default: that of the "
             "environment's WEIR_SERVE_TOKEN, or a new one"},
    {.name = "no-token",
     .type = CLI_FLAG,
     .offset = offsetof(struct serve_opts, no_token),
     .help = "let every user of this machine read, without a token"},
    {.name = "allow-run",
     .type = CLI_FLAG,
     .offset = offsetof(struct serve_opts, allow_run),
     .help = "let the page start the studies (*.yaml) that are in the directories, changed or not"},
    {.name = "deadline",
     .type = CLI_U32,
     .offset = offsetof(struct serve_opts, deadline),
     .value = "SECONDS",
     .def = "30",
     .help = "give up a report that takes longer"},
    {.name = "json",
     .type = CLI_FLAG,
     .offset = offsetof(struct serve_opts, json),
     .help = "print the address as JSON"},
    CLI_OPT_END,
};

static bool cmd_serve_is_loopback(const char *address)
{
    static const char *const names[] = {"127.0.0.1", "::1", "localhost"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(address, names[i]))
            return true;
    return false;
}

/* Waits for Ctrl-C; what is under way is answered. */
static void cmd_serve_wait_for_end(struct web_server *server, struct web_site *site)
{
    while (!wr_interrupted()) {
        usleep(100000);
        web_serve_tick(server);
        web_tick(site);
    }
}

static void cmd_serve_print_address(const struct cli_call *call, const struct web_config *c,
                                    unsigned port)
{
    const struct serve_opts *o = call->opts;
    bool six = strchr(o->listen, ':') != NULL;
    char token[WR_TOKEN_TEXT] = "";

    if (o->socket && o->json) {
        cli_json_print_line(call->out, json_pack("{s:o}", "socket", cli_json_string(o->socket)));
    } else if (o->socket) {
        fprintf(call->out,
                "listening at %s; `curl --unix-socket %s http://localhost/api/runs` "
                "asks it, Ctrl-C ends it\n",
                o->socket, o->socket);
    } else {
        if (c->token)
            wr_token_text(c->token, token);
        const char *url =
            wr_arena_printf(call->arena, "http://%s%s%s:%u/%s%s", six ? "[" : "", o->listen,
                            six ? "]" : "", port, *token ? "?token=" : "", token);

        if (o->json)
            cli_json_print_line(call->out, json_pack("{s:o}", "url", cli_json_string(url)));
        else
            fprintf(call->out, "open %s in a browser; Ctrl-C ends it\n", url);
    }
    fflush(call->out);
}

static bool cmd_serve_until_end(const struct cli_call *call, const struct web_config *c,
                                struct wr_err *err)
{
    const struct serve_opts *o = call->opts;
    struct web_listen at = {.address = o->listen, .port = o->port, .socket = o->socket};
    struct web_server *server;
    struct web_site site;
    unsigned port = 0;

    if (!web_open(&site, c, err))
        return false;
    /* Before the address is printed: its reader may press Ctrl-C at once. */
    wr_interrupt_catch();
    if (!web_serve(&server, &site, &at, &port, err)) {
        wr_interrupt_release();
        web_close(&site);
        return false;
    }
    cmd_serve_print_address(call, c, port);
    cmd_serve_wait_for_end(server, &site);
    web_serve_end(server);
    wr_interrupt_release();
    web_close(&site);
    return true;
}

static bool cmd_serve_check_options(const struct serve_opts *o, struct wr_err *err)
{
    bool own = o->socket || cmd_serve_is_loopback(o->listen);

    if (o->port > 65535)
        return wr_fail(err, WR_INPUT, "there is no port %u; choose one up to 65535", o->port);
    if (o->no_token && o->token_file)
        return wr_fail(err, WR_INPUT, "--no-token and --token-file exclude each other; choose one");
    if (o->no_token && o->allow_run && !o->socket)
        return wr_fail(
            err, WR_INPUT,
            "everyone who reaches the page could run programs as you: --allow-run needs a "
            "token; leave --no-token away, or use --socket");
    if (o->no_token && !own)
        return wr_fail(err, WR_INPUT,
                       "other machines reach %s: it needs a token; leave --no-token away",
                       o->listen);
    return true;
}

static bool cmd_serve_choose_token(const struct serve_opts *o, struct wr_token *token,
                                   bool *ret_needed, struct wr_err *err)
{
    bool given = false;

    *ret_needed = !o->no_token && !(o->socket && !o->token_file);
    return !*ret_needed || (wr_token_find(token, &given, o->token_file, serve_variable, err) &&
                            (given || wr_token_make(token, err)));
}

static int cmd_serve_main(const struct cli_call *call, struct wr_err *err)
{
    static const char *const here[] = {"."};
    const struct serve_opts *o = call->opts;
    struct wr_token token;
    char program[WR_SELF_PATH];
    bool needed;
    struct web_config c = {.operands = call->nargs ? (const char *const *)call->args : here,
                           .n = call->nargs ? (size_t)call->nargs : 1,
                           .makers = report_sections,
                           .code = web_bundle(),
                           .loopback = o->socket || cmd_serve_is_loopback(o->listen),
                           .allow_run = o->allow_run,
                           .refusal = "studies may not be started here; serve with --allow-run",
                           .deadline_ns = o->deadline * 1000000000ull};

    if (!cmd_serve_check_options(o, err) || !cmd_serve_choose_token(o, &token, &needed, err) ||
        !wr_self_path(program, err))
        return cli_error(err);
    c.token = needed ? &token : NULL;
    c.program = program;
    signal(SIGPIPE, SIG_IGN);
    return cmd_serve_until_end(call, &c, err) ? 0 : cli_error(err);
}

const struct cli_verb cli_cmd_serve = {
    .name = "serve",
    .goes_on = true,
    .summary = "show the runs of directories in a local web page",
    .args = "[DIR|RUN...]",
    .max_args = -1,
    .about =
        "Lists the run files of the directories (of the current one, by default) and below them, "
        "and shows the sections of `weir report` of any of them, or of two side by side. New runs "
        "and the progress of running ones are seen as they come. Files are only read, and none "
        "outside of what was given.\n\n"
        "Only programs of this machine are answered, unless --listen names another address, and "
        "only those that have the token: other users of the machine could ask as well. The printed "
        "address has it. It is new each time, unless --token-file or WEIR_SERVE_TOKEN gives one "
        "(`openssl rand -hex 16` makes one); the command line is no place for it, every user can "
        "read that. --no-token lets every user of the machine read; with --socket the "
        "permissions of a file decide which users may.\n\n"
        "With --allow-run, and only then, the page has a form that starts a study of these "
        "directories with changed parameters. One study runs at a time, up to 8 wait.",
    .examples = "weir serve\n"
                "weir serve demo/hybrid demo/sweep.weir --port 9000\n"
                "weir serve --listen 0.0.0.0 runs\n"
                "weir serve --socket ~/weir.socket runs\n",
    .opts = serve_rows,
    .opts_size = sizeof(struct serve_opts),
    .main = cmd_serve_main,
};
