/* live.c -- throughput of jobs that are being profiled now, for `weir top`.
 *
 * Each call of live_look reads the counters of all profiles and subtracts those of the previous
 * call. The state is one cell per process and mount; cells whose process has ended are dropped.
 */
#include "interference/live/live.h"

#include <dirent.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "prof/read/places.h"
#include "prof/read/profile_file.h"

/* Counters of one process on one mount at the previous call. */
struct cell {
    char *path; /* of the profile */
    char *mount;
    uint64_t word[PROF_WORDS_N];
    bool seen; /* by the current call */
};

struct live {
    char **dirs;
    size_t ndirs;
    int64_t last_ns; /* time of the previous call; 0: none */
    size_t unread;
    WR_VEC(struct cell) cells;
    WR_VEC(struct live_row) rows;
    struct wr_arena text; /* of the rows */
};

/* State of one call of live_look. */
struct looking {
    struct live *l;
    double dt_s;
};

struct live *live_open(const char *const *dirs, size_t n)
{
    struct live *l = wr_zalloc(1, sizeof *l);

    l->ndirs = n;
    l->dirs = wr_zalloc(n + 1, sizeof *l->dirs);
    for (size_t i = 0; i < n; i++)
        l->dirs[i] = wr_strdup(dirs[i]);
    return l;
}

static void live_cell_fini(struct cell *c)
{
    free(c->path);
    free(c->mount);
}

void live_close(struct live *l)
{
    for (size_t i = 0; i < l->ndirs; i++)
        free(l->dirs[i]);
    free(l->dirs);
    for (size_t i = 0; i < l->cells.n; i++)
        live_cell_fini(&l->cells.v[i]);
    wr_vec_fini(&l->cells);
    wr_vec_fini(&l->rows);
    wr_arena_fini(&l->text);
    free(l);
}

size_t live_unread(const struct live *l)
{
    return l->unread;
}

static struct cell *live_find_cell(struct live *l, const char *path, const char *mount,
                                   bool *ret_new)
{
    for (size_t i = 0; i < l->cells.n; i++)
        if (!strcmp(l->cells.v[i].mount, mount) && !strcmp(l->cells.v[i].path, path)) {
            *ret_new = false;
            return &l->cells.v[i];
        }
    wr_vec_push(&l->cells, (struct cell){.path = wr_strdup(path), .mount = wr_strdup(mount)});
    *ret_new = true;
    return &l->cells.v[l->cells.n - 1];
}

static struct live_row *live_find_row(struct live *l, const struct prof_head *h, const char *mount,
                                      const char *fs)
{
    const char *slash = strrchr(h->exe, '/');
    const char *job = *h->job ? h->job : slash ? slash + 1 : h->exe;

    for (size_t i = 0; i < l->rows.n; i++) {
        struct live_row *r = &l->rows.v[i];

        if (!strcmp(r->job, job) && !strcmp(r->mount, mount) && !strcmp(r->host, h->host))
            return r;
    }
    wr_vec_push(&l->rows, (struct live_row){.job = wr_arena_strdup(&l->text, job),
                                            .host = wr_arena_strdup(&l->text, h->host),
                                            .mount = wr_arena_strdup(&l->text, mount),
                                            .fs = wr_arena_strdup(&l->text, fs),
                                            .share = NAN});
    return &l->rows.v[l->rows.n - 1];
}

/* The mount that a row of counters belongs to; NULL: it is not storage. */
static const struct prof_name *live_mount(const struct prof_file *f, uint32_t row)
{
    const struct prof_name *n = &f->name[row];

    if (n->kind == PROF_K_FILE)
        n = &f->name[n->mount];
    return n->kind == PROF_K_MOUNT || n->kind == PROF_K_REST || n->kind == PROF_K_KERNEL ? n : NULL;
}

static const char *live_mount_name(const struct prof_name *n)
{
    return n->kind == PROF_K_MOUNT  ? n->path
           : n->kind == PROF_K_REST ? "(others)"
                                    : "(by the kernel)";
}

/* Adds one process on one mount: all its threads, and the files of that mount. */
static void live_add_mount(struct looking *k, const struct prof_file *f,
                           const struct prof_name *mount)
{
    uint64_t sum[PROF_WORDS_N] = {0}, all = 0;
    uint32_t calls_in_flight = 0;
    bool fresh;

    for (uint32_t s = 0; s < f->nslots; s++)
        for (uint32_t r = 0; r < f->nnames; r++) {
            if (live_mount(f, r) != mount)
                continue;
            for (int w = 0; w < PROF_WORDS_N; w++)
                sum[w] += f->row[(size_t)s * f->nnames + r].word[w];
            calls_in_flight += f->slot[s].in_flight && f->slot[s].in_flight >> 8 == r;
        }
    for (int w = 0; w < PROF_WORDS_N; w++)
        all += sum[w];
    if (!all && !calls_in_flight)
        return;
    struct cell *c = live_find_cell(k->l, f->path, live_mount_name(mount), &fresh);
    struct live_row *row = live_find_row(k->l, &f->head, live_mount_name(mount), mount->fs);

    row->processes++;
    row->calls_in_flight += calls_in_flight;
    for (int w = 0; w < PROF_WORDS_N; w++) {
        row->total[w] += (double)sum[w];
        /* Counters only grow; a program that was executed in the same process starts at 0. */
        if (k->dt_s > 0)
            row->rate[w] += (double)(sum[w] >= c->word[w] ? sum[w] - c->word[w] : sum[w]) / k->dt_s;
    }
    memcpy(c->word, sum, sizeof sum);
    c->seen = true;
}

static bool live_is_profile(const char *name)
{
    size_t n = strlen(name), end = strlen(PROF_ENDING);

    return n > end && !strcmp(name + n - end, PROF_ENDING);
}

static void live_scan_file(struct looking *k, const char *path)
{
    struct wr_err ignored = {0};
    struct prof_file f;

    if (!prof_file_glance(&f, path, &ignored)) {
        /* It may have been removed since the directory was read. */
        k->l->unread += !access(path, F_OK);
        return;
    }
    for (uint32_t r = 0; prof_file_alive(&f.head) && r < f.nnames; r++)
        if (live_mount(&f, r) == &f.name[r])
            live_add_mount(k, &f, &f.name[r]);
    prof_file_fini(&f);
}

static void live_scan_dir(struct looking *k, const char *dir)
{
    DIR *d = opendir(dir);

    if (!d) {
        k->l->unread += !access(dir, F_OK);
        return;
    }
    for (struct dirent *e; (e = readdir(d));) {
        char path[4096];

        if (live_is_profile(e->d_name) &&
            snprintf(path, sizeof path, "%s/%s", dir, e->d_name) < (int)sizeof path)
            live_scan_file(k, path);
    }
    closedir(d);
}

/* Only directories of this user; the superuser sees all. */
static bool live_may_scan(const char *dir)
{
    struct stat st;

    return !lstat(dir, &st) && S_ISDIR(st.st_mode) && (!geteuid() || st.st_uid == geteuid());
}

/* The default directories of `weir profile`. */
static void live_scan_default_dirs(struct looking *k)
{
    const char *places[PROF_PLACES];
    size_t nplaces = prof_places(places);

    for (size_t i = 0; i < nplaces; i++) {
        char pattern[4096];
        glob_t g;

        snprintf(pattern, sizeof pattern, "%s/" PROF_PLACE_NAME "*", places[i]);
        if (!glob(pattern, GLOB_NOSORT, NULL, &g)) {
            for (size_t n = 0; n < g.gl_pathc; n++)
                if (live_may_scan(g.gl_pathv[n]))
                    live_scan_dir(k, g.gl_pathv[n]);
            globfree(&g);
        }
    }
}

static void live_drop_stale(struct live *l)
{
    size_t n = 0;

    for (size_t i = 0; i < l->cells.n; i++) {
        if (l->cells.v[i].seen)
            l->cells.v[n++] = l->cells.v[i];
        else
            live_cell_fini(&l->cells.v[i]);
    }
    l->cells.n = n;
}

static double live_bytes_rate(const struct live_row *r)
{
    return r->rate[PROF_W_read_bytes] + r->rate[PROF_W_write_bytes];
}

static int live_by_rate(const void *a, const void *b)
{
    const struct live_row *x = a, *y = b;
    int order =
        live_bytes_rate(x) > live_bytes_rate(y) ? -1 : live_bytes_rate(x) < live_bytes_rate(y);

    if (!order)
        order = strcmp(x->job, y->job);
    return order ? order : strcmp(x->mount, y->mount);
}

static void live_set_shares(struct live *l)
{
    for (size_t i = 0; i < l->rows.n; i++) {
        double all = 0;

        for (size_t k = 0; k < l->rows.n; k++)
            all +=
                strcmp(l->rows.v[k].mount, l->rows.v[i].mount) ? 0 : live_bytes_rate(&l->rows.v[k]);
        l->rows.v[i].share = all > 0 ? live_bytes_rate(&l->rows.v[i]) / all : NAN;
    }
    if (l->rows.n)
        qsort(l->rows.v, l->rows.n, sizeof *l->rows.v, live_by_rate);
}

bool live_look(struct live *l, int64_t now_ns, const struct live_row **ret, size_t *ret_n,
               struct wr_err *err)
{
    struct looking k = {.l = l, .dt_s = l->last_ns ? (double)(now_ns - l->last_ns) / 1e9 : 0};

    for (size_t i = 0; i < l->ndirs; i++)
        if (!l->last_ns && access(l->dirs[i], R_OK | X_OK))
            return wr_fail_read(err, "cannot read %s; name a directory of profiles", l->dirs[i]);
    l->rows.n = 0;
    wr_arena_fini(&l->text);
    l->text = (struct wr_arena){0};
    l->unread = 0;
    for (size_t i = 0; i < l->cells.n; i++)
        l->cells.v[i].seen = false;
    for (size_t i = 0; i < l->ndirs; i++)
        live_scan_dir(&k, l->dirs[i]);
    if (!l->ndirs)
        live_scan_default_dirs(&k);
    live_drop_stale(l);
    live_set_shares(l);
    l->last_ns = now_ns;
    *ret = l->rows.v;
    *ret_n = l->rows.n;
    return true;
}
