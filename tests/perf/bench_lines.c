/* bench_lines.c -- what a cache line costs here, by how much memory it may be anywhere in.
 *
 * The floor under a simulator that touches some lines for each event: waited for, one after the
 * other; asked for 32 ahead; and, of so many lines, one in each 4 KiB, waited for: if that is
 * dearer than the same lines side by side, memory is mapped by small pages in the end, whatever
 * pages the program has.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"

enum { LINE = 64, PAGE = 4096, AHEAD = 32, TOUCHES = 2000000, MOST = 1 << 30 };

/* Where line `i` is: side by side, or one in each page and there anywhere. */
static char **line(char *base, size_t i, bool apart)
{
    return (char **)(base + (apart ? i * PAGE + i * 2654435761u % (PAGE / LINE) * LINE : i * LINE));
}

/* The lines in a ring of random order, each with the address of the next (Sattolo 1986). */
static double waited_ns(char *base, size_t n, bool apart, struct wr_rng *g)
{
    char **at = line(base, 0, apart);

    for (size_t i = 0; i < n; i++)
        *line(base, i, apart) = (char *)line(base, i, apart);
    for (size_t i = n - 1; i; i--) {
        char **a = line(base, i, apart), **b = line(base, wr_rng_below(g, (uint32_t)i), apart);
        char *swap = *a;

        *a = *b;
        *b = swap;
    }
    for (size_t i = 0; i < TOUCHES; i++)
        at = (char **)*at;
    uint64_t from = wr_clock_ns();

    for (size_t i = 0; i < TOUCHES; i++)
        at = (char **)*at;
    double ns = (double)(wr_clock_ns() - from) / TOUCHES;

    return at ? ns : 0;
}

static double asked_ns(const char *base, size_t n)
{
    size_t coming[AHEAD] = {0};
    uint64_t x = 1, sum = 0, from = wr_clock_ns();

    for (size_t i = 0; i < TOUCHES; i++) {
        size_t now = coming[i % AHEAD];

        x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
        coming[i % AHEAD] = (x >> 33) % n * LINE;
        __builtin_prefetch(base + coming[i % AHEAD]);
        sum += *(const volatile unsigned char *)(base + now);
    }
    double ns = (double)(wr_clock_ns() - from) / TOUCHES;

    return sum != 1 ? ns : 0;
}

int main(void)
{
    char *base = wr_zalloc_aligned(MOST, 1); /* in large pages */
    struct wr_rng g;

    wr_rng_init(&g, 1, 0, 0);
    for (size_t bytes = 1 << 20; bytes <= MOST; bytes *= 4)
        printf("a line of %4zu MiB: %5.1f ns waited for, %5.1f ns asked for ahead\n", bytes >> 20,
               waited_ns(base, bytes / LINE, false, &g), asked_ns(base, bytes / LINE));
    for (size_t n = 1024; n <= 16384; n *= 4)
        printf("a line of %5zu: %5.1f ns side by side, %5.1f ns one in each 4 KiB\n", n,
               waited_ns(base, n, false, &g), waited_ns(base, n, true, &g));
    free(base);
    return 0;
}
