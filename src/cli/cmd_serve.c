/* cmd_serve.c -- `weir serve [DIR|RUN...]`: the reports of runs, live, in a local web page. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/self.h"
#include "base/signals.h"
#include "cli/cli.h"
#include "report/sections/sections.h"
#include "report/web/bundle.h"
#include "report/web/web.h"

struct serve_opts {
    const char *listen, *token;
    uint32_t port;
    bool allow_run;
};

static const struct cli_opt serve_rows[] = {
    {.name = "port",
     .letter = 'p',
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
     .help = "listen at this address; at any but this machine's own, a token is asked for"},
    {.name = "token",
     .type = CLI_TEXT,
     .offset = offsetof(struct serve_opts, token),
     .value = "TEXT",
     .help = "ask for this token, at least 16 characters; default: a new one, where one is needed"},
    {.name = "allow-run",
     .type = CLI_FLAG,
     .offset = offsetof(struct serve_opts, allow_run),
     .help = "let the page start the studies (*.yaml) that are in the directories, changed or not"},
    CLI_OPT_END,
};

static bool is_loopback(const char *address)
{
    static const char *const names[] = {"127.0.0.1", "::1", "localhost"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(address, names[i]))
            return true;
    return false;
}

static bool new_token(char *into, size_t size, struct wr_err *err)
{
    unsigned char bits[16];

    if (getrandom(bits, sizeof bits, 0) != sizeof bits)
        return wr_fail_errno(err, "no random numbers for a token; give one with --token");
    for (size_t i = 0; i < sizeof bits && 2 * i + 2 < size; i++)
        snprintf(into + 2 * i, 3, "%02x", bits[i]);
    return true;
}

/* Waits for Ctrl-C; what is under way is answered. */
static void wait_for_end(void)
{
    while (!wr_interrupted())
        usleep(100000);
}

static bool serve(const struct cli_call *call, const struct web_config *c, struct wr_err *err)
{
    const struct serve_opts *o = call->opts;
    struct web_server *server;
    struct web_site site;
    unsigned port;

    if (!web_open(&site, c, err))
        return false;
    /* Before it is told where it is: who reads that may press Ctrl-C at once. */
    wr_interrupt_catch();
    if (!web_serve(&server, &site, o->listen, o->port, &port, err)) {
        wr_interrupt_release();
        web_close(&site);
        return false;
    }
    bool six = strchr(o->listen, ':') != NULL;
    fprintf(call->out, "open http://%s%s%s:%u/%s%s in a browser; Ctrl-C ends it\n", six ? "[" : "",
            o->listen, six ? "]" : "", port, c->token ? "?token=" : "", c->token ? c->token : "");
    fflush(call->out);
    wait_for_end();
    web_serve_end(server);
    wr_interrupt_release();
    web_close(&site);
    return true;
}

static int serve_main(const struct cli_call *call, struct wr_err *err)
{
    static const char *const here[] = {"."};
    const struct serve_opts *o = call->opts;
    char token[40] = "", program[WR_SELF_PATH];
    struct web_config c = {.operands = call->nargs ? (const char *const *)call->args : here,
                           .n = call->nargs ? (size_t)call->nargs : 1,
                           .makers = report_sections,
                           .code = web_bundle(),
                           .loopback = is_loopback(o->listen),
                           .allow_run = o->allow_run};

    if (o->port > 65535) {
        wr_fail(err, WR_INPUT, "there is no port %u; choose one up to 65535", o->port);
        return cli_error(err);
    }
    if (o->token && strlen(o->token) < 16) {
        wr_fail(err, WR_INPUT, "a token of %zu characters is soon guessed; give at least 16",
                strlen(o->token));
        return cli_error(err);
    }
    c.token = o->token;
    if (!c.token && !c.loopback) {
        if (!new_token(token, sizeof token, err))
            return cli_error(err);
        c.token = token;
    }
    if (!wr_self_path(program, err))
        return cli_error(err);
    c.program = program;
    signal(SIGCHLD, SIG_IGN); /* studies that were started end by themselves */
    signal(SIGPIPE, SIG_IGN);
    return serve(call, &c, err) ? 0 : cli_error(err);
}

const struct cli_verb cli_cmd_serve = {
    .name = "serve",
    .summary = "show the runs of directories in a local web page",
    .args = "[DIR|RUN...]",
    .max_args = -1,
    .about =
        "Lists the run files of the directories (of the current one, by default) and below them, "
        "and shows the sections of `weir report` of any of them, or of two side by side. New runs "
        "and the progress of running ones are seen as they come. Files are only read, and none "
        "outside of what was given.\n\n"
        "Only programs of this machine are answered, unless --listen names another address: then "
        "everybody needs the token that the printed address has. With --allow-run, and only then, "
        "the page has a form that starts a study of these directories with changed parameters.",
    .examples = "weir serve\n"
                "weir serve demo/hybrid demo/sweep.weir --port 9000\n"
                "weir serve --listen 0.0.0.0 runs\n",
    .opts = serve_rows,
    .opts_size = sizeof(struct serve_opts),
    .main = serve_main,
};
