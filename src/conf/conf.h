/* conf.h -- YAML text -> typed, located, defaulted parameters, from tables of rows.
 *
 * A parameter is one row. The row gives its parser, default, range, unit, help
 * text, man page entry and line in the resolved dump; there is no second place.
 *
 *   topology:            CONF_PLUGIN   `kind` picks the plug-in, the other keys are its rows
 *     kind: dragonfly
 *     groups: 33         CONF_U32
 *   links:               CONF_TABLE    keys are the user's, values are sections
 *     local: {bandwidth: 5.25 GiB/s, latency: 726.6 ns}
 *   router:              CONF_SECTION
 *     delay: 100 ns      CONF_TIME
 *
 * Scalars are typed by the row, never by YAML's guesses. The origin of
 * every value is kept: a line and column of a file, a --set, or the default.
 */
#ifndef CONF_CONF_H
#define CONF_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"

enum conf_type {
    CONF_BOOL,     /* bool */
    CONF_U32,      /* uint32_t */
    CONF_U64,      /* uint64_t */
    CONF_REAL,     /* double, no unit */
    CONF_FRACTION, /* double: "20 %" or 0.2 */
    CONF_BYTES,    /* uint64_t: "4 KiB", "166666666 B" */
    CONF_RATE,     /* double, bytes per second: "25 GB/s", "200 Gbit/s" */
    CONF_TIME,     /* double, picoseconds: "726.6 ns" */
    CONF_STRING,   /* const char * */
    CONF_PATH,     /* const char *, relative to the file that names it */
    CONF_CHOICE,   /* uint32_t, index into `names` */
    CONF_SECTION,  /* the struct at `offset`, typed by `rows` */
    CONF_PLUGIN,   /* struct conf_plugin */
    CONF_LIST,     /* struct conf_list of `size`-byte structs typed by `rows`, or of scalars of type
                      `item` */
    CONF_TABLE,    /* struct conf_list, each item beginning with struct conf_key */
};

/* The head of every plug-in's operations table (topology, routing, pattern, ...). */
struct conf_kind {
    const char *name;
    const char *summary;         /* one line for `weir list` */
    const struct conf_row *rows; /* its parameters, or NULL */
    size_t params_size;
};

struct conf_plugin {
    const struct conf_kind *kind; /* NULL when the optional plug-in is absent */
    void *params;
};

/* Files that may stand where a plug-in is named, and those of them that the program contains.
 *
 *   device: nvme                          a kind
 *   device: d3-s4510                      one of `shipped`
 *   device: mine.yaml                     what that file says under `key`
 *   device: {file: mine.yaml, depth: 16}  the same, with some values replaced
 */
struct conf_files {
    const char *key;                 /* under which such a file has the plug-in */
    const struct conf_row *rows;     /* all keys of such a file; NULL: shipped ones only */
    const struct conf_text *shipped; /* ends with a NULL name */
    const char *help;                /* what to do about a file of another kind */
};

struct conf_text {
    const char *name, *text;
};

struct conf_list {
    void *items;
    size_t n;
};

struct conf_key {
    const char *name;
};

/* A section that is not written is an empty one: its rows' defaults apply, and
 * what they require is missing. With def "" it is left zeroed when a row inside
 * is required, so that `fault:` may be absent and still demand `at:` when given.
 * Negative numbers are for CONF_REAL only. A list's min and max are its items';
 * of a list of sections or a table, the number of items. */
struct conf_row {
    const char *key;
    enum conf_type type;
    size_t offset;
    const char *def;  /* as a user would write it; NULL: must be given; "": may be absent */
    double min, max;  /* in the stored unit, inclusive; equal: not checked */
    const char *help; /* one sentence */
    const struct conf_row *rows;          /* SECTION, LIST of sections, TABLE */
    size_t size;                          /* LIST, TABLE: bytes per item */
    enum conf_type item;                  /* LIST of scalars: their type (rows == NULL) */
    const char *const *names;             /* CHOICE, ends with NULL */
    const struct conf_kind *const *kinds; /* PLUGIN, ends with NULL */
    const char *what;                     /* PLUGIN: what it is; NULL: what its key says */
    const struct conf_files *files;       /* PLUGIN: may be a file, too; NULL: it may not */
    bool include; /* SECTION: may be a file name, or have `file:` whose values it overrides */
};

#define CONF_END    \
    {               \
        .key = NULL \
    }

struct conf_input {
    const char *path, *text;
    size_t len;
};

struct conf; /* what was read: the values' origins and the files' contents */

/* Reads `path` into the zeroed struct at `into`, which must stay in place as long
 * as *ret is used. `sets` are "a.b=c" overrides (conf_set.c says what else a step may be). `path`
 * may be NULL: only defaults and sets. Strings, lists and plug-ins' parameters live until
 * conf_close. On failure nothing is kept. */
bool conf_load(struct conf **ret, void *into, const struct conf_row *rows, const char *path,
               const char *const *sets, size_t nsets, struct wr_err *err);
/* The same from text in memory; `name` stands for the path in messages. */
bool conf_load_text(struct conf **ret, void *into, const struct conf_row *rows, const char *name,
                    const char *text, size_t len, const char *const *sets, size_t nsets,
                    struct wr_err *err);
/* Overrides that stand in another configuration: errors name their place there, and file names in
 * them are relative to that file. */
struct conf_override {
    const char *text;      /* "a.b=c" */
    const struct conf *in; /* NULL: --set */
    const void *field;     /* the value of `in` that says it */
};

bool conf_load_over(struct conf **ret, void *into, const struct conf_row *rows, const char *path,
                    const struct conf_override *over, size_t nover, struct wr_err *err);
void conf_close(struct conf *c);

/* "file:line:column" of the value stored at `field` (a pointer into `into`,
 * a list item or plug-in params), or "default" or "--set a.b". Where a section
 * and its first value share an address, the value is meant. */
const char *conf_origin(const struct conf *c, const void *field);

/* An error about the value stored at `field`, at its place in the file. */
bool conf_fail(const struct conf *c, const void *field, struct wr_err *err, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* The resolved configuration as YAML that reads back to the same values;
 * with origins, each line ends in a comment saying where the value came from. */
void conf_dump(const struct conf *c, struct wr_str *out, bool origins);

/* What is below one key of the outermost mapping, as a configuration of its own. */
void conf_dump_part(const struct conf *c, const char *key, struct wr_str *out);

/* All files read (the configuration and those it includes), for the run file. */
size_t conf_inputs(const struct conf *c, const struct conf_input **ret);

/* The files that values of type CONF_PATH name; the owner of the value reads them. */
size_t conf_paths(const struct conf *c, const char *const **ret);

/* Every value that was given or has a default, in the order of the dump. */
struct conf_value {
    const char *key; /* jobs.0.ranks */
    const struct conf_row *row;
    const void *at;     /* the stored value; of a plug-in: struct conf_plugin */
    const char *text;   /* as in the dump, without quotes */
    const char *unit;   /* of the stored number: "ps", "B", "B/s"; NULL: none */
    const char *origin; /* as conf_origin says */
};

void conf_each(const struct conf *c, void (*fn)(const struct conf_value *v, void *arg), void *arg);

/* Values that are in a file but do not count, because a --set chose another
 * kind of plug-in, in words. */
size_t conf_left_out(const struct conf *c, const char *const **ret);

/* `weir config explain a.b`: the row in words; of NULL, all rows, one line each.
 * A plug-in's rows are reached as topology.dragonfly.groups. Unknown keys get
 * the nearest match. */
bool conf_explain(const struct conf_row *rows, const char *key, struct wr_str *out,
                  struct wr_err *err);
/* The same for programs: calls `fn` for the row of `key` and those inside it. */
struct conf_about {
    const char *key; /* machine.links.NAME.latency */
    const struct conf_row *row;
    const char *type;    /* in words */
    const char *allowed; /* the range in words, or NULL */
};

bool conf_each_row(const struct conf_row *rows, const char *key,
                   void (*fn)(const struct conf_about *about, void *arg), void *arg,
                   struct wr_err *err);
/* The row of a.b, or NULL; names in tables and places in lists may be left out. */
const struct conf_row *conf_find_row(const struct conf_row *rows, const char *key);
/* All rows as the body of a man page's section. */
void conf_rows_scdoc(const struct conf_row *rows, struct wr_str *out);

/* For tests: are the rows of a struct of `size` bytes sound, their defaults in
 * range, their values inside it? Rows that are not are a bug. */
bool conf_rows_check(const struct conf_row *rows, size_t size, struct wr_err *err);

#endif
