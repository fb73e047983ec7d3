/* bench_prof.c -- what libweir-prof.so adds to a call, and to the start and end of a program.
 *
 * The kernel is replaced by a stub, so that only what stands between the program and it is
 * measured. The program runs itself again and again, in turn without anything, with an empty
 * forwarding wrapper and with the library in each mode; of each the lowest tenth of the samples
 * counts, because the machine may be shared. What is wanted is the difference to the empty wrapper.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { START_US = 400 /* more of a program's start and end is too much */ };
enum { CALLS = 200000, CHUNKS = 40, ROUNDS = 12, STARTS = 60 };

static const struct mode {
    const char *name, *preload; /* beside the stub */
    const char *clock;
    double most; /* ns over the empty wrapper; 0: not judged */
    bool disk;   /* profiles go beside the program, not into memory */
    const char *callers;
} modes[] = {
    {"nothing", "", NULL, 0, false, NULL},
    {"empty wrapper", "lib/libprof-empty.so", NULL, 0, false, NULL},
    {"sampled", "lib/libweir-prof.so", "sampled", 3, false, NULL},
    {"coarse", "lib/libweir-prof.so", "coarse", 10, false, NULL},
    {"precise", "lib/libweir-prof.so", "precise", 40, false, NULL},
    {"sampled, disk", "lib/libweir-prof.so", "sampled", 3, true, NULL},
    {"4 callers", "lib/libweir-prof.so", "sampled", 0, false, "4"},
};

enum { MODES = sizeof modes / sizeof modes[0] };

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* The child: ns per call, the best chunk. */
static int child(const char *file)
{
    char buf[8] = "";
    int fd = open(file, O_RDWR | O_CREAT, 0600);
    double best = 1e9;

    for (int c = 0; c < CHUNKS; c++) {
        double t = now_ns();

        for (int i = 0; i < CALLS; i++)
            if (pwrite(fd, buf, sizeof buf, 0) != sizeof buf)
                return 1;
        t = (now_ns() - t) / CALLS;
        best = t < best ? t : best;
    }
    printf("%.4f\n", best);
    return 0;
}

static void child_environment(const struct mode *m, const char *here, const char *dir, bool stub)
{
    char preload[8192], sampler[128], host[64] = "";

    gethostname(host, sizeof host - 1);
    snprintf(sampler, sizeof sampler, "%s:%d", host, (int)getppid());
    snprintf(preload, sizeof preload, "%s%s%s%s%s%s", *m->preload ? here : "",
             *m->preload ? "/" : "", m->preload, stub && *m->preload ? ":" : "", stub ? here : "",
             stub ? "/lib/libprof-stub.so" : "");
    setenv("LD_PRELOAD", preload, 1);
    unsetenv("WEIR_PROF_DIR");
    if (m->clock) {
        setenv("WEIR_PROF_DIR", dir, 1);
        setenv("WEIR_PROF_CLOCK", m->clock, 1);
        setenv("WEIR_PROF_SAMPLER", sampler, 1);
        setenv("WEIR_PROF_CALLERS", m->callers ? m->callers : "0", 1);
    }
}

static double call_cost(const struct mode *m, const char *self, const char *here, const char *dir)
{
    char file[4400], text[64] = "";
    int p[2], status = 0;

    snprintf(file, sizeof file, "%s/data", dir);
    if (pipe(p))
        return -1;
    pid_t pid = fork();

    if (!pid) {
        child_environment(m, here, dir, true);
        dup2(p[1], 1);
        execl(self, self, "--child", file, NULL);
        _exit(9);
    }
    close(p[1]);
    if (read(p[0], text, sizeof text - 1) <= 0)
        status = 1;
    close(p[0]);
    waitpid(pid, NULL, 0);
    return status ? -1 : strtod(text, NULL);
}

/* A program that does nothing, from fork to wait, in microseconds. */
static double start_cost(const struct mode *m, const char *here, const char *dir)
{
    double t = now_ns();
    pid_t pid = fork();

    if (!pid) {
        child_environment(m, here, dir, false);
        execl("/bin/true", "true", NULL);
        _exit(9);
    }
    waitpid(pid, NULL, 0);
    return (now_ns() - t) / 1e3;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static double low(double *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, by_value);
    return v[n / 10];
}

static void clean(const char *dir)
{
    char command[8300];

    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    if (system(command))
        perror(command);
}

int main(int argc, char **argv)
{
    char here[4096], self[4096], dir[] = "/dev/shm/weir-bench-XXXXXX";
    char disk[4200];
    static double calls[MODES][ROUNDS], starts[MODES][STARTS];
    int bad = 0;

    if (argc == 3 && !strcmp(argv[1], "--child"))
        return child(argv[2]);
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

    self[n > 0 ? n : 0] = 0;
    snprintf(here, sizeof here, "%.*s", (int)(strrchr(self, '/') - self), self);
    snprintf(disk, sizeof disk, "%.4000s/weir-bench-XXXXXX", here);
    if (!mkdtemp(dir) || !mkdtemp(disk))
        return 4;
    for (int r = 0; r < ROUNDS; r++)
        for (int m = 0; m < MODES; m++)
            calls[m][r] = call_cost(&modes[m], self, here, modes[m].disk ? disk : dir);
    for (int r = 0; r < STARTS; r++)
        for (int m = 0; m < MODES; m++)
            starts[m][r] = start_cost(&modes[m], here, modes[m].disk ? disk : dir);
    clean(dir);
    clean(disk);
    double base = low(calls[1], ROUNDS), plain = low(starts[0], STARTS);

    for (int m = 0; m < MODES; m++) {
        double ns = low(calls[m], ROUNDS), us = low(starts[m], STARTS);
        bool over = modes[m].most > 0 && (ns - base > modes[m].most || us - plain > START_US);

        printf("%-14s %6.2f ns per call, %+6.2f over the empty wrapper", modes[m].name, ns,
               ns - base);
        if (modes[m].most > 0)
            printf(" (at most %.0f wanted)", modes[m].most);
        printf("; start and end %+.0f us%s\n", us - plain, over ? "  TOO MUCH" : "");
        bad |= over;
    }
    return bad;
}
