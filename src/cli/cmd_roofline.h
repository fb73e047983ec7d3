/* cmd_roofline.h -- the verbs below `weir roofline`. */
#ifndef CLI_CMD_ROOFLINE_H
#define CLI_CMD_ROOFLINE_H

#include "cli/cli.h"
#include "cli/cli_table.h"
#include "conf/conf.h"
#include "report/chart.h"
#include "run/reader.h"
#include "run/run.h"

extern const struct cli_verb cli_roofline_model;
extern const struct cli_verb cli_roofline_nics;
extern const struct cli_verb cli_roofline_collect;
extern const struct cli_verb cli_roofline_polling;
extern const struct cli_verb cli_roofline_serve;

/* ---- what those that measure share ---- */

/* A run file with the configuration and the files it came from. */
bool roofline_run_create(struct run **ret, const struct cli_call *call, const char *out, bool force,
                         bool whole, uint64_t seed, const struct conf *conf, struct wr_err *err);

/* ---- what was polled, from its run file ---- */

enum roofline_polling_view { POLLING_POLICIES, POLLING_SLICES };
extern const char *const roofline_polling_metrics[]; /* rate, server_cpu, ...; ends with NULL */

bool roofline_polling_print(FILE *out, struct run_reader *run, enum roofline_polling_view view,
                            enum cli_format format, struct wr_err *err);
/* `style` NULL: SVG. Fails if there is nothing to draw. */
bool roofline_polling_chart(struct wr_str *out, struct run_reader *run, uint32_t metric,
                            const struct report_text_style *style, struct wr_err *err);

#endif
