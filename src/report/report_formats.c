/* report_formats.c -- endings and first bytes of report files, for base/output.h.
 *
 * A file that is there is replaced only if it begins like one that weir wrote.
 */
#include "report/report.h"

const struct wr_format report_text_format = {.name = "such a report", .endings = ".txt"};
const struct wr_format report_page_format = {
    .name = "a page",
    .endings = ".html .htm",
    .begins = "<!DOCTYPE html>\n<html lang=\"en\" data-weir=\"report\">"};
const struct wr_format report_json_format = {
    .name = "a report", .endings = ".json", .begins = "{\"weir_report\":"};
