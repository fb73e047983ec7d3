/* cli_json.c -- see cli_json.h. */
#include "cli/cli_json.h"

#include <assert.h>
#include <math.h>

#include "base/str.h"

static void json_print(FILE *out, json_t *value, size_t flags)
{
    assert(value); /* the format of json_pack() fits */
    json_dumpf(value, out, flags | JSON_REAL_PRECISION(15));
    fputc('\n', out);
    json_decref(value);
}

void cli_json_print(FILE *out, json_t *value)
{
    json_print(out, value, JSON_INDENT(2));
}

void cli_json_print_line(FILE *out, json_t *value)
{
    json_print(out, value, JSON_COMPACT);
    fflush(out);
}

json_t *cli_json_string(const char *text)
{
    json_t *s = text ? json_string(text) : json_null();
    struct wr_str plain = {0};

    if (s)
        return s;
    for (const char *at = text; *at; at++)
        wr_str_addn(&plain, (unsigned char)*at < 0x80 ? at : "?", 1);
    s = json_string(wr_str_get(&plain));
    wr_str_fini(&plain);
    return s;
}

json_t *cli_json_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}
