/* ink_doc.c -- gives the figures of a document their colours, once all sections are there.
 *
 * A name has one colour throughout a document. doc.c calls doc_choose_inks() after the last maker.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "doc_priv.h"
#include "report/ink.h"

enum { MOST_NAMES = 1024 }; /* a document with more has colours by figure */

struct inking {
    WR_VEC(const char *) name;
    WR_VEC(size_t) id; /* names of the figures, one figure after the other */
    WR_VEC(size_t) of; /* where each figure's begin in it, and where the last ends */
};

static void ink_doc_take(void *ctx, const char *name)
{
    struct inking *k = ctx;
    size_t i = 0;

    while (i < k->name.n && strcmp(k->name.v[i], name) != 0)
        i++;
    if (i == MOST_NAMES)
        return;
    if (i == k->name.n)
        wr_vec_push(&k->name, name);
    for (size_t j = k->of.v[k->of.n - 1]; j < k->id.n; j++)
        if (k->id.v[j] == i)
            return;
    wr_vec_push(&k->id, i);
}

static void ink_doc_give(struct report_doc *d, const struct inking *k, size_t figure,
                         const uint32_t *colour, struct report_figure *f)
{
    size_t begin = k->of.v[figure], n = k->of.v[figure + 1] - begin;
    struct report_ink *ink = wr_arena_alloc(&d->arena, (n + 1) * sizeof *ink);

    for (size_t i = 0; i < n; i++)
        ink[i] = (struct report_ink){k->name.v[k->id.v[begin + i]], colour[k->id.v[begin + i]]};
    f->ink = ink;
    f->ninks = n;
}

void doc_choose_inks(struct report_doc *d)
{
    struct inking k = {0};
    size_t figure = 0;

    wr_vec_push(&k.of, 0);
    for (size_t i = 0; i < d->section.n; i++)
        for (size_t j = 0; j < d->section.v[i].figure.n; j++) {
            report_figure_names(&d->section.v[i].figure.v[j], ink_doc_take, &k);
            wr_vec_push(&k.of, k.id.n);
        }
    uint32_t *colour = wr_zalloc(k.name.n + 1, sizeof *colour);

    palette_choose(&(struct palette_figures){k.name.v, k.name.n, k.id.v, k.of.v, k.of.n - 1},
                   colour);
    for (size_t i = 0; i < d->section.n; i++)
        for (size_t j = 0; j < d->section.v[i].figure.n; j++)
            ink_doc_give(d, &k, figure++, colour, &d->section.v[i].figure.v[j]);
    free(colour);
    wr_vec_fini(&k.name);
    wr_vec_fini(&k.id);
    wr_vec_fini(&k.of);
}
