#include "prof/sampler.h"

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
#include "collect.h"
#include "kernel.h"
#include "prof/counters.h"
#include "prof/form/form.h"

enum {
    LOOK_NS = 10000000,    /* between looks */
    FAMILY_NS = 100000000, /* between searches for processes without the library */
    FAMILY = 4096,
    LOG_FIRST = 28,    /* records made room for at a time: a page, */
    LOG_STEP = 448,    /* then 64 KiB */
    STEP_NS = 5000000, /* a clock that is so far off was set */
};

/* A call as it was last seen. */
struct seen {
    uint64_t flight, calls, want;
    uint32_t source; /* row + 1 that its bytes come from */
    uint32_t path;   /* row + 1 of where it was called */
    int64_t first_ns, last_ns;
    bool at_edge; /* it was under way when the last slice ended */
};

struct seat {
    struct prof_row *last; /* the rows as they were logged */
    struct seen call, mpi;
    int events; /* what counts for it; valid when it is counted */
    enum { NOT_YET, COUNTED, CANNOT } counting;
};

struct target {
    char *path, *map;
    struct prof_head *head;
    uint64_t size, log_room;
    uint32_t pid, names_max, slots_max, log_max;
    uint64_t slots_at, slot_b, log_at, pid_start;
    int64_t edge_ns;    /* what came before is in the log */
    int64_t counted_ns; /* and what was counted before this, where others write the log */
    int fd;
    struct seat *seat; /* [nseats]: as many as there were slots at the last look */
    uint32_t nseats;
    struct prof_io base; /* of a kernel's one: what was told before by somebody else */
    int strange;         /* searches that found another program there than the profile tells of */
    bool kernel, gone;
    bool met; /* it was seen to run, so its end will be seen, too */
};

/* A profile whose process is gone, but not whoever has it mapped. */
struct held {
    char *path;
    uint64_t first_b;
    bool sure;
};

struct known {
    uint32_t pid;
    uint64_t start;
};

struct stranger {
    pid_t pid;
    int again; /* searches until it is asked again whether it has the library */
};

struct prof_sampler {
    char *dir, *job;
    char host[64];
    uint64_t slice_ns, look_ns;
    int64_t last_ns, edge_ns, family_ns; /* last look, last edge passed, last search */
    int64_t offset_ns;                   /* wall clock minus CLOCK_MONOTONIC, at the start */
    int notify;
    struct prof_head *shared; /* for processes without room, mapped; NULL: there was none for it */
    struct prof_collect *collect;
    WR_VEC(struct held) held;
    struct prof_counters *counters;
    WR_VEC(struct target) targets;
    WR_VEC(struct known) known; /* who has or had a profile: also a dead one is no stranger */
    WR_VEC(struct stranger) strangers; /* without a profile at the last search */
};

static int64_t sampler_clock(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* What lies between two readings of one clock is not the other's. */
static int64_t sampler_offset(void)
{
    int64_t before = sampler_clock(CLOCK_MONOTONIC), wall = sampler_clock(CLOCK_REALTIME);

    return wall - before - (sampler_clock(CLOCK_MONOTONIC) - before) / 2;
}

int64_t prof_sampler_now(const struct prof_sampler *s)
{
    return sampler_clock(CLOCK_MONOTONIC) + s->offset_ns;
}

static struct prof_slot *slot_of(const struct target *t, uint32_t i)
{
    return (struct prof_slot *)(t->map + t->slots_at + i * t->slot_b);
}

static bool same_layout(const struct prof_head *h, uint64_t size)
{
    return !memcmp(h->magic, PROF_MAGIC, sizeof h->magic) && h->version == PROF_VERSION &&
           h->order == PROF_ORDER && h->names_max >= PROF_ROW_FIRST &&
           h->names_max <= PROF_NAMES_MOST && h->slots_max <= PROF_SLOTS &&
           h->slot_b == prof_slot_b(h->names_max) &&
           h->log_at >= h->slots_at + h->slots_max * h->slot_b && h->log_max <= PROF_LOG &&
           h->log_at + h->log_max * sizeof(struct prof_rec) <= size;
}

static void drop_target(struct prof_sampler *s, struct target *t)
{
    for (uint32_t i = 0; i < t->nseats; i++) {
        if (t->seat[i].counting == COUNTED)
            prof_counters_detach(s->counters, t->seat[i].events);
        free(t->seat[i].last);
    }
    free(t->seat);
    if (t->head == s->shared)
        s->shared = NULL;
    munmap(t->map, t->size);
    close(t->fd);
    free(t->path);
    t->path = t->map = NULL;
    t->gone = true;
}

/* Its memory goes back to the job. */
static enum prof_collected sampler_collect(struct prof_sampler *s, const struct held *h)
{
    enum prof_collected got = prof_collect(s->collect, h->path, h->sure);

    if (got == PROF_COLLECTED && s->shared)
        __atomic_fetch_sub(&s->shared->used_b, h->first_b, __ATOMIC_RELAXED);
    return got;
}

static void collect_held(struct prof_sampler *s)
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

static void stranger_path(const struct prof_sampler *s, uint32_t pid, char path[4096])
{
    snprintf(path, 4096, "%s/.%s-%u-kernel%s", s->dir, s->host, pid, PROF_ENDING);
}

/* It has a profile of its own after all, and that tells of all its life. */
static void forget_stranger(struct prof_sampler *s, uint32_t pid)
{
    char path[4096];

    for (size_t i = 0; i < s->targets.n; i++) {
        struct target *t = &s->targets.v[i];

        if (t->gone || !t->kernel || t->pid != pid || t->base.rchar || t->base.wchar)
            continue;
        drop_target(s, t);
        stranger_path(s, pid, path);
        unlink(path);
    }
}

/* Which counters there are, for readers. */
static void name_counters(const struct prof_sampler *s, struct prof_head *h)
{
    for (size_t i = 0; s->counters && i < prof_counters_n(s->counters); i++) {
        snprintf(h->counter[i], sizeof h->counter[i], "%s", prof_counters_name(s->counters, i));
        h->counters = (uint32_t)i + 1;
    }
}

static void add_target(struct prof_sampler *s, const char *path)
{
    struct target t = {.fd = open(path, O_RDWR | O_CLOEXEC)};
    struct stat st;

    if (t.fd < 0)
        return;
    t.size = fstat(t.fd, &st) || st.st_size < PROF_HEAD_B ? 0 : (uint64_t)st.st_size;
    void *map =
        t.size ? mmap(NULL, t.size, PROT_READ | PROT_WRITE, MAP_SHARED, t.fd, 0) : MAP_FAILED;

    /* Another job's, in the same directory, has a sampler of its own. */
    if (map == MAP_FAILED || !same_layout(map, t.size) ||
        ((struct prof_head *)map)->launcher != (uint32_t)getpid()) {
        if (map != MAP_FAILED)
            munmap(map, t.size);
        close(t.fd);
        return;
    }
    madvise(map, t.size, MADV_RANDOM); /* a page that is touched brings no others */
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
    if (!t.kernel)
        forget_stranger(s, t.pid);
    if (t.kernel)
        t.edge_ns = t.head->start_ns; /* what it did before it was found is spread over its life */
    else
        t.edge_ns = t.head->start_ns - t.head->start_ns % (int64_t)s->slice_ns;
    t.counted_ns = t.edge_ns;
    name_counters(s, t.head);
    t.path = wr_strdup(path);
    t.met = t.kernel || prof_kernel_life((pid_t)t.pid, t.pid_start) != PROF_GONE;
    wr_vec_push(&s->known, (struct known){t.pid, t.pid_start});
    wr_vec_push(&s->targets, t);
}

static bool is_profile(const char *name)
{
    size_t n = strlen(name), e = strlen(PROF_ENDING);

    return *name != '.' && n > e && !strcmp(name + n - e, PROF_ENDING);
}

/* Processes that began since the last look. */
static void meet(struct prof_sampler *s)
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
            if (!e->len || !is_profile(e->name))
                continue;
            snprintf(path, sizeof path, "%s/%s", s->dir, e->name);
            add_target(s, path);
        }
}

static struct prof_rec *claim(struct target *t)
{
    uint64_t i = __atomic_fetch_add(&t->head->log_n, 1, __ATOMIC_RELAXED);

    if (i >= t->log_room && i < t->log_max) {
        uint64_t step = i < LOG_STEP ? LOG_FIRST : LOG_STEP;
        uint64_t to = i + step < t->log_max ? i + step : t->log_max;

        if (!posix_fallocate(t->fd, (off_t)(t->log_at + t->log_room * sizeof(struct prof_rec)),
                             (off_t)((to - t->log_room) * sizeof(struct prof_rec))))
            t->log_room = to;
    }
    if (i >= t->log_room) {
        __atomic_fetch_add(&t->head->dropped_recs, 1, __ATOMIC_RELAXED);
        return NULL;
    }
    return (struct prof_rec *)(t->map + t->log_at) + i;
}

static void put(struct target *t, uint32_t slot, uint32_t row, int64_t from, int64_t to,
                uint64_t flights, const uint64_t *word)
{
    struct prof_rec *r = claim(t);

    if (!r)
        return;
    r->slot = (uint16_t)slot;
    r->row = (uint16_t)row;
    r->from_ns = from;
    r->to_ns = to > from ? to : from + 1;
    r->flights = flights;
    memcpy(r->word, word, sizeof r->word);
    __atomic_store_n(&r->ready, 1, __ATOMIC_RELEASE);
}

static void copy_words(uint64_t *to, const struct prof_row *from)
{
    for (int i = 0; i < PROF_WORDS_N; i++)
        to[i] = __atomic_load_n(&from->word[i], __ATOMIC_RELAXED);
}

/* So much of what a row has moved since it was logged goes to the time from first to last. */
static void put_spread(struct target *t, uint32_t slot, uint32_t row, enum prof_op op,
                       const struct seen *c)
{
    uint64_t *last = t->seat[slot].last[row].word;
    const struct prof_row *now = &prof_rows(slot_of(t, slot), t->names_max)[row];
    uint64_t moved = __atomic_load_n(&now->word[PROF_BYTES + op], __ATOMIC_RELAXED);

    moved -= last[PROF_BYTES + op];
    if (now->word[PROF_CALLS + op] <= last[PROF_CALLS + op])
        return;
    last[PROF_BYTES + op] += moved < c->want ? moved : c->want;
    last[PROF_CALLS + op]++;
    put(t, slot, row, c->first_ns, c->last_ns, 0, last);
}

/* A call that was seen at an edge and is not seen any more: its bytes were moved during all the
 * time that it was seen, not at its end. */
static void end_long_call(struct target *t, uint32_t slot)
{
    struct seen *c = &t->seat[slot].call;
    uint32_t row = (uint32_t)(c->flight >> 8), op = (uint32_t)(c->flight & 255) - 1;

    c->at_edge = false;
    if (op > PROF_WRITE)
        return;
    put_spread(t, slot, row, op, c);
    if (c->source && c->source <= t->names_max)
        put_spread(t, slot, c->source - 1, PROF_READ, c);
    if (c->path)
        put_spread(t, slot, c->path - 1, op, c);
}

/* How many threads there are, each with a seat. */
static uint32_t seats_of(struct target *t)
{
    uint32_t n = t->head->slots_n < t->slots_max ? t->head->slots_n : t->slots_max;

    if (n <= t->nseats)
        return t->nseats;
    t->seat = wr_realloc(t->seat, n, sizeof *t->seat);
    memset(t->seat + t->nseats, 0, (n - t->nseats) * sizeof *t->seat);
    t->nseats = n;
    return n;
}

/* Threads that are new are counted from now on. */
static void attach(struct prof_sampler *s, struct target *t)
{
    uint32_t n = seats_of(t);

    for (uint32_t i = 0; i < n; i++) {
        struct seat *seat = &t->seat[i];
        uint32_t tid = seat->counting ? 0 : __atomic_load_n(&slot_of(t, i)->tid, __ATOMIC_ACQUIRE);

        if (tid)
            seat->counting =
                prof_counters_attach(s->counters, tid, &seat->events) ? COUNTED : CANNOT;
    }
}

/* The counters as they are now, into their row; into the log, too, where it is not written here. */
static void count(struct prof_sampler *s, struct target *t, int64_t to)
{
    bool logs = t->head->clock == PROF_SAMPLED || t->kernel;

    for (uint32_t i = 0; s->counters && i < t->nseats; i++) {
        uint64_t *word = prof_rows(slot_of(t, i), t->names_max)[PROF_ROW_COUNTERS].word;
        uint64_t value[PROF_COUNTERS] = {0};

        if (t->seat[i].counting != COUNTED ||
            !prof_counters_read(s->counters, t->seat[i].events, value) ||
            !memcmp(word, value, sizeof value))
            continue;
        memcpy(word, value, sizeof value);
        if (!logs)
            put(t, i, PROF_ROW_COUNTERS, t->counted_ns, to, 0, word);
    }
    t->counted_ns = to;
}

static void log_slot(struct target *t, uint32_t i, int64_t to)
{
    struct prof_slot *slot = slot_of(t, i);
    struct seat *seat = &t->seat[i];
    struct prof_row *rows = prof_rows(slot, t->names_max);
    uint32_t n = t->head->names_n < t->names_max ? t->head->names_n : t->names_max;
    uint64_t under_way = seat->call.flight && seat->call.last_ns >= to ? seat->call.flight : 0;

    if (!seat->last)
        seat->last = wr_zalloc(t->names_max, sizeof *seat->last);
    if (seat->call.at_edge && !under_way)
        end_long_call(t, i);
    for (uint32_t row = 0; row < n; row++) {
        uint64_t now[PROF_WORDS_N], *last = seat->last[row].word;
        uint64_t flights = under_way && (under_way >> 8 == row || seat->call.path == row + 1);

        copy_words(now, &rows[row]);
        if (!memcmp(now, last, sizeof now) && !flights)
            continue;
        put(t, i, row, t->edge_ns, to, flights, now);
        memcpy(last, now, sizeof now);
    }
    seat->call.at_edge = under_way != 0;
}

/* `at_edge`: `to` is an edge, and how late it was looked at is noted, when all is read. */
static void log_target(const struct prof_sampler *s, struct target *t, int64_t to, bool at_edge)
{
    uint32_t n = seats_of(t);

    for (uint32_t i = 0; i < n; i++)
        if (__atomic_load_n(&slot_of(t, i)->tid, __ATOMIC_ACQUIRE))
            log_slot(t, i, to);
    /* The first edge that was missed; who has no library is found late by nature. */
    int64_t due = t->kernel ? to : t->edge_ns + (int64_t)t->head->slice_ns;

    t->edge_ns = to;
    t->head->sampled_ns = to;
    int64_t late = at_edge ? prof_sampler_now(s) - (due < to ? due : to) : 0;

    if (late > 0 && (uint64_t)late > t->head->late_ns)
        t->head->late_ns = (uint64_t)late;
}

/* Is the thread that seems to be in a call still there? One that was cancelled in it is not. */
static bool thread_alive(const struct target *t, const struct prof_slot *slot)
{
    long gone = t->head->shared ? syscall(SYS_kill, slot->tid, 0)
                                : syscall(SYS_tgkill, t->pid, slot->tid, 0);

    return !gone || errno == EPERM;
}

static void add_time(uint64_t *word, int64_t dt)
{
    if (dt > 0)
        __atomic_store_n(word, *word + (uint64_t)dt, __ATOMIC_RELAXED);
}

/* One look at a call: time for its row, and since when it has been seen. */
static void look_at(struct target *t, uint32_t i, struct seen *c, uint64_t flight, int64_t now,
                    int64_t dt)
{
    uint32_t row = (uint32_t)(flight >> 8), op = (uint32_t)(flight & 255) - 1;
    struct prof_slot *slot = slot_of(t, i);

    if (!flight || row >= t->names_max || op >= PROF_OPS) {
        if (c->at_edge)
            end_long_call(t, i);
        c->flight = 0;
        return;
    }
    uint64_t *word = prof_rows(slot, t->names_max)[row].word;
    uint64_t calls = __atomic_load_n(&word[PROF_CALLS + op], __ATOMIC_RELAXED);
    bool same = flight == c->flight && calls == c->calls;

    if (!same && c->at_edge)
        end_long_call(t, i);
    if (!same) {
        *c = (struct seen){.flight = flight, .calls = calls, .first_ns = now};
        c->want = __atomic_load_n(&slot->want, __ATOMIC_RELAXED);
        c->source = __atomic_load_n(&slot->source, __ATOMIC_RELAXED);
        c->path = row == PROF_ROW_OTHER || c != &t->seat[i].call
                      ? 0
                      : __atomic_load_n(&slot->path, __ATOMIC_RELAXED);
        c->path = c->path <= t->names_max ? c->path : 0;
    }
    if (same && now - c->first_ns > 1000000000 && !thread_alive(t, slot)) {
        __atomic_store_n(&slot->flight, 0, __ATOMIC_RELAXED);
        return;
    }
    c->last_ns = now;
    add_time(&word[PROF_TIME + op], dt);
    if (c->path)
        add_time(&prof_rows(slot, t->names_max)[c->path - 1].word[PROF_TIME + op], dt);
}

static void look_target(struct target *t, int64_t now, int64_t dt)
{
    uint32_t n = seats_of(t);

    if (t->head->clock != PROF_SAMPLED)
        return;
    for (uint32_t i = 0; i < n; i++) {
        struct prof_slot *slot = slot_of(t, i);

        look_at(t, i, &t->seat[i].call, __atomic_load_n(&slot->flight, __ATOMIC_RELAXED), now, dt);
        look_at(t, i, &t->seat[i].mpi, __atomic_load_n(&slot->mpi_flight, __ATOMIC_RELAXED), now,
                dt);
    }
}

static uint64_t behind(uint64_t all, uint64_t before)
{
    return all > before ? all - before : 0;
}

static void look_kernel(struct target *t)
{
    uint64_t *word = prof_rows(slot_of(t, 0), t->names_max)[PROF_ROW_FIRST].word;
    struct prof_io io;

    if (!prof_kernel_io((pid_t)t->pid, &io))
        return;
    word[PROF_CALLS + PROF_READ] = behind(io.syscr, t->base.syscr);
    word[PROF_CALLS + PROF_WRITE] = behind(io.syscw, t->base.syscw);
    word[PROF_BYTES + PROF_READ] = behind(io.rchar, t->base.rchar);
    word[PROF_BYTES + PROF_WRITE] = behind(io.wchar, t->base.wchar);
}

/* A process that wrote its end and is a zombie has nothing more to count. */
static bool process_alive(const struct target *t)
{
    enum prof_life life = prof_kernel_life((pid_t)t->pid, t->pid_start);

    return life == PROF_RUNS || (life == PROF_ZOMBIE && t->head->state != PROF_ENDED);
}

/* A process that is gone: what is left in its slots, and when it was. */
static void bury(struct prof_sampler *s, struct target *t, int64_t now)
{
    int64_t end = t->head->end_ns > t->edge_ns ? t->head->end_ns : now;

    count(s, t, end);
    if (t->head->clock == PROF_SAMPLED || t->kernel)
        log_target(s, t, end, false);
    if (!t->head->end_ns)
        t->head->end_ns = now;
    struct held h = {.path = wr_strdup(t->path),
                     .first_b = t->kernel ? 0 : prof_first_b(t->head),
                     .sure = t->met};

    drop_target(s, t); /* before: the mapping here is a use, too */
    if (sampler_collect(s, &h) == PROF_IN_USE)
        wr_vec_push(&s->held, h);
    else
        free(h.path);
}

static struct prof_blank blank_of(const struct prof_sampler *s)
{
    return (struct prof_blank){.host = s->host,
                               .job = s->job,
                               .slice_ns = s->slice_ns,
                               .now_ns = prof_sampler_now(s),
                               .offset_ns = s->offset_ns};
}

/* A profile for a process that has none. */
static void adopt(struct prof_sampler *s, pid_t pid, const struct prof_io *base)
{
    struct prof_name names[PROF_NAMES] = {0};
    struct prof_head h;
    char path[4096];
    uint32_t tid = (uint32_t)pid;

    struct prof_blank blank = blank_of(s);

    prof_blank_kernel(&h, names, &blank, pid);
    stranger_path(s, (uint32_t)pid, path);
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
        add_target(s, path);
    else if (fd >= 0)
        unlink(path);
    if (s->targets.n > n)
        s->targets.v[n].base = *base;
}

static struct target *profile_of(const struct prof_sampler *s, pid_t pid)
{
    for (size_t i = s->targets.n; i-- > 0;)
        if (s->targets.v[i].pid == (uint32_t)pid && !s->targets.v[i].gone)
            return &s->targets.v[i];
    return NULL;
}

/* All that a profile has counted, storage or not: the kernel has counted it too. */
static struct prof_io counted(const struct target *t)
{
    const struct prof_name *names = (const struct prof_name *)(t->map + t->head->names_at);
    struct prof_io io = {0};
    uint32_t n = t->head->slots_n < t->slots_max ? t->head->slots_n : t->slots_max;

    for (uint32_t i = 0; i < n; i++)
        for (uint32_t row = 0; row < t->names_max; row++) {
            const uint64_t *word = prof_rows(slot_of(t, i), t->names_max)[row].word;

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

/* A process that executed something which has no library: its profile has ended, the process has
 * not. */
static void check_image(struct prof_sampler *s, struct target *t, int64_t now)
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
    struct prof_io base = counted(t);

    bury(s, t, now);
    adopt(s, pid, &base);
}

static bool is_known(const struct prof_sampler *s, pid_t pid)
{
    uint64_t start = 0;
    pid_t parent;

    prof_kernel_stat(pid, &start, &parent);
    for (size_t i = s->known.n; i-- > 0;)
        if (s->known.v[i].pid == (uint32_t)pid && s->known.v[i].start == start)
            return true;
    return false;
}

static struct stranger stranger_of(const struct prof_sampler *s, pid_t pid)
{
    for (size_t i = 0; i < s->strangers.n; i++)
        if (s->strangers.v[i].pid == pid)
            return s->strangers.v[i];
    return (struct stranger){.pid = pid};
}

/* Who has no profile at two searches, and no library loaded, never will. */
static void search_family(struct prof_sampler *s, pid_t root, int64_t now)
{
    enum { ASK_AGAIN = 20, NEW = 0, SECOND = 1 };
    pid_t *family = wr_zalloc(FAMILY, sizeof *family);
    size_t n = prof_kernel_family(root, family, FAMILY);
    WR_VEC(struct stranger) left = {0};

    for (size_t i = 0; i < n; i++) {
        struct target *t = profile_of(s, family[i]);
        struct stranger who = stranger_of(s, family[i]);

        if (t)
            check_image(s, t, now);
        if (t || is_known(s, family[i]))
            continue;
        if (who.again == SECOND && !prof_kernel_has_library(who.pid)) {
            adopt(s, who.pid, &(struct prof_io){0});
            continue;
        }
        who.again = who.again == NEW ? SECOND : who.again == SECOND ? ASK_AGAIN : who.again - 1;
        wr_vec_push(&left, who);
    }
    free(s->strangers.v);
    memcpy(&s->strangers, &left, sizeof s->strangers);
    free(family);
}

/* Its slots are there from now on, for processes that find no room for a profile of their own. */
static void make_shared(struct prof_sampler *s, const struct prof_sampling *what)
{
    struct prof_name names[PROF_ROW_FIRST] = {0};
    struct prof_head h;
    char path[4096];

    struct prof_blank blank = blank_of(s);

    prof_blank_shared(&h, names, &blank, what->clock, what->room_b);
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
        add_target(s, path);
    else if (fd >= 0)
        unlink(path);
    if (s->targets.n > n)
        s->shared = s->targets.v[n].head;
}

bool prof_sampler_open(struct prof_sampler **ret, const struct prof_sampling *what,
                       struct wr_err *err)
{
    struct prof_sampler *s = wr_zalloc(1, sizeof *s);
    struct rlimit files;

    s->notify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (s->notify < 0 || inotify_add_watch(s->notify, what->dir, IN_MOVED_TO) < 0) {
        wr_fail_errno(err, "cannot watch %s; name a directory of this machine with --dir",
                      what->dir);
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
    gethostname(s->host, sizeof s->host - 1);
    s->dir = wr_strdup(what->dir);
    s->job = wr_strdup(what->job);
    s->slice_ns = what->slice_ns;
    s->counters = what->counters;
    s->look_ns = s->slice_ns / 4 < LOOK_NS ? s->slice_ns / 4 : LOOK_NS;
    s->offset_ns = sampler_offset();
    s->last_ns = prof_sampler_now(s);
    s->edge_ns = s->last_ns - s->last_ns % (int64_t)s->slice_ns;
    s->collect = prof_collect_open(s->dir, s->host);
    make_shared(s, what);
    *ret = s;
    return true;
}

int64_t prof_sampler_next(const struct prof_sampler *s)
{
    int64_t look = s->last_ns + (int64_t)s->look_ns, edge = s->edge_ns + (int64_t)s->slice_ns;

    return look < edge ? look : edge;
}

static void look_all(struct prof_sampler *s, int64_t now, bool edge)
{
    int64_t dt = now - s->last_ns;

    for (size_t i = 0; i < s->targets.n; i++)
        if (!s->targets.v[i].gone) {
            look_target(&s->targets.v[i], now, dt);
            if (s->counters)
                attach(s, &s->targets.v[i]);
        }
    if (!edge)
        return;
    int64_t to = now - now % (int64_t)s->slice_ns;

    for (size_t i = 0; i < s->targets.n; i++) {
        struct target *t = &s->targets.v[i];

        if (t->gone)
            continue;
        if (t->kernel)
            look_kernel(t);
        count(s, t, to);
        if (t->edge_ns < to && (t->head->clock == PROF_SAMPLED || t->kernel))
            log_target(s, t, to, true);
    }
    s->edge_ns = to;
}

/* Somebody set the wall clock: times go on as before, and readers are told. */
static void check_step(struct prof_sampler *s)
{
    int64_t off = sampler_offset() - s->offset_ns, moved = s->shared ? off - s->shared->step_ns : 0;

    if (moved < STEP_NS && moved > -STEP_NS)
        return;
    s->shared->steps++;
    s->shared->step_ns = off;
}

/* `all`: also who did not write its end, which takes a system call or three each. */
static void bury_dead(struct prof_sampler *s, int64_t now, bool all)
{
    size_t kept = 0;

    for (size_t i = 0; i < s->targets.n; i++) {
        struct target *t = &s->targets.v[i];

        if (all && t->kernel && !t->gone)
            look_kernel(t);
        if (!t->gone && (all || t->head->state == PROF_ENDED) && !process_alive(t))
            bury(s, t, now);
        if (!t->gone)
            s->targets.v[kept++] = *t;
    }
    s->targets.n = kept;
}

void prof_sampler_look(struct prof_sampler *s, int64_t now, pid_t root)
{
    bool edge = now >= s->edge_ns + (int64_t)s->slice_ns;
    bool search = now - s->family_ns >= FAMILY_NS;

    meet(s); /* first, so that who began just before the edge is told before it */
    look_all(s, now, edge);
    s->last_ns = now;
    bury_dead(s, now, search);
    if (!search)
        return;
    s->family_ns = now;
    collect_held(s);
    check_step(s);
    search_family(s, root, now);
}

/* Hidden profiles of processes without the library come into sight when they are whole. */
static void show_strangers(const struct prof_sampler *s)
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

void prof_sampler_close(struct prof_sampler *s, int64_t now, pid_t root)
{
    meet(s);
    /* A static program may have been too quick for the searches. */
    if (root > 0 && !is_known(s, root))
        adopt(s, root, &(struct prof_io){0});
    look_all(s, now, now >= s->edge_ns + (int64_t)s->slice_ns);
    for (size_t i = 0; i < s->targets.n; i++) {
        struct target *t = &s->targets.v[i];

        if (t->gone)
            continue;
        if (t->kernel)
            look_kernel(t);
        if (process_alive(t)) {
            int64_t end = t->head->end_ns;

            count(s, t, now);
            if (t->head->clock == PROF_SAMPLED || t->kernel)
                log_target(s, t, now, false);
            t->head->end_ns = t->head->shared ? now : end;
            drop_target(s, t);
        } else {
            bury(s, t, now);
        }
    }
    show_strangers(s);
    close(s->notify);
    prof_collect_close(s->collect);
    for (size_t i = 0; i < s->held.n; i++)
        free(s->held.v[i].path);
    wr_vec_fini(&s->held);
    wr_vec_fini(&s->targets);
    wr_vec_fini(&s->known);
    wr_vec_fini(&s->strangers);
    free(s->dir);
    free(s->job);
    free(s);
}
