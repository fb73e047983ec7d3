/* row.c -- finds rows and the kinds of plug-ins, and composes the message when there is none.
 *
 * Reads the constant tables of rows only.
 */
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "conf_priv.h"

const struct conf_row *conf_row_find(const struct conf_row *rows, const char *key)
{
    for (; rows && rows->key; rows++)
        if (!strcmp(rows->key, key))
            return rows;
    return NULL;
}

const struct conf_kind *conf_kind_find(const struct conf_row *row, const char *name)
{
    for (const struct conf_kind *const *k = row->kinds; k && *k; k++)
        if (!strcmp((*k)->name, name))
            return *k;
    return NULL;
}

const struct conf_kind *conf_kind_of(const struct conf_row *row, const struct conf_node *node)
{
    const struct conf_pair *pair = conf_node_find(node, "kind");
    const struct conf_node *name = pair ? pair->value : node;

    return name && name->type == CONF_NODE_SCALAR ? conf_kind_find(row, name->text) : NULL;
}

bool conf_required_inside(const struct conf_row *rows)
{
    for (; rows && rows->key; rows++)
        if (rows->type == CONF_SECTION ? !rows->def && conf_required_inside(rows->rows)
                                       : !rows->def)
            return true;
    return false;
}

/* The first key of that name in a section further down, as sections.key; people know the
 * key and forget where it lives. */
static bool row_find_below(const struct conf_row *rows, const char *key, struct wr_str *ret)
{
    size_t before = ret->n;

    for (const struct conf_row *row = rows; row && row->key; row++) {
        if (row->type != CONF_SECTION)
            continue;
        wr_str_addf(ret, "%s%s", before ? "." : "", row->key);
        if (conf_row_find(row->rows, key)) {
            wr_str_addf(ret, ".%s", key);
            return true;
        }
        if (row_find_below(row->rows, key, ret))
            return true;
        ret->n = before;
    }
    return false;
}

bool conf_unknown_key(const struct conf_row *rows, const char *extra, const char *within,
                      const char *key, struct wr_err *err)
{
    struct wr_nearest near = {.want = key};
    struct wr_str known = {0}, below = {0};

    if (extra) {
        wr_nearest_try(&near, extra);
        wr_str_add(&known, extra);
    }
    for (const struct conf_row *row = rows; row && row->key; row++) {
        wr_nearest_try(&near, row->key);
        wr_str_addf(&known, "%s%s", known.n ? ", " : "", row->key);
    }
    if (row_find_below(rows, key, &below))
        near.best = wr_str_get(&below);
    wr_fail(err, WR_UNKNOWN, "unknown key \"%s\"%s%s; %s%s%skeys here: %.1500s",
            wr_text_clip(key).s, *within ? " in " : "", within, near.best ? "did you mean \"" : "",
            near.best ? near.best : "", near.best ? "\"? The " : "",
            known.n ? wr_str_get(&known) : "none");
    wr_str_fini(&known);
    wr_str_fini(&below);
    return false;
}

/* `weir list` names plug-ins by the plural of what they are: topology, topologies. */
static void row_add_plural(struct wr_str *out, const char *key)
{
    size_t n = strlen(key);

    if (n && key[n - 1] == 'y')
        wr_str_addf(out, "%.*sies", (int)n - 1, key);
    else
        wr_str_addf(out, "%s%s", key, n && key[n - 1] == 's' ? "" : "s");
}

bool conf_unknown_kind(const struct conf_row *row, const char *name, struct wr_err *err)
{
    const char *what = row->what ? row->what : row->key;
    struct wr_nearest near = {.want = name};
    struct wr_str list = {0};

    for (const struct conf_kind *const *k = row->kinds; k && *k; k++)
        wr_nearest_try(&near, (*k)->name);
    for (const struct conf_text *t = row->files ? row->files->shipped : NULL; t && t->name; t++)
        wr_nearest_try(&near, t->name);
    row_add_plural(&list, what);
    if (near.best)
        wr_fail(err, WR_UNKNOWN, "no %s \"%s\"; did you mean \"%s\"? Try `weir list %s`", what,
                wr_text_clip(name).s, near.best, wr_str_get(&list));
    else
        wr_fail(err, WR_UNKNOWN, "no %s \"%s\"; try `weir list %s`%s", what, wr_text_clip(name).s,
                wr_str_get(&list),
                row->files && row->files->rows ? ", or name a file with one" : "");
    wr_str_fini(&list);
    return false;
}
