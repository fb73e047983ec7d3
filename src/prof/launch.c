#include "prof/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/self.h"
#include "base/signals.h"
#include "prof/form/form.h"
#include "prof/sampler.h"

bool prof_find_library(struct wr_str *ret, struct wr_err *err)
{
    const char *given = getenv("WEIR_PROF_LIB");
    struct wr_str folder = {0};

    if (given) {
        wr_str_add(ret, given);
        return true;
    }
    if (wr_self_find_library(ret, "libweir-prof.so"))
        return true;
    wr_self_folder(&folder);
    wr_fail(err, WR_SYSTEM,
            "libweir-prof.so is not where it is built or installed with the program in %s; install "
            "weir anew or set WEIR_PROF_LIB",
            wr_str_get(&folder));
    wr_str_fini(&folder);
    return false;
}

/* A program that GCC's AddressSanitizer is linked to refuses to begin behind another library, which
 * does no harm here: it hands every call on. */
static void allow_sanitizer(void)
{
    const char *old = getenv("ASAN_OPTIONS");
    struct wr_str options = {0};

    if (old && strstr(old, "verify_asan_link_order"))
        return;
    if (old && *old)
        wr_str_addf(&options, "%s:", old);
    wr_str_add(&options, "verify_asan_link_order=0");
    setenv("ASAN_OPTIONS", options.s, 1);
    wr_str_fini(&options);
}

/* What the library reads; other preloaded libraries keep their place before ours. */
static void set_environment(const struct prof_launch *l, const char *lib, pid_t sampler)
{
    const char *old = getenv("LD_PRELOAD");
    struct wr_str preload = {0};
    char text[320], host[64] = "";

    gethostname(host, sizeof host - 1);
    if (old && *old)
        wr_str_addf(&preload, "%s:", old);
    wr_str_add(&preload, lib);
    setenv("LD_PRELOAD", preload.s, 1);
    wr_str_fini(&preload);
    /* The job may change its directory. */
    char *dir = realpath(l->dir, NULL);

    setenv("WEIR_PROF_DIR", dir ? dir : l->dir, 1);
    free(dir);
    setenv("WEIR_PROF_JOB", l->job, 1);
    setenv("WEIR_PROF_CLOCK", l->clock, 1);
    snprintf(text, sizeof text, "%" PRIu64, l->slice_ns);
    setenv("WEIR_PROF_SLICE", text, 1);
    snprintf(text, sizeof text, "%s:%d", host, (int)sampler);
    setenv("WEIR_PROF_SAMPLER", text, 1);
    snprintf(text, sizeof text, "%u", l->files);
    setenv("WEIR_PROF_FILES", text, 1);
    snprintf(text, sizeof text, "%u", l->callers);
    setenv("WEIR_PROF_CALLERS", text, 1);
    allow_sanitizer();
}

void prof_hold_begin(struct prof_hold *h)
{
    sigset_t ours;

    sigemptyset(&ours);
    sigaddset(&ours, SIGINT);
    sigaddset(&ours, SIGTERM);
    sigaddset(&ours, SIGHUP);
    sigprocmask(SIG_BLOCK, &ours, &h->before);
    h->fd = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
}

void prof_hold_end(struct prof_hold *h)
{
    if (h->fd >= 0)
        close(h->fd);
    sigprocmask(SIG_SETMASK, &h->before, NULL);
}

/* In the child: waits for its parent's word, so that no signal falls between the two. */
static void execute(const struct prof_launch *l, const struct prof_hold *hold, const char *lib,
                    pid_t sampler, int go, int tell)
{
    char word;

    set_environment(l, lib, sampler);
    if (read(go, &word, 1) != 1)
        _exit(126); /* the launcher was killed */
    wr_xfsz_restore();
    sigprocmask(SIG_SETMASK, &hold->before, NULL);
    execvp(l->argv[0], l->argv);
    int why = errno;

    if (write(tell, &why, sizeof why) < 0)
        _exit(126);
    _exit(127);
}

/* What came before the command was there: it has it as its first. */
static void pass_early(const struct prof_hold *hold, pid_t child)
{
    struct signalfd_siginfo got;

    while (read(hold->fd, &got, sizeof got) == sizeof got)
        kill(child, (int)got.ssi_signo);
}

static pid_t start(const struct prof_launch *l, const struct prof_hold *hold, const char *lib,
                   struct wr_err *err)
{
    pid_t sampler = getpid(), pid = -1;
    int tell[2] = {-1, -1}, go[2] = {-1, -1}, why = 0;

    if (!pipe2(tell, O_CLOEXEC) && !pipe2(go, O_CLOEXEC))
        pid = fork();
    if (pid < 0)
        wr_fail_errno(err, "cannot start a process; try again");
    if (pid == 0) {
        close(go[1]);
        execute(l, hold, lib, sampler, go[0], tell[1]);
    }
    if (pid > 0) {
        pass_early(hold, pid);
        ssize_t sent = write(go[1], "", 1);

        (void)sent; /* a child that is gone is seen below */
        close(tell[1]);
        tell[1] = -1;
        if (read(tell[0], &why, sizeof why) == sizeof why) {
            waitpid(pid, NULL, 0);
            errno = why;
            wr_fail_read(err, "cannot run %s; look at its name", l->argv[0]);
            pid = -1;
        }
    }
    for (int i = 0; i < 2; i++) {
        if (tell[i] >= 0)
            close(tell[i]);
        if (go[i] >= 0)
            close(go[i]);
    }
    return pid;
}

/* What the launcher waits for. */
struct watch {
    pid_t child;
    int pidfd, signals;
};

/* A signal sent to us alone goes to the command; what a terminal sends, the command gets by itself.
 */
static void pass_on(const struct watch *w)
{
    struct signalfd_siginfo got;

    while (read(w->signals, &got, sizeof got) == sizeof got)
        if (got.ssi_code != SI_KERNEL)
            kill(w->child, (int)got.ssi_signo);
}

/* Until the moment or the child's end, whichever comes first. True: it has ended; it can still be
 * looked at. */
static bool wait_until(const struct watch *w, int64_t now, int64_t when)
{
    siginfo_t info = {0};
    int64_t left = when - now;
    struct pollfd p[] = {{.fd = w->signals, .events = POLLIN}, {.fd = w->pidfd, .events = POLLIN}};
    struct timespec t = {left > 0 ? left / 1000000000 : 0, left > 0 ? left % 1000000000 : 0};

    if (ppoll(p, 2, &t, NULL) > 0 && p[0].revents)
        pass_on(w);
    return !waitid(P_PID, (id_t)w->child, &info, WEXITED | WNOHANG | WNOWAIT) &&
           info.si_pid == w->child;
}

static int finish(pid_t child)
{
    int status = 0;

    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void watch(struct prof_sampler *s, const struct prof_hold *hold, pid_t child)
{
    struct watch w = {
        .child = child, .pidfd = (int)syscall(SYS_pidfd_open, child, 0), .signals = hold->fd};

    while (!wait_until(&w, prof_sampler_now(s), prof_sampler_next(s)))
        if (prof_sampler_now(s) >= prof_sampler_next(s))
            prof_sampler_look(s, prof_sampler_now(s), child);
    if (w.pidfd >= 0)
        close(w.pidfd);
}

bool prof_launch(const struct prof_launch *l, const struct prof_hold *hold, int *ret_status,
                 struct wr_err *err)
{
    struct prof_sampler *s;
    struct wr_str lib = {0};

    if (l->lib)
        wr_str_add(&lib, l->lib);
    else if (!prof_find_library(&lib, err))
        return false;
    struct prof_sampling what = {.dir = l->dir,
                                 .job = l->job,
                                 .clock = !strcmp(l->clock, "coarse")    ? PROF_COARSE
                                          : !strcmp(l->clock, "precise") ? PROF_PRECISE
                                                                         : PROF_SAMPLED,
                                 .slice_ns = l->slice_ns,
                                 .room_b = l->room_b ? l->room_b : PROF_ROOM_B,
                                 .counters = l->counters};

    if (!prof_sampler_open(&s, &what, err)) {
        wr_str_fini(&lib);
        return false;
    }
    pid_t child = start(l, hold, lib.s, err);

    wr_str_fini(&lib);
    if (child > 0)
        watch(s, hold, child);
    prof_sampler_close(s, prof_sampler_now(s), child);
    if (child < 0)
        return false;
    *ret_status = finish(child);
    return true;
}
