/* include.c -- files: reading them, and sections that are another file.
 *
 *   machine: big.yaml                   the section is what the file says
 *   machine: {file: big.yaml, seed: 3}  the same, with some values replaced
 *   device: mine.yaml                   the plug-in is what the file says under `device:`
 *
 * The includes of a file are resolved before it is overridden, so an override applies to what
 * the file includes as well. File names are relative to the file that contains them; a file that
 * is not there is looked for among the data files installed with the program.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/self.h"
#include "base/units.h"
#include "conf_priv.h"

/* A file that is being included; its identity finds a file that includes itself. */
struct conf_frame {
    const struct conf_frame *up; /* the file that includes it; NULL: none */
    const char *path;
    struct wr_file_id id;
};

const char *conf_path_beside(struct conf *c, const struct conf_source *src, const char *path)
{
    const char *slash = src->kind == CONF_FROM_FILE ? strrchr(src->name, '/') : NULL;
    const char *beside = path;
    struct wr_str shared = {0};

    if (path[0] != '/' && slash)
        beside =
            wr_arena_printf(&c->arena, "%.*s%s", (int)(slash - src->name + 1), src->name, path);
    if (!wr_file_exists(beside) && wr_self_find_file(&shared, path))
        beside = wr_arena_strdup(&c->arena, shared.s);
    wr_str_fini(&shared);
    return beside;
}

static bool include_fail_size(const char *path, struct wr_err *err)
{
    return wr_fail(err, WR_INPUT,
                   "%s: larger than the %d MiB a configuration may have with its includes; move "
                   "long tables to files of their own format",
                   path, CONF_MOST_BYTES >> 20);
}

static void include_keep_input(struct conf *c, struct conf_input in)
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
        include_fail_size(path, err);
        return NULL;
    }
    c->bytes += len;
    *src = (struct conf_source){.kind = CONF_FROM_FILE, .name = in.path};
    include_keep_input(c, in);
    return conf_yaml(c, src, in.text, in.len, err);
}

/* Reads until the end or just past what is allowed: the file may be a pipe
 * or have no end. */
static bool include_read_bytes(const char *path, struct wr_str *ret, struct wr_err *err)
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

    if (!include_read_bytes(path, &text, err)) {
        if (named_at)
            conf_node_wrap(named_at, err);
    } else if (text.n >= sizeof database && !memcmp(text.s, database, sizeof database)) {
        wr_fail(err, WR_INPUT,
                "%s is a run file, not a configuration; print the one it was made with by `weir "
                "show %s --config`",
                path, path);
        if (named_at)
            conf_node_wrap(named_at, err);
    } else {
        root = conf_read_text(c, path, wr_str_get(&text), text.n, err);
    }
    wr_str_fini(&text);
    return root;
}

static bool include_names_file(const struct conf_node *node)
{
    return (node->type == CONF_NODE_SCALAR && !conf_node_empty(node)) ||
           conf_node_find(node, "file");
}

static void include_merge(struct conf *c, const struct conf_row *rows, struct conf_node *base,
                          const struct conf_node *over);

static struct conf_node *include_as_plugin_map(struct conf *c, struct conf_node *node)
{
    if (node->type != CONF_NODE_SCALAR)
        return node;
    struct conf_node *map = conf_node_new(c, CONF_NODE_MAP, node);
    conf_node_put(c, map, conf_node_scalar(c, "kind", node), node);
    return map;
}

/* Another kind brings its own parameters; the same kind keeps the file's. */
static bool include_merge_plugin(struct conf *c, const struct conf_row *row, struct conf_pair *base,
                                 struct conf_node *over)
{
    const struct conf_kind *was = conf_kind_of(row, base->value);
    bool names = over->type == CONF_NODE_SCALAR || conf_node_find(over, "kind") ||
                 (row->files && conf_node_find(over, "file"));

    if (!was || (names && conf_kind_of(row, over) != was))
        return false;
    base->value = include_as_plugin_map(c, base->value);
    include_merge(c, was->rows, base->value, include_as_plugin_map(c, over));
    return true;
}

/* False: the override replaces the value as a whole. */
static bool include_merge_value(struct conf *c, const struct conf_row *row, struct conf_pair *base,
                                struct conf_node *over)
{
    bool maps = base->value->type == CONF_NODE_MAP && over->type == CONF_NODE_MAP;

    if (row->type == CONF_PLUGIN && over->type != CONF_NODE_SEQ)
        return include_merge_plugin(c, row, base, over);
    if (!maps || (row->include && include_names_file(over)))
        return false;
    if (row->type == CONF_SECTION) {
        include_merge(c, row->rows, base->value, over);
        return true;
    }
    if (row->type != CONF_TABLE)
        return false;
    for (uint32_t i = 0; i < over->n; i++) {
        struct conf_pair *old = conf_node_find(base->value, over->pairs[i].key->text);
        struct conf_node *value = over->pairs[i].value;

        if (old && old->value->type == CONF_NODE_MAP && value->type == CONF_NODE_MAP)
            include_merge(c, row->rows, old->value, value);
        else
            conf_node_put(c, base->value, over->pairs[i].key, value);
    }
    return true;
}

static void include_merge(struct conf *c, const struct conf_row *rows, struct conf_node *base,
                          const struct conf_node *over)
{
    assert(base->type == CONF_NODE_MAP && over->type == CONF_NODE_MAP);
    for (uint32_t i = 0; i < over->n; i++) {
        const struct conf_pair *p = &over->pairs[i];
        struct conf_pair *old = conf_node_find(base, p->key->text);
        const struct conf_row *row = conf_row_find(rows, p->key->text);

        if (!old || !row || !include_merge_value(c, row, old, p->value))
            conf_node_put(c, base, p->key, p->value);
    }
}

static bool include_push_frame(const struct conf_frame *up, struct conf_frame *ret,
                               const char *path, struct wr_err *err)
{
    struct wr_file_id id;
    unsigned depth = 0;

    if (!wr_file_identify(&id, path))
        return wr_fail_read(err, "cannot read %s; check the file name", path);
    for (const struct conf_frame *f = up; f; f = f->up, depth++)
        if (f->id.dev == id.dev && f->id.ino == id.ino)
            return wr_fail(err, WR_INPUT, "%s includes itself; break the circle", path);
    if (depth >= CONF_MOST_INCLUDES)
        return wr_fail(err, WR_INPUT, "more than %d files included one inside another; use fewer",
                       CONF_MOST_INCLUDES);
    *ret = (struct conf_frame){.up = up, .path = path, .id = id};
    return true;
}

/* A `file:` that is no name belongs to a file of another kind, as other keys of it show. */
static bool include_check_section(const struct conf_row *row, const struct conf_node *base,
                                  struct wr_err *err)
{
    const struct conf_pair *file = conf_node_find(base, "file");

    for (uint32_t i = 0; file && file->value->type != CONF_NODE_SCALAR && i < base->n; i++) {
        const struct conf_node *key = base->pairs[i].key;

        if (&base->pairs[i] != file && !conf_row_find(row->rows, key->text))
            return conf_node_fail(key, err,
                                  "this is no file for `%s:`: it has \"%s\"; name one that has the "
                                  "keys of that section",
                                  row->key, wr_text_clip(key->text).s);
    }
    return true;
}

static bool include_read_section(struct conf *c, const struct conf_row *row,
                                 const struct conf_node *name, struct conf_node **ret,
                                 const struct conf_frame *up, struct wr_err *err)
{
    struct conf_frame frame;
    struct conf_node *base;

    if (name->type != CONF_NODE_SCALAR || !name->text[0])
        return conf_node_fail(name, err, "%s.file is %s; write the name of a file", row->key,
                              conf_node_what(name));
    const char *path = conf_path_beside(c, name->src, name->text);
    if (!include_push_frame(up, &frame, path, err))
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
    if (!include_check_section(row, base, err))
        return false;
    if (include_names_file(base) && !conf_expand(c, row, &base, &frame, err))
        return false;
    if (!conf_resolve(c, row->rows, base, &frame, err))
        return false;
    *ret = base;
    return true;
}

/* ---- plug-ins that are a file ---- */

/* The node that names a file or a shipped text instead of a kind; NULL: none does. */
static const struct conf_node *include_plugin_name(const struct conf_row *row,
                                                   const struct conf_node *node)
{
    const struct conf_pair *file = conf_node_find(node, "file");

    if (node->type == CONF_NODE_SCALAR)
        return conf_node_empty(node) || conf_kind_find(row, node->text) ? NULL : node;
    return file && !conf_node_find(node, "kind") ? file->value : NULL;
}

static bool include_is_shipped(const struct conf_files *files, const char *name,
                               const struct conf_text **ret)
{
    const struct conf_text *t = files->shipped;

    while (t && t->name && strcmp(t->name, name) != 0)
        t++;
    *ret = t;
    return t && t->name;
}

/* Does the root of the file have the plug-in's key, and none that such a file does not have? */
static bool include_check_plugin(const struct conf_row *row, const struct conf_node *root,
                                 struct wr_err *err)
{
    const struct conf_files *f = row->files;
    const char *what = row->what ? row->what : row->key;

    for (uint32_t i = 0; root->type == CONF_NODE_MAP && i < root->n; i++) {
        const struct conf_node *key = root->pairs[i].key;

        if (!conf_row_find(f->rows, key->text))
            return conf_node_fail(key, err, "this is no file of a %s: it has \"%s\"; %s", what,
                                  wr_text_clip(key->text).s, f->help);
    }
    if (!conf_node_find(root, f->key))
        return conf_node_fail(root, err, "this is no file of a %s: it has no `%s:`; %s", what,
                              f->key, f->help);
    return true;
}

/* What the file at `name` has under the plug-in's key, a map with its `kind:`. */
static bool include_read_plugin(struct conf *c, const struct conf_row *row,
                                const struct conf_node *name, struct conf_node **ret,
                                const struct conf_frame *up, struct wr_err *err)
{
    const char *path = conf_path_beside(c, name->src, name->text);
    struct conf_frame frame;

    if (!include_push_frame(up, &frame, path, err))
        return conf_node_wrap(name, err);
    struct conf_node *root = conf_read(c, path, name, err);

    if (!root || !include_check_plugin(row, root, err))
        return false;
    struct conf_pair *pair = conf_node_find(root, row->files->key);

    if (!conf_expand(c, row, &pair->value, &frame, err))
        return false;
    *ret = pair->value;
    return true;
}

static bool include_expand_plugin(struct conf *c, const struct conf_row *row,
                                  struct conf_node **slot, const struct conf_frame *up,
                                  struct wr_err *err)
{
    const struct conf_node *name = include_plugin_name(row, *slot);
    const struct conf_text *shipped;
    struct conf_node *base = NULL;

    if (!name)
        return true;
    if (name->type != CONF_NODE_SCALAR || conf_node_empty(name))
        return conf_node_fail(name, err, "%s.file is %s; write the name of a file", row->key,
                              conf_node_what(name));
    if (include_is_shipped(row->files, name->text, &shipped)) {
        struct conf_node *root =
            conf_read_text(c, shipped->name, shipped->text, strlen(shipped->text), err);

        if (!root)
            return false;
        base = conf_node_find(root, row->files->key)->value;
    } else if (!row->files->rows || (name == *slot && !strpbrk(name->text, "./") &&
                                     !wr_file_exists(conf_path_beside(c, name->src, name->text)))) {
        return true; /* a kind that there is not: bind.c reports it */
    } else if (!include_read_plugin(c, row, name, &base, up, err)) {
        return false;
    }
    const struct conf_kind *kind = conf_kind_of(row, base);

    if (name != *slot) {
        conf_node_remove(*slot, "file");
        base = include_as_plugin_map(c, base);
        if (base->type == CONF_NODE_MAP)
            include_merge(c, kind ? kind->rows : NULL, base, *slot);
    }
    *slot = base;
    return true;
}

bool conf_expand(struct conf *c, const struct conf_row *row, struct conf_node **slot,
                 const struct conf_frame *up, struct wr_err *err)
{
    if (row->files)
        return include_expand_plugin(c, row, slot, up, err);
    struct conf_node *node = *slot, *base = NULL;
    const struct conf_pair *file = conf_node_find(node, "file");

    assert(*slot);
    if (!row->include || !include_names_file(node))
        return true;
    if (!include_read_section(c, row, file ? file->value : node, &base, up, err))
        return false;
    if (file) {
        conf_node_remove(node, "file");
        include_merge(c, row->rows, base, node);
    }
    *slot = base;
    return true;
}

static bool include_resolve_value(struct conf *c, const struct conf_row *row,
                                  struct conf_node **slot, const struct conf_frame *up,
                                  struct wr_err *err)
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
    assert(map->type == CONF_NODE_MAP);
    for (; rows && rows->key; rows++) {
        struct conf_pair *pair = conf_node_find(map, rows->key);

        if (pair && !include_resolve_value(c, rows, &pair->value, up, err))
            return false;
    }
    return true;
}
