/* paper_values.c -- published numbers beside those that the steps left.
 *
 * Owns what "equal" means: equal when rounded to the digits that were published.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/version.h"
#include "paper_priv.h"
#include "run/document.h"
#include "run/reader.h"

/* How a published number is written: 12.50 has 2 decimals, 1.50e-6 too, with an exponent. */
struct digits {
    int decimals;
    bool exponent;
    double unit; /* of the last digit */
};

static struct digits values_digits(const char *published)
{
    const char *e = strpbrk(published, "eE"), *dot = strchr(published, '.');
    struct digits d = {.exponent = e != NULL};

    if (dot)
        d.decimals = (int)((e ? (size_t)(e - dot) : strlen(dot)) - 1);
    d.unit = pow(10, (e ? atof(e + 1) : 0) - d.decimals);
    return d;
}

static bool values_are_equal(const char *published, double v)
{
    return fabs(v - atof(published)) <= 0.5 * values_digits(published).unit * (1 + 1e-9);
}

void paper_put_number(const struct paper_got *g, struct wr_str *out)
{
    struct digits d = values_digits(g->value->published);

    if (isnan(g->weir))
        return;
    if (!g->value->published[0])
        wr_str_addf(out, "%.6g", g->weir);
    else if (d.exponent)
        wr_str_addf(out, "%.*e", d.decimals, g->weir);
    else
        wr_str_addf(out, "%.*f", d.decimals, g->weir);
}

void paper_put_difference(const struct paper_got *g, struct wr_str *out)
{
    double published = atof(g->value->published);

    if (isnan(g->weir) || !g->value->published[0])
        return;
    if (values_are_equal(g->value->published, g->weir)) {
        wr_str_add(out, "none");
    } else if (published != 0) {
        double percent = 100 * (g->weir / published - 1);

        wr_str_addf(out, "%+.*f %%", fabs(percent) < 1 ? 2 : fabs(percent) < 10 ? 1 : 0, percent);
    } else {
        wr_str_addf(out, "%+.3g", g->weir);
    }
}

static bool values_ask_run(const char *path, const char *sql, double *ret, bool *ret_found,
                           struct wr_err *err)
{
    struct run_reader *run;

    if (!run_peek(&run, path, err))
        return false;
    bool ok = run_number(run, sql, ret, ret_found, err);

    run_close(run);
    return ok;
}

static bool values_ask(const struct paper_results *r, const struct paper_result *of,
                       const struct paper_value *v, double *ret, struct wr_err *err)
{
    struct wr_str path = {0};
    bool found = false, json = strstr(v->file, ".json") != NULL;

    wr_str_addf(&path, "%s/%s/%s", r->dir, of->item->id, v->file);
    bool ok = json ? run_document_number(path.s, v->query, ret, &found, err)
                   : values_ask_run(path.s, v->query, ret, &found, err);

    wr_str_fini(&path);
    if (!ok)
        return wr_wrap(err, "%s", conf_origin(r->paper->conf, &v->query));
    return found ||
           conf_fail(r->paper->conf, &v->query, err,
                     "the query of \"%s\" finds nothing in %s; look at what the file holds",
                     v->name, v->file);
}

static void values_put_field(const char *text, struct wr_str *out)
{
    wr_str_add(out, "\"");
    for (; *text; text++)
        wr_str_addn(out, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
    wr_str_add(out, "\"");
}

static bool values_write(const struct paper_results *r, const struct paper_result *of,
                         struct wr_err *err)
{
    struct wr_str path = {0}, csv = {0};

    wr_str_addf(&path, "%s/%s/values.csv", r->dir, of->item->id);
    wr_str_add(&csv, "value,unit,published,weir,difference\n");
    for (size_t i = 0; i < of->got.n; i++) {
        const struct paper_got *g = &of->got.v[i];

        values_put_field(g->value->name, &csv);
        wr_str_add(&csv, ",");
        values_put_field(g->value->unit, &csv);
        wr_str_addf(&csv, ",%s,%.10g,", g->value->published, g->weir);
        paper_put_difference(g, &csv);
        wr_str_add(&csv, "\n");
    }
    bool ok = !of->got.n || wr_output_text(path.s, &wr_format_csv, WR_FORCE, &csv, err);

    wr_str_fini(&path);
    wr_str_fini(&csv);
    return ok;
}

bool paper_values(struct paper_results *r, struct paper_result *of, struct wr_err *err)
{
    const struct paper_value *v = of->item->values.items;

    for (size_t i = 0; i < of->item->values.n; i++) {
        struct paper_got g = {.value = &v[i], .weir = NAN};

        if (r->quick && v[i].whole)
            continue;
        if (!values_ask(r, of, &v[i], &g.weir, err))
            return false;
        g.differs = v[i].exact && !values_are_equal(v[i].published, g.weir);
        r->differ += g.differs;
        wr_vec_push(&of->got, g);
    }
    return values_write(r, of, err);
}
