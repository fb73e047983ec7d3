/* profile_file.c -- reads one profile and checks everything in it.
 *
 * The writer may be running, killed, or not weir: counts are limited to what the file can hold,
 * texts are terminated, records that are not marked ready or point outside are dropped and counted
 * as torn. Nothing behind this file checks again.
 */
#include "prof/read/profile_file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

const char *const prof_word_names[PROF_WORDS_N] = {
#define X(name, unit) #name,
    PROF_WORDS(X)
#undef X
};
const char *const prof_word_units[PROF_WORDS_N] = {
#define X(name, unit) unit,
    PROF_WORDS(X)
#undef X
};

const char *prof_clock_name(uint32_t clock)
{
    static const char *const names[] = {"sampled", "coarse", "precise", "kernel"};

    return clock < sizeof names / sizeof names[0] ? names[clock] : "unknown";
}

/* The bytes of a profile, in a file or in memory. Reads beyond the end give zeros and set `cut`. */
struct source {
    int fd; /* < 0: memory */
    const char *bytes;
    uint64_t len;
    bool cut;
    bool no_log; /* the log is not wanted */
};

static void file_take(struct source *s, void *to, uint64_t at, uint64_t n)
{
    uint64_t have = at >= s->len ? 0 : s->len - at < n ? s->len - at : n, done = 0;

    memset(to, 0, n);
    s->cut |= have < n;
    if (s->fd < 0) {
        memcpy(to, s->bytes + (have ? at : 0), have);
        return;
    }
    while (done < have) {
        ssize_t got = pread(s->fd, (char *)to + done, have - done, (off_t)(at + done));

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            s->cut = true;
            return;
        }
        done += (uint64_t)got;
    }
}

#define END(text) ((text)[sizeof(text) - 1] = 0)

static bool file_check_head(struct prof_head *h, const char *path, struct wr_err *err)
{
    if (memcmp(h->magic, PROF_MAGIC, sizeof h->magic))
        return wr_fail(err, WR_INPUT, "%s is not a profile; name a file ending in %s", path,
                       PROF_ENDING);
    if (h->order != PROF_ORDER)
        return wr_fail(err, WR_INPUT,
                       "%s was written on a machine with another byte order; read it there", path);
    if (h->version != PROF_VERSION)
        return wr_fail(err, WR_INPUT,
                       "%s is a profile of version %u, this weir reads version %d; use the weir "
                       "whose libweir-prof.so made it",
                       path, h->version, PROF_VERSION);
    uint64_t slots_end = h->slots_at + h->slot_b * h->slots_max;

    if (h->clock > PROF_KERNEL || h->names_max < PROF_ROW_FIRST || h->names_max > PROF_NAMES_MOST ||
        h->slots_max > PROF_SLOTS || h->log_max > PROF_LOG ||
        h->slot_b != prof_slot_b(h->names_max) || h->names_at != PROF_HEAD_B ||
        h->slots_at != h->names_at + h->names_max * sizeof(struct prof_name) ||
        h->log_at < slots_end || h->log_at > slots_end + 65536 || h->children_max > PROF_CHILDREN ||
        h->children_at != h->log_at + h->log_max * sizeof(struct prof_rec) ||
        h->slice_ns < 1000000 || h->slice_ns > UINT64_C(3600000000000) ||
        h->argv_b > sizeof h->argv || h->real_ns < 0 || h->start_ns < 0 || h->end_ns < 0)
        return wr_fail(err, WR_INPUT, "%s is damaged: its head contradicts itself; leave it out",
                       path);
    END(h->host);
    END(h->job);
    END(h->exe);
    END(h->argv);
    END(h->fs_note);
    if (h->counters > PROF_COUNTERS)
        h->counters = PROF_COUNTERS;
    for (int i = 0; i < PROF_COUNTERS; i++)
        END(h->counter[i]);
    return true;
}

/* Limits a count to what the file can hold, so that a few bytes cannot allocate gigabytes. */
static uint32_t file_fit_count(struct source *s, uint32_t n, uint64_t at, uint64_t each)
{
    assert(each > 0);
    uint64_t fit = s->len > at ? (s->len - at + each - 1) / each : 0;

    s->cut |= n > fit;
    return n < fit ? n : (uint32_t)fit;
}

static void file_read_names(struct prof_file *f, struct source *s)
{
    const struct prof_head *h = &f->head;

    f->nnames = h->names_n < h->names_max ? h->names_n : h->names_max;
    f->nnames = file_fit_count(s, f->nnames, h->names_at, sizeof *f->name);
    if (f->nnames < PROF_ROW_FIRST)
        f->nnames = PROF_ROW_FIRST;
    f->name = wr_zalloc(f->nnames, sizeof *f->name);
    file_take(s, f->name, h->names_at, f->nnames * sizeof *f->name);
    for (uint32_t i = 0; i < f->nnames; i++) {
        struct prof_name *n = &f->name[i];

        END(n->fs);
        END(n->path);
        if (n->kind >= PROF_KINDS || n->mount >= f->nnames ||
            (n->kind == PROF_K_PATH && n->dev > PROF_FRAMES))
            *n = (struct prof_name){.kind = PROF_K_NONE};
    }
}

static void file_read_slots(struct prof_file *f, struct source *s)
{
    assert(f->nnames >= PROF_ROW_FIRST);
    const struct prof_head *h = &f->head;
    uint64_t rows_off = h->slot_b - h->names_max * sizeof(struct prof_row);
    struct prof_slot slot;

    f->nslots = h->slots_n < h->slots_max ? h->slots_n : h->slots_max;
    f->nslots = file_fit_count(s, f->nslots, h->slots_at, h->slot_b);
    f->slot = wr_zalloc(f->nslots, sizeof *f->slot);
    f->row = wr_zalloc((size_t)f->nslots * f->nnames, sizeof *f->row);
    for (uint32_t i = 0; i < f->nslots; i++) {
        uint64_t at = h->slots_at + i * h->slot_b;

        file_take(s, &slot, at, sizeof slot);
        f->slot[i] = (struct prof_thread_slot){.tid = slot.tid,
                                               .in_flight = slot.in_flight,
                                               .want = slot.want,
                                               .from_ns = slot.from_ns,
                                               .edge_ns = slot.edge_ns};
        memcpy(f->slot[i].jumps, slot.jumps, sizeof slot.jumps);
        memcpy(f->slot[i].unplaced, slot.unplaced, sizeof slot.unplaced);
        memcpy(f->slot[i].sizes, slot.sizes, sizeof slot.sizes);
        if (slot.tid)
            file_take(s, &f->row[(size_t)i * f->nnames], at + rows_off, f->nnames * sizeof *f->row);
    }
}

static void file_read_log(struct prof_file *f, struct source *s)
{
    assert(!f->rec && !f->nrec);
    const struct prof_head *h = &f->head;
    uint64_t n = h->log_n < h->log_max ? h->log_n : h->log_max;
    uint64_t fit = s->len > h->log_at ? (s->len - h->log_at) / sizeof *f->rec : 0;

    s->cut |= n > fit;
    n = n < fit ? n : fit;
    f->rec = wr_zalloc(n, sizeof *f->rec);
    file_take(s, f->rec, h->log_at, n * sizeof *f->rec);
    for (uint64_t i = 0; i < n; i++) {
        const struct prof_rec *r = &f->rec[i];

        if (r->ready == 1 && r->slot < f->nslots && r->row < f->nnames && r->from_ns >= 0 &&
            r->to_ns > r->from_ns)
            f->rec[f->nrec++] = *r;
        else
            f->torn++;
    }
    if (f->nrec < n) /* give back the memory of dropped records */
        f->rec = wr_realloc(f->rec, f->nrec ? f->nrec : 1, sizeof *f->rec);
}

/* Of a truncated profile, those that are complete. */
static void file_read_children(struct prof_file *f, struct source *s)
{
    const struct prof_head *h = &f->head;
    uint32_t n = h->children_n < h->children_max ? h->children_n : h->children_max;

    n = file_fit_count(s, n, h->children_at, sizeof *f->child);
    f->child = wr_zalloc(n, sizeof *f->child);
    file_take(s, f->child, h->children_at, n * sizeof *f->child);
    for (uint32_t i = 0; i < n; i++) {
        struct prof_child *c = &f->child[i];

        END(c->comm);
        if (c->ready == 1 && c->start_ns >= 0 && c->end_ns >= c->start_ns)
            f->child[f->nchildren++] = *c;
    }
}

static bool file_read_source(struct prof_file *ret, const char *path, struct source *s,
                             struct wr_err *err)
{
    struct prof_file f = {0};

    if (s->len < PROF_HEAD_B)
        return wr_fail(err, WR_INPUT,
                       "%s is too short for a profile (%" PRIu64 " bytes); leave it out", path,
                       s->len);
    file_take(s, &f.head, 0, sizeof f.head);
    if (!file_check_head(&f.head, path, err))
        return false;
    f.path = wr_strdup(path);
    file_read_names(&f, s);
    file_read_slots(&f, s);
    if (!s->no_log) {
        file_read_log(&f, s);
        file_read_children(&f, s);
    }
    f.cut = s->cut;
    *ret = f;
    return true;
}

bool prof_file_parse(struct prof_file *ret, const char *name, const void *bytes, size_t len,
                     struct wr_err *err)
{
    assert(bytes || !len);
    return file_read_source(ret, name, &(struct source){.fd = -1, .bytes = bytes, .len = len}, err);
}

/* The owner of the directory of a path. */
static bool file_directory_owner(const char *path, uid_t *ret)
{
    const char *slash = strrchr(path, '/');
    char *dir = wr_strdup(slash ? path : ".");
    struct stat st;

    if (slash)
        dir[slash > path ? slash - path : 1] = 0;
    bool ok = !stat(dir, &st);

    *ret = ok ? st.st_uid : 0;
    free(dir);
    return ok;
}

int prof_file_open(const char *path, uint64_t *ret_len, struct wr_err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
    struct stat st;
    uid_t owner;

    if (fd < 0 || fstat(fd, &st))
        wr_fail_read(err, "cannot read %s; look at its name and permissions", path);
    else if (!S_ISREG(st.st_mode))
        wr_fail(err, WR_INPUT, "%s is not a regular file; leave it out", path);
    else if (st.st_uid != geteuid() && !(file_directory_owner(path, &owner) && owner == st.st_uid))
        wr_fail(err, WR_INPUT, "%s belongs to another user (%u); copy it to read it", path,
                (unsigned)st.st_uid);
    else {
        *ret_len = (uint64_t)st.st_size;
        return fd;
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

static bool file_read_path(struct prof_file *ret, const char *path, bool no_log, struct wr_err *err)
{
    struct source s = {.no_log = no_log};

    s.fd = prof_file_open(path, &s.len, err);
    if (s.fd < 0)
        return false;
    posix_fadvise(s.fd, 0, 0, POSIX_FADV_RANDOM); /* sparse: no read-ahead */
    bool ok = file_read_source(ret, path, &s, err);

    close(s.fd);
    return ok;
}

bool prof_file_read(struct prof_file *ret, const char *path, struct wr_err *err)
{
    return file_read_path(ret, path, false, err);
}

bool prof_file_glance(struct prof_file *ret, const char *path, struct wr_err *err)
{
    return file_read_path(ret, path, true, err);
}

void prof_file_fini(struct prof_file *f)
{
    free(f->path);
    free(f->name);
    free(f->slot);
    free(f->row);
    free(f->rec);
    free(f->child);
    *f = (struct prof_file){0};
}

bool prof_file_alive(const struct prof_head *h)
{
    char host[64] = "";

    gethostname(host, sizeof host - 1);
    return !strcmp(host, h->host) && h->state == PROF_LIVE && h->pid > 1 &&
           (!kill((pid_t)h->pid, 0) || errno == EPERM);
}
