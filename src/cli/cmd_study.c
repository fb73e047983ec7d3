/* cmd_study.c -- `weir study`: many runs from one file. */
#include "cli/study.h"

static const struct cli_verb *const subs[] = {&cli_study_run, &cli_study_list, &cli_study_show,
                                              NULL};

const struct cli_verb cli_cmd_study = {
    .name = "study",
    .summary = "cross placements, routings, workloads and seeds: many runs from one file",
    .about =
        "A study is a YAML file with a base configuration and lists to cross. Each combination "
        "is a run of its own with a run file of its own in the study's directory.",
    .subs = subs,
};
