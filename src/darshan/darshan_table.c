/* darshan_table.c -- every counter and every request of a log, as CSV.
 *
 * The columns, names, order and formats are those of darshan-parser and darshan-dxt-parser, so that
 * tables of both can be compared line by line.
 */
#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"
#include "darshan/darshan.h"

/* What stands before and after the counters of one record. */
struct table_record {
    FILE *out;
    struct wr_str before, after;
};

static void table_add_field(struct wr_str *out, const char *text)
{
    struct wr_str safe = {0};

    wr_str_add_harmless(&safe, text, strlen(text));
    const char *s = wr_str_get(&safe);

    if (!strpbrk(s, ",\"\n")) {
        wr_str_add(out, s);
    } else {
        wr_str_add(out, "\"");
        for (; *s; s++)
            wr_str_addf(out, *s == '"' ? "\"%c" : "%c", *s);
        wr_str_add(out, "\"");
    }
    wr_str_fini(&safe);
}

static void table_begin(struct table_record *t, const struct darshan_log *log,
                        enum darshan_module m, int64_t rank, uint64_t id)
{
    const char *name = darshan_name(log, id);
    const struct darshan_mount *mount = darshan_mount(log, name);

    if (!name)
        name = m == DARSHAN_BGQ ? "darshan-bgq-record" : "(null)";
    t->before.n = t->after.n = 0;
    wr_str_addf(&t->before, "%s,%" PRId64 ",%" PRIu64, darshan_module_names[m], rank, id);
    table_add_field(&t->after, name);
    wr_str_add(&t->after, ",");
    table_add_field(&t->after, mount ? mount->path : "UNKNOWN");
    wr_str_add(&t->after, ",");
    table_add_field(&t->after, mount ? mount->type : "UNKNOWN");
}

static void table_count(struct table_record *t, const char *name, int64_t v)
{
    fprintf(t->out, "%s,%s,%" PRId64 ",%s\n", t->before.s, name, v, t->after.s);
}

static void table_id(struct table_record *t, const char *name, uint64_t v)
{
    fprintf(t->out, "%s,%s,%" PRIu64 ",%s\n", t->before.s, name, v, t->after.s);
}

static void table_real(struct table_record *t, const char *name, double v)
{
    fprintf(t->out, "%s,%s,%f,%s\n", t->before.s, name, v, t->after.s);
}

static void table_text(struct table_record *t, const char *name, const char *v)
{
    struct wr_str field = {0};

    table_add_field(&field, v);
    fprintf(t->out, "%s,%s,%s,%s\n", t->before.s, name, wr_str_get(&field), t->after.s);
    wr_str_fini(&field);
}

static void table_put_records(struct table_record *t, const struct darshan_log *log,
                              enum darshan_module m)
{
    const struct darshan_form *f = &darshan_forms[m];

    for (size_t i = 0; i < log->records[m].n; i++) {
        const struct darshan_record *r = &log->records[m].v[i];
        uint32_t n = 0;

        table_begin(t, log, m, r->rank, r->id);
        for (uint32_t k = 0; k < f->count_rows; k++)
            if (f->count[k].until)
                continue;
            else if (!strcmp(f->count[k].name, "POSIX_RENAMED_FROM"))
                table_id(t, f->count[k].name, (uint64_t)r->count[n++]);
            else
                table_count(t, f->count[k].name, r->count[n++]);
        for (uint32_t k = 0; k < f->nreals; k++)
            table_real(t, f->real[k].name, r->real[k]);
    }
}

static void table_put_heatmaps(struct table_record *t, const struct darshan_log *log)
{
    char name[64];

    for (size_t i = 0; i < log->heatmaps.n; i++) {
        const struct darshan_heatmap *h = &log->heatmaps.v[i];

        table_begin(t, log, DARSHAN_HEATMAP, h->rank, h->id);
        table_real(t, "HEATMAP_F_BIN_WIDTH_SECONDS", h->width_s);
        for (uint32_t k = 0; k < 2 * h->nbins; k++) {
            bool write = k >= h->nbins;
            uint32_t bin = write ? k - h->nbins : k;

            snprintf(name, sizeof name, "HEATMAP_%s_BIN_%u", write ? "WRITE" : "READ", bin);
            table_count(t, name, write ? h->write[bin] : h->read[bin]);
        }
    }
}

/* ---- layouts of Lustre, in the words of lfs(1) ---- */

static const char *table_pattern(int64_t pattern)
{
    switch (pattern) {
    case 0:
        return "raid0";
    case 2:
        return "mdt";
    case 4:
        return "raid0,overstriped";
    case 8:
        return "foreign";
    default:
        return "N/A";
    }
}

static void table_flags(struct table_record *t, const char *name, int64_t flags)
{
    static const char *const names[] = {"stale",    "prefrd",  "prefwr",    "offline",
                                        "init",     "nosync",  "extension", "parity",
                                        "compress", "partial", "nocompr",   "neg"};
    struct wr_str s = {0};

    for (size_t i = 0; flags != -1 && i < sizeof names / sizeof *names; i++)
        if (flags >> i & 1)
            wr_str_addf(&s, "%s%s", s.n ? "," : "", names[i]);
    table_text(t, name, flags == -1 ? "N/A" : s.n ? s.s : "0");
    wr_str_fini(&s);
}

static void table_put_part(struct table_record *t, const struct darshan_layout_part *p,
                           unsigned number, const int64_t *ost)
{
    static const char *const names[DARSHAN_STRIPE_COUNTERS] = {
        "STRIPE_SIZE", "STRIPE_COUNT", "STRIPE_PATTERN", "FLAGS",
        "EXT_START",   "EXT_END",      "MIRROR_ID"};
    char name[64];

    for (int k = 0; k < DARSHAN_STRIPE_COUNTERS; k++) {
        snprintf(name, sizeof name, "LUSTRE_COMP%u_%s", number, names[k]);
        if (k == DARSHAN_STRIPE_PATTERN)
            table_text(t, name, table_pattern(p->count[k]));
        else if (k == DARSHAN_STRIPE_FLAGS)
            table_flags(t, name, p->count[k]);
        else
            table_count(t, name, p->count[k]);
    }
    snprintf(name, sizeof name, "LUSTRE_COMP%u_POOL_NAME", number);
    table_text(t, name, *p->pool ? p->pool : "N/A");
    for (int64_t i = 0; i < p->count[DARSHAN_STRIPE_COUNT]; i++) {
        snprintf(name, sizeof name, "LUSTRE_COMP%u_OST_ID_%" PRId64, number, i);
        table_count(t, name, ost[i]);
    }
}

static void table_put_layouts(struct table_record *t, const struct darshan_log *log)
{
    for (size_t i = 0; i < log->layouts.n; i++) {
        const struct darshan_layout *l = &log->layouts.v[i];
        const int64_t *ost = l->ost;

        table_begin(t, log, DARSHAN_LUSTRE, l->rank, l->id);
        table_count(t, "LUSTRE_NUM_COMPONENTS", l->nparts);
        table_count(t, "LUSTRE_NUM_STRIPES", l->nstripes);
        for (uint32_t k = 0; k < l->nparts; k++) {
            table_put_part(t, &l->part[k], k + 1, ost);
            ost += l->part[k].count[DARSHAN_STRIPE_COUNT];
        }
    }
}

void darshan_put_counters(const struct darshan_log *log, FILE *out)
{
    struct table_record t = {.out = out};

    fprintf(out, "module,rank,record,counter,value,file,mount,fs\n");
    for (int m = 0; m < DARSHAN_KNOWN; m++)
        if (m == DARSHAN_HEATMAP)
            table_put_heatmaps(&t, log);
        else if (m == DARSHAN_LUSTRE)
            table_put_layouts(&t, log);
        else
            table_put_records(&t, log, (enum darshan_module)m);
    wr_str_fini(&t.before);
    wr_str_fini(&t.after);
}

void darshan_put_segments(const struct darshan_log *log, FILE *out)
{
    fprintf(out, "module,rank,op,segment,offset,length,start_s,end_s,file\n");
    for (size_t i = 0; i < log->traces.n; i++) {
        const struct darshan_trace *t = &log->traces.v[i];
        const char *name = darshan_name(log, t->id);
        struct wr_str file = {0};

        table_add_field(&file, name ? name : "(null)");
        for (uint64_t k = 0; k < t->nwrites + t->nreads; k++) {
            const struct darshan_segment *s = &t->segment[k];
            bool read = k >= t->nwrites;

            fprintf(out, "%s,%" PRId64 ",%s,%" PRIu64 ",%" PRId64 ",%" PRId64 ",%.4f,%.4f,%s\n",
                    t->module == DARSHAN_DXT_POSIX ? "X_POSIX" : "X_MPIIO", t->rank,
                    read ? "read" : "write", read ? k - t->nwrites : k, s->offset, s->length,
                    s->start_s, s->end_s, wr_str_get(&file));
        }
        wr_str_fini(&file);
    }
}
