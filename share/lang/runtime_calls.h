/* runtime_calls.h -- the functions of the runtime that a compiled program calls; the program itself
 * is in the functions sentence_1, sentence_2, ... below.
 *
 * One process executes one task (with MPI), or one task after the other (serial). Integers have 64
 * bits and are checked: what overflows, divides by zero or has no meaning ends the program with the
 * line of the source. */
struct nc_ev {
    int64_t tasks, task; /* how many there are, and which one is played here */
    uint32_t proc;       /* on which processor: the rank, in MPI's words */
    uint32_t *proc_of, *task_of;
    struct ncptl_counters counters;
    int64_t bit_errors;
    struct ncptl_pending pending;
    uint32_t warm;      /* how many loops around here are warming up */
    uint64_t nops;      /* operations so far */
    uint32_t drawn;     /* random numbers drawn for this operation */
    int seed;           /* --seed */
    bool dry;           /* looking for what will be read, nothing is done */
    bool listing;       /* WEIR_EVENTS is set: time does not matter */
    unsigned line, col; /* of the statement */
};

extern struct nc_ev nc;

/* ---- of the program ---- */

struct nc_param {
    int64_t *value, def;
    const char *longopt;
    char letter;
    const char *help;
};

extern const char nc_source[];            /* the name of the program's text */
extern const struct nc_param nc_params[]; /* ends with a NULL value */
extern struct ncptl_column nc_columns[];  /* what LOGS write; source: line << 12 | column */
extern const uint32_t nc_ncolumns;
extern const bool nc_reads; /* it has READS: files are made before it starts */
void nc_program(void);

/* The statement that follows stands at this line and column. */
void nc_at(unsigned line, unsigned col);

/* ---- expressions ---- */

#define NC_INTS(...)                \
    (const int64_t[]){__VA_ARGS__}, \
        (uint32_t)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
#define NC_REALS(...)              \
    (const double[]){__VA_ARGS__}, \
        (uint32_t)(sizeof((const double[]){__VA_ARGS__}) / sizeof(double))
/* Of a mesh: the last one says which dimensions wrap. */
#define NC_MESH(...)                \
    (const int64_t[]){__VA_ARGS__}, \
        (uint32_t)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)) - 1

int64_t nc_add(int64_t a, int64_t b);
int64_t nc_sub(int64_t a, int64_t b);
int64_t nc_mul(int64_t a, int64_t b);
int64_t nc_div(int64_t a, int64_t b);
int64_t nc_mod(int64_t a, int64_t b);
int64_t nc_neg(int64_t a);
int64_t nc_right(int64_t a, int64_t by);         /* a >> by */
int64_t nc_bits_to_bytes(int64_t bits);          /* rounded up */
int64_t nc_round(double d);                      /* half upwards */
double nc_ratio(double a, double b, bool timed); /* timed: a clock that stands is no fault */
bool nc_within(int64_t x, int64_t a, int64_t b); /* a, b in any order */
int64_t nc_count(enum nc_counter which);         /* in integer context */
double nc_counted(enum nc_counter which);        /* in floating-point context */
double nc_file_data(const char *file, int64_t column, int64_t row, const char *colsep,
                    const char *rowsep);

/* Ranges: each value is put in and comes out in the same order. nc_each_next() frees it after the
 * last value, nc_each_has() in any case. */
struct nc_piece;
struct nc_each {
    struct nc_piece *piece;
    uint32_t n, cap, at;
    int64_t i, prev;
};

void nc_each_value(struct nc_each *r, int64_t value);
/* {terms, ..., last}; `real`: the same in floating-point context, NULL for fewer than three terms
 */
void nc_each_up_to(struct nc_each *r, const int64_t *terms, uint32_t n, int64_t last,
                   const double *real, double real_last);
bool nc_each_next(struct nc_each *r, int64_t *ret);
bool nc_each_has(struct nc_each *r, int64_t value);
bool nc_in(int64_t x, const int64_t *values, uint32_t n);
bool nc_in_up_to(int64_t x, const int64_t *terms, uint32_t n, int64_t last, const double *real,
                 double real_last);

/* ---- loops and conditions ---- */

struct nc_loop {
    int64_t count, warmups;
    bool sync;
    int phase;
    int64_t left;
};
bool nc_loop_next(struct nc_loop *l);

struct nc_timed {
    int64_t nsecs, warmup;
    bool has_warmup, sync;
    int phase;
    uint64_t begin_ps;
};
bool nc_timed_next(struct nc_timed *t);

void nc_assert(bool holds, const char *text);
int64_t nc_random_task(int64_t lo, int64_t hi, int64_t but);

/* ---- tasks ---- */

bool nc_is_task(int64_t task);

/* Processors, gathered task by task. */
struct nc_set {
    uint32_t *proc;
    uint32_t n, cap;
    bool sorted;
};
struct nc_set *nc_everyone(void);
void nc_set_clear(struct nc_set *s);
void nc_set_add(struct nc_set *s, int64_t task);
bool nc_set_mine(struct nc_set *s); /* is this processor among them? */

void nc_assign(int64_t task, int64_t proc);
void nc_assign_random(int64_t task);
void nc_assigned(void); /* all of the statement are */

/* ---- messages ---- */

struct nc_msg {
    int64_t bytes;
    uint32_t flags; /* NCPTL_F_ASYNC, _UNIQUE, _TOUCH, _VERIFY, _UNSUSP, and ALIGN, MISALIGN, BUF
                     * where they are written */
    int64_t tag;
    const char *tag_text;
    int tag_number; /* of a text among the program's, from 1 */
    int64_t align, ofs, buf;
};

void nc_send(int64_t task, struct nc_msg m);
void nc_receive(int64_t task, struct nc_msg m);
void nc_multicast(int64_t root, struct nc_set *to, struct nc_msg m);
bool nc_reduces(struct nc_set *from, struct nc_set *to); /* is this processor concerned? */
void nc_reduce(struct nc_set *from, struct nc_set *to, int64_t count, int64_t size,
               struct nc_msg m);
void nc_barrier(struct nc_set *of);
void nc_wait(uint32_t of); /* NCPTL_SENDS | NCPTL_RECVS | NCPTL_IOS */

/* ---- files ---- */

#define NC_NEXT INT64_MIN /* as an offset: where this task's last access ended */

void nc_open(int64_t file, uint32_t mode);
void nc_close(int64_t file);
void nc_flush(int64_t file);
/* `with`: all that access the same file together, or NULL. */
void nc_write(int64_t file, int64_t bytes, int64_t offset, uint32_t flags, struct nc_set *with);
void nc_read(int64_t file, int64_t bytes, int64_t offset, uint32_t flags, struct nc_set *with);

/* A barrier of tasks that access different files COLLECTIVELY. */
void nc_io_barrier(struct nc_set *with);

/* ---- what a task does alone ---- */

void nc_compute(int64_t nsecs);
void nc_sleep(int64_t nsecs);

struct nc_touch {
    int64_t times, word, region, stride, accesses;
    bool random, has_stride, has_accesses;
};
void nc_touch(struct nc_touch t);
void nc_touch_buffers(int64_t which); /* -1: all, -2: the current one */

void nc_reset(void);
void nc_store(void);
void nc_restore(void);

bool nc_speaks(void);   /* not while warming up; counts the operation */
void nc_executes(void); /* before nc_backend(), also while warming up */
void nc_output(bool timed, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void nc_backend(bool timed, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
bool nc_logs(uint32_t column); /* as nc_speaks(), before the values of columns from this one on */
void nc_percentile(uint32_t column, double percent);
void nc_log(uint32_t column, double value);
void nc_logged(void);
void nc_aggregate(uint32_t table);
