/* seen.c -- what a client saw, as JSON. */
#include <string.h>

#include "rpc/worker.h"

static const struct {
    const char *name;
    size_t offset;
} counts[] = {
#define COUNT(field)                             \
    {                                            \
#field, offsetof(struct rpc_seen, field) \
    }
    COUNT(calls),      COUNT(bytes),      COUNT(failed),          COUNT(bad_data),
    COUNT(unanswered), COUNT(elapsed_ns), COUNT(cpu_ns),          COUNT(user_ns),
    COUNT(sys_ns),     COUNT(switches),   COUNT(forced_switches), COUNT(late_ns),
#undef COUNT
};
enum { COUNTS = sizeof counts / sizeof *counts };

json_t *rpc_seen_json(const struct rpc_seen *s)
{
    json_t *j = json_object(), *cells = json_array(), *slices = json_array();

    for (size_t i = 0; i < COUNTS; i++)
        json_object_set_new(
            j, counts[i].name,
            json_integer((json_int_t) *
                         (const uint64_t *)(const void *)((const char *)s + counts[i].offset)));
    json_object_set_new(j, "server_gone", json_boolean(s->server_gone));
    json_object_set_new(j, "stopped", json_boolean(s->stopped));
    json_object_set_new(j, "min", json_integer((json_int_t)s->latency_ps.min));
    json_object_set_new(j, "max", json_integer((json_int_t)s->latency_ps.max));
    json_object_set_new(j, "sum", json_real((double)s->latency_ps.sum));
    for (uint32_t i = 0; i < WR_HIST_CELLS; i++)
        if (s->latency_ps.cell[i]) {
            json_array_append_new(cells, json_integer(i));
            json_array_append_new(cells, json_integer((json_int_t)s->latency_ps.cell[i]));
        }
    json_object_set_new(j, "cells", cells);
    for (uint32_t i = 0; i < s->nslices; i++)
        json_array_append_new(slices, json_integer(s->slice_calls[i]));
    json_object_set_new(j, "slices", slices);
    return j;
}

static bool seen_take_cells(struct wr_hist *h, const json_t *cells)
{
    size_t n = json_array_size(cells);

    for (size_t i = 0; i + 1 < n; i += 2) {
        json_int_t cell = json_integer_value(json_array_get(cells, i));
        json_int_t count = json_integer_value(json_array_get(cells, i + 1));

        if (cell < 0 || cell >= WR_HIST_CELLS || count < 0)
            return false;
        h->cell[cell] += (uint64_t)count;
        h->n += (uint64_t)count;
    }
    return n % 2 == 0;
}

bool rpc_seen_parse(struct rpc_seen *ret, const json_t *j)
{
    const json_t *slices = json_object_get(j, "slices");

    memset(ret, 0, sizeof *ret);
    for (size_t i = 0; i < COUNTS; i++) {
        const json_t *v = json_object_get(j, counts[i].name);

        if (!json_is_integer(v) || json_integer_value(v) < 0)
            return false;
        *(uint64_t *)(void *)((char *)ret + counts[i].offset) = (uint64_t)json_integer_value(v);
    }
    ret->server_gone = json_is_true(json_object_get(j, "server_gone"));
    ret->stopped = json_is_true(json_object_get(j, "stopped"));
    ret->latency_ps.min = (uint64_t)json_integer_value(json_object_get(j, "min"));
    ret->latency_ps.max = (uint64_t)json_integer_value(json_object_get(j, "max"));
    double sum = json_number_value(json_object_get(j, "sum"));

    if (!(sum >= 0 && sum < 0x1p100))
        return false;
    ret->latency_ps.sum = (unsigned __int128)sum;
    size_t n = json_array_size(slices);

    ret->nslices = n < RPC_SLICES ? (uint32_t)n : RPC_SLICES;
    for (uint32_t i = 0; i < ret->nslices; i++)
        ret->slice_calls[i] = (uint32_t)json_integer_value(json_array_get(slices, i));
    return seen_take_cells(&ret->latency_ps, json_object_get(j, "cells"));
}
