/* cmd_study.c -- `weir study`: the verbs run, list and show. */
#include "cli/cmd_study.h"

static const struct cli_verb *const subs[] = {&cli_study_run, &cli_study_list, &cli_study_show,
                                              NULL};

const struct cli_verb cli_cmd_study = {
    .name = "study",
    .summary = "simulate all combinations of placements, routings, jobs and seeds",
    .about =
        "A study is a YAML file with a base configuration and lists to cross. Each combination "
        "is a run of its own with a run file of its own in the study's directory.",
    .subs = subs,
};
