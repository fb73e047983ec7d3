/* model/model.c -- reads and writes a model as JSON.
 *
 * See model.h for the keys, which are an interface. A model that was read is checked completely:
 * callers may rely on its ranges.
 */
#include "state/model/model.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

struct reader {
    const char *name;
    struct wr_err *err;
};

static bool model_bad(const struct reader *r, const char *key, const char *what)
{
    return wr_fail(r->err, WR_INPUT, "%s: \"%s\" %s; `weir state fit` writes such a file as JSON",
                   r->name, key, what);
}

/* An array of exactly n finite numbers. */
static bool model_read_reals(const struct reader *r, double *ret, const json_t *from,
                             const char *key, int n)
{
    if (!json_is_array(from) || (int)json_array_size(from) != n)
        return model_bad(r, key, "must be an array with one number per state");
    for (int i = 0; i < n; i++) {
        const json_t *v = json_array_get(from, (size_t)i);

        if (!json_is_number(v) || !isfinite(json_number_value(v)))
            return model_bad(r, key, "must hold numbers only");
        ret[i] = json_number_value(v);
    }
    return true;
}

static bool model_read_rates(const struct reader *r, double *q, const json_t *from, int k)
{
    if (!json_is_array(from) || (int)json_array_size(from) != k)
        return model_bad(r, "Q", "must be an array with one row per state");
    for (int i = 0; i < k; i++) {
        double out = 0;

        if (!model_read_reals(r, q + i * k, json_array_get(from, (size_t)i), "Q", k))
            return false;
        for (int j = 0; j < k; j++) {
            if (j == i)
                continue;
            if (q[i * k + j] < 0 || q[i * k + j] > 1e12)
                return model_bad(r, "Q", "must have rates of at least 0 beside its diagonal");
            out += q[i * k + j];
        }
        q[i * k + i] = -out;
    }
    return true;
}

/* Rates of one part of the day, or one matrix for each. */
static bool model_read_all_rates(const struct reader *r, struct hmm_model *m, const json_t *all)
{
    const json_t *q = json_object_get(all, "Q");
    const json_t *parts = json_object_get(all, "day_parts");

    if (!q)
        q = json_object_get(all, "Q_per_second");
    m->nblocks = 1;
    if (!parts)
        return model_read_rates(r, m->q[0], q, m->k);
    if (!json_is_integer(parts) || json_integer_value(parts) < 1 ||
        json_integer_value(parts) > HMM_BLOCKS)
        return model_bad(r, "day_parts", "must be a whole number from 1 to 24");
    m->nblocks = (int)json_integer_value(parts);
    if (m->nblocks == 1)
        return model_read_rates(r, m->q[0], q, m->k);
    if (!json_is_array(q) || (int)json_array_size(q) != m->nblocks)
        return model_bad(r, "Q", "must have one matrix per part of the day");
    for (int b = 0; b < m->nblocks; b++)
        if (!model_read_rates(r, m->q[b], json_array_get(q, (size_t)b), m->k))
            return false;
    const json_t *offset = json_object_get(all, "day_offset_s");

    if (offset && (!json_is_number(offset) || !(fabs(json_number_value(offset)) < 1e9)))
        return model_bad(r, "day_offset_s", "must be a number of seconds");
    m->day_offset_s = offset ? json_number_value(offset) : 0;
    return true;
}

static bool model_read_family(const struct reader *r, struct hmm_model *m, const json_t *all)
{
    const json_t *emission = json_object_get(all, "emission");

    m->family = HMM_LOGNORMAL;
    if (!emission)
        return true;
    for (int f = 0; json_is_string(emission) && f < HMM_FAMILIES; f++)
        if (!strcmp(json_string_value(emission), hmm_family_name((enum hmm_family)f))) {
            m->family = (enum hmm_family)f;
            return true;
        }
    return model_bad(r, "emission", "must be lognormal, weibull or mixture");
}

/* The keys of each family's numbers, and the range of those that have one. */
static const struct key {
    const char *name;
    double low, high;
} keys[HMM_FAMILIES][HMM_EMIT] = {
    [HMM_LOGNORMAL] = {{"meanlog", -100, 100}, {"sdlog", 1e-9, 1e3}},
    [HMM_WEIBULL] = {{"logscale", -100, 100}, {"inverse_shape", 1e-9, 1e3}},
    [HMM_MIXTURE] = {{"meanlog", -100, 100},
                     {"sdlog", 1e-9, 1e3},
                     {"meanlog2", -100, 100},
                     {"sdlog2", 1e-9, 1e3},
                     {"weight2", 1e-12, 1 - 1e-12}},
};

static bool model_read_emissions(const struct reader *r, struct hmm_model *m, const json_t *all)
{
    for (int e = 0; e < hmm_family_params(m->family); e++) {
        const struct key *key = &keys[m->family][e];
        double v[HMM_STATES];

        if (!model_read_reals(r, v, json_object_get(all, key->name), key->name, m->k))
            return false;
        for (int s = 0; s < m->k; s++) {
            if (!(v[s] >= key->low && v[s] <= key->high))
                return model_bad(r, key->name, "holds a number out of range");
            m->emit[s][e] = v[s];
        }
    }
    return true;
}

static bool model_read_initial(const struct reader *r, struct hmm_model *m, const json_t *all)
{
    const json_t *initial = json_object_get(all, "initial");
    double sum = 0;

    for (int s = 0; s < m->k; s++)
        m->initial[s] = 1.0 / m->k;
    if (!initial)
        return true;
    if (!model_read_reals(r, m->initial, initial, "initial", m->k))
        return false;
    for (int s = 0; s < m->k; s++) {
        if (m->initial[s] < 0)
            return model_bad(r, "initial", "must hold probabilities");
        sum += m->initial[s];
    }
    if (fabs(sum - 1) > 1e-6)
        return model_bad(r, "initial", "must sum to 1");
    for (int s = 0; s < m->k; s++)
        m->initial[s] /= sum;
    return true;
}

/* A whole number of bytes, at least 1; 0: there is none. */
static bool model_read_bytes(const struct reader *r, const json_t *from, const char *key,
                             uint64_t *ret)
{
    if (from && (!json_is_integer(from) || json_integer_value(from) < 1 ||
                 json_integer_value(from) > 1000000000000))
        return model_bad(r, key, "must be a number of bytes");
    *ret = from ? (uint64_t)json_integer_value(from) : 0;
    return true;
}

static bool model_read_probed(const struct reader *r, struct state_probed *p, const json_t *all)
{
    const json_t *op = json_object_get(all, "probe_op"),
                 *sizes = json_object_get(all, "probe_sizes");
    const json_t *share = json_object_get(all, "fixed_share");
    const char *name = json_string_value(op);

    if (!model_read_bytes(r, json_object_get(all, "probe_bytes"), "probe_bytes", &p->bytes))
        return false;
    if (op && (!name || (strcmp(name, "read") != 0 && strcmp(name, "write") != 0)))
        return model_bad(r, "probe_op", "must be read or write");
    snprintf(p->op, sizeof p->op, "%s", name ? name : "");
    p->fixed_share = share ? json_number_value(share) : NAN;
    if (!share)
        return true;
    if (!json_is_number(share) || !(p->fixed_share >= 0 && p->fixed_share <= 1))
        return model_bad(r, "fixed_share", "must be a part of 1");
    if (json_array_size(sizes) != 2 ||
        !model_read_bytes(r, json_array_get(sizes, 0), "probe_sizes", &p->least_b) ||
        !model_read_bytes(r, json_array_get(sizes, 1), "probe_sizes", &p->most_b) ||
        p->least_b > p->most_b || !p->bytes)
        return model_bad(r, "probe_sizes",
                         "must hold the least and the most of the sizes that gave fixed_share");
    return true;
}

void state_probed_json(json_t *model, const struct state_probed *p)
{
    if (p->bytes)
        json_object_set_new(model, "probe_bytes", json_integer((json_int_t)p->bytes));
    if (*p->op)
        json_object_set_new(model, "probe_op", json_string(p->op));
    if (isnan(p->fixed_share))
        return;
    json_object_set_new(model, "fixed_share", json_real(p->fixed_share));
    json_object_set_new(model, "probe_sizes",
                        json_pack("[I, I]", (json_int_t)p->least_b, (json_int_t)p->most_b));
}

static bool model_read_all(const struct reader *r, struct hmm_model *m, const json_t *all)
{
    const json_t *loc = json_object_get(all, "meanlog");

    if (json_is_array(all))
        return wr_fail(
            r->err, WR_INPUT,
            "%s holds %zu models, one per target; keep the one that is meant in a file of its own",
            r->name, json_array_size(all));
    if (!json_is_object(all))
        return wr_fail(r->err, WR_INPUT,
                       "%s holds no object; `weir state fit` writes a model as JSON", r->name);
    if (!loc)
        loc = json_object_get(all, "logscale");
    m->k = (int)json_array_size(loc);
    if (!json_is_array(loc) || m->k < 1 || m->k > HMM_STATES)
        return model_bad(r, "meanlog", "must be an array of 1 to 8 numbers");
    if (!model_read_family(r, m, all) || !model_read_all_rates(r, m, all) ||
        !model_read_emissions(r, m, all) || !model_read_initial(r, m, all))
        return false;
    if (hmm_nparams(m) > HMM_PARAMS)
        return model_bad(r, "day_parts", "times the states is more than a model may have");
    return true;
}

static bool model_parse(struct hmm_model *ret, struct state_probed *ret_probed, const char *name,
                        const char *text, size_t len, struct wr_err *err)
{
    struct reader r = {name, err};
    struct hmm_model m = {0};
    struct state_probed probed = {0};
    json_error_t at;
    json_t *all = json_loadb(text, len, JSON_REJECT_DUPLICATES, &at);

    if (!all)
        return wr_fail(err, WR_INPUT,
                       "%s:%d:%d: %s; give a model in the JSON that `weir state fit` writes", name,
                       at.line, at.column, at.text);
    bool ok = model_read_all(&r, &m, all) && model_read_probed(&r, &probed, all);

    json_decref(all);
    if (ok) {
        *ret = m;
        *ret_probed = probed;
    }
    return ok;
}

bool state_model_parse(struct hmm_model *ret, const char *name, const char *text, size_t len,
                       struct wr_err *err)
{
    struct state_probed ignored;

    return model_parse(ret, &ignored, name, text, len, err);
}

bool state_model_read_probed(struct hmm_model *ret, struct state_probed *ret_probed,
                             const char *path, struct wr_err *err)
{
    char *text;
    size_t len;

    if (!wr_file_read(&text, &len, path, 64 << 20, err))
        return false;
    bool ok = model_parse(ret, ret_probed, path, text, len, err);

    free(text);
    return ok;
}

bool state_model_read(struct hmm_model *ret, const char *path, struct wr_err *err)
{
    struct state_probed ignored;

    return state_model_read_probed(ret, &ignored, path, err);
}

json_t *state_json_real(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

json_t *state_json_reals(const double *v, size_t n)
{
    json_t *all = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(all, state_json_real(v[i]));
    return all;
}

static json_t *model_rates_json(const double *q, int k)
{
    json_t *rows = json_array();

    for (int i = 0; i < k; i++)
        json_array_append_new(rows, state_json_reals(q + i * k, (size_t)k));
    return rows;
}

json_t *state_model_json(const struct hmm_model *m)
{
    assert(m->k >= 1 && m->k <= HMM_STATES);
    json_t *all = json_pack("{si, ss}", "states", m->k, "emission", hmm_family_name(m->family));

    if (m->nblocks > 1) {
        json_t *parts = json_array();

        for (int b = 0; b < m->nblocks; b++)
            json_array_append_new(parts, model_rates_json(m->q[b], m->k));
        json_object_set_new(all, "day_parts", json_integer(m->nblocks));
        json_object_set_new(all, "day_offset_s", json_real(m->day_offset_s));
        json_object_set_new(all, "Q", parts);
    } else {
        json_object_set_new(all, "Q", model_rates_json(m->q[0], m->k));
    }
    for (int e = 0; e < hmm_family_params(m->family); e++) {
        double v[HMM_STATES];

        for (int s = 0; s < m->k; s++)
            v[s] = m->emit[s][e];
        json_object_set_new(all, keys[m->family][e].name, state_json_reals(v, (size_t)m->k));
    }
    json_object_set_new(all, "initial", state_json_reals(m->initial, (size_t)m->k));
    return all;
}
