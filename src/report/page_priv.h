/* page_priv.h -- the frame of an HTML page: no scripts, nothing from elsewhere. */
#ifndef REPORT_PAGE_PRIV_H
#define REPORT_PAGE_PRIV_H

#include "base/str.h"
#include "report/chart.h"
#include "run/reader.h"
#include "table_priv.h"

/* Where the numbers come from: a row per run file, and what is wrong with them. */
struct page_sources {
    struct table table;
    struct wr_str warnings; /* one sentence per line */
    struct wr_arena text;
    char *title; /* of the first run that has one, else its file's name */
};

void page_sources_init(struct page_sources *s);
bool page_sources_add(struct page_sources *s, struct run_reader *r, struct wr_err *err);
/* A table of points, of which nothing is known but its name. */
void page_sources_table(struct page_sources *s, const char *path);
void page_sources_fini(struct page_sources *s);

/* The name of a file without its folders and its ending. */
char *page_short_name(struct wr_arena *a, const char *path);

void page_begin(const char *title, const struct page_sources *s, struct wr_str *out);
/* A picture, under its title, above its description. `id` is unique in the page. */
void page_figure(const struct report_chart *c, const char *id, struct wr_str *out);
void page_end(const struct page_sources *s, struct wr_str *out);

#endif
