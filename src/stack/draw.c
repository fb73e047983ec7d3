/* draw.c -- one operation through all layers, as text, as a picture, and for viewers of traces.
 *
 * `weir stack trace` calls it with a trace (stack_trace.h) after the simulation. It only reads the
 * trace; every index of a visit or message is one of the trace's activities.
 */
#include "stack/draw.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/output.h"

uint32_t stack_find_call(const struct stack_trace *t, uint16_t machine, uint32_t nth)
{
    for (size_t i = 0; i < t->activity.n; i++)
        if (t->activity.v[i].machine == machine && t->activity.v[i].parent == UINT32_MAX && !nth--)
            return (uint32_t)i;
    return UINT32_MAX;
}

/* A child begins after its parent, so its number is larger. */
bool *stack_family(const struct stack_trace *t, uint32_t root)
{
    assert(root < t->activity.n);
    bool *of = wr_zalloc(t->activity.n + 1, 1);

    of[root] = true;
    for (size_t i = (size_t)root + 1; i < t->activity.n; i++) {
        uint32_t p = t->activity.v[i].parent;

        of[i] = p < i && of[p];
    }
    return of;
}

struct line {
    uint64_t t_ns;
    uint32_t at;
    bool sent;
};

static int draw_compare_times(const void *a, const void *b)
{
    const struct line *x = a, *y = b;

    if (x->t_ns != y->t_ns)
        return x->t_ns < y->t_ns ? -1 : 1;
    if (x->sent != y->sent)
        return x->sent ? 1 : -1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static struct line *draw_lines(const struct stack_trace *t, const bool *of, bool visits,
                               size_t *ret_n)
{
    struct line *l = wr_zalloc(t->visit.n + t->sent.n + 1, sizeof *l);
    size_t n = 0;

    assert(of);
    for (size_t i = 0; visits && i < t->visit.n; i++)
        if (of[t->visit.v[i].op])
            l[n++] = (struct line){t->visit.v[i].t_ns, (uint32_t)i, false};
    for (size_t i = 0; i < t->sent.n; i++)
        if (of[t->sent.v[i].op])
            l[n++] = (struct line){t->sent.v[i].t_ns, (uint32_t)i, true};
    qsort(l, n, sizeof *l, draw_compare_times);
    *ret_n = n;
    return l;
}

uint32_t *stack_messages_of(const struct stack_trace *t, const bool *of, size_t *ret_n)
{
    struct line *l = draw_lines(t, of, false, ret_n);
    uint32_t *at = wr_zalloc(*ret_n + 1, sizeof *at);

    for (size_t i = 0; i < *ret_n; i++)
        at[i] = l[i].at;
    free(l);
    return at;
}

struct stack_node_name stack_node_name(const struct stack_trace *t, uint32_t node)
{
    struct stack_node_name name;

    if (node < t->clients)
        snprintf(name.s, sizeof name.s, "client %u", node);
    else
        snprintf(name.s, sizeof name.s, "server %u", node - t->clients);
    return name;
}

void stack_draw_visit(const struct stack_trace *t, const struct stack_visit *v, uint64_t t0,
                      FILE *out)
{
    const struct stack_machine *m = &t->fs->machine.v[t->fs->state.v[v->state].machine];

    fprintf(out, "%12.3f  %-9s  %-16s  %s:%s", (double)(v->t_ns - t0) * 1e-3,
            stack_node_name(t, v->node).s, m->layer, m->name, t->fs->state_name.v[v->state]);
    fprintf(out, "  %s", stack_action_name(v->action));
    if (v->code)
        fprintf(out, " %" PRId64, v->code);
    fprintf(out, "  work %.3f", (double)v->exec_ns * 1e-3);
    if (v->wait_ns)
        fprintf(out, "  wait %.3f", (double)v->wait_ns * 1e-3);
    if (!t->assumed && t->timings && t->timings->assumed[v->state])
        fprintf(out, "  assumed");
    fputc('\n', out);
}

void stack_draw_sent(const struct stack_trace *t, const struct stack_sent *s, uint64_t t0,
                     FILE *out)
{
    fprintf(out, "%12.3f  %-9s  -> %s: %s%s, %" PRIu64 " B\n", (double)(s->t_ns - t0) * 1e-3,
            stack_node_name(t, s->from).s, stack_node_name(t, s->to).s,
            t->fs->message.v[s->message].name,
            s->data     ? " data"
            : s->answer ? " answer"
                        : "",
            s->bytes);
}

void stack_draw_text(const struct stack_trace *t, const bool *of, FILE *out)
{
    size_t n;
    struct line *l = draw_lines(t, of, true, &n);

    fprintf(out, "%12s  (all times in us%s)\n", "time", t->assumed ? "; assumed" : "");
    if (t->beyond)
        fprintf(out, "%12s  %s\n", "", t->beyond);
    for (size_t i = 0; i < n; i++) {
        if (!l[i].sent) {
            stack_draw_visit(t, &t->visit.v[l[i].at], l[0].t_ns, out);
            continue;
        }
        stack_draw_sent(t, &t->sent.v[l[i].at], l[0].t_ns, out);
    }
    free(l);
}

/* Columns of the nodes that take part, clients first. */
static uint32_t *draw_columns(const struct stack_trace *t, const struct line *l, size_t n,
                              uint32_t nodes, uint32_t *ret_used)
{
    uint32_t *column = wr_zalloc(nodes, sizeof *column), used = 0;

    for (size_t i = 0; i < n; i++) {
        column[t->sent.v[l[i].at].from] = 1;
        column[t->sent.v[l[i].at].to] = 1;
    }
    for (uint32_t i = 0; i < nodes; i++)
        if (column[i])
            column[i] = ++used;
    *ret_used = used;
    return column;
}

/* Text inside XML; names of machine files are plain, but a path may be anything. */
static void draw_escape_xml(const char *text, FILE *out)
{
    for (; *text; text++) {
        const char *as = *text == '<'   ? "&lt;"
                         : *text == '>' ? "&gt;"
                         : *text == '&' ? "&amp;"
                         : *text == '"' ? "&quot;"
                                        : NULL;

        if (as)
            fputs(as, out);
        else
            fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
    }
}

enum { LEFT = 110, WIDE = 190, HIGH = 26, TOP = 70 };

static void draw_svg_arrow(const struct stack_trace *t, const struct stack_sent *s, uint64_t t0,
                           const uint32_t *column, size_t row, FILE *out)
{
    uint32_t x1 = LEFT + (column[s->from] - 1) * WIDE, x2 = LEFT + (column[s->to] - 1) * WIDE;
    size_t y = TOP + row * HIGH;

    fprintf(out,
            "<text x=\"90\" y=\"%zu\" text-anchor=\"end\" class=\"t\">%.1f us</text>\n"
            "<line x1=\"%u\" y1=\"%zu\" x2=\"%u\" y2=\"%zu\" class=\"%s\" "
            "marker-end=\"url(#a)\"/>\n"
            "<text x=\"%u\" y=\"%zu\" text-anchor=\"middle\">%s%s %" PRIu64 " B</text>\n",
            y + 4, (double)(s->t_ns - t0) * 1e-3, x1, y, x2, y, s->data ? "d" : "m", (x1 + x2) / 2,
            y - 4, t->fs->message.v[s->message].name,
            s->data     ? " data"
            : s->answer ? " answer"
                        : "",
            s->bytes);
}

void stack_draw_svg(const struct stack_trace *t, const bool *of, const char *title, FILE *out)
{
    size_t n;
    struct line *l = draw_lines(t, of, false, &n);
    uint32_t nodes = 1, used;

    for (size_t i = 0; i < t->sent.n; i++) {
        nodes = t->sent.v[i].from >= nodes ? t->sent.v[i].from + 1 : nodes;
        nodes = t->sent.v[i].to >= nodes ? t->sent.v[i].to + 1 : nodes;
    }
    uint32_t *column = draw_columns(t, l, n, nodes, &used);
    size_t high = TOP + n * HIGH + 20;

    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%zu\" "
            "font-family=\"sans-serif\" font-size=\"11\">\n" WR_SVG_MARK "\n<title>",
            LEFT + used * WIDE, high);
    draw_escape_xml(title, out);
    fputs("</title>\n"
          "<style>.m{stroke:#246}.d{stroke:#a40;stroke-width:2}.t{fill:#777}"
          ".l{stroke:#bbb}</style>\n"
          "<defs><marker id=\"a\" markerWidth=\"8\" markerHeight=\"8\" refX=\"7\" refY=\"3\" "
          "orient=\"auto\"><path d=\"M0,0L7,3L0,6z\" fill=\"#246\"/></marker></defs>\n"
          "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
          "<text x=\"10\" y=\"18\" font-size=\"13\">",
          out);
    draw_escape_xml(title, out);
    fputs("</text>\n", out);
    for (uint32_t i = 0; i < nodes; i++)
        if (column[i]) {
            uint32_t x = LEFT + (column[i] - 1) * WIDE;

            fprintf(out,
                    "<text x=\"%u\" y=\"40\" text-anchor=\"middle\">%s</text>\n"
                    "<line x1=\"%u\" y1=\"46\" x2=\"%u\" y2=\"%zu\" class=\"l\"/>\n",
                    x, stack_node_name(t, i).s, x, x, high - 10);
        }
    for (size_t i = 0; i < n; i++)
        draw_svg_arrow(t, &t->sent.v[l[i].at], l[0].t_ns, column, i, out);
    fputs("</svg>\n", out);
    free(column);
    free(l);
}

/* Slices of one track must lie inside or beside each other, so what a layer of a node does at the
 * same time has tracks of its own. */
struct lane {
    uint32_t node;
    uint16_t layer, number; /* the first of a layer is 0 */
    uint64_t until_ns;
};

struct lanes {
    WR_VEC(struct lane) v;
    size_t layers;
};

static uint32_t draw_track(const struct lanes *lanes, uint32_t layer, uint32_t number)
{
    return number * (uint32_t)(lanes->layers + 1) + layer + 1;
}

static void draw_perfetto_track(const struct stack_trace *t, const struct lanes *lanes,
                                uint32_t node, uint32_t layer, uint32_t number, FILE *out)
{
    fprintf(out,
            ",\n{\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"name\":\"thread_name\","
            "\"args\":{\"name\":\"%s",
            node + 1, draw_track(lanes, layer, number),
            layer < t->fs->layer.n ? t->fs->layer.v[layer] : "messages");
    if (number)
        fprintf(out, " %u", number + 1);
    fputs("\"}}", out);
}

static uint32_t draw_lane(const struct stack_trace *t, struct lanes *lanes,
                          const struct stack_visit *v, uint16_t layer, FILE *out)
{
    uint64_t end = v->t_ns + v->exec_ns + v->wait_ns;
    uint16_t number = 0;

    for (size_t i = 0; i < lanes->v.n; i++) {
        struct lane *l = &lanes->v.v[i];

        if (l->node != v->node || l->layer != layer)
            continue;
        number++;
        if (l->until_ns > v->t_ns)
            continue;
        l->until_ns = end;
        return draw_track(lanes, layer, l->number);
    }
    wr_vec_push(&lanes->v, (struct lane){v->node, layer, number, end});
    if (number)
        draw_perfetto_track(t, lanes, v->node, layer, number, out);
    return draw_track(lanes, layer, number);
}

static void draw_perfetto_visit(const struct stack_trace *t, struct lanes *lanes,
                                const struct stack_visit *v, FILE *out)
{
    const struct stack_machine *m = &t->fs->machine.v[t->fs->state.v[v->state].machine];
    static const char *const parts[] = {"", " (waits)"};
    uint32_t tid = draw_lane(t, lanes, v, m->layer_id, out);

    for (int wait = 0; wait < 2; wait++) {
        uint64_t from = wait ? v->t_ns + v->exec_ns : v->t_ns;
        uint64_t took = wait ? v->wait_ns : v->exec_ns;

        if (wait && !took)
            continue;
        fprintf(out,
                ",\n{\"ph\":\"X\",\"pid\":%u,\"tid\":%u,\"ts\":%.3f,\"dur\":%.3f,"
                "\"name\":\"%s:%s%s\",\"cat\":\"%s\",\"args\":{\"code\":%" PRId64
                ",\"tag\":%" PRId64 ",\"action\":\"%s\",\"operation\":%u}}",
                v->node + 1, tid, (double)from * 1e-3, (double)took * 1e-3, m->name,
                t->fs->state_name.v[v->state], parts[wait],
                stack_class_names[t->fs->state.v[v->state].cls], v->code, v->tag,
                stack_action_name(v->action), v->op);
    }
}

/* A message is a point in time on the track of its sender. */
static void draw_perfetto_message(const struct stack_trace *t, const struct lanes *lanes,
                                  const struct stack_sent *s, FILE *out)
{
    fprintf(
        out,
        ",\n{\"ph\":\"i\",\"s\":\"t\",\"pid\":%u,\"tid\":%u,\"ts\":%.3f,\"name\":\"%s%s to %s\","
        "\"args\":{\"bytes\":%" PRIu64 "}}",
        s->from + 1, draw_track(lanes, (uint32_t)lanes->layers, 0), (double)s->t_ns * 1e-3,
        t->fs->message.v[s->message].name,
        s->data     ? " data"
        : s->answer ? " answer"
                    : "",
        stack_node_name(t, s->to).s, s->bytes);
}

void stack_draw_perfetto(const struct stack_trace *t, const bool *of, FILE *out)
{
    struct lanes lanes = {.layers = t->fs->layer.n};
    size_t n;
    struct line *l = draw_lines(t, of, true, &n);
    uint32_t nodes = 0;

    fprintf(
        out,
        "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
        "{\"ph\":\"M\",\"pid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"weir stack%s\"}}",
        t->assumed  ? ", times assumed"
        : t->beyond ? ", times extrapolated"
                    : "");
    for (size_t i = 0; i < t->visit.n; i++)
        if (t->visit.v[i].node >= nodes)
            nodes = t->visit.v[i].node + 1;
    for (uint32_t i = 0; i < nodes; i++) {
        fprintf(out,
                ",\n{\"ph\":\"M\",\"pid\":%u,\"name\":\"process_name\",\"args\":{\"name\":\"%s\"}}",
                i + 1, stack_node_name(t, i).s);
        for (uint32_t k = 0; k <= t->fs->layer.n; k++)
            draw_perfetto_track(t, &lanes, i, k, 0, out);
    }
    for (size_t i = 0; i < n; i++)
        if (l[i].sent)
            draw_perfetto_message(t, &lanes, &t->sent.v[l[i].at], out);
        else
            draw_perfetto_visit(t, &lanes, &t->visit.v[l[i].at], out);
    wr_vec_fini(&lanes.v);
    free(l);
    fputs("\n]}\n", out);
}
