/* callers.c -- the call path of each call, when requested: its row is counted in as well.
 *
 *   write()  <- save_block  <- checkpoint  <- main
 *   caller      frame[1]       next[1] ...             addresses, hashed: a row of its own
 *
 * The direct caller is exact. The others are found by frame pointers: a frame starts with the
 * address of the previous frame, followed by the return address. Code without frame pointers leaves
 * any value in that register, so every step is checked: a frame must be on this thread's stack,
 * above the last one, and its return address in executable memory. Otherwise the path ends. Nothing
 * is allocated, and only this thread's stack is read.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib_priv.h"

enum { CODES = 128, HASH = 4096, TEXT = 16384, MAIN_STACK = 64 << 20 };

_Static_assert(HASH / 4 * 3 > (int)PROF_PATHS, "paths beyond PROF_PATHS are known as well");
_Static_assert((HASH & (HASH - 1)) == 0, "hash table");

/* Frames of this library are skipped. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _etext[] __attribute__((visibility("hidden")));

/* An executable mapping. Added once, never removed. */
struct code {
    uintptr_t low, high;
    uint64_t at; /* its offset in the file */
    uint16_t row;
};

static struct code codes[CODES];
static uint32_t ncodes;
static struct {
    uint64_t hash; /* written last; 0: free */
    uint16_t row;
} known[HASH];
static uint32_t nknown;
static uint16_t others; /* the row of all paths without one */
static LIB_TLS struct {
    uintptr_t low, high; /* the stack of this thread; high 1: not known */
} stack;

/* One line of /proc/self/maps. */
struct mapping {
    uintptr_t low, high;
    uint64_t at;
    bool code;
    const char *path; /* NULL: none */
};

static uint64_t callers_hex(const char **s)
{
    uint64_t n = 0;

    for (;; ++*s) {
        char c = **s;
        int d = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;

        if (d < 0)
            return n;
        n = n << 4 | (uint64_t)d;
    }
}

/* "low-high r-xp offset dev inode   path" */
static struct mapping callers_parse_mapping(const char *s)
{
    struct mapping m = {.low = callers_hex(&s)};

    s += *s == '-';
    m.high = callers_hex(&s);
    m.code = *s == ' ' && s[1] && s[2] && s[3] == 'x';
    s += *s == ' ' ? 1 : 0;
    s = strchr(s, ' ');
    if (!s)
        return m;
    s++;
    m.at = callers_hex(&s);
    m.path = strchr(s, '/');
    if (!m.path)
        m.path = strchr(s, '[');
    return m;
}

/* Called in slow work only, so the buffer is not shared. */
static void callers_each_mapping(void (*each)(const struct mapping *, void *), void *arg)
{
    static char text[TEXT + 1];
    int fd = (int)lib_sys(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
    size_t n = 0;
    long got;

    if (fd < 0)
        return;
    while ((got = lib_sys(SYS_read, fd, text + n, TEXT - n)) > 0) {
        lib_own_read((uint64_t)got);
        char *at = text, *end;

        n += (size_t)got;
        text[n] = 0;
        for (; (end = strchr(at, '\n')); at = end + 1) {
            *end = 0;
            struct mapping m = callers_parse_mapping(at);

            each(&m, arg);
        }
        n = (size_t)(text + n - at);
        memmove(text, at, n);
        if (n == TEXT)
            break;
    }
    lib_sys(SYS_close, fd);
}

static void callers_add_code(const struct mapping *m, void *arg)
{
    (void)arg;
    if (!m->code)
        return;
    for (uint32_t i = 0; i < ncodes; i++)
        if (codes[i].low == m->low && codes[i].high == m->high && codes[i].at == m->at)
            return;
    if (ncodes == CODES)
        return;
    codes[ncodes] = (struct code){.low = m->low, .high = m->high, .at = m->at};
    __atomic_store_n(&ncodes, ncodes + 1, __ATOMIC_RELEASE);
}

static struct code *callers_find_code(uintptr_t at)
{
    uint32_t n = __atomic_load_n(&ncodes, __ATOMIC_ACQUIRE);

    for (uint32_t i = 0; i < n; i++)
        if (at >= codes[i].low && at < codes[i].high)
            return &codes[i];
    return NULL;
}

static void callers_find_stack(const struct mapping *m, void *arg)
{
    uintptr_t here = *(const uintptr_t *)arg, own = (uintptr_t)pthread_self();

    if (here < m->low || here >= m->high)
        return;
    stack.low = m->low;
    stack.high = m->high;
    /* Adjacent mappings may be merged with a thread's stack; its end is the thread descriptor. The
     * main thread's stack grows. */
    if (m->path && !strncmp(m->path, "[stack]", 7))
        stack.low = m->high - MAIN_STACK;
    else if (own > here && own < m->high)
        stack.high = own;
}

/* Reads the mappings: once per thread, and again for code in an unknown mapping. */
static void callers_read_maps(uintptr_t here, uintptr_t caller)
{
    bool all = !callers_find_code(caller);

    if (lib.quiet || !lib_enter_slow())
        return;
    if (!stack.high) {
        stack.high = 1;
        callers_each_mapping(callers_find_stack, &here);
    }
    if (all && ncodes < CODES)
        callers_each_mapping(callers_add_code, NULL);
    lib_leave_slow();
}

static bool callers_is_own(uintptr_t at)
{
    return at >= (uintptr_t)__ehdr_start && at < (uintptr_t)_etext;
}

/* The callers, direct one first. */
static uint32_t callers_walk_stack(uintptr_t *ret, const void *frame, uintptr_t caller)
{
    uintptr_t at = (uintptr_t)frame;
    uint32_t n = 0, most = lib.callers;

    if (!callers_is_own(caller))
        ret[n++] = caller;
    if (at < stack.low || at >= stack.high)
        return n;
    for (int steps = 0; n < most && steps < 2 * PROF_FRAMES; steps++) {
        uintptr_t next = ((const uintptr_t *)at)[0];

        if (next <= at || next % sizeof next || next + 2 * sizeof next > stack.high)
            break;
        uintptr_t back = ((const uintptr_t *)next)[1];

        if (!callers_find_code(back))
            break;
        if (!callers_is_own(back))
            ret[n++] = back;
        at = next;
    }
    return n;
}

struct wanted {
    struct code *code;
    uint16_t row;
};

static void callers_name_module(const struct mapping *m, void *arg)
{
    struct wanted *w = arg;

    if (m->low != w->code->low || !m->path || w->row)
        return;
    uint32_t row = lib_name_claim();

    if (row == PROF_ROW_REST)
        return;
    lib_put(lib.names[row].path, sizeof lib.names[row].path, 0, m->path);
    __atomic_store_n(&lib.names[row].kind, PROF_K_MODULE, __ATOMIC_RELEASE);
    w->row = (uint16_t)row;
}

static struct prof_frame callers_frame(uintptr_t at)
{
    struct code *c = callers_find_code(at);

    if (c && !c->row && !lib.quiet) {
        struct wanted w = {.code = c};

        callers_each_mapping(callers_name_module, &w);
        c->row = w.row;
    }
    if (!c || !c->row)
        return (struct prof_frame){.offset = at};
    return (struct prof_frame){.module = c->row, .offset = at - c->low + c->at};
}

/* In slow work. */
static uint16_t callers_new_path(uint64_t hash, const uintptr_t *at, uint32_t n)
{
    uint32_t row = lib.path_rows < PROF_PATHS ? lib_name_claim() : PROF_ROW_REST;

    if (row == PROF_ROW_REST)
        return others;
    struct prof_name *name = &lib.names[row];
    struct prof_frame frame[PROF_FRAMES] = {0};

    lib.path_rows++;
    name->id = hash;
    name->dev = n;
    for (uint32_t i = 0; i < n; i++)
        frame[i] = callers_frame(at[i]);
    memcpy(name->path, frame, sizeof frame);
    __atomic_store_n(&name->kind, PROF_K_PATH, __ATOMIC_RELEASE);
    return (uint16_t)row;
}

/* A static table that is read without a lock: wr_map allocates. */
static uint16_t callers_find(uint64_t hash, uint32_t *ret_place)
{
    uint32_t i = (uint32_t)(hash >> 40) % HASH;
    uint64_t h;

    for (; (h = __atomic_load_n(&known[i].hash, __ATOMIC_ACQUIRE)); i = (i + 1) % HASH)
        if (h == hash)
            return known[i].row;
    *ret_place = i;
    return 0;
}

static uint16_t callers_add(uint64_t hash, const uintptr_t *at, uint32_t n)
{
    uint16_t row = others;
    uint32_t i = 0;

    if (nknown >= HASH / 4 * 3 || !lib_enter_slow())
        return row;
    uint16_t old = callers_find(hash, &i);

    if (!old) {
        row = callers_new_path(hash, at, n);
        known[i].row = row;
        nknown++;
        __atomic_store_n(&known[i].hash, hash, __ATOMIC_RELEASE);
    }
    lib_leave_slow();
    return old ? old : row;
}

/* The row of a call path, which is added if new. */
LIB_SLOW uint32_t lib_caller_row(const void *frame, const void *caller)
{
    uintptr_t at[PROF_FRAMES];
    uint64_t hash = 0x9e3779b97f4a7c15u;
    uint32_t place;
    int saved = errno;

    if (!stack.high || !callers_find_code((uintptr_t)caller))
        callers_read_maps((uintptr_t)frame, (uintptr_t)caller);
    uint32_t n = callers_walk_stack(at, frame, (uintptr_t)caller);

    for (uint32_t i = 0; i < n; i++) {
        hash = (hash ^ at[i]) * 0xff51afd7ed558ccdu;
        hash ^= hash >> 33;
    }
    hash += !hash;
    uint16_t row = n ? callers_find(hash, &place) : others;

    if (!row)
        row = callers_add(hash, at, n);
    errno = saved;
    return row;
}

/* At the start of a profile. A forked child has its parent's names. */
void lib_callers_init(void)
{
    if (!lib.callers || others)
        return;
    uint32_t row = lib_name_claim();

    __atomic_store_n(&lib.names[row].kind, PROF_K_PATH, __ATOMIC_RELEASE);
    others = (uint16_t)row;
}

/* Only calls on storage have paths. */
uint64_t *lib_path_words(const struct lib_call *c)
{
    bool storage = c->slot->path && c->word != lib_words(c->slot, PROF_ROW_OTHER);

    return storage ? lib_words(c->slot, c->slot->path - 1) : NULL;
}

void lib_count_caller(struct lib_call *c, enum prof_op op, uint64_t calls, int64_t bytes)
{
    uint64_t *word = lib_path_words(c);

    if (!word)
        return;
    lib_add(&word[PROF_CALLS + op], calls);
    if (op <= PROF_WRITE && bytes > 0)
        lib_add(&word[PROF_BYTES + op], (uint64_t)bytes);
}
