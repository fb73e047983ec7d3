/* state_reference.h -- the series of tests/data/state and their expected numbers. */
#ifndef TESTS_STATE_REFERENCE_H
#define TESTS_STATE_REFERENCE_H

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "state/data.h"
#include "state/model/model.h"
#include "state/probes.h"

struct reference {
    const char *name, *op;
    struct state_series *s;
    size_t ns;
    struct state_data d;
    struct hmm_work w;
    json_t *want;
};

static const struct {
    const char *name, *op;
} reference_list[] = {
    {"s00_titan_12h", "write"},
    {"s01_titan_24h", "write"},
    {"realC", "write"},
    {"realC", "read"},
    {"t01_corihaswell_bb_dbscan_read", "read"},
    {"t07_corihaswell_cscratch_hacc_write", "write"},
    {"t13_coriknl_cscratch_dbscan_read", "read"},
};
enum { NREFERENCES = sizeof reference_list / sizeof reference_list[0] };

static inline void reference_open(struct reference *r, size_t i)
{
    char path[512];
    char *paths[] = {path};
    struct state_choice choice = {.op = reference_list[i].op};
    struct state_data_opts plain = {.nblocks = 1};
    struct wr_err err = {0};
    json_error_t at;

    *r = (struct reference){.name = reference_list[i].name, .op = reference_list[i].op};
    snprintf(path, sizeof path, "%s/tests/data/state/%s.csv", WEIR_SOURCE_DIR, r->name);
    if (!state_load(&r->s, &r->ns, paths, 1, &choice, &err))
        fail_msg("%s", err.text);
    state_data_init(&r->d, r->s, r->ns, &plain);
    if (!hmm_work_init(&r->w, r->d.data.n, 0, HMM_STATES))
        fail_msg("no memory");
    hmm_work_bind(&r->w, &r->d.data);
    snprintf(path, sizeof path, "%s/tests/data/state/%s.%s.json", WEIR_SOURCE_DIR, r->name, r->op);
    r->want = json_load_file(path, 0, &at);
    if (!r->want)
        fail_msg("%s: %s", path, at.text);
}

static inline void reference_close(struct reference *r)
{
    json_decref(r->want);
    hmm_work_fini(&r->w);
    state_data_fini(&r->d);
    state_series_free(r->s, r->ns);
}

/* "hmm.3.loglik" */
static inline json_t *reference_get(const struct reference *r, const char *path)
{
    json_t *at = r->want;

    while (at && *path) {
        char key[64];
        size_t n = strcspn(path, ".");

        snprintf(key, sizeof key, "%.*s", (int)n, path);
        at = json_object_get(at, key);
        path += n + (path[n] == '.');
    }
    return at;
}

static inline double reference_real(const struct reference *r, const char *path)
{
    json_t *v = reference_get(r, path);

    if (!json_is_number(v))
        fail_msg("%s %s: no %s", r->name, r->op, path);
    return json_number_value(v);
}

static inline void reference_model(const struct reference *r, const char *path,
                                   struct hmm_model *ret)
{
    char *text = json_dumps(reference_get(r, path), 0);
    struct wr_err err = {0};

    if (!text || !state_model_parse(ret, path, text, strlen(text), &err))
        fail_msg("%s %s: %s", r->name, path, err.text);
    free(text);
}

#endif
