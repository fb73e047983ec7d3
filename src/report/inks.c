/* inks.c -- a job or a cause has one colour in the whole document.
 *
 * Names that stand in several figures take the colours in the order in which they come; what only
 * one figure has takes those that are left there.
 */
#include <stdlib.h>
#include <string.h>

#include "doc_priv.h"
#include "svg_priv.h"

enum {
    MOST_INKS = 64, /* a figure with more names has colours of its own */
    MOST_INK_NAMES = 1024,
};

/* A name that several figures have, in the order in which they come. */
struct ink_name {
    const char *name;
    size_t figures, last; /* in how many; the last of them, from 1 */
};

struct inking {
    WR_VEC(struct ink_name) v;
    size_t figure;
};

static void count_name(void *ctx, const char *name)
{
    struct inking *k = ctx;
    size_t i = 0;

    while (i < k->v.n && strcmp(k->v.v[i].name, name) != 0)
        i++;
    if (i == MOST_INK_NAMES)
        return;
    if (i == k->v.n)
        wr_vec_push(&k->v, (struct ink_name){.name = name});
    k->v.v[i].figures += k->v.v[i].last != k->figure;
    k->v.v[i].last = k->figure;
}

/* Those that are in most figures, at most as many as there are colours; their order stays. */
static void keep_shared(struct inking *k)
{
    size_t least = 2, n;

    do {
        n = 0;
        for (size_t i = 0; i < k->v.n; i++)
            n += k->v.v[i].figures >= least;
    } while (n > SVG_AREAS && least++);
    n = 0;
    for (size_t i = 0; i < k->v.n; i++)
        if (k->v.v[i].figures >= least)
            k->v.v[n++] = k->v.v[i];
    k->v.n = n;
}

struct ink_figure {
    struct report_ink ink[MOST_INKS];
    size_t n;
};

static void list_name(void *ctx, const char *name)
{
    struct ink_figure *f = ctx;

    for (size_t i = 0; i < f->n; i++)
        if (!strcmp(f->ink[i].name, name))
            return;
    if (f->n < MOST_INKS)
        f->ink[f->n++] = (struct report_ink){name, UINT32_MAX};
}

/* Names that other figures have, too, take their colours; the others those that are left. */
static void ink_figure(struct report_doc *d, const struct inking *k, struct report_figure *fig)
{
    struct ink_figure f = {.n = 0};
    bool taken[MOST_INKS + SVG_AREAS] = {false};
    uint32_t next = 0;

    report_figure_names(fig, list_name, &f);
    for (size_t i = 0; i < f.n; i++)
        for (size_t j = 0; j < k->v.n; j++)
            if (!strcmp(f.ink[i].name, k->v.v[j].name)) {
                f.ink[i].k = (uint32_t)j;
                taken[j] = true;
            }
    for (size_t i = 0; i < f.n; i++)
        if (f.ink[i].k == UINT32_MAX) {
            while (taken[next])
                next++;
            f.ink[i].k = next++;
        }
    if (!f.n || f.n == MOST_INKS)
        return;
    struct report_ink *ink = wr_arena_alloc(&d->arena, f.n * sizeof *ink);

    memcpy(ink, f.ink, f.n * sizeof *ink);
    fig->ink = ink;
    fig->ninks = f.n;
}

void doc_choose_inks(struct report_doc *d)
{
    struct inking k = {0};

    for (size_t i = 0; i < d->section.n; i++)
        for (size_t j = 0; j < d->section.v[i].figure.n; j++) {
            k.figure++;
            report_figure_names(&d->section.v[i].figure.v[j], count_name, &k);
        }
    keep_shared(&k);
    for (size_t i = 0; i < d->section.n; i++)
        for (size_t j = 0; j < d->section.v[i].figure.n; j++)
            ink_figure(d, &k, &d->section.v[i].figure.v[j]);
    wr_vec_fini(&k.v);
}
