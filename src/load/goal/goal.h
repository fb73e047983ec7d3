/* goal.h -- GOAL schedules: per rank a directed acyclic graph of operations.
 *
 *   text --goal_text_read--> builder --goal_write--> binary file
 *                                                       |  mapped, never copied
 *   goal_open --> goal --> cursor per rank --> next operation, done, next, ...
 *
 * A binary file is mapped: only what is being executed needs to be in memory, and
 * the system drops what it wants. A cursor keeps what stands at the front of the
 * graph (operations some of whose requirements are met, and those ready to start),
 * not the graph. Records are checked when they are read, so a schedule of any size
 * starts at once and damage is reported with the byte.
 *
 * docs/formats/goal.md describes both forms.
 */
#ifndef LOAD_GOAL_GOAL_H
#define LOAD_GOAL_GOAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/map.h"
#include "base/str.h"

enum goal_type { GOAL_SEND = 1, GOAL_RECV = 2, GOAL_CALC = 3 };

#define GOAL_ANY UINT32_MAX /* the source of a receive from any rank */

struct goal_op {
    uint8_t type; /* enum goal_type */
    uint8_t cpu, nic;
    uint32_t peer; /* SEND, RECV */
    uint32_t tag;
    uint64_t size;          /* bytes; CALC: nanoseconds */
    uint32_t needs;         /* how many requirements it has */
    uint32_t nafter, after; /* operations that require its completion: words of the appendix */
    uint32_t nafter_start, starts; /* and when it has started */
};

/* ---- a binary schedule, read-only ---- */

struct goal {
    const uint8_t *bytes;
    size_t len;
    bool mapped; /* to be unmapped */
    const char *name;
    uint32_t nranks;
    uint8_t max_cpu, max_nic;
};

/* What one rank has; pointers into the file, little-endian and not aligned. */
struct goal_rank {
    const struct goal *g;
    uint32_t rank, nops, nroots, nwords;
    const uint8_t *roots, *ops, *words;
};

/* Binary as it is; text is turned into binary in a temporary file first, one
 * rank in memory at a time. `name` must outlive it. */
bool goal_open(struct goal *ret, const char *path, struct wr_err *err);
bool goal_open_mem(struct goal *ret, const char *name, const void *bytes, size_t len,
                   struct wr_err *err);
void goal_close(struct goal *g);

bool goal_rank_open(struct goal_rank *ret, const struct goal *g, uint32_t rank, struct wr_err *err);
uint32_t goal_root(const struct goal_rank *r, uint32_t i); /* may be no operation's number */
uint32_t goal_word(const struct goal_rank *r, uint32_t i);

/* Refuses a record that makes no sense, saying where it is. */
bool goal_op_read(const struct goal_rank *r, uint32_t i, struct goal_op *ret, struct wr_err *err);
/* The byte of the file at which record i begins. */
uint64_t goal_op_at(const struct goal_rank *r, uint32_t i);

/* ---- walking through a rank's graph ---- */

enum goal_turn {
    GOAL_START, /* an operation that may start now */
    GOAL_LATER, /* nothing until something that runs has started or completed */
    GOAL_END,   /* all have completed */
    GOAL_FAULT, /* goal_cursor_fault() says why */
};

struct goal_cursor {
    struct goal_rank r;
    uint32_t root;             /* of the roots: how many were taken */
    uint32_t started, running; /* operations that were handed out; not yet complete */
    uint32_t *ready;           /* a ring */
    uint32_t ready_cap, ready_first, ready_n;
    struct wr_map missing; /* of operations with requirements met and unmet: how many are unmet */
    uint32_t bad;          /* the operation at fault */
    uint8_t fault;         /* what is wrong */
};

void goal_cursor_init(struct goal_cursor *c, const struct goal_rank *r);
void goal_cursor_fini(struct goal_cursor *c);
enum goal_turn goal_cursor_next(struct goal_cursor *c, uint32_t *ret_id, struct goal_op *ret);
/* Call both for every operation, in this order; `started` may be left out for
 * those whose nafter_start is 0. */
void goal_cursor_started(struct goal_cursor *c, uint32_t id);
void goal_cursor_done(struct goal_cursor *c, uint32_t id);
bool goal_cursor_fault(const struct goal_cursor *c, struct wr_err *err);

/* ---- making one ---- */

struct goal_builder;

struct goal_builder *goal_builder_new(void);
void goal_builder_free(struct goal_builder *b);
void goal_builder_clear(struct goal_builder *b);
/* The number of the operation. Only type, cpu, nic, peer, tag and size are looked at. */
uint32_t goal_add(struct goal_builder *b, const struct goal_op *op);
/* `then` starts after `first` has completed, or, at_start, has started. */
void goal_require(struct goal_builder *b, uint32_t then, uint32_t first, bool at_start);
uint32_t goal_count(const struct goal_builder *b);

struct goal_writer; /* a binary file, rank after rank in any order */

/* `out` must be seekable. Ranks that are never written do nothing. */
struct goal_writer *goal_writer_new(FILE *out, uint32_t nranks);
bool goal_writer_rank(struct goal_writer *w, uint32_t rank, const struct goal_builder *b,
                      struct wr_err *err);
bool goal_writer_close(struct goal_writer *w, struct wr_err *err); /* frees it, whatever happens */
void goal_writer_abandon(struct goal_writer *w);

/* Text to binary; errors have line and column. */
bool goal_text_read(FILE *in, const char *name, FILE *out, struct wr_err *err);
/* Binary to text. */
bool goal_text_write(const struct goal *g, FILE *out, struct wr_err *err);

/* ---- looking at all of it ---- */

struct goal_totals {
    uint64_t ops, sends, recvs, calcs, requires, starts;
    uint64_t bytes_sent, bytes_received, calc_ns;
    uint64_t longest; /* operations of the rank with the most */
};

/* Walks every rank's graph to its end, as if all completed at once. */
bool goal_check(const struct goal *g, struct goal_totals *ret, struct wr_err *err);

#endif
