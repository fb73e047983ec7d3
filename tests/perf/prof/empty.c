/* empty.c -- the least that a preloaded library can do: find the next pwrite, and call it. */
#include <dlfcn.h>
#include <unistd.h>

typedef ssize_t writer(int fd, const void *buf, size_t n, off_t at);

__attribute__((visibility("default"))) ssize_t pwrite(int fd, const void *buf, size_t n, off_t at)
{
    static writer *real;

    if (__builtin_expect(!real, 0))
        real = (writer *)dlsym(RTLD_NEXT, "pwrite");
    return real(fd, buf, n, at);
}
