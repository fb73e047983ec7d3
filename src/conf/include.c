/* include.c -- files: reading them, and sections that are another file.
 *
 *   machine: big.yaml                   the section is what the file says
 *   machine: {file: big.yaml, seed: 3}  the same, with some values replaced
 *
 * A file's own includes are resolved before it is overridden, so an override
 * reaches into what the file includes. File names are meant relative to the
 * file that contains them; a file that is not there may be one that came with the program.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/self.h"
#include "conf_priv.h"

struct conf_frame {
    const struct conf_frame *up;
    const char *path;
    dev_t dev;
    ino_t ino;
};

const char *conf_path_beside(struct conf *c, const struct conf_source *src, const char *path)
{
    const char *slash = src->kind == CONF_FROM_FILE ? strrchr(src->name, '/') : NULL;
    const char *beside = path;
    struct wr_str shared = {0};

    if (path[0] != '/' && slash)
        beside =
            wr_arena_printf(&c->arena, "%.*s%s", (int)(slash - src->name + 1), src->name, path);
    if (access(beside, F_OK) && wr_self_find_data(&shared, path))
        beside = wr_arena_strdup(&c->arena, shared.s);
    wr_str_fini(&shared);
    return beside;
}

static bool fail_size(const char *path, struct wr_err *err)
{
    return wr_fail(err, WR_INPUT,
                   "%s: larger than the %d MiB a configuration may have with its includes; move "
                   "long tables to files of their own format",
                   path, CONF_MOST_BYTES >> 20);
}

static void keep_input(struct conf *c, struct conf_input in)
{
    for (size_t i = 0; i < c->inputs.n; i++)
        if (!strcmp(c->inputs.v[i].path, in.path))
            return;
    wr_vec_push(&c->inputs, in);
}

struct conf_node *conf_read_text(struct conf *c, const char *path, const char *text, size_t len,
                                 struct wr_err *err)
{
    struct conf_source *src = wr_arena_alloc(&c->arena, sizeof *src);
    struct conf_input in = {.path = wr_arena_strdup(&c->arena, path),
                            .text = wr_arena_strndup(&c->arena, text, len),
                            .len = len};

    if (c->bytes + len > CONF_MOST_BYTES) {
        fail_size(path, err);
        return NULL;
    }
    c->bytes += len;
    *src = (struct conf_source){.kind = CONF_FROM_FILE, .name = in.path};
    keep_input(c, in);
    return conf_yaml(c, src, in.text, in.len, err);
}

/* Reads until the end or just past what is allowed: the file may be a pipe
 * or have no end. */
static bool slurp(const char *path, struct wr_str *ret, struct wr_err *err)
{
    char part[1 << 16];
    size_t got;
    FILE *f;

    if (!wr_file_open(&f, path, err))
        return false;
    while (ret->n <= CONF_MOST_BYTES && (got = fread(part, 1, sizeof part, f)) > 0)
        wr_str_addn(ret, part, got);
    bool ok = !ferror(f) || wr_fail_read(err, "cannot read %s; check the file name", path);
    fclose(f);
    return ok;
}

struct conf_node *conf_read(struct conf *c, const char *path, const struct conf_node *named_at,
                            struct wr_err *err)
{
    static const char database[] = "SQLite format 3"; /* with its NUL: how run files begin */
    struct wr_str text = {0};
    struct conf_node *root = NULL;

    if (!slurp(path, &text, err)) {
        if (named_at)
            conf_node_wrap(named_at, err);
    } else if (text.n >= sizeof database && !memcmp(text.s, database, sizeof database)) {
        wr_fail(err, WR_INPUT,
                "%s is a run file, not a configuration; print the one it was made with by `weir "
                "show %s --config`",
                path, path);
    } else {
        root = conf_read_text(c, path, wr_str_get(&text), text.n, err);
    }
    wr_str_fini(&text);
    return root;
}

bool conf_names_file(const struct conf_node *node)
{
    return (node->type == CONF_NODE_SCALAR && !conf_node_empty(node)) ||
           conf_node_find(node, "file");
}

static void merge(struct conf *c, const struct conf_row *rows, struct conf_node *base,
                  const struct conf_node *over);

static struct conf_node *as_plugin_map(struct conf *c, struct conf_node *node)
{
    if (node->type != CONF_NODE_SCALAR)
        return node;
    struct conf_node *map = conf_node_new(c, CONF_NODE_MAP, node);
    conf_node_put(c, map, conf_node_scalar(c, "kind", node), node);
    return map;
}

/* Another kind brings its own parameters; the same kind keeps the file's. */
static bool merge_plugin(struct conf *c, const struct conf_row *row, struct conf_pair *base,
                         struct conf_node *over)
{
    const struct conf_kind *was = conf_kind_of(row, base->value);
    bool names = over->type == CONF_NODE_SCALAR || conf_node_find(over, "kind");

    if (!was || (names && conf_kind_of(row, over) != was))
        return false;
    base->value = as_plugin_map(c, base->value);
    merge(c, was->rows, base->value, as_plugin_map(c, over));
    return true;
}

/* False: the override replaces the value as a whole. */
static bool merge_value(struct conf *c, const struct conf_row *row, struct conf_pair *base,
                        struct conf_node *over)
{
    bool maps = base->value->type == CONF_NODE_MAP && over->type == CONF_NODE_MAP;

    if (row->type == CONF_PLUGIN && over->type != CONF_NODE_SEQ)
        return merge_plugin(c, row, base, over);
    if (!maps || (row->include && conf_names_file(over)))
        return false;
    if (row->type == CONF_SECTION) {
        merge(c, row->rows, base->value, over);
        return true;
    }
    if (row->type != CONF_TABLE)
        return false;
    for (uint32_t i = 0; i < over->n; i++) {
        struct conf_pair *old = conf_node_find(base->value, over->pairs[i].key->text);
        struct conf_node *value = over->pairs[i].value;

        if (old && old->value->type == CONF_NODE_MAP && value->type == CONF_NODE_MAP)
            merge(c, row->rows, old->value, value);
        else
            conf_node_put(c, base->value, over->pairs[i].key, value);
    }
    return true;
}

static void merge(struct conf *c, const struct conf_row *rows, struct conf_node *base,
                  const struct conf_node *over)
{
    for (uint32_t i = 0; i < over->n; i++) {
        const struct conf_pair *p = &over->pairs[i];
        struct conf_pair *old = conf_node_find(base, p->key->text);
        const struct conf_row *row = conf_row_find(rows, p->key->text);

        if (!old || !row || !merge_value(c, row, old, p->value))
            conf_node_put(c, base, p->key, p->value);
    }
}

static bool enter(const struct conf_frame *up, struct conf_frame *ret, const char *path,
                  struct wr_err *err)
{
    struct stat st = {0};
    unsigned depth = 0;

    if (stat(path, &st) < 0)
        return wr_fail_read(err, "cannot read %s; check the file name", path);
    for (const struct conf_frame *f = up; f; f = f->up, depth++)
        if (f->dev == st.st_dev && f->ino == st.st_ino)
            return wr_fail(err, WR_INPUT, "%s includes itself; break the circle", path);
    if (depth >= CONF_MOST_INCLUDES)
        return wr_fail(err, WR_INPUT, "more than %d files included one inside another; use fewer",
                       CONF_MOST_INCLUDES);
    *ret = (struct conf_frame){.up = up, .path = path, .dev = st.st_dev, .ino = st.st_ino};
    return true;
}

static bool read_section(struct conf *c, const struct conf_row *row, const struct conf_node *name,
                         struct conf_node **ret, const struct conf_frame *up, struct wr_err *err)
{
    struct conf_frame frame;
    struct conf_node *base;

    if (name->type != CONF_NODE_SCALAR || !name->text[0])
        return conf_node_fail(name, err, "%s.file is %s; write the name of a file", row->key,
                              conf_node_what(name));
    const char *path = conf_path_beside(c, name->src, name->text);
    if (!enter(up, &frame, path, err))
        return conf_node_wrap(name, err);
    base = conf_read(c, path, name, err);
    if (!base)
        return false;
    if (conf_node_empty(base))
        base = conf_node_new(c, CONF_NODE_MAP, base);
    if (base->type != CONF_NODE_MAP)
        return conf_node_fail(base, err,
                              "a file for `%s:` must be a mapping, not %s; write its "
                              "keys as `key: value`",
                              row->key, conf_node_what(base));
    if (conf_names_file(base) && !conf_expand(c, row, &base, &frame, err))
        return false;
    if (!conf_resolve(c, row->rows, base, &frame, err))
        return false;
    *ret = base;
    return true;
}

bool conf_expand(struct conf *c, const struct conf_row *row, struct conf_node **slot,
                 const struct conf_frame *up, struct wr_err *err)
{
    struct conf_node *node = *slot, *base = NULL;
    const struct conf_pair *file = conf_node_find(node, "file");

    if (!row->include || !conf_names_file(node))
        return true;
    if (!read_section(c, row, file ? file->value : node, &base, up, err))
        return false;
    if (file) {
        conf_node_remove(node, "file");
        merge(c, row->rows, base, node);
    }
    *slot = base;
    return true;
}

static bool resolve_value(struct conf *c, const struct conf_row *row, struct conf_node **slot,
                          const struct conf_frame *up, struct wr_err *err)
{
    struct conf_node *node;
    const struct conf_row *rows = row->rows;

    if (!conf_expand(c, row, slot, up, err))
        return false;
    node = *slot;
    assert(node);
    if (row->type == CONF_PLUGIN) {
        const struct conf_kind *kind = conf_kind_of(row, node);

        rows = kind ? kind->rows : NULL;
    }
    if (!rows || node->type == CONF_NODE_SCALAR)
        return true;
    if (row->type == CONF_SECTION || row->type == CONF_PLUGIN)
        return node->type != CONF_NODE_MAP || conf_resolve(c, rows, node, up, err);
    for (uint32_t i = 0; i < node->n; i++) {
        struct conf_node *item =
            node->type == CONF_NODE_MAP ? node->pairs[i].value : node->items[i];

        if (item->type == CONF_NODE_MAP && !conf_resolve(c, rows, item, up, err))
            return false;
    }
    return true;
}

bool conf_resolve(struct conf *c, const struct conf_row *rows, struct conf_node *map,
                  const struct conf_frame *up, struct wr_err *err)
{
    for (; rows && rows->key; rows++) {
        struct conf_pair *pair = conf_node_find(map, rows->key);

        if (pair && !resolve_value(c, rows, &pair->value, up, err))
            return false;
    }
    return true;
}
