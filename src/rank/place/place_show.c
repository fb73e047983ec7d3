/* place_show.c -- the map of nodes and jobs as text and as a picture; see place_show.h. */
#include "place_show.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/output.h"
#include "base/palette.h"

enum { NLETTERS = 62, ROW_NODES = 128, LEAST_NODES = 32, LEFT = 56, TOP = 40, LEGEND = 20 };

char place_letter(uint32_t job)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwyz0123456789";

    /* No x, which stands for an excluded node. */
    return letters[job % (NLETTERS - 1)];
}

static char show_letter_of(int32_t owner)
{
    return owner >= 0                ? place_letter((uint32_t)owner)
           : owner == PLACE_EXCLUDED ? 'x'
           : owner == PLACE_DOWN     ? '!'
                                     : '.';
}

struct place_shape place_shape(const struct place *p, uint32_t job)
{
    uint8_t *router = wr_zalloc(p->nrouters, 1);
    uint32_t *group = wr_zalloc(p->ngroups, sizeof *group);
    struct place_shape s = {.least = UINT32_MAX};

    for (uint32_t i = 0; i < p->nnodes; i++) {
        if (p->owner[i] != (int32_t)job)
            continue;
        s.nodes++;
        s.routers += !router[p->router[i]];
        router[p->router[i]] = 1;
        group[p->group[i]]++;
    }
    for (uint32_t g = 0; g < p->ngroups; g++) {
        if (!group[g])
            continue;
        s.groups++;
        s.least = group[g] < s.least ? group[g] : s.least;
        s.most = group[g] > s.most ? group[g] : s.most;
    }
    s.least = s.groups ? s.least : 0;
    free(router);
    free(group);
    return s;
}

/* The nodes group by group: those of g are node[first[g]] .. node[first[g + 1] - 1]. */
struct by_group {
    uint32_t *first, *node;
};

static struct by_group show_sort_groups(const struct place *p)
{
    struct by_group s = {wr_zalloc(p->ngroups + 2ull, sizeof *s.first),
                         wr_alloc(p->nnodes * sizeof *s.node)};

    for (uint32_t i = 0; i < p->nnodes; i++)
        s.first[p->group[i] + 2]++;
    for (uint32_t g = 2; g < p->ngroups + 2; g++)
        s.first[g] += s.first[g - 1];
    for (uint32_t i = 0; i < p->nnodes; i++)
        s.node[s.first[p->group[i] + 1]++] = i;
    return s;
}

static void show_free_groups(struct by_group *s)
{
    free(s->first);
    free(s->node);
}

uint32_t place_text(const struct place_view *v, uint32_t most, struct wr_str *out)
{
    const struct place *p = v->p;
    struct by_group s = show_sort_groups(p);
    uint32_t shown = 0, g = 0;

    for (; g < p->ngroups && shown < most; g++) {
        uint32_t last = TOPO_NONE;

        if (s.first[g] == s.first[g + 1]) /* spines only */
            continue;
        wr_str_addf(out, "%5u ", g);
        for (uint32_t i = s.first[g]; i < s.first[g + 1]; i++) {
            uint32_t node = s.node[i];

            if (p->router[node] != last)
                wr_str_add(out, " ");
            last = p->router[node];
            wr_str_addf(out, "%c", show_letter_of(p->owner[node]));
        }
        wr_str_add(out, "\n");
        shown++;
    }
    show_free_groups(&s);
    return p->ngroups - g;
}

/* ---- the picture ---- */

/* A job has the colour that it has in all figures; its letter identifies it without colour. */
static const char *show_colour_of(const uint32_t *ink, int32_t owner)
{
    return owner >= 0                ? palette_colours[ink[owner]].light
           : owner == PLACE_EXCLUDED ? "#333333"
           : owner == PLACE_DOWN     ? "#ff0000"
                                     : "#e8e8e8";
}

/* A letter in the middle of a rectangle at x of width w, if it fits. */
static void show_add_letter(int32_t owner, uint32_t x, uint32_t y, uint32_t w, uint32_t cell,
                            struct wr_str *out)
{
    if (cell < 5 || owner == PLACE_FREE)
        return;
    wr_str_addf(out,
                "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%u\" fill=\"#ffffff\" "
                "text-anchor=\"middle\" pointer-events=\"none\">%c</text>\n",
                x + w / 2.0, y + cell - 2.0, cell - 1, show_letter_of(owner));
}

static void show_add_escaped(struct wr_str *out, const char *s)
{
    for (; *s; s++) {
        const char *as = *s == '<' ? "&lt;" : *s == '&' ? "&amp;" : *s == '"' ? "&quot;" : NULL;

        if (as)
            wr_str_add(out, as);
        else
            wr_str_addn(out, (unsigned char)*s < 0x20 ? "?" : s, 1);
    }
}

/* Neighbours of one router that look the same are one rectangle. */
static void show_add_row(const struct place *p, const uint32_t *ink, const uint32_t *node,
                         uint32_t n, uint32_t y, uint32_t cell, struct wr_str *out)
{
    for (uint32_t i = 0; i < n;) {
        uint32_t from = i;

        while (i < n && p->owner[node[i]] == p->owner[node[from]] &&
               p->router[node[i]] == p->router[node[from]])
            i++;
        wr_str_addf(out,
                    "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" fill=\"%s\">"
                    "<title>nodes %u to %u, router %u</title></rect>\n",
                    LEFT + from * cell, y, (i - from) * cell - (cell > 3), cell - (cell > 3),
                    show_colour_of(ink, p->owner[node[from]]), node[from], node[i - 1],
                    p->router[node[from]]);
        show_add_letter(p->owner[node[from]], LEFT + from * cell, y, (i - from) * cell - 1, cell,
                        out);
    }
}

/* Adds to `y` what it draws; *widest: nodes in the longest row. */
static uint32_t show_add_groups(const struct place *p, const uint32_t *ink, uint32_t cell,
                                uint32_t y, uint32_t *widest, struct wr_str *out)
{
    struct by_group s = show_sort_groups(p);

    for (uint32_t g = 0; g < p->ngroups; g++) {
        uint32_t n = s.first[g + 1] - s.first[g];

        *widest = n > *widest ? n < ROW_NODES ? n : ROW_NODES : *widest;
        if (n && (cell > 6 || g % 16 == 0))
            wr_str_addf(out, "<text x=\"%u\" y=\"%u\" text-anchor=\"end\">%u</text>\n", LEFT - 6,
                        y + (cell > 6 ? cell - 1 : 6), g);
        for (uint32_t k = 0; k < n; k += ROW_NODES, y += cell)
            show_add_row(p, ink, s.node + s.first[g] + k, n - k < ROW_NODES ? n - k : ROW_NODES, y,
                         cell, out);
        y += n && cell > 3 ? 1 : 0;
    }
    show_free_groups(&s);
    return y;
}

static void show_add_legend(const struct place_view *v, const uint32_t *ink, uint32_t y,
                            struct wr_str *out)
{
    static const struct {
        int32_t owner;
        const char *name;
    } others[] = {{PLACE_FREE, "free"}, {PLACE_EXCLUDED, "excluded"}, {PLACE_DOWN, "down"}};

    for (uint32_t i = 0; i < v->p->njobs + 3; i++, y += LEGEND) {
        int32_t owner = i < v->p->njobs ? (int32_t)i : others[i - v->p->njobs].owner;

        wr_str_addf(out, "<rect x=\"%u\" y=\"%u\" width=\"12\" height=\"12\" fill=\"%s\"/>\n", LEFT,
                    y, show_colour_of(ink, owner));
        show_add_letter(owner, LEFT, y, 12, 12, out);
        wr_str_addf(out, "<text x=\"%u\" y=\"%u\">", LEFT + 18, y + 10);
        show_add_escaped(out, i < v->p->njobs ? v->names[i] : others[i - v->p->njobs].name);
        wr_str_add(out, "</text>\n");
    }
}

void place_svg(const struct place_view *v, struct wr_str *out)
{
    const struct place *p = v->p;
    uint32_t cell = p->nnodes <= 8192 ? 9 : p->nnodes <= 65536 ? 5 : 2;
    struct wr_str body = {0};
    uint32_t *ink = wr_zalloc(p->njobs + 1ull, sizeof *ink), widest = LEAST_NODES;

    palette_of_names(v->names, p->njobs, ink);
    uint32_t y = show_add_groups(p, ink, cell, TOP, &widest, &body) + LEGEND;

    show_add_legend(v, ink, y, &body);
    free(ink);
    y += (p->njobs + 3) * LEGEND + 8;
    uint32_t width = LEFT + widest * cell + 16;

    wr_str_addf(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
                "viewBox=\"0 0 %u %u\" font-family=\"sans-serif\" font-size=\"10\">\n" WR_SVG_MARK
                "\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n"
                "<text x=\"8\" y=\"20\" font-size=\"14\">",
                width, y, width, y);
    show_add_escaped(out, v->title);
    wr_str_add(out, "</text>\n");
    wr_str_addn(out, wr_str_get(&body), body.n);
    wr_str_add(out, "</svg>\n");
    wr_str_fini(&body);
}
