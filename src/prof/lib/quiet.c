/* quiet.c -- processes with a system-call filter: after it is set the library makes no system
 * calls.
 *
 * A filter may end the process at a call that it does not allow. So before it is set, memory for
 * slots and records is allocated; afterwards descriptors are resolved by the text of their paths,
 * and children use the shared profile, which is mapped already. prctl(PR_SET_NO_NEW_PRIVS), which
 * an unprivileged filter needs, is taken as its announcement.
 */
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>

#include "lib_priv.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* True: the state changed. */
bool lib_quiet_begin(void)
{
    if (lib.quiet || !lib_slot() || !lib.head)
        return false;
    uint64_t slots =
        lib.head->slots_max < PROF_QUIET_SLOTS ? lib.head->slots_max : PROF_QUIET_SLOTS;
    uint64_t log = lib.head->log_n + PROF_QUIET_LOG;

    log = log < lib.head->log_max ? log : lib.head->log_max;
    if (!lib.shared && lib.slots_ready < slots && lib_may_touch(lib.slots, slots * lib.slot_b))
        lib.slots_ready = slots;
    if (!lib.shared && lib_may_touch(lib.names, lib.names_max * sizeof *lib.names))
        lib.names_ready = lib.names_max;
    if (log > lib.log_ready &&
        lib_may_touch(lib.log + lib.log_ready, (log - lib.log_ready) * sizeof *lib.log))
        lib.log_ready = log;
    lib_mounts_need();
    lib_clock_settle();
    lib.head->quiet += !lib.head->quiet;
    lib.quiet = lib.still = true;
    return true;
}

void lib_quiet_undo(void)
{
    lib.quiet = lib.still = false;
}

LIB_API int prctl(int what, ...)
{
    unsigned long a[4];
    va_list ap;

    va_start(ap, what);
    for (int i = 0; i < 4; i++)
        a[i] = va_arg(ap, unsigned long);
    va_end(ap);
    bool still = lib.still,
         filters = what == PR_SET_SECCOMP || (what == PR_SET_NO_NEW_PRIVS && a[0] == 1);
    bool began = filters && lib_quiet_begin();
    uint64_t ticks = lib.tsc_mul;

    /* These calls forbid the TSC. */
    if ((what == PR_SET_SECCOMP && a[0] == SECCOMP_MODE_STRICT) ||
        (what == PR_SET_TSC && a[0] == PR_TSC_SIGSEGV)) {
        lib.still = true;
        lib.tsc_mul = 0;
    }
    int r = LIB_REAL(prctl)(what, a[0], a[1], a[2], a[3]);

    if (began && r)
        lib_quiet_undo();
    if (r) {
        lib.still = still;
        lib.tsc_mul = ticks;
    }
    return r;
}

/* libseccomp makes the system call itself. */
int seccomp_load(void *filter);
LIB_API int seccomp_load(void *filter)
{
    bool began = lib_quiet_begin();
    int r = LIB_REAL(seccomp_load)(filter);

    if (began && r)
        lib_quiet_undo();
    return r;
}
