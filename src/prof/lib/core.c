/* core.c -- the profile of the process: made when the library is loaded and in every forked child;
 * threads claim slots in it.
 *
 * Owns `lib`, the page that the kernel clears in children, and the settings from the environment.
 * Slow work (making a profile, adding names) is done by one thread at a time (lib_enter_slow); the
 * others skip it and never wait for long. */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
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

_Static_assert(FILES_MOST > 0, "a profile has rows for files");
_Static_assert(NAMES_PAGE > (int)PROF_ROW_FIRST, "the first page of names holds the fixed ones");

struct lib_state lib;

/* Cleared by the kernel in a child: no thread has a slot, none is in slow work. */
struct life {
    uint32_t alive;  /* the profile of this process exists, or cannot be made */
    uint32_t inside; /* a thread is in slow work */
    struct prof_slot *slot[PROF_SLOTS];
};

static struct life *life;
static struct prof_slot *no_slot;
LIB_TLS struct prof_slot **lib_mine = &no_slot;
static LIB_TLS bool inside, refused;
static bool loaded; /* the program has started, or is about to */

/* Settings from the environment, copied because a program may change its environment. */
static struct {
    char dir[1024], job[64], argv[1024], host[64];
    uint32_t argv_b;
    uint32_t clock, files, callers;
    int32_t rank, nranks;
    uint64_t slice_ns;
    uint32_t adaptive;
    pid_t launcher; /* on this machine, and alive; 0: none */
    bool nested;    /* it is on this machine, but has no number here: another PID namespace */
    bool on;
} asked;

size_t lib_put(char *to, size_t cap, size_t at, const char *text)
{
    while (*text && at + 1 < cap)
        to[at++] = *text++;
    to[at] = 0;
    return at;
}

size_t lib_put_u64(char *to, size_t cap, size_t at, uint64_t n)
{
    char digits[24];
    int i = 23;

    digits[i] = 0;
    do
        digits[--i] = (char)('0' + n % 10);
    while (n /= 10);
    return lib_put(to, cap, at, digits + i);
}

static void core_warn_once(const char *what, int error)
{
    char text[TEXT];
    size_t n = lib_put(text, sizeof text, 0, "weir: this job is not profiled: ");

    /* Only one process of a job prints. */
    if (asked.rank > 0 || (asked.rank < 0 && getpid() != getpgrp()))
        return;
    n = lib_put(text, sizeof text, n, what);
    n = lib_put(text, sizeof text, n, " ");
    n = lib_put(text, sizeof text, n, asked.dir);
    n = lib_put(text, sizeof text, n, " (error ");
    n = lib_put_u64(text, sizeof text, n, (uint64_t)error);
    n = lib_put(text, sizeof text, n, "); set WEIR_PROF_DIR to a directory with free space\n");
    lib_sys(SYS_write, 2, text, n);
}

bool lib_enter_slow(void)
{
    uint32_t none = 0;

    if (inside || !life)
        return false;
    inside = true;
    /* Slow work is short. The limit is for a thread that ended inside it. */
    for (int i = 0; i < 10000; i++) {
        none = 0;
        if (__atomic_compare_exchange_n(&life->inside, &none, 1, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED))
            return true;
        if (!lib.quiet)
            lib_sys(SYS_sched_yield);
    }
    inside = false;
    return false;
}

void lib_leave_slow(void)
{
    __atomic_store_n(&life->inside, 0, __ATOMIC_RELEASE);
    inside = false;
}

static uint64_t core_parse_number(const char *text, const char **ret_end);

static uint64_t core_pid_start(void)
{
    char text[1024], comm[16];
    uint64_t start = 0;
    uint32_t parent;

    lib.proc_pid = 0;
    if (!lib_read_proc(text, sizeof text, 0, "/stat") ||
        !prof_stat_parse(text, comm, &parent, &start))
        return 0;
    lib.proc_pid = (uint32_t)core_parse_number(text, NULL);
    return start;
}

/* "pid:[4026531836]" */
static uint32_t core_pid_namespace(void)
{
    char text[40];
    long n = lib_sys(SYS_readlink, "/proc/self/ns/pid", text, sizeof text - 1);

    text[n > 0 ? n : 0] = 0;
    return n > 5 ? (uint32_t)core_parse_number(text + 5, NULL) : 0;
}

static int64_t core_clock_ns(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void core_lay_out(struct prof_head *h)
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
    h->children_max = PROF_CHILDREN;
    h->slice_ns = asked.slice_ns;
    h->adaptive = asked.adaptive;
    prof_lay_out(h);
}

/* Both clocks at one moment. The wall clock is derived from the launcher's reading, so that all
 * processes of a job agree when it is set. */
static void core_read_clocks(struct prof_head *h, const struct prof_head *job)
{
    int64_t before = core_clock_ns(CLOCK_MONOTONIC);

    h->real_ns = core_clock_ns(CLOCK_REALTIME);
    /* The mean of two readings around the wall clock's. */
    h->mono_ns = before + (core_clock_ns(CLOCK_MONOTONIC) - before) / 2;
    if (job)
        h->real_ns = h->mono_ns + job->real_ns - job->mono_ns;
    h->start_ns = h->real_ns;
    h->job_ns = job ? job->job_ns : h->real_ns;
}

static void core_describe(struct prof_head *h)
{
    h->pid = (uint32_t)lib_sys(SYS_getpid);
    h->ppid = (uint32_t)lib_sys(SYS_getppid);
    h->pid_root = !h->ppid;
    if (h->pid_root && h->forked) /* lib.pid is still the parent's, in the parent's namespace */
        h->ppid = lib.pid;
    h->uid = (uint32_t)lib_sys(SYS_getuid);
    if (h->pid_root || asked.nested)
        lib.pid_ns = core_pid_namespace();
    h->pid_start = prof_start_in(core_pid_start(), lib.pid_ns);
    h->rank = asked.rank;
    h->nranks = asked.nranks;
    memcpy(h->host, asked.host, sizeof h->host);
    memcpy(h->job, asked.job, sizeof h->job);
    memcpy(h->argv, asked.argv, sizeof h->argv);
    h->argv_b = asked.argv_b;
    long n = lib_sys(SYS_readlink, "/proc/self/exe", h->exe, sizeof h->exe - 1);

    h->exe[n > 0 ? n : 0] = 0;
    h->launcher = (uint32_t)asked.launcher;
    h->sampler = asked.clock == PROF_SAMPLED ? (uint32_t)asked.launcher : 0;
    h->state = PROF_LIVE;
}

static void core_fixed_names(struct prof_name *n)
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

/* The rows of the parent's profile are not valid in the shared one. */
static void core_share(struct prof_head *h)
{
    lib_fd_share();
    lib_mmap_share();
    __atomic_fetch_add(&h->sharers, 1, __ATOMIC_RELAXED);
}

static void core_use_profile(struct prof_head *h, char *at)
{
    lib.names = (struct prof_name *)(at + h->names_at);
    lib.slots = at + h->slots_at;
    lib.log = (struct prof_rec *)(at + h->log_at);
    lib.children = (struct prof_child *)(at + h->children_at);
    lib.names_max = h->names_max;
    lib.slot_b = h->slot_b;
    lib.rows_off = h->slot_b - h->names_max * sizeof(struct prof_row);
    lib.slice_ns = h->slice_ns;
    lib.adaptive = h->adaptive;
    lib.job_ns = h->job_ns;
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

/* A forked child keeps the rows of its parent's mounts and files. */
static void core_inherit_names(struct prof_head *h, const struct prof_name *old, uint32_t n)
{
    h->names_n = n > h->names_max ? h->names_max : n > PROF_ROW_FIRST ? n : PROF_ROW_FIRST;
    core_fixed_names(lib.names);
    if (h->names_n > lib.names_ready &&
        lib_may_touch(lib.names + lib.names_ready,
                      (h->names_n - lib.names_ready) * sizeof *lib.names))
        lib.names_ready = h->names_n;
    if (h->names_n > lib.names_ready) { /* no pages: one row for all storage */
        h->names_n = PROF_ROW_FIRST;
        lib_fd_share();
        lib_mmap_share();
    }
    if (h->names_n > PROF_ROW_FIRST)
        memcpy(lib.names, old, h->names_n * sizeof *old);
}

static void core_begin_own(struct prof_head *h, char *at, const struct prof_name *old,
                           uint32_t old_n)
{
    core_use_profile(h, at);
    lib.map = at;
    lib.map_b = prof_file_b(h);
    core_inherit_names(h, old, old_n);
    lib_clock_init();
    memcpy(at, h, sizeof *h);
    lib.head = (struct prof_head *)at;
    lib_mmap_inherit();
    lib_callers_init();
    if (!lib_counter_file_publish())
        core_warn_once("cannot name a file in", errno);
}

/* Without system calls: uses the shared profile, or none. */
static void core_begin_quiet(void)
{
    struct prof_head *job = lib_counter_file_shared(NULL, NULL, 0);

    lib.head = NULL;
    lib.map = NULL;
    if (!job)
        return;
    core_use_profile(job, (char *)job);
    core_share(job);
    job->quiet = 1;
    lib.head = job;
}

static void core_begin_profile(void)
{
    struct prof_head h = {0}, *job;
    const struct prof_name *old = lib.names;
    uint32_t old_n = lib.head && !lib.shared ? lib.head->names_n : 0;
    char *old_map = lib.map;
    uint64_t old_b = lib.map_b;

    lib.head = NULL;
    lib.map = NULL;
    lib.own_rchar = 0;
    h.forked = loaded;
    job = lib_counter_file_shared(asked.dir, asked.host, (uint64_t)asked.launcher);
    core_lay_out(&h);
    core_read_clocks(&h, job);
    core_describe(&h);
    lib.pid = h.pid;
    char *at = lib_counter_file_own(&h, asked.dir);

    if (at) {
        core_begin_own(&h, at, old, old_n);
    } else if (job) {
        core_use_profile(job, (char *)job);
        core_share(job);
        lib_clock_init();
        lib.head = job;
    } else {
        core_warn_once("cannot write into", errno);
    }
    lib_counter_file_leave(old_map, old_b);
}

static int core_count_object(struct dl_phdr_info *info, size_t size, void *n)
{
    (void)info;
    (void)size;
    ++*(uint32_t *)n;
    return 0;
}

/* Before the program starts: what the kernel has counted so far is the loader's. */
static void core_record_start(void)
{
    loaded = true;
    if (!lib.head || lib.shared)
        return;
    dl_iterate_phdr(core_count_object, &lib.head->objects);
    lib.own_rchar = lib.head->own_rchar = 0; /* included in io_start, except for this read */
    if (lib_io(&lib.head->io_start, 0))
        lib.head->io_known |= PROF_IO_START;
}

static struct prof_slot *core_slot_at(uint32_t i)
{
    return (struct prof_slot *)(lib.slots + i * lib.slot_b);
}

static struct prof_slot *core_new_slot(uint32_t tid, uint32_t *ret_i)
{
    uint32_t most = lib.head->slots_max;

    if (__atomic_load_n(&lib.head->slots_n, __ATOMIC_RELAXED) >= most)
        return NULL;
    uint32_t i = __atomic_fetch_add(&lib.head->slots_n, 1, __ATOMIC_RELAXED);

    if (i >= most || (i >= lib.slots_ready && !lib_may_touch(core_slot_at(i), lib.slot_b)))
        return NULL;
    __atomic_store_n(&core_slot_at(i)->tid, tid, __ATOMIC_RELEASE);
    *ret_i = i;
    return core_slot_at(i);
}

/* In the shared profile it may belong to any process. */
static bool core_thread_ended(uint32_t tid)
{
    return (lib.shared ? lib_sys(SYS_kill, tid, 0) : lib_sys(SYS_tgkill, lib.pid, tid, 0)) &&
           errno == ESRCH;
}

/* Reuses the slot of a thread that has ended; its counts stay. */
static struct prof_slot *core_reuse_slot(uint32_t tid, uint32_t *ret_i)
{
    for (uint32_t i = 0; i < lib.head->slots_max && i < lib.head->slots_n; i++) {
        struct prof_slot *s = core_slot_at(i);
        uint32_t old = i < lib.slots_ready || life->slot[i] ? s->tid : 0;

        if (old && core_thread_ended(old) &&
            __atomic_compare_exchange_n(&s->tid, &old, tid, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED)) {
            *ret_i = i;
            return s;
        }
    }
    return NULL;
}

static struct prof_slot *core_claim_slot(void)
{
    /* Without system calls the tid is unknown: use that of a thread that does not end. */
    uint32_t i = 0, unknown = lib.shared ? 1 : lib.pid;
    uint32_t tid = lib.quiet ? unknown : (uint32_t)lib_sys(SYS_gettid);
    struct prof_slot *s = core_new_slot(tid, &i);

    if (!s && !lib.quiet)
        s = core_reuse_slot(tid, &i);
    refused = !s;
    if (!s)
        return NULL;
    s->in_flight = s->mpi_in_flight = 0;
    s->path = s->mpi_path = 0;
    life->slot[i] = s;
    lib_mine = &life->slot[i];
    return s;
}

/* A thread without a slot: only the number of its calls is recorded. */
static void core_drop_call(void)
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
            core_begin_quiet();
        else if (!life->alive)
            core_begin_profile();
        life->alive = 1;
        lib_leave_slow();
    }
    if (life->alive && lib.head && !refused && !inside) {
        inside = true;
        s = core_claim_slot();
        inside = false;
    }
    if (!s)
        core_drop_call();
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
            c.slot->in_flight = 0;
        return;
    }
    lib_add(&c.word[PROF_CALLS + op], calls - 1);
    lib_end(&c, op, (int64_t)bytes);
}

LIB_SLOW void lib_count_async(enum prof_op op, uint32_t row, uint64_t bytes)
{
    lib_count(op, row, 1, bytes);
    lib_async(op, row, (int64_t)bytes);
    struct prof_slot *s = op <= PROF_WRITE && row != PROF_ROW_OTHER ? lib_slot() : NULL;

    if (s) {
        lib_add(&s->sizes[op][prof_size_class(bytes)], 1);
        lib_add(&s->unplaced[op], 1);
    }
}

LIB_SLOW void lib_async(enum prof_op op, uint32_t row, int64_t bytes)
{
    struct prof_slot *s = lib_slot();

    if (s && op <= PROF_WRITE && bytes > 0)
        lib_add(&lib_words(s, lib_row(row))[PROF_W_read_async + op], (uint64_t)bytes);
}

LIB_SLOW void lib_estimate(enum prof_op op, uint32_t row, uint64_t bytes)
{
    struct lib_call c = lib_begin(op, row, 0);

    if (!c.slot)
        return;
    lib_add(&c.word[op == PROF_READ ? PROF_W_read_estimate : PROF_W_write_estimate], bytes);
    c.slot->in_flight = 0;
}

static uint64_t core_parse_number(const char *text, const char **ret_end)
{
    uint64_t n = 0;

    for (; text && *text >= '0' && *text <= '9' && n < UINT64_MAX / 100; text++)
        n = n * 10 + (uint64_t)(*text - '0');
    if (ret_end)
        *ret_end = text;
    return n;
}

/* "4s", "250ms", "10000000" (ns); none or "auto": adaptive. */
static uint64_t core_parse_slice(const char *text)
{
    const char *unit = "";
    uint64_t n = core_parse_number(text, &unit);

    if (!text || !n)
        return PROF_SLICE_FIRST_NS;
    n *= !strcmp(unit, "s") ? 1000000000 : !strcmp(unit, "ms") ? 1000000 : 1;
    return n < 1000000 ? 1000000 : n > 3600000000000 ? 3600000000000 : n;
}

static int32_t core_parse_rank(const char *const *names)
{
    for (; *names; names++)
        if (getenv(*names))
            return (int32_t)core_parse_number(getenv(*names), NULL);
    return -1;
}

/* The pid of the sampler if it is on this machine and alive; 0 otherwise. */
static pid_t core_parse_sampler(const char *text)
{
    size_t n = strlen(asked.host);

    if (!text || strncmp(text, asked.host, n) || text[n] != ':')
        return 0;
    pid_t pid = (pid_t)core_parse_number(text + n + 1, NULL);

    asked.nested = pid > 0 && lib_sys(SYS_kill, pid, 0) && errno != EPERM;
    return pid > 0 && !asked.nested ? pid : 0;
}

static void core_read_environment(void)
{
    static const char *const rank[] = {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK",
                                       "SLURM_PROCID", NULL};
    static const char *const size[] = {"PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS", NULL};
    const char *dir = getenv("WEIR_PROF_DIR"), *clock = getenv("WEIR_PROF_CLOCK");
    const char *job = getenv("WEIR_PROF_JOB");
    uint64_t files = core_parse_number(getenv("WEIR_PROF_FILES"), NULL);
    uint64_t callers = core_parse_number(getenv("WEIR_PROF_CALLERS"), NULL);

    if (!dir || !*dir || getauxval(AT_SECURE))
        return;
    lib_put(asked.dir, sizeof asked.dir, 0, dir);
    lib_put(asked.job, sizeof asked.job, 0, job ? job : "");
    asked.rank = core_parse_rank(rank);
    asked.nranks = core_parse_rank(size);
    asked.slice_ns = core_parse_slice(getenv("WEIR_PROF_SLICE"));
    asked.adaptive = !core_parse_number(getenv("WEIR_PROF_SLICE"), NULL);
    asked.launcher = core_parse_sampler(getenv("WEIR_PROF_SAMPLER"));
    asked.clock = asked.launcher ? PROF_SAMPLED : PROF_COARSE;
    if (clock && !strcmp(clock, "coarse"))
        asked.clock = PROF_COARSE;
    if (clock && !strcmp(clock, "precise"))
        asked.clock = PROF_PRECISE;
    asked.files = (uint32_t)(files < FILES_MOST ? files : FILES_MOST);
    asked.callers = (uint32_t)(callers < PROF_FRAMES ? callers : PROF_FRAMES);
    asked.on = true;
}

static void core_keep_argv(int argc, char **argv)
{
    for (int i = 0; i < argc && asked.argv_b + 2 < sizeof asked.argv; i++) {
        size_t n = lib_put(asked.argv, sizeof asked.argv, asked.argv_b, argv[i]);

        asked.argv_b = (uint32_t)n + 1;
    }
}

__attribute__((constructor)) static void core_init(int argc, char **argv)
{
    int saved = errno;

    gethostname(asked.host, sizeof asked.host - 1);
    core_read_environment();
    if (!asked.on)
        return;
    core_keep_argv(argc, argv);
    lib_rw_init();
    lib_child_init();
    lib_socket_init(getenv("WEIR_PROF_SOCKETS"));
    lib_reach_init();
    void *at = (void *)lib_sys(SYS_mmap, (void *)NULL, sizeof *life, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1L, 0L);

    /* Without WIPEONFORK a child would count in its parent's slot, so nothing is recorded. */
    if (at != MAP_FAILED && !lib_sys(SYS_madvise, at, sizeof *life, MADV_WIPEONFORK)) {
        life = at;
        lib_slot_slow();
        core_record_start();
    }
    errno = saved;
}

__attribute__((destructor)) static void core_fini(void)
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
    lib_ring_end();
    if (lib.shared)
        return;
    lib_io_note(0);
    lib.head->end_ns =
        lib.still ? lib_now_coarse() : core_clock_ns(CLOCK_MONOTONIC) + lib.offset_ns;
    lib.head->state = PROF_ENDED;
}
