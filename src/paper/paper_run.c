/* paper_run.c -- makes the items of a paper that are asked for, and what they need, in order.
 *
 * Owns the output directory: DIR/paper.yaml, the recipe, marks it; DIR/ITEM/steps.done lists the
 * steps that are done, below a line that names weir's version and the variant. A step counts as
 * done as long as that line, the step and all steps before it are the same, and no item that it
 * needs was made anew.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/signals.h"
#include "base/version.h"
#include "paper_priv.h"

const char *const paper_state_names[PAPER_STATES] = {"not made", "missing", "failed", "kept",
                                                     "made"};

enum { MOST_RECIPE = 1 << 20 };

static const struct wr_format stamp_format = {.name = "a list of steps",
                                              .begins = "# done by weir "};
static const struct wr_format log_format = {.name = "a log of steps", .begins = "$ weir "};
static const struct wr_format mark_format = {
    .name = "a recipe", .endings = ".yaml", .begins = "# made by `weir paper run "};

/* One call of paper_run. */
struct maker {
    const struct paper *p;
    const struct paper_call *call;
    struct paper_results *r;
    struct wr_progress progress;
    size_t done;  /* steps, for the progress */
    bool *wanted; /* of each item */
    bool *anew;   /* of each item: a step of it ran */
};

/* ---- the output directory ---- */

static bool maker_check_mark(const char *path, const char *first, struct wr_err *err)
{
    char *text;
    size_t len;
    struct wr_err absent;

    if (!wr_file_peek(&text, &len, path, MOST_RECIPE, &absent))
        return true;
    bool same = !strncmp(text, first, strlen(first));

    free(text);
    return same ||
           wr_fail(err, WR_INPUT, "%s is of another paper; choose another output directory", path);
}

/* The recipe is kept beside what it made. */
static bool maker_open_dir(const struct maker *m, struct wr_err *err)
{
    static const struct wr_format *const marks[] = {&mark_format, NULL};
    struct wr_str path = {0}, text = {0};
    char *recipe;
    size_t len;

    if (!wr_output_dir(m->call->dir, marks, m->call->force, NULL, err) ||
        !wr_file_read(&recipe, &len, m->p->path, MOST_RECIPE, err))
        return false;
    wr_str_addf(&path, "%s/paper.yaml", m->call->dir);
    wr_str_addf(&text, "# made by `weir paper run %s`\n", m->p->name);
    bool ok = m->call->force || maker_check_mark(path.s, text.s, err);

    wr_str_addn(&text, recipe, len);
    ok = ok && wr_output_text(path.s, &mark_format, m->call->force ? WR_FORCE : 0, &text, err);
    wr_str_fini(&path);
    wr_str_fini(&text);
    free(recipe);
    return ok;
}

static const char *maker_folder(const struct maker *m, const struct paper_item *item)
{
    return wr_arena_printf(&m->r->arena, "%s/%s", m->call->dir, item->id);
}

/* ---- what is done ---- */

static void maker_stamp_head(const struct maker *m, struct wr_str *out)
{
    wr_str_addf(out, "# done by weir %s%s\n", wr_version(), m->call->quick ? ", quick" : "");
}

static void maker_stamp_step(const struct paper_step *s, struct wr_str *out)
{
    paper_command(s, out);
    wr_str_add(out, "\n");
}

/* How many steps of the item are done; `text` becomes the stamp that says so. */
static size_t maker_done(const struct maker *m, const struct paper_item *item, struct wr_str *text)
{
    const struct conf_list *steps = paper_steps(item, m->call->quick);
    const struct paper_step *s = steps->items;
    struct wr_err absent;
    char *old;
    size_t n = 0, len;

    maker_stamp_head(m, text);
    if (!wr_file_peek(&old, &len,
                      wr_arena_printf(&m->r->arena, "%s/steps.done", maker_folder(m, item)),
                      MOST_RECIPE, &absent))
        return 0;
    bool same = len >= text->n && !memcmp(old, text->s, text->n);

    while (same && n < steps->n) {
        size_t before = text->n;

        maker_stamp_step(&s[n], text);
        same = len >= text->n && !memcmp(old, text->s, text->n);
        if (same)
            n++;
        else
            text->s[text->n = before] = '\0';
    }
    free(old);
    return n;
}

static bool maker_needs_are(const struct maker *m, const struct paper_item *item, const bool *flag)
{
    const char *const *need = item->needs.items;

    for (size_t i = 0; i < item->needs.n; i++)
        for (size_t k = 0; k < m->p->items.n; k++)
            if (flag[k] && !strcmp(paper_item(m->p, k)->id, need[i]))
                return true;
    return false;
}

/* ---- one item ---- */

static bool maker_steps(struct maker *m, size_t at, struct wr_str *stamp, size_t first,
                        struct wr_str *log, struct wr_err *err)
{
    const struct paper_item *item = paper_item(m->p, at);
    const struct conf_list *steps = paper_steps(item, m->call->quick);
    const struct paper_step *s = steps->items;
    const char *dir = maker_folder(m, item);
    const char *path = wr_arena_printf(&m->r->arena, "%s/steps.done", dir);

    for (size_t i = first; i < steps->n; i++) {
        m->anew[at] = true;
        m->progress.what = item->id;
        wr_progress_set(&m->progress, (double)m->done++);
        if (!paper_step_run(m->p, &s[i], dir, log, err))
            return false;
        maker_stamp_step(&s[i], stamp);
        if (!wr_output_text(path, &stamp_format, WR_FORCE, stamp, err))
            return false;
    }
    return true;
}

/* A picture that a page would show must be there. */
static bool maker_check_figures(const struct maker *m, const struct paper_item *item,
                                struct wr_err *err)
{
    const struct paper_figure *f = item->figures.items;

    for (size_t i = 0; i < item->figures.n; i++)
        if (!wr_file_exists(
                wr_arena_printf(&m->r->arena, "%s/%s", maker_folder(m, item), f[i].file)))
            return conf_fail(m->p->conf, &f[i].file, err,
                             "the steps left no %s; see which of them should write it", f[i].file);
    return true;
}

static bool maker_run_item(struct maker *m, size_t at, struct wr_err *err)
{
    static const struct wr_format *const marks[] = {&stamp_format, NULL};
    struct paper_result *res = &m->r->v[at];
    struct wr_str stamp = {0}, log = {0};
    const char *dir = maker_folder(m, res->item);
    uint64_t began = wr_clock_ns();
    size_t done = maker_done(m, res->item, &stamp);

    if (done && maker_needs_are(m, res->item, m->anew)) {
        stamp.n = 0;
        maker_stamp_head(m, &stamp);
        done = 0;
    }
    m->done += done;
    bool all = done == paper_steps(res->item, m->call->quick)->n;
    bool ok =
        wr_output_dir(dir, marks, true, NULL, err) && maker_steps(m, at, &stamp, done, &log, err);
    struct wr_err ignored;

    if (log.n)
        (void)wr_output_text(wr_arena_printf(&m->r->arena, "%s/log.txt", dir), &log_format,
                             WR_FORCE, &log, ok ? err : &ignored);
    res->state = ok ? all ? PAPER_KEPT : PAPER_MADE : PAPER_FAILED;
    res->seconds = all ? 0 : (double)(wr_clock_ns() - began) / 1e9;
    wr_str_fini(&stamp);
    wr_str_fini(&log);
    return ok;
}

static void maker_failed(struct maker *m, size_t at, const struct wr_err *err)
{
    struct paper_result *res = &m->r->v[at];

    res->state = PAPER_FAILED;
    res->why = wr_arena_strdup(&m->r->arena, err->text);
    m->r->failed++;
    wr_progress_fini(&m->progress);
}

/* An item that is not asked for is shown when it is there. */
static bool maker_is_kept(const struct maker *m, const struct paper_item *item)
{
    struct wr_str stamp = {0};
    bool all = maker_done(m, item, &stamp) == paper_steps(item, m->call->quick)->n;

    wr_str_fini(&stamp);
    return all;
}

static bool maker_item(struct maker *m, size_t at, struct wr_err *err)
{
    struct paper_result *res = &m->r->v[at];

    res->item = paper_item(m->p, at);
    if (res->item->missing[0]) {
        res->state = PAPER_MISSING;
        return true;
    }
    if (!m->wanted[at] && !maker_is_kept(m, res->item))
        return true;
    res->state = PAPER_KEPT;
    bool ok = !m->wanted[at] || maker_run_item(m, at, err);

    ok = ok && maker_check_figures(m, res->item, err) && paper_values(m->r, res, err) &&
         paper_chart(m->r, res, err);
    if (!ok && err->code == WR_INTERRUPTED)
        return false;
    if (!ok)
        maker_failed(m, at, err);
    return true;
}

/* ---- which items ---- */

static bool maker_want(struct maker *m, const char *id, struct wr_err *err)
{
    struct wr_nearest near = {.want = id};

    for (size_t i = 0; i < m->p->items.n; i++) {
        if (!strcmp(paper_item(m->p, i)->id, id)) {
            m->wanted[i] = true;
            return true;
        }
        wr_nearest_try(&near, paper_item(m->p, i)->id);
    }
    if (near.best)
        return wr_fail(err, WR_UNKNOWN, "%s has no item \"%s\"; did you mean %s?", m->p->name, id,
                       near.best);
    return wr_fail(err, WR_UNKNOWN, "%s has no item \"%s\"; `weir paper list %s` names them",
                   m->p->name, id, m->p->name);
}

/* Needs stand before what needs them, so one pass backwards finds all. */
static bool maker_choose(struct maker *m, struct wr_err *err)
{
    for (size_t i = 0; i < m->call->nitems; i++)
        if (!maker_want(m, m->call->items[i], err))
            return false;
    for (size_t i = m->p->items.n; i-- > 0;) {
        const struct paper_item *item = paper_item(m->p, i);
        const char *const *need = item->needs.items;

        if (!m->call->nitems)
            m->wanted[i] = true;
        for (size_t k = 0; m->wanted[i] && k < item->needs.n; k++)
            if (!maker_want(m, need[k], err))
                return false;
        if (m->wanted[i])
            m->progress.total += (double)paper_steps(item, m->call->quick)->n;
    }
    return true;
}

static bool maker_make(struct maker *m, struct wr_err *err)
{
    bool ok = maker_choose(m, err) && maker_open_dir(m, err);

    wr_interrupt_catch();
    for (size_t i = 0; ok && i < m->p->items.n; i++)
        ok =
            !wr_interrupted() ? maker_item(m, i, err) : wr_fail(err, WR_INTERRUPTED, "interrupted");
    wr_interrupt_release();
    wr_progress_fini(&m->progress);
    if (!ok && err->code == WR_INTERRUPTED)
        wr_fail(err, WR_INTERRUPTED,
                "interrupted; the steps that were done are kept in %s: go on with the same command",
                m->call->dir);
    return ok;
}

bool paper_run(struct paper_results *ret, const struct paper *p, const struct paper_call *call,
               struct wr_err *err)
{
    struct paper_results r = {.paper = p, .dir = call->dir, .quick = call->quick};
    struct maker m = {.p = p, .call = call, .r = &r};

    r.v = wr_zalloc(p->items.n, sizeof *r.v);
    m.wanted = wr_zalloc(p->items.n, sizeof *m.wanted);
    m.anew = wr_zalloc(p->items.n, sizeof *m.anew);
    wr_progress_init(&m.progress, call->progress, p->name, "steps", 0);
    bool ok = maker_make(&m, err);

    free(m.wanted);
    free(m.anew);
    if (ok)
        *ret = r;
    else
        paper_results_fini(&r);
    return ok;
}

void paper_results_fini(struct paper_results *r)
{
    for (size_t i = 0; i < r->paper->items.n; i++)
        wr_vec_fini(&r->v[i].got);
    free(r->v);
    wr_arena_fini(&r->arena);
    *r = (struct paper_results){0};
}

static const struct wr_format page_format = {
    .name = "a page",
    .endings = ".html",
    .begins = "<!DOCTYPE html>\n<html lang=\"en\" data-weir=\"paper\">"};
static const struct wr_format markdown_format = {
    .name = "a page", .endings = ".md", .begins = "<!-- written by `weir paper run"};

static bool run_write_one(const struct paper_results *r, const char *leaf,
                          const struct wr_format *format,
                          void (*put)(const struct paper_results *r, struct wr_str *out),
                          struct wr_err *err)
{
    struct wr_str path = {0}, text = {0};

    wr_str_addf(&path, "%s/%s", r->dir, leaf);
    put(r, &text);
    bool ok = wr_output_text(path.s, format, 0, &text, err);

    wr_str_fini(&path);
    wr_str_fini(&text);
    return ok;
}

bool paper_write(const struct paper_results *r, struct wr_err *err)
{
    return run_write_one(r, "index.html", &page_format, paper_put_page, err) &&
           run_write_one(r, "index.md", &markdown_format, paper_put_markdown, err);
}
