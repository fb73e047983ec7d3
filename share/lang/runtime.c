/* runtime.c -- what every compiled program contains: the state of the task, options, counters,
 * events and logs.
 *
 * Data is transferred by the chosen back end, further below: comm_* for messages, io_* for files.
 * A program that reads files runs twice: a dry run finds what will be read, so that it can be
 * written before the clock starts. All state is static; one process executes one task at a time. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* One buffer of messages, kept as long as a message begun with it may need it. */
struct nc_hold {
    uint32_t of;  /* what AWAITS COMPLETION must wait for: NCPTL_SENDS, ... */
    void *memory; /* to free when the operation is complete, or NULL */
    char *data;   /* where the message lies in it */
    int64_t bytes;
    uint32_t source;
    uint32_t flags; /* NCPTL_F_TOUCH, NCPTL_F_VERIFY */
};

/* What a task knows about a file. */
struct nc_file {
    int64_t number, next; /* where the next access begins */
    int64_t from, to;     /* will be read, according to the dry run */
    bool used, made;      /* made: by this process, which also removes it */
    void *handle;         /* of io_*, NULL while it is closed */
};

/* comm_*: processors are numbered as in MPI; a hold means that the operation is only begun. */
void comm_start(int *argc, char ***argv);
bool comm_tasks(int64_t wanted); /* 0: as many as there are; false: not possible */
uint32_t comm_first(void);       /* processors played by this process: from ... */
uint32_t comm_last(void);        /* ... to */
void comm_end(void);
void comm_abort(int status) __attribute__((noreturn));
void comm_send(uint32_t to, const void *data, int64_t bytes, int tag, const struct nc_hold *hold);
bool comm_receive(uint32_t from, void *data, int64_t bytes, int tag, const struct nc_hold *hold);
bool comm_multicast(uint32_t root, const struct nc_set *with, void *data, int64_t bytes,
                    const struct nc_hold *hold);
void comm_reduce(const struct nc_set *from, const struct nc_set *to, void *data, void *result,
                 int64_t count, bool wide);
void comm_barrier(const struct nc_set *of); /* NULL: all */
int64_t comm_least(int64_t mine);           /* of all tasks */
void comm_wait(uint32_t of);
bool comm_pending(void);
/* The texts of all processors, in their order, to `out` of the first one. */
void comm_collect(const struct wr_str *mine, FILE *out);
int comm_largest_tag(void);
void comm_align(void); /* all start, or end, together: no operation of the program */
uint64_t comm_now_ps(void);
void comm_compute(int64_t nsecs);
void comm_sleep(int64_t nsecs);

/* io_*: `bytes` at `offset`; a hold means that the access is only begun. */
void io_open(struct nc_file *f, const char *name, uint32_t mode);
void io_close(struct nc_file *f);
void io_flush(struct nc_file *f, const char *name);
void io_access(struct nc_file *f, const char *name, bool writes, char *data, int64_t bytes,
               int64_t offset, const struct nc_set *with, const struct nc_hold *hold);
void io_wait(void);
bool io_pending(void);
void io_end(void);

/* Called by comm_* and io_* when an operation is complete: its buffer may be reused. */
void nc_held(const struct nc_hold *hold);

struct nc_ev nc;

static struct {
    const char *logfile, *dir;
    bool keep, help;
    int64_t tasks, seed;
    struct wr_str events, log; /* output of this process, written at the end */
    struct nc_cell **cell;
    uint64_t stopped_ps; /* when the clock was stopped for a log */
    struct nc_mt mt;     /* random tasks */
    uint64_t word[NC_MT_N];
    unsigned left;
    struct nc_file *files; /* open addressing, never more than half full */
    uint32_t nfiles, filecap;
    bool faulty;
} rt = {.dir = ".", .seed = 1};

/* ---- memory ---- */

static void *rt_checked(void *p)
{
    if (p)
        return p;
    fprintf(stderr, "out of memory; use smaller messages or fewer tasks per node\n");
    comm_abort(4);
}

void *wr_alloc(size_t size)
{
    return rt_checked(malloc(size ? size : 1));
}

void *wr_zalloc(size_t count, size_t size)
{
    return rt_checked(calloc(count ? count : 1, size ? size : 1));
}

void wr_vec_grow(void **v, size_t *cap, size_t need, size_t size)
{
    size_t n = *cap ? *cap : 8;

    if (need <= *cap)
        return;
    while (n < need)
        n *= 2;
    *v = rt_checked(realloc(*v, n * size));
    *cap = n;
}

/* ---- errors ---- */

void nc_at(unsigned line, unsigned col)
{
    nc.line = line;
    nc.col = col;
}

/* Most errors happen to all tasks at once: the others wait, so that the first task reports it. */
static void rt_fail(unsigned line, unsigned col, const char *text)
{
    if (nc.proc)
        usleep(300000);
    fprintf(stderr, "%s:%u:%u: runtime error: %s\n", nc_source, line, col, text);
    comm_abort(2);
}

int64_t nc_ev_fail(struct nc_ev *e, enum nc_fault_kind kind, int64_t x, int64_t y)
{
    struct wr_str out = {0};

    (void)e;
    for (const char *s = nc_fault_text[kind]; *s; s++)
        if (!strncmp(s, "{x}", 3) || !strncmp(s, "{y}", 3)) {
            wr_str_addf(&out, "%" PRId64, s[1] == 'x' ? x : y);
            s += 2;
        } else {
            wr_str_addn(&out, s, 1);
        }
    rt_fail(nc.line, nc.col, wr_str_get(&out));
    return 0;
}

void nc_assert(bool holds, const char *text)
{
    struct wr_str out = {0};

    if (holds)
        return;
    wr_str_addf(&out,
                "assertion failed with %" PRId64
                " tasks: %s; choose another number of tasks or other parameters",
                nc.tasks, text);
    rt_fail(nc.line, nc.col, wr_str_get(&out));
}

/* ---- arithmetic ---- */

int64_t nc_ev_ntasks(const struct nc_ev *e)
{
    return e->tasks;
}

int64_t nc_ev_proc_of(const struct nc_ev *e, int64_t task)
{
    return e->proc_of[task];
}

int64_t nc_ev_task_of(const struct nc_ev *e, int64_t proc)
{
    return e->task_of[proc];
}

int64_t nc_add(int64_t a, int64_t b)
{
    int64_t r;

    return __builtin_add_overflow(a, b, &r) ? nc_ev_fail(&nc, NCF_OVERFLOW, a, b) : r;
}

int64_t nc_sub(int64_t a, int64_t b)
{
    int64_t r;

    return __builtin_sub_overflow(a, b, &r) ? nc_ev_fail(&nc, NCF_OVERFLOW, a, b) : r;
}

int64_t nc_mul(int64_t a, int64_t b)
{
    int64_t r;

    return __builtin_mul_overflow(a, b, &r) ? nc_ev_fail(&nc, NCF_OVERFLOW, a, b) : r;
}

int64_t nc_div(int64_t a, int64_t b)
{
    if (!b)
        return nc_ev_fail(&nc, NCF_DIV_ZERO, a, 0);
    return b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}

int64_t nc_mod(int64_t a, int64_t b)
{
    return nc_modulo(&nc, a, b);
}

int64_t nc_neg(int64_t a)
{
    return a == INT64_MIN ? nc_ev_fail(&nc, NCF_OVERFLOW, a, 0) : -a;
}

int64_t nc_right(int64_t a, int64_t by)
{
    return nc_shift(a, by == INT64_MIN ? INT64_MAX : -by);
}

int64_t nc_bits_to_bytes(int64_t bits)
{
    return bits / 8 + (bits % 8 != 0);
}

int64_t nc_round(double d)
{
    return nc_trunc(floor(d + 0.5));
}

double nc_ratio(double a, double b, bool timed)
{
    return b == 0 && !timed ? (double)nc_ev_fail(&nc, NCF_DIV_ZERO, nc_trunc(a), 0) : a / b;
}

bool nc_within(int64_t x, int64_t a, int64_t b)
{
    return a <= b ? a <= x && x <= b : b <= x && x <= a;
}

/* ---- time and counters ---- */

int64_t nc_count(enum nc_counter which)
{
    return nc_counter_value(&nc.counters, nc.bit_errors, which);
}

double nc_counted(enum nc_counter which)
{
    uint64_t now = rt.stopped_ps ? rt.stopped_ps : comm_now_ps();

    return which == NCC_ELAPSED ? (double)(int64_t)(now - nc.counters.start_ps) / 1e6
                                : (double)nc_count(which);
}

/* The time that writing a log or a line takes does not count. */
static void rt_clock_stop(void)
{
    rt.stopped_ps = comm_now_ps();
}

static void rt_clock_go(void)
{
    nc.counters.start_ps += comm_now_ps() - rt.stopped_ps;
    rt.stopped_ps = 0;
}

struct rt_saved {
    struct rt_saved *next;
    struct ncptl_counters counters;
    int64_t bit_errors;
    uint64_t at_ps;
};

static struct rt_saved *rt_stored, rt_frozen;

static struct rt_saved rt_counters(void)
{
    return (struct rt_saved){.next = rt_stored,
                             .counters = nc.counters,
                             .bit_errors = nc.bit_errors,
                             .at_ps = comm_now_ps()};
}

static void rt_set_counters(const struct rt_saved *s)
{
    nc.counters = s->counters;
    nc.bit_errors = s->bit_errors;
    nc.counters.start_ps += comm_now_ps() - s->at_ps;
}

static void rt_warm_begin(void)
{
    if (!nc.warm++)
        rt_frozen = rt_counters();
}

static void rt_warm_end(void)
{
    if (!--nc.warm)
        rt_set_counters(&rt_frozen);
}

/* ---- events ---- */

/* An operation begins. False: it is not executed (dry run). `text`: of OUTPUTS and BACKEND
 * EXECUTES. */
static bool rt_event(struct ncptl_event *ev, enum ncptl_op op, uint32_t flags, const char *text)
{
    ev->op = op;
    ev->flags = flags | (nc.warm ? NCPTL_F_WARMUP : 0);
    if (op != NCPTL_OUTPUT && op != NCPTL_BACKEND)
        nc.nops++;
    nc.drawn = 0;
    if (nc.dry)
        return false;
    if (nc.listing) {
        nc_text_event(&rt.events, nc.proc, ev, text);
        wr_str_add(&rt.events, "\n");
    }
    return true;
}

static struct ncptl_group rt_group(const struct nc_set *s)
{
    return (struct ncptl_group){.n = s->n, .hole = UINT32_MAX, .list = s->proc};
}

/* ---- random numbers ---- */

/* Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011). */
static void rt_philox(uint32_t c[4], uint32_t k0, uint32_t k1)
{
    for (int i = 0; i < 10; i++) {
        uint64_t p0 = (uint64_t)0xd2511f53 * c[0], p1 = (uint64_t)0xcd9e8d57 * c[2];
        uint32_t next[4] = {(uint32_t)(p1 >> 32) ^ c[1] ^ k0, (uint32_t)p1,
                            (uint32_t)(p0 >> 32) ^ c[3] ^ k1, (uint32_t)p0};

        memcpy(c, next, sizeof next);
        k0 += 0x9e3779b9;
        k1 += 0xbb67ae85;
    }
}

/* Keyed by seed, processor, operation and which number of the operation it is. */
double nc_ev_random(struct nc_ev *e)
{
    uint64_t seed = (uint64_t)(int64_t)e->seed;
    uint32_t c[4] = {(uint32_t)e->nops, (uint32_t)(e->nops >> 32), e->proc, e->drawn++};

    rt_philox(c, (uint32_t)seed, (uint32_t)(seed >> 32));
    return (double)(((uint64_t)c[3] << 32 | c[2]) >> 11) * 0x1p-53;
}

/* All tasks draw the same. */
static uint64_t rt_draw(void)
{
    if (!rt.left) {
        nc_mt_block(&rt.mt, rt.word);
        rt.left = NC_MT_N;
    }
    return rt.word[NC_MT_N - rt.left--] >> 1;
}

int64_t nc_random_task(int64_t lo, int64_t hi, int64_t but)
{
    lo = lo > 0 ? lo : 0;
    hi = hi < nc.tasks - 1 ? hi : nc.tasks - 1;
    if (lo <= hi && (but < lo || but > hi))
        return lo + (int64_t)(rt_draw() % (uint64_t)(hi - lo + 1));
    if (lo < hi)
        return lo + (but - lo + 1 + (int64_t)(rt_draw() % (uint64_t)(hi - lo))) % (hi - lo + 1);
    return -1;
}

/* ---- files of numbers ---- */

struct rt_text {
    struct rt_text *next;
    const char *name;
    char *text;
};

static char *rt_read_text(const char *name)
{
    FILE *f = fopen(name, "rb");
    struct wr_str out = {0};
    char piece[4096];
    size_t n;

    if (!f)
        return NULL;
    while ((n = fread(piece, 1, sizeof piece, f)) > 0)
        wr_str_addn(&out, piece, n);
    fclose(f);
    wr_str_add(&out, "");
    return out.s;
}

double nc_file_data(const char *file, int64_t column, int64_t row, const char *colsep,
                    const char *rowsep)
{
    static struct rt_text *texts;
    struct rt_text *t = texts;
    double value = 0;

    while (t && strcmp(t->name, file))
        t = t->next;
    if (!t) {
        t = wr_alloc(sizeof *t);
        *t = (struct rt_text){.next = texts, .name = file, .text = rt_read_text(file)};
        texts = t;
    }
    if (!t->text)
        return (double)nc_ev_fail(&nc, NCF_FILE, 0, 0);
    if (!nc_scan_cell(t->text, colsep, rowsep, column, row, &value))
        return (double)nc_ev_fail(&nc, NCF_FILE_CELL, column, row);
    return value;
}

/* ---- ranges ---- */

struct nc_piece {
    bool single;
    int64_t value;
    struct nc_seq seq;
};

static void rt_each_put(struct nc_each *r, struct nc_piece piece)
{
    if (r->n == r->cap) {
        r->cap = r->cap ? 2 * r->cap : 4;
        r->piece = rt_checked(realloc(r->piece, r->cap * sizeof *r->piece));
    }
    r->piece[r->n++] = piece;
}

static struct nc_seq rt_pattern(const int64_t *terms, uint32_t n, int64_t last, const double *real,
                                double real_last)
{
    struct nc_seq s = {.kind = NC_SEQ_LIST};

    if (!nc_seq_whole(terms, n, last, &s) && !(real && nc_seq_real(terms, real, n, real_last, &s)))
        nc_ev_fail(&nc, NCF_PATTERN, terms[0], last);
    return s;
}

void nc_each_value(struct nc_each *r, int64_t value)
{
    rt_each_put(r, (struct nc_piece){.single = true, .value = value});
}

void nc_each_up_to(struct nc_each *r, const int64_t *terms, uint32_t n, int64_t last,
                   const double *real, double real_last)
{
    rt_each_put(r, (struct nc_piece){.seq = rt_pattern(terms, n, last, real, real_last)});
}

bool nc_each_next(struct nc_each *r, int64_t *ret)
{
    for (; r->at < r->n; r->at++, r->i = 0) {
        const struct nc_piece *p = &r->piece[r->at];

        if (p->single && !r->i++) {
            *ret = p->value;
            return true;
        }
        if (!p->single && nc_seq_term(&p->seq, r->i, r->prev, &r->prev)) {
            r->i++;
            *ret = r->prev;
            return true;
        }
    }
    free(r->piece);
    *r = (struct nc_each){0};
    return false;
}

bool nc_each_has(struct nc_each *r, int64_t value)
{
    bool found = false;
    int64_t v;

    while (nc_each_next(r, &v))
        found = found || v == value;
    return found;
}

bool nc_in(int64_t x, const int64_t *values, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (values[i] == x)
            return true;
    return false;
}

bool nc_in_up_to(int64_t x, const int64_t *terms, uint32_t n, int64_t last, const double *real,
                 double real_last)
{
    struct nc_seq s = rt_pattern(terms, n, last, real, real_last);
    int64_t v = 0;

    if (s.kind == NC_SEQ_ADD)
        return nc_seq_has(&s, x);
    for (int64_t i = 0; nc_seq_term(&s, i, v, &v); i++)
        if (v == x)
            return true;
    return false;
}

/* ---- loops ---- */

enum { RT_BEFORE, RT_WARMUP, RT_LOOP };

/* The synchronization after a warmup is no part of it. */
static void rt_all_barrier(void)
{
    struct ncptl_event ev = {.group = {.n = (uint32_t)nc.tasks, .step = 1, .hole = UINT32_MAX}};

    nc.warm--;
    if (rt_event(&ev, NCPTL_BARRIER, 0, NULL))
        comm_barrier(NULL);
    nc.warm++;
}

bool nc_loop_next(struct nc_loop *l)
{
    if (l->phase == RT_BEFORE) {
        rt_warm_begin();
        l->phase = RT_WARMUP;
        l->left = l->warmups;
    }
    if (l->left-- > 0)
        return true;
    if (l->phase == RT_LOOP)
        return false;
    if (l->sync)
        rt_all_barrier();
    rt_warm_end();
    l->phase = RT_LOOP;
    l->left = l->count;
    return l->left-- > 0;
}

static bool rt_timed_begin(struct nc_timed *t, int phase, int64_t nsecs)
{
    struct ncptl_event ev = {.nsecs = nsecs > 0 ? nsecs : 0};

    rt_event(&ev, NCPTL_TIMED_BEGIN, 0, NULL);
    t->phase = phase;
    t->begin_ps = comm_now_ps();
    return true;
}

static bool rt_timed_main(struct nc_timed *t)
{
    if (t->has_warmup) {
        if (t->sync)
            rt_all_barrier();
        rt_warm_end();
    }
    return rt_timed_begin(t, RT_LOOP, t->nsecs);
}

/* The smallest elapsed time of all tasks decides whether there is another iteration. */
static bool rt_again(const struct nc_timed *t, int64_t nsecs)
{
    nc.nops++;
    nc.drawn = 0;
    if (nc.dry || nc.listing)
        return false;
    return comm_least((int64_t)((comm_now_ps() - t->begin_ps) / 1000u)) < nsecs;
}

bool nc_timed_next(struct nc_timed *t)
{
    struct ncptl_event ev = {0};

    if (t->phase == RT_BEFORE) {
        if (t->has_warmup)
            rt_warm_begin();
        return t->warmup > 0 ? rt_timed_begin(t, RT_WARMUP, t->warmup) : rt_timed_main(t);
    }
    if (rt_again(t, t->phase == RT_WARMUP ? t->warmup : t->nsecs))
        return true;
    rt_event(&ev, NCPTL_TIMED_END, 0, NULL);
    return t->phase == RT_WARMUP && rt_timed_main(t);
}

/* ---- tasks ---- */

bool nc_is_task(int64_t task)
{
    return task >= 0 && task < nc.tasks;
}

void nc_set_clear(struct nc_set *s)
{
    s->n = 0;
    s->sorted = true;
}

void nc_set_add(struct nc_set *s, int64_t task)
{
    if (s->n == s->cap) {
        s->cap = s->cap ? 2 * s->cap : 16;
        s->proc = rt_checked(realloc(s->proc, s->cap * sizeof *s->proc));
    }
    s->proc[s->n] = nc.proc_of[task];
    s->sorted = s->sorted && (!s->n || s->proc[s->n - 1] < s->proc[s->n]);
    s->n++;
}

static int rt_by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Ascending, each once. */
static void rt_set_sort(struct nc_set *s)
{
    uint32_t n = 0;

    if (s->sorted)
        return;
    qsort(s->proc, s->n, sizeof *s->proc, rt_by_number);
    for (uint32_t i = 0; i < s->n; i++)
        if (!n || s->proc[n - 1] != s->proc[i])
            s->proc[n++] = s->proc[i];
    s->n = n;
    s->sorted = true;
}

static bool rt_set_has(const struct nc_set *s, uint32_t proc)
{
    return s->n && bsearch(&proc, s->proc, s->n, sizeof proc, rt_by_number);
}

struct nc_set *nc_everyone(void)
{
    static struct nc_set all;

    if (!all.n)
        for (int64_t i = 0; i < nc.tasks; i++)
            nc_set_add(&all, i);
    rt_set_sort(&all);
    return &all;
}

bool nc_set_mine(struct nc_set *s)
{
    rt_set_sort(s);
    return rt_set_has(s, nc.proc);
}

/* `task` moves to `proc`; the task that was there gets the old processor of `task`. */
void nc_assign(int64_t task, int64_t proc)
{
    if (!nc_is_task(proc))
        nc_ev_fail(&nc, NCF_PROCESSOR, proc, nc.tasks);
    uint32_t old = nc.proc_of[task], other = nc.task_of[proc];

    nc.proc_of[task] = (uint32_t)proc;
    nc.task_of[proc] = (uint32_t)task;
    if (other != task) {
        nc.proc_of[other] = old;
        nc.task_of[old] = other;
    }
}

void nc_assign_random(int64_t task)
{
    nc_assign(task, (int64_t)(rt_draw() % (uint64_t)nc.tasks));
}

void nc_assigned(void)
{
    nc.task = nc.task_of[nc.proc];
}

/* ---- message buffers ---- */

enum { RT_PAGE = 4096, RT_SENT = -1, RT_RECEIVED = -2 };

struct rt_buffer {
    int64_t number; /* as the program says, or RT_SENT, RT_RECEIVED */
    char *base;
    size_t size;
};

static WR_VEC(struct rt_buffer) rt_buffers;
static WR_VEC(void *) rt_retired; /* replaced while a message may still be in it */
static size_t rt_current;         /* the last buffer of a message */

static char *rt_new_buffer(size_t size)
{
    char *p = rt_checked(aligned_alloc(RT_PAGE, (size + RT_PAGE) / RT_PAGE * RT_PAGE));

    memset(p, 0x5a, size); /* the pages are there before they are timed */
    return p;
}

static char *rt_buffer(int64_t number, size_t size)
{
    size_t i = 0;

    while (i < rt_buffers.n && rt_buffers.v[i].number != number)
        i++;
    if (i == rt_buffers.n)
        wr_vec_push(&rt_buffers, (struct rt_buffer){.number = number});
    struct rt_buffer *b = &rt_buffers.v[i];
    rt_current = i;
    if (b->size < size) {
        if (comm_pending())
            wr_vec_push(&rt_retired, b->base);
        else
            free(b->base);
        b->base = rt_new_buffer(size);
        b->size = size;
    }
    return b->base;
}

/* Where a message lies. Asynchronous receives get memory of their own, so that none is written by
 * two; so do messages with contents of their own. */
static struct nc_hold rt_hold(const struct nc_msg *m, bool receives, uint32_t source)
{
    bool async = m->flags & NCPTL_F_ASYNC, numbered = (m->flags & NCPTL_F_BUF) && m->buf >= 0;
    bool own = m->flags & NCPTL_F_UNIQUE ||
               (async && !numbered && (receives || m->flags & NCPTL_F_VERIFY));
    int64_t align = m->align % RT_PAGE, skip = m->ofs > 0 ? m->ofs : 0;
    bool aligned = m->flags & NCPTL_F_ALIGN && m->align > 0;
    size_t size = (size_t)(m->bytes + skip + 8 + RT_PAGE + (aligned ? m->align : 0));
    char *p = own        ? rt_new_buffer(size)
              : numbered ? rt_buffer(m->buf, size)
                         : rt_buffer(receives ? RT_RECEIVED : RT_SENT, size);
    struct nc_hold h = {.of = receives ? NCPTL_RECVS : NCPTL_SENDS,
                        .memory = own ? p : NULL,
                        .bytes = m->bytes,
                        .source = source,
                        .flags = m->flags & (NCPTL_F_TOUCH | NCPTL_F_VERIFY)};

    p += skip;
    if (m->flags & NCPTL_F_MISALIGN)
        p += align < 0 ? align + RT_PAGE : align;
    else if (aligned)
        p += ((uint64_t)m->align - (uintptr_t)p % (uint64_t)m->align) % (uint64_t)m->align;
    h.data = p;
    return h;
}

/* ---- contents of messages ---- */

static void rt_touch_memory(char *p, int64_t bytes)
{
    volatile char *v = p;

    for (int64_t i = 0; i < bytes; i += 8)
        v[i]++;
}

static uint64_t rt_mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

/* What a verified message of `bytes` from `source` holds, eight bytes at a time. */
static uint64_t rt_word(uint32_t source, int64_t bytes, int64_t i)
{
    return rt_mix(((uint64_t)source << 32) + (uint64_t)bytes +
                  (uint64_t)(i + 1) * 0x9e3779b97f4a7c15);
}

static void rt_fill(const struct nc_hold *h)
{
    if (h->flags & NCPTL_F_TOUCH)
        rt_touch_memory(h->data, h->bytes);
    if (!(h->flags & NCPTL_F_VERIFY))
        return;
    for (int64_t i = 0; i < h->bytes; i += 8) {
        uint64_t w = rt_word(h->source, h->bytes, i);

        memcpy(h->data + i, &w, (size_t)(h->bytes - i < 8 ? h->bytes - i : 8));
    }
}

static void rt_verify(const struct nc_hold *h)
{
    for (int64_t i = 0; i < h->bytes; i += 8) {
        uint64_t want = rt_word(h->source, h->bytes, i), is = want;

        memcpy(&is, h->data + i, (size_t)(h->bytes - i < 8 ? h->bytes - i : 8));
        nc.bit_errors += __builtin_popcountll(want ^ is);
    }
}

static void rt_arrived(const struct nc_hold *h)
{
    if (h->flags & NCPTL_F_TOUCH)
        rt_touch_memory(h->data, h->bytes);
    if (h->flags & NCPTL_F_VERIFY)
        rt_verify(h);
}

static void rt_release(const struct nc_hold *h)
{
    free(h->memory);
}

void nc_held(const struct nc_hold *h)
{
    if (h->of == NCPTL_RECVS)
        rt_arrived(h);
    rt_release(h);
}

/* ---- messages ---- */

/* Texts are counted down from the largest tag, what does not fit is hashed between. */
static int rt_tag(const struct nc_msg *m)
{
    int64_t most = comm_largest_tag();

    if (m->tag_number)
        return (int)(most - m->tag_number);
    if (m->tag >= 0 && m->tag < most / 2)
        return (int)m->tag;
    return (int)(most / 2 + (int64_t)(rt_mix((uint64_t)m->tag) % (uint64_t)(most / 4)));
}

static uint32_t rt_attributes(const struct nc_msg *m, struct ncptl_event *ev)
{
    uint32_t flags = m->flags & ~(uint32_t)(NCPTL_F_ALIGN | NCPTL_F_BUF);

    ev->bytes = m->bytes;
    ev->tag = m->tag;
    ev->tag_text = m->tag_text;
    ev->align = m->align;
    ev->ofs = m->ofs;
    ev->buf = m->buf;
    flags |= m->tag || m->tag_text ? NCPTL_F_TAG : 0;
    flags |= (m->flags & NCPTL_F_ALIGN) && m->align > 0 ? NCPTL_F_ALIGN : 0;
    flags |= m->ofs ? NCPTL_F_OFS : 0;
    return flags | ((m->flags & NCPTL_F_BUF) && m->buf >= 0 ? NCPTL_F_BUF : 0);
}

static void rt_check_size(int64_t bytes)
{
    if (bytes < 0)
        nc_ev_fail(&nc, NCF_NEGATIVE, bytes, 0);
}

void nc_send(int64_t task, struct nc_msg m)
{
    struct ncptl_event ev = {.peer = nc.proc_of[task]};

    rt_check_size(m.bytes);
    if (!nc.warm) {
        nc.counters.msgs_sent++;
        nc.counters.bytes_sent += m.bytes;
    }
    if (!rt_event(&ev, NCPTL_SEND, rt_attributes(&m, &ev), NULL))
        return;
    struct nc_hold h = rt_hold(&m, false, nc.proc);
    bool async = m.flags & NCPTL_F_ASYNC;
    rt_fill(&h);
    comm_send(ev.peer, h.data, m.bytes, rt_tag(&m), async ? &h : NULL);
    if (!async)
        rt_release(&h);
}

void nc_receive(int64_t task, struct nc_msg m)
{
    struct ncptl_event ev = {.peer = nc.proc_of[task]};
    bool async = m.flags & NCPTL_F_ASYNC;

    rt_check_size(m.bytes);
    if (!nc.warm && async) {
        nc.pending.msgs_received++;
        nc.pending.bytes_received += m.bytes;
    } else if (!nc.warm) {
        nc.counters.msgs_received++;
        nc.counters.bytes_received += m.bytes;
    }
    if (!rt_event(&ev, NCPTL_RECV, rt_attributes(&m, &ev), NULL))
        return;
    struct nc_hold h = rt_hold(&m, true, ev.peer);
    if (comm_receive(ev.peer, h.data, m.bytes, rt_tag(&m), async ? &h : NULL))
        rt_arrived(&h);
    if (!async)
        rt_release(&h);
}

/* `to` may have the root among them. */
void nc_multicast(int64_t root, struct nc_set *to, struct nc_msg m)
{
    static struct nc_set with;
    struct ncptl_event ev = {.peer = nc.proc_of[root]};
    bool sends = ev.peer == nc.proc, async = m.flags & NCPTL_F_ASYNC;

    rt_check_size(m.bytes);
    nc_set_clear(&with);
    for (uint32_t i = 0; i < to->n; i++)
        if (to->proc[i] != ev.peer)
            nc_set_add(&with, nc.task_of[to->proc[i]]);
    rt_set_sort(&with);
    ev.group = rt_group(&with);
    if (!rt_event(&ev, NCPTL_MCAST, rt_attributes(&m, &ev), NULL) || !with.n)
        return;
    nc_set_add(&with, root);
    rt_set_sort(&with);
    struct nc_hold h = rt_hold(&m, !sends, ev.peer);
    if (sends)
        rt_fill(&h);
    if (comm_multicast(ev.peer, &with, h.data, m.bytes, async ? &h : NULL) && !sends)
        rt_arrived(&h);
    if (!async)
        rt_release(&h);
}

bool nc_reduces(struct nc_set *from, struct nc_set *to)
{
    bool sends = nc_set_mine(from), receives = nc_set_mine(to);

    return from->n && to->n && (sends || receives);
}

/* Values of 4 or 8 bytes are added up. */
void nc_reduce(struct nc_set *from, struct nc_set *to, int64_t count, int64_t size, struct nc_msg m)
{
    struct ncptl_event ev = {.group = rt_group(from), .targets = rt_group(to)};

    m.bytes = nc_mul(count > 0 ? count : 0, size);
    m.flags &= ~(uint32_t)NCPTL_F_ASYNC;
    if (!rt_event(&ev, NCPTL_REDUCE, rt_attributes(&m, &ev), NULL) || !m.bytes)
        return;
    struct nc_hold in = rt_hold(&m, false, nc.proc);
    m.flags &= ~(uint32_t)NCPTL_F_BUF; /* the result lies elsewhere */
    struct nc_hold out = rt_hold(&m, true, nc.proc);
    if (rt_set_has(from, nc.proc))
        rt_fill(&in);
    comm_reduce(from, to, in.data, out.data, count, size == 8);
    if (rt_set_has(to, nc.proc))
        rt_arrived(&out);
    rt_release(&in);
    rt_release(&out);
}

void nc_barrier(struct nc_set *of)
{
    struct ncptl_event ev = {0};

    rt_set_sort(of);
    ev.group = rt_group(of);
    if (rt_event(&ev, NCPTL_BARRIER, 0, NULL))
        comm_barrier(of);
}

void nc_wait(uint32_t of)
{
    struct ncptl_event ev = {.of = of};
    struct ncptl_counters *c = &nc.counters;
    struct ncptl_pending *p = &nc.pending;

    if (of & NCPTL_RECVS) {
        c->bytes_received += p->bytes_received;
        c->msgs_received += p->msgs_received;
        p->bytes_received = 0;
        p->msgs_received = 0;
    }
    if (of & NCPTL_IOS) {
        c->bytes_written += p->bytes_written;
        c->bytes_read += p->bytes_read;
        c->ios_completed += p->ios_completed;
        p->bytes_written = p->bytes_read = 0;
        p->ios_completed = 0;
    }
    if (!rt_event(&ev, NCPTL_WAIT, 0, NULL))
        return;
    comm_wait(of);
    if (of & NCPTL_IOS)
        io_wait();
    for (; rt_retired.n && !comm_pending() && !io_pending(); rt_retired.n--)
        free(rt_retired.v[rt_retired.n - 1]);
}

/* ---- files ---- */

static struct nc_file *rt_probe(int64_t number)
{
    uint32_t i = (uint32_t)rt_mix((uint64_t)number) & (rt.filecap - 1);

    while (rt.files[i].used && rt.files[i].number != number)
        i = (i + 1) & (rt.filecap - 1);
    return &rt.files[i];
}

static void rt_grow_files(void)
{
    struct nc_file *old = rt.files;
    uint32_t cap = rt.filecap;

    rt.filecap = cap ? 2 * cap : 16;
    rt.files = wr_zalloc(rt.filecap, sizeof *rt.files);
    for (uint32_t i = 0; i < cap; i++)
        if (old[i].used)
            *rt_probe(old[i].number) = old[i];
    free(old);
}

static struct nc_file *rt_file(int64_t number)
{
    if (rt.nfiles * 2 >= rt.filecap)
        rt_grow_files();
    struct nc_file *f = rt_probe(number);
    if (!f->used) {
        *f = (struct nc_file){.number = number, .used = true, .from = INT64_MAX};
        rt.nfiles++;
    }
    return f;
}

/* DIR/PROGRAM-file-NUMBER.dat; the result lasts until the next call. */
static const char *rt_file_name(int64_t number)
{
    static struct wr_str name;
    const char *slash = strrchr(nc_source, '/'), *base = slash ? slash + 1 : nc_source;
    size_t n = strcspn(base, ".");

    name.n = 0;
    wr_str_addf(&name, "%s/%.*s-file-%" PRId64 ".dat", rt.dir, (int)n, base, number);
    return wr_str_get(&name);
}

static void rt_file_fail(const char *what, const char *name)
{
    fprintf(stderr, "cannot %s %s: %s; give another directory with --io-dir\n", what, name,
            strerror(errno));
    comm_abort(4);
}

static bool rt_file_event(int64_t file, enum ncptl_op op, uint32_t mode)
{
    struct ncptl_event ev = {.file = file, .mode = mode};

    return rt_event(&ev, op, 0, NULL);
}

void nc_open(int64_t file, uint32_t mode)
{
    if (rt_file_event(file, NCPTL_OPEN, mode))
        io_open(rt_file(file), rt_file_name(file), mode);
}

void nc_close(int64_t file)
{
    if (rt_file_event(file, NCPTL_CLOSE, 0))
        io_close(rt_file(file));
}

void nc_flush(int64_t file)
{
    if (rt_file_event(file, NCPTL_FLUSH, 0))
        io_flush(rt_file(file), rt_file_name(file));
}

static void rt_count_io(bool writes, bool async, int64_t bytes)
{
    if (nc.warm)
        return;
    if (async) {
        *(writes ? &nc.pending.bytes_written : &nc.pending.bytes_read) += bytes;
        nc.pending.ios_completed++;
    } else {
        *(writes ? &nc.counters.bytes_written : &nc.counters.bytes_read) += bytes;
        nc.counters.ios_completed++;
    }
}

static void rt_note_read(struct nc_file *f, int64_t offset, int64_t bytes)
{
    f->from = offset < f->from ? offset : f->from;
    f->to = offset + bytes > f->to ? offset + bytes : f->to;
}

static char *rt_io_buffer(int64_t bytes)
{
    static char *buffer;
    static int64_t size;

    if (size < bytes) { /* an access may still be under way in the old one */
        if (buffer)
            wr_vec_push(&rt_retired, buffer);
        buffer = rt_new_buffer((size_t)bytes);
        size = bytes;
    }
    return buffer;
}

static void rt_access(bool writes, int64_t file, int64_t bytes, int64_t offset, uint32_t flags,
                      struct nc_set *with)
{
    struct ncptl_event ev = {.file = file, .bytes = bytes, .offset = offset};
    bool async = flags & NCPTL_F_ASYNC;

    rt_check_size(bytes);
    if (offset != NC_NEXT && offset < 0)
        nc_ev_fail(&nc, NCF_OFFSET, offset, 0);
    struct nc_file *f = rt_file(file);
    if (offset == NC_NEXT)
        ev.offset = f->next;
    f->next = nc_add(ev.offset, bytes);
    rt_count_io(writes, async, bytes);
    if (nc.dry && !writes)
        rt_note_read(f, ev.offset, bytes);
    if (!rt_event(&ev, writes ? NCPTL_WRITE : NCPTL_READ, flags, NULL))
        return;
    struct nc_hold h = {.of = NCPTL_IOS};
    char *data = rt_io_buffer(bytes);
    if (async && !writes)
        data = h.memory = rt_new_buffer((size_t)bytes);
    if (with)
        rt_set_sort(with);
    io_access(f, rt_file_name(file), writes, data, bytes, ev.offset, with, async ? &h : NULL);
}

void nc_write(int64_t file, int64_t bytes, int64_t offset, uint32_t flags, struct nc_set *with)
{
    rt_access(true, file, bytes, offset, flags, with);
}

void nc_read(int64_t file, int64_t bytes, int64_t offset, uint32_t flags, struct nc_set *with)
{
    rt_access(false, file, bytes, offset, flags, with);
}

void nc_io_barrier(struct nc_set *with)
{
    rt_set_sort(with);
    if (!nc.dry)
        comm_barrier(with);
}

/* Creates a file that does not exist; the process that created it removes it at the end. */
static void rt_claim(struct nc_file *f, const char *name)
{
    int fd = open(name, O_RDWR | O_CREAT | O_EXCL, 0666);

    if (fd < 0 && errno != EEXIST)
        rt_file_fail("make", name);
    if (fd >= 0) {
        f->made = true;
        close(fd);
    }
}

/* Extends a file to at least `to` bytes; missing ones are written from `from` on. */
static void rt_extend(struct nc_file *f, const char *name, int64_t from, int64_t to)
{
    enum { PIECE = 1 << 20 };
    static char *piece;
    struct stat st;

    if (stat(name, &st) && errno == ENOENT)
        rt_claim(f, name);
    int fd = open(name, O_RDWR);
    if (fd < 0 || fstat(fd, &st))
        rt_file_fail("open", name);
    if (!piece)
        piece = rt_new_buffer(PIECE);
    for (int64_t at = from > st.st_size ? from : st.st_size; at < to;) {
        ssize_t n = pwrite(fd, piece, (size_t)(to - at < PIECE ? to - at : PIECE), (off_t)at);

        if (n < 0)
            rt_file_fail("write", name);
        at += n;
    }
    close(fd);
}

/* Writes what this task will read, before the clock starts. */
static void rt_prepare_files(void)
{
    for (uint32_t i = 0; i < rt.filecap; i++) {
        struct nc_file *f = &rt.files[i];

        if (f->used && f->to > f->from)
            rt_extend(f, rt_file_name(f->number), f->from, f->to);
        f->next = 0;
    }
}

static void rt_remove_files(void)
{
    for (uint32_t i = 0; i < rt.filecap; i++)
        if (rt.files[i].used && rt.files[i].made && !rt.keep)
            unlink(rt_file_name(rt.files[i].number));
}

/* ---- delays and memory ---- */

static bool rt_delay(enum ncptl_op op, int64_t *nsecs)
{
    struct ncptl_event ev = {.nsecs = *nsecs > 0 ? *nsecs : 0};

    *nsecs = ev.nsecs;
    return rt_event(&ev, op, 0, NULL) && !nc.listing;
}

void nc_compute(int64_t nsecs)
{
    if (rt_delay(NCPTL_COMPUTE, &nsecs))
        comm_compute(nsecs);
}

void nc_sleep(int64_t nsecs)
{
    if (rt_delay(NCPTL_SLEEP, &nsecs))
        comm_sleep(nsecs);
}

static void rt_walk_memory(const struct ncptl_event *ev, bool random)
{
    char *p = rt_io_buffer(ev->bytes + ev->word);
    int64_t at = 0, words = ev->word > 0 ? ev->bytes / ev->word : 0;
    uint64_t x = 1;

    for (int64_t i = 0; i < ev->count && words > 0; i++) {
        rt_touch_memory(p + at, ev->word);
        if (random)
            at = (int64_t)((x = rt_mix(x + 1)) % (uint64_t)words) * ev->word;
        else
            at = nc_modulo(&nc, at + ev->stride, ev->bytes);
    }
}

void nc_touch(struct nc_touch t)
{
    struct ncptl_event ev = {.word = t.word, .bytes = t.region};
    int64_t each = t.accesses;

    ev.stride = t.has_stride ? t.stride : t.word;
    if (!ev.stride)
        nc_ev_fail(&nc, NCF_DIV_ZERO, ev.bytes, 0);
    if (!t.has_accesses) {
        each = ev.bytes / ev.stride;
        each = each < 0 ? -each : each;
    }
    ev.count = nc_mul(t.times, each);
    if (rt_event(&ev, NCPTL_TOUCH, t.random ? NCPTL_F_RANDOM : 0, NULL) && !nc.listing)
        rt_walk_memory(&ev, t.random);
}

void nc_touch_buffers(int64_t which)
{
    struct ncptl_event ev = {.buf = which};

    if (!rt_event(&ev, NCPTL_TOUCH, NCPTL_F_BUFFERS, NULL))
        return;
    for (size_t i = 0; i < rt_buffers.n; i++)
        if (which == -1 || (which == -2 ? i == rt_current : rt_buffers.v[i].number == which))
            rt_touch_memory(rt_buffers.v[i].base, (int64_t)rt_buffers.v[i].size);
}

/* ---- counters ---- */

void nc_reset(void)
{
    struct ncptl_event ev = {0};

    rt_event(&ev, NCPTL_RESET, 0, NULL);
    nc.counters = (struct ncptl_counters){.start_ps = comm_now_ps()};
    nc.bit_errors = 0;
}

void nc_store(void)
{
    struct ncptl_event ev = {0};
    struct rt_saved *s = wr_alloc(sizeof *s);

    rt_event(&ev, NCPTL_STORE, 0, NULL);
    *s = rt_counters();
    rt_stored = s;
}

void nc_restore(void)
{
    struct ncptl_event ev = {0};
    struct rt_saved *s = rt_stored;

    if (!s) {
        nc_ev_fail(&nc, NCF_RESTORE, 0, 0);
        return;
    }
    rt_event(&ev, NCPTL_RESTORE, 0, NULL);
    rt_set_counters(s);
    rt_stored = s->next;
    free(s);
}

/* ---- output ---- */

bool nc_speaks(void)
{
    if (nc.warm)
        return false;
    nc.nops++;
    nc.drawn = 0;
    rt_clock_stop();
    return true;
}

void nc_executes(void)
{
    nc.nops++;
    nc.drawn = 0;
    rt_clock_stop();
}

static void rt_say(enum ncptl_op op, bool timed, const char *fmt, va_list ap)
    __attribute__((format(printf, 3, 0)));

static void rt_say(enum ncptl_op op, bool timed, const char *fmt, va_list ap)
{
    struct ncptl_event ev = {0};
    char *text = NULL;

    if (vasprintf(&text, fmt, ap) < 0)
        rt_checked(NULL);
    if (rt_event(&ev, op, timed ? NCPTL_F_TIMED : 0, text) && op == NCPTL_OUTPUT) {
        puts(text);
        fflush(stdout);
    }
    free(text);
    rt_clock_go();
}

void nc_output(bool timed, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    rt_say(NCPTL_OUTPUT, timed, fmt, ap);
    va_end(ap);
}

void nc_backend(bool timed, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    rt_say(NCPTL_BACKEND, timed, fmt, ap);
    va_end(ap);
}

static struct nc_tables rt_tables(void)
{
    return (struct nc_tables){
        .info = nc_columns, .ncolumns = nc_ncolumns, .clock = !nc.listing, .cell = rt.cell};
}

bool nc_logs(uint32_t column)
{
    if (!nc_speaks())
        return false;
    nc.drawn = column;
    return true;
}

void nc_percentile(uint32_t column, double percent)
{
    nc_columns[column].param = percent;
    if (!(percent >= 0 && percent <= 100))
        nc_ev_fail(&nc, NCF_PERCENTILE, nc_trunc(percent), 0);
}

void nc_log(uint32_t column, double value)
{
    struct nc_tables t = rt_tables();
    const struct ncptl_column *info = &nc_columns[column];

    nc.drawn = column + 1;
    if (nc.dry)
        return;
    nc_tables_log(&t, column, value);
    if (nc.listing) {
        nc_text_log(&rt.events, nc.proc, info->title, info->timed, value);
        wr_str_add(&rt.events, "\n");
    }
}

void nc_logged(void)
{
    nc.drawn = 0;
    rt_clock_go();
}

void nc_aggregate(uint32_t table)
{
    struct ncptl_event ev = {.table = table};
    struct nc_tables t = rt_tables();

    if (nc.warm)
        return;
    rt_clock_stop();
    if (rt_event(&ev, NCPTL_AGGREGATE, 0, NULL))
        nc_tables_aggregate(&t, table);
    rt_clock_go();
}

/* ---- options ---- */

static const struct {
    const char *longopt;
    char letter;
    bool flag;
    const char *help;
} rt_builtin[] = {
    {"--tasks", 'T', false, "how many tasks"},
    {"--seed", 'S', false, "of random tasks and numbers [1]"},
    {"--logfile", 'L', false, "where log tables go; %p is the processor"},
    {"--io-dir", 0, false, "where files are [.]"},
    {"--io-keep", 0, true, "do not remove files at the end"},
    {"--help", '?', true, "this text"},
};

enum { RT_TASKS, RT_SEED, RT_LOGFILE, RT_IO_DIR, RT_IO_KEEP, RT_HELP, RT_NBUILTIN };

static void rt_usage(FILE *out)
{
    fprintf(out, "options of %s:\n", nc_source);
    for (const struct nc_param *p = nc_params; p->value; p++)
        fprintf(out, "  -%c, %s=<number>  %s [%" PRId64 "]\n", p->letter, p->longopt, p->help,
                p->def);
    for (int i = 0; i < RT_NBUILTIN; i++) {
        char letter[] = {'-', rt_builtin[i].letter, ',', '\0'};

        fprintf(out, "  %3s %s%s  %s\n", rt_builtin[i].letter ? letter : "", rt_builtin[i].longopt,
                rt_builtin[i].flag ? "" : "=<value>", rt_builtin[i].help);
    }
}

static void rt_bad_option(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

static void rt_bad_option(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    if (!comm_first()) {
        vfprintf(stderr, fmt, ap);
        fputc('\n', stderr);
    }
    va_end(ap);
    comm_end();
    exit(2);
}

static bool rt_is(const char *arg, size_t len, const char *longopt, char letter)
{
    return arg[1] != '-' ? letter && arg[1] == letter
                         : strlen(longopt) == len && !memcmp(longopt, arg, len);
}

static void rt_unknown(const char *arg)
{
    struct wr_nearest near = {.want = arg};

    for (const struct nc_param *p = nc_params; p->value; p++)
        wr_nearest_try(&near, p->longopt);
    for (int i = 0; i < RT_NBUILTIN; i++)
        wr_nearest_try(&near, rt_builtin[i].longopt);
    rt_bad_option("%s has no option %s; %s%s%s, or see them all with --help", nc_source, arg,
                  near.best ? "did you mean " : "check its spelling", near.best ? near.best : "",
                  near.best ? "?" : "");
}

static void rt_set_builtin(int which, const char *arg, const char *value)
{
    int64_t v = 0;

    if (which <= RT_SEED && !nc_scan_number(value, &v))
        rt_bad_option("%s needs a whole number such as 64K or 1E6, not \"%s\"", arg, value);
    switch (which) {
    case RT_TASKS:
        rt.tasks = v;
        if (v < 1)
            rt_bad_option("%" PRId64 " tasks cannot run; give --tasks 1 or more", v);
        break;
    case RT_SEED:
        rt.seed = v;
        break;
    case RT_LOGFILE:
        rt.logfile = value;
        break;
    case RT_IO_DIR:
        rt.dir = value;
        break;
    case RT_IO_KEEP:
        rt.keep = true;
        break;
    default:
        rt.help = true;
        break;
    }
}

static void rt_options(int argc, char **argv)
{
    for (const struct nc_param *p = nc_params; p->value; p++)
        *p->value = p->def;
    for (int i = 1; i < argc; i++) {
        const char *arg = argv[i], *eq = strchr(arg, '='), *value = NULL;
        bool is_long = !strncmp(arg, "--", 2);
        size_t len = is_long && eq ? (size_t)(eq - arg) : strlen(arg);
        const struct nc_param *p = nc_params;
        int k = 0;

        if (arg[0] != '-' || !arg[1])
            rt_bad_option("%s: \"%s\" is no option; options begin with a dash", nc_source, arg);
        while (p->value && !rt_is(arg, len, p->longopt, p->letter))
            p++;
        while (!p->value && k < RT_NBUILTIN &&
               !rt_is(arg, len, rt_builtin[k].longopt, rt_builtin[k].letter))
            k++;
        if (k == RT_NBUILTIN)
            rt_unknown(arg);
        if (is_long && eq)
            value = eq + 1;
        else if (!is_long && arg[2])
            value = arg + 2 + (arg[2] == '=');
        else if (!p->value && rt_builtin[k].flag)
            value = "";
        else if (i + 1 < argc)
            value = argv[++i];
        else
            rt_bad_option("%s needs a number after it", arg);
        if (!p->value)
            rt_set_builtin(k, arg, value);
        else if (!nc_scan_number(value, p->value))
            rt_bad_option("%s needs a whole number such as 64K or 1E6, not \"%s\"", arg, value);
    }
}

/* ---- from start to end ---- */

static void rt_begin(bool dry)
{
    nc.dry = dry;
    nc.task = nc.proc;
    for (uint32_t i = 0; i < nc.tasks; i++)
        nc.proc_of[i] = nc.task_of[i] = i;
    nc.pending = (struct ncptl_pending){0};
    nc.nops = 0;
    nc.drawn = 0;
    nc_mt_seed(&rt.mt, (uint64_t)(int64_t)nc.seed);
    rt.left = 0;
    while (rt_stored) {
        struct rt_saved *s = rt_stored;

        rt_stored = s->next;
        free(s);
    }
    for (uint32_t i = 0; i < rt.filecap; i++)
        rt.files[i].next = 0;
    nc.bit_errors = 0;
    nc.counters = (struct ncptl_counters){.start_ps = comm_now_ps()};
}

static void rt_log_tables(void)
{
    struct nc_tables t = rt_tables();
    struct wr_str text = {0};
    const char *mark = rt.logfile ? strstr(rt.logfile, "%p") : NULL;
    uint32_t column = 0;

    if (!nc_tables_finish(&t, &column)) {
        struct wr_str why = {0};

        nc_tables_fault(&t, column, &why);
        fprintf(stderr, "%s:%u:%u: runtime error: %s\n", nc_source, nc_columns[column].source >> 12,
                nc_columns[column].source & 0xfff, wr_str_get(&why));
        wr_str_fini(&why);
        rt.faulty = true;
    }
    nc_tables_print(&t, &text);
    if (text.n && mark) {
        struct wr_str name = {0};

        wr_str_addf(&name, "%.*s%u%s", (int)(mark - rt.logfile), rt.logfile, nc.proc, mark + 2);
        FILE *f = fopen(wr_str_get(&name), "w");
        if (!f || fputs(wr_str_get(&text), f) < 0 || fclose(f))
            rt_file_fail("write", wr_str_get(&name));
        wr_str_fini(&name);
    } else if (text.n) {
        wr_str_addf(&rt.log, "## rank %u\n%s", nc.proc, wr_str_get(&text));
    }
    wr_str_fini(&text);
    nc_tables_free(&t);
    memset(rt.cell, 0, nc_ncolumns * sizeof *rt.cell);
}

static void rt_play(uint32_t proc)
{
    nc.proc = proc;
    if (nc_reads) {
        rt_begin(true);
        nc_program();
        rt_prepare_files();
    }
    comm_align();
    rt_begin(false);
    nc_program();
    comm_wait(NCPTL_EVERYTHING);
    io_wait();
    rt_log_tables();
}

/* The texts of all processors into one file, or to the terminal. */
static void rt_collect(const struct wr_str *mine, const char *path)
{
    FILE *out = stdout;

    if (!comm_first() && path && !(out = fopen(path, "w")))
        rt_file_fail("write", path);
    comm_collect(mine, out);
    if (out != stdout && fclose(out))
        rt_file_fail("write", path);
}

int main(int argc, char **argv)
{
    const char *events = getenv("WEIR_EVENTS");

    comm_start(&argc, &argv);
    rt_options(argc, argv);
    if (rt.help) {
        if (!comm_first())
            rt_usage(stdout);
        comm_end();
        return 0;
    }
    if (!comm_tasks(rt.tasks))
        rt_bad_option("--tasks %" PRId64 " was asked for, but %" PRId64
                      " processes were started; start as many",
                      rt.tasks, nc.tasks);
    nc.seed = (int)rt.seed ? (int)rt.seed : 1;
    nc.listing = events && *events;
    nc.proc_of = wr_zalloc((size_t)nc.tasks, sizeof *nc.proc_of);
    nc.task_of = wr_zalloc((size_t)nc.tasks, sizeof *nc.task_of);
    rt.cell = wr_zalloc(nc_ncolumns, sizeof *rt.cell);
    for (uint32_t p = comm_first(); p <= comm_last(); p++)
        rt_play(p);
    io_end();
    comm_align();
    rt_remove_files();
    rt_collect(&rt.log, rt.logfile && !strstr(rt.logfile, "%p") ? rt.logfile : NULL);
    if (nc.listing)
        rt_collect(&rt.events, events);
    comm_end();
    return rt.faulty ? 2 : 0;
}
