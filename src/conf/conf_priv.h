/* conf_priv.h -- the data that the files of this module share.
 *
 *   text --yaml.c--> nodes --include.c--> merged nodes --conf_set.c--> overridden nodes
 *        --bind.c--> the caller's struct, and one conf_field per value
 *
 * Nodes are untyped and located. Rows give them types only in bind.c, so an
 * override may change what a value means (topology.kind) before it is checked.
 */
#ifndef CONF_PRIV_H
#define CONF_PRIV_H

#include "base/map.h"
#include "conf/conf.h"

/* Limits of one configuration with its includes. A configuration is written by people; a table of
 * a million lines belongs into a file of its own format. */
enum {
    CONF_MOST_BYTES = 16 << 20, /* of all files together */
    CONF_MOST_NODES = 1 << 18,
    CONF_MOST_ALIASED = 1 << 16, /* nodes made by following aliases */
    CONF_MOST_ANCHORS = 1000,
    CONF_MOST_DEPTH = 64,
    CONF_MOST_KEYS = 1024,   /* of one mapping: they are searched one by one */
    CONF_MOST_INCLUDES = 16, /* one inside another */
    CONF_LONGEST_KEY = 128,
};

enum conf_source_kind { CONF_FROM_NOWHERE, CONF_FROM_FILE, CONF_FROM_SET, CONF_FROM_DEFAULT };

struct conf_source {
    enum conf_source_kind kind;
    const char *name; /* the path; "--set a.b=c"; the default's text */
    const char *path; /* of a --set: "a.b" */
};

enum conf_node_type { CONF_NODE_SCALAR, CONF_NODE_MAP, CONF_NODE_SEQ };

struct conf_pair {
    struct conf_node *key; /* a scalar */
    struct conf_node *value;
};

/* A value of YAML with its place. In the arena; pairs and items grow while it is read, merged and
 * overridden, and are fixed once conf_bind() begins. */
struct conf_node {
    const struct conf_source *src;
    uint32_t line, column; /* from 1 */
    uint8_t type;          /* enum conf_node_type */
    bool plain;            /* scalar: not quoted, so "" is no value at all */
    uint32_t n, cap;       /* pairs or items */
    union {
        const char *text;
        struct conf_pair *pairs;
        struct conf_node **items;
    };
};

enum conf_state { CONF_GIVEN, CONF_DEFAULTED, CONF_ABSENT };
enum conf_shape { CONF_LEAF, CONF_MAP, CONF_SEQ };

/* A value that was stored: where, from which node, and whose child it is.
 * Fields are in the order of the rows, parents before children, so they are
 * also the resolved configuration written flat. */
struct conf_field {
    const void *at;
    const struct conf_row *row;   /* NULL: an item of a list or table */
    const struct conf_node *node; /* NULL when there is none */
    const char *name;             /* NULL: an item of a list, counted by `index` */
    uint32_t index;
    uint32_t parent; /* fields[0] is the whole */
    uint8_t state;   /* enum conf_state */
    uint8_t shape;   /* enum conf_shape */
};

struct conf {
    struct wr_arena arena;            /* nodes, sources, strings, lists, parameters of plug-ins */
    const struct conf_row *rows;      /* of the outermost mapping */
    void *into;                       /* the caller's struct */
    size_t nodes, aliased, bytes;     /* used so far of the limits above */
    WR_VEC(struct conf_field) fields; /* filled by conf_bind() */
    struct wr_map by_address;         /* of a stored value, into `fields` */
    WR_VEC(struct conf_node *) defaults;
    struct wr_map by_row;             /* into `defaults` */
    WR_VEC(struct conf_input) inputs; /* the files read, each once */
    WR_VEC(const char *) paths;       /* values of type CONF_PATH */
    WR_VEC(const char *) dropped;     /* values that a --set of a plug-in's kind left behind */
};

/* An address as a key. */
static inline uint64_t conf_key(const void *p)
{
    return (uint64_t)(uintptr_t)p;
}

/* node.c */
struct conf_node *conf_node_new(struct conf *c, enum conf_node_type type,
                                const struct conf_node *like);
struct conf_node *conf_node_scalar(struct conf *c, const char *text, const struct conf_node *like);
struct conf_node *conf_node_copy(struct conf *c, const struct conf_node *node);
struct conf_pair *conf_node_find(const struct conf_node *map, const char *key);
void conf_node_put(struct conf *c, struct conf_node *map, struct conf_node *key,
                   struct conf_node *value); /* replaces */
void conf_node_add_pair(struct conf *c, struct conf_node *map, struct conf_pair pair);
void conf_node_add_item(struct conf *c, struct conf_node *seq, struct conf_node *item);
void conf_node_remove(struct conf_node *map, const char *key);
bool conf_node_empty(const struct conf_node *node); /* "key:" and nothing after it */
/* An error at the place of the node. */
bool conf_node_fail(const struct conf_node *node, struct wr_err *err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
bool conf_node_wrap(const struct conf_node *node, struct wr_err *err);
const char *conf_node_what(const struct conf_node *node); /* "a mapping", ... */

/* yaml.c: NULL and *err on failure. */
struct conf_node *conf_yaml(struct conf *c, const struct conf_source *src, const char *text,
                            size_t len, struct wr_err *err);

/* include.c */
struct conf_frame; /* the files being included, innermost first */

/* `named_at`: the node that names the file, or NULL. */
struct conf_node *conf_read(struct conf *c, const char *path, const struct conf_node *named_at,
                            struct wr_err *err);
struct conf_node *conf_read_text(struct conf *c, const char *path, const char *text, size_t len,
                                 struct wr_err *err);
/* Replace file names by what the files say, wherever a row allows it. */
bool conf_resolve(struct conf *c, const struct conf_row *rows, struct conf_node *map,
                  const struct conf_frame *up, struct wr_err *err);
bool conf_expand(struct conf *c, const struct conf_row *row, struct conf_node **slot,
                 const struct conf_frame *up, struct wr_err *err);
/* `path` as the file (or --set, or default) that names it means it. */
const char *conf_path_beside(struct conf *c, const struct conf_source *src, const char *path);

/* row.c: finding rows, and plug-ins' kinds. */
const struct conf_row *conf_row_find(const struct conf_row *rows, const char *key);
const struct conf_kind *conf_kind_find(const struct conf_row *row, const char *name);
/* The kind a plug-in's node names, by itself or by `kind:`; NULL: none or unknown. */
const struct conf_kind *conf_kind_of(const struct conf_row *row, const struct conf_node *node);
bool conf_required_inside(const struct conf_row *rows);
/* What to say about a key that no row has; `extra` is a key beyond the rows, or NULL. */
bool conf_unknown_key(const struct conf_row *rows, const char *extra, const char *within,
                      const char *key, struct wr_err *err);
bool conf_unknown_kind(const struct conf_row *row, const char *name, struct wr_err *err);

/* conf_set.c */
bool conf_sets(struct conf *c, struct conf_node *root, const struct conf_override *sets,
               size_t nsets, struct wr_err *err);

/* bind.c */
bool conf_bind(struct conf *c, const struct conf_node *root, struct wr_err *err);
struct conf_node *conf_default(struct conf *c, const struct conf_row *row, struct wr_err *err);
void conf_clear(const struct conf_row *rows, void *into);
void conf_field_path(const struct conf *c, const struct conf_field *f, struct wr_str *out);

/* conf.c */
const char *conf_field_origin(const struct conf *c, const struct conf_field *f);
const struct conf_node *conf_node_of(const struct conf *c, const void *at); /* NULL: none */

/* value.c: scalars by type. */
size_t conf_type_size(enum conf_type type);
bool conf_is_scalar(enum conf_type type);
const char *conf_type_words(enum conf_type type);   /* "a time" */
const char *conf_type_example(enum conf_type type); /* "726.6 ns", or NULL */
const char *conf_type_unit(enum conf_type type);    /* "ps", or NULL */
/* Messages say only what is wrong with the value. */
bool conf_value_parse(struct conf *c, const struct conf_row *row, const struct conf_node *node,
                      void *ret, struct wr_err *err);
void conf_value_text(const struct conf_row *row, const void *field, struct wr_str *out);
bool conf_range_words(const struct conf_row *row, struct wr_str *out); /* false: no range */
bool conf_count_check(const struct conf_row *row, size_t n, struct wr_err *err);
void conf_quote(struct wr_str *out, const char *text); /* as a YAML scalar */
void conf_comment(struct wr_str *out, const char *text);
bool conf_is_utf8(const char *text);

#endif
