/* call_clock.c -- clocks read in the process: slices that a thread closes itself, calls that are
 * timed.
 *
 *      from_ns        edge_ns
 *   ------|--------------|-------> wall clock
 *         calls are added to the rows; the first call that ends after the edge logs what
 *         changed as [from, edge), and itself, if it started before, as [t0, now)
 *
 * Used in the coarse and precise clocks only. In the sampled clock the sampler writes the log.
 */
#include <dlfcn.h>
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>
#if defined __x86_64__
#include <cpuid.h>
#include <x86intrin.h>
#endif

#include "lib_priv.h"

enum { LOG_FIRST = 25, LOG_STEP = 400 }; /* records allocated at a time: a page, 64 KiB */
/* The TSC is used after so much time, in which its rate is measured; sooner before a filter. */
enum { MEASURE_NS = 1000000, MEASURE_SOONER_NS = 60000 };

static int64_t clock_mono_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

#if defined __x86_64__
static uint64_t clock_ticks(void)
{
    return __rdtsc();
}

/* The TSC is used only if it is invariant. */
static bool clock_ticks_steady(void)
{
    unsigned a, b, c, d;

    return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8));
}
#else
static uint64_t clock_ticks(void)
{
    return 0;
}

static bool clock_ticks_steady(void)
{
    return false;
}
#endif

/* Measured since the start of the process, so it gets more exact with every slice. */
static void clock_measure_ticks(void)
{
    uint64_t t = clock_ticks() - lib.tsc_base;
    int64_t ns = clock_mono_ns() - lib.mono_base;

    if (t && ns > 0)
        __atomic_store_n(&lib.tsc_mul, (uint64_t)(((unsigned __int128)(uint64_t)ns << 32) / t),
                         __ATOMIC_RELAXED);
}

void lib_clock_init(void)
{
    void *vdso = lib.gettime ? NULL : dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);

    if (vdso)
        *(void **)&lib.gettime = dlsym(vdso, "__vdso_clock_gettime");
    if (!lib.gettime)
        lib.gettime = clock_gettime;
    if (lib.clock != PROF_PRECISE || lib.tsc_base || !clock_ticks_steady())
        return;
    lib.mono_base = clock_mono_ns();
    lib.tsc_base = clock_ticks();
}

void lib_clock_settle(void)
{
    if (!lib.tsc_base || lib.tsc_mul)
        return;
    while (clock_mono_ns() - lib.mono_base < MEASURE_SOONER_NS)
        ;
    clock_measure_ticks();
}

/* Until the rate of the TSC is known. */
LIB_SLOW static int64_t clock_now_first(void)
{
    if (lib.still)
        return lib_now_coarse();
    int64_t now = clock_mono_ns();

    if (lib.tsc_base && now - lib.mono_base >= MEASURE_NS)
        clock_measure_ticks();
    return now + lib.offset_ns;
}

int64_t lib_now_precise(void)
{
    uint64_t mul = __atomic_load_n(&lib.tsc_mul, __ATOMIC_RELAXED);

    if (lib_unlikely(!mul))
        return clock_now_first();
    return (int64_t)(((unsigned __int128)(clock_ticks() - lib.tsc_base) * mul) >> 32) +
           lib.mono_base + lib.offset_ns;
}

/* Small reads and writes are timed by the precise clock only: reading the coarse clock twice would
 * double the cost of the wrapper. */
int64_t lib_clock_begin(uint64_t want, bool bulk)
{
    if (lib.clock == PROF_PRECISE)
        return lib_now_precise();
    return !bulk || want >= LIB_BIG ? lib_now_coarse() : 0;
}

static struct prof_rec *clock_claim_record(void)
{
    uint64_t i = __atomic_fetch_add(&lib.head->log_n, 1, __ATOMIC_RELAXED);
    uint64_t ready = __atomic_load_n(&lib.log_ready, __ATOMIC_RELAXED), most = lib.head->log_max;
    uint64_t more = i < LOG_STEP ? i + LOG_FIRST : i + LOG_STEP;

    more = more < most ? more : most;
    if (i < most && i >= ready &&
        lib_may_touch(&lib.log[ready], (more - ready) * sizeof *lib.log)) {
        __atomic_store_n(&lib.log_ready, more, __ATOMIC_RELAXED);
        ready = more;
    }
    if (i < most && i < ready)
        return &lib.log[i];
    __atomic_fetch_add(&lib.head->dropped_recs, 1, __ATOMIC_RELAXED);
    return NULL;
}

static void clock_log_row(struct prof_slot *s, uint32_t row, int64_t from_ns, int64_t to_ns,
                          uint64_t calls_in_flight)
{
    struct prof_row *r = (struct prof_row *)((char *)s + lib.rows_off) + row;
    uint64_t sum = prof_row_sum(r), *logged = &prof_logged(s)[row];
    struct prof_rec *rec;

    if (sum == *logged && !calls_in_flight)
        return;
    *logged = sum;
    if (!(rec = clock_claim_record()))
        return;
    rec->slot = (uint16_t)((uint64_t)((char *)s - lib.slots) / lib.slot_b);
    rec->row = (uint16_t)row;
    rec->from_ns = from_ns;
    rec->to_ns = to_ns;
    rec->calls_in_flight = calls_in_flight;
    for (int i = 0; i < PROF_WORDS_N; i++)
        rec->word[i] = r->word[i];
    __atomic_store_n(&rec->ready, 1, __ATOMIC_RELEASE);
}

/* Closes the current slice and opens the one of `now`. `t0` and `row`: the call that is being
 * added; it was in flight at the edge if it started before. */
LIB_SLOW static void clock_next_slice(struct prof_slot *s, uint32_t row, int64_t t0, int64_t now)
{
    int64_t slice = (int64_t)(lib.adaptive ? prof_slice_at(now - lib.job_ns) : lib.slice_ns);
    uint32_t n = lib.head->names_n;
    int saved = errno;

    if (s->edge_ns)
        for (uint32_t i = 0; i < n; i++)
            if (i != PROF_ROW_COUNTERS) /* written by the sampler */
                clock_log_row(s, i, s->from_ns, s->edge_ns, i == row && t0 && t0 < s->edge_ns);
    __atomic_store_n(&s->from_ns, now - now % slice, __ATOMIC_RELAXED);
    __atomic_store_n(&s->edge_ns, s->from_ns + slice, __ATOMIC_RELAXED);
    if (lib.tsc_mul && !lib.still)
        clock_measure_ticks();
    errno = saved;
}

void lib_next_slice(struct prof_slot *s)
{
    clock_next_slice(s, UINT32_MAX, 0, lib_now_coarse());
}

static void clock_end_call(struct lib_call *c, enum prof_op op, uint64_t calls, int64_t bytes,
                           bool timed)
{
    int64_t now = lib.clock == PROF_PRECISE ? lib_now_precise() : lib_now_coarse();
    struct prof_slot *s = c->slot;
    uint32_t row = (uint32_t)(((uint64_t)((char *)c->word - (char *)s) - lib.rows_off) /
                              sizeof(struct prof_row));

    if (lib_unlikely(now >= s->edge_ns))
        clock_next_slice(s, row, c->t0, now);
    lib_add(&c->word[PROF_CALLS + op], calls);
    if (op <= PROF_WRITE && bytes > 0)
        lib_add(&c->word[PROF_BYTES + op], (uint64_t)bytes);
    if (timed && c->t0 && now > c->t0)
        lib_add(&c->word[PROF_TIME + op], (uint64_t)(now - c->t0));
    uint64_t *path = lib_unlikely(lib.callers) ? lib_path_words(c) : NULL;

    if (path) {
        lib_count_caller(c, op, calls, bytes);
        if (timed && c->t0 && now > c->t0)
            lib_add(&path[PROF_TIME + op], (uint64_t)(now - c->t0));
    }
    if (lib_unlikely(c->t0 && c->t0 < s->from_ns)) {
        int saved = errno;

        clock_log_row(s, row, c->t0, now, 0);
        if (path)
            clock_log_row(s, s->path - 1, c->t0, now, 0);
        errno = saved;
    }
    __atomic_store_n(&s->in_flight, 0, __ATOMIC_RELAXED);
}

void lib_clock_end(struct lib_call *c, enum prof_op op, int64_t bytes)
{
    clock_end_call(c, op, 1, bytes, true);
}

void lib_end_source(struct lib_call *c, uint32_t row, int64_t bytes)
{
    if (!c->slot)
        return;
    c->slot->source = 0;
    lib_move(c, row);
    if (lib.clock)
        clock_end_call(c, PROF_READ, 1, bytes, false);
    else
        lib_end(c, PROF_READ, bytes);
}

void lib_end_time(struct lib_call *c, enum prof_op op)
{
    if (c->slot && lib.clock)
        clock_end_call(c, op, 0, 0, true);
    else if (c->slot)
        __atomic_store_n(&c->slot->in_flight, 0, __ATOMIC_RELAXED);
}
