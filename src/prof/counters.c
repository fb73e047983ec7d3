/* counters.c -- hardware counters of single threads, through PAPI.
 *
 * The library of PAPI is opened at run time, so that weir does not depend on it. One event set per
 * thread, attached from outside; the sampler owns the handles and detaches them.
 */
#include "prof/counters.h"

#include <assert.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/units.h"

enum { PAPI_OK = 0, PAPI_NULL = -1, NAME = 48 };

/* The functions of PAPI that are used; they are the same since its version 5. */
#define PAPI_FUNCTIONS(X)                                \
    X(int, library_init, (int version))                  \
    X(int, create_eventset, (int *set))                  \
    X(int, assign_eventset_component, (int set, int c))  \
    X(int, attach, (int set, unsigned long tid))         \
    X(int, add_named_event, (int set, const char *name)) \
    X(int, start, (int set))                             \
    X(int, read, (int set, long long *value))            \
    X(int, stop, (int set, long long *value))            \
    X(int, cleanup_eventset, (int set))                  \
    X(int, destroy_eventset, (int *set))                 \
    X(char *, strerror, (int code))

/* Hardware counters through PAPI, which is found at run time. Constant after opening, but for
 * `missed` and `why`. */
struct prof_counters {
    void *lib; /* of dlopen */
    char name[PROF_COUNTERS][NAME];
    size_t n, missed; /* counters; threads that could not be counted */
    char why[160];    /* the first of them */
#define X(type, f, args) type(*f) args;
    PAPI_FUNCTIONS(X)
#undef X
};

static bool counters_load_papi(struct prof_counters *c, struct wr_err *err)
{
    static const char *const names[] = {"libpapi.so",     "libpapi.so.7.2", "libpapi.so.7.1",
                                        "libpapi.so.7.0", "libpapi.so.6.0", "libpapi.so.5.7"};
    const char *given = getenv("WEIR_PAPI_LIB");

    if (given)
        c->lib = dlopen(given, RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; !given && !c->lib && i < sizeof names / sizeof names[0]; i++)
        c->lib = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!c->lib)
        return wr_fail(err, WR_SYSTEM,
                       "the library of PAPI cannot be opened; install it (Debian: libpapi-dev) or "
                       "name it in WEIR_PAPI_LIB");
#define X(type, f, args)                         \
    *(void **)&c->f = dlsym(c->lib, "PAPI_" #f); \
    if (!c->f)                                   \
        return wr_fail(err, WR_SYSTEM, "the library of PAPI has no PAPI_" #f "; install another");
    PAPI_FUNCTIONS(X)
#undef X
    return true;
}

/* PAPI_library_init accepts its own version only, so versions are tried. */
static bool counters_init_papi(struct prof_counters *c, struct wr_err *err)
{
    for (int major = 5; major < 10; major++)
        for (int minor = 0; minor < 10; minor++)
            if (c->library_init(major << 24 | minor << 16) == (major << 24 | minor << 16))
                return true;
    return wr_fail(err, WR_SYSTEM, "PAPI cannot be started here; try papi_avail");
}

static bool counters_parse_list(struct prof_counters *c, const char *list, struct wr_err *err)
{
    while (*list) {
        size_t n = strcspn(list, ",");

        if (!n || n >= NAME)
            return wr_fail(err, WR_INPUT,
                           "counters: \"%.60s\" does not begin with a counter's name; see "
                           "papi_avail and papi_native_avail",
                           list);
        if (c->n == PROF_COUNTERS)
            return wr_fail(err, WR_INPUT, "counters: give at most %d", PROF_COUNTERS);
        memcpy(c->name[c->n++], list, n);
        list += n + (list[n] == ',');
    }
    return c->n || wr_fail(err, WR_INPUT, "counters: name one, such as PAPI_TOT_INS");
}

/* Creates and starts an event set with all counters; tid 0: of this process. */
static bool counters_start(struct prof_counters *c, uint32_t tid, int *ret_set, struct wr_err *err)
{
    assert(c->lib && c->n > 0 && c->n <= PROF_COUNTERS);
    const char *what = "a set of counters";
    int set = PAPI_NULL, code = c->create_eventset(&set);

    if (code == PAPI_OK)
        code = c->assign_eventset_component(set, 0);
    if (code == PAPI_OK && tid)
        code = c->attach(set, tid);
    for (size_t i = 0; code == PAPI_OK && i < c->n; i++)
        code = c->add_named_event(set, what = c->name[i]);
    if (code == PAPI_OK)
        code = c->start(set);
    if (code == PAPI_OK) {
        *ret_set = set;
        return true;
    }
    if (set != PAPI_NULL) {
        c->cleanup_eventset(set);
        c->destroy_eventset(&set);
    }
    return wr_fail(err, WR_SYSTEM, "PAPI cannot count %s here: %s; see papi_avail", what,
                   c->strerror(code));
}

bool prof_counters_open(struct prof_counters **ret, const char *list, struct wr_err *err)
{
    struct prof_counters *c = wr_zalloc(1, sizeof *c);
    int set = 0;

    if (!counters_parse_list(c, list, err) || !counters_load_papi(c, err) ||
        !counters_init_papi(c, err) || !counters_start(c, 0, &set, err)) {
        prof_counters_close(c);
        return false;
    }
    prof_counters_detach(c, set);
    *ret = c;
    return true;
}

void prof_counters_close(struct prof_counters *c)
{
    if (!c)
        return;
    /* The library is not closed: it may have registered handlers. */
    free(c);
}

size_t prof_counters_n(const struct prof_counters *c)
{
    return c->n;
}

const char *prof_counters_name(const struct prof_counters *c, size_t i)
{
    assert(i < c->n);
    return c->name[i];
}

bool prof_counters_attach(struct prof_counters *c, uint32_t tid, int *ret_handle)
{
    assert(tid > 0);
    struct wr_err err = {0};

    if (counters_start(c, tid, ret_handle, &err))
        return true;
    if (!c->missed++)
        snprintf(c->why, sizeof c->why, "%.159s", err.text);
    return false;
}

bool prof_counters_read(struct prof_counters *c, int handle, uint64_t value[PROF_COUNTERS])
{
    long long got[PROF_COUNTERS] = {0};

    if (c->read(handle, got) != PAPI_OK)
        return false;
    for (size_t i = 0; i < c->n; i++)
        value[i] = got[i] > 0 ? (uint64_t)got[i] : 0;
    return true;
}

void prof_counters_detach(struct prof_counters *c, int handle)
{
    long long last[PROF_COUNTERS];

    c->stop(handle, last);
    c->cleanup_eventset(handle);
    c->destroy_eventset(&handle);
}

size_t prof_counters_missed(const struct prof_counters *c, const char **ret_why)
{
    *ret_why = c->why;
    return c->missed;
}
