/* conf_dump.c -- the resolved configuration as YAML, one line per value.
 *
 *   topology:
 *     kind: dragonfly    # machine.yaml:2:9
 *     groups: 33         # --set topology.groups
 *     dims: [4, 4]       # default
 *
 * Fields are in the order of the rows with parents before children, so the
 * text is one pass over them. Lines are collected first to align the comments. Reads only.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "conf_priv.h"

struct line {
    size_t start, len;  /* in `text` */
    const char *origin; /* NULL: none */
};

struct dump {
    const struct conf *c;
    struct wr_str text;
    WR_VEC(struct line) lines;
};

enum { WIDEST_ALIGNED = 60 };

static const struct conf_field *dump_field_at(const struct dump *d, uint32_t i)
{
    assert(i < d->c->fields.n);
    return &d->c->fields.v[i];
}

/* The first field after i and all that is inside it. */
static uint32_t dump_next_sibling(const struct dump *d, uint32_t i)
{
    uint32_t next = i + 1;

    while (next < d->c->fields.n && dump_field_at(d, next)->parent >= i)
        next++;
    return next;
}

/* A value that was not given and has no default is not written: it stays absent when read back. */
static bool dump_has_child(const struct dump *d, uint32_t i)
{
    for (uint32_t k = i + 1, end = dump_next_sibling(d, i); k < end; k = dump_next_sibling(d, k))
        if (dump_field_at(d, k)->state != CONF_ABSENT)
            return true;
    return false;
}

static bool dump_is_flow(const struct dump *d, uint32_t i)
{
    return dump_field_at(d, i)->shape == CONF_SEQ &&
           (!dump_has_child(d, i) || dump_field_at(d, i + 1)->shape == CONF_LEAF);
}

static void dump_end_line(struct dump *d, size_t start, const char *origin)
{
    wr_vec_push(&d->lines, (struct line){start, d->text.n - start, origin});
}

static void dump_add_scalar(struct dump *d, const struct conf_field *f)
{
    struct wr_str value = {0};

    conf_value_text(f->row, f->at, &value);
    conf_quote(&d->text, wr_str_get(&value));
    wr_str_fini(&value);
}

static void dump_add_flow_list(struct dump *d, uint32_t i)
{
    uint32_t end = dump_next_sibling(d, i);

    wr_str_add(&d->text, "[");
    for (uint32_t k = i + 1; k < end; k++) {
        wr_str_add(&d->text, k == i + 1 ? "" : ", ");
        dump_add_scalar(d, dump_field_at(d, k));
    }
    wr_str_add(&d->text, "]");
}

static void dump_add_children(struct dump *d, uint32_t i, int indent, bool dash);

/* `dash`: the line goes on after the "- " of a list's item. */
static void dump_add_field(struct dump *d, uint32_t i, int indent, bool dash)
{
    const struct conf_field *f = dump_field_at(d, i);
    const char *origin = conf_field_origin(d->c, f);
    size_t start = d->text.n;

    if (dash)
        wr_str_addf(&d->text, "%*s- ", indent - 2, "");
    else
        wr_str_addf(&d->text, "%*s", indent, "");
    conf_quote(&d->text, f->name);
    wr_str_add(&d->text, ":");
    if (f->shape == CONF_LEAF || dump_is_flow(d, i) || !dump_has_child(d, i)) {
        wr_str_add(&d->text, " ");
        if (f->shape == CONF_LEAF)
            dump_add_scalar(d, f);
        else if (f->shape == CONF_SEQ)
            dump_add_flow_list(d, i);
        else
            wr_str_add(&d->text, "{}");
        dump_end_line(d, start, origin);
        return;
    }
    dump_end_line(d, start, NULL);
    dump_add_children(d, i, indent + 2, false);
}

static void dump_add_items(struct dump *d, uint32_t i, int indent)
{
    for (uint32_t k = i + 1, end = dump_next_sibling(d, i); k < end; k = dump_next_sibling(d, k)) {
        size_t start = d->text.n;

        if (dump_has_child(d, k)) {
            dump_add_children(d, k, indent + 2, true);
        } else {
            wr_str_addf(&d->text, "%*s- {}", indent, "");
            dump_end_line(d, start, conf_field_origin(d->c, dump_field_at(d, k)));
        }
    }
}

static void dump_add_children(struct dump *d, uint32_t i, int indent, bool dash)
{
    if (dump_field_at(d, i)->shape == CONF_SEQ) {
        dump_add_items(d, i, indent);
        return;
    }
    for (uint32_t k = i + 1, end = dump_next_sibling(d, i); k < end; k = dump_next_sibling(d, k)) {
        if (dump_field_at(d, k)->state == CONF_ABSENT)
            continue;
        dump_add_field(d, k, indent, dash);
        dash = false;
    }
}

static void dump_print_lines(const struct dump *d, struct wr_str *out, bool origins)
{
    size_t widest = 0;

    for (size_t i = 0; i < d->lines.n; i++)
        if (d->lines.v[i].origin && d->lines.v[i].len > widest &&
            d->lines.v[i].len <= WIDEST_ALIGNED)
            widest = d->lines.v[i].len;
    for (size_t i = 0; i < d->lines.n; i++) {
        const struct line *l = &d->lines.v[i];
        int pad = l->len < widest ? (int)(widest - l->len) : 0;

        wr_str_addn(out, d->text.s + l->start, l->len);
        if (origins && l->origin) {
            wr_str_addf(out, "%*s  # ", pad, "");
            conf_comment(out, l->origin);
        }
        wr_str_add(out, "\n");
    }
}

void conf_dump(const struct conf *c, struct wr_str *out, bool origins)
{
    struct dump d = {.c = c};

    for (size_t i = 0; origins && i < c->dropped.n; i++) {
        wr_str_add(out, "# left out: ");
        conf_comment(out, c->dropped.v[i]);
        wr_str_add(out, "\n");
    }
    if (dump_has_child(&d, 0))
        dump_add_children(&d, 0, 0, false);
    else
        wr_str_add(out, "{}\n");
    dump_print_lines(&d, out, origins);
    wr_str_fini(&d.text);
    wr_vec_fini(&d.lines);
}

void conf_dump_part(const struct conf *c, const char *key, struct wr_str *out)
{
    struct dump d = {.c = c};
    uint32_t i = 1;

    while (i < c->fields.n && strcmp(dump_field_at(&d, i)->name, key) != 0)
        i = dump_next_sibling(&d, i);
    if (i < c->fields.n && dump_has_child(&d, i))
        dump_add_children(&d, i, 0, false);
    else
        wr_str_add(out, "{}\n");
    dump_print_lines(&d, out, false);
    wr_str_fini(&d.text);
    wr_vec_fini(&d.lines);
}

/* An item of a list of scalars has its list's row with the item's type. */
void conf_each(const struct conf *c, void (*fn)(const struct conf_value *v, void *arg), void *arg)
{
    struct wr_str key = {0}, text = {0};

    for (size_t i = 1; i < c->fields.n; i++) {
        const struct conf_field *f = &c->fields.v[i];

        if (f->shape != CONF_LEAF || f->state == CONF_ABSENT)
            continue;
        key.n = text.n = 0;
        conf_field_path(c, f, &key);
        wr_str_add(&text, "");
        conf_value_text(f->row, f->at, &text);
        fn(&(struct conf_value){.key = key.s,
                                .row = f->row,
                                .at = f->at,
                                .text = text.s,
                                .unit = conf_type_unit(f->row->type),
                                .origin = conf_field_origin(c, f)},
           arg);
    }
    wr_str_fini(&key);
    wr_str_fini(&text);
}
