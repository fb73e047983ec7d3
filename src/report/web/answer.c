/* answer.c -- answers requests: one row of routes[] per address.
 *
 * http.c calls web_answer() from several threads. A row says the method, whether a token is needed,
 * and the function that fills struct web_answer. Nothing outside the operands of `weir serve` is
 * ever read: runs are addressed by the identifiers that site.c gave them.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "report/json.h"
#include "web_priv.h"

enum { MOST_READING = 4 };
#define USUAL_DEADLINE_NS (30ull * 1000 * 1000 * 1000)

static const char json_type[] = "application/json; charset=utf-8";
static const char html_type[] = "text/html; charset=utf-8";

void web_refuse(struct web_answer *ret, unsigned status, const char *words)
{
    ret->status = status;
    ret->type = json_type;
    ret->body.n = 0;
    wr_str_add(&ret->body, "{");
    report_json_member(&ret->body, "error", words);
    wr_str_add(&ret->body, "}\n");
}

bool web_look_for(struct web_site *s, struct web_answer *ret)
{
    struct wr_err err;

    if (web_look(s, &err))
        return true;
    web_refuse(ret, 500, err.text);
    return false;
}

/* ---- requests that are allowed ---- */

static bool answer_has_token(const struct web_site *s, const struct web_request *q)
{
    static const char bearer[] = "Bearer ";
    const char *given = web_param(q, "token");
    struct wr_token token;

    if (!s->c.token)
        return true;
    if (q->authorization && !strncmp(q->authorization, bearer, sizeof bearer - 1))
        given = q->authorization + sizeof bearer - 1;
    return wr_token_parse(&token, given) && wr_token_same(&token, s->c.token);
}

/* Is "localhost:8765" a name of this machine? A foreign page whose name was made to
 * resolve to this machine has another (DNS rebinding). */
static bool answer_is_own_host(const char *host)
{
    static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};

    for (size_t i = 0; host && i < sizeof names / sizeof *names; i++) {
        size_t n = strlen(names[i]);

        if (!strncmp(host, names[i], n) && (host[n] == ':' || !host[n]))
            return true;
    }
    return false;
}

/* A page of the same place, as browsers say it; programs say nothing. */
static bool answer_is_own_origin(const struct web_request *q)
{
    const char *at = q->origin ? strstr(q->origin, "://") : NULL;

    return !q->origin || (at && q->host && !strcmp(at + 3, q->host));
}

/* ---- answers ---- */

static void answer_runs(struct web_site *s, const struct web_request *q, struct web_answer *ret)
{
    struct wr_str *out = &ret->body;

    (void)q;
    if (!web_look_for(s, ret))
        return;
    wr_str_add(out, "{\"weir_runs\":1");
    report_json_key(out, "allow_run");
    wr_str_add(out, s->c.allow_run ? "true" : "false");
    report_json_key(out, "runs");
    wr_str_add(out, "[");
    for (size_t i = 0; i < s->run.n; i++) {
        report_json_comma(out);
        wr_str_addf(out, "\n%s", s->run.v[i].json);
    }
    wr_str_add(out, "]");
}

/* Directories in which there are runs of a study, and how far it is. */
static void answer_put_studies(const struct web_site *s, struct wr_str *out)
{
    report_json_key(out, "studies");
    wr_str_add(out, "[");
    for (size_t d = 0; d < s->dir.n; d++) {
        const struct web_run *of = NULL;
        size_t complete = 0, running = 0, n = 0;

        for (size_t i = 0; i < s->run.n; i++) {
            const struct web_run *w = &s->run.v[i];

            if (strcmp(w->dir, s->dir.v[d].id) != 0 || !w->study)
                continue;
            of = w;
            n++;
            complete += w->status == RUN_COMPLETE;
            running += w->status == RUN_RUNNING;
        }
        if (!of)
            continue;
        report_json_comma(out);
        wr_str_add(out, "{");
        report_json_member(out, "id", s->dir.v[d].id);
        report_json_member(out, "name", of->study);
        report_json_member(out, "kind", of->trial ? "experiment" : "study");
        report_json_number(out, "runs", (double)(of->of > (int64_t)n ? of->of : (int64_t)n));
        report_json_number(out, "complete", (double)complete);
        report_json_number(out, "running", (double)running);
        wr_str_add(out, "}");
    }
    wr_str_add(out, "]");
}

static void answer_list(struct web_site *s, const struct web_request *q, struct web_answer *ret)
{
    answer_runs(s, q, ret);
    if (ret->status != 200)
        return;
    answer_put_studies(s, &ret->body);
    wr_str_add(&ret->body, "}\n");
}

/* How far a run is, as its maker says: a fraction of what; and its last slice. */
static bool answer_put_fraction(void *ctx, const struct run_rows *q)
{
    struct wr_str *out = ctx;
    bool known = *run_rows_text(q, 0, NULL);

    report_json_key(out, "progress");
    if (known)
        wr_str_addf(out, "%.6g", fmin(fmax(run_rows_real(q, 1), 0), 1));
    else
        wr_str_add(out, "null");
    report_json_member(out, "of", run_rows_text(q, 2, NULL));
    return false;
}

static void answer_put_progress(const char *path, uint64_t deadline_ns, struct wr_str *out)
{
    struct run_reader *r;
    struct wr_err err;
    double v = 0;
    bool found = false;

    if (!run_open_until(&r, path, deadline_ns, &err))
        return;
    run_each(r,
             "SELECT coalesce(max(CASE key WHEN 'progress' THEN value END), ''),"
             " CAST(max(CASE key WHEN 'progress' THEN value END) AS REAL),"
             " coalesce(max(CASE key WHEN 'progress_of' THEN value END), '') FROM meta",
             NULL, answer_put_fraction, out, &err);
    if (run_number(r, "SELECT max(t_ps) / 1000.0 FROM fact_slice", &v, &found, &err) && found)
        report_json_number(out, "sim_ns", v);
    run_close(r);
}

static void answer_progress(struct web_site *s, const struct web_request *q, struct web_answer *ret)
{
    struct wr_str *out = &ret->body;

    (void)q;
    if (!web_look_for(s, ret))
        return;
    uint64_t deadline_ns = wr_clock_ns() + WEB_LOOK_NS;
    wr_str_add(out, "{\"runs\":[");
    for (size_t i = 0; i < s->run.n; i++) {
        if (s->run.v[i].status != RUN_RUNNING)
            continue;
        report_json_comma(out);
        wr_str_add(out, "{");
        report_json_member(out, "id", s->run.v[i].id);
        report_json_member(out, "status", run_status_name(RUN_RUNNING));
        answer_put_progress(s->run.v[i].path, deadline_ns, out);
        wr_str_add(out, "}");
    }
    wr_str_add(out, "]");
    answer_put_studies(s, out);
    wr_str_add(out, "}\n");
}

/* The paths of the requested runs; the lock is not held while they are read. */
struct requested {
    struct wr_arena arena;
    const char *path[WEB_MOST_PARAMS];
    size_t n;
};

static bool answer_find_requested(struct requested *a, struct web_site *s,
                                  const struct web_request *q, struct web_answer *ret)
{
    for (size_t i = 0; i < q->nparams; i++) {
        const char *path = NULL, *id = q->param[i].value;
        bool run = !strcmp(q->param[i].key, "run");

        if (!run && strcmp(q->param[i].key, "dir") != 0)
            continue;
        if (run) {
            const struct web_run *w = web_find_run(s, id);

            path = w ? w->path : NULL;
        } else {
            const struct web_dir *d = web_find_dir(s, id);

            path = d ? d->path : NULL;
        }
        if (!path) {
            web_refuse(ret, 404, "no such run; /api/runs lists those that there are");
            return false;
        }
        a->path[a->n++] = wr_arena_strdup(&a->arena, path);
    }
    if (!a->n)
        web_refuse(ret, 400, "which run? add run=ID, with an id of /api/runs");
    return a->n > 0;
}

/* Few reports are made at a time: each takes a processor and memory. The caller holds the lock. */
static bool answer_begin_reading(struct web_site *s, uint64_t deadline_ns, struct web_answer *ret)
{
    struct timespec until = {.tv_sec = (time_t)(deadline_ns / 1000000000),
                             .tv_nsec = (long)(deadline_ns % 1000000000)};

    while (s->reading >= MOST_READING)
        if (pthread_cond_timedwait(&s->read, &s->lock, &until) == ETIMEDOUT) {
            web_refuse(ret, 503, "too many reports are being made; try again in a moment");
            return false;
        }
    s->reading++;
    return true;
}

static void answer_end_reading(struct web_site *s)
{
    s->reading--;
    pthread_cond_signal(&s->read);
}

typedef void write_doc(const struct report_doc *d, struct wr_str *out);

static void answer_write_page(const struct report_doc *d, struct wr_str *out)
{
    report_doc_page(d, NULL, out);
}

static void answer_report_as(struct web_site *s, const struct web_request *q, write_doc *fn,
                             struct web_answer *ret)
{
    struct requested a = {0};
    struct report_inputs in;
    struct report_doc doc;
    struct wr_err err;
    uint64_t limit_ns = s->c.deadline_ns ? s->c.deadline_ns : USUAL_DEADLINE_NS;
    struct report_access access = {.deadline_ns = wr_clock_ns() + limit_ns, .no_links = true};

    if (!answer_find_requested(&a, s, q, ret) ||
        !answer_begin_reading(s, access.deadline_ns, ret)) {
        wr_arena_fini(&a.arena);
        return;
    }
    /* Reading takes long, and needs nothing of the site. */
    pthread_mutex_unlock(&s->lock);
    if (!report_inputs_open_for(&in, a.path, a.n, &access, &err)) {
        web_refuse(ret, 500, err.text);
    } else {
        if (report_doc_open(&doc, &in, s->c.makers, web_param(q, "section"), &err)) {
            fn(&doc, &ret->body);
            report_doc_close(&doc);
        } else {
            web_refuse(ret, 500, err.text);
        }
        report_inputs_close(&in);
    }
    wr_arena_fini(&a.arena);
    pthread_mutex_lock(&s->lock);
    answer_end_reading(s);
}

static void answer_report(struct web_site *s, const struct web_request *q, struct web_answer *ret)
{
    answer_report_as(s, q, report_doc_json, ret);
}

static void answer_page(struct web_site *s, const struct web_request *q, struct web_answer *ret)
{
    ret->type = html_type;
    /* The page has a stricter policy of its own, which names its style by its hash. */
    ret->policy = "frame-ancestors 'none'; base-uri 'none'";
    answer_report_as(s, q, answer_write_page, ret);
}

static void answer_put_link(const char *key, const char *id, const char *token, struct wr_str *out)
{
    wr_str_addf(out, "<li><a href=\"/report?%s=", key);
    for (const char *c = id; *c; c++)
        wr_str_addf(out, "%%%02X", (unsigned char)*c);
    if (token) {
        wr_str_add(out, "&amp;token=");
        report_escape(out, token);
    }
    wr_str_add(out, "\">");
    report_escape(out, id);
    wr_str_add(out, "</a>");
}

static bool answer_is_study(const struct web_site *s, const char *dir)
{
    for (size_t i = 0; i < s->run.n; i++)
        if (s->run.v[i].study && !strcmp(s->run.v[i].dir, dir))
            return true;
    return false;
}

/* Without the viewer's code: links to the static pages. */
static void answer_plain_list(struct web_site *s, const struct web_request *q, struct wr_str *out)
{
    const char *token = web_param(q, "token");

    wr_str_add(out, "<h1>Runs</h1>\n<ul>\n");
    for (size_t i = 0; i < s->dir.n; i++)
        if (answer_is_study(s, s->dir.v[i].id)) {
            answer_put_link("dir", s->dir.v[i].id, token, out);
            wr_str_add(out, ", all runs as one</li>\n");
        }
    for (size_t i = 0; i < s->run.n; i++) {
        answer_put_link("run", s->run.v[i].id, token, out);
        wr_str_addf(out, ", %s</li>\n",
                    s->run.v[i].json && s->run.v[i].status == RUN_COMPLETE ? "complete"
                                                                           : "not complete");
    }
    wr_str_add(out, "</ul>\n");
}

static void answer_viewer(struct web_site *s, const struct web_request *q, struct web_answer *ret)
{
    struct wr_str *out = &ret->body;

    ret->type = html_type;
    wr_str_add(out, "<!DOCTYPE html>\n<html lang=\"en\" data-weir=\"viewer\">\n<head>\n"
                    "<meta charset=\"utf-8\">\n"
                    "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                    "<title>weir</title>\n");
    if (s->c.code)
        wr_str_add(out, "<link rel=\"stylesheet\" href=\"/app.css\">\n");
    wr_str_add(out, "</head>\n<body>\n<main id=\"weir-static\">\n");
    if (s->c.code)
        wr_str_add(out, "<noscript><p>The viewer needs scripts; without them, here are the "
                        "pages.</p></noscript>\n");
    answer_plain_list(s, q, out);
    wr_str_add(out, "</main>\n");
    if (s->c.code)
        wr_str_add(out, "<script src=\"/app.js\"></script>\n");
    wr_str_add(out, "</body>\n</html>\n");
}

static void answer_code(struct web_site *s, const struct web_request *q, struct web_answer *ret)
{
    bool js = !strcmp(q->path, "/app.js");

    if (!s->c.code) {
        web_refuse(ret, 404, "built without the viewer's code; build weir where npm is");
        return;
    }
    ret->type = js ? "text/javascript; charset=utf-8" : "text/css; charset=utf-8";
    wr_str_add(&ret->body, js ? s->c.code->js : s->c.code->css);
}

static void answer_studies(struct web_site *s, const struct web_request *q, struct web_answer *ret)
{
    bool post = !strcmp(q->method, "POST");

    if (!s->c.allow_run)
        web_refuse(ret, 403,
                   s->c.refusal
                       ? s->c.refusal
                       : "studies may not be started here; ask the user who runs weir serve");
    else if (post && (!q->type || strncmp(q->type, "application/json", 16) != 0))
        web_refuse(ret, 400, "send the study as application/json");
    else if (post)
        web_start(s, q, ret);
    else
        web_list_studies(s, ret);
}

static const struct route {
    const char *path;
    void (*answer)(struct web_site *s, const struct web_request *q, struct web_answer *ret);
    bool open; /* needs no token */
    bool post; /* takes one */
} routes[] = {
    {"/", answer_viewer, false, false},
    {"/app.js", answer_code, true, false},
    {"/app.css", answer_code, true, false},
    {"/api/runs", answer_list, false, false},
    {"/api/report", answer_report, false, false},
    {"/report", answer_page, false, false},
    {"/api/progress", answer_progress, false, false},
    {"/api/study", answer_studies, false, true},
};

static const struct route *answer_find_route(const char *path)
{
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++)
        if (!strcmp(routes[i].path, path))
            return &routes[i];
    return NULL;
}

void web_answer(struct web_site *s, const struct web_request *q, struct web_answer *ret)
{
    const struct route *r = answer_find_route(q->path);
    bool get = !strcmp(q->method, "GET") || !strcmp(q->method, "HEAD");
    bool post = !strcmp(q->method, "POST");

    *ret = (struct web_answer){
        .status = 200,
        .type = json_type,
        .policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
                  "img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; "
                  "frame-ancestors 'none'"};
    if (s->c.loopback && !answer_is_own_host(q->host))
        web_refuse(ret, 403, "this is not the name of this machine; use 127.0.0.1");
    else if (!r || !r->open ? !answer_has_token(s, q) : false)
        web_refuse(ret, 403,
                   "the token is missing or wrong; use the address that weir serve printed");
    else if (!r)
        web_refuse(ret, 404, "nothing is at this address; / is the viewer");
    else if (!get && !(post && r->post))
        web_refuse(ret, 405, "only reading is offered here; use GET");
    else if (post && !answer_is_own_origin(q))
        web_refuse(ret, 403, "a page from elsewhere may not start anything");
    else {
        pthread_mutex_lock(&s->lock);
        r->answer(s, q, ret);
        pthread_mutex_unlock(&s->lock);
    }
}
