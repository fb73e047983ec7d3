/* launch.c -- runs the command of `weir profile`: environment, fork, exec, sampling, signals, exit
 * status.
 *
 * The launcher is the sampler: it wakes for each sample and for each signal. It is a child
 * subreaper, so that processes of the job that lose their parent become its children and their ends
 * are seen.
 */
#include "prof/launch.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/self.h"
#include "base/signals.h"
#include "base/str.h"
#include "prof/form/form.h"
#include "prof/sampler.h"

/* The path of the library, relative to this program or from WEIR_PROF_LIB. */
static bool launch_find_library(struct wr_str *ret, struct wr_err *err)
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

/* A program with GCC's AddressSanitizer refuses to start after another preloaded library. That is
 * harmless here: the library passes every call on. */
static void launch_allow_sanitizer(void)
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

/* The variables that the library reads. Other preloaded libraries stay before ours. */
static void launch_set_environment(const struct prof_launch *l, const char *lib, pid_t sampler)
{
    assert(l->dir && l->job && l->clock && sampler > 0);
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
    setenv("WEIR_PROF_SLICE", l->slice_ns ? text : "auto", 1);
    snprintf(text, sizeof text, "%s:%d", host, (int)sampler);
    setenv("WEIR_PROF_SAMPLER", text, 1);
    snprintf(text, sizeof text, "%u", l->files);
    setenv("WEIR_PROF_FILES", text, 1);
    snprintf(text, sizeof text, "%u", l->callers);
    setenv("WEIR_PROF_CALLERS", text, 1);
    if (l->sockets)
        setenv("WEIR_PROF_SOCKETS", l->sockets, 1);
    else
        unsetenv("WEIR_PROF_SOCKETS");
    launch_allow_sanitizer();
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

/* In the child. Waits for a byte from the parent, so that no signal is lost in between. */
static void launch_execute(const struct prof_launch *l, const struct prof_hold *hold,
                           const char *lib, pid_t sampler, int go, int failure)
{
    char word;

    launch_set_environment(l, lib, sampler);
    if (read(go, &word, 1) != 1)
        _exit(126); /* the launcher was killed */
    wr_xfsz_restore();
    sigprocmask(SIG_SETMASK, &hold->before, NULL);
    execvp(l->argv[0], l->argv);
    int why = errno;

    if (write(failure, &why, sizeof why) < 0)
        _exit(126);
    _exit(127);
}

/* Forwards signals that arrived before the command was started. */
static void launch_pass_early(const struct prof_hold *hold, pid_t child)
{
    struct signalfd_siginfo got;

    while (read(hold->fd, &got, sizeof got) == sizeof got)
        kill(child, (int)got.ssi_signo);
}

static pid_t launch_start(const struct prof_launch *l, const struct prof_hold *hold,
                          const char *lib, struct wr_err *err)
{
    assert(l->argv && l->argv[0]);
    pid_t sampler = getpid(), pid = -1;
    int failure[2] = {-1, -1}, go[2] = {-1, -1}, why = 0;

    if (!pipe2(failure, O_CLOEXEC) && !pipe2(go, O_CLOEXEC))
        pid = fork();
    if (pid < 0)
        wr_fail_errno(err, "cannot start a process; try again");
    if (pid == 0) {
        close(go[1]);
        launch_execute(l, hold, lib, sampler, go[0], failure[1]);
    }
    if (pid > 0) {
        launch_pass_early(hold, pid);
        ssize_t sent = write(go[1], "", 1);

        (void)sent; /* if the child is gone, read() below sees it */
        close(failure[1]);
        failure[1] = -1;
        if (read(failure[0], &why, sizeof why) == sizeof why) {
            waitpid(pid, NULL, 0);
            errno = why;
            wr_fail_read(err, "cannot run %s; look at its name", l->argv[0]);
            pid = -1;
        }
    }
    for (int i = 0; i < 2; i++) {
        if (failure[i] >= 0)
            close(failure[i]);
        if (go[i] >= 0)
            close(go[i]);
    }
    return pid;
}

/* What the launcher waits for: the command and signals. */
struct watch {
    pid_t child;
    int pidfd, signals;
};

/* A signal sent to the launcher alone is forwarded; the terminal signals the command itself. */
static void launch_pass_signals(const struct watch *w)
{
    assert(w->child > 0);
    struct signalfd_siginfo got;

    while (read(w->signals, &got, sizeof got) == sizeof got)
        if (got.ssi_code != SI_KERNEL)
            kill(w->child, (int)got.ssi_signo);
}

/* Processes of the job whose parent ended are children of this one: their ends are recorded, then
 * they are waited for. True: the command has ended; it is not waited for yet. */
static bool launch_reap_orphans(struct prof_sampler *s, pid_t command)
{
    siginfo_t info = {0};

    while (!waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid) {
        if (info.si_pid == command)
            return true;
        prof_sampler_ended(s, info.si_pid);
        waitpid(info.si_pid, NULL, 0);
        info.si_pid = 0;
    }
    return false;
}

/* Waits until `when` or the end of the command. True: it has ended. */
static bool launch_wait_until(struct prof_sampler *s, const struct watch *w, int64_t when)
{
    int64_t left = when - prof_sampler_now(s);
    struct pollfd p[] = {{.fd = w->signals, .events = POLLIN}, {.fd = w->pidfd, .events = POLLIN}};
    struct timespec t = {left > 0 ? left / 1000000000 : 0, left > 0 ? left % 1000000000 : 0};

    if (ppoll(p, 2, &t, NULL) > 0 && p[0].revents)
        launch_pass_signals(w);
    return launch_reap_orphans(s, w->child);
}

static int launch_exit_status(pid_t child)
{
    assert(child > 0);
    int status = 0;

    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void launch_watch(struct prof_sampler *s, const struct prof_hold *hold, pid_t child)
{
    struct watch w = {
        .child = child, .pidfd = (int)syscall(SYS_pidfd_open, child, 0), .signals = hold->fd};

    while (!launch_wait_until(s, &w, prof_sampler_next(s)))
        if (prof_sampler_now(s) >= prof_sampler_next(s))
            prof_sampler_look(s, prof_sampler_now(s));
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
    else if (!launch_find_library(&lib, err))
        return false;
    struct prof_sampling what = {.dir = l->dir,
                                 .job = l->job,
                                 .clock = !strcmp(l->clock, "coarse")    ? PROF_COARSE
                                          : !strcmp(l->clock, "precise") ? PROF_PRECISE
                                                                         : PROF_SAMPLED,
                                 .slice_ns = l->slice_ns,
                                 .capacity_b = l->capacity_b ? l->capacity_b : PROF_CAPACITY_B,
                                 .counters = l->counters};

    if (!prof_sampler_open(&s, &what, err)) {
        wr_str_fini(&lib);
        return false;
    }
    /* Orphans of the job become children of the launcher, not of init. Not inherited. */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t child = launch_start(l, hold, lib.s, err);

    wr_str_fini(&lib);
    if (child > 0)
        launch_watch(s, hold, child);
    prof_sampler_close(s, prof_sampler_now(s));
    if (child > 0)
        *ret_status = launch_exit_status(child);
    while (waitpid(-1, NULL, WNOHANG) > 0) /* orphans, already recorded */
        ;
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    return child > 0;
}
