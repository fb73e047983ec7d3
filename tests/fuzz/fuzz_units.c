/* Any text is a quantity or an error; a quantity written out reads back the same.
 * The first byte picks the kind. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool ok, const char *what, const char *text)
{
    if (ok)
        return;
    fprintf(stderr, "%s: \"%s\"\n", what, text);
    abort();
}

static void check_double(bool (*parse)(double *, const char *, struct wr_err *),
                         struct wr_text (*write)(double), const char *text)
{
    struct wr_err err;
    double v, back;

    if (!parse(&v, text, &err)) {
        need(err.code == WR_INPUT && strlen(err.text) < 400, "an odd complaint", err.text);
        return;
    }
    struct wr_text once = write(v);
    need(parse(&back, once.s, &err), "does not read back", once.s);
    need(!memcmp(&v, &back, sizeof v), "reads back to another value", once.s);
    need(!strcmp(once.s, write(back).s), "is written in two ways", once.s);
}

static void check_whole(bool (*parse)(uint64_t *, const char *, struct wr_err *),
                        struct wr_text (*write)(uint64_t), const char *text)
{
    struct wr_err err;
    uint64_t v, back;

    if (!parse(&v, text, &err)) {
        need(err.code == WR_INPUT && strlen(err.text) < 400, "an odd complaint", err.text);
        return;
    }
    struct wr_text once = write(v);
    need(parse(&back, once.s, &err), "does not read back", once.s);
    need(v == back, "reads back to another value", once.s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    char *text = malloc(size);

    if (!text)
        abort();
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    switch (data[0] % 6) {
    case 0:
        check_double(wr_parse_time, wr_text_time, text);
        break;
    case 1:
        check_double(wr_parse_rate, wr_text_rate, text);
        break;
    case 2:
        check_double(wr_parse_fraction, wr_text_fraction, text);
        break;
    case 3:
        check_double(wr_parse_real, wr_text_real, text);
        break;
    case 4:
        check_whole(wr_parse_bytes, wr_text_bytes, text);
        break;
    case 5:
        check_whole(wr_parse_u64, wr_text_u64, text);
        break;
    }
    free(text);
    return 0;
}
