/* prog_priv.h -- a program compiled for a number of tasks and its parameters.
 *
 *   code     flat instructions; loops and conditions are jumps
 *   nodes    expressions as trees, everything constant already folded
 *   slots    values that differ from moment to moment and live in the rank:
 *            LET and FOR EACH variables, two words per loop
 *   tmps     task variables and comprehension variables: alive only while one
 *            statement is evaluated, so they live on the stack
 *   share    what ranks look up together (share_priv.h)
 */
#ifndef LOAD_NCPTL_PROG_PRIV_H
#define LOAD_NCPTL_PROG_PRIV_H

#include "ast_priv.h"
#include "func_priv.h"
#include "seq_priv.h"

enum { NC_TMPS = 32, NC_MOST_SLOTS = 900 };

/* What a value depends on; nothing: it is constant. */
enum {
    NC_DEP_SLOT = 1 << 0,
    NC_DEP_TMP = 1 << 1,
    NC_DEP_COUNTER = 1 << 2,
    NC_DEP_TIME = 1 << 3,
    NC_DEP_RANDOM = 1 << 4,
    NC_DEP_MAP = 1 << 5,
    NC_DEP_MYTASK = 1 << 6,
};

struct nc_node {
    uint8_t op;    /* enum nc_op */
    bool real;     /* in floating-point context (a condition: its operands) */
    uint16_t dep;  /* NC_DEP_* */
    uint32_t tmps; /* which temporaries it reads, one bit each */
    uint32_t at, nkid;
    union {
        int64_t i; /* CONST, SLOT, TMP, COUNTER: index; CALL: which dimensions wrap */
        double d;  /* CONST in floating-point context */
    };
    struct nc_node **kid;
    const struct nc_func *func;
    struct nc_rng *ranges;
    uint32_t nranges;
    const struct nx *src; /* FILE_DATA: the names */
};

struct nc_cgen {
    int tmp;
    struct nc_rng *ranges;
    uint32_t nranges;
};

struct nc_rng {
    enum nc_range_kind kind;
    uint32_t at, n, ngens;
    uint16_t dep;
    uint32_t tmps;
    struct nc_node **e;           /* in integer context */
    struct nc_node **real;        /* ELLIPSIS of three or more: in floating-point context */
    struct nc_node *last, *rlast; /* ELLIPSIS */
    struct nc_cgen *gens;         /* COMP */
    struct nc_node *where;        /* COMP, or NULL */
};

/* How well a condition's solutions can be enumerated without trying all tasks:
 * see solve.c. */
enum nc_grade {
    NC_LOOSE,    /* tasks must be tried one by one */
    NC_EXACT,    /* few of the candidates fail */
    NC_POINTWISE /* only a handful of candidates */
};

/* TASKS {ranges} and TASK GROUP have become the SUCH THAT they stand for. */
struct nc_set {
    enum nc_tasks_kind kind; /* NC_ALL, NC_ONE, NC_SUCH or NC_OTHERS */
    int tmp;                 /* its variable, or -1 */
    struct nc_node *e;
    uint16_t dep;
    uint32_t tmps; /* that it reads, except its own */
    uint32_t id;   /* in the cache of the share */
    uint32_t nslots;
    const uint16_t *slots; /* that it depends on: the cache's key */
    enum nc_grade grade;
};

/* Two sets, the inner one seen by each member of the outer one. */
struct nc_pair {
    struct nc_set outer, inner;
    uint32_t id;
    uint32_t nslots;
    const uint16_t *slots;
    uint16_t dep;
    enum nc_grade inverse; /* of finding outer members from an inner one */
};

struct nc_cmsg {
    uint32_t flags; /* NCPTL_F_* */
    bool plain;     /* no tag, alignment or buffer to evaluate */
    struct nc_node *count, *size, *align, *tag, *ofs, *buf; /* NULL: 1, 0, and unsaid */
    const char *tag_text;
    int64_t tag_hash;
};

enum nc_iop {
    NI_END,
    NI_JUMP,
    NI_LET,
    NI_RANDOM,
    NI_IF,
    NI_ASSERT,
    NI_LOOP,
    NI_LOOP_END,
    NI_EACH,
    NI_EACH_END,
    NI_TIMED,
    NI_TIMED_END,
    NI_ASSIGN,
    NI_SEND,
    NI_RECV,      /* receivers found from senders */
    NI_RECV_PULL, /* senders found from receivers */
    NI_MCAST,
    NI_REDUCE,
    NI_BARRIER,
    NI_IO,    /* WRITE, READ */
    NI_LOCAL, /* everything else that yields one operation */
};

struct nc_ins {
    enum nc_iop op;
    enum ncptl_op yields; /* LOCAL, IO */
    uint32_t at;
    uint32_t jump;     /* IF, LOOP, EACH: past the body; *_END: back to the head */
    uint16_t cache;    /* SEND, RECV*: 1 + the word that remembers its peers, or 0 */
    uint16_t slot;     /* LET, RANDOM, EACH: the variable; loops: two words */
    uint16_t state;    /* EACH: two words */
    bool sync, steady; /* loops; steady: every iteration is like the first */
    bool random, async, coll, timed;
    uint8_t mode, buffers;
    struct nc_node *e, *e2, *e3, *e4, *e5; /* what they mean is said in compile.c */
    struct nc_rng *ranges;
    uint32_t nranges;
    bool listed; /* EACH: its values must be computed when the loop begins */
    struct nc_pair *pair;
    struct nc_set *set;
    struct nc_cmsg *msg, *rmsg;
    const struct nc_item *items;
    struct nc_node **item_nodes;
    const char *text;
    uint32_t column, ncolumns, table, id;
};

struct nc_column_code {
    struct ncptl_column info;
    struct nc_node *e;
    struct nc_node *param;
    int tmp; /* the task's variable, or -1 */
};

/* Read-only once nc_compile() has succeeded, but for `share`, which has its own locks. */
struct ncptl_prog {
    struct wr_arena arena; /* code, nodes, sets */
    struct nc_src src;
    uint32_t n; /* tasks */
    int seed;
    bool help;
    const char *logfile;
    struct nc_ins *code;
    uint32_t ncode, nslots;
    struct nc_column_code *columns;
    uint32_t ncolumns;
    struct nc_share *share;
    uint64_t all_key; /* of the group of all processors */
};

/* ---- evaluation (eval.c) ---- */

/* One evaluation; on the stack. The first failure is kept in bad, where, x and y. */
struct nc_ev {
    const struct ncptl_prog *p;
    struct ncptl_rank *r; /* NULL while compiling */
    const int64_t *slot;
    const struct nc_map *map; /* processors of tasks; NULL: task i on processor i */
    enum nc_fault_kind bad;   /* the first thing that went wrong */
    const struct nc_node *where, *now;
    int64_t x, y;   /* its operands */
    uint32_t drawn; /* random numbers taken by this evaluation */
    int64_t fuel;   /* comprehension values still to be looked at */
    int64_t tmp[NC_TMPS];
};

void nc_ev_init(struct nc_ev *e, const struct ncptl_prog *p, struct ncptl_rank *r);

int64_t nc_int(struct nc_ev *e, const struct nc_node *x);
double nc_real(struct nc_ev *e, const struct nc_node *x);
bool nc_true(struct nc_ev *e, const struct nc_node *x);

/* Most numbers of most statements are constant. */
static inline int64_t nc_value(struct nc_ev *e, const struct nc_node *x)
{
    return x->op == NX_CONST ? x->i : nc_int(e, x);
}

/* As nc_int(), but a failure only means "unknown". */
bool nc_quiet(struct nc_ev *e, const struct nc_node *x, int64_t *ret);

/* What an evaluation's failure means to the user. */
bool nc_explain(const struct ncptl_prog *p, enum nc_fault_kind kind, uint32_t at, int64_t x,
                int64_t y, const char *text, struct wr_err *err);

/* ---- ranges (range.c) ---- */

/* NC_SEQ_LIST for a list. False when evaluation failed. */
bool nc_seq_of(struct nc_ev *e, const struct nc_rng *r, struct nc_seq *ret);

/* Element `i` of a sequence, whose predecessor is `prev`; false after the last. */
bool nc_seq_at(struct nc_ev *e, const struct nc_rng *r, const struct nc_seq *s, int64_t i,
               int64_t prev, int64_t *ret);

/* Calls `fn` with every value until it returns true; returns whether it did. */
typedef bool nc_value_fn(void *ctx, int64_t value);
bool nc_values(struct nc_ev *e, const struct nc_rng *r, uint32_t n, nc_value_fn *fn, void *ctx);

bool nc_in_ranges(struct nc_ev *e, const struct nc_rng *r, uint32_t n, int64_t value);

/* ---- sets (task_set.c, solve.c) ---- */

enum { NC_NO_TASK = -1 };

/* The smallest value >= x of the temporary `tmp` that may satisfy the condition,
 * NC_NO_TASK if there is none below n: a lower bound, never past a solution. */
int64_t nc_solve(struct nc_ev *e, const struct nc_node *rel, int tmp, int64_t x);

/* The same for `expr = value`. */
int64_t nc_solve_equal(struct nc_ev *e, const struct nc_node *expr, int64_t value, int tmp,
                       int64_t x);

enum nc_grade nc_grade_rel(const struct nc_node *rel, int tmp);
enum nc_grade nc_grade_equal(const struct nc_node *expr, int tmp);

/* Is `task` in the set? `self` is the task that ALL OTHER TASKS leaves out. Leaves the
 * task in the set's variable. */
bool nc_set_has(struct nc_ev *e, const struct nc_set *s, int64_t self, int64_t task);

/* The smallest member >= x, or NC_NO_TASK; leaves it in the set's variable. */
int64_t nc_set_next(struct nc_ev *e, const struct nc_set *s, int64_t self, int64_t x);

/* The smallest outer member >= x that sees `inner`, or NC_NO_TASK; both variables
 * are set. Tries tasks one by one when pair->inverse is loose. */
int64_t nc_pair_next(struct nc_ev *e, const struct nc_pair *pair, int64_t inner, int64_t x);

/* The members as a group of processors. When it needs a list, *pin is taken (and
 * whatever it held is released). False when evaluation failed. */
bool nc_set_group(struct nc_ev *e, const struct nc_set *s, int64_t self, struct ncptl_group *ret,
                  struct nc_pin **pin);

/* All that the outer members see together (the targets of REDUCES). */
bool nc_pair_group(struct nc_ev *e, const struct nc_pair *pair, struct ncptl_group *ret,
                   struct nc_pin **pin);

/* The table of outer and inner members, for pairs without closed form; NULL when it is too dense to
 * keep or evaluation failed. */
struct nc_pin *nc_pair_pin(struct nc_ev *e, const struct nc_pair *pair, struct nc_pin **pin);
void nc_release(const struct ncptl_prog *p, struct nc_pin **pin);

/* ---- compile.c ---- */

bool nc_compile(struct ncptl_prog *p, const struct ncptl_unit *u, const int64_t *params,
                struct wr_err *err);

/* A parameter's default. */
bool nc_constant(const struct ncptl_unit *u, const struct nx *x, int64_t *ret, struct wr_err *err);

#endif
