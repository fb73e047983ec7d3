/* conf_set.c -- `--set a.b.c=value` overrides, applied to nodes before bind.c checks them.
 *
 * The path is followed through rows and nodes in parallel: rows define what a
 * step means (a key, a name in a table, an index in a list), nodes are created
 * where the file has none. The value is YAML, so lists and mappings work.
 *
 * In a list of sections a step is a place (`jobs.0`), the `name:` of an item (`jobs.milc`), or
 * `*`, every item. Called by conf.c between reading and binding; changes nodes only.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "conf_priv.h"

enum { MOST_STEPS = 16 };

/* One override. All but `value`, which each use copies, is fixed by set_parse(). */
struct set {
    struct conf_source *src; /* for the nodes it creates, and for messages */
    struct conf_node *value; /* parsed as YAML */
    struct conf_node at;     /* a place for the nodes it creates */
    const char *step[MOST_STEPS];
    unsigned nsteps;
};

/* A position on the path: a slot that holds a node or will, and which rows apply to it. */
struct spot {
    struct conf_node **slot;     /* *slot NULL: nothing there yet */
    const struct conf_row *row;  /* NULL: an item of a list or table, or the whole */
    const struct conf_row *rows; /* of a mapping with fixed keys */
};

static bool set_wrap_error(const struct set *s, struct wr_err *err)
{
    return conf_node_wrap(&s->at, err);
}

/* How messages name the override: shortened, so that the message itself is not cut off. */
static const char *set_display_name(struct conf *c, const char *text)
{
    enum { LONGEST = 200 };
    size_t n = strlen(text);

    if (n <= LONGEST)
        return wr_arena_printf(&c->arena, "--set %s", text);
    for (n = LONGEST; n && ((unsigned char)text[n] & 0xc0) == 0x80;)
        n--;
    return wr_arena_printf(&c->arena, "--set %.*s...", (int)n, text);
}

/* A step may become a key, so it must be what a key in a file may be. */
static bool set_add_step(struct set *s, const char *step, struct wr_err *err)
{
    if (!*step)
        return wr_fail(err, WR_INPUT, "a step of the key is empty; write a.b=value");
    if (s->nsteps == MOST_STEPS)
        return wr_fail(err, WR_INPUT, "the key has too many steps; write at most %d", MOST_STEPS);
    if (strlen(step) > CONF_LONGEST_KEY)
        return wr_fail(err, WR_INPUT, "a step of the key is longer than %d bytes; shorten it",
                       CONF_LONGEST_KEY);
    if (!conf_is_utf8(step))
        return wr_fail(err, WR_INPUT, "a step of the key is not UTF-8; write it as UTF-8 text");
    s->step[s->nsteps++] = step;
    return true;
}

/* An override that stands in a file is at that place, whatever it is made of. */
static void set_move_to(struct conf_node *node, const struct conf_node *at)
{
    node->line = at->line;
    node->column = at->column;
    for (uint32_t i = 0; node->type == CONF_NODE_MAP && i < node->n; i++) {
        set_move_to(node->pairs[i].key, at);
        set_move_to(node->pairs[i].value, at);
    }
    for (uint32_t i = 0; node->type == CONF_NODE_SEQ && i < node->n; i++)
        set_move_to(node->items[i], at);
}

static void set_open_source(struct conf *c, struct set *s, const struct conf_override *o)
{
    const struct conf_node *from = o->in ? conf_node_of(o->in, o->field) : NULL;

    s->src = wr_arena_alloc(&c->arena, sizeof *s->src);
    if (from && from->src->kind == CONF_FROM_FILE) {
        *s->src = (struct conf_source){.kind = CONF_FROM_FILE,
                                       .name = wr_arena_strdup(&c->arena, from->src->name)};
        s->at = (struct conf_node){.src = s->src, .line = from->line, .column = from->column};
        return;
    }
    *s->src = (struct conf_source){.kind = CONF_FROM_SET, .name = set_display_name(c, o->text)};
    s->at = (struct conf_node){.src = s->src, .line = 1, .column = 1};
}

static bool set_parse(struct conf *c, struct set *s, const struct conf_override *o,
                      struct wr_err *err)
{
    const char *equals = strchr(o->text, '=');

    set_open_source(c, s, o);
    if (!equals) {
        wr_fail(err, WR_INPUT, "no \"=\" in it; write %skey=value",
                s->src->kind == CONF_FROM_SET ? "--set " : "");
        return set_wrap_error(s, err);
    }
    char *path = wr_arena_strndup(&c->arena, o->text, (size_t)(equals - o->text));
    s->src->path = wr_arena_strdup(&c->arena, path);
    for (char *next; path; path = next) {
        next = strchr(path, '.');
        if (next)
            *next++ = '\0';
        if (!set_add_step(s, path, err))
            return set_wrap_error(s, err);
    }
    s->value = conf_yaml(c, s->src, equals + 1, strlen(equals + 1), err);
    if (s->value && s->src->kind == CONF_FROM_FILE)
        set_move_to(s->value, &s->at);
    return s->value != NULL;
}

/* Something must be in the slot to step into: the default if there is one. */
static bool set_fill_slot(struct conf *c, const struct set *s, struct spot *spot,
                          struct wr_err *err)
{
    const struct conf_row *row = spot->row;
    bool list = row && row->type == CONF_LIST;

    if (*spot->slot && !conf_node_empty(*spot->slot))
        return true;
    if (!*spot->slot && row && row->def && row->def[0]) {
        struct conf_node *def = conf_default(c, row, err);

        if (!def)
            return false;
        *spot->slot = conf_node_copy(c, def);
        return true;
    }
    *spot->slot = conf_node_new(c, list ? CONF_NODE_SEQ : CONF_NODE_MAP, &s->at);
    return true;
}

static bool set_fail_shape(const struct conf_node *node, const struct set *s, const char *step,
                           const char *want, struct wr_err *err)
{
    wr_fail(err, WR_INPUT, "\"%s\" cannot be set in what is %s; %s expected", step,
            conf_node_what(node), want);
    if (node->src->kind == CONF_FROM_FILE)
        conf_node_wrap(node, err);
    return set_wrap_error(s, err);
}

static bool set_fail_index(const struct set *s, const struct conf_node *list,
                           const struct conf_row *row, const char *step, struct wr_err *err)
{
    wr_fail(err, WR_INPUT, "\"%s\" is no place in the list \"%s\"; use 0 to %u", step, row->key,
            list->n);
    return set_wrap_error(s, err);
}

/* The `name:` of an item, or NULL. */
static const char *set_item_name(const struct conf_node *item)
{
    const struct conf_pair *pair =
        item && item->type == CONF_NODE_MAP ? conf_node_find(item, "name") : NULL;

    return pair && pair->value && pair->value->type == CONF_NODE_SCALAR ? pair->value->text : NULL;
}

static bool set_find_named(const struct set *s, const struct conf_node *list,
                           const struct conf_row *row, const char *name, uint64_t *ret,
                           struct wr_err *err)
{
    struct wr_nearest near = {.want = name};

    if (!row->rows || !conf_row_find(row->rows, "name"))
        return set_fail_index(s, list, row, name, err);
    for (uint32_t i = 0; i < list->n; i++) {
        const char *is = set_item_name(list->items[i]);

        if (is && !strcmp(is, name)) {
            *ret = i;
            return true;
        }
        if (is)
            wr_nearest_try(&near, is);
    }
    wr_fail(err, WR_INPUT, "no item of \"%s\" has the name \"%s\"; %s%s%suse a name, or 0 to %u",
            row->key, name, near.best ? "did you mean " : "", near.best ? near.best : "",
            near.best ? "? Or " : "", list->n);
    return set_wrap_error(s, err);
}

static bool set_step_list(struct conf *c, const struct set *s, struct spot *spot, const char *step,
                          struct wr_err *err)
{
    struct conf_node *list = *spot->slot;
    const struct conf_row *row = spot->row;
    uint64_t i;

    if (list->type != CONF_NODE_SEQ)
        return set_fail_shape(list, s, step, "a list", err);
    if (strspn(step, "0123456789") != strlen(step)) {
        if (!set_find_named(s, list, row, step, &i, err))
            return false;
    } else if (!wr_parse_u64(&i, step, err) || i > list->n) {
        return set_fail_index(s, list, row, step, err);
    }
    if (i == list->n)
        conf_node_add_item(c, list, NULL);
    spot->slot = &list->items[i];
    spot->rows = row->rows;
    spot->row = NULL;
    if (!row->rows) {
        struct conf_row *item = wr_arena_alloc(&c->arena, sizeof *item);

        *item = *row;
        item->type = row->item;
        item->def = "";
        spot->row = item;
    }
    return true;
}

static struct conf_node **set_slot_of(struct conf *c, const struct set *s, struct conf_node *map,
                                      const char *key)
{
    struct conf_pair *pair = conf_node_find(map, key);

    if (pair)
        return &pair->value;
    conf_node_add_pair(c, map, (struct conf_pair){conf_node_scalar(c, key, &s->at), NULL});
    return &map->pairs[map->n - 1].value;
}

/* Into a mapping with fixed keys: the whole, a section, an item, a plug-in. */
static bool set_step_rows(struct conf *c, const struct set *s, struct spot *spot, const char *step,
                          struct wr_err *err)
{
    const struct conf_row *row = spot->row, *found;
    const char *extra = NULL;

    if (row && row->type == CONF_PLUGIN) {
        const struct conf_kind *kind = conf_kind_of(row, *spot->slot);

        extra = "kind";
        spot->rows = kind ? kind->rows : NULL;
        if ((*spot->slot)->type == CONF_NODE_SCALAR) {
            struct conf_node *map = conf_node_new(c, CONF_NODE_MAP, *spot->slot);

            conf_node_put(c, map, conf_node_scalar(c, "kind", *spot->slot), *spot->slot);
            *spot->slot = map;
        }
    } else if (row && row->include) {
        extra = "file";
    }
    if ((*spot->slot)->type != CONF_NODE_MAP)
        return set_fail_shape(*spot->slot, s, step, "a mapping", err);
    found = conf_row_find(spot->rows, step);
    /* A later override may change the kind of a plug-in: its keys are checked when bound. */
    if (!found && !(extra && !strcmp(extra, step)) && !(row && row->type == CONF_PLUGIN)) {
        conf_unknown_key(spot->rows, extra, row ? row->key : "", step, err);
        return set_wrap_error(s, err);
    }
    *spot = (struct spot){.slot = set_slot_of(c, s, *spot->slot, step),
                          .row = found,
                          .rows = found && found->type == CONF_SECTION ? found->rows : NULL};
    return true;
}

static void set_note_dropped(struct conf *c, const struct set *s, const struct conf_node *key)
{
    if (key->src->kind == CONF_FROM_FILE)
        wr_vec_push(&c->dropped,
                    wr_arena_printf(&c->arena, "%s (%s:%u:%u) by %s", key->text, key->src->name,
                                    key->line, key->column, s->src->name));
}

/* A slot that gets the name of a file: of a plug-in with another kind nothing is kept. */
static void set_make_file_slot(struct conf *c, const struct set *s, const struct conf_row *row,
                               struct conf_node **slot)
{
    struct conf_node *was = *slot;

    if (was->type != CONF_NODE_SCALAR && !(row->files && conf_node_find(was, "kind")))
        return;
    for (uint32_t i = 0; was->type == CONF_NODE_MAP && i < was->n; i++)
        set_note_dropped(c, s, was->pairs[i].key);
    *slot = conf_node_new(c, CONF_NODE_MAP, was);
}

static bool set_step_into(struct conf *c, const struct set *s, struct spot *spot, unsigned i,
                          struct wr_err *err)
{
    const struct conf_row *row = spot->row;
    const char *step = s->step[i];

    if (row && conf_is_scalar(row->type)) {
        wr_fail(err, WR_INPUT, "\"%s\" is a single value (%s) and has no \"%s\"; set it itself",
                row->key, conf_type_words(row->type), step);
        return set_wrap_error(s, err);
    }
    bool names_file = row && (row->include || row->files) && !strcmp(step, "file");
    if (!set_fill_slot(c, s, spot, err))
        return false;
    if (names_file)
        set_make_file_slot(c, s, row, spot->slot);
    if (row && !names_file && !conf_expand(c, row, spot->slot, NULL, err))
        return false;
    if (row && row->type == CONF_LIST)
        return set_step_list(c, s, spot, step, err);
    if (!row || row->type != CONF_TABLE)
        return set_step_rows(c, s, spot, step, err);
    if ((*spot->slot)->type != CONF_NODE_MAP)
        return set_fail_shape(*spot->slot, s, step, "a mapping", err);
    *spot = (struct spot){.slot = set_slot_of(c, s, *spot->slot, step), .rows = row->rows};
    return true;
}

/* Another kind: parameters that only the old kind has are removed, and listed as left out. */
static void set_drop_old_params(struct conf *c, const struct set *s, const struct conf_row *row,
                                struct conf_node *map)
{
    const struct conf_kind *was = conf_kind_of(row, map);
    const struct conf_kind *now =
        s->value->type == CONF_NODE_SCALAR ? conf_kind_find(row, s->value->text) : NULL;

    if (!was || !now || was == now)
        return;
    for (uint32_t i = map->n; i-- > 0;) {
        const struct conf_pair p = map->pairs[i];

        if (p.key->src->kind == CONF_FROM_SET || !conf_row_find(was->rows, p.key->text) ||
            conf_row_find(now->rows, p.key->text))
            continue;
        conf_node_remove(map, p.key->text);
        set_note_dropped(c, s, p.key);
    }
}

/* `*`: all items of a list at once. */
static bool set_is_wildcard(const struct spot *spot, const char *step)
{
    return spot->row && spot->row->type == CONF_LIST && spot->row->rows && !strcmp(step, "*");
}

static bool set_apply_from(struct conf *c, struct spot spot, const struct set *s, unsigned from,
                           struct wr_err *err);

static bool set_apply_wildcard(struct conf *c, struct spot spot, const struct set *s, unsigned at,
                               struct wr_err *err)
{
    const struct conf_row *row = spot.row;

    if (!set_fill_slot(c, s, &spot, err))
        return false;
    struct conf_node *list = *spot.slot;

    if (list->type != CONF_NODE_SEQ)
        return set_fail_shape(list, s, "*", "a list", err);
    for (uint32_t i = 0; i < list->n; i++)
        if (!set_apply_from(c, (struct spot){.slot = &list->items[i], .rows = row->rows}, s, at + 1,
                            err))
            return false;
    return true;
}

static bool set_apply_from(struct conf *c, struct spot spot, const struct set *s, unsigned from,
                           struct wr_err *err)
{
    assert(s->value && from <= s->nsteps);
    for (unsigned i = from; i < s->nsteps; i++) {
        const struct conf_row *row = spot.row;
        struct conf_node **slot = spot.slot;

        if (set_is_wildcard(&spot, s->step[i]))
            return set_apply_wildcard(c, spot, s, i, err);
        if (!set_step_into(c, s, &spot, i, err))
            return false;
        if (row && row->type == CONF_PLUGIN && !strcmp(s->step[i], "kind"))
            set_drop_old_params(c, s, row, *slot);
    }
    /* A copy: the same value may go to many places, and each may be stepped into later. */
    *spot.slot = conf_node_copy(c, s->value);
    return true;
}

static bool set_apply(struct conf *c, struct conf_node *root, const struct set *s,
                      struct wr_err *err)
{
    return set_apply_from(c, (struct spot){.slot = &root, .rows = c->rows}, s, 0, err);
}

/* Overrides that name the file of a section come first, the outermost before the
 * inner ones; the others then apply to the contents of those files. */
static bool set_names_include(const struct conf *c, const struct set *s)
{
    const struct conf_row *rows = c->rows, *row = NULL;

    for (unsigned i = 0; i < s->nsteps; i++) {
        if (row && row->include && i + 1 == s->nsteps && !strcmp(s->step[i], "file"))
            return true;
        row = conf_row_find(rows, s->step[i]);
        rows = row && row->type == CONF_SECTION ? row->rows : NULL;
    }
    return row && row->include;
}

bool conf_sets(struct conf *c, struct conf_node *root, const struct conf_override *sets,
               size_t nsets, struct wr_err *err)
{
    struct set *all = wr_zalloc(nsets + 1, sizeof *all);
    bool ok = true;

    assert(root->type == CONF_NODE_MAP);
    for (size_t i = 0; i < nsets && ok; i++)
        ok = set_parse(c, &all[i], &sets[i], err);
    for (unsigned depth = 1; depth <= MOST_STEPS && ok; depth++)
        for (size_t i = 0; i < nsets && ok; i++)
            if (all[i].nsteps == depth && set_names_include(c, &all[i]))
                ok = set_apply(c, root, &all[i], err);
    ok = ok && conf_resolve(c, c->rows, root, NULL, err);
    for (size_t i = 0; i < nsets && ok; i++)
        if (!set_names_include(c, &all[i]))
            ok = set_apply(c, root, &all[i], err);
    free(all);
    return ok && conf_resolve(c, c->rows, root, NULL, err);
}
