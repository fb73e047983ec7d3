/* compare_study.c -- every run of a study in which jobs share the machine, beside those in which
 * they do not. */
#include <stdlib.h>
#include <string.h>

#include "report/compare.h"

/* The choices but for the seed: "both, random, par". */
static const char *compare_study_group_name(const struct report_member *m, struct wr_arena *arena)
{
    struct wr_str name = {0};

    for (size_t i = 0; i < m->nchoices; i++)
        if (strcmp(m->choice[i].axis, "seed") != 0)
            wr_str_addf(&name, "%s%s", name.n ? ", " : "", m->choice[i].label);
    const char *kept = wr_arena_strdup(arena, wr_str_get(&name));

    wr_str_fini(&name);
    return kept;
}

bool report_compare_add(struct report_comparisons *list, const char *group,
                        const struct report_runs *base, const struct report_runs *with,
                        uint64_t seed, struct wr_err *err)
{
    struct report_comparison one = {.group = wr_arena_strdup(&list->arena, group)};

    if (!report_compare_open(&one.c, base, with, seed, err))
        return false;
    wr_vec_push(&list->v, one);
    return true;
}

static bool compare_study_is_first_alike(const struct report_runs *runs, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (report_alike(&runs->member.v[k], &runs->member.v[i], NULL))
            return false;
    return true;
}

/* Has each of the jobs a run in which it is alone? */
static bool compare_study_has_baselines(const struct report_member *m,
                                        const struct report_runs *base)
{
    for (size_t j = 0; j < m->njobs; j++)
        for (size_t k = 0; k < base->member.n; k++)
            if (report_job_named(&base->member.v[k], m->job[j].name))
                return true;
    return false;
}

bool report_compare_study(struct report_comparisons *ret, const struct report_runs *all,
                          const struct report_runs *chosen, uint64_t seed, struct wr_err *err)
{
    struct report_comparisons list = {0};
    bool loads[REPORT_MOST_AXES], ok = true;

    report_workload_axes(all, loads);
    for (size_t i = 0; ok && i < chosen->member.n; i++) {
        const struct report_member *m = &chosen->member.v[i];
        struct report_runs base = {0}, with = {0};

        if (m->njobs < 2 || !m->nchoices || !compare_study_is_first_alike(chosen, i))
            continue;
        for (size_t k = 0; k < chosen->member.n; k++)
            if (report_alike(m, &chosen->member.v[k], NULL))
                wr_vec_push(&with.member, chosen->member.v[k]);
        for (size_t k = 0; k < all->member.n; k++)
            if (all->member.v[k].njobs == 1 && report_alike(m, &all->member.v[k], loads))
                wr_vec_push(&base.member, all->member.v[k]);
        if (compare_study_has_baselines(m, &base))
            ok = report_compare_add(&list, compare_study_group_name(m, &list.arena), &base, &with,
                                    seed, err) ||
                 wr_wrap(err, "%s", m->path);
        wr_vec_fini(&base.member);
        wr_vec_fini(&with.member);
    }
    if (ok)
        *ret = list;
    else
        report_comparisons_close(&list);
    return ok;
}

void report_comparisons_close(struct report_comparisons *list)
{
    for (size_t i = 0; i < list->v.n; i++)
        report_compare_close(&list->v.v[i].c);
    wr_vec_fini(&list->v);
    wr_arena_fini(&list->arena);
}
