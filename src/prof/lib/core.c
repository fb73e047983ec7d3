/* core.c -- one profile per process: made at the start and in every forked child, claimed by
 * threads. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib_priv.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

enum { TEXT = 4096, NAMES_PAGE = 4096 / sizeof(struct prof_name) };
enum { FILES_MOST = PROF_NAMES_MOST - PROF_NAMES - PROF_WRITTEN - PROF_PATHS - 1 - PROF_MODULES };

struct lib_state lib;

/* Cleared by the kernel in a child: nobody has a slot, nobody is inside. */
struct life {
    uint32_t alive;  /* the profile of this very process is there, or cannot be */
    uint32_t inside; /* a thread is in slow work */
    struct prof_slot *slot[PROF_SLOTS];
};

static struct life *life;
static struct prof_slot *nobody;
LIB_TLS struct prof_slot **lib_mine = &nobody;
static LIB_TLS bool inside, refused;

/* What the environment asked for, kept because a program may change its environment. */
static struct {
    char dir[1024], job[64], argv[1024], host[64];
    uint32_t argv_b;
    uint32_t clock, files, callers;
    int32_t rank, nranks;
    uint64_t slice_ns;
    pid_t launcher; /* on this machine, and alive; 0: none */
    bool on;
} asked;

size_t lib_put(char *to, size_t room, size_t at, const char *text)
{
    while (*text && at + 1 < room)
        to[at++] = *text++;
    to[at] = 0;
    return at;
}

size_t lib_put_u64(char *to, size_t room, size_t at, uint64_t n)
{
    char digits[24];
    int i = 23;

    digits[i] = 0;
    do
        digits[--i] = (char)('0' + n % 10);
    while (n /= 10);
    return lib_put(to, room, at, digits + i);
}

static void warn_once(const char *what, int error)
{
    char text[TEXT];
    size_t n = lib_put(text, sizeof text, 0, "weir: this job is not profiled: ");

    /* One process of a job speaks. */
    if (asked.rank > 0 || (asked.rank < 0 && getpid() != getpgrp()))
        return;
    n = lib_put(text, sizeof text, n, what);
    n = lib_put(text, sizeof text, n, " ");
    n = lib_put(text, sizeof text, n, asked.dir);
    n = lib_put(text, sizeof text, n, " (error ");
    n = lib_put_u64(text, sizeof text, n, (uint64_t)error);
    n = lib_put(text, sizeof text, n, "); set WEIR_PROF_DIR to a directory with room\n");
    syscall(SYS_write, 2, text, n);
}

bool lib_enter_slow(void)
{
    uint32_t none = 0;

    if (inside || !life)
        return false;
    inside = true;
    /* Whoever is inside is done soon; whoever died there must not hold up the rest. */
    for (int i = 0; i < 10000; i++) {
        none = 0;
        if (__atomic_compare_exchange_n(&life->inside, &none, 1, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED))
            return true;
        if (!lib.quiet)
            syscall(SYS_sched_yield);
    }
    inside = false;
    return false;
}

void lib_leave_slow(void)
{
    __atomic_store_n(&life->inside, 0, __ATOMIC_RELEASE);
    inside = false;
}

static uint64_t pid_start(void)
{
    char text[512];
    int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/stat", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? syscall(SYS_read, fd, text, sizeof text - 1) : -1;
    uint64_t start = 0;

    if (fd >= 0)
        syscall(SYS_close, fd);
    if (n <= 0)
        return 0;
    text[n] = 0;
    const char *s = strrchr(text, ')');

    for (int field = 2; s && field < 22; field++)
        s = strchr(s + 1, ' ');
    for (s = s ? s + 1 : ""; *s >= '0' && *s <= '9'; s++)
        start = start * 10 + (uint64_t)(*s - '0');
    return start;
}

static int64_t ns_of(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void lay_out(struct prof_head *h)
{
    memcpy(h->magic, PROF_MAGIC, sizeof h->magic);
    h->version = PROF_VERSION;
    h->order = PROF_ORDER;
    h->clock = asked.clock;
    h->names_max = PROF_NAMES + PROF_WRITTEN + asked.files;
    if (asked.callers)
        h->names_max += PROF_PATHS + 1 + PROF_MODULES;
    h->files = asked.files;
    h->callers = asked.callers;
    h->slots_max = PROF_SLOTS;
    h->log_max = PROF_LOG;
    h->slice_ns = asked.slice_ns;
    prof_lay_out(h);
}

/* Two clocks at one moment. The wall clock is as the launcher read it, so that all of a job go on
 * together when it is set. */
static void read_clocks(struct prof_head *h, const struct prof_head *job)
{
    int64_t before = ns_of(CLOCK_MONOTONIC);

    h->real_ns = ns_of(CLOCK_REALTIME);
    /* The middle of two readings: what lies between is not the clock's. */
    h->mono_ns = before + (ns_of(CLOCK_MONOTONIC) - before) / 2;
    if (job)
        h->real_ns = h->mono_ns + job->real_ns - job->mono_ns;
    h->start_ns = h->real_ns;
}

static void describe(struct prof_head *h)
{
    h->pid = (uint32_t)syscall(SYS_getpid);
    h->ppid = (uint32_t)syscall(SYS_getppid);
    h->uid = (uint32_t)syscall(SYS_getuid);
    h->pid_start = pid_start();
    h->rank = asked.rank;
    h->nranks = asked.nranks;
    memcpy(h->host, asked.host, sizeof h->host);
    memcpy(h->job, asked.job, sizeof h->job);
    memcpy(h->argv, asked.argv, sizeof h->argv);
    h->argv_b = asked.argv_b;
    long n = syscall(SYS_readlink, "/proc/self/exe", h->exe, sizeof h->exe - 1);

    h->exe[n > 0 ? n : 0] = 0;
    h->launcher = (uint32_t)asked.launcher;
    h->sampler = asked.clock == PROF_SAMPLED ? (uint32_t)asked.launcher : 0;
    h->state = PROF_LIVE;
}

static void fixed_names(struct prof_name *n)
{
    static const struct {
        enum prof_kind kind;
        const char *path;
    } fixed[PROF_ROW_FIRST] = {
        [PROF_ROW_OTHER] = {PROF_K_OTHER, "(not storage)"},
        [PROF_ROW_MPI] = {PROF_K_MPI, "(MPI)"},
        [PROF_ROW_MPI_COLL] = {PROF_K_MPI_COLL, "(collective MPI-IO)"},
        [PROF_ROW_REST] = {PROF_K_REST, "(other storage)"},
        [PROF_ROW_COUNTERS] = {PROF_K_COUNTERS, "(counters)"},
    };

    for (int i = 0; i < PROF_ROW_FIRST; i++) {
        lib_put(n[i].path, sizeof n[i].path, 0, fixed[i].path);
        n[i].kind = fixed[i].kind;
    }
}

/* Rows of the parent's profile mean something else, or nothing, in the shared one. */
static void share(struct prof_head *h)
{
    lib_fd_share();
    lib_mmap_share();
    __atomic_fetch_add(&h->sharers, 1, __ATOMIC_RELAXED);
}

static void use(struct prof_head *h, char *at)
{
    lib.names = (struct prof_name *)(at + h->names_at);
    lib.slots = at + h->slots_at;
    lib.log = (struct prof_rec *)(at + h->log_at);
    lib.names_max = h->names_max;
    lib.slot_b = h->slot_b;
    lib.rows_off = h->slot_b - h->names_max * sizeof(struct prof_row);
    lib.slice_ns = h->slice_ns;
    lib.offset_ns = h->real_ns - h->mono_ns;
    lib.clock = h->clock;
    lib.files = h->files;
    lib.callers = h->callers;
    lib.rw = h->callers ? PROF_PRECISE : h->clock;
    lib.shared = h->shared;
    lib.slots_ready = h->shared ? h->slots_max : 1;
    lib.names_ready = h->shared ? h->names_max : NAMES_PAGE;
    lib.log_ready = h->shared ? __atomic_load_n(&h->log_n, __ATOMIC_RELAXED) : 0;
}

/* A forked child knows its parent's mounts and files by the same rows. */
static void inherit_names(struct prof_head *h, const struct prof_name *old, uint32_t n)
{
    h->names_n = n > h->names_max ? h->names_max : n > PROF_ROW_FIRST ? n : PROF_ROW_FIRST;
    fixed_names(lib.names);
    if (h->names_n > lib.names_ready &&
        lib_may_touch(lib.names + lib.names_ready,
                      (h->names_n - lib.names_ready) * sizeof *lib.names))
        lib.names_ready = h->names_n;
    if (h->names_n > lib.names_ready) { /* no room: all storage is one to it */
        h->names_n = PROF_ROW_FIRST;
        lib_fd_share();
        lib_mmap_share();
    }
    if (h->names_n > PROF_ROW_FIRST)
        memcpy(lib.names, old, h->names_n * sizeof *old);
}

static void begin_own(struct prof_head *h, char *at, const struct prof_name *old, uint32_t old_n)
{
    use(h, at);
    lib.map = at;
    lib.map_b = prof_file_b(h);
    inherit_names(h, old, old_n);
    lib_clock_init();
    memcpy(at, h, sizeof *h);
    lib.head = (struct prof_head *)at;
    lib_callers_init();
    if (!lib_room_show())
        warn_once("cannot name a file in", errno);
}

/* Without a system call: in the launcher's profile, or not at all. */
static void begin_quietly(void)
{
    struct prof_head *job = lib_room_shared(NULL, NULL, 0);

    lib.head = NULL;
    lib.map = NULL;
    if (!job)
        return;
    use(job, (char *)job);
    share(job);
    job->quiet = 1;
    lib.head = job;
}

static void begin_profile(void)
{
    struct prof_head h = {0}, *job;
    const struct prof_name *old = lib.names;
    uint32_t old_n = lib.head && !lib.shared ? lib.head->names_n : 0;
    char *old_map = lib.map;
    uint64_t old_b = lib.map_b;

    lib.head = NULL;
    lib.map = NULL;
    job = lib_room_shared(asked.dir, asked.host, (uint64_t)asked.launcher);
    lay_out(&h);
    read_clocks(&h, job);
    describe(&h);
    lib.pid = h.pid;
    char *at = lib_room_own(&h, asked.dir);

    if (at) {
        begin_own(&h, at, old, old_n);
    } else if (job) {
        use(job, (char *)job);
        share(job);
        lib_clock_init();
        lib.head = job;
    } else {
        warn_once("cannot write into", errno);
    }
    lib_room_leave(old_map, old_b);
}

static struct prof_slot *slot_at(uint32_t i)
{
    return (struct prof_slot *)(lib.slots + i * lib.slot_b);
}

static struct prof_slot *fresh_slot(uint32_t tid, uint32_t *ret_i)
{
    uint32_t most = lib.head->slots_max;

    if (__atomic_load_n(&lib.head->slots_n, __ATOMIC_RELAXED) >= most)
        return NULL;
    uint32_t i = __atomic_fetch_add(&lib.head->slots_n, 1, __ATOMIC_RELAXED);

    if (i >= most || (i >= lib.slots_ready && !lib_may_touch(slot_at(i), lib.slot_b)))
        return NULL;
    __atomic_store_n(&slot_at(i)->tid, tid, __ATOMIC_RELEASE);
    *ret_i = i;
    return slot_at(i);
}

/* In the shared profile it may be a thread of any process. */
static bool has_ended(uint32_t tid)
{
    return (lib.shared ? syscall(SYS_kill, tid, 0) : syscall(SYS_tgkill, lib.pid, tid, 0)) &&
           errno == ESRCH;
}

/* The slot of a thread that has ended, when there is no fresh one. What it counted stays. */
static struct prof_slot *inherit_slot(uint32_t tid, uint32_t *ret_i)
{
    for (uint32_t i = 0; i < lib.head->slots_max && i < lib.head->slots_n; i++) {
        struct prof_slot *s = slot_at(i);
        uint32_t old = i < lib.slots_ready || life->slot[i] ? s->tid : 0;

        if (old && has_ended(old) &&
            __atomic_compare_exchange_n(&s->tid, &old, tid, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED)) {
            *ret_i = i;
            return s;
        }
    }
    return NULL;
}

static struct prof_slot *claim_slot(void)
{
    /* One that nobody can ask for its number has that of one that does not end. */
    uint32_t i = 0, unknown = lib.shared ? 1 : lib.pid;
    uint32_t tid = lib.quiet ? unknown : (uint32_t)syscall(SYS_gettid);
    struct prof_slot *s = fresh_slot(tid, &i);

    if (!s && !lib.quiet)
        s = inherit_slot(tid, &i);
    refused = !s;
    if (!s)
        return NULL;
    s->flight = s->mpi_flight = 0;
    s->path = s->mpi_path = 0;
    life->slot[i] = s;
    lib_mine = &life->slot[i];
    return s;
}

/* A thread without a slot: what it does is known only as a number of calls. */
static void drop(void)
{
    if (life && life->alive && lib.head)
        __atomic_fetch_add(&lib.head->dropped_calls, 1, __ATOMIC_RELAXED);
}

LIB_SLOW struct prof_slot *lib_slot_slow(void)
{
    struct prof_slot *s = NULL;
    int saved = errno;

    if (!life)
        return NULL;
    if (!life->alive && lib_enter_slow()) {
        refused = false;
        if (!life->alive && lib.quiet)
            begin_quietly();
        else if (!life->alive)
            begin_profile();
        life->alive = 1;
        lib_leave_slow();
    }
    if (life->alive && lib.head && !refused && !inside) {
        inside = true;
        s = claim_slot();
        inside = false;
    }
    if (!s)
        drop();
    errno = saved;
    return s;
}

uint32_t lib_name_claim(void)
{
    uint32_t n = __atomic_load_n(&lib.head->names_n, __ATOMIC_RELAXED);

    if (lib.shared || n >= lib.head->names_max)
        return PROF_ROW_REST;
    if (n >= lib.names_ready) {
        if (!lib_may_touch(&lib.names[n], sizeof *lib.names))
            return PROF_ROW_REST;
        lib.names_ready = n + NAMES_PAGE - n % NAMES_PAGE;
    }
    __atomic_store_n(&lib.head->names_n, n + 1, __ATOMIC_RELEASE);
    return n;
}

LIB_SLOW void lib_count(enum prof_op op, uint32_t row, uint64_t calls, uint64_t bytes)
{
    struct lib_call c = lib_begin(op, row, bytes);

    if (!c.slot || !calls) {
        if (c.slot)
            c.slot->flight = 0;
        return;
    }
    lib_add(&c.word[PROF_CALLS + op], calls - 1);
    lib_end(&c, op, (int64_t)bytes);
}

LIB_SLOW void lib_estimate(enum prof_op op, uint32_t row, uint64_t bytes)
{
    struct lib_call c = lib_begin(op, row, 0);

    if (!c.slot)
        return;
    lib_add(&c.word[op == PROF_READ ? PROF_W_read_estimate : PROF_W_write_estimate], bytes);
    c.slot->flight = 0;
}

static uint64_t number(const char *text, const char **ret_end)
{
    uint64_t n = 0;

    for (; text && *text >= '0' && *text <= '9' && n < UINT64_MAX / 100; text++)
        n = n * 10 + (uint64_t)(*text - '0');
    if (ret_end)
        *ret_end = text;
    return n;
}

/* "4s", "250ms", "10000000" (ns). */
static uint64_t slice_of(const char *text)
{
    const char *unit = "";
    uint64_t n = number(text, &unit);

    if (!text || !n)
        return 4000000000;
    n *= !strcmp(unit, "s") ? 1000000000 : !strcmp(unit, "ms") ? 1000000 : 1;
    return n < 1000000 ? 1000000 : n > 3600000000000 ? 3600000000000 : n;
}

static int32_t rank_of(const char *const *names)
{
    for (; *names; names++)
        if (getenv(*names))
            return (int32_t)number(getenv(*names), NULL);
    return -1;
}

/* Is the sampler that started us on this machine, and alive? */
static pid_t sampler_of(const char *text)
{
    size_t n = strlen(asked.host);

    if (!text || strncmp(text, asked.host, n) || text[n] != ':')
        return 0;
    pid_t pid = (pid_t)number(text + n + 1, NULL);

    return pid > 0 && (!syscall(SYS_kill, pid, 0) || errno == EPERM) ? pid : 0;
}

static void read_environment(void)
{
    static const char *const rank[] = {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK",
                                       "SLURM_PROCID", NULL};
    static const char *const size[] = {"PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS", NULL};
    const char *dir = getenv("WEIR_PROF_DIR"), *clock = getenv("WEIR_PROF_CLOCK");
    const char *job = getenv("WEIR_PROF_JOB");
    uint64_t files = number(getenv("WEIR_PROF_FILES"), NULL);
    uint64_t callers = number(getenv("WEIR_PROF_CALLERS"), NULL);

    if (!dir || !*dir || getauxval(AT_SECURE))
        return;
    lib_put(asked.dir, sizeof asked.dir, 0, dir);
    lib_put(asked.job, sizeof asked.job, 0, job ? job : "");
    asked.rank = rank_of(rank);
    asked.nranks = rank_of(size);
    asked.slice_ns = slice_of(getenv("WEIR_PROF_SLICE"));
    asked.launcher = sampler_of(getenv("WEIR_PROF_SAMPLER"));
    asked.clock = asked.launcher ? PROF_SAMPLED : PROF_COARSE;
    if (clock && !strcmp(clock, "coarse"))
        asked.clock = PROF_COARSE;
    if (clock && !strcmp(clock, "precise"))
        asked.clock = PROF_PRECISE;
    asked.files = (uint32_t)(files < FILES_MOST ? files : FILES_MOST);
    asked.callers = (uint32_t)(callers < PROF_FRAMES ? callers : PROF_FRAMES);
    asked.on = true;
}

static void keep_words(int argc, char **argv)
{
    for (int i = 0; i < argc && asked.argv_b + 2 < sizeof asked.argv; i++) {
        size_t n = lib_put(asked.argv, sizeof asked.argv, asked.argv_b, argv[i]);

        asked.argv_b = (uint32_t)n + 1;
    }
}

__attribute__((constructor)) static void begin(int argc, char **argv)
{
    int saved = errno;

    gethostname(asked.host, sizeof asked.host - 1);
    read_environment();
    if (!asked.on)
        return;
    keep_words(argc, argv);
    lib_rw_init();
    lib_reach_init();
    void *at = (void *)syscall(SYS_mmap, NULL, sizeof *life, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1L, 0L);

    /* Without this a child would count for its parent: better not at all. */
    if (at != MAP_FAILED && !syscall(SYS_madvise, at, sizeof *life, MADV_WIPEONFORK)) {
        life = at;
        lib_slot_slow();
        lib_mounts_init();
    }
    errno = saved;
}

__attribute__((destructor)) static void end(void)
{
    int saved = errno;

    lib_end_process();
    errno = saved;
}

void lib_end_process(void)
{
    if (!life || !life->alive || !lib.head)
        return;
    lib_mmap_end();
    if (lib.shared)
        return;
    lib.head->end_ns = lib.still ? lib_now_coarse() : ns_of(CLOCK_MONOTONIC) + lib.offset_ns;
    lib.head->state = PROF_ENDED;
}
