/* compare_words.c -- a comparison in sentences, and the names of causes for people.
 *
 * words[] is the one table of causes; `weir compare`, sections and charts take their names from it.
 */
#include <math.h>
#include <string.h>

#include "report/compare.h"

/* Changes below these are not worth a sentence. */
static const double least_change = 0.01, least_part = 0.05;

static const struct {
    const char *cause, *words, *few;
} words[] = {
    {"software", "software that handles messages and requests", "software"},
    {"transfer", "longer ways through the network", "transfer"},
    {"network", "contention in the network", "network"},
    {"nic", "queueing in the NIC", "NIC"},
    {"partner", "waiting for ranks that were late themselves", "other ranks"},
    {"device", "the storage device's own service", "device"},
    {"device_queue", "queueing at the device behind the job's own requests",
     "device, behind own requests"},
    {"device_others", "device sharing with other jobs", "device, behind other jobs"},
    {"reserve", "waiting for space in a buffer", "space in a buffer"},
    {"compute", "computing", "computing"},
    {"idle", "having nothing to do", "idle"},
    {"unknown", "not known", "not known"},
};

static const char *compare_words_of_cause(const char *cause)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(words[i].cause, cause))
            return words[i].words;
    return cause;
}

const char *report_cause_words(const char *cause)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(words[i].cause, cause))
            return words[i].few;
    return cause;
}

/* What is said of a measure, and the account that explains it. */
static const struct {
    enum report_measure what;
    const char *name, *during;
} measures[] = {{REPORT_IO, "I/O", "io"}, {REPORT_COMM, "communication", "comm"}};

static double compare_words_change_during(const struct report_compared *c, const char *during)
{
    double sum = 0;

    for (size_t i = 0; i < c->cause.n; i++)
        if (!strcmp(c->cause.v[i].during, during))
            sum += c->cause.v[i].with_ns - c->cause.v[i].base_ns;
    return sum;
}

static void compare_words_add_with(struct wr_str *out, const char *of, double percent,
                                   const char *cause)
{
    if (of)
        wr_str_addf(out, "; %.0f %% of the %s is %s", percent, of, cause);
    else
        wr_str_addf(out, ", %.0f %% %s", percent, cause);
}

/* The largest parts first, as the causes are sorted; then what went the other way. */
static void compare_words_add_parts(const struct report_compared *c, const char *during,
                                    struct wr_str *out)
{
    double whole = compare_words_change_during(c, during);
    const char *change = whole > 0 ? "increase" : "decrease";
    size_t with = 0, against = 0;

    for (int way = 1; way >= -1 && whole != 0; way -= 2)
        for (size_t i = 0; i < c->cause.n; i++) {
            const struct report_cause *k = &c->cause.v[i];
            double part = way * (k->with_ns - k->base_ns) / whole;

            if (strcmp(k->during, during) != 0 || part < least_part)
                continue;
            if (way > 0)
                compare_words_add_with(out, with++ ? NULL : change, 100 * part,
                                       compare_words_of_cause(k->cause));
            else
                wr_str_addf(out, "%s %.0f %% %s", against++ ? "," : "; against that", 100 * part,
                            compare_words_of_cause(k->cause));
        }
}

static void compare_words_add_crowd(const struct report_compared *c, struct wr_str *out)
{
    if (!c->crowd.n || !(c->per_other.slope > 0) || c->per_other.r2 < least_part)
        return;
    wr_str_addf(out,
                "%s: each further client of other jobs on a rank's server adds %.3g ms to its I/O, "
                "from %u to %u of them; their number explains %.0f %% of the differences between "
                "ranks\n",
                c->job, c->per_other.slope / 1e6, c->crowd.v[0].others,
                c->crowd.v[c->crowd.n - 1].others, 100 * c->per_other.r2);
}

void report_compare_words(const struct report_compared *c, struct wr_str *out)
{
    for (size_t i = 0; i < sizeof measures / sizeof *measures; i++) {
        const struct report_change *m = &c->change[measures[i].what];

        if (isnan(m->ratio.mid))
            continue;
        wr_str_addf(out, "%s: %s ", c->job, measures[i].name);
        if (fabs(m->ratio.mid - 1) < least_change) {
            wr_str_addf(out, "takes as long as before (%.4g times)\n", m->ratio.mid);
            continue;
        }
        wr_str_addf(out, "is %s, takes %.3g times as long", m->ratio.mid > 1 ? "slower" : "faster",
                    m->ratio.mid);
        if (m->over)
            wr_str_addf(out, " (95 %% over %s: %.3g to %.3g)", report_over_names[m->over],
                        m->ratio.low, m->ratio.high);
        compare_words_add_parts(c, measures[i].during, out);
        wr_str_add(out, "\n");
    }
    compare_words_add_crowd(c, out);
}
