/* ior_parse.c -- command lines of IOR to a struct ior_test, and the checks that IOR makes.
 *
 * One row per option. Options of IOR itself are named in messages as IOR spells them: the command
 * is a value of the configuration. A test that IOR refuses is refused with IOR's reason.
 */
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "ior.h"

enum kind { FLAG, SIZE, NUMBER, NAME, API, DIRECTIVES, IGNORED_FLAG, IGNORED_VALUE, REFUSED };

#define AT(field) offsetof(struct ior_test, field)

/* One row per option: its letter, and its name in -O and in scripts. */
static const struct option {
    char letter;
    const char *name;
    enum kind kind;
    size_t at;
} options[] = {
    {'a', "api", API, AT(api)},
    {'b', "blockSize", SIZE, AT(block)},
    {'t', "transferSize", SIZE, AT(transfer)},
    {'s', "segmentCount", NUMBER, AT(segments)},
    {'i', "repetitions", NUMBER, AT(reps)},
    {'N', "numTasks", NUMBER, AT(tasks)},
    {'d', "interTestDelay", NUMBER, AT(delay_s)},
    {'D', "deadlineForStonewalling", NUMBER, AT(deadline_s)},
    {0, "minTimeDuration", NUMBER, AT(least_s)},
    {'T', "maxTimeDuration", NUMBER, AT(most_min)},
    {'Q', "taskPerNodeOffset", NUMBER, AT(task_offset)},
    {'X', "reorderTasksRandomSeed", NUMBER, AT(seed)},
    {'o', "testFile", NAME, AT(file)},
    {'O', "directives", DIRECTIVES, 0},
    {'F', "filePerProc", FLAG, AT(file_per_task)},
    {'c', "collective", FLAG, AT(collective)},
    {'C', "reorderTasksConstant", FLAG, AT(reorder)},
    {'Z', "reorderTasksRandom", FLAG, AT(reorder_random)},
    {'z', "randomOffset", FLAG, AT(random_offset)},
    {'m', "multiFile", FLAG, AT(multi_file)},
    {'g', "intraTestBarriers", FLAG, AT(barriers)},
    {'e', "fsync", FLAG, AT(fsync)},
    {'Y', "fsyncPerWrite", FLAG, AT(fsync_each)},
    {'E', "useExistingTestFile", FLAG, AT(existing)},
    {'k', "keepFile", FLAG, AT(keep)},
    {'w', "writeFile", FLAG, AT(write)},
    {'r', "readFile", FLAG, AT(read)},
    {'W', "checkWrite", FLAG, AT(check_write)},
    {'R', "checkRead", FLAG, AT(check_read)},
    {'P', "useSharedFilePointer", FLAG, AT(shared_pointer)},
    {'V', "useFileView", FLAG, AT(file_view)},
    {0, "random-offset-seed", NUMBER, AT(offset_seed)},
    /* What changes nothing that is simulated. */
    {'K', "keepFileWithError", IGNORED_FLAG, 0},
    {'B', "useO_DIRECT", IGNORED_FLAG, 0},
    {'H', "showHints", IGNORED_FLAG, 0},
    {'n', "noFill", IGNORED_FLAG, 0},
    {'p', "preallocate", IGNORED_FLAG, 0},
    {'q', "quitOnError", IGNORED_FLAG, 0},
    {'S', "useStridedDatatype", IGNORED_FLAG, 0},
    {'u', "uniqueDir", IGNORED_FLAG, 0},
    {'v', "verbose", IGNORED_FLAG, 0},
    {'x', "singleXferAttempt", IGNORED_FLAG, 0},
    {'A', "refNum", IGNORED_VALUE, 0},
    {'G', "setTimeStampSignature", NUMBER, AT(stamp)},
    {'j', "outlierThreshold", IGNORED_VALUE, 0},
    {'J', "setAlignment", IGNORED_VALUE, 0},
    {'l', "dataPacketType", IGNORED_VALUE, 0},
    {'M', "memoryPerNode", IGNORED_VALUE, 0},
    {'U', "hintsFileName", IGNORED_VALUE, 0},
    {'f', "scriptFile", REFUSED, 0},
    {'h', "showHelp", REFUSED, 0},
};

enum { NOPTIONS = sizeof options / sizeof options[0] };

enum { ALL_TASKS = -1, NO_SEED = -1 }; /* as IOR has them when nothing is said */

static const char *const apis[] = {"POSIX", "MPIIO", "HDF5", "NCMPI", "MMAP",  "AIO",   "DUMMY",
                                   "DFS",   "HDFS",  "IME",  "PMDK",  "RADOS", "CEPHFS"};

/* ---- values ---- */

/* 64 bits, with k, m, g, t or p behind it where sizes are expected. */
static bool ior_parse_number(const char *text, bool size, int64_t *ret, const char *of,
                             struct wr_err *err)
{
    static const char units[] = "kmgtp";
    char *end;

    errno = 0;
    long long v = strtoll(text, &end, 10);
    bool large = errno == ERANGE;
    int shift = 0;

    if (size && *end && strchr(units, tolower((unsigned char)*end)))
        shift = 10 * (int)(strchr(units, tolower((unsigned char)*end++)) - units + 1);
    if (end == text || *end)
        return wr_fail(err, WR_INPUT, "%s \"%.60s\" is not a number%s; write %s", of, text,
                       size ? " of bytes" : "", size ? "one such as 256k, 4m or 1g" : "digits");
    if (large || v > INT64_MAX >> shift || v < INT64_MIN >> shift)
        return wr_fail(err, WR_INPUT, "%s %.60s is too large; lower it", of, text);
    *ret = v * ((int64_t)1 << shift);
    return true;
}

static bool ior_set_api(struct ior_test *t, const char *text, struct wr_err *err)
{
    struct wr_str known = {0};

    for (size_t i = 0; i < sizeof apis / sizeof apis[0]; i++) {
        if (!strcasecmp(apis[i], text)) {
            snprintf(t->api, sizeof t->api, "%s", apis[i]);
            wr_str_fini(&known);
            return true;
        }
        wr_str_addf(&known, "%s%s", i ? ", " : "", apis[i]);
    }
    wr_fail(err, WR_INPUT, "unrecognized IO API \"%.60s\"; use one of %s", text,
            wr_str_get(&known));
    wr_str_fini(&known);
    return false;
}

static bool ior_set_directives(struct ior_test *t, const char *text, struct wr_err *err);

/* `of` names the option in messages. */
static bool ior_set_option(struct ior_test *t, const struct option *o, const char *value,
                           const char *of, struct wr_err *err)
{
    char *field = (char *)t + o->at;
    int64_t v = 1;

    switch (o->kind) {
    case FLAG:
        if (value && !ior_parse_number(value, false, &v, of, err))
            return false;
        *(bool *)field = v != 0;
        return true;
    case SIZE:
    case NUMBER:
        return ior_parse_number(value, o->kind == SIZE, (int64_t *)field, of, err);
    case API:
        return ior_set_api(t, value, err);
    case DIRECTIVES:
        return ior_set_directives(t, value, err);
    case NAME:
        if (strlen(value) >= IOR_NAME_MAX)
            return wr_fail(err, WR_INPUT, "%s: a name of more than %d characters; shorten it", of,
                           IOR_NAME_MAX - 1);
        snprintf(field, IOR_NAME_MAX, "%s", value);
        return true;
    case REFUSED:
        return wr_fail(err, WR_INPUT, "%s is not simulated; write the test's options instead", of);
    default:
        return true;
    }
}

/* ---- words ---- */

/* -O name=value,name=value */
static bool ior_set_directives(struct ior_test *t, const char *text, struct wr_err *err)
{
    char *copy = wr_strdup(text), *rest = copy, *item;
    bool ok = true;

    while (ok && (item = strsep(&rest, ","))) {
        char *eq = strchr(item, '=');
        size_t i = 0;

        if (!eq) {
            ok = wr_fail(err, WR_INPUT, "-O \"%.60s\" has no `=`; write name=value", item);
            break;
        }
        *eq = 0;
        while (i < NOPTIONS && strcasecmp(options[i].name, item) != 0)
            i++;
        if (i == NOPTIONS || options[i].kind == DIRECTIVES)
            ok = wr_fail(err, WR_INPUT,
                         "-O: unrecognized parameter name \"%.60s\"; use one such as blockSize",
                         item);
        else
            ok = ior_set_option(t, &options[i], eq + 1, item, err);
    }
    free(copy);
    return ok;
}

static bool ior_takes_value(enum kind k)
{
    return k == SIZE || k == NUMBER || k == NAME || k == API || k == DIRECTIVES ||
           k == IGNORED_VALUE || k == REFUSED;
}

/* A word such as -wr, -b4m or -b with its value in the next word. */
static bool ior_set_letters(struct ior_test *t, const char *word, const char *after, bool *used,
                            struct wr_err *err)
{
    *used = false;
    for (const char *p = word + 1; *p; p++) {
        char of[3] = {'-', *p, 0};
        size_t i = 0;

        while (i < NOPTIONS && options[i].letter != *p)
            i++;
        if (i == NOPTIONS)
            return wr_fail(err, WR_INPUT, "unknown option `-%c'; `man ior` has the list",
                           isprint((unsigned char)*p) ? *p : '?');
        if (!ior_takes_value(options[i].kind)) {
            if (!ior_set_option(t, &options[i], NULL, of, err))
                return false;
            continue;
        }
        if (options[i].kind == REFUSED)
            return ior_set_option(t, &options[i], "", of, err);
        *used = !p[1];
        if (*used && !after)
            return wr_fail(err, WR_INPUT, "option `-%c' has no value; write one behind it", *p);
        return ior_set_option(t, &options[i], *used ? after : p + 1, of, err);
    }
    return true;
}

/* Words such as --collective and --random-offset-seed=1; those of a back end have its name in
 * front (--posix.odirect, --mpiio.useFileView). */
static bool ior_set_long(struct ior_test *t, char *word, struct wr_err *err)
{
    static const char mpiio[] = "mpiio.";
    char *eq = strchr(word, '=');
    bool back_end = memchr(word, '.', eq ? (size_t)(eq - word) : strlen(word)) != NULL;
    const char *name = strncasecmp(word, mpiio, sizeof mpiio - 1) ? word : word + sizeof mpiio - 1;
    size_t i = 0;

    if (eq)
        *eq = 0;
    while (i < NOPTIONS && strcasecmp(options[i].name, name) != 0)
        i++;
    if (i == NOPTIONS && back_end)
        return true;
    if (i == NOPTIONS || options[i].kind == DIRECTIVES)
        return wr_fail(err, WR_INPUT, "unknown option `--%.60s'; `man ior` has the list", word);
    if (ior_takes_value(options[i].kind) && !eq)
        return wr_fail(err, WR_INPUT, "option `--%s' has no value; write --%s=VALUE", word, word);
    return ior_set_option(t, &options[i], eq ? eq + 1 : NULL, word, err);
}

/* Cuts a copy of the command into words, in place. */
static bool ior_split_words(char *s, char **word, size_t most, size_t *ret, struct wr_err *err)
{
    size_t n = 0;

    for (;;) {
        while (isspace((unsigned char)*s))
            s++;
        if (!*s)
            break;
        if (n == most)
            return wr_fail(err, WR_INPUT, "more than %zu words; shorten the command", most);
        char *to = s;

        word[n++] = to;
        for (char quote = 0; *s && (quote || !isspace((unsigned char)*s)); s++) {
            if (quote ? *s == quote : *s == '"' || *s == '\'')
                quote = quote ? 0 : *s;
            else
                *to++ = *s;
            if (quote && !s[1])
                return wr_fail(err, WR_INPUT, "a quote %c is not closed; close it", quote);
        }
        bool end = !*s;

        *to = 0;
        if (end)
            break;
        s++;
    }
    *ret = n;
    return true;
}

static bool ior_is_program(const char *word)
{
    const char *slash = strrchr(word, '/');

    return !strcasecmp(slash ? slash + 1 : word, "ior");
}

static bool ior_set_words(struct ior_test *t, char **word, size_t n, struct wr_err *err)
{
    for (size_t i = n && ior_is_program(word[0]) ? 1 : 0; i < n; i++) {
        bool used;

        if (!strncmp(word[i], "--", 2) && word[i][2]) {
            if (!ior_set_long(t, word[i] + 2, err))
                return false;
            continue;
        }
        if (word[i][0] != '-' || !word[i][1] || word[i][1] == '-')
            return wr_fail(err, WR_INPUT,
                           "non-option argument: \"%.60s\"; options are letters such as -b 4m",
                           word[i]);
        if (!ior_set_letters(t, word[i], i + 1 < n ? word[i + 1] : NULL, &used, err))
            return false;
        i += used;
    }
    return true;
}

/* ---- what IOR refuses ---- */

static bool ior_is_api(const struct ior_test *t, const char *api)
{
    return !strcmp(t->api, api);
}

static bool ior_check_test(struct ior_test *t, uint32_t ntasks, struct wr_err *err)
{
    bool many = ior_is_api(t, "HDF5") || ior_is_api(t, "NCMPI"), shared = !t->file_per_task;
    const struct {
        bool wrong;
        const char *why;
    } rules[] = {
        {t->tasks == 0 || t->tasks < ALL_TASKS, "too few tasks for testing; set -N to at least 1"},
        {t->deadline_s < 0 || t->most_min < 0 || t->least_s < 0,
         "a time is negative; set -D, -T and minTimeDuration accordingly"},
        {t->check_read && !t->write && !t->stamp,
         "using readCheck only requires to write a timeStampSignature; use -G"},
        {t->segments < 0, "segment count must be positive value; set -s accordingly"},
        {t->block % 8 != 0, "block size must be a multiple of access size; make -b one of 8"},
        {t->block < 0, "block size must be non-negative integer; set -b accordingly"},
        {t->transfer % 8 != 0, "transfer size must be a multiple of access size; make -t one of 8"},
        {t->transfer < 0, "transfer size must be non-negative integer; set -t accordingly"},
        {t->transfer == 0, "test will not complete with zero transfer size; set -t"},
        {t->transfer && t->block % t->transfer != 0,
         "block size must be a multiple of transfer size; change -b or -t"},
        {t->block < t->transfer,
         "block size must not be smaller than transfer size; change -b or -t"},
        {t->random_offset && t->block == t->transfer,
         "random offsets (-z) are within a block: choose a block size (-b) above the transfer size "
         "(-t)"},
        {t->collective && (t->deadline_s || t->least_s) && ior_is_api(t, "MPIIO"),
         "tasks that stop at a time leave the others of a collective waiting; leave out -c, or -D "
         "and minTimeDuration"},
        {t->reorder && t->reorder_random,
         "both constant and random task re-ordering specified; choose -C or -Z"},
        {t->random_offset && t->reorder_random && shared,
         "random offset and random reorder tasks specified with single-shared-file; choose -z or "
         "-Z, or add -F"},
        {t->random_offset && t->reorder && shared,
         "random offset and constant reorder tasks specified with single-shared-file; choose -z or "
         "-C, or add -F"},
        {t->random_offset && many, "random offset not available with HDF5 and NCMPI; leave out -z"},
        {ior_is_api(t, "NCMPI") && t->file_per_task,
         "file-per-proc not available in current NCMPI; leave out -F"},
        {t->random_offset && t->check_read && t->offset_seed == NO_SEED,
         "random offset with read check option requires to set the random seed; add "
         "--random-offset-seed=1"},
        {t->shared_pointer && ior_is_api(t, "MPIIO"),
         "shared file pointer not implemented; leave out -P"},
        {t->random_offset && t->collective && ior_is_api(t, "MPIIO"),
         "random offset not available with collective MPIIO; leave out -z or -c"},
        {t->random_offset && t->file_view && ior_is_api(t, "MPIIO"),
         "random offset not available with MPIIO fileviews; leave out -z or -V"},
    };

    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (rules[i].wrong)
            return wr_fail(err, WR_INPUT, "%s", rules[i].why);
    if ((uint64_t)t->block > INT64_MAX / 16 / ntasks / ((uint64_t)t->segments + 1))
        return wr_fail(err, WR_INPUT, "the file would be larger than any; lower -b or -s");
    return true;
}

/* What IOR does not refuse, but does otherwise, with a warning. */
static void ior_apply_defaults(struct ior_test *t, uint32_t ntasks)
{
    if (t->reps <= 0) {
        t->reps = 1;
        wr_str_add(&t->notes, "too few test repetitions: -i 1 is used\n");
    }
    if (t->delay_s < 0) {
        t->delay_s = 0;
        wr_str_add(&t->notes, "inter-test delay must be nonnegative value: -d 0 is used\n");
    }
    if (t->tasks > ntasks)
        wr_str_addf(&t->notes, "more tasks requested (%" PRId64 ") than available (%u)\n", t->tasks,
                    ntasks);
    if (t->tasks > ntasks || t->tasks == ALL_TASKS)
        t->tasks = 0;
    if (!t->write && !t->read && !t->check_write && !t->check_read)
        t->write = t->read = true;
    if (t->collective &&
        (ior_is_api(t, "POSIX") || ior_is_api(t, "MMAP") || ior_is_api(t, "AIO"))) {
        t->collective = false;
        wr_str_addf(&t->notes, "collective not available in %s: -c is left out\n", t->api);
    }
    if (t->most_min)
        wr_str_add(&t->notes, "-T is left out: a simulated test runs to its end\n");
}

bool ior_parse(struct ior_test *ret, const char *command, uint32_t ntasks, struct wr_err *err)
{
    assert(command && ntasks);
    enum { MOST_WORDS = 256 };
    struct ior_test t = {.api = "POSIX",
                         .file = "testFile",
                         .block = 1 << 20,
                         .transfer = 256 << 10,
                         .segments = 1,
                         .reps = 1,
                         .tasks = ALL_TASKS,
                         .offset_seed = NO_SEED,
                         .task_offset = 1};
    char *copy = wr_strdup(command), *word[MOST_WORDS];
    size_t n;
    bool ok = ior_split_words(copy, word, MOST_WORDS, &n, err) && ior_set_words(&t, word, n, err) &&
              ior_check_test(&t, ntasks, err);

    free(copy);
    if (!ok)
        return wr_wrap(err, "ior");
    ior_apply_defaults(&t, ntasks);
    *ret = t;
    return true;
}

void ior_fini(struct ior_test *t)
{
    wr_str_fini(&t->notes);
}

/* ---- in IOR's words ---- */

static void ior_describe_size(struct wr_str *out, const char *what, double bytes)
{
    static const char *const unit[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
    int i = 0;

    for (; bytes >= 1024 && i < 5; i++)
        bytes /= 1024;
    wr_str_addf(out, "%-20s: %.6g %s\n", what, bytes, unit[i]);
}

void ior_describe(const struct ior_test *t, const struct ior_where *w, struct wr_str *out)
{
    wr_str_addf(out, "%-20s: %s\n%-20s: %s\n", "api", t->api, "test filename", t->file);
    wr_str_addf(out, "%-20s: %s\n", "access",
                t->file_per_task ? "file-per-process" : "single-shared-file");
    wr_str_addf(out, "%-20s: %s\n", "type", t->collective ? "collective" : "independent");
    wr_str_addf(out, "%-20s: %" PRId64 "\n", "segments", t->segments);
    wr_str_addf(out, "%-20s: %s\n", "ordering in a file",
                t->random_offset ? "random" : "sequential");
    if (t->reorder)
        wr_str_addf(out, "%-20s: constant task offset\n%-20s: %" PRId64 "\n", "ordering inter file",
                    "task offset", t->task_offset);
    else if (t->reorder_random)
        wr_str_addf(out, "%-20s: random task offset\n%-20s: %" PRId64 "\n", "ordering inter file",
                    "reorder random seed", t->seed);
    else
        wr_str_addf(out, "%-20s: no tasks offsets\n", "ordering inter file");
    wr_str_addf(out, "%-20s: %u\n%-20s: %" PRId64 "\n", "tasks", w->ntasks, "repetitions", t->reps);
    ior_describe_size(out, "xfersize", (double)t->transfer);
    ior_describe_size(out, "blocksize", (double)t->block);
    ior_describe_size(out, "aggregate filesize",
                      (double)t->block * (double)t->segments * w->ntasks);
    wr_str_add(out, wr_str_get(&t->notes));
}
