/* goal_read.c -- opens binary schedules and reads their records in place.
 *
 * Owns the mapping of the file. Header and table are checked when the file is opened, the extent of
 * a rank by goal_rank_open(), a record by goal_op_read(): a damaged file is reported at the byte.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "goal_priv.h"

/* Do these bytes begin a binary file? */
static bool goal_is_binary(const uint8_t *bytes, size_t len)
{
    return len >= 8 &&
           (goal_get64(bytes) == GOAL_MAGIC || goal_get64(bytes) == GOAL_MAGIC_CONSUMED);
}

/* Header and table; the ranks are looked at when they are opened. */
static bool goal_read_header(struct goal *ret, struct goal g, struct wr_err *err)
{
    if (!goal_is_binary(g.bytes, g.len))
        return wr_fail(err, WR_INPUT,
                       "%s: not a GOAL schedule: it begins neither with num_ranks nor with the "
                       "number %d; convert it with a GOAL compiler",
                       g.name, GOAL_MAGIC);
    if (goal_get64(g.bytes) == GOAL_MAGIC_CONSUMED)
        return wr_fail(err, WR_INPUT,
                       "%s: the schedule was already consumed by a simulator that overwrites what "
                       "it has read; make it again from its text",
                       g.name);
    if (g.len < GOAL_TABLE)
        return wr_fail(err, WR_INPUT,
                       "%s: the file ends at byte %zu, inside its header; it was cut", g.name,
                       g.len);
    g.nranks = goal_get32(g.bytes + 8);
    g.max_cpu = g.bytes[12];
    g.max_nic = g.bytes[13];
    if (!g.nranks)
        return wr_fail(err, WR_INPUT, "%s: byte 8: the schedule has no ranks; make one with some",
                       g.name);
    if ((g.len - GOAL_TABLE) / GOAL_TABLE_ROW < g.nranks)
        return wr_fail(err, WR_INPUT,
                       "%s: byte 8: %u ranks need a table of %llu bytes, and the file ends at "
                       "byte %zu; it was cut or is no schedule",
                       g.name, g.nranks, (unsigned long long)g.nranks * GOAL_TABLE_ROW, g.len);
    *ret = g;
    return true;
}

bool goal_open_mem(struct goal *ret, const char *name, const void *bytes, size_t len,
                   struct wr_err *err)
{
    return goal_read_header(ret, (struct goal){.bytes = bytes, .len = len, .name = name}, err);
}

/* Maps all of a file; an empty one is no schedule anyway. */
static bool goal_map_file(struct goal *ret, int fd, const char *name, struct wr_err *err)
{
    struct stat st;

    if (fstat(fd, &st))
        return wr_fail_errno(err, "%s", name);
    if (!S_ISREG(st.st_mode))
        return wr_fail(err, WR_INPUT, "%s: not a file; name one that holds a schedule", name);
    if (!st.st_size)
        return wr_fail(err, WR_INPUT, "%s: the file is empty; name one that holds a schedule",
                       name);
    void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

    if (p == MAP_FAILED)
        return wr_fail_errno(err, "%s: cannot be mapped", name);
    struct goal g = {.bytes = p, .len = (size_t)st.st_size, .mapped = true, .name = name};

    if (!goal_read_header(ret, g, err)) {
        munmap(p, g.len);
        return false;
    }
    return true;
}

static bool goal_open_text(struct goal *ret, FILE *in, const char *path, struct wr_err *err)
{
    FILE *out = tmpfile();

    if (!out)
        return wr_fail_errno(err,
                             "%s: no temporary file for the binary form; set TMPDIR, or convert it "
                             "with `weir lang goal`",
                             path);
    bool ok = goal_text_read(in, path, out, err) && goal_map_file(ret, fileno(out), path, err);

    fclose(out); /* the mapping keeps its content */
    return ok;
}

bool goal_open(struct goal *ret, const char *path, struct wr_err *err)
{
    uint8_t head[8];
    FILE *in;

    if (!wr_file_open(&in, path, err))
        return false;
    size_t n = fread(head, 1, sizeof head, in);
    bool ok;

    if (ferror(in)) {
        ok = wr_fail_read(err, "cannot read %s; check the file name", path);
    } else if (goal_is_binary(head, n)) {
        ok = goal_map_file(ret, fileno(in), path, err);
    } else {
        rewind(in);
        ok = goal_open_text(ret, in, path, err);
    }
    fclose(in);
    return ok;
}

void goal_close(struct goal *g)
{
    if (g->mapped)
        munmap((void *)(uintptr_t)g->bytes, g->len);
    *g = (struct goal){0};
}

bool goal_rank_open(struct goal_rank *ret, const struct goal *g, uint32_t rank, struct wr_err *err)
{
    const uint8_t *row = g->bytes + GOAL_TABLE + (uint64_t)rank * GOAL_TABLE_ROW;
    uint64_t start = goal_get64(row), end = goal_get64(row + 8), most = g->len - GOAL_BASE;
    struct goal_rank r = {.g = g, .rank = rank};

    assert(rank < g->nranks);
    if (start > end || end > most || (end - start < 8 && end > start))
        return wr_fail(err, WR_INPUT,
                       "%s: byte %zu: rank %u lies from %llu to %llu, and the file has %llu bytes "
                       "from there on; it was cut or is damaged",
                       g->name, (size_t)(row - g->bytes), rank, (unsigned long long)start,
                       (unsigned long long)end, (unsigned long long)most);
    if (start == end) { /* a rank that does nothing */
        *ret = r;
        return true;
    }
    const uint8_t *at = g->bytes + GOAL_BASE + start;
    uint64_t left = end - start - 8;

    r.nops = goal_get32(at);
    r.nroots = goal_get32(at + 4);
    if (r.nroots > r.nops || left / 4 < r.nroots || (left - 4ull * r.nroots) / GOAL_RECORD < r.nops)
        return wr_fail(err, WR_INPUT,
                       "%s: byte %llu: rank %u would have %u operations, %u of them at the "
                       "beginning, in %llu bytes; the file is damaged",
                       g->name, (unsigned long long)(GOAL_BASE + start), rank, r.nops, r.nroots,
                       (unsigned long long)(end - start));
    r.roots = at + 8;
    r.ops = r.roots + 4ull * r.nroots;
    r.words = r.ops + (uint64_t)GOAL_RECORD * r.nops;
    uint64_t words = (left - 4ull * r.nroots - (uint64_t)GOAL_RECORD * r.nops) / 4;

    r.nwords = words > UINT32_MAX ? UINT32_MAX : (uint32_t)words;
    *ret = r;
    return true;
}

uint32_t goal_root(const struct goal_rank *r, uint32_t i)
{
    assert(i < r->nroots);
    return goal_get32(r->roots + 4ull * i);
}

uint32_t goal_word(const struct goal_rank *r, uint32_t i)
{
    assert(i < r->nwords);
    return goal_get32(r->words + 4ull * i);
}

uint64_t goal_op_at(const struct goal_rank *r, uint32_t i)
{
    return (uint64_t)(r->ops - r->g->bytes) + (uint64_t)GOAL_RECORD * i;
}

static bool goal_check_op(const struct goal_rank *r, const struct goal_op *op, const char **ret_why)
{
    *ret_why = op->type < GOAL_SEND || op->type > GOAL_CALC ? "no such kind of operation"
               : op->type != GOAL_CALC && op->peer >= r->g->nranks &&
                       (op->type == GOAL_SEND || op->peer != GOAL_ANY)
                   ? "its peer is no rank"
               : op->type == GOAL_CALC && op->size > UINT64_MAX / 1000
                   ? "it computes for more than 200 days"
               : op->type != GOAL_CALC && op->size > INT64_MAX ? "a message of such a size"
               : op->cpu > r->g->max_cpu ? "its cpu is beyond the largest in the header"
               : (uint64_t)op->after + op->nafter > r->nwords ||
                       (uint64_t)op->starts + op->nafter_start > r->nwords
                   ? "its dependents lie outside of the rank"
                   : NULL;
    return !*ret_why;
}

bool goal_op_read(const struct goal_rank *r, uint32_t i, struct goal_op *ret, struct wr_err *err)
{
    const uint8_t *p = r->ops + (uint64_t)GOAL_RECORD * i;
    const char *why;
    struct goal_op op = {
        .needs = goal_get32(p),
        .type = p[4],
        .peer = goal_get32(p + 5),
        .size = goal_get64(p + 9),
        .tag = goal_get32(p + 17),
        .cpu = p[21],
        .nic = p[22],
        .nafter = goal_get32(p + 23),
        .after = goal_get32(p + 27),
        .nafter_start = goal_get32(p + 31),
        .starts = goal_get32(p + 35),
    };

    assert(i < r->nops);
    if (!goal_check_op(r, &op, &why))
        return wr_fail(err, WR_INPUT,
                       "%s: byte %llu: operation %u of rank %u: %s; the file is damaged",
                       r->g->name, (unsigned long long)goal_op_at(r, i), i, r->rank, why);
    *ret = op;
    return true;
}
