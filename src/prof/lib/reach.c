/* reach.c -- whether memory can be read. A program that passes a bad pointer must get EFAULT from
 * the kernel, not a fault in the library.
 *
 * Memory on the stack above this frame, in the program's image or in the heap is readable. For
 * other addresses a system call is made that reads eight bytes and then fails with EINVAL
 * (rt_sigprocmask). In a process with a system-call filter such memory counts as unreadable.
 */
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib_priv.h"

enum { PAGE = 4096, MAIN_STACK = 64 << 20 };

static uintptr_t stack_top; /* of the first thread */
static uintptr_t image_low, image_high, heap_low;

/* The program itself comes first. */
static int reach_image(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    (void)arg;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t at = info->dlpi_addr + p->p_vaddr;

        if (p->p_type != PT_LOAD || !(p->p_flags & PF_R))
            continue;
        image_low = !image_low || at < image_low ? at : image_low;
        image_high = at + p->p_memsz > image_high ? at + p->p_memsz : image_high;
    }
    return 1;
}

void lib_reach_init(void)
{
    stack_top = getauxval(AT_EXECFN); /* a text at the top of the first thread's stack */
    heap_low = (uintptr_t)sbrk(0);
    dl_iterate_phdr(reach_image, NULL);
}

static bool reach_ask(uintptr_t at)
{
    return lib_sys(SYS_rt_sigprocmask, -1L, at & ~(uintptr_t)7, (void *)NULL, 8L) &&
           errno == EINVAL;
}

/* The end of the known range that holds `at`; 0: none does. */
static uintptr_t reach_end(uintptr_t at)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0), self = (uintptr_t)pthread_self();
    bool first = here < stack_top && stack_top - here < MAIN_STACK;
    uintptr_t top = first ? stack_top : self, heap_high = (uintptr_t)sbrk(0);

    if (at >= here && at < top && top - here < MAIN_STACK)
        return top;
    if (at >= image_low && at < image_high)
        return image_high;
    return at >= heap_low && at < heap_high ? heap_high : 0;
}

bool lib_reach(const void *p, size_t n)
{
    uintptr_t at = (uintptr_t)p, end = at + n, known = reach_end(at);
    int saved = errno;
    bool ok = known && end <= known;

    if (end < at || (!ok && lib.quiet))
        return false;
    for (bool more = !ok; more && at < end; at = (at & ~(uintptr_t)(PAGE - 1)) + PAGE)
        more = ok = reach_ask(at);
    errno = saved;
    return ok || !n;
}

/* Up to the end of the text, at most PATH_MAX. */
bool lib_reach_text(const char *s)
{
    const char *end = s + PATH_MAX;
    int saved = errno;
    bool ok = reach_end((uintptr_t)s) != 0;

    while (!ok && s < end && !lib.quiet && reach_ask((uintptr_t)s)) {
        const char *page = (const char *)(((uintptr_t)s & ~(uintptr_t)(PAGE - 1)) + PAGE);

        ok = memchr(s, 0, (size_t)(page - s)) != NULL || page >= end;
        s = page;
    }
    errno = saved;
    return ok;
}
