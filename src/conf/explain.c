/* explain.c -- rows in words: for `weir config explain`, and for the man page.
 *
 * The full name of a row is its path. NAME stands for a name that the user
 * chooses, N for an index in a list, and the rows of a plug-in are under its kind:
 *
 *   links.NAME.bandwidth   jobs.N.ranks   topology.dragonfly.groups
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "conf_priv.h"

/* What a key names: a row, or a kind of the plug-in `row`. */
struct found {
    const struct conf_row *row;
    const struct conf_kind *kind;
    bool inside; /* of an item of the table or list `row` */
};

typedef void visit_fn(const char *path, const struct found *what, void *arg);

/* The step between a table or list and what is inside its items. */
static const char *explain_item_step(const struct conf_row *row)
{
    return row->type == CONF_TABLE ? ".NAME" : row->type == CONF_LIST ? ".N" : "";
}

static void explain_visit_rows(struct wr_str *path, const struct conf_row *rows, visit_fn *fn,
                               void *arg)
{
    for (; rows && rows->key; rows++) {
        const size_t before = path->n;

        wr_str_addf(path, "%s%s", before ? "." : "", rows->key);
        const size_t here = path->n;
        fn(path->s, &(struct found){.row = rows}, arg);
        wr_str_add(path, explain_item_step(rows));
        explain_visit_rows(path, rows->rows, fn, arg);
        for (const struct conf_kind *const *k = rows->kinds; k && *k; k++) {
            path->n = here;
            wr_str_addf(path, "%s.%s", explain_item_step(rows), (*k)->name);
            explain_visit_rows(path, (*k)->rows, fn, arg);
        }
        path->n = before;
        path->s[before] = '\0';
    }
}

static void explain_visit(const char *from, const struct conf_row *rows, visit_fn *fn, void *arg)
{
    struct wr_str path = {0};

    wr_str_add(&path, from);
    explain_visit_rows(&path, rows, fn, arg);
    wr_str_fini(&path);
}

static void explain_add_type(struct wr_str *out, const struct conf_row *row)
{
    const char *example = conf_type_example(row->type);

    if (row->type == CONF_LIST && !row->rows) {
        wr_str_addf(out, "a list, each item %s", conf_type_words(row->item));
        example = conf_type_example(row->item);
    } else {
        wr_str_add(out, conf_type_words(row->type));
    }
    if (example && row->type != CONF_SECTION && row->type != CONF_TABLE)
        wr_str_addf(out, " such as %s", example);
    if (row->include || row->files)
        wr_str_add(out, ", or the name of a file with one");
}

static void explain_add_default(struct wr_str *out, const struct conf_row *row)
{
    if (!row->def)
        wr_str_add(out,
                   row->type == CONF_SECTION ? "that of each key in it" : "none: it must be given");
    else
        wr_str_add(out, row->def[0] ? row->def : "none: it may be left out");
}

static void explain_add_names(struct wr_str *out, const char *const *names)
{
    for (const char *const *n = names; n && *n; n++)
        wr_str_addf(out, "%s%s", n == names ? "" : ", ", *n);
}

struct listing {
    struct wr_str *out;
    int indent, width;
    bool measure;
};

static void explain_list_row(const char *path, const struct found *what, void *arg)
{
    struct listing *l = arg;
    int len = (int)strlen(path);

    if (what->row->type == CONF_SECTION)
        return;
    if (l->measure) {
        l->width = len > l->width ? len : l->width;
        return;
    }
    const char *def = what->row->def;
    wr_str_addf(l->out, "%*s%-*s  %s [%s]\n", l->indent, "", l->width, path,
                what->row->help ? what->row->help : "",
                !def     ? "must be given"
                : def[0] ? def
                         : "optional");
}

/* One line for each row under `path`, whatever kind the rows belong to. */
static void explain_list_below(const char *path, const struct conf_row *row, struct wr_str *out)
{
    struct listing l = {.out = out, .indent = 2, .measure = true};

    wr_str_add(out, "\nkeys:\n");
    for (int pass = 0; pass < 2; pass++, l.measure = false) {
        struct wr_str from = {0};

        wr_str_addf(&from, "%s%s", path, explain_item_step(row));
        explain_visit(from.s, row->rows, explain_list_row, &l);
        for (const struct conf_kind *const *k = row->kinds; k && *k; k++) {
            from.n = 0;
            wr_str_addf(&from, "%s%s.%s", path, explain_item_step(row), (*k)->name);
            explain_visit(from.s, (*k)->rows, explain_list_row, &l);
        }
        wr_str_fini(&from);
    }
}

static void explain_list_all(const struct conf_row *rows, struct wr_str *out)
{
    struct listing l = {.out = out, .measure = true};

    explain_visit("", rows, explain_list_row, &l);
    l.measure = false;
    explain_visit("", rows, explain_list_row, &l);
}

static void explain_kinds(const struct conf_row *row, struct wr_str *out)
{
    int width = 0;

    for (const struct conf_kind *const *k = row->kinds; k && *k; k++)
        if ((int)strlen((*k)->name) > width)
            width = (int)strlen((*k)->name);
    wr_str_add(out, "\nkinds:\n");
    for (const struct conf_kind *const *k = row->kinds; k && *k; k++)
        wr_str_addf(out, "  %-*s  %s\n", width, (*k)->name, (*k)->summary ? (*k)->summary : "");
    if (!row->files)
        return;
    wr_str_add(out, "\nby name: ");
    for (const struct conf_text *t = row->files->shipped; t->name; t++)
        wr_str_addf(out, "%s%s", t == row->files->shipped ? "" : ", ", t->name);
    wr_str_addf(out, "; or a file: %s\n", row->files->help);
}

static void explain_row(const char *path, const struct conf_row *row, struct wr_str *out)
{
    struct wr_str range = {0};
    bool counted = row->type == CONF_TABLE || (row->type == CONF_LIST && row->rows);

    wr_str_addf(out, "%s: %s\n\n  type     ", path, row->help ? row->help : "");
    explain_add_type(out, row);
    wr_str_add(out, "\n  default  ");
    explain_add_default(out, row);
    if (conf_range_words(row, &range))
        wr_str_addf(out, "\n  allowed  %s%s", range.s, counted ? " items" : "");
    if (row->names) {
        wr_str_add(out, "\n  choices  ");
        explain_add_names(out, row->names);
    }
    wr_str_add(out, "\n");
    wr_str_fini(&range);
    if (row->kinds)
        explain_kinds(row, out);
    if (row->rows || row->kinds)
        explain_list_below(path, row, out);
}

struct finder {
    char *step[16];
    unsigned n;
    char *text;
    struct wr_str path; /* the full name of what was found */
};

static bool explain_split_key(struct finder *f, const char *key, struct wr_err *err)
{
    f->text = wr_strdup(key);
    for (char *s = f->text, *next; s; s = next) {
        next = strchr(s, '.');
        if (next)
            *next++ = '\0';
        if (f->n == sizeof f->step / sizeof f->step[0])
            return wr_fail(err, WR_UNKNOWN,
                           "no key \"%s\": it has too many steps; try `weir config "
                           "explain`",
                           wr_text_clip(key).s);
        f->step[f->n++] = s;
    }
    return true;
}

/* topology.groups, without the kind: fine when only one kind has it. */
static bool explain_find_kind(const struct conf_row *row, const char *path, const char *step,
                              const struct conf_kind **ret, struct wr_err *err)
{
    struct wr_str have = {0};
    unsigned n = 0;

    for (const struct conf_kind *const *k = row->kinds; k && *k; k++)
        if (conf_row_find((*k)->rows, step)) {
            wr_str_addf(&have, "%s%s.%s.%s", n++ ? ", " : "", path, (*k)->name, step);
            *ret = *k;
        }
    if (n > 1)
        wr_fail(err, WR_UNKNOWN, "several kinds have \"%s\"; write one of %.1500s", step, have.s);
    else if (!n)
        conf_unknown_kind(row, step, err);
    wr_str_fini(&have);
    return n == 1;
}

/* A step that no row knows: the user's own name or number in a table or list,
 * or the keys that plug-ins and files have beside their rows. */
static bool explain_is_free_step(struct found *at, const char *step, const char *next)
{
    const struct conf_row *row = at->row;
    bool many = row && (row->type == CONF_LIST || row->type == CONF_TABLE);

    if (!row || at->kind)
        return false;
    if (many && !at->inside) {
        at->inside = true;
        return row->kinds
                   ? strspn(step, "0123456789N") == strlen(step)
                   : !conf_row_find(row->rows, step) || (next && conf_row_find(row->rows, next));
    }
    return !next && (((row->include || row->files) && !strcmp(step, "file")) ||
                     (row->kinds && !strcmp(step, "kind")));
}

/* One step further down from `at`; false when there is nothing of that name. */
static bool explain_find_step(struct finder *f, struct found *at, const struct conf_row **rows,
                              const char *step, struct wr_err *err)
{
    const struct conf_row *row = at->row;

    if (row && row->kinds && !at->kind) {
        at->kind = conf_kind_find(row, step);
        bool named = at->kind != NULL;

        if (!named && !explain_find_kind(row, f->path.s, step, &at->kind, err))
            return false;
        wr_str_addf(&f->path, "%s.%s", explain_item_step(row), at->kind->name);
        *rows = at->kind->rows;
        if (named)
            return true;
    } else if (row && !row->rows && !at->kind) {
        return wr_fail(err, WR_UNKNOWN, "\"%s\" has no \"%s\" in it; explain it itself", row->key,
                       wr_text_clip(step).s);
    }
    const struct conf_row *next = conf_row_find(*rows, step);
    if (!next)
        return conf_unknown_key(*rows, NULL, wr_str_get(&f->path), step, err);
    wr_str_addf(&f->path, "%s%s%s", row && !at->kind ? explain_item_step(row) : "",
                f->path.n ? "." : "", next->key);
    *at = (struct found){.row = next};
    *rows = next->rows;
    return true;
}

static bool explain_find(struct finder *f, const struct conf_row *rows, const char *key,
                         struct found *ret, struct wr_err *err)
{
    struct found at = {0};

    if (!explain_split_key(f, key, err))
        return false;
    for (unsigned i = 0; i < f->n; i++) {
        const char *next = i + 1 < f->n ? f->step[i + 1] : NULL;

        if (!explain_is_free_step(&at, f->step[i], next) &&
            !explain_find_step(f, &at, &rows, f->step[i], err))
            return false;
    }
    *ret = at;
    return true;
}

static void explain_finder_fini(struct finder *f)
{
    free(f->text);
    wr_str_fini(&f->path);
}

const struct conf_row *conf_find_row(const struct conf_row *rows, const char *key)
{
    struct finder f = {.n = 0};
    struct found at = {0};
    struct wr_err err;
    bool ok = explain_find(&f, rows, key, &at, &err);

    explain_finder_fini(&f);
    return ok ? at.row : NULL;
}

static void explain_kind(const char *path, const struct conf_kind *kind, struct wr_str *out)
{
    const struct conf_row as_section = {.type = CONF_SECTION, .rows = kind->rows};

    wr_str_addf(out, "%s: %s\n", path, kind->summary ? kind->summary : "");
    if (kind->rows && kind->rows->key)
        explain_list_below(path, &as_section, out);
}

bool conf_explain(const struct conf_row *rows, const char *key, struct wr_str *out,
                  struct wr_err *err)
{
    struct finder f = {.n = 0};
    struct found at = {0};

    if (!key || !*key) {
        explain_list_all(rows, out);
        return true;
    }
    bool ok = explain_find(&f, rows, key, &at, err);
    if (ok && at.kind)
        explain_kind(f.path.s, at.kind, out);
    else if (ok)
        explain_row(f.path.s, at.row, out);
    explain_finder_fini(&f);
    return ok;
}

struct each {
    const char *under; /* NULL: everything */
    void (*fn)(const struct conf_about *about, void *arg);
    void *arg;
};

static void explain_each_row(const char *path, const struct found *what, void *arg)
{
    const struct each *e = arg;
    size_t n = e->under ? strlen(e->under) : 0;
    struct wr_str type = {0}, range = {0};

    if (n && (strncmp(path, e->under, n) || (path[n] && path[n] != '.')))
        return;
    explain_add_type(&type, what->row);
    e->fn(&(struct conf_about){.key = path,
                               .row = what->row,
                               .type = type.s,
                               .allowed = conf_range_words(what->row, &range) ? range.s : NULL},
          e->arg);
    wr_str_fini(&type);
    wr_str_fini(&range);
}

bool conf_each_row(const struct conf_row *rows, const char *key,
                   void (*fn)(const struct conf_about *about, void *arg), void *arg,
                   struct wr_err *err)
{
    struct finder f = {.n = 0};
    struct found at;
    bool ok = !key || explain_find(&f, rows, key, &at, err);

    if (ok)
        explain_visit("", rows, explain_each_row,
                      &(struct each){.under = key ? f.path.s : NULL, .fn = fn, .arg = arg});
    explain_finder_fini(&f);
    return ok;
}

/* scdoc gives * and _ a meaning. */
static void explain_add_escaped(struct wr_str *out, const char *text)
{
    for (; *text; text++)
        wr_str_addf(out, "%s%c", strchr("*_\\", *text) ? "\\" : "", *text);
}

/* Help texts are sentences with or without their full stop. */
static void explain_add_sentence(struct wr_str *out, const char *text)
{
    size_t n = strlen(text);

    wr_str_addf(out, "%s%s", text, n && text[n - 1] == '.' ? "" : ".");
    out->s[0] = (char)toupper((unsigned char)out->s[0]);
}

static void explain_scdoc_row(const char *path, const struct found *what, void *arg)
{
    const struct conf_row *row = what->row;
    struct wr_str text = {0}, range = {0}, *out = arg;

    wr_str_add(out, "*");
    explain_add_escaped(out, path);
    wr_str_add(out, "*\n\t");
    explain_add_sentence(&text, row->help ? row->help : "");
    wr_str_add(&text, " Type: ");
    explain_add_type(&text, row);
    if (row->names) {
        wr_str_add(&text, ": ");
        explain_add_names(&text, row->names);
    }
    for (const struct conf_kind *const *k = row->kinds; k && *k; k++)
        wr_str_addf(&text, "%s%s", k == row->kinds ? ": " : ", ", (*k)->name);
    if (row->def && row->def[0])
        wr_str_addf(&text, ". Default: %s.", row->def);
    else
        wr_str_add(&text, row->def                    ? ". May be left out."
                          : row->type == CONF_SECTION ? "."
                                                      : ". Must be given.");
    if (conf_range_words(row, &range))
        wr_str_addf(&text, " Allowed: %s.", range.s);
    explain_add_escaped(out, text.s);
    wr_str_add(out, "\n\n");
    wr_str_fini(&text);
    wr_str_fini(&range);
}

void conf_rows_scdoc(const struct conf_row *rows, struct wr_str *out)
{
    explain_visit("", rows, explain_scdoc_row, out);
}
