/* bind.c -- nodes + rows -> the caller's struct, and a field for every value.
 *
 * Unknown keys are reported before missing ones, so that a misspelt key is not reported as
 * a missing key. Defaults are nodes too, made from the row's
 * text by the same reader, so they pass the same checks.
 */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "conf_priv.h"

void conf_field_path(const struct conf *c, const struct conf_field *f, struct wr_str *out)
{
    assert(f->parent < c->fields.n);
    if (f == c->fields.v)
        return;
    const struct conf_field *up = &c->fields.v[f->parent];
    conf_field_path(c, up, out);
    wr_str_add(out, up == c->fields.v ? "" : ".");
    if (f->name)
        wr_str_add(out, f->name);
    else
        wr_str_addf(out, "%u", f->index);
}

static uint32_t bind_add_field(struct conf *c, struct conf_field f)
{
    wr_vec_push(&c->fields, f);
    return (uint32_t)c->fields.n - 1;
}

/* Put the key's path and the node's place in front. */
static bool bind_wrap_error(const struct conf *c, uint32_t field, const struct conf_node *node,
                            struct wr_err *err)
{
    struct wr_str path = {0};

    conf_field_path(c, &c->fields.v[field], &path);
    if (path.n)
        wr_wrap(err, "%s", path.s);
    wr_str_fini(&path);
    return conf_node_wrap(node, err);
}

struct conf_node *conf_default(struct conf *c, const struct conf_row *row, struct wr_err *err)
{
    uint64_t known = wr_map_get(&c->by_row, conf_key(row));

    assert(row->def && row->def[0]);
    if (known != WR_MAP_NONE)
        return c->defaults.v[known];
    struct conf_source *src = wr_arena_alloc(&c->arena, sizeof *src);
    *src = (struct conf_source){.kind = CONF_FROM_DEFAULT, .name = row->def};
    struct conf_node *node = conf_yaml(c, src, row->def, strlen(row->def), err);
    if (!node)
        return NULL;
    *wr_map_at(&c->by_row, conf_key(row)) = c->defaults.n;
    wr_vec_push(&c->defaults, node);
    return node;
}

static bool bind_rows(struct conf *c, const struct conf_row *rows, const char *extra,
                      const struct conf_node *map, unsigned char *base, uint32_t parent,
                      struct wr_err *err);

/* "links.local.latency has no value; write a time such as 726.6 ns" */
static bool bind_fail_at_key(struct conf *c, const struct conf_row *row, uint32_t field,
                             const char *what, const char *todo, const struct conf_node *node,
                             struct wr_err *err)
{
    const char *example = conf_type_example(row->type);
    struct wr_str path = {0};

    conf_field_path(c, &c->fields.v[field], &path);
    wr_fail(err, WR_INPUT, "%s %s; %s %s%s%s%s%s%s", path.s, what, todo, conf_type_words(row->type),
            example ? " such as " : "", example ? example : "", row->help ? " (" : "",
            row->help ? row->help : "", row->help ? ")" : "");
    wr_str_fini(&path);
    return conf_node_wrap(node, err);
}

static bool bind_fail_type(struct conf *c, const struct conf_row *row, const struct conf_node *node,
                           uint32_t field, struct wr_err *err)
{
    static const char *const wrong[] = {
        [CONF_NODE_SCALAR] = "is a single value",
        [CONF_NODE_MAP] = "is a mapping",
        [CONF_NODE_SEQ] = "is a list",
    };

    if (conf_node_empty(node))
        return bind_fail_at_key(c, row, field, "has no value", "remove it or write", node, err);
    return bind_fail_at_key(c, row, field, wrong[node->type], "write", node, err);
}

static bool bind_scalar(struct conf *c, const struct conf_row *row, const struct conf_node *node,
                        void *at, uint32_t field, struct wr_err *err)
{
    if (node->type != CONF_NODE_SCALAR || conf_node_empty(node))
        return bind_fail_type(c, row, node, field, err);
    return conf_value_parse(c, row, node, at, err) || bind_wrap_error(c, field, node, err);
}

/* A mapping, or nothing at all after the colon, which is an empty one. */
static bool bind_section(struct conf *c, const struct conf_row *row, const struct conf_node *node,
                         void *at, uint32_t field, struct wr_err *err)
{
    if (node->type != CONF_NODE_MAP && !conf_node_empty(node))
        return bind_fail_type(c, row, node, field, err);
    return bind_rows(c, row->rows, NULL, node->type == CONF_NODE_MAP ? node : NULL, at, field, err);
}

/* The node that names the kind: itself, its `kind:`, or the default's. */
static const struct conf_node *bind_find_kind_node(struct conf *c, const struct conf_row *row,
                                                   const struct conf_node *node, uint32_t field,
                                                   struct wr_err *err)
{
    const struct conf_pair *pair = conf_node_find(node, "kind");

    if (node->type == CONF_NODE_MAP && !pair && row->def && row->def[0]) {
        node = conf_default(c, row, err);
        if (!node)
            return NULL;
        pair = conf_node_find(node, "kind");
    }
    const struct conf_node *name = pair ? pair->value : node;
    if (name->type == CONF_NODE_SCALAR && !conf_node_empty(name))
        return name;
    if (name->type == CONF_NODE_MAP && !pair)
        bind_fail_at_key(c, row, field, "has no `kind:`", "write", name, err);
    else
        bind_fail_type(c, row, name, field, err);
    return NULL;
}

static bool bind_plugin(struct conf *c, const struct conf_row *row, const struct conf_node *node,
                        void *at, uint32_t field, struct wr_err *err)
{
    const struct conf_node *name = bind_find_kind_node(c, row, node, field, err);
    struct conf_plugin plugin;

    if (!name)
        return false;
    plugin.kind = conf_kind_find(row, name->text);
    if (!plugin.kind) {
        conf_unknown_kind(row, name->text, err);
        return bind_wrap_error(c, field, name, err);
    }
    plugin.params = wr_arena_alloc(&c->arena, plugin.kind->params_size);
    *(struct conf_plugin *)at = plugin;
    c->fields.v[field].node = name;
    bind_add_field(c, (struct conf_field){.at = at,
                                          .row = row,
                                          .node = name,
                                          .name = "kind",
                                          .parent = field,
                                          .state = name->src->kind == CONF_FROM_DEFAULT
                                                       ? CONF_DEFAULTED
                                                       : CONF_GIVEN});
    return bind_rows(c, plugin.kind->rows, "kind", node->type == CONF_NODE_MAP ? node : NULL,
                     plugin.params, field, err);
}

static bool bind_value(struct conf *c, const struct conf_row *row, const struct conf_node *node,
                       void *at, uint32_t field, struct wr_err *err);

static uint8_t bind_shape_of(enum conf_type type)
{
    return type == CONF_LIST ? CONF_SEQ : conf_is_scalar(type) ? CONF_LEAF : CONF_MAP;
}

static bool bind_item(struct conf *c, const struct conf_row *item, const struct conf_node *node,
                      void *at, uint32_t list, uint32_t index, struct wr_err *err)
{
    uint32_t field = bind_add_field(c, (struct conf_field){.at = at,
                                                           .row = item,
                                                           .node = node,
                                                           .index = index,
                                                           .parent = list,
                                                           .shape = bind_shape_of(item->type)});

    return bind_value(c, item, node, at, field, err);
}

/* An item is bound by a row of its own: the list's, with the item's type. */
static bool bind_list(struct conf *c, const struct conf_row *row, const struct conf_node *node,
                      void *at, uint32_t field, struct wr_err *err)
{
    struct conf_list list = {.n = node->n};
    struct conf_row *item = wr_arena_alloc(&c->arena, sizeof *item);

    if (conf_node_empty(node))
        list.n = 0;
    else if (node->type != CONF_NODE_SEQ)
        return bind_fail_type(c, row, node, field, err);
    if (!conf_count_check(row, list.n, err))
        return bind_wrap_error(c, field, node, err);
    *item = *row;
    item->type = row->rows ? CONF_SECTION : row->item;
    item->include = false;
    item->def = NULL;

    size_t size = row->size ? row->size : conf_type_size(row->item);
    list.items = wr_arena_alloc(&c->arena, list.n * size);
    *(struct conf_list *)at = list;
    for (uint32_t i = 0; i < list.n; i++)
        if (!bind_item(c, item, node->items[i], (char *)list.items + i * size, field, i, err))
            return false;
    return true;
}

static bool bind_table(struct conf *c, const struct conf_row *row, const struct conf_node *node,
                       void *at, uint32_t field, struct wr_err *err)
{
    struct conf_list list = {.n = node->n};

    if (conf_node_empty(node))
        list.n = 0;
    else if (node->type != CONF_NODE_MAP)
        return bind_fail_type(c, row, node, field, err);
    if (!conf_count_check(row, list.n, err))
        return bind_wrap_error(c, field, node, err);
    list.items = wr_arena_alloc(&c->arena, list.n * row->size);
    *(struct conf_list *)at = list;
    for (uint32_t i = 0; i < list.n; i++) {
        unsigned char *item = (unsigned char *)list.items + i * row->size;
        const struct conf_pair *pair = &node->pairs[i];
        uint32_t f = bind_add_field(c, (struct conf_field){.at = item,
                                                           .node = pair->value,
                                                           .name = pair->key->text,
                                                           .parent = field,
                                                           .shape = CONF_MAP});

        ((struct conf_key *)item)->name = pair->key->text;
        struct conf_row as_section = {.key = row->key, .type = CONF_SECTION, .rows = row->rows};
        if (!bind_section(c, &as_section, pair->value, item, f, err))
            return false;
    }
    return true;
}

static bool bind_value(struct conf *c, const struct conf_row *row, const struct conf_node *node,
                       void *at, uint32_t field, struct wr_err *err)
{
    switch (row->type) {
    case CONF_SECTION:
        return bind_section(c, row, node, at, field, err);
    case CONF_PLUGIN:
        return bind_plugin(c, row, node, at, field, err);
    case CONF_LIST:
        return bind_list(c, row, node, at, field, err);
    case CONF_TABLE:
        return bind_table(c, row, node, at, field, err);
    default:
        return bind_scalar(c, row, node, at, field, err);
    }
}

static bool bind_fail_missing(struct conf *c, const struct conf_row *row, uint32_t field,
                              struct wr_err *err)
{
    uint32_t up = c->fields.v[field].parent;

    while (!c->fields.v[up].node)
        up = c->fields.v[up].parent;
    return bind_fail_at_key(c, row, field, "is missing", "add", c->fields.v[up].node, err);
}

/* Nothing was written for this row. */
static bool bind_absent(struct conf *c, const struct conf_row *row, void *at, uint32_t field,
                        struct wr_err *err)
{
    const struct conf_node *node;

    if (row->type == CONF_SECTION && !(row->def && row->def[0])) {
        bool skip = row->def && conf_required_inside(row->rows);

        c->fields.v[field].state = skip ? CONF_ABSENT : CONF_DEFAULTED;
        return skip || bind_rows(c, row->rows, NULL, NULL, at, field, err);
    }
    if (!row->def)
        return bind_fail_missing(c, row, field, err);
    if (!row->def[0]) {
        c->fields.v[field].state = CONF_ABSENT;
        return true;
    }
    node = conf_default(c, row, err);
    if (!node)
        return false;
    c->fields.v[field].state = CONF_DEFAULTED;
    c->fields.v[field].node = node;
    return bind_value(c, row, node, at, field, err);
}

/* Is it a key of a section that may be a file of its own? Then this is perhaps
 * that file. True: the error is set. */
static bool bind_fail_misplaced(const struct conf_row *rows, const struct conf_node *key,
                                struct wr_err *err)
{
    const struct conf_row *row = rows;

    while (row && row->key && !(row->include && conf_row_find(row->rows, key->text)))
        row++;
    if (!row || !row->key)
        return false;
    const char *path = key->src->kind == CONF_FROM_FILE ? key->src->name : "FILE";
    const char *slash = strrchr(path, '/');

    wr_fail(
        err, WR_INPUT,
        "\"%s\" belongs below `%s:`; indent it there, or, if this file is the %s's own, name it "
        "in another with `%s: %s` and give that one",
        key->text, row->key, row->key, row->key, wr_text_clip(slash ? slash + 1 : path).s);
    return true;
}

static bool bind_rows(struct conf *c, const struct conf_row *rows, const char *extra,
                      const struct conf_node *map, unsigned char *base, uint32_t parent,
                      struct wr_err *err)
{
    for (uint32_t i = 0; map && i < map->n; i++) {
        const struct conf_node *key = map->pairs[i].key;

        if (conf_row_find(rows, key->text) || (extra && !strcmp(key->text, extra)))
            continue;
        if (parent || !bind_fail_misplaced(rows, key, err))
            conf_unknown_key(rows, extra, "", key->text, err);
        return bind_wrap_error(c, parent, key, err);
    }
    for (const struct conf_row *row = rows; row && row->key; row++) {
        const struct conf_pair *pair = map ? conf_node_find(map, row->key) : NULL;
        const struct conf_node *node = pair ? pair->value : NULL;
        unsigned char *at = base + row->offset;
        uint32_t field = bind_add_field(c, (struct conf_field){.at = at,
                                                               .row = row,
                                                               .node = node,
                                                               .name = row->key,
                                                               .parent = parent,
                                                               .shape = bind_shape_of(row->type)});

        if (!(node ? bind_value(c, row, node, at, field, err)
                   : bind_absent(c, row, at, field, err)))
            return false;
    }
    return true;
}

static bool bind_is_kind_name(const struct conf_field *f)
{
    return f->shape == CONF_LEAF && f->row && f->row->type == CONF_PLUGIN;
}

bool conf_bind(struct conf *c, const struct conf_node *root, struct wr_err *err)
{
    assert(!c->fields.n);
    bind_add_field(c, (struct conf_field){.at = c->into, .node = root, .shape = CONF_MAP});
    if (root->type != CONF_NODE_MAP && !conf_node_empty(root))
        return conf_node_fail(root, err,
                              "a configuration must be a mapping, not %s; write `key: value` lines",
                              conf_node_what(root));
    if (!bind_rows(c, c->rows, NULL, root->type == CONF_NODE_MAP ? root : NULL, c->into, 0, err))
        return false;
    /* Children come later: where a section and its first value share an
     * address, the value is the one meant. */
    for (uint32_t i = 0; i < c->fields.n; i++)
        if (!bind_is_kind_name(&c->fields.v[i]))
            *wr_map_at(&c->by_address, conf_key(c->fields.v[i].at)) = i;
    return true;
}

void conf_clear(const struct conf_row *rows, void *into)
{
    for (; rows && rows->key; rows++) {
        unsigned char *at = (unsigned char *)into + rows->offset;

        if (rows->type == CONF_SECTION)
            conf_clear(rows->rows, at);
        else
            memset(at, 0, conf_type_size(rows->type));
    }
}
