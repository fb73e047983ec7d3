/* papi.c -- a stand-in for PAPI's library, with two counters that are known: TIME_US, the
 * microseconds since it was started, and TID, the thread that it is attached to. */
#include <string.h>
#include <time.h>

enum { OK = 0, NO_SUCH_EVENT = -7, NO_SUCH_SET = -12, SETS = 4096, VERSION = 7 << 24 | 1 << 16 };

static struct set {
    unsigned long tid;
    long long began_us;
    int is_tid[8];
    int n, used;
} sets[SETS];

static long long now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

static struct set *at(int set)
{
    return set >= 0 && set < SETS && sets[set].used ? &sets[set] : NULL;
}

int PAPI_library_init(int version)
{
    return version == VERSION ? version : -1;
}

int PAPI_create_eventset(int *set)
{
    for (int i = 0; i < SETS; i++)
        if (!sets[i].used) {
            sets[i] = (struct set){.used = 1};
            *set = i;
            return OK;
        }
    return NO_SUCH_SET;
}

int PAPI_assign_eventset_component(int set, int component)
{
    return at(set) && !component ? OK : NO_SUCH_SET;
}

int PAPI_attach(int set, unsigned long tid)
{
    if (!at(set) || at(set)->n)
        return NO_SUCH_SET;
    at(set)->tid = tid;
    return OK;
}

int PAPI_add_named_event(int set, const char *name)
{
    struct set *s = at(set);

    if (!s || s->n == 8 || (strcmp(name, "TIME_US") && strcmp(name, "TID")))
        return NO_SUCH_EVENT;
    s->is_tid[s->n++] = !strcmp(name, "TID");
    return OK;
}

int PAPI_start(int set)
{
    if (!at(set))
        return NO_SUCH_SET;
    at(set)->began_us = now_us();
    return OK;
}

int PAPI_read(int set, long long *value)
{
    struct set *s = at(set);

    for (int i = 0; s && i < s->n; i++)
        value[i] = s->is_tid[i] ? (long long)s->tid : now_us() - s->began_us;
    return s ? OK : NO_SUCH_SET;
}

int PAPI_stop(int set, long long *value)
{
    return PAPI_read(set, value);
}

int PAPI_cleanup_eventset(int set)
{
    return at(set) ? OK : NO_SUCH_SET;
}

int PAPI_destroy_eventset(int *set)
{
    if (at(*set))
        at(*set)->used = 0;
    return OK;
}

char *PAPI_strerror(int code)
{
    return (char *)(code == NO_SUCH_EVENT ? "no such event" : "no such set");
}
