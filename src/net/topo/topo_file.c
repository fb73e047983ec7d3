/* topo_file.c -- a topology from a topology file: the lists of file_read.c become wiring. */
#include "net/topo/topo_file.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "file_priv.h"
#include "net/topo/fail.h"

static const struct conf_row rows[] = {
    {.key = "path",
     .type = CONF_PATH,
     .offset = offsetof(struct topo_file_params, path),
     .help = "The file that lists routers, nodes and links."},
    CONF_END,
};

/* What stays of a file: its text, and where in it the names are. */
struct described {
    char *text;
    size_t len;
    struct file_word *router, *node;
    char *class_names; /* own classes, each terminated */
};

static void file_topo_keep_names(struct topo *t, struct described *d, const struct file_machine *m)
{
    char *at = d->class_names = wr_zalloc(TOPO_MAX_CLASSES, TOPO_NAME_MAX);

    d->router = wr_alloc(m->routers.n * sizeof *d->router);
    d->node = wr_alloc(m->nodes.n * sizeof *d->node);
    for (size_t i = 0; i < m->routers.n; i++)
        d->router[i] = m->names.v[m->routers.v[i].name].word;
    for (size_t i = 0; i < m->nodes.n; i++)
        d->node[i] = m->names.v[m->nodes.v[i].name].word;
    for (uint32_t i = 0; i < m->nclasses; i++, at += TOPO_NAME_MAX) {
        struct file_word w = m->names.v[m->class_name[i]].word;

        snprintf(at, TOPO_NAME_MAX, "%.*s", w.len ? (int)w.len : 4,
                 w.len ? m->text + w.at : "link");
        t->class_name[TOPO_OWN + i] = at;
    }
    t->nclasses = TOPO_OWN + m->nclasses;
}

/* Terminals take a router's first ports in the order of the file, cables the next. */
static void file_topo_plug(struct topo *t, const struct file_machine *m)
{
    uint16_t *node = wr_zalloc(m->routers.n, sizeof *node);
    uint16_t *cable = wr_zalloc(m->routers.n, sizeof *cable);

    for (size_t i = 0; i < m->routers.n; i++) {
        t->group[i] = m->routers.v[i].group;
        cable[i] = (uint16_t)m->routers.v[i].nodes;
    }
    for (size_t i = 0; i < m->nodes.n; i++) {
        uint32_t r = m->nodes.v[i].router;

        topo_attach(t, (uint32_t)i, (struct topo_end){r, node[r]++});
    }
    for (size_t i = 0; i < m->links.n; i++) {
        const struct file_link *l = &m->links.v[i];

        for (uint32_t k = 0; k < l->cables; k++)
            topo_cable(t, (struct topo_end){l->a, cable[l->a]++},
                       (struct topo_end){l->b, cable[l->b]++}, l->cls);
    }
    free(node);
    free(cable);
}

static bool file_topo_check_ports(const struct file_machine *m, uint64_t *ret_nports,
                                  struct wr_err *err)
{
    const struct file_router *widest = &m->routers.v[0];

    for (size_t i = 1; i < m->routers.n; i++)
        if (m->routers.v[i].nodes + m->routers.v[i].cables > widest->nodes + widest->cables)
            widest = &m->routers.v[i];
    *ret_nports = widest->nodes + widest->cables;
    if (topo_check_size(m->routers.n, *ret_nports, m->nodes.n, err))
        return true;
    struct file_word w = m->names.v[widest->name].word;
    return wr_wrap(err, "%s:%u:%u: router \"%.*s\" is the widest", m->path, w.line, w.column,
                   (int)w.len, m->text + w.at);
}

static bool file_topo_check_joined(const struct topo *t, const struct file_machine *m,
                                   struct wr_err *err)
{
    uint32_t *component = wr_alloc(t->nrouters * sizeof *component), other = 0;

    topo_components(t, component);
    while (other < t->nrouters && component[other] == component[0])
        other++;
    free(component);
    if (other == t->nrouters)
        return true;
    struct file_word a = m->names.v[m->routers.v[0].name].word;
    struct file_word b = m->names.v[m->routers.v[other].name].word;

    return topo_file_fail(m, b, err,
                          "no way leads from router \"%.*s\" to \"%.*s\"; add the links that join "
                          "them",
                          (int)a.len, m->text + a.at, (int)b.len, m->text + b.at);
}

static bool file_topo_build_machine(struct topo *t, struct described *d,
                                    const struct file_machine *m, struct wr_err *err)
{
    uint64_t nports;

    if (!file_topo_check_ports(m, &nports, err))
        return false;
    topo_alloc(t, (uint32_t)m->routers.n, (uint32_t)nports, (uint32_t)m->nodes.n, m->ngroups);
    file_topo_keep_names(t, d, m);
    file_topo_plug(t, m);
    return file_topo_check_joined(t, m, err);
}

bool topo_file_build(struct topo *t, const char *name, char *text, size_t len, struct wr_err *err)
{
    assert(t->ops == &topo_file && !t->priv && text);
    struct described *d = wr_zalloc(1, sizeof *d);
    struct file_machine m = {0};

    d->text = text;
    d->len = len;
    t->priv = d;
    if (len > FILE_MAX_BYTES)
        return wr_fail(err, WR_INPUT, "%s: larger than %u MiB; describe a smaller machine", name,
                       FILE_MAX_BYTES >> 20);
    bool ok = topo_file_read(&m, name, text, len, err) && file_topo_build_machine(t, d, &m, err);

    topo_file_machine_fini(&m);
    return ok;
}

static bool file_topo_build(struct topo *t, struct wr_err *err)
{
    const struct topo_file_params *p = t->params;
    char *text;
    size_t len;

    return wr_file_read(&text, &len, p->path, FILE_MAX_BYTES, err) &&
           topo_file_build(t, p->path, text, len, err);
}

static void file_topo_fini(struct topo *t)
{
    struct described *d = t->priv;

    if (!d)
        return;
    free(d->text);
    free(d->router);
    free(d->node);
    free(d->class_names);
    free(d);
}

const char *topo_file_text(const struct topo *t, size_t *ret_len)
{
    const struct described *d = t->priv;

    if (t->ops != &topo_file)
        return NULL;
    *ret_len = d->len;
    return d->text;
}

static void file_topo_copy_word(const struct described *d, struct file_word w,
                                char name[TOPO_NAME_MAX])
{
    memcpy(name, d->text + w.at, w.len);
    name[w.len] = '\0';
}

static void file_topo_router_name(const struct topo *t, uint32_t router, char name[TOPO_NAME_MAX])
{
    const struct described *d = t->priv;

    file_topo_copy_word(d, d->router[router], name);
}

static void file_topo_term_name(const struct topo *t, uint32_t term, char name[TOPO_NAME_MAX])
{
    const struct described *d = t->priv;

    file_topo_copy_word(d, d->node[term], name);
}

const struct topo_ops topo_file = {
    .kind = {.name = "file",
             .summary = "any machine, from a text list of routers, nodes and links",
             .rows = rows,
             .params_size = sizeof(struct topo_file_params)},
    .build = file_topo_build,
    .fini = file_topo_fini,
    .router_name = file_topo_router_name,
    .term_name = file_topo_term_name,
};
