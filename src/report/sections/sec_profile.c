/* sec_profile.c -- a profiled job: what each program, mount, file and call path moved, sizes of
 * accesses, and the balance of bytes counted by the kernel and by the library; or a job imported
 * from a Darshan log.
 *
 * Bytes that only the kernel counted are reported in the section's sentence, before any figure is
 * believed. Of an imported log it is which part of the order of requests was measured.
 */
#include <math.h>
#include <string.h>

#include "sections_priv.h"

enum { SINCE = 10, MOST = 40 /* rows of a table */ };

struct balance {
    double lost, kernel, library, by_kernel, processes, unseen;
    double read, written; /* on storage */
};

static bool sec_profile_on_balance(void *ctx, const struct run_rows *q)
{
    struct balance *b = ctx;

    *b = (struct balance){run_rows_real(q, 0), run_rows_real(q, 1), run_rows_real(q, 2),
                          run_rows_real(q, 3), run_rows_real(q, 4), run_rows_real(q, 5),
                          run_rows_real(q, 6), run_rows_real(q, 7)};
    return false;
}

static bool sec_profile_print_balance(struct report_section *s, struct run_reader *r,
                                      struct wr_err *err)
{
    struct balance b = {0};

    if (!run_each(r,
                  "SELECT max(CASE key WHEN 'balance_unexplained_bytes' THEN value END),"
                  " max(CASE key WHEN 'balance_kernel_bytes' THEN value END),"
                  " max(CASE key WHEN 'balance_library_bytes' THEN value END),"
                  " max(CASE key WHEN 'balance_by_kernel_bytes' THEN value END),"
                  " max(CASE key WHEN 'processes_by_kernel' THEN value END),"
                  " max(CASE key WHEN 'processes_unseen' THEN value END),"
                  " max(CASE key WHEN 'read_bytes' THEN value END),"
                  " max(CASE key WHEN 'write_bytes' THEN value END) FROM summary",
                  NULL, sec_profile_on_balance, &b, err))
        return false;
    double all = b.kernel > b.lost ? b.kernel : b.lost;

    s->says = wr_arena_printf(
        s->arena,
        "On storage %.4g MB were read and %.4g MB written. The library saw %.4g MB, storage or "
        "not, and the kernel alone %.4g MB in %.0f processes "
        "without the library; %.3g MB (%.2g %%) are unexplained%s.",
        fmax(b.read, 0) / 1e6, fmax(b.written, 0) / 1e6, b.library / 1e6, b.by_kernel / 1e6,
        b.processes, b.lost / 1e6, all > 0 ? 100 * b.lost / all : 0,
        b.unseen > 0 ? ", and programs without the library ended unseen" : "");
    return true;
}

static bool sec_profile_on_order(void *ctx, const struct run_rows *q)
{
    struct report_section *s = ctx;
    double all = run_rows_real(q, 0) + run_rows_real(q, 1) + run_rows_real(q, 2);

    s->says = wr_arena_printf(
        s->arena,
        "Imported from a Darshan log %s of %.0f processes: %.0f of %.0f reads and writes were "
        "recorded one by one, %.0f are placed in the heatmap's bins, %.0f are spread between a "
        "file's first and last.",
        run_rows_text(q, 3, NULL), run_rows_real(q, 4), run_rows_real(q, 0), all,
        run_rows_real(q, 1), run_rows_real(q, 2));
    return false;
}

/* What was measured of an imported log. */
static bool sec_profile_print_order(struct report_section *s, struct run_reader *r,
                                    struct wr_err *err)
{
    return run_each(r,
                    "SELECT max(CASE key WHEN 'requests_measured' THEN value END),"
                    " max(CASE key WHEN 'requests_binned' THEN value END),"
                    " max(CASE key WHEN 'requests_spread' THEN value END),"
                    " max(CASE key WHEN 'darshan_version' THEN value END),"
                    " max(CASE key WHEN 'processes' THEN value END) FROM summary",
                    NULL, sec_profile_on_order, s, err);
}

/* ---- bars ---- */

enum { MOST_BARS = 20 };

/* Bytes that entities of one sort moved, most first. */
#define BYTES_OF(kind)                                                                            \
    "SELECT '', substr(entity, length('" kind                                                     \
    ":') + 1), sum(CASE metric WHEN 'read_bytes' THEN value"                                      \
    " END) AS reads, sum(CASE metric WHEN 'write_bytes' THEN value END) AS writes FROM slice"     \
    " WHERE metric IN ('read_bytes', 'write_bytes') AND entity GLOB '" kind ":*' GROUP BY entity" \
    " ORDER BY sum(value) DESC, entity"

/* 4096 as "4 KiB" */
#define SIZE_TEXT(b)                                                            \
    "CASE WHEN " b " >= 1073741824 THEN (" b " / 1073741824) || ' GiB' WHEN " b \
    " >= 1048576 THEN (" b " / 1048576) || ' MiB' WHEN " b " >= 1024 THEN (" b  \
    " / 1024) || ' KiB' ELSE " b " || ' B' END"

static const struct sections_bars profile_pictures[] = {
    {"processes", "Bytes by program", "Processes of one program are added up. Most was moved by",
     "bytes", "B",
     "SELECT '', coalesce(p.command, 'process ' || r.rank) || CASE WHEN count(*) > 1 THEN ' (' ||"
     " count(*) || ' processes)' ELSE '' END, sum(r.bytes_read) AS reads, sum(r.bytes_written) AS"
     " writes FROM rank_stat r LEFT JOIN process p ON p.app = r.app AND p.rank = r.rank"
     " GROUP BY coalesce(p.command, r.rank) ORDER BY sum(ifnull(r.bytes_read, 0) +"
     " ifnull(r.bytes_written, 0)) DESC, 2"},
    {"mounts", "Bytes by mount", "Most was moved on", "bytes", "B", BYTES_OF("mount")},
    {"files", "Bytes by file",
     "The files with most bytes, of those that were counted by name; first is", "bytes", "B",
     BYTES_OF("file")},
    {"calls", "Bytes by call path", "Functions that called reads and writes; most was moved by",
     "bytes", "B", BYTES_OF("call")},
    {"sizes", "Access sizes of reads and writes",
     "Number of calls by the size of the request. Most frequent:", "calls", "",
     "SELECT '', " SIZE_TEXT("low_b") " || ' to ' || " SIZE_TEXT(
         "max(high_b)") ", sum(CASE op WHEN 'read' THEN calls END) AS reads, sum(CASE op WHEN"
                        " 'write' THEN calls END) AS writes FROM access_size GROUP BY low_b ORDER"
                        " BY low_b"},
};

static const struct sheet {
    const char *id, *title, *sql;
} profile_sheets[] = {
    {"balance", "Bytes of processes: by the library, by the kernel alone, and unexplained.",
     "SELECT command, pid, counted_by AS \"counted by\", library_read + library_written AS"
     " \"library B\", booked_read + booked_written AS \"kernel alone B\", start_read AS"
     " \"at start B\", kernel_read + kernel_written AS \"kernel B\", unexplained_read +"
     " unexplained_written AS \"unexplained B\" FROM process ORDER BY unexplained_read +"
     " unexplained_written DESC, kernel_read + kernel_written DESC, pid LIMIT ?1"},
    {"rates", "Calls per second of the I/O phase, and which part of accesses is sequential.",
     "WITH v AS (SELECT max(CASE key WHEN 'life_ns' THEN value END) / 1e9 AS life,"
     " max(CASE key WHEN 'io_phase_ns' THEN value END) / 1e9 AS s,"
     " max(CASE key WHEN 'read_calls' THEN value END) AS reads,"
     " max(CASE key WHEN 'write_calls' THEN value END) AS writes,"
     " max(CASE key WHEN 'sync_calls' THEN value END) AS syncs,"
     " max(CASE key WHEN 'open_calls' THEN value END) AS opens,"
     " max(CASE key WHEN 'meta_calls' THEN value END) AS metas,"
     " max(CASE key WHEN 'read_sequential' THEN value END) AS read_order,"
     " max(CASE key WHEN 'write_sequential' THEN value END) AS write_order FROM summary)"
     " SELECT round(life, 4) AS \"life s\", round(s, 4) AS \"I/O phase s\","
     " round(reads / s, 1) AS \"reads 1/s\", round(writes / s, 1) AS \"writes 1/s\","
     " round(syncs / s, 1) AS \"syncs 1/s\", round(opens / s, 1) AS \"opens 1/s\","
     " round(metas / s, 1) AS \"metadata 1/s\","
     " round(100 * read_order, 1) AS \"sequential reads %\","
     " round(100 * write_order, 1) AS \"sequential writes %\" FROM v WHERE s > 0 AND ?1 > 0"},
    {"uses", "Mounts and files, by process.",
     "SELECT command, pid, entity AS what, bytes_read AS \"read B\", bytes_written AS"
     " \"written B\", reads, writes, syncs, opens, metas AS metadata FROM use_stat"
     " ORDER BY bytes_read + bytes_written DESC, opens + metas DESC, pid, entity LIMIT ?1"},
};

static bool sec_profile_make(const struct report_inputs *in, size_t which, struct report_section *s,
                             struct wr_err *err)
{
    struct run_reader *r = in->v.v[which].run;
    bool ok = true, imported = r && !strcmp(run_info(r)->kind, "darshan");

    if (!r || (!imported && strcmp(run_info(r)->kind, "prof") != 0) ||
        run_info(r)->format_minor < SINCE)
        return true;
    ok = imported ? sec_profile_print_order(s, r, err) : sec_profile_print_balance(s, r, err);
    for (size_t i = 0; ok && i < sizeof profile_pictures / sizeof *profile_pictures; i++)
        ok = sections_draw_bars(s, r, &profile_pictures[i], MOST_BARS, err);
    for (size_t i = 0; ok && i < sizeof profile_sheets / sizeof *profile_sheets; i++)
        ok = report_add_query(s, profile_sheets[i].id, profile_sheets[i].title, r,
                              profile_sheets[i].sql, wr_arena_printf(s->arena, "%d", MOST), err);
    return ok;
}

const struct report_maker report_profile = {.id = "profile",
                                            .group = "profile",
                                            .title = "Profile",
                                            .each = true,
                                            .make = sec_profile_make};
