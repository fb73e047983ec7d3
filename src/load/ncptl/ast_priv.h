/* ast_priv.h -- a program as a tree, the way its author wrote it.
 *
 *   unit -+- params   "reps" IS "..." AND COMES FROM "--reps" OR "-r" WITH DEFAULT 1
 *         +- stmts    one per sentence (each starts a new log table)
 *              body/other  what a loop, LET or IF applies to
 *              src, dst    task descriptions     TASKS t SUCH THAT t IS EVEN
 *              msg, rmsg   message as sent, as received
 *
 * The parser fills it, the checker resolves every name to the binding it
 * means, and nothing changes it afterwards: one unit may be started many
 * times, with different numbers of tasks and parameters.
 */
#ifndef LOAD_NCPTL_AST_PRIV_H
#define LOAD_NCPTL_AST_PRIV_H

#include "lex_priv.h"
#include "ncptl.h"

/* Operators, shared by the tree and by the compiled program. */
enum nc_op {
    NX_CONST, /* a number; in the tree: a literal */
    NX_VAR,   /* tree only: a name, resolved to `bind` */
    NX_SLOT,  /* compiled only: a value that the rank keeps */
    NX_TMP,   /* compiled only: a task or comprehension variable */
    NX_COUNTER,
    NX_NTASKS,
    NX_MYTASK,
    NX_NEG,
    NX_NOT,
    NX_POW,
    NX_MUL,
    NX_DIV,
    NX_MOD,
    NX_SHL,
    NX_SHR,
    NX_AND,
    NX_ADD,
    NX_SUB,
    NX_OR,
    NX_XOR,
    NX_COND,  /* kid[0] if kid[1] otherwise kid[2] */
    NX_REAL,  /* kid[0] in floating-point context */
    NX_BYTES, /* bits -> bytes, rounded up */
    NX_CALL,
    /* Conditions from here on. */
    NX_EQ,
    NX_NE,
    NX_LT,
    NX_GT,
    NX_LE,
    NX_GE,
    NX_DIVIDES,
    NX_EVEN,
    NX_ODD,
    NX_IN,     /* kid[0] IS IN ranges */
    NX_NOT_IN, /* kid[0] IS NOT IN ranges */
    NX_WITHIN, /* deprecated IS IN [kid[1], kid[2]] */
    NX_NOT_WITHIN,
    NX_LAND,
    NX_LOR,
};

static inline bool nc_is_rel(enum nc_op op)
{
    return op >= NX_EQ;
}

enum nc_bind_kind {
    NB_PARAM,
    NB_LET,
    NB_RANDOM, /* LET v BE A RANDOM TASK */
    NB_EACH,
    NB_TASK, /* a task description's variable */
    NB_COMP, /* FOR EACH within a range */
    NB_GROUP,
};

struct nc_bind {
    const char *name;
    enum nc_bind_kind kind;
    uint32_t at, id;
    bool used;
    const struct nc_tasks *group; /* NB_GROUP: its members */
};

struct nx {
    uint8_t op;
    uint16_t depth; /* of the tree below */
    uint32_t at;
    int64_t i; /* CONST; COUNTER: which; MESH_*: bit d set when dimension d wraps */
    double d;  /* CONST */
    bool big;  /* CONST beyond 64 bits: only its floating-point value is meant */
    enum nc_kw func;
    const char *name; /* VAR; FILE_DATA: the file */
    const char *colsep, *rowsep;
    struct nc_bind *bind;
    struct nx **kid;
    uint32_t nkid;
    struct nc_range *ranges;
    uint32_t nranges;
};

enum nc_range_kind { NR_LIST, NR_ELLIPSIS, NR_COMP };

struct nc_gen { /* FOR EACH name IN ranges, within a comprehension */
    const char *name;
    uint32_t at;
    struct nc_bind *bind;
    struct nc_range *ranges;
    uint32_t nranges;
};

struct nc_range {
    enum nc_range_kind kind;
    uint32_t at;
    struct nx **e; /* LIST, ELLIPSIS: the values given; COMP: e[0] */
    uint32_t n;
    struct nx *last; /* ELLIPSIS */
    struct nc_gen *gens;
    uint32_t ngens;
    struct nx *where; /* COMP, or NULL */
};

enum nc_tasks_kind { NC_ALL, NC_ONE, NC_SUCH, NC_RANGES, NC_GROUP, NC_OTHERS };

struct nc_tasks {
    enum nc_tasks_kind kind;
    uint32_t at;
    const char *name;      /* ALL, SUCH: the variable or NULL; GROUP: the group */
    struct nc_bind *bind;  /* that variable */
    struct nc_bind *group; /* GROUP: its definition */
    struct nx *e;          /* ONE: number; SUCH: condition */
    struct nc_range *ranges;
    uint32_t nranges;
};

/* What a message specification may leave unsaid is 0, so that WHO RECEIVES
 * inherits it from the sender. */
enum { NC_UNSAID, NC_NO, NC_YES };
enum { NC_UNALIGNED = 1, NC_ALIGNED, NC_MISALIGNED };
enum { NC_UNTOUCHED = 1, NC_TOUCH, NC_VERIFY };
enum { NC_BUF_DEFAULT = 1, NC_BUF_NUMBER };

struct nc_msg {
    uint32_t at, count_at, type_at;
    uint8_t async, unique, aligned, touch, buffer;
    bool has_tag;
    struct nx *count; /* NULL: one */
    struct nx *size;  /* NULL: nothing; REDUCES: bytes of one item */
    struct nx *align;
    struct nx *tag;
    const char *tag_text;
    struct nx *buf, *ofs;
    enum nc_kw type; /* REDUCES */
};

enum nc_stmt_kind {
    NS_BLOCK,
    NS_REPEAT,
    NS_EACH,
    NS_TIMED,
    NS_LET,
    NS_IF,
    NS_SEND,
    NS_RECV,
    NS_WAIT,
    NS_MCAST,
    NS_REDUCE,
    NS_SYNC,
    NS_OUTPUT,
    NS_LOG,
    NS_AGGREGATE,
    NS_RESET,
    NS_STORE,
    NS_RESTORE,
    NS_ASSERT,
    NS_COMPUTE,
    NS_SLEEP,
    NS_TOUCH,
    NS_TOUCH_BUFFER,
    NS_ASSIGN,
    NS_BACKEND,
    NS_OPEN,
    NS_CLOSE,
    NS_WRITE,
    NS_READ,
    NS_FLUSH,
};

enum nc_let_kind { NL_VALUE, NL_GROUP, NL_RANDOM };

struct nc_let {
    struct nc_let *next;
    enum nc_let_kind kind;
    const char *name;
    uint32_t at;
    struct nc_bind *bind;
    struct nx *e;
    struct nc_tasks *tasks;
    struct nx *lo, *hi, *but; /* RANDOM: inclusive bounds, or NULL */
};

struct nc_item { /* OUTPUTS, BACKEND EXECUTES */
    struct nc_item *next;
    struct nx *e;     /* or */
    const char *text; /* a string, or the key of THE VALUE OF */
    bool value_of;
};

struct nc_column { /* one column of a LOGS statement */
    struct nc_column *next;
    enum ncptl_aggregate aggregate;
    struct nx *param; /* PERCENTILE */
    struct nx *e;
    const char *title;
    bool value_of;
};

enum { NC_BUFFERS_ALL, NC_BUFFERS_CURRENT, NC_BUFFERS_ONE };

struct nc_stmt {
    enum nc_stmt_kind kind;
    uint32_t at;
    struct nc_stmt *next;         /* after THEN, or the next sentence */
    struct nc_stmt *body, *other; /* what is repeated or chosen; BLOCK: its first */
    struct nc_tasks *src, *dst;
    struct nc_msg *msg, *rmsg;
    bool unsuspecting;
    bool sync; /* loops: AND A SYNCHRONIZATION */
    bool pull; /* RECV: variables flow from receiver to sender */
    bool collectively, async;
    struct nx *e;                                  /* count, time, condition, processor, file */
    struct nx *warmup;                             /* loops */
    struct nx *region, *times, *stride, *accesses; /* TOUCH */
    struct nx *word;                               /* TOUCH: bytes of one access */
    struct nx *count, *size, *offset;              /* WRITE, READ */
    bool random;                                   /* TOUCH, ASSIGN */
    uint8_t buffers, mode;
    const char *name; /* EACH */
    struct nc_bind *bind;
    struct nc_range *ranges;
    uint32_t nranges;
    struct nc_let *lets;
    struct nc_item *items;
    struct nc_column *columns;
    const char *text; /* ASSERT */
};

struct nc_param {
    struct nc_param *next;
    const char *name, *help, *longopt;
    char letter;
    uint32_t at, long_at, short_at;
    const char *shortopt;
    struct nx *def;
    struct nc_bind *bind;
};

struct ncptl_unit {
    struct wr_arena arena;
    struct nc_src src;
    struct nc_lexed lexed;
    struct wr_str warnings;
    struct nc_param *params;
    struct nc_stmt *stmts;
    uint32_t nbinds;
    /* For the formatter: where lines begin, one mark per token. */
    uint8_t *indent; /* 0: no break before this token, else 1 + depth */
};

/* ---- parse ---- */

struct nc_parser {
    struct ncptl_unit *u;
    struct wr_err *err;
    uint32_t pos;   /* the next token */
    unsigned depth; /* of recursion, so that hostile text cannot exhaust the stack */
    unsigned indent;
};

bool nc_parse(struct ncptl_unit *u, struct wr_err *err);
bool nc_check(struct ncptl_unit *u, struct wr_err *err);

/* parse_program.c: the tools of the other parse files. */
const struct nc_tok *nc_peek(const struct nc_parser *p, uint32_t ahead);
bool nc_at(const struct nc_parser *p, enum nc_kw kw);
bool nc_at_kind(const struct nc_parser *p, enum nc_tok_kind kind);
bool nc_take(struct nc_parser *p, enum nc_kw kw); /* true and one further if it is there */
bool nc_take_kind(struct nc_parser *p, enum nc_tok_kind kind);
bool nc_need(struct nc_parser *p, enum nc_kw kw, const char *after);
bool nc_need_kind(struct nc_parser *p, enum nc_tok_kind kind, const char *what);
const char *nc_need_name(struct nc_parser *p, const char *what);
const char *nc_need_string(struct nc_parser *p, const char *what);
bool nc_unexpected(struct nc_parser *p, const char *wanted);
bool nc_enter(struct nc_parser *p); /* count one level of nesting, or complain */
bool nc_word_is(const struct nc_tok *tok, const char *singular, const char *plural);

/* parse_expr.c */
struct nx *nc_expr(struct nc_parser *p);
struct nx *nc_rel(struct nc_parser *p);
bool nc_expr_begins(const struct nc_parser *p);
struct nx *nc_number(struct nc_parser *p, uint32_t at, int64_t value);
struct nx *nc_node(struct nc_parser *p, enum nc_op op, uint32_t at, struct nx *a, struct nx *b,
                   struct nx *c);
bool nc_ranges(struct nc_parser *p, struct nc_range **ret, uint32_t *nret);

/* parse_msg.c */
struct nc_tasks *nc_tasks(struct nc_parser *p);
struct nx *nc_sized(struct nc_parser *p);               /* <expr unit> or <type SIZED> */
struct nx *nc_bytes(struct nc_parser *p, struct nx *e); /* <unit>, after <expr> */
struct nx *nc_type(struct nc_parser *p);
bool nc_count(struct nc_parser *p, struct nx **ret); /* A, AN or <expr> */
struct nc_msg *nc_message(struct nc_parser *p, bool receiving);
struct nc_msg *nc_received(struct nc_parser *p); /* after WHO RECEIVES IT */
struct nc_msg *nc_reduced(struct nc_parser *p, bool target);

/* parse_io.c */
bool nc_io_verb(const struct nc_parser *p, uint32_t ahead);
struct nc_stmt *nc_io_stmt(struct nc_parser *p, struct nc_stmt *s);

/* parse_log.c */
struct nc_stmt *nc_log_stmt(struct nc_parser *p, struct nc_stmt *s);

/* parse_stmt.c */
struct nc_stmt *nc_sentence(struct nc_parser *p);

#endif
