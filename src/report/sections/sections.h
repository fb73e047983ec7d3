/* sections.h -- all sections that a report can have, one maker each.
 *
 * sec_NAME.c holds a section: it reads the runs of struct report_inputs and fills a struct
 * report_section with sentences, figures and tables, or leaves it empty where the runs hold nothing
 * for it. To show something new, write such a file and add its maker to the table in sections.c.
 */
#ifndef REPORT_SECTIONS_SECTIONS_H
#define REPORT_SECTIONS_SECTIONS_H

#include "report/doc.h"

/* In the order of a page; ends with NULL. */
extern const struct report_maker *const report_sections[];

/* For verbs that show only some of them. */
extern const struct report_maker report_sweeps, report_slowdowns, report_boxes, report_causes,
    report_study_links, report_study_machines, report_study_traffic, report_study_times,
    report_interference, report_experiment, report_experiment_time, report_profile, report_roofline,
    report_state, report_stack, report_stack_study, report_jobs, report_latency, report_links,
    report_machines, report_servers, report_time, report_summary, report_validated;

#endif
