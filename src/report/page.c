/* page.c -- see page.h: the head of a page, its style and its content security policy.
 *
 * Nothing runs but what the policy names by its hash.
 */
#include "report/page.h"

#include <string.h>

#include "base/version.h"
#include "report/chart.h"
#include "report/doc.h"
#include "sha256_priv.h"

static const char page_css[] =
    "html{background:var(--bg);color:var(--fg);"
    "font:16px/1.5 system-ui,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}\n"
    "body{max-width:60rem;margin:2rem auto;padding:0 1rem}\n"
    "h1{font-size:1.6rem;line-height:1.25}h2{font-size:1.3rem;margin:2.6rem 0 .4rem}"
    "h3{font-size:1.05rem;margin:1.6rem 0 .3rem}\n"
    "a{color:var(--c0)}nav ul{padding:0;margin:.5rem 0;list-style:none;display:flex;"
    "flex-wrap:wrap;gap:.1rem 1.2rem}\n"
    "figure{margin:0}figure svg{width:100%;max-width:52rem;height:auto;display:block}\n"
    "figure img{width:100%;max-width:52rem;height:auto;display:block}\n"
    "pre{font-size:.85rem;overflow-x:auto;padding:.5rem .8rem;border:1px solid var(--grid)}\n"
    "figcaption,.note,.says{max-width:46rem}.note,caption{color:var(--dim)}\n"
    ".says{white-space:pre-line}.save{font-size:.85rem;margin:.2rem 0}\n"
    ".warning{border-left:4px solid var(--c1);padding:.2rem .8rem}\n"
    ".scroll{overflow-x:auto;max-height:36rem}table{border-collapse:collapse;font-size:.9rem;"
    "font-variant-numeric:tabular-nums}\n"
    "caption{text-align:left;padding:.4rem 0}\n"
    "th,td{padding:.2rem .8rem .2rem 0;text-align:right;white-space:nowrap;"
    "border-bottom:1px solid var(--grid)}th.w,td.w{text-align:left}"
    "td.s{white-space:normal;min-width:20rem}\n"
    "th{vertical-align:bottom}tbody tr:hover{background:var(--grid)}\n"
    "@media print{body{max-width:none;margin:0}nav,.save{display:none}"
    "figure,tr{break-inside:avoid}h2,h3{break-after:avoid}"
    ".scroll{overflow:visible;max-height:none}}\n";

static void page_put_hash(const char *text, struct wr_str *out)
{
    uint8_t hash[32];

    report_sha256(text, strlen(text), hash);
    wr_str_add(out, " 'sha256-");
    report_base64(out, hash, sizeof hash);
    wr_str_add(out, "'");
}

void report_page_begin(const char *kind, const char *title, const struct report_bundled *code,
                       struct wr_str *out)
{
    struct wr_str css = {0};

    wr_str_add(&css, "\n");
    report_svg_css(&css);
    wr_str_add(&css, page_css);
    wr_str_addf(out, "<!DOCTYPE html>\n<html lang=\"en\" data-weir=\"%s\">\n<head>\n", kind);
    wr_str_add(out, "<meta charset=\"utf-8\">\n"
                    "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none';"
                    "img-src data:;base-uri 'none';form-action 'none';style-src");
    page_put_hash(wr_str_get(&css), out);
    if (code)
        page_put_hash(code->css, out);
    if (code) {
        wr_str_add(out, ";script-src");
        page_put_hash(code->js, out);
    }
    wr_str_add(out, "\">\n<title>");
    report_escape(out, title);
    wr_str_addf(out, "</title>\n<meta name=\"generator\" content=\"weir %s\">\n<style>",
                wr_version_number());
    wr_str_addn(out, css.s, css.n);
    wr_str_add(out, "</style>\n");
    if (code) {
        wr_str_add(out, "<style>");
        wr_str_add(out, code->css);
        wr_str_add(out, "</style>\n");
    }
    wr_str_add(out, "</head>\n<body>\n");
    wr_str_fini(&css);
}

void report_page_end(struct wr_str *out)
{
    wr_str_add(out, "</body>\n</html>\n");
}

void report_page_picture(const char *svg, size_t len, const char *alt, struct wr_str *out)
{
    wr_str_add(out, "<img alt=\"");
    report_escape(out, alt);
    wr_str_add(out, "\" src=\"data:image/svg+xml;base64,");
    report_base64(out, svg, len);
    wr_str_add(out, "\">\n");
}
