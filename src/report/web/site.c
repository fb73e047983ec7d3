/* site.c -- the run files that are there: found again at each look, read again only when they
 * changed. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "report/json.h"
#include "run/trial.h"
#include "web_priv.h"

enum { DEEPEST = 4, MOST_RUNS = 20000 };

static bool site_ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), k = strlen(end);

    return n > k && !strcmp(s + n - k, end);
}

static char *site_join(const char *a, const char *b)
{
    struct wr_str s = {0};

    wr_str_addf(&s, "%s%s%s", a, *a ? "/" : "", b);
    return s.s;
}

static void site_run_fini(struct web_run *r)
{
    free(r->id);
    free(r->path);
    free(r->dir);
    free(r->json);
    free(r->study);
}

/* ---- one file ---- */

static bool site_put_choice(void *ctx, const struct run_rows *q)
{
    report_json_member(ctx, run_rows_text(q, 0, NULL), run_rows_text(q, 1, NULL));
    return true;
}

static bool site_put_title(void *ctx, const struct run_rows *q)
{
    report_json_member(ctx, "title", run_rows_text(q, 0, NULL));
    return false;
}

static bool site_on_study(void *ctx, const struct run_rows *q)
{
    struct web_run *w = ctx;

    free(w->study);
    w->study = wr_strdup(run_rows_text(q, 0, NULL));
    w->of = run_rows_int(q, 1);
    return false;
}

/* The run files of an experiment say by their names alone what they are. */
static void site_put_trial(struct web_run *w, struct wr_str *out)
{
    const char *slash = strrchr(w->dir, '/');
    struct run_trial t;
    char text[32];
    struct wr_str sizes = {0};

    if (w->study || !*w->dir || !run_trial_parse(&t, w->path))
        return;
    w->trial = true;
    w->study = wr_strdup(slash ? slash + 1 : w->dir);
    snprintf(text, sizeof text, "%.*s", (int)(t.mode_len < 24 ? t.mode_len : 24), t.mode);
    report_json_member(out, "mode", text);
    for (size_t i = 0; i < t.n; i++)
        wr_str_addf(&sizes, "%s%u", i ? "+" : "", t.size[i]);
    report_json_member(out, t.n > 1 ? "together" : "alone", wr_str_get(&sizes));
    snprintf(text, sizeof text, "%c", run_trial_letter(t.job));
    report_json_member(out, "job", text);
    snprintf(text, sizeof text, "%u", t.repetition);
    report_json_member(out, "repetition", text);
    wr_str_fini(&sizes);
}

static void site_put_unreadable(struct wr_str *out, const char *status)
{
    report_json_member(out, "kind", "");
    report_json_member(out, "status", status);
}

/* What the list says of a run. One that cannot be read is listed as such. */
static void site_describe(struct web_run *w, uint64_t deadline_ns)
{
    uint64_t now = wr_clock_ns();
    struct run_reader *r;
    struct wr_err err;
    struct wr_str out = {0};
    const char *slash = strrchr(w->path, '/');
    char seed[24];

    wr_str_add(&out, "{");
    report_json_member(&out, "id", w->id);
    report_json_member(&out, "name", slash ? slash + 1 : w->path);
    report_json_member(&out, "dir", w->dir);
    report_json_number(&out, "bytes", (double)w->size);
    w->unread = now > deadline_ns;
    if (w->unread) {
        w->status = RUN_INCOMPLETE;
        site_put_unreadable(&out, "unread");
    } else if (run_open_until(&r, w->path, now + WEB_FILE_NS, &err)) {
        const struct run_info *i = run_info(r);

        free(w->study);
        w->study = NULL;
        w->trial = false;
        w->status = i->status;
        snprintf(seed, sizeof seed, "%llu", (unsigned long long)i->seed);
        report_json_member(&out, "kind", i->kind);
        report_json_member(&out, "status", run_status_name(i->status));
        report_json_member(&out, "started", i->started);
        report_json_member(&out, "seed", seed);
        report_json_member(&out, "command", i->command);
        run_each(r, "SELECT value FROM summary WHERE key = 'title'", NULL, site_put_title, &out,
                 &err);
        run_each(r,
                 "SELECT value, (SELECT CAST(value AS INTEGER) FROM meta WHERE key = "
                 "'study_runs') FROM meta WHERE key = 'study'",
                 NULL, site_on_study, w, &err);
        report_json_key(&out, "choices");
        wr_str_add(&out, "{");
        run_each(r,
                 "SELECT substr(key, 9), value FROM meta WHERE key GLOB 'axis.[0-9][0-9].*' "
                 "ORDER BY key",
                 NULL, site_put_choice, &out, &err);
        site_put_trial(w, &out);
        wr_str_add(&out, "}");
        report_json_member(&out, "study", w->study ? w->study : "");
        run_close(r);
    } else {
        w->status = RUN_FAILED;
        site_put_unreadable(&out, "unreadable");
    }
    wr_str_add(&out, "}");
    free(w->json);
    w->json = out.s;
}

static void site_add_run(struct web_site *s, const char *path, const char *id, const char *dir,
                         const struct stat *st, uint64_t deadline_ns)
{
    int64_t mtime = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;

    for (size_t i = 0; i < s->run.n; i++) {
        struct web_run *w = &s->run.v[i];

        if (strcmp(w->id, id) != 0)
            continue;
        w->seen = true;
        /* Whether one that was running still is, its writer's life says, not its time. */
        if (w->mtime_ns != mtime || w->size != st->st_size || w->unread ||
            w->status == RUN_RUNNING) {
            w->mtime_ns = mtime;
            w->size = st->st_size;
            site_describe(w, deadline_ns);
        }
        return;
    }
    if (s->run.n >= MOST_RUNS)
        return;
    struct web_run w = {.id = wr_strdup(id),
                        .path = wr_strdup(path),
                        .dir = wr_strdup(dir),
                        .size = st->st_size,
                        .mtime_ns = mtime,
                        .seen = true};
    site_describe(&w, deadline_ns);
    wr_vec_push(&s->run, w);
}

/* ---- directories ---- */

static bool site_is_study_file(const char *path)
{
    FILE *f = fopen(path, "r");
    char line[256];
    bool study = false;

    for (int i = 0; f && !study && i < 400 && fgets(line, sizeof line, f); i++)
        study = !strncmp(line, "cross:", 6);
    if (f)
        fclose(f);
    return study;
}

static void site_add_named(void *list, const char *id, const char *path)
{
    WR_VEC(struct web_dir) *v = list;

    for (size_t i = 0; i < v->n; i++)
        if (!strcmp(v->v[i].id, id)) {
            v->v[i].seen = true;
            return;
        }
    wr_vec_push(v, (struct web_dir){wr_strdup(id), wr_strdup(path), true});
}

/* Links are not followed: what they lead to may lie outside. */
static void site_scan_dir(struct web_site *s, const char *path, const char *id, int depth,
                          uint64_t deadline_ns)
{
    DIR *d = opendir(path);

    if (!d)
        return;
    for (const struct dirent *e; (e = readdir(d));) {
        char *to = site_join(path, e->d_name), *name = site_join(id, e->d_name);
        struct stat st;

        if (e->d_name[0] == '.' || lstat(to, &st)) {
            /* not ours to show, or gone */
        } else if (S_ISDIR(st.st_mode) && depth < DEEPEST) {
            site_scan_dir(s, to, name, depth + 1, deadline_ns);
        } else if (S_ISREG(st.st_mode) && site_ends_with(e->d_name, ".weir")) {
            site_add_named(&s->dir, id, path);
            site_add_run(s, to, name, id, &st, deadline_ns);
        } else if (S_ISREG(st.st_mode) && s->c.allow_run && site_ends_with(e->d_name, ".yaml") &&
                   site_is_study_file(to)) {
            site_add_named(&s->study, name, to);
        }
        free(to);
        free(name);
    }
    closedir(d);
}

static int site_by_id(const void *a, const void *b)
{
    return strcmp(((const struct web_run *)a)->id, ((const struct web_run *)b)->id);
}

static void site_forget_unseen(struct web_site *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->run.n; i++)
        if (s->run.v[i].seen)
            s->run.v[n++] = s->run.v[i];
        else
            site_run_fini(&s->run.v[i]);
    s->run.n = n;
    if (n)
        qsort(s->run.v, n, sizeof *s->run.v, site_by_id);
}

/* The last name of where it really is: "." has one, too. */
static char *site_name_of(const char *path)
{
    char *real = realpath(path, NULL);
    const char *slash = real ? strrchr(real, '/') : NULL;
    char *name = wr_strdup(slash && slash[1] ? slash + 1 : "runs");

    free(real);
    return name;
}

bool web_look(struct web_site *s, struct wr_err *err)
{
    uint64_t deadline_ns = wr_clock_ns() + WEB_LOOK_NS;
    bool ok = true;

    for (size_t i = 0; i < s->run.n; i++)
        s->run.v[i].seen = false;
    for (size_t i = 0; ok && i < s->c.n; i++) {
        const char *path = s->c.operands[i];
        char *name = site_name_of(path);
        struct stat st;

        if (stat(path, &st))
            ok = wr_fail(err, WR_INPUT, "%s: %s; give a directory or a run file", path,
                         strerror(errno));
        else if (S_ISDIR(st.st_mode))
            site_scan_dir(s, path, name, 0, deadline_ns);
        else if (s->c.allow_run && site_ends_with(path, ".yaml"))
            site_add_named(&s->study, name, path);
        else
            site_add_run(s, path, name, "", &st, deadline_ns);
        free(name);
    }
    site_forget_unseen(s);
    return ok;
}

const struct web_run *web_find_run(const struct web_site *s, const char *id)
{
    for (size_t i = 0; i < s->run.n; i++)
        if (!strcmp(s->run.v[i].id, id))
            return &s->run.v[i];
    return NULL;
}

const struct web_dir *web_find_dir(const struct web_site *s, const char *id)
{
    for (size_t i = 0; i < s->dir.n; i++)
        if (!strcmp(s->dir.v[i].id, id))
            return &s->dir.v[i];
    return NULL;
}

bool web_open(struct web_site *ret, const struct web_config *c, struct wr_err *err)
{
    *ret = (struct web_site){.c = *c};
    pthread_mutex_init(&ret->lock, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&ret->read, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (web_look(ret, err))
        return true;
    web_close(ret);
    return false;
}

static void site_dirs_fini(struct web_dir *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(v[i].id);
        free(v[i].path);
    }
    free(v);
}

void web_close(struct web_site *s)
{
    for (size_t i = 0; i < s->run.n; i++)
        site_run_fini(&s->run.v[i]);
    wr_vec_fini(&s->run);
    site_dirs_fini(s->dir.v, s->dir.n);
    site_dirs_fini(s->study.v, s->study.n);
    web_forget_studies(s);
    pthread_cond_destroy(&s->read);
    pthread_mutex_destroy(&s->lock);
}
