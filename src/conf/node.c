/* node.c -- the tree between YAML and rows, and a map from pointers to indices.
 *
 * Nodes live in the arena of their struct conf and are never freed one by one. yaml.c builds them,
 * include.c and conf_set.c merge and replace them, bind.c reads them. Keys of a mapping are unique.
 */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf_priv.h"

struct conf_node *conf_node_new(struct conf *c, enum conf_node_type type,
                                const struct conf_node *like)
{
    struct conf_node *node = wr_arena_alloc(&c->arena, sizeof *node);

    assert(like && like->src);
    *node = (struct conf_node){
        .src = like->src, .line = like->line, .column = like->column, .type = (uint8_t)type};
    return node;
}

struct conf_node *conf_node_scalar(struct conf *c, const char *text, const struct conf_node *like)
{
    struct conf_node *node = conf_node_new(c, CONF_NODE_SCALAR, like);

    node->text = wr_arena_strdup(&c->arena, text);
    return node;
}

/* The old array stays behind in the arena; doubling bounds the waste. */
static void *node_grow_array(struct conf *c, void *old, uint32_t n, uint32_t *cap, size_t size)
{
    assert(n <= *cap);
    if (n < *cap)
        return old;
    *cap = *cap ? *cap * 2 : 4;

    void *more = wr_arena_alloc(&c->arena, *cap * size);
    if (n)
        memcpy(more, old, n * size);
    return more;
}

void conf_node_add_pair(struct conf *c, struct conf_node *map, struct conf_pair pair)
{
    assert(map->type == CONF_NODE_MAP);
    map->pairs = node_grow_array(c, map->pairs, map->n, &map->cap, sizeof *map->pairs);
    map->pairs[map->n++] = pair;
}

void conf_node_add_item(struct conf *c, struct conf_node *seq, struct conf_node *item)
{
    assert(seq->type == CONF_NODE_SEQ);
    seq->items = node_grow_array(c, seq->items, seq->n, &seq->cap, sizeof *seq->items);
    seq->items[seq->n++] = item;
}

struct conf_node *conf_node_copy(struct conf *c, const struct conf_node *node)
{
    struct conf_node *copy = wr_arena_alloc(&c->arena, sizeof *copy);

    *copy = *node;
    if (node->type == CONF_NODE_SCALAR)
        return copy;
    copy->n = copy->cap = 0;
    copy->pairs = NULL;
    for (uint32_t i = 0; i < node->n; i++)
        if (node->type == CONF_NODE_MAP)
            conf_node_add_pair(c, copy,
                               (struct conf_pair){conf_node_copy(c, node->pairs[i].key),
                                                  conf_node_copy(c, node->pairs[i].value)});
        else
            conf_node_add_item(c, copy, conf_node_copy(c, node->items[i]));
    return copy;
}

struct conf_pair *conf_node_find(const struct conf_node *map, const char *key)
{
    if (map->type != CONF_NODE_MAP)
        return NULL;
    for (uint32_t i = 0; i < map->n; i++)
        if (!strcmp(map->pairs[i].key->text, key))
            return &map->pairs[i];
    return NULL;
}

void conf_node_put(struct conf *c, struct conf_node *map, struct conf_node *key,
                   struct conf_node *value)
{
    struct conf_pair *pair = conf_node_find(map, key->text);

    if (pair)
        *pair = (struct conf_pair){key, value};
    else
        conf_node_add_pair(c, map, (struct conf_pair){key, value});
}

void conf_node_remove(struct conf_node *map, const char *key)
{
    struct conf_pair *pair = conf_node_find(map, key);

    if (!pair)
        return;
    size_t after = (size_t)(map->pairs + map->n - pair - 1);
    memmove(pair, pair + 1, after * sizeof *pair);
    map->n--;
}

bool conf_node_empty(const struct conf_node *node)
{
    return node->type == CONF_NODE_SCALAR && node->plain && !node->text[0];
}

const char *conf_node_what(const struct conf_node *node)
{
    static const char *const words[] = {
        [CONF_NODE_SCALAR] = "a single value",
        [CONF_NODE_MAP] = "a mapping",
        [CONF_NODE_SEQ] = "a list",
    };

    return conf_node_empty(node) ? "empty" : words[node->type];
}

bool conf_node_wrap(const struct conf_node *node, struct wr_err *err)
{
    assert(node->src);
    switch (node->src->kind) {
    case CONF_FROM_NOWHERE:
        wr_wrap(err, "the configuration");
        break;
    case CONF_FROM_FILE:
        wr_wrap(err, "%s:%u:%u", node->src->name, node->line, node->column);
        break;
    case CONF_FROM_SET:
        wr_wrap(err, "%s", node->src->name);
        break;
    case CONF_FROM_DEFAULT:
        err->code = WR_BUG;
        wr_wrap(err, "the default \"%s\"", node->src->name);
        break;
    }
    /* Keys and names come from files; a terminal must not obey them. */
    for (char *s = err->text; *s; s++)
        if ((unsigned char)*s < 0x20 || *s == 0x7f)
            *s = '?';
    return false;
}

bool conf_node_fail(const struct conf_node *node, struct wr_err *err, const char *fmt, ...)
{
    char text[sizeof err->text];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    wr_fail(err, WR_INPUT, "%s", text);
    return conf_node_wrap(node, err);
}
