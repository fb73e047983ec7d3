/* paper_priv.h -- what the files of this module share. */
#ifndef PAPER_PAPER_PRIV_H
#define PAPER_PAPER_PRIV_H

#include "paper/paper.h"

/* The word with {data} replaced by the folder. */
const char *paper_expand(struct wr_arena *arena, const struct paper *p, const char *word);

/* paper_step.c: runs one step as a child process in `dir`. What it says, standard output without
 * `to` included, is appended to `log`. False: it failed, with its command, status and last line in
 * the error; WR_INTERRUPTED: it was stopped. */
bool paper_step_run(const struct paper *p, const struct paper_step *s, const char *dir,
                    struct wr_str *log, struct wr_err *err);

/* paper_values.c: asks for the values of an item whose steps are done, and writes values.csv. */
bool paper_values(struct paper_results *r, struct paper_result *of, struct wr_err *err);

/* paper_chart.c: draws the item's chart, chart.svg; nothing where it has none, or no value for it.
 */
#define PAPER_CHART "chart.svg"
bool paper_has_chart(const struct paper_result *of);
bool paper_chart(const struct paper_results *r, const struct paper_result *of, struct wr_err *err);

/* paper_page.c, paper_markdown.c */
void paper_put_source(const struct paper_about *a, struct wr_str *out); /* authors, venue, year */
void paper_put_page(const struct paper_results *r, struct wr_str *out);
void paper_put_markdown(const struct paper_results *r, struct wr_str *out);

#endif
