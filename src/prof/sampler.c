/* sampler.c -- samples the profiles of running processes and writes their slices.
 *
 *   prof_sampler_look
 *     sampler_add_new           maps profiles that appeared in the directory (inotify)
 *     sampler_sample_all        adds time to the rows of calls in flight; at an edge of a slice
 *                               writes a record for every row that changed
 *     sampler_finalise_ended    last records of processes that ended; their profiles are archived
 *     sampler_search_family     four times a slice, at least every 100 ms: descendants without a
 *                               profile get one from the kernel's counters
 *
 * Owns the mappings of all profiles of the job and the shared profile. The processes store to the
 * same memory: a slot's counters are read with relaxed atomics and never written here, except times
 * in the sampled clock and the row of hardware counters.
 *
 * Invariants: a target with `gone` set has no mapping; edge_ns of a target only grows; everything
 * counted before edge_ns is in the target's log.
 */
#include "prof/sampler.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "blank.h"
#include "kernel.h"
#include "prof/counters.h"
#include "prof/form/form.h"
#include "prof/trail.h"
#include "prof_collect.h"

enum {
    LOOK_NS = 10000000,    /* between samples */
    FAMILY_NS = 100000000, /* between searches of all processes, */
    SEARCH_PART = 20,      /* and of new ones, at least so many times what a search takes */
    SETTLE_NS = 100000000, /* after which a process without library and profile is unprofiled */
    AGAIN_NS = 2000000000, /* between two readings of the mappings of one that has the library */
    FAMILY = 4096,         /* processes of a job that one search finds, at most */
    LOG_FIRST = 25,        /* records for which blocks are allocated at a time: a page, */
    LOG_STEP = 400,        /* then 64 KiB */
    STEP_NS = 5000000,     /* a larger difference to the wall clock means that it was set */
};

/* A call in flight as of the last sample. Changes with every sample. */
struct seen {
    uint64_t in_flight;        /* as in prof_slot; 0: none */
    uint64_t calls;            /* of its row: a new value means another call */
    uint64_t want;             /* bytes requested */
    uint32_t source;           /* row + 1 of the descriptor that its bytes come from; 0: none */
    uint32_t path;             /* row + 1 of its call path; 0: none */
    int64_t first_ns, last_ns; /* samples that saw it */
    bool at_edge;              /* it was in flight when the last slice ended */
};

/* What the sampler keeps for one thread slot. */
struct slot_state {
    struct prof_row *last; /* rows as last logged; NULL: never */
    struct seen call, mpi; /* of the storage; of MPI */
    int events;            /* handle of the hardware counters when COUNTED */
    enum { NOT_YET, COUNTED, CANNOT } counting;
};

/* One profile. The first group is set by sampler_add_target; the second changes with samples. */
struct target {
    char *path, *map;
    struct prof_head *head;   /* in the mapping */
    uint64_t size, log_ready; /* of the mapping; records with allocated blocks */
    uint32_t pid, names_max, slots_max, log_max;
    uint64_t slots_at, slot_b, log_at, pid_start;
    int64_t edge_ns;    /* everything before is in the log */
    int64_t counted_ns; /* the same for hardware counters, when the process writes its own log */
    int fd;             /* of the profile */
    struct slot_state *slot; /* [nslots]: slots claimed at the last sample */
    uint32_t nslots;
    struct prof_io base; /* unprofiled: counters that belong to an earlier profile */
    int strange;         /* searches in a row that found another executable than the profile's */
    int64_t read_ns;     /* unprofiled: when its counters were read last */
    struct prof_trail trail; /* since it executed another program */
    bool kernel;             /* unprofiled: counted by the kernel */
    bool gone;               /* dropped; no mapping */
    bool met;                /* it was seen running, so its end is certain when it is gone */
};

/* A profile whose process is gone but that another process still has mapped. */
struct held {
    char *path;
    uint64_t first_b; /* bytes of it that the shared profile counts in used_b */
    bool sure;        /* the process was seen running, so its end is certain */
};

/* A process that has or had a profile. */
struct known {
    uint32_t pid;
    uint64_t start; /* as in /proc/PID/stat: pids are reused */
};

/* A process that had no profile at the last search. */
struct unprofiled {
    pid_t pid;
    int64_t settle_ns; /* when its mappings are to be read; 0: it is new */
    struct prof_trail trail;
};

/* A program that ended before it was known to be unprofiled. */
struct ended {
    struct prof_trail trail;
    struct prof_io base;
    int64_t from_ns;
};

/* dir to notify: set by prof_sampler_open. last_ns, edge_ns, family_ns and the lists change with
 * samples. */
struct prof_sampler {
    char *dir, *job;   /* of the profiles; its name, or NULL */
    char host[64];     /* this machine */
    uint64_t slice_ns; /* the first one, if adaptive */
    bool adaptive;
    int64_t job_ns;                      /* start of the job */
    int64_t last_ns, edge_ns, family_ns; /* last sample, last edge, last search of all */
    int64_t search_ns, search_cost_ns;   /* last search, and how long it took */
    uint64_t newest;                     /* number of the newest process, at the last search */
    int64_t offset_ns;                   /* wall clock minus CLOCK_MONOTONIC, at the start */
    int notify, loadavg;                 /* inotify of `dir`; /proc/loadavg */
    struct prof_head *shared;     /* the shared profile, mapped; NULL: it could not be made */
    struct prof_collect *collect; /* packs profiles of ended processes */
    WR_VEC(struct held) held;
    struct prof_counters *counters;       /* hardware counters; NULL: none */
    WR_VEC(struct target) targets;        /* profiles that are sampled */
    WR_VEC(struct known) known;           /* not unprofiled, also after their end */
    WR_VEC(struct unprofiled) unprofiled; /* as of the last search */
    WR_VEC(struct ended) ended;           /* programs to make profiles for */
};

static int64_t sampler_clock(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The wall clock is read between two readings of the monotonic clock; their mean is its time. */
static int64_t sampler_offset(void)
{
    int64_t before = sampler_clock(CLOCK_MONOTONIC), wall = sampler_clock(CLOCK_REALTIME);

    return wall - before - (sampler_clock(CLOCK_MONOTONIC) - before) / 2;
}

int64_t prof_sampler_now(const struct prof_sampler *s)
{
    return sampler_clock(CLOCK_MONOTONIC) + s->offset_ns;
}

static int64_t sampler_slice(const struct prof_sampler *s, int64_t now)
{
    return (int64_t)(s->adaptive ? prof_slice_at(now - s->job_ns) : s->slice_ns);
}

static int64_t sampler_look_ns(const struct prof_sampler *s, int64_t now)
{
    int64_t quarter = sampler_slice(s, now) / 4;

    return quarter < LOOK_NS ? quarter : LOOK_NS;
}

static struct prof_slot *sampler_slot(const struct target *t, uint32_t i)
{
    assert(!t->gone && i < t->slots_max);
    return (struct prof_slot *)(t->map + t->slots_at + i * t->slot_b);
}

static bool sampler_is_ours(const struct prof_head *h, uint64_t size)
{
    return !memcmp(h->magic, PROF_MAGIC, sizeof h->magic) && h->version == PROF_VERSION &&
           h->order == PROF_ORDER && h->names_max >= PROF_ROW_FIRST &&
           h->names_max <= PROF_NAMES_MOST && h->slots_max <= PROF_SLOTS &&
           h->slot_b == prof_slot_b(h->names_max) &&
           h->log_at >= h->slots_at + h->slots_max * h->slot_b && h->log_max <= PROF_LOG &&
           h->log_at + h->log_max * sizeof(struct prof_rec) <= size;
}

static void sampler_drop_target(struct prof_sampler *s, struct target *t)
{
    assert(!t->gone && t->map && t->fd >= 0);
    for (uint32_t i = 0; i < t->nslots; i++) {
        if (t->slot[i].counting == COUNTED)
            prof_counters_detach(s->counters, t->slot[i].events);
        free(t->slot[i].last);
    }
    free(t->slot);
    prof_trail_fini(&t->trail);
    if (t->head == s->shared)
        s->shared = NULL;
    munmap(t->map, t->size);
    close(t->fd);
    free(t->path);
    t->path = t->map = NULL;
    t->gone = true;
}

/* Archives a profile and returns its bytes to the job's capacity. */
static enum prof_collected sampler_collect(struct prof_sampler *s, const struct held *h)
{
    enum prof_collected got = prof_collect(s->collect, h->path, h->sure);

    if (got == PROF_COLLECTED && s->shared)
        __atomic_fetch_sub(&s->shared->used_b, h->first_b, __ATOMIC_RELAXED);
    return got;
}

static void sampler_collect_held(struct prof_sampler *s)
{
    size_t kept = 0;

    for (size_t i = 0; i < s->held.n; i++) {
        if (sampler_collect(s, &s->held.v[i]) == PROF_IN_USE)
            s->held.v[kept++] = s->held.v[i];
        else
            free(s->held.v[i].path);
    }
    s->held.n = kept;
}

static void sampler_unprofiled_path(const struct prof_sampler *s, uint32_t pid, char path[4096])
{
    snprintf(path, 4096, "%s/.%s-%u-kernel%s", s->dir, s->host, pid, PROF_ENDING);
}

static void sampler_finalise(struct prof_sampler *s, struct target *t, int64_t now);

/* Names of the hardware counters, for readers. */
static void sampler_name_counters(const struct prof_sampler *s, struct prof_head *h)
{
    for (size_t i = 0; s->counters && i < prof_counters_n(s->counters); i++) {
        snprintf(h->counter[i], sizeof h->counter[i], "%s", prof_counters_name(s->counters, i));
        h->counters = (uint32_t)i + 1;
    }
}

/* An unprofiled process got a profile of its own. If it had only loaded its program before, its own
 * profile covers its life and the kernel's is dropped; otherwise the kernel's ends where the
 * library was ready. */
static void sampler_drop_unprofiled(struct prof_sampler *s, const struct prof_head *own)
{
    uint64_t loading = UINT64_C(4096) * (own->objects + 8);
    char path[4096];

    for (size_t i = 0; i < s->targets.n; i++) {
        struct target *t = &s->targets.v[i];

        if (t->gone || !t->kernel || t->pid != own->pid)
            continue;
        if (own->io_start.rchar > t->base.rchar + loading || own->io_start.wchar > t->base.wchar) {
            sampler_finalise(s, t, own->start_ns);
            continue;
        }
        sampler_drop_target(s, t);
        sampler_unprofiled_path(s, own->pid, path);
        unlink(path);
    }
}

/* A process that executed another program got a profile for that, too. */
static void sampler_drop_trails(struct prof_sampler *s, uint32_t pid)
{
    for (size_t i = 0; i < s->targets.n; i++)
        if (s->targets.v[i].pid == pid && !s->targets.v[i].gone)
            prof_trail_fini(&s->targets.v[i].trail);
}

static void sampler_add_target(struct prof_sampler *s, const char *path)
{
    struct target t = {.fd = open(path, O_RDWR | O_CLOEXEC)};
    struct stat st;

    if (t.fd < 0)
        return;
    t.size = fstat(t.fd, &st) || st.st_size < PROF_HEAD_B ? 0 : (uint64_t)st.st_size;
    void *map =
        t.size ? mmap(NULL, t.size, PROT_READ | PROT_WRITE, MAP_SHARED, t.fd, 0) : MAP_FAILED;

    /* A profile of another job in the same directory has its own sampler. */
    if (map == MAP_FAILED || !sampler_is_ours(map, t.size) ||
        ((struct prof_head *)map)->launcher != (uint32_t)getpid()) {
        if (map != MAP_FAILED)
            munmap(map, t.size);
        close(t.fd);
        return;
    }
    madvise(map, t.size, MADV_RANDOM); /* no read-ahead: the file is sparse */
    t.map = map;
    t.head = map;
    t.pid = t.head->pid;
    t.pid_start = t.head->pid_start;
    t.names_max = t.head->names_max;
    t.slots_max = t.head->slots_max;
    t.slots_at = t.head->slots_at;
    t.slot_b = t.head->slot_b;
    t.log_at = t.head->log_at;
    t.log_max = t.head->log_max;
    t.kernel = t.head->clock == PROF_KERNEL;
    if (!t.kernel) {
        sampler_drop_unprofiled(s, t.head);
        sampler_drop_trails(s, t.pid);
    }
    if (t.kernel)
        t.edge_ns = t.head->start_ns; /* what it did before it was found is spread over its life */
    else
        t.edge_ns = t.head->start_ns - t.head->start_ns % sampler_slice(s, t.head->start_ns);
    t.counted_ns = t.edge_ns;
    sampler_name_counters(s, t.head);
    t.path = wr_strdup(path);
    t.met = t.kernel || prof_kernel_life((pid_t)t.pid, t.pid_start) != PROF_GONE;
    wr_vec_push(&s->known, (struct known){t.pid, t.pid_start});
    wr_vec_push(&s->targets, t);
}

static bool sampler_is_profile(const char *name)
{
    size_t n = strlen(name), e = strlen(PROF_ENDING);

    return *name != '.' && n > e && !strcmp(name + n - e, PROF_ENDING);
}

/* Profiles that appeared since the last sample. */
static void sampler_add_new(struct prof_sampler *s)
{
    union {
        char bytes[16384];
        struct inotify_event align;
    } b;
    ssize_t n;

    while ((n = read(s->notify, b.bytes, sizeof b.bytes)) > 0)
        for (char *at = b.bytes; at < b.bytes + n;) {
            const struct inotify_event *e = (const struct inotify_event *)at;
            char path[4096];

            at += sizeof *e + e->len;
            if (!e->len || !sampler_is_profile(e->name))
                continue;
            snprintf(path, sizeof path, "%s/%s", s->dir, e->name);
            sampler_add_target(s, path);
        }
}

static struct prof_rec *sampler_claim_record(struct target *t)
{
    uint64_t i = __atomic_fetch_add(&t->head->log_n, 1, __ATOMIC_RELAXED);

    if (i >= t->log_ready && i < t->log_max) {
        uint64_t step = i < LOG_STEP ? LOG_FIRST : LOG_STEP;
        uint64_t to = i + step < t->log_max ? i + step : t->log_max;

        if (!posix_fallocate(t->fd, (off_t)(t->log_at + t->log_ready * sizeof(struct prof_rec)),
                             (off_t)((to - t->log_ready) * sizeof(struct prof_rec))))
            t->log_ready = to;
    }
    if (i >= t->log_ready) {
        __atomic_fetch_add(&t->head->dropped_recs, 1, __ATOMIC_RELAXED);
        return NULL;
    }
    return (struct prof_rec *)(t->map + t->log_at) + i;
}

static void sampler_put_record(struct target *t, uint32_t slot, uint32_t row, int64_t from,
                               int64_t to, uint64_t calls_in_flight, const uint64_t *word)
{
    assert(slot < t->slots_max && row < t->names_max);
    struct prof_rec *r = sampler_claim_record(t);

    if (!r)
        return;
    r->slot = (uint16_t)slot;
    r->row = (uint16_t)row;
    r->from_ns = from;
    r->to_ns = to > from ? to : from + 1;
    r->calls_in_flight = calls_in_flight;
    memcpy(r->word, word, sizeof r->word);
    __atomic_store_n(&r->ready, 1, __ATOMIC_RELEASE);
}

static void sampler_copy_words(uint64_t *to, const struct prof_row *from)
{
    for (int i = 0; i < PROF_WORDS_N; i++)
        to[i] = __atomic_load_n(&from->word[i], __ATOMIC_RELAXED);
}

/* Logs the bytes of one long call over the time in which it was seen. */
static void sampler_put_spread(struct target *t, uint32_t slot, uint32_t row, enum prof_op op,
                               const struct seen *c)
{
    assert(row < t->names_max && op <= PROF_WRITE);
    assert(t->slot[slot].last);
    uint64_t *last = t->slot[slot].last[row].word;
    const struct prof_row *now = &prof_rows(sampler_slot(t, slot), t->names_max)[row];
    uint64_t moved = __atomic_load_n(&now->word[PROF_BYTES + op], __ATOMIC_RELAXED);

    moved -= last[PROF_BYTES + op];
    if (now->word[PROF_CALLS + op] <= last[PROF_CALLS + op])
        return;
    last[PROF_BYTES + op] += moved < c->want ? moved : c->want;
    last[PROF_CALLS + op]++;
    sampler_put_record(t, slot, row, c->first_ns, c->last_ns, 0, last);
}

/* A call that spanned an edge has ended: its bytes were moved during the whole time in which it was
 * seen, not at its end. */
static void sampler_end_long_call(struct target *t, uint32_t slot)
{
    assert(slot < t->nslots && t->slot[slot].call.at_edge);
    struct seen *c = &t->slot[slot].call;
    uint32_t row = (uint32_t)(c->in_flight >> 8), op = (uint32_t)(c->in_flight & 255) - 1;

    c->at_edge = false;
    if (op > PROF_WRITE)
        return;
    sampler_put_spread(t, slot, row, op, c);
    if (c->source && c->source <= t->names_max)
        sampler_put_spread(t, slot, c->source - 1, PROF_READ, c);
    if (c->path)
        sampler_put_spread(t, slot, c->path - 1, op, c);
}

/* The number of claimed slots; grows t->slot to it. */
static uint32_t sampler_slots(struct target *t)
{
    uint32_t n = t->head->slots_n < t->slots_max ? t->head->slots_n : t->slots_max;

    if (n <= t->nslots)
        return t->nslots;
    t->slot = wr_realloc(t->slot, n, sizeof *t->slot);
    memset(t->slot + t->nslots, 0, (n - t->nslots) * sizeof *t->slot);
    t->nslots = n;
    return n;
}

/* Starts hardware counters of new threads. */
static void sampler_attach_counters(struct prof_sampler *s, struct target *t)
{
    uint32_t n = sampler_slots(t);

    for (uint32_t i = 0; i < n; i++) {
        struct slot_state *state = &t->slot[i];
        uint32_t tid =
            state->counting ? 0 : __atomic_load_n(&sampler_slot(t, i)->tid, __ATOMIC_ACQUIRE);

        if (tid)
            state->counting =
                prof_counters_attach(s->counters, tid, &state->events) ? COUNTED : CANNOT;
    }
}

/* Stores the hardware counters in their row; logs them when the process writes its own log. */
static void sampler_read_counters(struct prof_sampler *s, struct target *t, int64_t to)
{
    bool logs = t->head->clock == PROF_SAMPLED || t->kernel;

    for (uint32_t i = 0; s->counters && i < t->nslots; i++) {
        uint64_t *word = prof_rows(sampler_slot(t, i), t->names_max)[PROF_ROW_COUNTERS].word;
        uint64_t value[PROF_COUNTERS] = {0};

        if (t->slot[i].counting != COUNTED ||
            !prof_counters_read(s->counters, t->slot[i].events, value) ||
            !memcmp(word, value, sizeof value))
            continue;
        memcpy(word, value, sizeof value);
        if (!logs)
            sampler_put_record(t, i, PROF_ROW_COUNTERS, t->counted_ns, to, 0, word);
    }
    t->counted_ns = to;
}

static void sampler_log_slot(struct target *t, uint32_t i, int64_t to)
{
    assert(i < t->nslots);
    struct prof_slot *slot = sampler_slot(t, i);
    struct slot_state *state = &t->slot[i];
    struct prof_row *rows = prof_rows(slot, t->names_max);
    uint32_t n = t->head->names_n < t->names_max ? t->head->names_n : t->names_max;
    uint64_t under_way =
        state->call.in_flight && state->call.last_ns >= to ? state->call.in_flight : 0;

    if (!state->last)
        state->last = wr_zalloc(t->names_max, sizeof *state->last);
    if (state->call.at_edge && !under_way)
        sampler_end_long_call(t, i);
    for (uint32_t row = 0; row < n; row++) {
        uint64_t now[PROF_WORDS_N], *last = state->last[row].word;
        uint64_t calls_in_flight =
            under_way && (under_way >> 8 == row || state->call.path == row + 1);

        sampler_copy_words(now, &rows[row]);
        if (!memcmp(now, last, sizeof now) && !calls_in_flight)
            continue;
        sampler_put_record(t, i, row, t->edge_ns, to, calls_in_flight, now);
        memcpy(last, now, sizeof now);
    }
    state->call.at_edge = under_way != 0;
}

/* Logs all slots up to `to`. `at_edge`: `to` is a slice edge, and the delay is recorded. */
static void sampler_log_target(const struct prof_sampler *s, struct target *t, int64_t to,
                               bool at_edge)
{
    uint32_t n = sampler_slots(t);

    for (uint32_t i = 0; i < n; i++)
        if (__atomic_load_n(&sampler_slot(t, i)->tid, __ATOMIC_ACQUIRE))
            sampler_log_slot(t, i, to);
    /* The first edge that was due. An unprofiled process is always found late. */
    int64_t due = t->kernel ? to : t->edge_ns + sampler_slice(s, t->edge_ns);

    t->edge_ns = to;
    t->head->sampled_ns = to;
    int64_t late = at_edge ? prof_sampler_now(s) - (due < to ? due : to) : 0;

    if (late > 0 && (uint64_t)late > t->head->late_ns)
        t->head->late_ns = (uint64_t)late;
}

/* Whether the thread of a call in flight still exists; it may have been cancelled in the call. */
static bool sampler_thread_alive(const struct target *t, const struct prof_slot *slot)
{
    long gone = t->head->shared ? syscall(SYS_kill, slot->tid, 0)
                                : syscall(SYS_tgkill, t->pid, slot->tid, 0);

    return !gone || errno == EPERM;
}

static void sampler_add_time(uint64_t *word, int64_t dt)
{
    if (dt > 0)
        __atomic_store_n(word, *word + (uint64_t)dt, __ATOMIC_RELAXED);
}

/* One sample of a call: adds time to its row and updates when it was seen. */
static void sampler_sample_call(struct target *t, uint32_t i, struct seen *c, uint64_t in_flight,
                                int64_t now, int64_t dt)
{
    uint32_t row = (uint32_t)(in_flight >> 8), op = (uint32_t)(in_flight & 255) - 1;
    struct prof_slot *slot = sampler_slot(t, i);

    if (!in_flight || row >= t->names_max || op >= PROF_OPS) {
        if (c->at_edge)
            sampler_end_long_call(t, i);
        c->in_flight = 0;
        return;
    }
    uint64_t *word = prof_rows(slot, t->names_max)[row].word;
    uint64_t calls = __atomic_load_n(&word[PROF_CALLS + op], __ATOMIC_RELAXED);
    bool same = in_flight == c->in_flight && calls == c->calls;

    if (!same && c->at_edge)
        sampler_end_long_call(t, i);
    if (!same) {
        *c = (struct seen){.in_flight = in_flight, .calls = calls, .first_ns = now};
        c->want = __atomic_load_n(&slot->want, __ATOMIC_RELAXED);
        c->source = __atomic_load_n(&slot->source, __ATOMIC_RELAXED);
        c->path = row == PROF_ROW_OTHER || c != &t->slot[i].call
                      ? 0
                      : __atomic_load_n(&slot->path, __ATOMIC_RELAXED);
        c->path = c->path <= t->names_max ? c->path : 0;
    }
    if (same && now - c->first_ns > 1000000000 && !sampler_thread_alive(t, slot)) {
        __atomic_store_n(&slot->in_flight, 0, __ATOMIC_RELAXED);
        return;
    }
    c->last_ns = now;
    sampler_add_time(&word[PROF_TIME + op], dt);
    if (c->path)
        sampler_add_time(&prof_rows(slot, t->names_max)[c->path - 1].word[PROF_TIME + op], dt);
}

static void sampler_sample_target(struct target *t, int64_t now, int64_t dt)
{
    uint32_t n = sampler_slots(t);

    if (t->head->clock != PROF_SAMPLED)
        return;
    for (uint32_t i = 0; i < n; i++) {
        struct prof_slot *slot = sampler_slot(t, i);

        sampler_sample_call(t, i, &t->slot[i].call,
                            __atomic_load_n(&slot->in_flight, __ATOMIC_RELAXED), now, dt);
        sampler_sample_call(t, i, &t->slot[i].mpi,
                            __atomic_load_n(&slot->mpi_in_flight, __ATOMIC_RELAXED), now, dt);
    }
}

static uint64_t sampler_difference(uint64_t all, uint64_t before)
{
    return all > before ? all - before : 0;
}

static void sampler_raise_word(uint64_t *word, uint64_t all, uint64_t before)
{
    uint64_t now = sampler_difference(all, before);

    *word = now > *word ? now : *word;
}

/* Counters of a running process. Its end is recorded by the process that waits for it. */
static void sampler_read_io(struct target *t)
{
    struct prof_io io;

    if (t->head->shared || (t->head->io_known & PROF_IO_END) || !prof_kernel_io((pid_t)t->pid, &io))
        return;
    t->head->io_end = io;
    t->head->io_known |= PROF_IO_SAMPLED;
}

static uint64_t *sampler_kernel_words(const struct target *t)
{
    assert(t->kernel && t->names_max > PROF_ROW_FIRST);
    return prof_rows(sampler_slot(t, 0), t->names_max)[PROF_ROW_FIRST].word;
}

static void sampler_store_kernel(struct target *t, const struct prof_io *io, int64_t now)
{
    uint64_t *word = sampler_kernel_words(t);

    sampler_raise_word(&word[PROF_CALLS + PROF_READ], io->syscr, t->base.syscr);
    sampler_raise_word(&word[PROF_CALLS + PROF_WRITE], io->syscw, t->base.syscw);
    sampler_raise_word(&word[PROF_BYTES + PROF_READ], io->rchar, t->base.rchar);
    sampler_raise_word(&word[PROF_BYTES + PROF_WRITE], io->wchar, t->base.wchar);
    t->read_ns = now;
}

/* Counters of the running threads, without children, which have profiles of their own. */
static void sampler_read_kernel(struct target *t, int64_t now)
{
    struct prof_io io;

    sampler_read_io(t);
    if (prof_kernel_own((pid_t)t->pid, &io))
        sampler_store_kernel(t, &io, now);
}

/* Logs what a trail shows, up to its last mark. */
static void sampler_log_trail(struct target *t, const struct prof_trail *trail)
{
    assert(t->kernel && !t->gone);
    for (size_t i = 0; i < trail->v.n; i++) {
        const struct prof_mark *m = &trail->v.v[i];

        int64_t from = m->from_ns > t->edge_ns ? m->from_ns : t->edge_ns;

        if (m->ns <= from)
            continue;
        sampler_store_kernel(t, &m->io, m->ns);
        sampler_put_record(t, 0, PROF_ROW_FIRST, from, m->ns, 0, sampler_kernel_words(t));
        t->edge_ns = t->head->sampled_ns = m->ns;
    }
    if (trail->read_ns > t->edge_ns)
        t->edge_ns = t->head->sampled_ns = t->read_ns = trail->read_ns;
}

/* A zombie that has written its end counts nothing more. */
static bool sampler_process_alive(const struct target *t)
{
    enum prof_life life = prof_kernel_life((pid_t)t->pid, t->pid_start);

    return life == PROF_RUNS || (life == PROF_ZOMBIE && t->head->state != PROF_ENDED);
}

/* A program without the library that the process executed gets a profile of its own. */
static void sampler_keep_trail(struct prof_sampler *s, struct target *t)
{
    if (!(t->head->io_known & PROF_IO_EXEC) || !t->trail.useful)
        return;
    wr_vec_push(&s->ended, (struct ended){t->trail, t->head->io_end, t->head->exec_ns});
    t->trail = (struct prof_trail){0};
}

/* Finalises the profile of an ended process: last records, end time, archive. What an unprofiled
 * one did after its counters were read last is in the record of its end. */
static void sampler_finalise(struct prof_sampler *s, struct target *t, int64_t now)
{
    assert(!t->gone);
    int64_t end = t->head->end_ns > t->edge_ns ? t->head->end_ns : now;

    sampler_read_counters(s, t, end);
    if (t->kernel && t->read_ns > t->edge_ns)
        sampler_log_target(s, t, t->read_ns, false);
    if (t->head->clock == PROF_SAMPLED)
        sampler_log_target(s, t, end, false);
    if (!t->head->end_ns)
        t->head->end_ns = now;
    sampler_keep_trail(s, t);
    struct held h = {.path = wr_strdup(t->path),
                     .first_b = t->kernel ? 0 : prof_first_b(t->head),
                     .sure = t->met};

    sampler_drop_target(s, t); /* first: this mapping counts as a use */
    if (sampler_collect(s, &h) == PROF_IN_USE)
        wr_vec_push(&s->held, h);
    else
        free(h.path);
}

static struct prof_blank sampler_blank(const struct prof_sampler *s)
{
    return (struct prof_blank){.host = s->host,
                               .job = s->job,
                               .slice_ns = s->slice_ns,
                               .adaptive = s->adaptive,
                               .job_ns = s->job_ns,
                               .now_ns = prof_sampler_now(s),
                               .offset_ns = s->offset_ns};
}

/* Makes a profile for an unprofiled process; `from_ns`: its start, 0: that of the process. NULL: it
 * could not be made. */
static struct target *sampler_add_unprofiled(struct prof_sampler *s,
                                             const struct prof_blank_process *who,
                                             const struct prof_trail *trail,
                                             const struct prof_io *base, int64_t from_ns)
{
    struct prof_name names[PROF_NAMES] = {0};
    struct prof_head h;
    char path[4096];
    uint32_t tid = (uint32_t)who->seen;

    struct prof_blank blank = sampler_blank(s);

    prof_blank_kernel(&h, names, &blank, who);
    h.start_ns = from_ns ? from_ns : h.start_ns;
    sampler_unprofiled_path(s, tid, path);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    uint64_t size = prof_file_b(&h);
    bool ok = fd >= 0 && !posix_fallocate(fd, 0, (off_t)h.log_at) && !ftruncate(fd, (off_t)size) &&
              pwrite(fd, &h, sizeof h, 0) == sizeof h &&
              pwrite(fd, names, sizeof names, (off_t)h.names_at) == sizeof names &&
              pwrite(fd, &tid, sizeof tid, (off_t)(h.slots_at + offsetof(struct prof_slot, tid))) ==
                  sizeof tid;

    if (fd >= 0)
        close(fd);
    size_t n = s->targets.n;

    if (ok)
        sampler_add_target(s, path);
    else if (fd >= 0)
        unlink(path);
    if (s->targets.n == n)
        return NULL;
    struct target *t = &s->targets.v[n];

    t->pid = (uint32_t)who->pid;
    t->pid_start = who->start;
    wr_vec_push(&s->known, (struct known){t->pid, t->pid_start});
    t->base = *base;
    t->head->io_start = *base;
    t->head->io_known |= PROF_IO_START;
    sampler_log_trail(t, trail);
    return t;
}

/* Profiles of programs that ended before they were known to be unprofiled, and lived for more than
 * a slice. */
static void sampler_add_ended(struct prof_sampler *s, int64_t now)
{
    for (size_t i = 0; i < s->ended.n; i++) {
        struct ended *e = &s->ended.v[i];
        struct target *t =
            sampler_add_unprofiled(s, &e->trail.who, &e->trail, &e->base, e->from_ns);

        if (t)
            sampler_finalise(s, t, now);
        prof_trail_fini(&e->trail);
    }
    s->ended.n = 0;
}

static struct target *sampler_find_target(const struct prof_sampler *s, pid_t pid)
{
    for (size_t i = s->targets.n; i-- > 0;)
        if (s->targets.v[i].pid == (uint32_t)pid && !s->targets.v[i].gone)
            return &s->targets.v[i];
    return NULL;
}

/* All that the library counted, storage or not, as the kernel counts it. */
static struct prof_io sampler_counted(const struct target *t)
{
    const struct prof_name *names = (const struct prof_name *)(t->map + t->head->names_at);
    struct prof_io io = {0};
    uint32_t n = t->head->slots_n < t->slots_max ? t->head->slots_n : t->slots_max;

    for (uint32_t i = 0; i < n; i++)
        for (uint32_t row = 0; row < t->names_max; row++) {
            const uint64_t *word = prof_rows(sampler_slot(t, i), t->names_max)[row].word;

            if (row == PROF_ROW_MPI || row == PROF_ROW_MPI_COLL || row == PROF_ROW_COUNTERS ||
                names[row].kind == PROF_K_PATH)
                continue; /* no system calls, or counted once already */
            io.syscr += word[PROF_CALLS + PROF_READ];
            io.syscw += word[PROF_CALLS + PROF_WRITE];
            io.rchar += word[PROF_BYTES + PROF_READ];
            io.wchar += word[PROF_BYTES + PROF_WRITE];
        }
    return io;
}

/* A process executed a program without the library: finalise its profile, continue unprofiled. */
static void sampler_check_image(struct prof_sampler *s, struct target *t, int64_t now)
{
    char exe[sizeof t->head->exe];
    pid_t pid = (pid_t)t->pid;

    if (t->kernel)
        return;
    prof_kernel_exe(pid, exe, sizeof exe);
    if (!*exe || !strcmp(exe, t->head->exe) || prof_kernel_has_library(pid)) {
        t->strange = 0;
        return;
    }
    if (++t->strange < 2)
        return;
    struct prof_io base = t->head->io_known & PROF_IO_EXEC ? t->head->io_end : sampler_counted(t);

    int64_t from = t->head->start_ns + 1;
    struct prof_trail trail = t->trail;
    struct prof_blank_process who = trail.v.n ? trail.who : prof_blank_process(pid);

    t->trail = (struct prof_trail){0};
    if (t->head->io_known & PROF_IO_EXEC && t->head->exec_ns > from)
        from = t->head->exec_ns;
    else
        from = t->head->sampled_ns > from ? t->head->sampled_ns : from;
    sampler_finalise(s, t, now);
    sampler_add_unprofiled(s, &who, &trail, &base, from);
    prof_trail_fini(&trail);
}

static bool sampler_knows(const struct prof_sampler *s, uint32_t pid, uint64_t start)
{
    for (size_t i = s->known.n; i-- > 0;)
        if (s->known.v[i].pid == pid && s->known.v[i].start == start)
            return true;
    return false;
}

static bool sampler_is_known(const struct prof_sampler *s, pid_t pid)
{
    uint64_t start = 0;
    pid_t parent;

    prof_kernel_stat(pid, &start, &parent);
    return sampler_knows(s, (uint32_t)pid, start);
}

/* Takes it out of the list of the last search. */
static struct unprofiled sampler_take_unprofiled(const struct prof_sampler *s, pid_t pid)
{
    for (size_t i = 0; i < s->unprofiled.n; i++)
        if (s->unprofiled.v[i].pid == pid) {
            struct unprofiled found = s->unprofiled.v[i];

            s->unprofiled.v[i].pid = 0;
            return found;
        }
    return (struct unprofiled){.pid = pid};
}

/* A process without a profile. A young one may be loading the library: its counters are read until
 * that is settled. True: it has a profile now. */
static bool sampler_settle(struct prof_sampler *s, struct unprofiled *u, int64_t now)
{
    assert(u->pid > 0);
    if (!u->settle_ns)
        u->settle_ns = now + SETTLE_NS;
    prof_trail_read(&u->trail, u->pid, now, sampler_slice(s, now));
    if (now < u->settle_ns)
        return false;
    u->settle_ns = now + AGAIN_NS;
    u->trail.has_library = prof_kernel_has_library(u->pid);
    if (u->trail.has_library)
        return false;
    struct prof_blank_process who = prof_blank_process(u->pid);

    if (who.start)
        sampler_add_unprofiled(s, &who, &u->trail, &(struct prof_io){0}, 0);
    prof_trail_fini(&u->trail);
    return true;
}

/* Processes that were without a profile at the last search, and are gone. */
static void sampler_end_unprofiled(struct prof_sampler *s)
{
    for (size_t i = 0; i < s->unprofiled.n; i++) {
        struct unprofiled *u = &s->unprofiled.v[i];

        if (!u->pid)
            continue;
        if (u->trail.useful && !sampler_knows(s, (uint32_t)u->pid, u->trail.who.start))
            wr_vec_push(&s->ended, (struct ended){.trail = u->trail});
        else
            prof_trail_fini(&u->trail);
    }
    s->unprofiled.n = 0;
}

/* One process of the job that has a profile. `all`: also what need not be known at once. */
static void sampler_watch_target(struct prof_sampler *s, struct target *t, int64_t now, bool all)
{
    assert(!t->gone);
    if (!t->kernel && all)
        sampler_read_io(t);
    if (!t->kernel && t->head->io_known & PROF_IO_EXEC)
        prof_trail_read(&t->trail, (pid_t)t->pid, now, sampler_slice(s, now));
    if (all)
        sampler_check_image(s, t, now);
}

static void sampler_search_family(struct prof_sampler *s, int64_t now, bool all)
{
    pid_t *family = wr_zalloc(FAMILY, sizeof *family);

    s->newest = prof_kernel_newest(s->loadavg); /* first: one that is made now is news later */
    size_t n = prof_kernel_family(getpid(), family, FAMILY);
    WR_VEC(struct unprofiled) left = {0};

    for (size_t i = 1; i < n; i++) { /* the first is this process */
        struct target *t = sampler_find_target(s, family[i]);

        if (t)
            sampler_watch_target(s, t, now, all);
        if (t || sampler_is_known(s, family[i]))
            continue;
        struct unprofiled found = sampler_take_unprofiled(s, family[i]);

        if (!sampler_settle(s, &found, now))
            wr_vec_push(&left, found);
    }
    sampler_end_unprofiled(s);
    free(s->unprofiled.v);
    memcpy(&s->unprofiled, &left, sizeof s->unprofiled);
    free(family);
    sampler_add_ended(s, now);
    s->search_ns = now;
    s->search_cost_ns = prof_sampler_now(s) - now;
}

/* Whether a process was made since the last search, or some wait to be settled. */
static bool sampler_has_news(const struct prof_sampler *s)
{
    bool news = s->unprofiled.n > 0;

    for (size_t i = 0; i < s->targets.n && !news; i++)
        news = !s->targets.v[i].gone && !s->targets.v[i].kernel &&
               s->targets.v[i].head->io_known & PROF_IO_EXEC;
    return news || !s->newest || prof_kernel_newest(s->loadavg) != s->newest;
}

/* New processes are searched for four times a slice, as far as that is cheap. */
static bool sampler_may_search(const struct prof_sampler *s, int64_t now)
{
    int64_t quarter = sampler_slice(s, now) / 4, cost = SEARCH_PART * s->search_cost_ns;
    int64_t wait = quarter > cost ? quarter : cost;

    return now - s->search_ns >= (wait < FAMILY_NS ? wait : FAMILY_NS) && sampler_has_news(s);
}

/* Adds an end to the table of the shared profile. */
static void sampler_put_child(const struct prof_sampler *s, const struct prof_child *c)
{
    assert(s->shared && c->ready == 1);
    uint32_t i = __atomic_fetch_add(&s->shared->children_n, 1, __ATOMIC_RELAXED);
    uint64_t at = s->shared->children_at + i * sizeof *c;

    for (size_t k = 0; i < s->shared->children_max && k < s->targets.n; k++)
        if (s->targets.v[k].head == s->shared && !s->targets.v[k].gone &&
            !posix_fallocate(s->targets.v[k].fd, (off_t)at, sizeof *c))
            memcpy(s->targets.v[k].map + at, c, sizeof *c);
}

/* Makes the shared profile. All its slots are allocated now: processes that cannot have a file of
 * their own use them. */
static void sampler_make_shared(struct prof_sampler *s, const struct prof_sampling *what)
{
    struct prof_name names[PROF_ROW_FIRST] = {0};
    struct prof_head h;
    char path[4096];

    struct prof_blank blank = sampler_blank(s);

    prof_blank_shared(&h, names, &blank, what->clock, what->capacity_b);
    snprintf(path, sizeof path, "%s/%s-%d%s", s->dir, s->host, (int)getpid(), PROF_SHARED);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && !posix_fallocate(fd, 0, (off_t)h.log_at) &&
              !ftruncate(fd, (off_t)prof_file_b(&h)) &&
              pwrite(fd, names, sizeof names, (off_t)h.names_at) == sizeof names &&
              pwrite(fd, &h, sizeof h, 0) == sizeof h;

    if (fd >= 0)
        close(fd);
    size_t n = s->targets.n;

    if (ok)
        sampler_add_target(s, path);
    else if (fd >= 0)
        unlink(path);
    if (s->targets.n > n)
        s->shared = s->targets.v[n].head;
}

bool prof_sampler_open(struct prof_sampler **ret, const struct prof_sampling *what,
                       struct wr_err *err)
{
    assert(what->dir && what->job && what->clock <= PROF_PRECISE);
    struct prof_sampler *s = wr_zalloc(1, sizeof *s);
    struct rlimit files;

    s->notify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (s->notify < 0 || inotify_add_watch(s->notify, what->dir, IN_MOVED_TO) < 0) {
        wr_fail_errno(err, "dir: cannot watch %s; name a directory of this machine", what->dir);
        if (s->notify >= 0)
            close(s->notify);
        free(s);
        return false;
    }
    /* One descriptor per process. */
    if (!getrlimit(RLIMIT_NOFILE, &files)) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    s->loadavg = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
    gethostname(s->host, sizeof s->host - 1);
    s->dir = wr_strdup(what->dir);
    s->job = wr_strdup(what->job);
    s->adaptive = !what->slice_ns;
    s->slice_ns = what->slice_ns ? what->slice_ns : PROF_SLICE_FIRST_NS;
    s->counters = what->counters;
    s->offset_ns = sampler_offset();
    s->last_ns = s->job_ns = prof_sampler_now(s);
    s->edge_ns = s->last_ns - s->last_ns % (int64_t)s->slice_ns;
    s->collect = prof_collect_open(s->dir, s->host);
    sampler_make_shared(s, what);
    *ret = s;
    return true;
}

int64_t prof_sampler_next(const struct prof_sampler *s)
{
    int64_t look = s->last_ns + sampler_look_ns(s, s->last_ns);
    int64_t edge = s->edge_ns + sampler_slice(s, s->last_ns);

    return look < edge ? look : edge;
}

static void sampler_sample_all(struct prof_sampler *s, int64_t now, bool edge)
{
    int64_t dt = now - s->last_ns;

    for (size_t i = 0; i < s->targets.n; i++)
        if (!s->targets.v[i].gone) {
            sampler_sample_target(&s->targets.v[i], now, dt);
            if (s->counters)
                sampler_attach_counters(s, &s->targets.v[i]);
        }
    if (!edge)
        return;
    int64_t to = now - now % sampler_slice(s, now);

    for (size_t i = 0; i < s->targets.n; i++) {
        struct target *t = &s->targets.v[i];

        if (t->gone)
            continue;
        if (t->kernel)
            sampler_read_kernel(t, now);
        sampler_read_counters(s, t, to);
        if (t->edge_ns < to && (t->head->clock == PROF_SAMPLED || t->kernel))
            sampler_log_target(s, t, to, true);
    }
    s->edge_ns = to;
}

/* If the wall clock was set, record it for readers; times in profiles continue as before. */
static void sampler_check_clock_step(struct prof_sampler *s)
{
    int64_t off = sampler_offset() - s->offset_ns, moved = s->shared ? off - s->shared->step_ns : 0;

    if (moved < STEP_NS && moved > -STEP_NS)
        return;
    s->shared->steps++;
    s->shared->step_ns = off;
}

/* `all`: also processes that did not write their end; costs up to three system calls each. */
static void sampler_finalise_ended(struct prof_sampler *s, int64_t now, bool all)
{
    size_t kept = 0;

    for (size_t i = 0; i < s->targets.n; i++) {
        struct target *t = &s->targets.v[i];

        if (all && t->kernel && !t->gone)
            sampler_read_kernel(t, now);
        if (!t->gone && (all || t->head->state == PROF_ENDED) && !sampler_process_alive(t))
            sampler_finalise(s, t, now);
        if (!t->gone)
            s->targets.v[kept++] = *t;
    }
    s->targets.n = kept;
}

void prof_sampler_ended(struct prof_sampler *s, pid_t child)
{
    assert(child > 0);
    struct prof_child c;

    if (s->shared && prof_kernel_child(&c, child, prof_sampler_now(s)))
        sampler_put_child(s, &c);
}

void prof_sampler_look(struct prof_sampler *s, int64_t now)
{
    bool edge = now >= s->edge_ns + sampler_slice(s, now);
    bool all = now - s->family_ns >= FAMILY_NS;

    sampler_add_new(s); /* first: a process that started before the edge belongs before it */
    sampler_sample_all(s, now, edge);
    s->last_ns = now;
    sampler_finalise_ended(s, now, all);
    if (all) {
        s->family_ns = now;
        sampler_collect_held(s);
        sampler_check_clock_step(s);
    }
    if (all || sampler_may_search(s, now))
        sampler_search_family(s, now, all);
}

/* Renames the hidden profiles of unprofiled processes when they are complete. */
static void sampler_publish_unprofiled(const struct prof_sampler *s)
{
    DIR *d = opendir(s->dir);
    const struct dirent *e;
    char from[4096], to[4096];

    while (d && (e = readdir(d)))
        if (e->d_name[0] == '.' && strstr(e->d_name, "-kernel" PROF_ENDING)) {
            snprintf(from, sizeof from, "%s/%s", s->dir, e->d_name);
            snprintf(to, sizeof to, "%s/%s", s->dir, e->d_name + 1);
            rename(from, to);
        }
    if (d)
        closedir(d);
}

/* Records the command, which has ended, and processes that run on; all are children of this one. */
static void sampler_record_children(struct prof_sampler *s)
{
    pid_t *child = wr_zalloc(FAMILY, sizeof *child);
    size_t n = prof_kernel_children(getpid(), child, FAMILY);

    for (size_t i = 0; i < n; i++) {
        uint64_t start;
        pid_t parent;

        prof_sampler_ended(s, child[i]);
        if (s->shared && prof_kernel_stat(child[i], &start, &parent) &&
            prof_kernel_life(child[i], start) == PROF_RUNS)
            s->shared->left++;
    }
    free(child);
}

void prof_sampler_close(struct prof_sampler *s, int64_t now)
{
    sampler_add_new(s);
    sampler_record_children(s);
    sampler_sample_all(s, now, now >= s->edge_ns + sampler_slice(s, now));
    for (size_t i = 0; i < s->targets.n; i++) {
        struct target *t = &s->targets.v[i];

        if (t->gone)
            continue;
        if (t->kernel)
            sampler_read_kernel(t, now);
        if (sampler_process_alive(t)) {
            int64_t end = t->head->end_ns;

            sampler_read_counters(s, t, now);
            if (t->head->clock == PROF_SAMPLED || t->kernel)
                sampler_log_target(s, t, now, false);
            t->head->end_ns = t->head->shared ? now : end;
            sampler_keep_trail(s, t);
            sampler_drop_target(s, t);
        } else {
            sampler_finalise(s, t, now);
        }
    }
    sampler_end_unprofiled(s);
    sampler_add_ended(s, now);
    sampler_publish_unprofiled(s);
    close(s->notify);
    if (s->loadavg >= 0)
        close(s->loadavg);
    prof_collect_close(s->collect);
    for (size_t i = 0; i < s->held.n; i++)
        free(s->held.v[i].path);
    wr_vec_fini(&s->held);
    wr_vec_fini(&s->targets);
    wr_vec_fini(&s->known);
    wr_vec_fini(&s->unprofiled);
    wr_vec_fini(&s->ended);
    free(s->dir);
    free(s->job);
    free(s);
}
