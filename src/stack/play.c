/* play.c -- the file accesses of a coNCePTuaL program, as the events of stack_drive.c.
 *
 * Owns the program (load/), the state of each task in it, and the table from the program's file
 * numbers to those of the engine. An operation that cannot be simulated ends the program;
 * stack_play_failed() then reports it with its place in the program.
 */
#include "stack/play.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "load/kinds/load_kinds.h"

#define SOME_TASKS \
    "a collective of some tasks only cannot be played here; let all take part, or use `weir run`"
#define THERE_B (1ull << 50) /* length of a file that no task wrote */

struct program {
    struct conf_plugin plug;
};

static const struct conf_row program_rows[] = {
    {.key = "program",
     .type = CONF_PLUGIN,
     .offset = offsetof(struct program, plug),
     .kinds = load_kinds,
     .help = "the program"},
    CONF_END,
};

/* A program instead of a test. Up to `tasks` set by stack_play_open(); the rest, and what `rank`
 * points to, changes while running. */
struct stack_play {
    struct program program; /* the configuration's section */
    struct conf *conf;
    struct load load;    /* its operations, rank by rank */
    char *name;          /* of its file */
    unsigned char *rank; /* [tasks] of load.rank_size */
    uint32_t tasks;
    int64_t *file;       /* [FILES] numbers that the program gave them; a hash table */
    bool *known;         /* [FILES] the place is taken */
    bool *made;          /* [FILES] a task wrote it, or it existed before */
    uint32_t files;      /* places taken */
    struct wr_err fault; /* the first operation that cannot be simulated */
};

bool stack_play_knows(const char *command)
{
    size_t n = strcspn(command, " ");

    return n > 6 && !strncmp(command + n - 6, ".ncptl", 6);
}

static void play_quote(struct wr_str *out, const char *text, size_t n)
{
    wr_str_add(out, "\"");
    for (size_t i = 0; i < n; i++) {
        wr_str_add(out, text[i] == '"' || text[i] == '\\' ? "\\" : "");
        wr_str_addn(out, text + i, 1);
    }
    wr_str_add(out, "\"");
}

static bool play_load_program(struct stack_play *p, const char *command, uint64_t seed,
                              struct wr_err *err)
{
    size_t n = strcspn(command, " ");
    const char *options = command + n + strspn(command + n, " ");
    struct wr_str text = {0};

    wr_str_add(&text, "program: {kind: ncptl, file: ");
    play_quote(&text, command, n);
    if (*options) {
        wr_str_add(&text, ", options: ");
        play_quote(&text, options, strlen(options));
    }
    wr_str_add(&text, "}\n");
    bool ok = conf_load_text(&p->conf, &p->program, program_rows, "the test", text.s, text.n, NULL,
                             0, err) &&
              load_open(&p->load, &p->program.plug,
                        &(struct load_start){.ranks = p->tasks, .seed = seed}, err);

    wr_str_fini(&text);
    return ok;
}

bool stack_play_open(struct stack_play **ret, const char *command, uint32_t tasks, uint64_t seed,
                     struct wr_err *err)
{
    struct stack_play *p = wr_zalloc(1, sizeof *p);

    assert(tasks > 0);
    p->tasks = tasks;
    p->name = wr_strdup(command);
    p->name[strcspn(command, " ")] = 0;
    if (!play_load_program(p, command, seed, err)) {
        stack_play_close(p);
        return false;
    }
    p->rank = wr_zalloc(tasks, p->load.rank_size);
    for (uint32_t i = 0; i < tasks; i++)
        p->load.ops->rank_init(&p->load, p->rank + i * p->load.rank_size, i);
    p->file = wr_zalloc(STACK_PLAY_FILES, sizeof *p->file);
    p->known = wr_zalloc(STACK_PLAY_FILES, 1);
    p->made = wr_zalloc(STACK_PLAY_FILES, 1);
    *ret = p;
    return true;
}

void stack_play_close(struct stack_play *p)
{
    if (!p)
        return;
    for (uint32_t i = 0; p->rank && p->load.ops->rank_fini && i < p->tasks; i++)
        p->load.ops->rank_fini(&p->load, p->rank + i * p->load.rank_size);
    if (p->load.ops)
        load_close(&p->load);
    if (p->conf)
        conf_close(p->conf);
    free(p->name);
    free(p->rank);
    free(p->file);
    free(p->known);
    free(p->made);
    free(p);
}

static enum ior_op play_fail(struct stack_play *p, const struct load_op *op, const char *what)
{
    char where[64] = "";

    if (p->load.ops->where)
        p->load.ops->where(&p->load, op->where, where, sizeof where);
    if (!p->fault.code)
        wr_fail(&p->fault, WR_INPUT, "%s%s%s: %s", p->name, *where ? ":" : "", where, what);
    return IOR_END;
}

/* The number of a file in the engine: its place in a table of fixed size. The table is never full,
 * because at most half of it is used. */
static uint32_t play_file_slot(struct stack_play *p, int64_t file)
{
    uint32_t at = (uint32_t)((uint64_t)file * 0x9e3779b97f4a7c15u >> 48) % STACK_PLAY_FILES;

    assert(p->files < STACK_PLAY_FILES);
    while (p->known[at] && p->file[at] != file)
        at = (at + 1) % STACK_PLAY_FILES;
    p->files += !p->known[at];
    p->known[at] = true;
    p->file[at] = file;
    return at;
}

static enum ior_op play_access_file(struct stack_play *p, struct stack_engine *e,
                                    const struct load_op *op, enum ior_op what, bool writes,
                                    struct ior_event *ret)
{
    uint32_t at = play_file_slot(p, op->file);

    if (op->flags & LOAD_F_COLL && load_group_size(&op->group) != p->tasks)
        return play_fail(p, op, SOME_TASKS);
    if (p->files > STACK_PLAY_FILES / 2)
        return play_fail(p, op, "the program uses more than 32768 files; let it use fewer");
    if (!p->made[at] && !(what == IOR_OPEN && writes))
        stack_engine_put_file(e, at, writes ? 0 : THERE_B);
    p->made[at] = true;
    *ret = (struct ior_event){.op = what,
                              .writes = writes,
                              .together = op->flags & LOAD_F_COLL,
                              .file = at,
                              .bytes = op->bytes,
                              .offset = op->offset};
    return what;
}

static enum ior_op play_sleep(uint64_t ps, struct ior_event *ret, uint64_t *ret_sleep_ns)
{
    *ret_sleep_ns = ps / 1000;
    *ret = (struct ior_event){.op = IOR_SLEEP};
    return IOR_SLEEP;
}

enum ior_op stack_play_next(struct stack_play *p, struct stack_engine *e, uint32_t task,
                            uint64_t now_ps, struct ior_event *ret, uint64_t *ret_sleep_ns)
{
    assert(task < p->tasks);
    void *rank = p->rank + task * p->load.rank_size;

    *ret = (struct ior_event){.op = IOR_END};
    for (;;) {
        struct load_op op = {0};
        enum load_kind kind = p->load.ops->next(&p->load, rank, now_ps, &op);

        switch (kind) {
        case LOAD_OPEN:
            return play_access_file(p, e, &op, IOR_OPEN, op.mode != LOAD_MODE_READ, ret);
        case LOAD_CLOSE:
            return play_access_file(p, e, &op, IOR_CLOSE, false, ret);
        case LOAD_FLUSH:
            return play_access_file(p, e, &op, IOR_FLUSH, true, ret);
        case LOAD_READ:
            return play_access_file(p, e, &op, IOR_READ, false, ret);
        case LOAD_WRITE:
            return play_access_file(p, e, &op, IOR_WRITE, true, ret);
        case LOAD_COMPUTE:
        case LOAD_SLEEP:
            return play_sleep(op.ps, ret, ret_sleep_ns);
        case LOAD_COLL:
            if (load_group_size(&op.group) != p->tasks)
                return play_fail(p, &op, SOME_TASKS);
            ret->op = IOR_BARRIER;
            return IOR_BARRIER;
        case LOAD_SEND:
        case LOAD_RECV:
            return play_fail(p, &op,
                             "messages between tasks cannot be played here; leave them out, or use "
                             "`weir run`");
        case LOAD_MARK:
        case LOAD_WAIT: /* what it would wait for has ended already */
            break;
        case LOAD_FAIL:
            if (!p->fault.code)
                p->load.ops->fault(&p->load, rank, &p->fault);
            return IOR_END;
        default:
            return IOR_END;
        }
    }
}

bool stack_play_failed(const struct stack_play *p, struct wr_err *err)
{
    if (!p->fault.code)
        return true;
    *err = p->fault;
    return false;
}
