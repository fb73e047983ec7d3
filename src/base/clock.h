/* clock.h -- the real time a program spends, as opposed to the time it simulates. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

uint64_t wr_clock_ns(void);     /* never goes back; only differences mean something */
uint64_t wr_clock_cpu_ns(void); /* processor time of all threads of this process */
uint64_t wr_max_rss_b(void);    /* the most memory this process ever held */

/* Now, or `unix_s`, in UTC: "2026-03-14T09:26:53Z". */
enum { WR_CLOCK_TEXT = 32 };
void wr_clock_utc(char into[WR_CLOCK_TEXT]);
void wr_clock_utc_of(char into[WR_CLOCK_TEXT], int64_t unix_s);

#endif
