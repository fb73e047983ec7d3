/* process_exit.c -- _exit and vfork: ends without destructors, and children that share their
 * parent's memory until they exec. */
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib_priv.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* Set by vfork in parent and child; the next check compares pids to find out which one it is. */
__attribute__((visibility("hidden"))) uint32_t lib_vforked;

bool lib_borrowed(void)
{
    if (lib_likely(!lib_vforked) || lib.quiet)
        return false;
    if ((uint32_t)lib_sys(SYS_getpid) != lib.pid)
        return true;
    lib_vforked = 0;
    return false;
}

#if defined __x86_64__
/* vfork returns twice and cannot be called from a C wrapper: the flag is set, then a jump to the
 * real vfork returns to our caller. */
__attribute__((visibility("hidden"), used)) void *lib_vfork_find(void)
{
    static void *real;

    return real ? real : lib_find(&real, "vfork");
}

__asm__(".text\n"
        ".globl vfork\n"
        ".type vfork, @function\n"
        "vfork:\n"
        "    subq $8, %rsp\n"
        "    call lib_vfork_find\n"
        "    addq $8, %rsp\n"
        "    movl $1, lib_vforked(%rip)\n"
        "    jmp *%rax\n"
        ".size vfork, .-vfork\n");
#endif

LIB_API void _exit(int status)
{
    if (!lib_borrowed())
        lib_end_process();
    LIB_REAL(_exit)(status);
    __builtin_unreachable();
}

LIB_API void _Exit(int status)
{
    if (!lib_borrowed())
        lib_end_process();
    LIB_REAL(_Exit)(status);
    __builtin_unreachable();
}
