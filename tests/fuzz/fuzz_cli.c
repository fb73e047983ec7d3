/* Any words on the command line: options are parsed or refused, never misread past
 * their end. The input's words are separated by zero bytes. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/opt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct opts {
    bool json;
    const char *out;
    struct cli_list sets;
    uint32_t limit, order;
    uint64_t seed;
    double load;
};

static const char *const orders[] = {"time", "size", NULL};

static const struct cli_opt rows[] = {
    CLI_JSON(struct opts, json),
    CLI_SET(struct opts, sets),
    {"output", 'o', CLI_TEXT, offsetof(struct opts, out), "FILE", NULL, "write there", NULL, NULL,
     NULL, 0},
    {"limit", 'n', CLI_U32, offsetof(struct opts, limit), "N", "20", "rows", NULL, NULL, NULL, 0},
    {"seed", 0, CLI_U64, offsetof(struct opts, seed), "N", NULL, "the seed", NULL, NULL, NULL, 0},
    {"load", 0, CLI_REAL, offsetof(struct opts, load), "X", NULL, "the load", NULL, NULL, NULL, 0},
    {"order", 0, CLI_CHOICE, offsetof(struct opts, order), "BY", "size", "order", orders, NULL,
     NULL, 0},
    CLI_OPT_END,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { MOST = 64 };
    char *argv[MOST + 2] = {(char *)"verb"};
    char *text = malloc(size + 1);
    int argc = 1;
    struct wr_arena arena = {0};
    struct wr_err err = {0};
    struct opts o = {0};
    struct cli_parsed got = {0};

    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    for (size_t i = 0; i < size && argc <= MOST; i += strlen(text + i) + 1)
        argv[argc++] = text + i;

    if (cli_opt_parse(&got, &o, rows, "weir verb", argc, argv, &arena, &err)) {
        if (got.nargs >= argc || got.args[got.nargs] || o.order > 1)
            abort();
    } else if (!err.code || !err.text[0] || got.args) {
        abort();
    }
    wr_arena_fini(&arena);
    free(text);
    return 0;
}
