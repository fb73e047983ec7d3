/* prof_make.h -- a small profile in memory, as the library would have written it. */
#ifndef PROF_MAKE_H
#define PROF_MAKE_H

#include <stdlib.h>
#include <string.h>

#include "prof/form/form.h"

enum {
    MAKE_NAMES = 8,
    MAKE_SLOTS = 2,
    MAKE_LOG = 16,
    MAKE_CHILDREN = 4,
    MAKE_MOUNT = PROF_ROW_FIRST
};

struct make {
    char *bytes;
    size_t len;
    struct prof_head *head;
    struct prof_name *name;
    struct prof_rec *log;
};

static struct prof_slot *make_slot(struct make *m, uint32_t i)
{
    return (struct prof_slot *)(void *)(m->bytes + m->head->slots_at + i * m->head->slot_b);
}

/* Slices of a second, started at second 100 of the epoch, one mount "/data", one thread. */
static struct make make_profile(uint32_t pid)
{
    struct prof_head h = {.version = PROF_VERSION,
                          .order = PROF_ORDER,
                          .clock = PROF_PRECISE,
                          .names_max = MAKE_NAMES,
                          .slots_max = MAKE_SLOTS,
                          .log_max = MAKE_LOG,
                          .children_max = MAKE_CHILDREN,
                          .slice_ns = 1000000000,
                          .real_ns = 100500000000,
                          .mono_ns = 500000000,
                          .start_ns = 100500000000,
                          .end_ns = 105000000000,
                          .pid = pid,
                          .pid_start = pid,
                          .rank = -1,
                          .nranks = -1,
                          .state = PROF_ENDED,
                          .names_n = MAKE_MOUNT + 1,
                          .slots_n = 1,
                          .host = "here",
                          .job = "job",
                          .exe = "/bin/app"};
    struct make m = {0};

    memcpy(h.magic, PROF_MAGIC, sizeof h.magic);
    prof_lay_out(&h);
    m.len = prof_file_b(&h);
    m.bytes = calloc(1, m.len);
    m.head = (struct prof_head *)(void *)m.bytes;
    *m.head = h;
    m.name = (struct prof_name *)(void *)(m.bytes + h.names_at);
    m.log = (struct prof_rec *)(void *)(m.bytes + h.log_at);
    for (uint32_t i = 0; i < PROF_ROW_COUNTERS; i++)
        m.name[i].kind = i + 1;
    m.name[PROF_ROW_COUNTERS].kind = PROF_K_COUNTERS;
    m.name[MAKE_MOUNT].kind = PROF_K_MOUNT;
    memcpy(m.name[MAKE_MOUNT].path, "/data", 6);
    m.name[MAKE_MOUNT].mount = MAKE_MOUNT;
    make_slot(&m, 0)->tid = pid;
    return m;
}

/* A child that ended at `end_ms` with so many bytes written, counted by the kernel. */
__attribute__((unused)) static void make_child(struct make *m, uint32_t pid, int64_t end_ms,
                                               uint64_t bytes)
{
    struct prof_child *c =
        (struct prof_child *)(void *)(m->bytes + m->head->children_at) + m->head->children_n++;

    *c = (struct prof_child){.ready = 1,
                             .pid = pid,
                             .pid_start = pid,
                             .start_ns = (end_ms - 100) * 1000000,
                             .end_ns = end_ms * 1000000,
                             .io = {.wchar = bytes, .syscw = 1},
                             .comm = "child"};
}

/* From..to (milliseconds of the epoch) the mount's row grew by so many bytes written in one call.
 */
__attribute__((unused)) static void make_record(struct make *m, int64_t from_ms, int64_t to_ms,
                                                uint64_t bytes)
{
    struct prof_row *row = &prof_rows(make_slot(m, 0), MAKE_NAMES)[MAKE_MOUNT];
    struct prof_rec *r = &m->log[m->head->log_n++];

    row->word[PROF_BYTES + PROF_WRITE] += bytes;
    row->word[PROF_CALLS + PROF_WRITE]++;
    r->row = MAKE_MOUNT;
    r->from_ns = from_ms * 1000000;
    r->to_ns = to_ms * 1000000;
    memcpy(r->word, row->word, sizeof r->word);
    r->ready = 1;
}

#endif
