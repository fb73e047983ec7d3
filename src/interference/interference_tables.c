/* interference_tables.c -- reads throughputs of jobs alone and in pairs, and predicts the pairs.
 *
 * `weir interfere tables` prints the result. Each job of a pair is predicted from its own
 * throughput alone, by equations of sharing and by the model of stat/share.h.
 */
#include "interference/interference_tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/units.h"
#include "stat/share.h"

const char *const interference_method_names[] = {"equations", "processes", "nodes"};

enum { MODE, STORAGE, RUN, P, Q, APP, NPROC, WINDOW, RATE, TABLE, RATIO, NCOLUMNS };
static const char *const names[NCOLUMNS] = {
    "mode",  "storage",      "run", "p", "q", "app", "nproc", "window", "throughput_mib_s",
    "table", "printed_ratio"};

struct row {
    const char *mode, *storage, *run, *app, *window;
    double p, q, processes, rate;
};

struct rows {
    WR_VEC(struct row) row;
    struct wr_arena *arena;
};

static void pair_tables_add_row(void *ctx, const char *const *text, const double *col)
{
    struct rows *rows = ctx;
    struct row r = {.mode = wr_arena_strdup(rows->arena, text[MODE]),
                    .storage = wr_arena_strdup(rows->arena, text[STORAGE]),
                    .run = wr_arena_strdup(rows->arena, text[RUN]),
                    .app = wr_arena_strdup(rows->arena, text[APP]),
                    .window = wr_arena_strdup(rows->arena, text[WINDOW]),
                    .p = col[P],
                    .q = col[Q],
                    .processes = col[NPROC],
                    .rate = col[RATE]};

    wr_vec_push(&rows->row, r);
}

static bool pair_tables_check_rows(const struct rows *rows, struct wr_err *err)
{
    for (size_t i = 0; i < rows->row.n; i++) {
        const struct row *r = &rows->row.v[i];

        if (!(r->rate >= 1e-9 && r->rate <= 1e15) || !(r->processes >= 1 && r->processes <= 1e9))
            return wr_fail(err, WR_INPUT,
                           "row %zu has no throughput above 0 or no process; correct it", i + 1);
    }
    return true;
}

static bool pair_tables_same_place(const struct row *a, const struct row *b)
{
    return !strcmp(a->mode, b->mode) && !strcmp(a->storage, b->storage) &&
           !strcmp(a->window, b->window);
}

/* The throughput of the same number of processes alone. */
static bool pair_tables_find_alone(double *ret, const struct rows *rows, const struct row *like,
                                   struct wr_err *err)
{
    for (size_t i = 0; i < rows->row.n; i++) {
        const struct row *r = &rows->row.v[i];

        if (!strcmp(r->run, "standalone") && pair_tables_same_place(r, like) &&
            r->processes == like->processes) {
            *ret = r->rate;
            return true;
        }
    }
    return wr_fail(err, WR_INPUT,
                   "no standalone row of mode %s, storage %s has %g processes; add one",
                   wr_text_clip(like->mode).s, wr_text_clip(like->storage).s, like->processes);
}

static const struct row *pair_tables_find_other(const struct rows *rows, const struct row *first)
{
    for (size_t i = 0; i < rows->row.n; i++) {
        const struct row *r = &rows->row.v[i];

        if (!strcmp(r->run, first->run) && pair_tables_same_place(r, first) && r->p == first->p &&
            r->q == first->q && !strcmp(r->app, "Q"))
            return r;
    }
    return NULL;
}

/* The larger job of the equations is the one with more processes. */
static void pair_tables_by_equations(struct interference_seen *a, struct interference_seen *b)
{
    struct interference_seen *l = a->processes > b->processes ? a : b, *s = l == a ? b : a;
    struct stat_share_pair t =
        stat_share_pair_together((struct stat_share_pair){l->alone_s, s->alone_s},
                                 (struct stat_share_pair){l->processes, s->processes});

    l->predicted_s[INTERFERENCE_EQUATIONS] = t.large;
    s->predicted_s[INTERFERENCE_EQUATIONS] = t.small;
}

/* Alone a job shows what it can take at most, and the server what it can give at least. */
static void pair_tables_by_model(struct interference_seen *a, struct interference_seen *b,
                                 double volume, double per_node, enum interference_method m)
{
    double ra = volume / a->alone_s, rb = volume / b->alone_s, capacity = fmax(ra, rb);
    struct stat_share_job jobs[] = {{volume, 0, ceil(a->processes / per_node), ra},
                                    {volume, 0, ceil(b->processes / per_node), rb}};
    struct stat_share_capacity c = {&capacity, 1};
    struct stat_share s;

    stat_share_solve(&s, jobs, 2, &c);
    a->predicted_s[m] = s.runtime[0];
    b->predicted_s[m] = s.runtime[1];
    stat_share_fini(&s);
}

static bool pair_tables_add_pair(struct interference_tables *t, const struct rows *rows,
                                 const struct row *p, double volume, double per_node,
                                 struct wr_err *err)
{
    const struct row *r[2] = {p, pair_tables_find_other(rows, p)};
    struct interference_seen s[2];

    if (!r[1])
        return wr_fail(err, WR_INPUT,
                       "the pair %g and %g of mode %s has a job P and no job Q; add its row", p->p,
                       p->q, wr_text_clip(p->mode).s);
    for (int i = 0; i < 2; i++) {
        double alone;

        if (!pair_tables_find_alone(&alone, rows, r[i], err))
            return false;
        s[i] = (struct interference_seen){.mode = p->mode,
                                          .storage = p->storage,
                                          .p = p->p,
                                          .q = p->q,
                                          .processes = r[i]->processes,
                                          .alone_s = volume / alone,
                                          .seen_s = volume / r[i]->rate};
    }
    pair_tables_by_equations(&s[0], &s[1]);
    pair_tables_by_model(&s[0], &s[1], volume, 1, INTERFERENCE_BY_PROCESSES);
    pair_tables_by_model(&s[0], &s[1], volume, per_node, INTERFERENCE_BY_NODES);
    wr_vec_push(&t->seen, s[0]);
    wr_vec_push(&t->seen, s[1]);
    return true;
}

static bool pair_tables_add_pairs(struct interference_tables *t, const struct rows *rows,
                                  double volume, double per_node, struct wr_err *err)
{
    if (!pair_tables_check_rows(rows, err))
        return false;
    for (size_t i = 0; i < rows->row.n; i++) {
        const struct row *r = &rows->row.v[i];

        if (!strcmp(r->run, "concurrent") && !strcmp(r->window, "overall") &&
            !strcmp(r->app, "P") && !pair_tables_add_pair(t, rows, r, volume, per_node, err))
            return false;
    }
    return t->seen.n || wr_fail(err, WR_INPUT,
                                "there is no pair; add rows with run=concurrent, window=overall "
                                "and the jobs P and Q");
}

bool interference_tables_read(struct interference_tables *ret, const char *path, double volume_mib,
                              double per_node, struct wr_err *err)
{
    struct interference_tables t = {0};
    struct rows rows = {.arena = &t.arena};
    struct wr_csv_shape shape = {.names = names,
                                 .n = NCOLUMNS,
                                 .needed = TABLE,
                                 .row = pair_tables_add_row,
                                 .texts = 1u << MODE | 1u << STORAGE | 1u << RUN | 1u << APP |
                                          1u << WINDOW | 1u << RATIO};
    bool ok = wr_csv_read(&shape, path, &rows, err);

    if (ok && !pair_tables_add_pairs(&t, &rows, volume_mib, per_node, err))
        ok = wr_wrap(err, "%s", path);
    wr_vec_fini(&rows.row);
    if (!ok) {
        interference_tables_fini(&t);
        return false;
    }
    *ret = t;
    return true;
}

void interference_tables_fini(struct interference_tables *t)
{
    wr_vec_fini(&t->seen);
    wr_arena_fini(&t->arena);
}

double interference_error(const struct interference_seen *s, enum interference_method m)
{
    return s->predicted_s[m] / s->seen_s - 1;
}
