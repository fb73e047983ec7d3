#include "page_priv.h"

#include <string.h>

char *page_short_name(struct wr_arena *a, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');

    return wr_arena_strndup(a, name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
}

void page_sources_init(struct page_sources *s)
{
    static const char *const head[] = {"run file", "state", "weir", "seed", "started", "command"};

    *s = (struct page_sources){.table = {.ncols = 6, .nleft = 6}};
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        table_add(&s->table, "%s", head[i]);
}

static bool find_title(struct page_sources *s, struct run_reader *r, struct wr_err *err)
{
    struct run_rows *q;
    bool more = false;

    if (!run_query(&q, r, "SELECT value FROM summary WHERE key = 'title'", NULL, 0, err))
        return false;
    bool ok = run_rows_next(q, &more, err);
    const char *title = ok && more ? run_rows_text(q, 0, NULL) : "";
    s->title = *title ? wr_arena_strdup(&s->text, title) : page_short_name(&s->text, run_path(r));
    run_rows_close(q);
    return ok;
}

bool page_sources_add(struct page_sources *s, struct run_reader *r, struct wr_err *err)
{
    const struct run_info *i = run_info(r);

    if (!s->title && !find_title(s, r, err))
        return false;
    table_add(&s->table, "%s", run_path(r));
    table_add(&s->table, "%s", run_status_name(i->status));
    table_add(&s->table, "%s", i->weir_version);
    table_add(&s->table, "%llu", (unsigned long long)i->seed);
    table_add(&s->table, "%s", i->started);
    table_add(&s->table, "%s", i->command);
    if (i->status != RUN_COMPLETE)
        wr_str_addf(&s->warnings,
                    "%s is %s%s%s: its numbers may change; run it again for all of "
                    "them.\n",
                    run_path(r), run_status_name(i->status), *i->reason ? ", " : "", i->reason);
    return true;
}

void page_sources_table(struct page_sources *s, const char *path)
{
    if (!s->title)
        s->title = page_short_name(&s->text, path);
    table_add(&s->table, "%s", path);
    for (int i = 1; i < 6; i++)
        table_add(&s->table, "%s", i == 1 ? "points" : "");
}

void page_sources_fini(struct page_sources *s)
{
    table_fini(&s->table);
    wr_str_fini(&s->warnings);
    wr_arena_fini(&s->text);
}

static const char page_css[] =
    "html{background:var(--bg);color:var(--fg);"
    "font:16px/1.5 system-ui,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}\n"
    "body{max-width:60rem;margin:2rem auto;padding:0 1rem}\n"
    "h1{font-size:1.6rem;line-height:1.25}h2{font-size:1.2rem;margin:2.2rem 0 .4rem}\n"
    "figure{margin:0}figure svg{width:100%;max-width:52rem;height:auto;display:block}\n"
    "figcaption,.note{max-width:46rem}.note,caption{color:var(--dim)}\n"
    ".warning{border-left:4px solid var(--c1);padding:.2rem .8rem}\n"
    ".scroll{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem;"
    "font-variant-numeric:tabular-nums}\n"
    "caption{text-align:left;padding:.4rem 0}\n"
    "th,td{padding:.2rem .8rem .2rem 0;text-align:right;white-space:nowrap;"
    "border-bottom:1px solid var(--grid)}th.w,td.w{text-align:left}\n"
    "th{vertical-align:bottom}tbody tr:hover{background:var(--grid)}\n"
    "@media print{body{max-width:none;margin:0}}\n";

void page_begin(const char *title, const struct page_sources *s, struct wr_str *out)
{
    wr_str_add(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                    "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                    "<meta http-equiv=\"Content-Security-Policy\" "
                    "content=\"default-src 'none';style-src 'unsafe-inline'\">\n<title>");
    report_escape(out, title);
    wr_str_add(out, "</title>\n<style>\n");
    report_svg_css(out);
    wr_str_add(out, page_css);
    wr_str_add(out, "</style>\n</head>\n<body>\n<main>\n<h1>");
    report_escape(out, title);
    wr_str_add(out, "</h1>\n");
    if (s->warnings.n) {
        wr_str_add(out, "<p class=\"warning\">");
        report_escape(out, s->warnings.s);
        wr_str_add(out, "</p>\n");
    }
}

void page_figure(const struct report_chart *c, const char *id, struct wr_str *out)
{
    wr_str_add(out, "<h2>");
    report_escape(out, c->title);
    wr_str_add(out, "</h2>\n<figure>\n");
    report_chart_svg_inline(c, id, out);
    wr_str_add(out, "<figcaption>");
    report_escape(out, c->desc);
    wr_str_add(out, "</figcaption>\n</figure>\n");
}

void page_end(const struct page_sources *s, struct wr_str *out)
{
    wr_str_add(out, "<h2>Where this comes from</h2>\n");
    table_html(&s->table, "Read again with weir show; the file holds its whole configuration.",
               out);
    wr_str_add(out, "</main>\n</body>\n</html>\n");
}
