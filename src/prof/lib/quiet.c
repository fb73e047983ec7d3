/* quiet.c -- a process that filters its own system calls: from then on the library makes none.
 *
 * A filter may end the process at the first call that its author did not think of. So before it is
 * set, memory for slots and records is made ready; afterwards descriptors are known by the text of
 * the path that opened them, and children count in the launcher's profile, which is mapped already.
 * prctl(PR_SET_NO_NEW_PRIVS), without which a filter needs privileges, is taken for its herald.
 */
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>

#include "lib_priv.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum { SLOTS = 64, LOG = 448 };

/* True: it was not so before. */
static bool quiet_begin(void)
{
    if (lib.quiet || !lib_slot() || !lib.head)
        return false;
    uint64_t slots = lib.head->slots_max < SLOTS ? lib.head->slots_max : SLOTS;
    uint64_t log = lib.head->log_n + LOG;

    log = log < lib.head->log_max ? log : lib.head->log_max;
    if (!lib.shared && lib.slots_ready < slots && lib_may_touch(lib.slots, slots * lib.slot_b))
        lib.slots_ready = slots;
    if (!lib.shared && lib_may_touch(lib.names, lib.names_max * sizeof *lib.names))
        lib.names_ready = lib.names_max;
    if (log > lib.log_ready &&
        lib_may_touch(lib.log + lib.log_ready, (log - lib.log_ready) * sizeof *lib.log))
        lib.log_ready = log;
    lib.head->quiet += !lib.head->quiet;
    lib.quiet = lib.still = true;
    return true;
}

LIB_API int prctl(int what, ...)
{
    unsigned long a[4];
    va_list ap;

    va_start(ap, what);
    for (int i = 0; i < 4; i++)
        a[i] = va_arg(ap, unsigned long);
    va_end(ap);
    bool filters = what == PR_SET_SECCOMP || (what == PR_SET_NO_NEW_PRIVS && a[0] == 1);
    bool began = filters && quiet_begin();
    uint64_t ticks = lib.tsc_mul;

    /* These take the processor's counter away, before or with the call. */
    if ((what == PR_SET_SECCOMP && a[0] == SECCOMP_MODE_STRICT) ||
        (what == PR_SET_TSC && a[0] == PR_TSC_SIGSEGV)) {
        lib.still = true;
        lib.tsc_mul = 0;
    }
    int r = LIB_REAL(prctl)(what, a[0], a[1], a[2], a[3]);

    if (began && r)
        lib.quiet = lib.still = false;
    if (r && ticks) {
        lib.still = false;
        lib.tsc_mul = ticks;
    }
    return r;
}

/* Of libseccomp, which makes the system call itself. */
int seccomp_load(void *filter);
LIB_API int seccomp_load(void *filter)
{
    bool began = quiet_begin();
    int r = LIB_REAL(seccomp_load)(filter);

    if (began && r)
        lib.quiet = lib.still = false;
    return r;
}
