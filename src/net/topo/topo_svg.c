/* topo_svg.c -- writes the picture of a machine: lines, spots, names, legend, caption. The places
 * of the spots come from svg_plan.c. */
#include "net/topo/svg.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/output.h"
#include "base/palette.h"
#include "topo_svg_priv.h"

enum {
    MOST_LINES = 5000,
    TITLED_LINES = 1200,  /* above that, lines have no titles */
    DRAWN_TERMS = 320,    /* above that, nodes are only counted */
    MOST_PORTS = 1 << 25, /* above that, only every n-th router's cables are read */
    TERMS_IN_ROW = 8,
};

/* Cables of one class between two spots. */
struct line {
    uint32_t a, b;
    uint8_t cls;
    bool dead;
    uint32_t cables;
};

/* How links are drawn: in the colour that their class has in all figures, and with dashes that
 * distinguish classes without colour. Failed links come after the classes. */
struct svg_look {
    uint32_t ink[TOPO_MAX_CLASSES];
    uint32_t nclasses;
    bool failed; /* some did */
};

static void svg_looks(const struct topo *t, const struct line *line, size_t n, struct svg_look *ret)
{
    const char *name[TOPO_MAX_CLASSES];

    *ret = (struct svg_look){.nclasses = t->nclasses - TOPO_OWN};
    for (uint32_t i = 0; i < ret->nclasses; i++)
        name[i] = t->class_name[TOPO_OWN + i];
    palette_of_names(name, ret->nclasses, ret->ink);
    for (size_t i = 0; i < n; i++)
        ret->failed = ret->failed || line[i].dead;
}

static void svg_add_stroke(const struct svg_look *look, uint32_t k, double width,
                           struct wr_str *out)
{
    bool failed = k >= look->nclasses;
    const char *dash = failed ? "1 4" : palette_dash(k);

    wr_str_addf(out, " stroke=\"%s\" stroke-width=\"%.1f\"",
                failed ? "#000" : palette_colours[look->ink[k]].light, width);
    if (*dash)
        wr_str_addf(out, " stroke-dasharray=\"%s\"", dash);
}

/* The length of a valid UTF-8 character at s, or 0. */
static int svg_utf8(const char *s)
{
    unsigned char c = (unsigned char)*s;
    int n = c < 0x80             ? 1
            : (c & 0xe0) == 0xc0 ? 2
            : (c & 0xf0) == 0xe0 ? 3
            : (c & 0xf8) == 0xf0 ? 4
                                 : 0;

    for (int i = 1; i < n; i++)
        if (((unsigned char)s[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

static void svg_add_escaped(struct wr_str *out, const char *s)
{
    static const struct {
        char c;
        const char *as;
    } special[] = {{'<', "&lt;"}, {'>', "&gt;"}, {'&', "&amp;"}, {'"', "&quot;"}};

    while (*s) {
        const char *as = NULL;
        int n = svg_utf8(s);

        for (size_t i = 0; i < sizeof special / sizeof special[0]; i++)
            if (*s == special[i].c)
                as = special[i].as;
        if (!n || (unsigned char)*s < 0x20)
            as = "?";
        if (as)
            wr_str_add(out, as);
        else
            wr_str_addn(out, s, (size_t)n);
        s += n ? n : 1;
    }
}

static int svg_by_ends(const void *a, const void *b)
{
    const struct line *x = a, *y = b;

    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    if (x->b != y->b)
        return x->b < y->b ? -1 : 1;
    if (x->cls != y->cls)
        return x->cls - y->cls;
    return x->dead - y->dead;
}

/* The cables between spots, those between the same two merged. */
static struct line *svg_gather(const struct topo *t, const struct svg_plan *p, size_t *ret_n)
{
    WR_VEC(struct line) v = {0};
    uint32_t skip = (uint32_t)((uint64_t)t->nrouters * t->nports / MOST_PORTS) + 1;
    size_t n = 0;

    for (uint32_t r = 0; r < t->nrouters; r += skip)
        for (uint32_t q = 0; q < t->nports; q++) {
            const struct topo_port *port = topo_port(t, r, q);
            bool cable =
                port->kind == TOPO_ROUTER || (port->kind == TOPO_DEAD && port->cls != TOPO_EJECT);

            if (!cable || (port->peer < r && skip == 1) || p->spot_of[r] == p->spot_of[port->peer])
                continue;
            uint32_t a = p->spot_of[r], b = p->spot_of[port->peer];

            wr_vec_push(&v, (struct line){a < b ? a : b, a < b ? b : a, port->cls,
                                          port->kind == TOPO_DEAD, 1});
        }
    if (v.n)
        qsort(v.v, v.n, sizeof *v.v, svg_by_ends);
    for (size_t i = 0; i < v.n; i++)
        if (n && !svg_by_ends(&v.v[n - 1], &v.v[i]))
            v.v[n - 1].cables++;
        else
            v.v[n++] = v.v[i];
    *ret_n = n;
    return v.v;
}

static void svg_add_line_title(const struct topo *t, const struct svg_plan *p, const struct line *l,
                               struct wr_str *out)
{
    char a[TOPO_NAME_MAX], b[TOPO_NAME_MAX];

    topo_router_name(t, p->spot[l->a].first, a);
    topo_router_name(t, p->spot[l->b].first, b);
    wr_str_add(out, "<title>");
    svg_add_escaped(out, a);
    wr_str_add(out, " to ");
    svg_add_escaped(out, b);
    wr_str_addf(out, ": %u ", l->cables);
    svg_add_escaped(out, t->class_name[l->cls]);
    wr_str_addf(out, " cable%s%s</title>", l->cables > 1 ? "s" : "", l->dead ? ", failed" : "");
}

static void svg_add_line(const struct topo *t, const struct svg_plan *p,
                         const struct svg_look *look, const struct line *l, bool titled,
                         struct wr_str *out)
{
    const struct svg_spot *a = &p->spot[l->a], *b = &p->spot[l->b];
    double dx = b->x - a->x, dy = b->y - a->y, length = hypot(dx, dy);
    double mx = (a->x + b->x) / 2, my = (a->y + b->y) / 2, width = 0.8 + 0.4 * log2(l->cables);
    double bulge = fmin(0.18, 80 / length);

    wr_str_addf(out, "<path d=\"M%.1f %.1f", a->x, a->y);
    if (p->bend == SVG_STRAIGHT || length <= p->straight)
        wr_str_addf(out, "L%.1f %.1f\"", b->x, b->y);
    else if (p->bend == SVG_TO_CENTRE)
        wr_str_addf(out, "Q%.1f %.1f %.1f %.1f\"", mx + (p->width / 2 - mx) * 0.6,
                    my + (p->height / 2 - my) * 0.6, b->x, b->y);
    else
        wr_str_addf(out, "Q%.1f %.1f %.1f %.1f\"", mx + dy * bulge, my - dx * bulge, b->x, b->y);
    svg_add_stroke(look, l->dead ? look->nclasses : (uint32_t)(l->cls - TOPO_OWN),
                   width < 4 ? width : 4, out);
    wr_str_add(out, titled ? ">" : "/>\n");
    if (!titled)
        return;
    svg_add_line_title(t, p, l, out);
    wr_str_add(out, "</path>\n");
}

/* Terminals stand in rows behind each other, on the outer side. */
static double svg_row_away(uint32_t row)
{
    return 9 + 3.6 * row;
}

static void svg_add_terminals(const struct svg_spot *s, struct wr_str *out)
{
    for (uint32_t i = 0; i < s->terms; i++) {
        uint32_t row = i / TERMS_IN_ROW, rest = s->terms - row * TERMS_IN_ROW;
        uint32_t in_row = rest < TERMS_IN_ROW ? rest : TERMS_IN_ROW;
        double along = (i % TERMS_IN_ROW - (in_row - 1) / 2.0) * 3.6, away = svg_row_away(row);

        wr_str_addf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"1.4\"/>\n",
                    s->x + away * s->out_x - along * s->out_y,
                    s->y + away * s->out_y + along * s->out_x);
    }
}

static void svg_add_names(const struct topo *t, const struct svg_plan *p, struct wr_str *out)
{
    char name[TOPO_NAME_MAX];

    wr_str_add(out, "<g font-size=\"7\" fill=\"#222\" stroke=\"#fff\" stroke-width=\"2\" "
                    "paint-order=\"stroke\">\n");
    for (uint32_t i = 0; i < p->nspots; i++) {
        const struct svg_spot *s = &p->spot[i];
        uint32_t rows = t->nterms <= DRAWN_TERMS ? (s->terms + TERMS_IN_ROW - 1) / TERMS_IN_ROW : 0;
        double away = p->name_out ? svg_row_away(rows) : -11;
        const char *anchor = "middle";

        if (p->name_out && fabs(s->out_x) > 0.3)
            anchor = s->out_x > 0 ? "start" : "end";
        topo_router_name(t, s->first, name);
        wr_str_addf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", s->x + away * s->out_x,
                    s->y + away * s->out_y + 2.5, anchor);
        svg_add_escaped(out, name);
        wr_str_add(out, "</text>\n");
    }
    wr_str_add(out, "</g>\n");
}

static void svg_add_spots(const struct topo *t, const struct svg_plan *p, struct wr_str *out)
{
    double side = p->nspots > 400 ? 4 : 8;
    char name[TOPO_NAME_MAX];

    wr_str_add(out, "<g fill=\"#555\">\n");
    for (uint32_t i = 0; i < p->nspots && t->nterms <= DRAWN_TERMS; i++)
        svg_add_terminals(&p->spot[i], out);
    wr_str_add(out, "</g>\n<g fill=\"#fff\" stroke=\"#222\">\n");
    for (uint32_t i = 0; i < p->nspots; i++) {
        const struct svg_spot *s = &p->spot[i];

        topo_router_name(t, s->first, name);
        wr_str_addf(out,
                    "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.0f\" height=\"%.0f\" rx=\"1.5\"><title>",
                    s->x - side / 2, s->y - side / 2, side, side);
        svg_add_escaped(out, name);
        if (s->routers > 1)
            wr_str_addf(out, " and %u more routers", s->routers - 1);
        wr_str_addf(out, ", %u node%s</title></rect>\n", s->terms, s->terms == 1 ? "" : "s");
    }
    wr_str_add(out, "</g>\n");
    if (p->named)
        svg_add_names(t, p, out);
}

/* Title and legend are as large as they look good on a picture shown whole. */
static double svg_text_unit(const struct svg_plan *p)
{
    return fmax(1, p->width / 900);
}

static double svg_legend_lines(const struct svg_look *look, const struct svg_plan *p)
{
    double per_line = floor(p->width / (130 * svg_text_unit(p)));

    return ceil((look->nclasses + look->failed) / per_line);
}

static void svg_add_legend(const struct topo *t, const struct svg_plan *p,
                           const struct svg_look *look, const uint64_t *cables, struct wr_str *out)
{
    double u = svg_text_unit(p), x = 20 * u, y = p->height + 14 * u;

    wr_str_addf(out, "<g font-size=\"%.0f\" fill=\"#222\">\n", 12 * u);
    for (uint32_t k = 0; k < look->nclasses + look->failed; k++) {
        wr_str_addf(out, "<path d=\"M%.0f %.0fh%.0f\"", x, y - 4 * u, 22 * u);
        svg_add_stroke(look, k, 3 * u, out);
        wr_str_addf(out, "/><text x=\"%.0f\" y=\"%.0f\">", x + 28 * u, y);
        svg_add_escaped(out, k < look->nclasses ? t->class_name[TOPO_OWN + k] : "failed");
        if (k < look->nclasses)
            wr_str_addf(out, ", %llu", (unsigned long long)cables[TOPO_OWN + k]);
        wr_str_add(out, "</text>\n");
        x += 130 * u;
        if (x + 130 * u > p->width) {
            x = 20 * u;
            y += 18 * u;
        }
    }
    wr_str_add(out, "</g>\n");
}

static void svg_add_caption(const struct topo *t, const struct svg_plan *p, const char *title,
                            size_t nlines, size_t every, struct wr_str *out)
{
    double u = svg_text_unit(p);

    wr_str_addf(out, "<text x=\"%.0f\" y=\"%.0f\" font-size=\"%.0f\" fill=\"#222\">", 20 * u,
                -34 * u, 16 * u);
    svg_add_escaped(out, title);
    wr_str_addf(out,
                "</text>\n<text x=\"%.0f\" y=\"%.0f\" font-size=\"%.0f\" fill=\"#555\">%s: %u "
                "router%s, %u node%s",
                20 * u, -16 * u, 11 * u, t->ops->kind.name, t->nrouters,
                t->nrouters == 1 ? "" : "s", t->nterms, t->nterms == 1 ? "" : "s");
    if (t->ngroups > 1)
        wr_str_addf(out, ", %u groups", t->ngroups);
    if (p->nspots < t->nrouters)
        wr_str_addf(out, "; %u spots stand for several routers each", p->nspots);
    if (every > 1)
        wr_str_addf(out, "; one line of %zu is drawn, of %zu", every, nlines);
    wr_str_add(out, "</text>\n");
}

static void svg_count_cables(const struct topo *t, uint64_t *cables)
{
    for (uint32_t r = 0; r < t->nrouters; r++)
        for (uint32_t q = 0; q < t->nports; q++) {
            const struct topo_port *port = topo_port(t, r, q);

            if (port->kind == TOPO_ROUTER && port->peer > r)
                cables[port->cls]++;
        }
}

static void svg_add_lines(const struct topo *t, const struct svg_plan *p,
                          const struct svg_look *look, const struct line *line, size_t n,
                          size_t every, struct wr_str *out)
{
    wr_str_addf(out, "<g fill=\"none\" stroke-opacity=\"%.2f\">\n",
                n > 1500  ? 0.35
                : n > 300 ? 0.6
                          : 0.85);
    for (size_t i = 0; i < n; i += every)
        svg_add_line(t, p, look, &line[i], n <= TITLED_LINES, out);
    wr_str_add(out, "</g>\n");
}

void topo_svg(const struct topo *t, const char *title, struct wr_str *out)
{
    uint64_t cables[TOPO_MAX_CLASSES] = {0};
    struct svg_look look;
    struct svg_plan p;
    size_t n;

    assert(title && out);
    topo_svg_plan(t, &p);
    assert(p.nspots && p.width > 0 && p.height > 0);
    svg_count_cables(t, cables);
    struct line *line = svg_gather(t, &p, &n);
    svg_looks(t, line, n, &look);
    size_t every = (n + MOST_LINES - 1) / MOST_LINES;
    double u = svg_text_unit(&p), top = 58 * u;
    double height = top + p.height + (20 + 18 * svg_legend_lines(&look, &p)) * u;

    wr_str_addf(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 %.0f %.0f %.0f\" "
                "width=\"%.0f\" height=\"%.0f\" font-family=\"sans-serif\">\n" WR_SVG_MARK
                "\n<rect y=\"%.0f\" width=\"%.0f\" height=\"%.0f\" fill=\"#fff\"/>\n",
                -top, p.width, height, p.width, height, -top, p.width, height);
    svg_add_caption(t, &p, title, n, every, out);
    svg_add_lines(t, &p, &look, line, n, every, out);
    svg_add_spots(t, &p, out);
    svg_add_legend(t, &p, &look, cables, out);
    wr_str_add(out, "</svg>\n");
    free(line);
    free(p.spot);
    free(p.spot_of);
}
