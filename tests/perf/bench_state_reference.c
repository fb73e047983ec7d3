/* bench_state_reference.c -- fits and forecasts beside reference numbers, as a Markdown table.
 *
 *   bench.state_reference DIR [SEED [NAME]]
 *
 * reads DIR/INDEX.csv, DIR/data/NAME.csv, DIR/expected/NAME.OP.json; SEED is that of the starts
 * (1), NAME the beginning of the only series wanted.
 *
 * Ends with status 1 when a fit stays behind its reference or a forecast behind the best baseline.
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "state/estimate.h"
#include "state/lib/weir-state.h"

enum { STATES = 4 };

/* What may be missing to the reference. */
static const double behind[STATES + 1] = {0, 0, 1e-3, 1e-3, 1e-3};

static const size_t horizons[] = {1, 5, 15};

static double best_baseline(const json_t *row, const char **ret_name)
{
    static const char *const names[] = {
        "marginal_lognormal", "empirical_train", "last_value_rw", "ewma", "ar1",
        "window60_lognormal"};
    double best = INFINITY;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const json_t *v = json_object_get(json_object_get(row, names[i]), "logs_ln");

        if (json_is_number(v) && json_number_value(v) < best) {
            best = json_number_value(v);
            *ret_name = names[i];
        }
    }
    return best;
}

/* The library's mean loss so many steps ahead over the second half. */
static double rolling_score(const struct state_series *s, size_t ahead)
{
    struct weir_state *w = weir_state_create(NULL);
    size_t train = s->n / 2;
    double sum = 0;

    for (size_t i = 0; i + ahead < s->n; i++) {
        weir_state_observe(w, s->t[i], s->latency[i]);
        if (i + ahead >= train)
            sum -= weir_state_log_density(w, s->t[i + ahead] - s->t[i], s->latency[i + ahead]);
    }
    weir_state_destroy(w);
    return sum / (double)(s->n - train);
}

static int one(const char *dir, const char *name, const char *op, uint64_t seed)
{
    char csv[1024], json[1024], *paths[] = {csv};
    struct state_choice choice = {.op = op};
    struct state_estimate_opts o = {.k = STATES, .seed = seed};
    struct state_estimate e[STATES];
    struct state_series *s;
    struct wr_err err = {0};
    json_error_t at;
    size_t n;
    int bad = 0;
    const char *base = "";

    snprintf(csv, sizeof csv, "%s/data/%s.csv", dir, name);
    snprintf(json, sizeof json, "%s/expected/%s.%s.json", dir, name, op);
    json_t *want = json_load_file(json, 0, &at);

    if (!want || !state_load(&s, &n, paths, 1, &choice, &err) ||
        !state_estimate(e, s, n, &o, &err)) {
        fprintf(stderr, "%s %s: %s\n", name, op, want ? err.text : at.text);
        return 1;
    }
    printf("| %s %s | %zu ", name, op, s->n);
    for (int k = 2; k <= STATES; k++) {
        char key[2] = {(char)('0' + k), 0};
        double ref = json_number_value(
            json_object_get(json_object_get(json_object_get(want, "hmm"), key), "loglik"));
        double more = e[k - 1].fit.loglik - ref;

        if (k == 3)
            printf("| %.4f ", e[k - 1].fit.loglik);
        printf("| %+.4f%s ", fabs(more) < 5e-5 ? 0 : more, more < -behind[k] ? " **behind**" : "");
        bad |= more < -behind[k];
    }
    const json_t *rows = json_object_get(json_object_get(want, "forecast"), "horizons");

    for (size_t h = 0; h < sizeof horizons / sizeof horizons[0]; h++) {
        char key[24];

        snprintf(key, sizeof key, "%zu", horizons[h]);
        double line = best_baseline(json_object_get(rows, key), &base);
        double mine = rolling_score(s, horizons[h]);

        printf("| %.3f | %.3f (%s)%s ", mine, line, base, mine > line + 0.1 ? " **behind**" : "");
        bad |= mine > line + 0.1;
    }
    printf("|\n");
    fflush(stdout);
    json_decref(want);
    state_series_free(s, n);
    return bad;
}

int main(int argc, char **argv)
{
    char path[1024], line[4096], name[256], op[64];
    int bad = 0;

    if (argc < 2 || argc > 4)
        return 2;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    const char *only = argc > 3 ? argv[3] : "";

    snprintf(path, sizeof path, "%s/INDEX.csv", argv[1]);
    FILE *f = fopen(path, "r");

    if (!f || !fgets(line, sizeof line, f)) {
        fprintf(stderr, "%s: cannot be read; give the folder of the reference\n", path);
        return 2;
    }
    printf("| series | n | 2 states: above reference | 3 states: log-likelihood | above reference "
           "| 4 states: above reference | log score, 1 ahead | best baseline | 5 ahead | best "
           "baseline "
           "| 15 ahead | best baseline |\n"
           "|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "%255[^,],%63[^,]", name, op) == 2 && !strncmp(name, only, strlen(only)))
            bad |= one(argv[1], name, op, seed);
    fclose(f);
    return bad;
}
