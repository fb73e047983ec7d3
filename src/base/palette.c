/* palette.c -- colours, marks, dashes and fills for the names of figures.
 *
 * Tables and pure functions. A name that is a cause (base/cause.h) has a colour of its own; the
 * others share palette_free[] by a hash of their letters, which is part of how documents look and
 * must not change.
 */
#include "base/palette.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

/* After Okabe and Ito's palette; every one has a contrast of 3:1 or more on its ground. */
const struct palette_colour palette_colours[PALETTE_COLOURS] = {
    {"#0068a8", "#5ab8ee", "34"}, /* 0: communication */
    {"#c44e00", "#f09a4a", "33"}, /* 1 */
    {"#00805c", "#3fce9f", "32"}, /* 2: compute */
    {"#a2428a", "#e08fca", "35"}, /* 3 */
    {"#8a6a00", "#e8d44c", "93"}, /* 4: I/O */
    {"#4d4d4d", "#c4c4c4", "37"}, /* 5: waiting */
    {"#b2182b", "#ff8080", "31"}, /* 6 */
    {"#6f51a1", "#b9a3ec", "95"}, /* 7 */
    {"#4f7d00", "#a6d75b", "92"}, /* 8 */
    {"#0b7a87", "#62d5e1", "36"}, /* 9 */
    {"#94532f", "#dba387", "91"}, /* 10: software */
    {"#7f7f7f", "#9b9b9b", "90"}, /* 11: nothing */
    {"#3f87bb", "#93d0f4", "94"}, /* 12: shades of communication */
    {"#00406b", "#3d93c8", "34"}, /* 13 */
    {"#a17f14", "#f2e48c", "93"}, /* 14: shades of I/O */
    {"#5e4800", "#b7a32c", "93"}, /* 15 */
    {"#7d7040", "#cfc58a", "93"}, /* 16 */
    {"#7a1f3d", "#d77f9e", "91"}, /* 17 */
};

/* Causes (base/cause.h), and kinds of time, under all the names that figures have for them. */
static const struct {
    const char *name;
    uint32_t colour;
} palette_causes[] = {
    {"compute", 2},
    {"computing", 2},
    {"work", 2},
    {"communication", 0},
    {"comm", 0},
    {"MPI", 0},
    {"transfer", 0},
    {"message", 0},
    {"messages", 0},
    {"network", 12},
    {"nic", 13},
    {"I/O", 4},
    {"io", 4},
    {"storage", 4},
    {"disk", 4},
    {"device", 4},
    {"device_queue", 14},
    {"device, behind own requests", 14},
    {"device_others", 15},
    {"device, behind other jobs", 15},
    {"reserve", 16},
    {"space in a buffer", 16},
    {"wait", 5},
    {"waiting", 5},
    {"wait for others", 5},
    {"partner", 5},
    {"other ranks", 5},
    {"software", 10},
    {"control", 10},
    {"idle", 11},
    {"unknown", 11},
    {"not known", 11},
    {"other", 11},
};
enum { NCAUSES = sizeof palette_causes / sizeof *palette_causes };

/* What is left for jobs and all other names; neighbours differ most. */
static const uint32_t palette_free[] = {1, 7, 8, 6, 9, 3, 17};
enum { NFREE = sizeof palette_free / sizeof *palette_free };

static bool palette_is_cause(const char *name, uint32_t *ret)
{
    for (size_t i = 0; i < NCAUSES; i++)
        if (!strcasecmp(palette_causes[i].name, name)) {
            *ret = palette_causes[i].colour;
            return true;
        }
    return false;
}

/* Names that differ in their last letter or digit, as those of jobs do, are neighbours. */
static uint32_t palette_place(const char *name)
{
    uint32_t h = 0;

    for (; *name; name++)
        h = h * 31 + (unsigned char)*name;
    return h % NFREE;
}

uint32_t palette_of(const char *name)
{
    uint32_t colour;

    return palette_is_cause(name, &colour) ? colour : palette_free[palette_place(name)];
}

/* ---- names of several figures ---- */

struct palette_choice {
    const struct palette_figures *f;
    uint32_t *colour;
    bool *chosen;
};

/* Does a name that stands in a figure with this one have the colour? */
static bool palette_beside(const struct palette_choice *c, size_t name, uint32_t colour)
{
    const struct palette_figures *f = c->f;

    assert(name < f->nnames);
    for (size_t k = 0; k < f->nfigures; k++) {
        bool here = false, taken = false;

        for (size_t i = f->of[k]; i < f->of[k + 1]; i++) {
            here |= f->id[i] == name;
            taken |= f->id[i] != name && c->chosen[f->id[i]] && c->colour[f->id[i]] == colour;
        }
        if (here && taken)
            return true;
    }
    return false;
}

/* Its own colour, or the next that no name beside it has; where there is none, its own. */
static uint32_t palette_next(const struct palette_choice *c, size_t name)
{
    uint32_t place = palette_place(c->f->name[name]);

    for (uint32_t i = 0; i < NFREE; i++) {
        uint32_t colour = palette_free[(place + i) % NFREE];

        if (!palette_beside(c, name, colour))
            return colour;
    }
    return palette_free[place];
}

/* In alphabetical order, so that the same names get the same colours however figures are ordered,
 * and whatever else a document holds. */
static void palette_choose_rest(struct palette_choice *c)
{
    for (size_t n = 0; n < c->f->nnames; n++) {
        size_t first = SIZE_MAX;

        for (size_t i = 0; i < c->f->nnames; i++)
            if (!c->chosen[i] &&
                (first == SIZE_MAX || strcmp(c->f->name[i], c->f->name[first]) < 0))
                first = i;
        if (first == SIZE_MAX)
            return;
        c->colour[first] = palette_next(c, first);
        c->chosen[first] = true;
    }
}

void palette_choose(const struct palette_figures *f, uint32_t *ret_colour)
{
    struct palette_choice c = {
        .f = f, .colour = ret_colour, .chosen = wr_zalloc(f->nnames + 1, sizeof *c.chosen)};

    for (size_t i = 0; i < f->nnames; i++)
        c.chosen[i] = palette_is_cause(f->name[i], &ret_colour[i]);
    palette_choose_rest(&c);
    free(c.chosen);
}

void palette_of_names(const char *const *name, size_t n, uint32_t *ret_colour)
{
    size_t *id = wr_zalloc(n + 1, sizeof *id), of[2] = {0, n};

    for (size_t i = 0; i < n; i++)
        id[i] = i;
    palette_choose(&(struct palette_figures){name, n, id, of, 1}, ret_colour);
    free(id);
}

/* ---- without colour ---- */

const char *palette_mark(size_t k)
{
    static const char *const paths[PALETTE_MARKS] = {
        "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",       /* circle */
        "M-3.6-3.6h7.2v7.2h-7.2z",                  /* square */
        "M0-4.8L4.6 3.6h-9.2z",                     /* triangle */
        "M0-5L5 0L0 5L-5 0z",                       /* diamond */
        "M-4-4L4 4M-4 4L4-4",                       /* cross */
        "M0-5V5M-5 0H5",                            /* plus */
        "M0 4.8L4.6-3.6h-9.2z",                     /* triangle, downwards */
        "M-5-2h10v4h-10z",                          /* bar, lying */
        "M-2-5h4v10h-4z",                           /* bar, standing */
        "M0-5V5M-4.3-2.5L4.3 2.5M-4.3 2.5L4.3-2.5", /* star */
        "M-4.5-3.6h9L-4.5 3.6h9z",                  /* hourglass */
        "M4.8 0L-3.6 4.6v-9.2z",                    /* triangle, to the right */
    };

    return paths[k % PALETTE_MARKS];
}

const char *palette_dash(size_t k)
{
    static const char *const dashes[] = {"",         "7 4", "2 4",         "9 3 2 3",
                                         "14 4",     "4 2", "9 3 2 3 2 3", "1 2",
                                         "14 3 3 3", "6 6", "3 5",         "12 2 1 2"};

    return dashes[k % (sizeof dashes / sizeof *dashes)];
}

/* After the shapes, letters; of capitals and others, an open point has the other one. */
const char *palette_glyph(size_t k, bool ascii, bool open)
{
    static const char *const shapes[2][8] = {{"●", "■", "▲", "◆", "▼", "★", "◀", "▶"},
                                             {"○", "□", "△", "◇", "▽", "☆", "◁", "▷"}};
    static const char *const letters[2][26] = {
        {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m",
         "n", "o", "p", "q", "r", "s", "t", "u", "v", "w", "x", "y", "z"},
        {"A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L", "M",
         "N", "O", "P", "Q", "R", "S", "T", "U", "V", "W", "X", "Y", "Z"}};

    return !ascii && k < 8 ? shapes[open][k] : letters[open][(ascii ? k : k - 8) % 26];
}

const char *palette_fill(size_t k, bool ascii)
{
    static const char *const fills[2][8] = {{"█", "▓", "▒", "░", "▚", "▤", "▥", "▦"},
                                            {"#", "=", ":", ".", "%", "+", "*", "~"}};

    return k < 8 ? fills[ascii][k] : palette_glyph(k - 8, true, true);
}
