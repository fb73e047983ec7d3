/* progress.c -- the line that shows how far a command is.
 *
 * See progress.h. Writes to stderr only, at most ten times a second on a terminal and every five
 * seconds elsewhere.
 */
#include "base/progress.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/note.h"
#include "base/str.h"

static const uint64_t rewrite_every_ns = 100000000, line_every_ns = 5000000000;

void wr_progress_init(struct wr_progress *p, enum wr_progress_mode mode, const char *what,
                      const char *unit, double total)
{
    assert(what && unit && total >= 0);
    const char *term = getenv("TERM");
    bool terminal = isatty(STDERR_FILENO) && !(term && !strcmp(term, "dumb"));
    bool on = !wr_note_is_quiet() &&
              (mode == WR_PROGRESS_ALWAYS || (mode == WR_PROGRESS_AUTO && terminal));

    *p = (struct wr_progress){.what = what,
                              .unit = unit,
                              .total = total,
                              .to = on ? stderr : NULL,
                              .rewrite = terminal,
                              .now_ns = wr_clock_ns};
}

/* Three digits are read at a glance; more only flicker. */
static void progress_add_number(struct wr_str *line, double v)
{
    static const struct {
        double from;
        const char *suffix;
    } steps[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e4, "k"}};

    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        if (v >= steps[i].from) {
            double unit = steps[i].from < 1e6 ? 1e3 : steps[i].from;

            wr_str_addf(line, "%.3g%s", v / unit, steps[i].suffix);
            return;
        }
    wr_str_addf(line, v >= 1000 ? "%.0f" : "%.3g", v);
}

static void progress_add_time_left(struct wr_str *line, double s)
{
    uint64_t t = (uint64_t)ceil(s);

    if (t < 120)
        wr_str_addf(line, "  %llu s left", (unsigned long long)t);
    else if (t < 7200)
        wr_str_addf(line, "  %llu min left", (unsigned long long)(t + 59) / 60);
    else if (t < 360000000)
        wr_str_addf(line, "  %llu h %02llu min left", (unsigned long long)t / 3600,
                    (unsigned long long)t / 60 % 60);
}

static void progress_format(const struct wr_progress *p, double done, double elapsed_s,
                            struct wr_str *line)
{
    const char *gap = *p->unit ? " " : "";
    double rate = elapsed_s > 0 ? (done - p->first) / elapsed_s : 0;

    wr_str_addf(line, "%s:", p->what);
    if (p->total > 0)
        wr_str_addf(line, " %.0f %% ", fmin(100, floor(100 * done / p->total)));
    wr_str_add(line, " ");
    /* A run that waits for its last messages is past its end, not at 103 of 100. */
    progress_add_number(line, p->total > 0 ? fmin(done, p->total) : done);
    wr_str_addf(line, "%s%s", gap, p->unit);
    if (p->total > 0) {
        wr_str_add(line, " of ");
        progress_add_number(line, p->total);
        wr_str_addf(line, "%s%s", gap, p->unit);
    }
    if (rate <= 0)
        return;
    wr_str_add(line, "  ");
    progress_add_number(line, rate);
    wr_str_addf(line, "%s%s/s", gap, p->unit);
    if (p->total > done)
        progress_add_time_left(line, (p->total - done) / rate);
}

void wr_progress_set(struct wr_progress *p, double done)
{
    if (!p->to)
        return;
    uint64_t now = p->now_ns(), every = p->rewrite ? rewrite_every_ns : line_every_ns;

    if (!p->begun) {
        p->begun = true;
        p->started_ns = now;
        p->first = done;
        p->next_ns = now + every; /* short work shows nothing at all */
        return;
    }
    if (now < p->next_ns)
        return;
    p->next_ns = now + every;

    struct wr_str line = {0};
    progress_format(p, done, (double)(now - p->started_ns) * 1e-9, &line);
    /* "\033[K" wipes what a longer line left behind. */
    fprintf(p->to, p->rewrite ? "\r%s\033[K" : "%s\n", line.s);
    fflush(p->to);
    p->dirty = p->rewrite;
    wr_str_fini(&line);
}

void wr_progress_fini(struct wr_progress *p)
{
    if (p->to && p->dirty) {
        fputs("\r\033[K", p->to);
        fflush(p->to);
    }
    p->dirty = false;
}
