/* file_read.c -- the text of a topology file into lists; see topo_file.h. */
#include <assert.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/str.h"
#include "file_priv.h"
#include "net/topo/topo.h"

enum { MAX_WORDS = 8, MAX_CABLES = 4096, MAX_OWN = TOPO_MAX_CLASSES - TOPO_OWN };

/* One line's words; the first says what it is. */
struct file_line {
    struct file_word word[MAX_WORDS];
    uint32_t n;
};

bool topo_file_fail(const struct file_machine *m, struct file_word at, struct wr_err *err,
                    const char *fmt, ...)
{
    char text[1024];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return wr_fail(err, WR_INPUT, "%s:%u:%u: %s", m->path, at.line, at.column, text);
}

#define WORD(m, w) (int)(w).len, (m)->text + (w).at

static bool file_word_is(const struct file_machine *m, struct file_word w, const char *s)
{
    return w.len == strlen(s) && !memcmp(m->text + w.at, s, w.len);
}

/* The name that is looked for. */
struct file_wanted {
    const struct file_machine *m;
    struct file_word word;
    uint32_t space;
};

static bool file_same_name(const void *ctx, uint64_t index)
{
    const struct file_wanted *want = ctx;
    const struct file_name *name = &want->m->names.v[index];

    return name->space == want->space && name->word.len == want->word.len &&
           !memcmp(want->m->text + name->word.at, want->m->text + want->word.at, want->word.len);
}

static uint64_t file_hash_name(const struct file_machine *m, struct file_word w, uint32_t space)
{
    return wr_hash(WR_HASH_INIT + space, m->text + w.at, w.len);
}

static const struct file_name *file_find_name(const struct file_machine *m, struct file_word w,
                                              uint32_t space)
{
    struct file_wanted want = {m, w, space};
    uint64_t i = wr_map_find(&m->by_name, file_hash_name(m, w, space), file_same_name, &want);

    return i == WR_MAP_NONE ? NULL : &m->names.v[i];
}

static uint32_t file_add_name(struct file_machine *m, struct file_name name)
{
    wr_map_add(&m->by_name, file_hash_name(m, name.word, name.space), m->names.n);
    wr_vec_push(&m->names, name);
    return (uint32_t)m->names.n - 1;
}

/* Unknown: say so, with the nearest name that is known. */
static bool file_fail_unknown(const struct file_machine *m, struct file_word w, uint32_t space,
                              const char *what, const char *advice, struct wr_err *err)
{
    char want[TOPO_NAME_MAX], each[TOPO_NAME_MAX], best[TOPO_NAME_MAX];
    struct wr_nearest near = {.want = want};

    snprintf(want, sizeof want, "%.*s", WORD(m, w));
    for (size_t i = 0; i < m->names.n; i++) {
        const struct file_name *name = &m->names.v[i];

        assert(name);
        if (name->space != space || name->is_node)
            continue;
        snprintf(each, sizeof each, "%.*s", WORD(m, name->word));
        wr_nearest_try(&near, each);
        if (near.best == each) {
            memcpy(best, each, sizeof best);
            near.best = best;
        }
    }
    return topo_file_fail(m, w, err, "no %s \"%s\"%s%s%s; %s", what, want,
                          near.best ? ", did you mean " : "", near.best ? near.best : "",
                          near.best ? "?" : "", advice);
}

static bool file_check_name(const struct file_machine *m, struct file_word w, struct wr_err *err)
{
    if (w.len < TOPO_NAME_MAX)
        return true;
    return topo_file_fail(m, w, err, "a name of %u characters; use at most %u", w.len,
                          TOPO_NAME_MAX - 1);
}

static bool file_check_fresh(const struct file_machine *m, struct file_word w, uint32_t space,
                             struct wr_err *err)
{
    const struct file_name *old = file_find_name(m, w, space);

    if (!file_check_name(m, w, err))
        return false;
    if (!old)
        return true;
    return topo_file_fail(m, w, err, "\"%.*s\" is already declared in line %u; rename one of them",
                          WORD(m, w), old->word.line);
}

static bool file_find_router(const struct file_machine *m, struct file_word w, uint32_t *ret,
                             struct wr_err *err)
{
    const struct file_name *name = file_find_name(m, w, FILE_THING);

    if (!name)
        return file_fail_unknown(m, w, FILE_THING, "router",
                                 "declare routers above the lines that use them", err);
    if (name->is_node)
        return topo_file_fail(m, w, err, "\"%.*s\" is a node, not a router; name a router",
                              WORD(m, w));
    *ret = name->index;
    return true;
}

/* The group of a router: named, or the one of all that name none. */
static uint32_t file_group_of(struct file_machine *m, struct file_word w)
{
    const struct file_name *old = file_find_name(m, w, FILE_GROUP);

    if (old)
        return old->index;
    file_add_name(m, (struct file_name){.word = w, .space = FILE_GROUP, .index = m->ngroups});
    return m->ngroups++;
}

static bool file_read_router(struct file_machine *m, const struct file_line *l, struct wr_err *err)
{
    struct file_word group = {0};

    if (!file_check_fresh(m, l->word[1], FILE_THING, err))
        return false;
    if (l->n > 2 && (l->n != 4 || !file_word_is(m, l->word[2], "group")))
        return topo_file_fail(m, l->word[2], err, "expected: router NAME [group GROUP]");
    if (l->n == 4) {
        group = l->word[3];
        if (!file_check_name(m, group, err))
            return false;
    }
    uint32_t name = file_add_name(m, (struct file_name){.word = l->word[1],
                                                        .space = FILE_THING,
                                                        .index = (uint32_t)m->routers.n});

    wr_vec_push(&m->routers, (struct file_router){.name = name, .group = file_group_of(m, group)});
    return true;
}

static bool file_read_node(struct file_machine *m, const struct file_line *l, struct wr_err *err)
{
    uint32_t router = 0;

    if (l->n != 3)
        return topo_file_fail(m, l->word[l->n > 3 ? 3 : 0], err, "expected: node NAME ROUTER");
    if (!file_check_fresh(m, l->word[1], FILE_THING, err) ||
        !file_find_router(m, l->word[2], &router, err))
        return false;
    uint32_t name = file_add_name(m, (struct file_name){.word = l->word[1],
                                                        .space = FILE_THING,
                                                        .index = (uint32_t)m->nodes.n,
                                                        .is_node = true});

    wr_vec_push(&m->nodes, (struct file_node){name, router});
    m->routers.v[router].nodes++;
    return true;
}

static bool file_add_class(struct file_machine *m, struct file_word w, struct wr_err *err)
{
    if (m->nclasses == MAX_OWN)
        return topo_file_fail(m, w, err, "more than %u classes; use fewer", MAX_OWN);
    m->class_name[m->nclasses] =
        file_add_name(m, (struct file_name){.word = w, .space = FILE_CLASS, .index = m->nclasses});
    m->nclasses++;
    return true;
}

static bool file_read_class(struct file_machine *m, const struct file_line *l, struct wr_err *err)
{
    static const char *const taken[] = {"inject", "eject", "default", "link"};

    if (l->n != 2)
        return topo_file_fail(m, l->word[2], err, "expected: class NAME");
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        if (file_word_is(m, l->word[1], taken[i]))
            return topo_file_fail(m, l->word[1], err,
                                  "the class \"%s\" has a meaning of its own; use another name",
                                  taken[i]);
    return file_check_fresh(m, l->word[1], FILE_CLASS, err) && file_add_class(m, l->word[1], err);
}

static bool file_find_class(struct file_machine *m, struct file_word w, uint8_t *ret,
                            struct wr_err *err)
{
    const struct file_name *name = file_find_name(m, w, FILE_CLASS);

    /* The empty word stands for the class of links that name none. */
    if (!name && !w.len) {
        if (!file_add_class(m, w, err))
            return false;
        name = file_find_name(m, w, FILE_CLASS);
    }
    if (!name)
        return file_fail_unknown(m, w, FILE_CLASS, "class",
                                 "declare it above with a line `class NAME`", err);
    *ret = (uint8_t)(TOPO_OWN + name->index);
    return true;
}

/* x4 */
static bool file_read_count(const struct file_machine *m, struct file_word w, uint32_t *ret,
                            struct wr_err *err)
{
    uint32_t n = 0;

    for (uint32_t i = 1; i < w.len && n <= MAX_CABLES; i++) {
        unsigned char c = (unsigned char)m->text[w.at + i];

        n = isdigit(c) ? n * 10 + (c - '0') : MAX_CABLES + 1;
    }
    if (m->text[w.at] != 'x' || !n || n > MAX_CABLES)
        return topo_file_fail(m, w, err,
                              "\"%.*s\" is neither `class NAME` nor a number of cables from x1 to "
                              "x%u; use link A B [class NAME] [xN]",
                              WORD(m, w), MAX_CABLES);
    *ret = n;
    return true;
}

static bool file_read_link(struct file_machine *m, const struct file_line *l, struct wr_err *err)
{
    struct file_link link = {.cables = 1};
    struct file_word cls = {.line = l->word[0].line, .column = l->word[0].column};

    if (l->n < 3)
        return topo_file_fail(m, l->word[0], err, "expected: link ROUTER ROUTER [class NAME] [xN]");
    if (!file_find_router(m, l->word[1], &link.a, err) ||
        !file_find_router(m, l->word[2], &link.b, err))
        return false;
    if (link.a == link.b)
        return topo_file_fail(m, l->word[2], err,
                              "a link from \"%.*s\" to itself; join two different routers",
                              WORD(m, l->word[2]));
    for (uint32_t i = 3; i < l->n; i++) {
        if (file_word_is(m, l->word[i], "class") && i + 1 < l->n)
            cls = l->word[++i];
        else if (!file_read_count(m, l->word[i], &link.cables, err))
            return false;
    }
    if (!file_find_class(m, cls, &link.cls, err))
        return false;
    wr_vec_push(&m->links, link);
    m->routers.v[link.a].cables += link.cables;
    m->routers.v[link.b].cables += link.cables;
    return true;
}

static const struct {
    const char *name;
    bool (*read)(struct file_machine *m, const struct file_line *l, struct wr_err *err);
} directives[] = {
    {"router", file_read_router},
    {"node", file_read_node},
    {"link", file_read_link},
    {"class", file_read_class},
};

static bool file_read_directive(struct file_machine *m, const struct file_line *l,
                                struct wr_err *err)
{
    for (size_t i = 0; i < sizeof directives / sizeof directives[0]; i++) {
        if (!file_word_is(m, l->word[0], directives[i].name))
            continue;
        if (l->n < 2)
            return topo_file_fail(m, l->word[0], err, "\"%s\" of what? give a name after it",
                                  directives[i].name);
        return directives[i].read(m, l, err);
    }
    return topo_file_fail(m, l->word[0], err,
                          "\"%.*s\" is not known here; a line begins with router, node, link, "
                          "class or #",
                          l->word[0].len < 64 ? (int)l->word[0].len : 64, m->text + l->word[0].at);
}

static bool file_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Splits the line from *at on, up to its end or a comment; moves *at behind it. */
static bool file_split_line(const struct file_machine *m, size_t len, size_t *at, uint32_t line,
                            struct file_line *ret, struct wr_err *err)
{
    size_t start = *at, i = start;

    ret->n = 0;
    while (i < len && m->text[i] != '\n' && m->text[i] != '#') {
        struct file_word w = {(uint32_t)i, 0, line, (uint32_t)(i - start) + 1};

        if (file_is_space(m->text[i])) {
            i++;
            continue;
        }
        for (; i < len && !file_is_space(m->text[i]) && m->text[i] != '\n' && m->text[i] != '#';
             i++)
            if ((unsigned char)m->text[i] < 0x20 || m->text[i] == 0x7f) {
                w.column = (uint32_t)(i - start) + 1;
                return topo_file_fail(m, w, err,
                                      "a character (0x%02x) that is not text; is this a topology "
                                      "file?",
                                      (unsigned char)m->text[i]);
            }
        w.len = (uint32_t)i - w.at;
        if (ret->n == MAX_WORDS)
            return topo_file_fail(m, w, err, "too many words; end the line here");
        ret->word[ret->n++] = w;
    }
    while (i < len && m->text[i] != '\n')
        i++;
    *at = i + 1;
    return true;
}

bool topo_file_read(struct file_machine *m, const char *path, const char *text, size_t len,
                    struct wr_err *err)
{
    size_t at = 0;

    *m = (struct file_machine){.path = path, .text = text};
    for (uint32_t line = 1; at < len; line++) {
        struct file_line l;

        if (!file_split_line(m, len, &at, line, &l, err) ||
            (l.n && !file_read_directive(m, &l, err)))
            return false;
    }
    struct file_word start = {.line = 1, .column = 1};

    if (!m->routers.n)
        return topo_file_fail(m, start, err, "no router is declared; add lines `router NAME`");
    if (!m->nodes.n)
        return topo_file_fail(m, start, err, "no node is declared; add lines `node NAME ROUTER`");
    return true;
}

void topo_file_machine_fini(struct file_machine *m)
{
    wr_vec_fini(&m->names);
    wr_vec_fini(&m->routers);
    wr_vec_fini(&m->nodes);
    wr_vec_fini(&m->links);
    wr_map_fini(&m->by_name);
}
