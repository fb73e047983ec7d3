/* yaml.c -- text -> nodes, through libyaml's events.
 *
 * What YAML offers beyond mappings, lists and scalars is refused rather than
 * guessed at: tags, merge keys, several documents. Aliases are copied, so that
 * later overrides of one place do not change another, and the copies are
 * counted, so that a few lines cannot unfold into gigabytes.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "conf_priv.h"

struct anchor {
    const char *name;
    const struct conf_node *node;
    size_t size; /* nodes a copy costs */
};

struct reader {
    struct conf *c;
    const struct conf_source *src;
    struct wr_err *err;
    yaml_parser_t parser;
    const char *text;
    size_t len;
    WR_VEC(struct anchor) anchors;
};

/* A place to complain at before there is a node. */
static struct conf_node yaml_at_mark(const struct reader *r, yaml_mark_t mark)
{
    return (struct conf_node){
        .src = r->src, .line = (uint32_t)mark.line + 1, .column = (uint32_t)mark.column + 1};
}

static struct conf_node yaml_at_byte(const struct reader *r, size_t offset)
{
    struct conf_node at = {.src = r->src, .line = 1, .column = 1};

    for (size_t i = 0; i < offset && i < r->len; i++)
        if (r->text[i] == '\n') {
            at.line++;
            at.column = 1;
        } else if (((unsigned char)r->text[i] & 0xc0) != 0x80) {
            at.column++;
        }
    return at;
}

static bool yaml_fail_syntax(struct reader *r)
{
    const yaml_parser_t *p = &r->parser;
    const char *problem = p->problem ? p->problem : "this is not YAML";

    if (p->error == YAML_READER_ERROR) {
        struct conf_node at = yaml_at_byte(r, p->problem_offset);

        return conf_node_fail(&at, r->err, "%s; save the file as UTF-8 text", problem);
    }
    struct conf_node at = yaml_at_mark(r, p->problem_mark);
    size_t i = p->problem_mark.index;
    bool tab = r->src->kind == CONF_FROM_FILE && i < r->len && r->text[i] == '\t';

    return conf_node_fail(&at, r->err, "%s%s%s%s", problem, p->context ? " " : "",
                          p->context ? p->context : "",
                          tab ? "; indent with spaces, not tabs"
                              : "; check the indentation, quotes and brackets here");
}

static bool yaml_next_event(struct reader *r, yaml_event_t *event)
{
    return yaml_parser_parse(&r->parser, event) ? true : yaml_fail_syntax(r);
}

static struct conf_node *yaml_new_node(struct reader *r, enum conf_node_type type, yaml_mark_t mark)
{
    struct conf_node at = yaml_at_mark(r, mark);

    if (++r->c->nodes > CONF_MOST_NODES) {
        conf_node_fail(&at, r->err,
                       "more than %d values; move long tables to a file of their own format",
                       CONF_MOST_NODES);
        return NULL;
    }
    return conf_node_new(r->c, type, &at);
}

static struct conf_node *yaml_follow_alias(struct reader *r, const yaml_event_t *event)
{
    const char *name = (const char *)event->data.alias.anchor;
    struct conf_node at = yaml_at_mark(r, event->start_mark);

    for (size_t i = r->anchors.n; i-- > 0;) {
        const struct anchor *a = &r->anchors.v[i];

        if (strcmp(a->name, name))
            continue;
        r->c->nodes += a->size;
        r->c->aliased += a->size;
        if (r->c->aliased <= CONF_MOST_ALIASED && r->c->nodes <= CONF_MOST_NODES)
            return conf_node_copy(r->c, a->node);
        conf_node_fail(&at, r->err, "alias *%s unfolds into more than %d values; write them out",
                       name, CONF_MOST_ALIASED);
        return NULL;
    }
    conf_node_fail(&at, r->err,
                   "alias *%s has no finished anchor &%s above it; write the value out", name,
                   name);
    return NULL;
}

static struct conf_node *yaml_compose(struct reader *r, const yaml_event_t *event, unsigned depth);

static struct conf_node *yaml_compose_scalar(struct reader *r, const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;
    size_t len = event->data.scalar.length;
    struct conf_node *node = yaml_new_node(r, CONF_NODE_SCALAR, event->start_mark);

    if (!node)
        return NULL;
    node->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    if (memchr(text, '\0', len)) {
        conf_node_fail(node, r->err, "a NUL character inside a value; remove the \\0");
        return NULL;
    }
    node->text = wr_arena_strndup(&r->c->arena, text, len);
    return node;
}

static struct conf_node *yaml_compose_list(struct reader *r, const yaml_event_t *start,
                                           unsigned depth)
{
    struct conf_node *list = yaml_new_node(r, CONF_NODE_SEQ, start->start_mark);
    bool more = list != NULL;

    while (more) {
        yaml_event_t event;
        struct conf_node *item = NULL;

        if (!yaml_next_event(r, &event))
            return NULL;
        more = event.type != YAML_SEQUENCE_END_EVENT;
        if (more && (item = yaml_compose(r, &event, depth + 1)))
            conf_node_add_item(r->c, list, item);
        yaml_event_delete(&event);
        if (more && !item)
            return NULL;
    }
    return list;
}

static bool yaml_check_key(struct reader *r, const struct conf_node *key)
{
    if (key->type != CONF_NODE_SCALAR)
        return conf_node_fail(key, r->err, "a key must be plain text, not %s; write `key: value`",
                              conf_node_what(key));
    if (!key->text[0])
        return conf_node_fail(key, r->err, "a key is missing before the colon; write `key: value`");
    if (strlen(key->text) > CONF_LONGEST_KEY)
        return conf_node_fail(key, r->err, "this key is longer than %d bytes; shorten it",
                              CONF_LONGEST_KEY);
    if (key->plain && !strcmp(key->text, "<<"))
        return conf_node_fail(key, r->err,
                              "merge keys are not supported; write the keys out, or use `file:` "
                              "where `weir config explain` allows it");
    return true;
}

static bool yaml_is_before(const struct conf_node *x, const struct conf_node *y)
{
    return x->line != y->line ? x->line < y->line : x->column < y->column;
}

static int yaml_by_key(const void *a, const void *b)
{
    const struct conf_node *const *x = a, *const *y = b;
    int order = strcmp((*x)->text, (*y)->text);

    return order ? order : yaml_is_before(*x, *y) ? -1 : yaml_is_before(*y, *x);
}

/* Sorted, so that a hostile mapping of a million keys stays fast. */
static bool yaml_check_unique(struct reader *r, const struct conf_node *map)
{
    const struct conf_node **keys = wr_zalloc(map->n + 1, sizeof *keys);
    const struct conf_node *first = NULL, *again = NULL;

    for (uint32_t i = 0; i < map->n; i++)
        keys[i] = map->pairs[i].key;
    qsort(keys, map->n, sizeof *keys, yaml_by_key);
    for (uint32_t i = 1; i < map->n; i++)
        if (!strcmp(keys[i - 1]->text, keys[i]->text) &&
            (!again || yaml_is_before(keys[i], again))) {
            first = keys[i - 1];
            again = keys[i];
        }
    free(keys);
    if (!again)
        return true;
    return conf_node_fail(again, r->err,
                          "\"%s\" is given twice, first at line %u column %u; remove one",
                          again->text, first->line, first->column);
}

static struct conf_node *yaml_compose_key(struct reader *r, const yaml_event_t *event,
                                          unsigned depth)
{
    struct conf_node at = yaml_at_mark(r, event->start_mark), *key;

    if (event->type == YAML_ALIAS_EVENT) {
        conf_node_fail(&at, r->err, "a key must be plain text, not an alias; write `key: value`");
        return NULL;
    }
    key = yaml_compose(r, event, depth);
    return key && yaml_check_key(r, key) ? key : NULL;
}

/* One `key: value`; *done at the end of the mapping. */
static bool yaml_compose_pair(struct reader *r, struct conf_node *map, unsigned depth, bool *done)
{
    yaml_event_t event;
    struct conf_pair pair = {NULL, NULL};

    if (!yaml_next_event(r, &event))
        return false;
    *done = event.type == YAML_MAPPING_END_EVENT;
    if (!*done)
        pair.key = yaml_compose_key(r, &event, depth + 1);
    yaml_event_delete(&event);
    if (*done)
        return true;
    if (!pair.key || !yaml_next_event(r, &event))
        return false;
    pair.value = yaml_compose(r, &event, depth + 1);
    yaml_event_delete(&event);
    if (!pair.value)
        return false;
    if (map->n == CONF_MOST_KEYS)
        return conf_node_fail(pair.key, r->err, "more than %d keys in one mapping; use a list",
                              CONF_MOST_KEYS);
    conf_node_add_pair(r->c, map, pair);
    return true;
}

static struct conf_node *yaml_compose_map(struct reader *r, const yaml_event_t *start,
                                          unsigned depth)
{
    struct conf_node *map = yaml_new_node(r, CONF_NODE_MAP, start->start_mark);
    bool done = false;

    while (map && !done)
        if (!yaml_compose_pair(r, map, depth, &done))
            return NULL;
    return map && yaml_check_unique(r, map) ? map : NULL;
}

static const yaml_char_t *yaml_anchor_of(const yaml_event_t *e)
{
    return e->type == YAML_SCALAR_EVENT           ? e->data.scalar.anchor
           : e->type == YAML_SEQUENCE_START_EVENT ? e->data.sequence_start.anchor
                                                  : e->data.mapping_start.anchor;
}

static const yaml_char_t *yaml_tag_of(const yaml_event_t *e)
{
    return e->type == YAML_SCALAR_EVENT           ? e->data.scalar.tag
           : e->type == YAML_SEQUENCE_START_EVENT ? e->data.sequence_start.tag
                                                  : e->data.mapping_start.tag;
}

static struct conf_node *yaml_compose(struct reader *r, const yaml_event_t *event, unsigned depth)
{
    struct conf_node at = yaml_at_mark(r, event->start_mark), *node;
    size_t nodes = r->c->nodes;

    if (event->type == YAML_ALIAS_EVENT)
        return yaml_follow_alias(r, event);
    if (yaml_tag_of(event)) {
        conf_node_fail(&at, r->err, "the tag %s is not needed; remove it, each key knows its type",
                       (const char *)yaml_tag_of(event));
        return NULL;
    }
    if (depth > CONF_MOST_DEPTH) {
        conf_node_fail(&at, r->err, "nested deeper than %d levels; check the brackets",
                       CONF_MOST_DEPTH);
        return NULL;
    }
    node = event->type == YAML_SCALAR_EVENT           ? yaml_compose_scalar(r, event)
           : event->type == YAML_SEQUENCE_START_EVENT ? yaml_compose_list(r, event, depth)
                                                      : yaml_compose_map(r, event, depth);
    if (node && yaml_anchor_of(event) && r->anchors.n == CONF_MOST_ANCHORS) {
        conf_node_fail(&at, r->err, "more than %d anchors; write the values out",
                       CONF_MOST_ANCHORS);
        return NULL;
    }
    if (node && yaml_anchor_of(event))
        wr_vec_push(
            &r->anchors,
            (struct anchor){wr_arena_strdup(&r->c->arena, (const char *)yaml_anchor_of(event)),
                            node, r->c->nodes - nodes});
    return node;
}

/* A stream is START, (DOCUMENT-START node DOCUMENT-END)*, END. No document is
 * an empty one. */
static struct conf_node *yaml_compose_stream(struct reader *r)
{
    struct conf_node *root = NULL;

    for (;;) {
        yaml_event_t event;
        bool ok = true, end;

        if (!yaml_next_event(r, &event))
            return NULL;
        end = event.type == YAML_STREAM_END_EVENT;
        if (event.type == YAML_DOCUMENT_START_EVENT && root) {
            struct conf_node at = yaml_at_mark(r, event.start_mark);

            ok = conf_node_fail(&at, r->err, "a second document begins here; keep one per file");
        } else if (event.type == YAML_SCALAR_EVENT || event.type == YAML_ALIAS_EVENT ||
                   event.type == YAML_SEQUENCE_START_EVENT ||
                   event.type == YAML_MAPPING_START_EVENT) {
            ok = (root = yaml_compose(r, &event, 1)) != NULL;
        }
        yaml_event_delete(&event);
        if (!ok)
            return NULL;
        if (end)
            break;
    }
    if (!root) {
        struct conf_node at = {.src = r->src, .line = 1, .column = 1};

        root = conf_node_scalar(r->c, "", &at);
        root->plain = true;
    }
    return root;
}

struct conf_node *conf_yaml(struct conf *c, const struct conf_source *src, const char *text,
                            size_t len, struct wr_err *err)
{
    struct reader r = {.c = c, .src = src, .err = err, .text = text, .len = len};

    assert(src && (text || !len));
    if (!yaml_parser_initialize(&r.parser)) {
        wr_fail(err, WR_SYSTEM, "out of memory for the YAML parser; free some and try again");
        return NULL;
    }
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, len);
    struct conf_node *root = yaml_compose_stream(&r);
    yaml_parser_delete(&r.parser);
    wr_vec_fini(&r.anchors);
    return root;
}
