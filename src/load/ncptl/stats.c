/* stats.c -- counts the operations of a program, and the bytes between each pair of tasks.
 *
 * Steady loops are executed once and weighted (rank->fold), so the cost does not depend on
 * iteration counts. Called by `weir lang stats`.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "ncptl_tool.h"
#include "prog_priv.h"

static uint32_t stats_cell_of(const struct ncptl_stats *s, uint32_t proc)
{
    uint32_t c = (uint32_t)(proc / s->tasks_per_cell);

    assert(s->ncells && s->tasks_per_cell > 0);
    return c < s->ncells ? c : s->ncells - 1;
}

static void stats_count_event(struct ncptl_stats *s, const struct ncptl_rank *r,
                              const struct ncptl_event *ev, double *sent, double *bytes)
{
    double w = r->weight, size = (double)ev->bytes;

    s->ops[ev->op] += w;
    switch (ev->op) {
    case NCPTL_SEND:
        if (s->messages == 0 || size < s->smallest)
            s->smallest = size;
        s->largest = size > s->largest ? size : s->largest;
        s->messages += w;
        s->bytes += w * size;
        *sent += w;
        *bytes += w * size;
        s->cell[stats_cell_of(s, r->proc)][stats_cell_of(s, ev->peer)] += w * size;
        break;
    case NCPTL_MCAST:
        if (ev->peer == r->proc)
            s->mcast_bytes += w * size * ev->group.n;
        break;
    case NCPTL_REDUCE:
        s->reduce_bytes += w * size;
        break;
    case NCPTL_WRITE:
        s->written += w * size;
        break;
    case NCPTL_READ:
        s->read += w * size;
        break;
    case NCPTL_COMPUTE:
        s->compute_us += w * (double)ev->nsecs / 1e3;
        break;
    case NCPTL_SLEEP:
        s->sleep_us += w * (double)ev->nsecs / 1e3;
        break;
    default:
        break;
    }
}

static bool stats_run_rank(const struct ncptl_prog *p, struct ncptl_rank *r, struct ncptl_stats *s,
                           struct wr_err *err)
{
    double sent = 0, bytes = 0;
    struct ncptl_event ev;
    enum ncptl_op op;

    r->fold = true;
    while ((op = ncptl_next(p, r, &ev)) != NCPTL_END) {
        if (op == NCPTL_FAIL)
            return ncptl_fault(p, r, err);
        stats_count_event(s, r, &ev, &sent, &bytes);
    }
    s->min_sent = !r->proc || sent < s->min_sent ? sent : s->min_sent;
    s->max_sent = sent > s->max_sent ? sent : s->max_sent;
    s->min_bytes = !r->proc || bytes < s->min_bytes ? bytes : s->min_bytes;
    s->max_bytes = bytes > s->max_bytes ? bytes : s->max_bytes;
    return true;
}

bool ncptl_stats(const struct ncptl_prog *p, struct ncptl_stats *ret, struct wr_err *err)
{
    struct ncptl_stats *s = wr_zalloc(1, sizeof *s);
    size_t size = ncptl_rank_size(p);
    char *ranks = wr_alloc(size * p->n);
    bool ok = true;

    assert(p->n);
    s->ncells = p->n < NCPTL_CELLS ? p->n : NCPTL_CELLS;
    s->tasks_per_cell = (double)p->n / s->ncells;
    for (uint32_t i = 0; i < p->n; i++)
        ncptl_rank_init(p, (struct ncptl_rank *)(ranks + i * size), i);
    for (uint32_t i = 0; ok && i < p->n; i++)
        ok = stats_run_rank(p, (struct ncptl_rank *)(ranks + i * size), s, err);
    for (uint32_t i = 0; i < p->n; i++)
        ncptl_rank_fini(p, (struct ncptl_rank *)(ranks + i * size));
    if (ok)
        *ret = *s;
    free(ranks);
    free(s);
    return ok;
}

/* Bytes as shades: each step is a factor of ten below the fullest cell. */
static char stats_shade(double bytes, double most)
{
    static const char shades[] = "@#*+=-:.";

    if (bytes <= 0)
        return ' ';
    double steps = most > bytes ? log10(most / bytes) : 0;
    size_t i = (size_t)steps;
    return shades[i < sizeof shades - 2 ? i : sizeof shades - 2];
}

static void stats_print_matrix(const struct ncptl_stats *s, struct wr_str *out)
{
    double most = 0;

    for (uint32_t i = 0; i < s->ncells; i++)
        for (uint32_t k = 0; k < s->ncells; k++)
            most = s->cell[i][k] > most ? s->cell[i][k] : most;
    if (most <= 0)
        return;
    wr_str_addf(out,
                "\nbytes from (down) to (across), %.4g task(s) per cell; @ is up to %.4g, "
                "each of #*+=-:. ten times less\n",
                s->tasks_per_cell, most);
    for (uint32_t i = 0; i < s->ncells; i++) {
        wr_str_addf(out, "%8.0f |", floor(i * s->tasks_per_cell));
        for (uint32_t k = 0; k < s->ncells; k++)
            wr_str_addf(out, "%c", stats_shade(s->cell[i][k], most));
        wr_str_add(out, "|\n");
    }
}

void ncptl_stats_print(const struct ncptl_prog *p, const struct ncptl_stats *s, struct wr_str *out)
{
    double n = p->n;

    wr_str_addf(out, "tasks            %u\n", p->n);
    wr_str_addf(out, "messages         %.15g\n", s->messages);
    wr_str_addf(out, "bytes            %.15g\n", s->bytes);
    wr_str_addf(out, "message size     %.15g to %.15g bytes\n", s->smallest, s->largest);
    wr_str_addf(out, "sent per task    %.15g to %.15g messages, mean %.6g\n", s->min_sent,
                s->max_sent, s->messages / n);
    wr_str_addf(out, "bytes per task   %.15g to %.15g, mean %.6g\n", s->min_bytes, s->max_bytes,
                s->bytes / n);
    wr_str_addf(out, "multicast bytes  %.15g\nreduced bytes    %.15g\n", s->mcast_bytes,
                s->reduce_bytes);
    wr_str_addf(out, "written, read    %.15g, %.15g bytes\n", s->written, s->read);
    wr_str_addf(out, "compute, sleep   %.15g, %.15g us over all tasks\n", s->compute_us,
                s->sleep_us);
    wr_str_add(out, "operations      ");
    for (int op = NCPTL_SEND; op < NCPTL_NOPS; op++)
        if (s->ops[op] > 0 && op != NCPTL_TIMED_CHECK)
            wr_str_addf(out, " %s %.15g", ncptl_op_name((enum ncptl_op)op), s->ops[op]);
    wr_str_add(out, "\n");
    stats_print_matrix(s, out);
}
