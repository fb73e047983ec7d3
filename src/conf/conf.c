/* conf.c -- loads a configuration from end to end, and answers questions about its values.
 *
 * Owns struct conf from conf_load() to conf_close(): the arena with all strings and parameters, the
 * fields with the origin of each value, and the texts of the files read. The caller's struct must
 * stay in place as long, since fields are found by address.
 */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf_priv.h"

void conf_close(struct conf *c)
{
    if (!c)
        return;
    wr_vec_fini(&c->fields);
    wr_vec_fini(&c->defaults);
    wr_vec_fini(&c->inputs);
    wr_vec_fini(&c->paths);
    wr_vec_fini(&c->dropped);
    wr_map_fini(&c->by_address);
    wr_map_fini(&c->by_row);
    wr_arena_fini(&c->arena);
    free(c);
}

static struct conf *conf_new(void *into, const struct conf_row *rows)
{
    struct conf *c = wr_zalloc(1, sizeof *c);

    c->rows = rows;
    c->into = into;
    return c;
}

/* A whole file may begin with `file:`, as a section may: the rest overrides what that file says. */
static bool conf_expand_root(struct conf *c, struct conf_node **root, struct wr_err *err)
{
    const struct conf_row whole = {.key = "the configuration", .rows = c->rows, .include = true};

    if (!conf_node_find(*root, "file") || conf_row_find(c->rows, "file"))
        return true;
    return conf_expand(c, &whole, root, NULL, err);
}

/* From a root node (NULL: reading it failed) to the caller's struct. */
static bool conf_bind_root(struct conf **ret, struct conf *c, struct conf_node *root,
                           const struct conf_override *sets, size_t nsets, struct wr_err *err)
{
    bool ok = root != NULL;

    if (ok && conf_node_empty(root))
        root = conf_node_new(c, CONF_NODE_MAP, root);
    /* A root that is no mapping cannot be overridden; conf_bind() reports it. */
    if (ok && root->type == CONF_NODE_MAP)
        ok = conf_expand_root(c, &root, err) && conf_sets(c, root, sets, nsets, err);
    if (ok && !conf_bind(c, root, err)) {
        conf_clear(c->rows, c->into);
        ok = false;
    }
    if (!ok) {
        conf_close(c);
        return false;
    }
    *ret = c;
    return true;
}

/* Overrides from the command line have no place in a file. */
static struct conf_override *conf_overrides_of_sets(const char *const *sets, size_t nsets)
{
    struct conf_override *over = wr_zalloc(nsets + 1, sizeof *over);

    for (size_t i = 0; i < nsets; i++)
        over[i].text = sets[i];
    return over;
}

bool conf_load_over(struct conf **ret, void *into, const struct conf_row *rows, const char *path,
                    const struct conf_override *over, size_t nover, struct wr_err *err)
{
    static const struct conf_source nowhere = {.kind = CONF_FROM_NOWHERE};
    struct conf *c = conf_new(into, rows);
    struct conf_node at = {.src = &nowhere};

    assert(ret && into && rows);
    assert(!nover || over);
    return conf_bind_root(
        ret, c, path ? conf_read(c, path, NULL, err) : conf_node_new(c, CONF_NODE_MAP, &at), over,
        nover, err);
}

bool conf_load(struct conf **ret, void *into, const struct conf_row *rows, const char *path,
               const char *const *sets, size_t nsets, struct wr_err *err)
{
    struct conf_override *over = conf_overrides_of_sets(sets, nsets);
    bool ok = conf_load_over(ret, into, rows, path, over, nsets, err);

    free(over);
    return ok;
}

bool conf_load_text(struct conf **ret, void *into, const struct conf_row *rows, const char *name,
                    const char *text, size_t len, const char *const *sets, size_t nsets,
                    struct wr_err *err)
{
    struct conf *c = conf_new(into, rows);
    struct conf_override *over = conf_overrides_of_sets(sets, nsets);
    bool ok = conf_bind_root(ret, c, conf_read_text(c, name, text, len, err), over, nsets, err);

    assert(text || !len);
    free(over);
    return ok;
}

static const struct conf_field *conf_field_of(const struct conf *c, const void *at)
{
    uint64_t i = wr_map_get(&c->by_address, conf_key(at));

    return i == WR_MAP_NONE ? NULL : &c->fields.v[i];
}

const struct conf_node *conf_node_of(const struct conf *c, const void *at)
{
    const struct conf_field *f = conf_field_of(c, at);

    return f ? f->node : NULL;
}

const char *conf_field_origin(const struct conf *c, const struct conf_field *f)
{
    /* The arena only gains a string: no value that a caller can see changes. */
    struct wr_arena *arena = &((struct conf *)c)->arena;

    if (!f || f->state != CONF_GIVEN || !f->node)
        return "default";
    switch (f->node->src->kind) {
    case CONF_FROM_FILE:
        return wr_arena_printf(arena, "%s:%u:%u", f->node->src->name, f->node->line,
                               f->node->column);
    case CONF_FROM_SET:
        return wr_arena_printf(arena, "--set %s", f->node->src->path);
    default:
        return "default";
    }
}

const char *conf_origin(const struct conf *c, const void *field)
{
    return conf_field_origin(c, conf_field_of(c, field));
}

bool conf_fail(const struct conf *c, const void *field, struct wr_err *err, const char *fmt, ...)
{
    const struct conf_field *f = conf_field_of(c, field);
    char text[sizeof err->text];
    struct wr_str path = {0};
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    wr_fail(err, WR_INPUT, "%s", text);
    if (!f)
        return false;
    conf_field_path(c, f, &path);
    bool placed = f->node && f->node->src->kind != CONF_FROM_DEFAULT;
    if (path.n)
        wr_wrap(err, "%s%s", path.s,
                placed                    ? ""
                : f->state == CONF_ABSENT ? " (not given)"
                                          : " (its default)");
    wr_str_fini(&path);
    return placed ? conf_node_wrap(f->node, err) : false;
}

size_t conf_paths(const struct conf *c, const char *const **ret)
{
    *ret = c->paths.v;
    return c->paths.n;
}

size_t conf_inputs(const struct conf *c, const struct conf_input **ret)
{
    *ret = c->inputs.v;
    return c->inputs.n;
}

size_t conf_left_out(const struct conf *c, const char *const **ret)
{
    *ret = c->dropped.v;
    return c->dropped.n;
}
