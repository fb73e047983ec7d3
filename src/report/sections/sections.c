#include "report/sections/sections.h"

const struct report_maker *const report_sections[] = {
    &report_sweeps,  &report_slowdowns, &report_boxes, &report_causes,  &report_jobs,
    &report_latency, &report_links,     &report_time,  &report_summary, NULL,
};
