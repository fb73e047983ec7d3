/* raw.c -- system calls made by the library.
 *
 * syscall() is wrapped (sys.c), so the library has an entry of its own. Like the C library's it
 * returns -1 and sets errno. Callers: all of src/prof/lib.
 */
#include <errno.h>

#include "lib_priv.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

__attribute__((visibility("hidden"), used)) long lib_sys_failed(long error)
{
    errno = (int)-error;
    return -1;
}

#if defined __x86_64__
__asm__(".text\n"
        ".globl lib_sys\n"
        ".hidden lib_sys\n"
        ".type lib_sys, @function\n"
        "lib_sys:\n"
        "    movq %rdi, %rax\n"
        "    movq %rsi, %rdi\n"
        "    movq %rdx, %rsi\n"
        "    movq %rcx, %rdx\n"
        "    movq %r8, %r10\n"
        "    movq %r9, %r8\n"
        "    movq 8(%rsp), %r9\n"
        "    syscall\n"
        "    cmpq $-4095, %rax\n"
        "    jae 1f\n"
        "    ret\n"
        "1:  movq %rax, %rdi\n"
        "    jmp lib_sys_failed\n"
        ".size lib_sys, .-lib_sys\n");
#else
#include <dlfcn.h>
#include <stdarg.h>

long lib_sys(long number, ...)
{
    static long (*next)(long number, ...);
    long a[6];
    va_list ap;

    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "syscall");
    va_start(ap, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(ap, long);
    va_end(ap);
    return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
#endif
