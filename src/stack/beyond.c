/* beyond.c -- whether a test lies outside the conditions that timing models were fitted on, and
 * why.
 *
 * A timing model has a range: the bytes of a call and of a process, the numbers of servers and
 * processes, the access pattern, and the medium. A test outside any of them is extrapolated.
 */
#include <string.h>

#include "stack/timing.h"

static void beyond_add(struct wr_str *out, const char *what)
{
    wr_str_addf(out, "%s%s", out->n ? "; " : "", what);
}

static void beyond_count(struct wr_str *out, const char *what, uint32_t is, uint32_t from,
                         uint32_t to)
{
    if (is >= from && is <= to)
        return;
    wr_str_addf(out, "%s%u %s, fitted on %u", out->n ? "; " : "", is, what, from);
    if (to > from)
        wr_str_addf(out, " to %u", to);
}

static void beyond_bytes(struct wr_str *out, const char *what, uint64_t is, uint64_t from,
                         uint64_t to)
{
    if (!is || !to || (is >= from && is <= to))
        return;
    wr_str_addf(out, "%s%s of %s, fitted on %s", out->n ? "; " : "", wr_text_bytes(is).s, what,
                wr_text_bytes(from).s);
    if (to > from)
        wr_str_addf(out, " to %s", wr_text_bytes(to).s);
}

static void beyond_pattern(struct wr_str *out, const struct stack_timings *l,
                           const struct stack_requested *a)
{
    static const char *const what[] = {"files of their own", "one file for all", "random offsets",
                                       "collective calls"};
    bool asks[] = {!a->one_file, a->one_file, a->random, a->collective};

    for (int i = 0; i < STACK_PATTERNS; i++)
        if (asks[i] && !(l->patterns >> i & 1))
            wr_str_addf(out, "%s%s, not among what was measured", out->n ? "; " : "", what[i]);
}

bool stack_timings_beyond(const struct stack_timings *l, const struct stack_requested *a,
                          struct wr_str *out)
{
    size_t before = out->n;

    if (!stack_timings_measured(l))
        return false;
    bool whole = l->function.n > 0; /* the published models are of whole files */

    if (!whole)
        beyond_bytes(out, "a call", a->call_b, l->from_b, l->to_b);
    if (whole || a->process_b != a->call_b)
        beyond_bytes(out, "a process", a->process_b, l->process_from_b, l->process_to_b);
    beyond_count(out, "servers", a->servers, l->servers_from, l->servers);
    beyond_count(out, "processes", a->clients, l->clients_from, l->clients);
    beyond_pattern(out, l, a);
    if (a->fabric)
        beyond_add(out, "a fabric instead of the medium of the measurement");
    return out->n > before;
}
