/* interference_cases_json.c -- predictions of a case as JSON, and the check against expected
 * values.
 *
 * A file of cases may hold what another program computed ("expected", "schedule", ...);
 * `weir interfere predict --check` compares each with the prediction within a tolerance.
 */
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "interference/interference_cases.h"

static json_t *verify_real_json(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

static json_t *verify_rates_json(const struct interference_case *c,
                                 const struct stat_share_part *part)
{
    json_t *rates = json_object();

    for (size_t i = 0; i < c->napps; i++)
        if (!isnan(part->rate[i]))
            json_object_set_new(rates, c->app[i].name, json_real(part->rate[i]));
    return rates;
}

static json_t *verify_predicted_json(const struct interference_case *c, const struct stat_share *s)
{
    json_t *all = json_object();

    for (size_t i = 0; i < c->napps; i++) {
        /* A job that moves nothing has no throughput. */
        double rate = s->runtime[i] > 0 ? c->job[i].volume / s->runtime[i] : NAN;

        json_object_set_new(all, c->app[i].name,
                            json_pack("{so, so, so}", "finish_s", verify_real_json(s->finish[i]),
                                      "runtime_s", verify_real_json(s->runtime[i]),
                                      "throughput_mib_s", verify_real_json(rate)));
    }
    return all;
}

/* Where the jobs are never all active there are no rates: null of each. */
static json_t *verify_all_active(const struct interference_case *c, const struct stat_share *s)
{
    json_t *rates = s->all ? verify_rates_json(c, s->all) : json_object();
    double duration = s->all ? s->all->to - s->all->from : 0;

    for (size_t i = 0; !s->all && i < c->napps; i++)
        json_object_set_new(rates, c->app[i].name, json_null());
    return json_pack("{so, so}", "duration_s", verify_real_json(duration), "rates_mib_s", rates);
}

static json_t *verify_schedule(const struct interference_case *c, const struct stat_share *s)
{
    json_t *parts = json_array();

    for (size_t i = 0; i < s->nparts; i++)
        json_array_append_new(parts,
                              json_pack("{so, so, so}", "t0", verify_real_json(s->part[i].from),
                                        "t1", verify_real_json(s->part[i].to), "rates",
                                        verify_rates_json(c, &s->part[i])));
    return parts;
}

static json_t *verify_weights(const struct interference_case *c, const struct stat_share *s)
{
    json_t *all = json_object();

    (void)s;
    for (size_t i = 0; i < c->napps; i++)
        json_object_set_new(
            all, c->app[i].name,
            json_pack("{sf, ss}", "weight", c->job[i].weight, "from", c->app[i].weight_from));
    return all;
}

/* What is ours in a case that is written, and the key in whose place it stands. */
static const struct answer {
    const char *key, *replaces;
    json_t *(*make)(const struct interference_case *c, const struct stat_share *s);
} answers[] = {
    {"predicted", "expected", verify_predicted_json},
    {"predicted_all_active", "expected_all_active", verify_all_active},
    {"schedule", "schedule", verify_schedule},
    {"weights", "weights", verify_weights},
};
enum { NANSWERS = sizeof answers / sizeof answers[0] };

static json_t *verify_case_json(const struct interference_case *c, const struct stat_share *s)
{
    json_t *all = json_object(), *value;
    const char *key;

    json_object_foreach(c->from, key, value)
    {
        const struct answer *a = NULL;

        for (size_t i = 0; i < NANSWERS; i++)
            if (!strcmp(key, answers[i].replaces) || !strcmp(key, answers[i].key))
                a = &answers[i];
        if (a)
            json_object_set_new(all, a->key, a->make(c, s));
        else
            json_object_set(all, key, value);
    }
    for (size_t i = 0; i < NANSWERS; i++)
        if (!json_object_get(all, answers[i].key))
            json_object_set_new(all, answers[i].key, answers[i].make(c, s));
    return all;
}

json_t *interference_cases_json(const struct interference_cases *c)
{
    json_t *all = json_copy(c->all), *list = json_array();

    for (size_t i = 0; i < c->n; i++) {
        struct stat_share s;

        stat_share_solve(&s, c->v[i].job, c->v[i].napps, &c->v[i].capacity);
        json_array_append_new(list, verify_case_json(&c->v[i], &s));
        stat_share_fini(&s);
    }
    json_object_set_new(all, "cases", list);
    return all;
}

/* ---- the check ---- */

static bool verify_near(const json_t *want, const json_t *got, double tolerance, struct wr_err *err)
{
    double a = json_number_value(want), b = json_number_value(got);

    if (json_is_number(got) && fabs(a - b) <= fmax(1e-6, tolerance * fabs(a)))
        return true;
    return wr_fail(err, WR_CHECK, "%s is expected, the model says %s; correct the one or the other",
                   wr_text_real(a).s, json_is_number(got) ? wr_text_real(b).s : "nothing");
}

/* The model has no number here. A file may say so with null, or with the 0 of no bytes in no time.
 */
static bool verify_has_no_expectation(const json_t *want)
{
    return json_is_null(want) || (json_is_number(want) && json_number_value(want) == 0);
}

/* Everything that `want` holds is in `got`, and lists are equally long. */
static bool verify_agree(json_t *want, const json_t *got, double tolerance, struct wr_err *err)
{
    const char *key;
    json_t *value;
    size_t i;

    if (json_is_null(got) && verify_has_no_expectation(want))
        return true;
    if (json_is_number(want))
        return verify_near(want, got, tolerance, err);
    if (json_typeof(want) != json_typeof(got) || json_array_size(want) != json_array_size(got))
        return wr_fail(err, WR_CHECK, "the model's answer has another form; correct the case");
    json_object_foreach(want, key, value)
    {
        const json_t *mine = json_object_get(got, key);

        if (!mine)
            return wr_fail(err, WR_CHECK, "the model says nothing of \"%s\"; correct the case",
                           wr_text_clip(key).s);
        if (!verify_agree(value, mine, tolerance, err))
            return wr_wrap(err, "%s", wr_text_clip(key).s);
    }
    json_array_foreach(want, i, value)
    {
        if (!verify_agree(value, json_array_get(got, i), tolerance, err))
            return wr_wrap(err, "[%zu]", i);
    }
    return true;
}

static bool verify_case(const struct interference_case *c, size_t *checked, struct wr_err *err)
{
    const json_t *given = json_object_get(c->from, "tolerance_rel");
    double tolerance = json_is_number(given) ? json_number_value(given) : 1e-6;
    struct stat_share s;
    bool ok = true, any = false;

    stat_share_solve(&s, c->job, c->napps, &c->capacity);
    for (size_t i = 0; ok && i < NANSWERS; i++) {
        json_t *want = json_object_get(c->from, answers[i].replaces);

        if (!want || answers[i].make == verify_weights)
            continue;
        json_t *got = answers[i].make(c, &s);

        /* null: the jobs are never all active */
        ok = (json_is_null(want) && answers[i].make == verify_all_active && !s.all) ||
             verify_agree(want, got, tolerance, err) || wr_wrap(err, "%s", answers[i].replaces);
        any = true;
        json_decref(got);
    }
    stat_share_fini(&s);
    *checked += any;
    return ok;
}

bool interference_cases_check(const struct interference_cases *c, size_t *ret_checked,
                              struct wr_err *err)
{
    size_t checked = 0;

    for (size_t i = 0; i < c->n; i++)
        if (!verify_case(&c->v[i], &checked, err))
            return wr_wrap(err, "case %s", wr_text_clip(c->v[i].id).s);
    if (!checked)
        return wr_fail(err, WR_INPUT,
                       "no case expects anything; add \"expected\" to a case, or do not check");
    *ret_checked = checked;
    return true;
}
