#include "inter/live/live.h"

#include <dirent.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "prof/read/file.h"
#include "prof/read/places.h"

/* One process on one mount, as of the last look. */
struct cell {
    char *path; /* of the profile */
    char *mount;
    uint64_t word[PROF_WORDS_N];
    bool seen; /* by the look that is going on */
};

struct live {
    char **dirs;
    size_t ndirs;
    int64_t last_ns; /* 0: never looked */
    size_t unread;
    WR_VEC(struct cell) cells;
    WR_VEC(struct live_row) rows;
    struct wr_arena text; /* of the rows */
};

/* What is added up while one look goes on. */
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

static void cell_fini(struct cell *c)
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
        cell_fini(&l->cells.v[i]);
    wr_vec_fini(&l->cells);
    wr_vec_fini(&l->rows);
    wr_arena_fini(&l->text);
    free(l);
}

size_t live_unread(const struct live *l)
{
    return l->unread;
}

static struct cell *cell_of(struct live *l, const char *path, const char *mount, bool *ret_new)
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

static struct live_row *row_of(struct live *l, const struct prof_head *h, const char *mount,
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
static const struct prof_name *mount_of(const struct prof_file *f, uint32_t row)
{
    const struct prof_name *n = &f->name[row];

    if (n->kind == PROF_K_FILE)
        n = &f->name[n->mount];
    return n->kind == PROF_K_MOUNT || n->kind == PROF_K_REST || n->kind == PROF_K_KERNEL ? n : NULL;
}

static const char *mount_name(const struct prof_name *n)
{
    return n->kind == PROF_K_MOUNT  ? n->path
           : n->kind == PROF_K_REST ? "(others)"
                                    : "(by the kernel)";
}

/* One process on one mount: all its threads, and the files of that mount. */
static void add_mount(struct looking *k, const struct prof_file *f, const struct prof_name *mount)
{
    uint64_t sum[PROF_WORDS_N] = {0}, all = 0;
    uint32_t flights = 0;
    bool fresh;

    for (uint32_t s = 0; s < f->nseats; s++)
        for (uint32_t r = 0; r < f->nnames; r++) {
            if (mount_of(f, r) != mount)
                continue;
            for (int w = 0; w < PROF_WORDS_N; w++)
                sum[w] += f->row[(size_t)s * f->nnames + r].word[w];
            flights += f->seat[s].flight && f->seat[s].flight >> 8 == r;
        }
    for (int w = 0; w < PROF_WORDS_N; w++)
        all += sum[w];
    if (!all && !flights)
        return;
    struct cell *c = cell_of(k->l, f->path, mount_name(mount), &fresh);
    struct live_row *row = row_of(k->l, &f->head, mount_name(mount), mount->fs);

    row->processes++;
    row->flights += flights;
    for (int w = 0; w < PROF_WORDS_N; w++) {
        row->total[w] += (double)sum[w];
        /* Counters only grow; a new program in the place of the old begins at 0. */
        if (k->dt_s > 0)
            row->rate[w] += (double)(sum[w] >= c->word[w] ? sum[w] - c->word[w] : sum[w]) / k->dt_s;
    }
    memcpy(c->word, sum, sizeof sum);
    c->seen = true;
}

static bool is_profile(const char *name)
{
    size_t n = strlen(name), end = strlen(PROF_ENDING);

    return n > end && !strcmp(name + n - end, PROF_ENDING);
}

static void look_at_file(struct looking *k, const char *path)
{
    struct wr_err ignored = {0};
    struct prof_file f;

    if (!prof_file_glance(&f, path, &ignored)) {
        /* Gone since the directory was read: nothing to tell. */
        k->l->unread += !access(path, F_OK);
        return;
    }
    for (uint32_t r = 0; prof_file_alive(&f.head) && r < f.nnames; r++)
        if (mount_of(&f, r) == &f.name[r])
            add_mount(k, &f, &f.name[r]);
    prof_file_fini(&f);
}

static void look_at_dir(struct looking *k, const char *dir)
{
    DIR *d = opendir(dir);

    if (!d) {
        k->l->unread += !access(dir, F_OK);
        return;
    }
    for (struct dirent *e; (e = readdir(d));) {
        char path[4096];

        if (is_profile(e->d_name) &&
            snprintf(path, sizeof path, "%s/%s", dir, e->d_name) < (int)sizeof path)
            look_at_file(k, path);
    }
    closedir(d);
}

/* One's own jobs; the superuser sees everybody's. What others put there is not looked at. */
static bool may_look(const char *dir)
{
    struct stat st;

    return !lstat(dir, &st) && S_ISDIR(st.st_mode) && (!geteuid() || st.st_uid == geteuid());
}

/* Where `weir profile` puts profiles when it is not told. */
static void look_everywhere(struct looking *k)
{
    const char *places[PROF_PLACES];
    size_t nplaces = prof_places(places);

    for (size_t i = 0; i < nplaces; i++) {
        char pattern[4096];
        glob_t g;

        snprintf(pattern, sizeof pattern, "%s/" PROF_PLACE_NAME "*", places[i]);
        if (!glob(pattern, GLOB_NOSORT, NULL, &g)) {
            for (size_t n = 0; n < g.gl_pathc; n++)
                if (may_look(g.gl_pathv[n]))
                    look_at_dir(k, g.gl_pathv[n]);
            globfree(&g);
        }
    }
}

static void forget_gone(struct live *l)
{
    size_t n = 0;

    for (size_t i = 0; i < l->cells.n; i++) {
        if (l->cells.v[i].seen)
            l->cells.v[n++] = l->cells.v[i];
        else
            cell_fini(&l->cells.v[i]);
    }
    l->cells.n = n;
}

static double moved(const struct live_row *r)
{
    return r->rate[PROF_W_read_bytes] + r->rate[PROF_W_write_bytes];
}

static int busiest_first(const void *a, const void *b)
{
    const struct live_row *x = a, *y = b;
    int order = moved(x) > moved(y) ? -1 : moved(x) < moved(y);

    if (!order)
        order = strcmp(x->job, y->job);
    return order ? order : strcmp(x->mount, y->mount);
}

static void find_shares(struct live *l)
{
    for (size_t i = 0; i < l->rows.n; i++) {
        double all = 0;

        for (size_t k = 0; k < l->rows.n; k++)
            all += strcmp(l->rows.v[k].mount, l->rows.v[i].mount) ? 0 : moved(&l->rows.v[k]);
        l->rows.v[i].share = all > 0 ? moved(&l->rows.v[i]) / all : NAN;
    }
    if (l->rows.n)
        qsort(l->rows.v, l->rows.n, sizeof *l->rows.v, busiest_first);
}

bool live_look(struct live *l, int64_t now_ns, const struct live_row **ret, size_t *ret_n,
               struct wr_err *err)
{
    struct looking k = {.l = l, .dt_s = l->last_ns ? (double)(now_ns - l->last_ns) / 1e9 : 0};

    for (size_t i = 0; i < l->ndirs; i++)
        if (!l->last_ns && access(l->dirs[i], R_OK | X_OK))
            return wr_fail_read(err, "cannot look into %s; name a directory of profiles",
                                l->dirs[i]);
    l->rows.n = 0;
    wr_arena_fini(&l->text);
    l->text = (struct wr_arena){0};
    l->unread = 0;
    for (size_t i = 0; i < l->cells.n; i++)
        l->cells.v[i].seen = false;
    for (size_t i = 0; i < l->ndirs; i++)
        look_at_dir(&k, l->dirs[i]);
    if (!l->ndirs)
        look_everywhere(&k);
    forget_gone(l);
    find_shares(l);
    l->last_ns = now_ns;
    *ret = l->rows.v;
    *ret_n = l->rows.n;
    return true;
}
