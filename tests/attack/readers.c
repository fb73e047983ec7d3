/* readers.c -- damages run files, cell by cell and byte by byte, and has every verb read them.
 *
 *   attack-readers BUILD_DIR SECONDS SEED
 *
 * Run files of several kinds are made first. Then, until the time is over: one is copied, damaged
 * by what the round's number says (so that a round can be made again), and read. What a verb says
 * is its own affair; that it ends by itself, soon, in little memory, with a status that is not "our
 * bug" and without control characters in what it prints, is checked. There is one process for each
 * processor.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/rng.h"
#include "base/str.h"

enum { MOST_WORDS = 24, MOST_BASES = 12, HANG_S = 30, MOST_RSS_KB = 1 << 20, OUTPUT_B = 256 << 20 };

struct attack {
    const char *build, *weir;
    char dir[128];  /* scratch, goes at the end */
    char keep[512]; /* where files that were found are kept */
    char base[MOST_BASES][160];
    unsigned nbases;
    bool limited; /* address space may be limited: not with sanitizers */
    uint64_t files, reads, refused, found, rss_kb;
};

/* ---- one command ---- */

struct outcome {
    int status; /* as of wait */
    bool hung;
    long rss_kb;
};

static void child_limits(const struct attack *a)
{
    struct rlimit memory = {3ull << 30, 3ull << 30}, file = {OUTPUT_B, OUTPUT_B};

    if (a->limited)
        setrlimit(RLIMIT_AS, &memory);
    setrlimit(RLIMIT_FSIZE, &file);
    alarm(HANG_S);
}

static struct outcome run_weir(const struct attack *a, const char *const *words)
{
    char *argv[MOST_WORDS + 2] = {(char *)a->weir};
    struct rusage used;
    struct outcome o = {0};
    int n = 1;

    for (; *words && n <= MOST_WORDS; words++)
        argv[n++] = (char *)*words;
    pid_t pid = fork();
    if (!pid) {
        int null = open("/dev/null", O_RDONLY);
        int out = open("out", O_WRONLY | O_CREAT | O_TRUNC, 0600);
        int err = open("err", O_WRONLY | O_CREAT | O_TRUNC, 0600);

        if (chdir(a->dir) < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
            _exit(99);
        child_limits(a);
        execv(a->weir, argv);
        _exit(98);
    }
    if (pid < 0 || wait4(pid, &o.status, 0, &used) != pid) {
        fprintf(stderr, "attack-readers: cannot run weir: %s\n", strerror(errno));
        exit(4);
    }
    o.hung = WIFSIGNALED(o.status) && WTERMSIG(o.status) == SIGALRM;
    o.rss_kb = used.ru_maxrss;
    return o;
}

/* The content, up to a few megabytes; free() it. */
static char *read_some(const char *path, size_t *ret_n)
{
    enum { MOST = 4 << 20 };
    char *text = malloc(MOST + 1);
    int fd = open(path, O_RDONLY);
    ssize_t n = fd >= 0 ? read(fd, text, MOST) : 0;

    if (fd >= 0)
        close(fd);
    *ret_n = n > 0 ? (size_t)n : 0;
    text[*ret_n] = '\0';
    return text;
}

static bool has_controls(const char *path)
{
    size_t n;
    char *text = read_some(path, &n);
    bool has = false;

    for (size_t i = 0; i < n && !has; i++) {
        unsigned char c = (unsigned char)text[i], next = i + 1 < n ? (unsigned char)text[i + 1] : 0;

        has = (c < 0x20 && c != '\n' && c != '\t' && c != '\r') || c == 0x7f ||
              (c == 0xc2 && next >= 0x80 && next < 0xa0);
    }
    free(text);
    return has;
}

static bool has_sanitizer(const char *path)
{
    size_t n;
    char *text = read_some(path, &n);
    bool has = strstr(text, "runtime error:") || strstr(text, "Sanitizer");

    free(text);
    return has;
}

/* NULL: nothing is wrong. */
static const char *judge(const struct outcome *o, bool raw)
{
    if (o->hung)
        return "hung";
    if (WIFSIGNALED(o->status))
        return "crashed";
    if (WEXITSTATUS(o->status) == 3 || WEXITSTATUS(o->status) > 4)
        return "called it a bug";
    if (has_sanitizer("err"))
        return "was caught by a sanitizer";
    if (o->rss_kb > MOST_RSS_KB)
        return "took more than 1 GB";
    if (has_controls("err") || (!raw && has_controls("out")))
        return "printed control characters";
    return NULL;
}

/* ---- the readers ---- */

/* "@" is the damaged file, "=" the one that it was made of. `raw`: prints a file as it was. */
static const struct reader {
    bool raw;
    const char *words[10];
} readers[] = {
    {.words = {"report", "@"}},
    {.words = {"report", "@", "--json"}},
    {.words = {"report", "@", "-o", "report.html", "-f"}},
    {.words = {"report", "=", "@"}},
    {.words = {"show", "@"}},
    {.words = {"show", "@", "--plot"}},
    {.words = {"show", "@", "--trace"}},
    {.words = {"show", "@", "link_stat", "--csv", "--limit", "5000"}},
    {.words = {"show", "@", "latency"}},
    {.words = {"export", "@"}},
    {.words = {"export", "@", "--json", "latency", "summary"}},
    {.words = {"show", "@", "slice", "--limit", "500"}},
    {.words = {"show", "@", "meta", "--json"}},
    {.raw = true, .words = {"show", "@", "--config"}},
    {.words = {"query", "@", "SELECT * FROM summary"}},
    {.words = {"query", "@", "SELECT * FROM rank_stat", "--json"}},
    {.words = {"same", "=", "@"}},
    {.words = {"compare", "=", "@"}},
    {.words = {"compare", "@", "=", "--json"}},
    {.words = {"interfere", "@"}},
    {.words = {"interfere", "@", "--json"}},
    {.words = {"interfere", "predict", "@", "="}},
    {.words = {"profile", "show", "@"}},
    {.words = {"study", "show", "study"}},
    {.words = {"state", "describe", "@", "--bootstrap", "0"}},
    {.words = {"state", "fit", "@", "--states", "2"}},
    {.words = {"roofline", "model", "@"}},
    {.words = {"roofline", "polling", "--from", "@"}},
};

static void keep(struct attack *a, uint64_t round, const char *file, const char *base,
                 const struct reader *r, const char *why)
{
    struct wr_str command = {0};

    a->found++;
    for (int i = 0; r->words[i]; i++)
        wr_str_addf(&command, " %s", r->words[i][0] == '@' ? "FILE" : r->words[i]);
    fprintf(stderr, "weir%s: %s; FILE is %s/%llu.weir (of %s)\n", command.s, why, a->keep,
            (unsigned long long)round, strrchr(base, '/') + 1);
    wr_str_fini(&command);
    mkdir(a->keep, 0755);
    wr_str_addf(&command, "cp '%s' '%s/%llu.weir'", file, a->keep, (unsigned long long)round);
    if (system(command.s))
        fprintf(stderr, "attack-readers: it could not be kept\n");
    wr_str_fini(&command);
}

static void read_with(struct attack *a, uint64_t round, const char *file, const char *base,
                      const struct reader *r)
{
    const char *words[12] = {NULL};

    for (int i = 0; r->words[i]; i++)
        words[i] = r->words[i][0] == '@' ? file : r->words[i][0] == '=' ? base : r->words[i];
    struct outcome o = run_weir(a, words);
    const char *why = judge(&o, r->raw);

    a->reads++;
    a->refused += WIFEXITED(o.status) && WEXITSTATUS(o.status) != 0;
    if ((uint64_t)o.rss_kb > a->rss_kb)
        a->rss_kb = (uint64_t)o.rss_kb;
    if (why)
        keep(a, round, file, base, r, why);
}

/* ---- damage ---- */

static const char *const nasty[] = {
    "1e400",
    "-1e400",
    "'1e999'",
    "'nan'",
    "NULL",
    "-1",
    "0",
    "1",
    "9223372036854775807",
    "-9223372036854775808",
    "4294967296",
    "2147483648",
    "1e300",
    "1e19",
    "-1e19",
    "1e-300",
    "0.5",
    "''",
    "'x'",
    "x'00ff00'",
    "zeroblob(100000)",
    "'a' || char(27) || ']0;owned' || char(7) || char(27) || '[31m'",
    "char(155) || '31m' || char(10) || char(13) || char(8) || char(127)",
    "char(8238) || 'abc'",
    "x'c328'",
    "x'ed9fbfff'",
    "'<script>&\"''%s%n'",
    "'99999999999999999999'",
    "'router:99999999999.99999'",
    "'-5'",
    "'1e308'",
    "replace(hex(zeroblob(2000)), '00', 'long ')"};

static bool one_text(sqlite3 *db, const char *sql, char *into, size_t size)
{
    sqlite3_stmt *s;
    bool found = false;

    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
        return false;
    if (sqlite3_step(s) == SQLITE_ROW && sqlite3_column_text(s, 0)) {
        snprintf(into, size, "%s", (const char *)sqlite3_column_text(s, 0));
        found = true;
    }
    sqlite3_finalize(s);
    return found;
}

static void damage_cell(sqlite3 *db, struct wr_rng *g)
{
    char sql[1024], table[100], column[100];

    snprintf(sql, sizeof sql,
             "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%%' "
             "LIMIT 1 OFFSET %u %% (SELECT count(*) FROM sqlite_master WHERE type = 'table' AND "
             "name NOT LIKE 'sqlite%%')",
             wr_rng_below(g, 1000));
    if (!one_text(db, sql, table, sizeof table))
        return;
    snprintf(sql, sizeof sql,
             "SELECT name FROM pragma_table_info('%s') LIMIT 1 OFFSET %u %% "
             "(SELECT count(*) FROM pragma_table_info('%s'))",
             table, wr_rng_below(g, 1000), table);
    if (!one_text(db, sql, column, sizeof column))
        return;
    const char *value = nasty[wr_rng_below(g, sizeof nasty / sizeof *nasty)];
    if (!wr_rng_below(g, 8)) /* a whole column */
        snprintf(sql, sizeof sql, "UPDATE OR IGNORE \"%s\" SET \"%s\" = %s", table, column, value);
    else
        snprintf(sql, sizeof sql,
                 "UPDATE OR IGNORE \"%s\" SET \"%s\" = %s WHERE \"%s\" = (SELECT \"%s\" FROM "
                 "\"%s\" LIMIT 1 OFFSET %u %% max(1, (SELECT count(*) FROM \"%s\")))",
                 table, column, value, column, column, table, wr_rng_below(g, 100000), table);
    sqlite3_exec(db, sql, NULL, NULL, NULL);
}

static void damage_cells(const char *file, struct wr_rng *g)
{
    sqlite3 *db;

    if (sqlite3_open(file, &db) == SQLITE_OK) {
        sqlite3_exec(db,
                     "PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY;"
                     "PRAGMA ignore_check_constraints = ON; BEGIN",
                     NULL, NULL, NULL);
        for (uint32_t n = 1 + wr_rng_below(g, 12); n; n--)
            damage_cell(db, g);
        sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    }
    sqlite3_close(db);
}

/* Rows gone, tables gone, views that never end. */
static void damage_schema(const char *file, struct wr_rng *g)
{
    static const char *const changes[] = {
        "DELETE FROM %s",
        "DELETE FROM %s WHERE random() %% 2",
        "DROP TABLE %s",
        "ALTER TABLE %s RENAME TO gone",
        "DROP TABLE %s; CREATE VIEW %s AS WITH RECURSIVE i(x) AS (VALUES(1) UNION ALL SELECT x + 1 "
        "FROM i) SELECT x AS app, x AS id, x AS key, x AS value FROM i WHERE x < 0",
        "DROP VIEW summary; CREATE VIEW summary AS WITH RECURSIVE i(x) AS (VALUES(1) UNION ALL "
        "SELECT x + 1 FROM i) SELECT x AS key, randomblob(1000) AS value, '' AS unit, 0 AS "
        "volatile "
        "FROM i ORDER BY 2",
    };
    char sql[1024], table[100];
    sqlite3 *db;

    if (sqlite3_open(file, &db) == SQLITE_OK) {
        snprintf(sql, sizeof sql,
                 "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%%' "
                 "LIMIT 1 OFFSET %u",
                 wr_rng_below(g, 25));
        const char *change = changes[wr_rng_below(g, sizeof changes / sizeof *changes)];

        if (one_text(db, sql, table, sizeof table)) {
            char *text = sqlite3_mprintf(change, table, table);

            sqlite3_exec(db, text, NULL, NULL, NULL);
            sqlite3_free(text);
        }
    }
    sqlite3_close(db);
}

static void damage_bytes(const char *file, struct wr_rng *g)
{
    unsigned char bytes[512];
    struct stat st;
    int fd = open(file, O_RDWR);

    if (fd < 0 || fstat(fd, &st) || st.st_size < 4096)
        return;
    for (uint32_t n = 1 + wr_rng_below(g, 30); n; n--) {
        uint32_t len = wr_rng_below(g, 4) ? 1 : 1 + wr_rng_below(g, sizeof bytes);
        off_t at = wr_rng_below(g, 6) ? (off_t)wr_rng_below(g, (uint32_t)st.st_size)
                                      : (off_t)wr_rng_below(g, 4096);
        off_t from = (off_t)wr_rng_below(g, (uint32_t)st.st_size - 512);

        if (wr_rng_below(g, 3) || pread(fd, bytes, len, from) < 0)
            for (uint32_t i = 0; i < len; i++)
                bytes[i] = (unsigned char)wr_rng_below(g, 256);
        if (at + len <= st.st_size && pwrite(fd, bytes, len, at) < 0)
            break;
    }
    if (!wr_rng_below(g, 10) && ftruncate(fd, (off_t)wr_rng_below(g, (uint32_t)st.st_size)) < 0)
        perror("ftruncate");
    close(fd);
}

/* ---- the campaign ---- */

static bool copy_file(const char *from, const char *to)
{
    static char bytes[1 << 16];
    int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ssize_t n = -1;

    while (in >= 0 && out >= 0 && (n = read(in, bytes, sizeof bytes)) > 0)
        if (write(out, bytes, (size_t)n) != n)
            break;
    close(in);
    close(out);
    return n == 0;
}

/* One of each kind; those that cannot be made here are left out. */
static void make_bases(struct attack *a)
{
    /* "%" stands for the folder of the sources, "@" for the run file. */
    static const char *const makers[][12] = {
        {"run", "%/examples/two-jobs.yaml", "-o", "@"},
        {"run", "%/examples/storage-local-bb.yaml", "-o", "@"},
        {"run", "%/examples/ring.yaml", "-o", "@"},
        {"sweep", "%/examples/mesh.yaml", "--load", "10%:30%:20%", "-o", "@"},
        {"stack", "run", "--fs", "lustre", "--tasks", "2", "-o", "@", "--", "ior", "-b8m", "-t4m"},
        {"profile", "-o", "@", "--", "cp", "/bin/sh", "copied"},
        {"state", "import", "%/tests/data/state/s00_titan_12h.csv", "-o", "@"},
        {"interfere", "import", "%/tests/data/interfere/nfs_slices_250ms.csv.zst", "--only",
         "A_pair_1_1_r1", "-o", "@"},
        {"roofline", "collect", "--set", "clients=1", "--set", "samples=1", "--set", "window=20ms",
         "-o", "@"},
    };

    for (size_t i = 0; i < sizeof makers / sizeof *makers && a->nbases < MOST_BASES; i++) {
        const char *words[13] = {NULL};
        char *path = a->base[a->nbases], example[8][512];
        struct stat st;

        snprintf(path, sizeof a->base[0], "%s/base%zu.weir", a->dir, i);
        for (int k = 0; k < 12 && makers[i][k]; k++) {
            words[k] = makers[i][k][0] == '@' ? path : makers[i][k];
            if (!strncmp(words[k], "%/", 2) && k < 8) {
                snprintf(example[k], sizeof example[k], "%s%s", WEIR_SOURCE_DIR, words[k] + 1);
                words[k] = example[k];
            }
        }
        run_weir(a, words);
        if (!stat(path, &st) && S_ISDIR(st.st_mode)) /* of a table of runs */
            snprintf(path + strlen(path), 32, "/A_pair_1_1_r1.weir");
        a->nbases += !stat(path, &st) && S_ISREG(st.st_mode) && st.st_size > 4096;
    }
}

static void one_round(struct attack *a, uint64_t seed, uint64_t round)
{
    const char *base = a->base[round % a->nbases];
    char file[160], member[180];
    struct wr_rng g;

    snprintf(file, sizeof file, "%s/damaged.weir", a->dir);
    snprintf(member, sizeof member, "%s/study/a.weir", a->dir);
    wr_rng_init(&g, seed, (uint32_t)round, 0);
    if (!copy_file(base, file))
        return;
    uint32_t how = wr_rng_below(&g, 10);
    if (how < 6)
        damage_cells(file, &g);
    else if (how < 9)
        damage_bytes(file, &g);
    else
        damage_schema(file, &g);
    copy_file(file, member);
    a->files++;
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        read_with(a, round, file, base, &readers[i]);
}

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* A process of its own, with a directory of its own: every `n`-th round, beginning with `first`. */
static void attack_part(struct attack *a, uint64_t seed, unsigned first, unsigned n, double end)
{
    char study[160];
    size_t len = strlen(a->dir);

    snprintf(a->dir + len, sizeof a->dir - len, "/%u", first);
    snprintf(study, sizeof study, "%s/study", a->dir);
    if (mkdir(a->dir, 0700) || chdir(a->dir) || mkdir(study, 0700))
        exit(4);
    uint64_t round = first;
    do {
        one_round(a, seed, round);
        round += n;
    } while (now_s() < end);
}

static void attack_add(struct attack *sum, const struct attack *part)
{
    sum->files += part->files;
    sum->reads += part->reads;
    sum->refused += part->refused;
    sum->found += part->found;
    sum->rss_kb = part->rss_kb > sum->rss_kb ? part->rss_kb : sum->rss_kb;
}

/* False: one of them ended badly. */
static bool attack_all(struct attack *a, uint64_t seed, double end)
{
    enum { MOST = 64 };
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned n = cpus < 1 ? 1 : cpus > MOST ? MOST : (unsigned)cpus;
    struct attack *part =
        mmap(NULL, MOST * sizeof *part, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t pid[MOST];
    bool ok = part != MAP_FAILED;

    for (unsigned i = 0; ok && i < n; i++) {
        part[i] = *a;
        fflush(NULL);
        pid[i] = fork();
        if (!pid[i]) {
            attack_part(&part[i], seed, i, n, end);
            _exit(0);
        }
    }
    for (unsigned i = 0; part != MAP_FAILED && i < n; i++) {
        int status;

        ok &= waitpid(pid[i], &status, 0) == pid[i] && WIFEXITED(status) && !WEXITSTATUS(status);
        attack_add(a, &part[i]);
    }
    return ok;
}

static void attack_open(struct attack *a, const char *build)
{
    static char weir[512];

    a->build = build;
    snprintf(weir, sizeof weir, "%s/weir", build);
    a->weir = weir;
    snprintf(a->keep, sizeof a->keep, "%s/attack-readers", build);
    snprintf(a->dir, sizeof a->dir, "%s/weir-attack-XXXXXX",
             access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    if (!mkdtemp(a->dir) || chdir(a->dir)) {
        fprintf(stderr, "attack-readers: no scratch directory: %s\n", strerror(errno));
        exit(4);
    }
    a->limited = true;
    struct outcome o = run_weir(a, (const char *const[]){"version", NULL});
    a->limited = WIFEXITED(o.status) && !WEXITSTATUS(o.status);
}

int main(int argc, char **argv)
{
    struct attack a = {0};
    struct wr_str clean = {0};

    if (argc != 4) {
        fprintf(stderr, "usage: attack-readers BUILD_DIR SECONDS SEED\n");
        return 2;
    }
    uint64_t seed = strtoull(argv[3], NULL, 10);
    attack_open(&a, argv[1]);
    make_bases(&a);
    bool whole = a.nbases && attack_all(&a, seed, now_s() + atof(argv[2]));
    wr_str_addf(&clean, "rm -rf '%s'", a.dir);
    bool cleaned = !system(clean.s);
    wr_str_fini(&clean);
    printf(
        "readers: %llu damaged files of %u kinds, %llu reads, %llu refused, most memory %llu MB, "
        "%llu found\n",
        (unsigned long long)a.files, a.nbases, (unsigned long long)a.reads,
        (unsigned long long)a.refused, (unsigned long long)(a.rss_kb / 1024),
        (unsigned long long)a.found);
    return a.found || !a.files || !whole || !cleaned;
}
