#include "sections_priv.h"

const struct report_maker *const report_sections[] = {
    &report_sweeps,       &report_slowdowns,      &report_boxes,         &report_causes,
    &report_study_links,  &report_study_machines, &report_study_traffic, &report_study_times,
    &report_interference, &report_roofline,       &report_state,         &report_stack,
    &report_jobs,         &report_latency,        &report_links,         &report_machines,
    &report_servers,      &report_time,           &report_summary,       NULL,
};
