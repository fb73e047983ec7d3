#include "net/topo/svg.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "svg_priv.h"

enum {
    MOST_LINES = 5000,
    TITLED_LINES = 1200,  /* above that, lines do not tell what they are */
    NAMED_SPOTS = 96,     /* above that, spots have their name only as a tooltip */
    DRAWN_TERMS = 320,    /* above that, nodes are only counted */
    MOST_PORTS = 1 << 25, /* above that, only every n-th router's cables are looked at */
    TOP = 58,
    BOTTOM = 40
};

/* Cables of one class between two spots. */
struct line {
    uint32_t a, b;
    uint8_t cls;
    bool dead;
    uint32_t cables;
};

/* Distinguishable also for the colour-blind (Okabe and Ito). */
static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                      "#e69f00", "#56b4e9", "#7a5195", "#8a8a00"};
enum { NCOLOURS = sizeof colours / sizeof colours[0] };

static const char *colour(uint32_t cls)
{
    return colours[(cls - TOPO_OWN) % NCOLOURS];
}

/* The length of a valid UTF-8 character at s, or 0. */
static int utf8(const char *s)
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

static void add_escaped(struct wr_str *out, const char *s)
{
    static const struct {
        char c;
        const char *as;
    } special[] = {{'<', "&lt;"}, {'>', "&gt;"}, {'&', "&amp;"}, {'"', "&quot;"}};

    while (*s) {
        const char *as = NULL;
        int n = utf8(s);

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

static int by_ends(const void *a, const void *b)
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
static struct line *gather(const struct topo *t, const struct svg_plan *p, size_t *ret_n)
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
        qsort(v.v, v.n, sizeof *v.v, by_ends);
    for (size_t i = 0; i < v.n; i++)
        if (n && !by_ends(&v.v[n - 1], &v.v[i]))
            v.v[n - 1].cables++;
        else
            v.v[n++] = v.v[i];
    *ret_n = n;
    return v.v;
}

static void add_line_title(const struct topo *t, const struct svg_plan *p, const struct line *l,
                           struct wr_str *out)
{
    char a[TOPO_NAME_MAX], b[TOPO_NAME_MAX];

    topo_router_name(t, p->spot[l->a].first, a);
    topo_router_name(t, p->spot[l->b].first, b);
    wr_str_add(out, "<title>");
    add_escaped(out, a);
    wr_str_add(out, " to ");
    add_escaped(out, b);
    wr_str_addf(out, ": %u ", l->cables);
    add_escaped(out, t->class_name[l->cls]);
    wr_str_addf(out, " cable%s%s</title>", l->cables > 1 ? "s" : "", l->dead ? ", failed" : "");
}

static void add_line(const struct topo *t, const struct svg_plan *p, const struct line *l,
                     bool titled, struct wr_str *out)
{
    const struct svg_spot *a = &p->spot[l->a], *b = &p->spot[l->b];
    double dx = b->x - a->x, dy = b->y - a->y, length = hypot(dx, dy);
    double mx = (a->x + b->x) / 2, my = (a->y + b->y) / 2, width = 0.8 + 0.4 * log2(l->cables);

    wr_str_addf(out, "<path d=\"M%.1f %.1f", a->x, a->y);
    if (p->bend == SVG_STRAIGHT || length <= p->straight)
        wr_str_addf(out, "L%.1f %.1f\"", b->x, b->y);
    else if (p->bend == SVG_TO_CENTRE)
        wr_str_addf(out, "Q%.1f %.1f %.1f %.1f\"", mx + (p->width / 2 - mx) * 0.6,
                    my + (p->height / 2 - my) * 0.6, b->x, b->y);
    else
        wr_str_addf(out, "Q%.1f %.1f %.1f %.1f\"", mx + dy * 0.18 + dx * 0.02,
                    my - dx * 0.18 + dy * 0.02, b->x, b->y);
    wr_str_addf(out, " stroke=\"%s\" stroke-width=\"%.1f\"%s", l->dead ? "#c00" : colour(l->cls),
                width < 4 ? width : 4, l->dead ? " stroke-dasharray=\"3 3\"" : "");
    wr_str_add(out, titled ? ">" : "/>\n");
    if (!titled)
        return;
    add_line_title(t, p, l, out);
    wr_str_add(out, "</path>\n");
}

static void add_terminals(const struct svg_spot *s, struct wr_str *out)
{
    /* In rows of eight behind each other, on the outer side. */
    for (uint32_t i = 0; i < s->terms; i++) {
        uint32_t row = i / 8, in_row = s->terms - row * 8 < 8 ? s->terms - row * 8 : 8;
        double along = (i % 8 - (in_row - 1) / 2.0) * 3.6, away = 9 + 3.6 * row;

        wr_str_addf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"1.4\"/>\n",
                    s->x + away * s->out_x - along * s->out_y,
                    s->y + away * s->out_y + along * s->out_x);
    }
}

static void add_spots(const struct topo *t, const struct svg_plan *p, struct wr_str *out)
{
    double side = p->nspots > 400 ? 4 : 8;
    char name[TOPO_NAME_MAX];

    wr_str_add(out, "<g fill=\"#555\">\n");
    for (uint32_t i = 0; i < p->nspots && t->nterms <= DRAWN_TERMS; i++)
        add_terminals(&p->spot[i], out);
    wr_str_add(out, "</g>\n<g fill=\"#fff\" stroke=\"#222\">\n");
    for (uint32_t i = 0; i < p->nspots; i++) {
        const struct svg_spot *s = &p->spot[i];

        topo_router_name(t, s->first, name);
        wr_str_addf(out,
                    "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.0f\" height=\"%.0f\" rx=\"1.5\"><title>",
                    s->x - side / 2, s->y - side / 2, side, side);
        add_escaped(out, name);
        if (s->routers > 1)
            wr_str_addf(out, " and %u more routers", s->routers - 1);
        wr_str_addf(out, ", %u node%s</title></rect>\n", s->terms, s->terms == 1 ? "" : "s");
    }
    wr_str_add(out, "</g>\n");
    if (p->nspots > NAMED_SPOTS)
        return;
    wr_str_add(out, "<g font-size=\"7\" fill=\"#222\" text-anchor=\"middle\">\n");
    for (uint32_t i = 0; i < p->nspots; i++) {
        const struct svg_spot *s = &p->spot[i];

        topo_router_name(t, s->first, name);
        wr_str_addf(out, "<text x=\"%.1f\" y=\"%.1f\">", s->x - 11 * s->out_x,
                    s->y - 11 * s->out_y + 2);
        add_escaped(out, name);
        wr_str_add(out, "</text>\n");
    }
    wr_str_add(out, "</g>\n");
}

static void add_legend(const struct topo *t, const struct svg_plan *p, const uint64_t *cables,
                       struct wr_str *out)
{
    double x = 20, y = p->height + 14;

    wr_str_add(out, "<g font-size=\"12\" fill=\"#222\">\n");
    for (uint32_t c = TOPO_OWN; c < t->nclasses; c++) {
        wr_str_addf(out,
                    "<path d=\"M%.0f %.0fh22\" stroke=\"%s\" stroke-width=\"3\"/><text x=\"%.0f\" "
                    "y=\"%.0f\">",
                    x, y - 4, colour(c), x + 28, y);
        add_escaped(out, t->class_name[c]);
        wr_str_addf(out, ", %llu</text>\n", (unsigned long long)cables[c]);
        x += 130;
        if (x + 130 > p->width && c + 1 < t->nclasses) {
            x = 20;
            y += 18;
        }
    }
    wr_str_add(out, "</g>\n");
}

static void add_caption(const struct topo *t, const struct svg_plan *p, const char *title,
                        size_t nlines, size_t every, struct wr_str *out)
{
    wr_str_add(out, "<text x=\"20\" y=\"-34\" font-size=\"16\" fill=\"#222\">");
    add_escaped(out, title);
    wr_str_addf(
        out,
        "</text>\n<text x=\"20\" y=\"-16\" font-size=\"11\" fill=\"#555\">%s: %u routers, %u "
        "nodes",
        t->ops->kind.name, t->nrouters, t->nterms);
    if (t->ngroups > 1)
        wr_str_addf(out, ", %u groups", t->ngroups);
    if (p->nspots < t->nrouters)
        wr_str_addf(out, "; %u spots stand for several routers each", p->nspots);
    if (every > 1)
        wr_str_addf(out, "; one of %zu lines of %zu is drawn", every, nlines);
    wr_str_add(out, "</text>\n");
}

static void count_cables(const struct topo *t, uint64_t *cables)
{
    for (uint32_t r = 0; r < t->nrouters; r++)
        for (uint32_t q = 0; q < t->nports; q++) {
            const struct topo_port *port = topo_port(t, r, q);

            if (port->kind == TOPO_ROUTER && port->peer > r)
                cables[port->cls]++;
        }
}

void topo_svg(const struct topo *t, const char *title, struct wr_str *out)
{
    uint64_t cables[TOPO_MAX_CLASSES] = {0};
    struct svg_plan p;
    size_t n;

    topo_svg_plan(t, &p);
    count_cables(t, cables);
    struct line *line = gather(t, &p, &n);
    size_t every = (n + MOST_LINES - 1) / MOST_LINES;
    double legend = BOTTOM + 18 * floor((t->nclasses - TOPO_OWN) * 130 / p.width);
    double width = fmax(p.width, 420);

    wr_str_addf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 %d %.0f %.0f\" width=\"%.0f\" "
        "height=\"%.0f\" font-family=\"sans-serif\">\n"
        "<rect y=\"%d\" width=\"%.0f\" height=\"%.0f\" fill=\"#fff\"/>\n",
        -TOP, width, p.height + TOP + legend, width, p.height + TOP + legend, -TOP, width,
        p.height + TOP + legend);
    add_caption(t, &p, title, n, every, out);
    wr_str_addf(out, "<g fill=\"none\" stroke-opacity=\"%.2f\">\n",
                n > 1500  ? 0.35
                : n > 300 ? 0.6
                          : 0.85);
    for (size_t i = 0; i < n; i += every)
        add_line(t, &p, &line[i], n <= TITLED_LINES, out);
    wr_str_add(out, "</g>\n");
    add_spots(t, &p, out);
    add_legend(t, &p, cables, out);
    wr_str_add(out, "</svg>\n");
    free(line);
    free(p.spot);
    free(p.spot_of);
}
