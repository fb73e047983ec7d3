/* cli_table.h -- a table as aligned text, CSV or JSON.
 *
 *     struct cli_table *t = cli_table_open(out, CLI_AS_TEXT, columns, 2);
 *     for (...) {
 *         cli_table_text(t, name);
 *         cli_table_real(t, latency_ns);
 *     }
 *     cli_table_close(t);
 *
 * A row ends by itself after its last cell. Text: numbers to the right, words
 * to the left, an absent value is "-", control characters are escaped and long
 * words shortened (what is printed may come from any file). CSV and JSON
 * give every value in full, reals with all their digits.
 *
 * CSV and JSON are written as they come; text looks at the first thousand rows
 * before it decides on widths. A failed write is the caller's to find in `out`.
 */
#ifndef CLI_CLI_TABLE_H
#define CLI_CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

enum cli_format { CLI_AS_TEXT, CLI_AS_CSV, CLI_AS_JSON };

struct cli_column {
    const char *name;  /* the key in JSON, the head in CSV; ends with its unit: "mean_ns" */
    const char *title; /* the head in text; NULL: the name */
};

struct cli_table;

struct cli_table *cli_table_open(FILE *out, enum cli_format format,
                                 const struct cli_column *columns, int ncolumns);
void cli_table_close(struct cli_table *t);

void cli_table_null(struct cli_table *t);
void cli_table_bool(struct cli_table *t, bool value);
void cli_table_int(struct cli_table *t, int64_t value);
void cli_table_real(struct cli_table *t, double value); /* NaN and infinities are absent */
/* The same; `absent`, a literal, says in text what is absent: "not known". */
void cli_table_real_or(struct cli_table *t, double value, const char *absent);
void cli_table_text(struct cli_table *t, const char *text);
void cli_table_textn(struct cli_table *t, const char *text, size_t n);

/* The nearest multiple of 1 / scale: text tables show no more decimals than a measurement has. */
double cli_round(double v, double scale);
/* The nearest value of that many significant digits; 0 and what is not finite stay as they are. */
double cli_round_digits(double v, int digits);

/* One string as JSON, quoted; bytes that are not UTF-8 become U+FFFD. */
void cli_json_text(FILE *out, const char *text, size_t n);

/* --json and --csv at once is a contradiction. */
bool cli_format_of(bool json, bool csv, enum cli_format *ret, struct wr_err *err);

/* The two rows of options that go with it. */
#define CLI_CSV(type_, field_)                                              \
    {                                                                       \
        .name = "csv", .type = CLI_FLAG, .offset = offsetof(type_, field_), \
        .help = "print CSV instead of text"                                 \
    }

#endif
