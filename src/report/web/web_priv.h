/* web_priv.h -- what the files of the viewer's answers share. */
#ifndef REPORT_WEB_PRIV_H
#define REPORT_WEB_PRIV_H

#include "report/web/web.h"

/* Time limits of one scan of all files and of the queries of one of them. What there was no time
 * for is looked at the next time. */
#define WEB_LOOK_NS (2ull * 1000 * 1000 * 1000)
#define WEB_FILE_NS (500ull * 1000 * 1000)

/* site.c: looks again at what is there; the caller holds the lock. */
bool web_look(struct web_site *s, struct wr_err *err);
/* The same for an answer, which says why not. */
bool web_look_for(struct web_site *s, struct web_answer *ret);
const struct web_run *web_find_run(const struct web_site *s, const char *id);
const struct web_dir *web_find_dir(const struct web_site *s, const char *id);

/* start.c: begins a study; answers by itself. */
void web_start(struct web_site *s, const struct web_request *q, struct web_answer *ret);
void web_list_studies(struct web_site *s, struct web_answer *ret);
void web_forget_studies(struct web_site *s); /* those that run go on */

void web_refuse(struct web_answer *ret, unsigned status, const char *words);

#endif
