/* reach.c -- may this memory be read? A program that hands over a bad pointer gets EFAULT from the
 * kernel, not a fault from whoever looks at its arguments before.
 *
 * What lies above the caller's frame on its stack, in the program's own image or in the heap is
 * there. Of everything else the kernel is asked, by a system call that reads eight bytes and then
 * refuses to do anything with them; in a process with a system-call filter nobody is asked.
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
    return syscall(SYS_rt_sigprocmask, -1L, at & ~(uintptr_t)7, NULL, 8L) && errno == EINVAL;
}

/* All of it up to the end of the range, which is told; 0: it is in none of them. */
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

/* As far as a path may be long. */
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
