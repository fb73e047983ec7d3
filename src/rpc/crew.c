#include "rpc/crew.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "rpc/nic/nic.h"
#include "run/run.h"

enum { LONGEST = 16 << 20, LOOK_MS = 50 };

/* ---- start ---- */

/* What the launcher runs joins its words and gives them to a shell once more. */
static bool goes_through_a_shell(const char *launch)
{
    static const char *const such[] = {"ssh", "rsh", "pdsh", "clush"};
    size_t n = strcspn(launch, " ");
    const char *slash = memrchr(launch, '/', n), *name = slash ? slash + 1 : launch;

    n -= (size_t)(name - launch);
    for (size_t i = 0; i < sizeof such / sizeof *such; i++)
        if (strlen(such[i]) == n && !strncmp(such[i], name, n))
            return true;
    return false;
}

/* The template with its words filled in. */
static char *fill_in(const char *launch, const char *program, const char *host, const char *role,
                     uint32_t rank)
{
    struct wr_str out = {0}, path = {0}, cmd = {0}, where = {0};
    char number[16];

    run_command_word(&path, program);
    if (goes_through_a_shell(launch))
        run_command_word(&cmd, wr_str_get(&path));
    else
        wr_str_add(&cmd, wr_str_get(&path));
    wr_str_add(&cmd, " internal rpc-worker");
    run_command_word(&where, host);
    snprintf(number, sizeof number, "%u", rank);
    const struct {
        const char *word, *value;
    } words[] = {{"{cmd}", wr_str_get(&cmd)},
                 {"{host}", wr_str_get(&where)},
                 {"{role}", role},
                 {"{rank}", number}};

    while (*launch) {
        size_t k = 0, n = sizeof words / sizeof *words;

        while (k < n && strncmp(launch, words[k].word, strlen(words[k].word)) != 0)
            k++;
        if (k < n) {
            wr_str_add(&out, words[k].value);
            launch += strlen(words[k].word);
        } else
            wr_str_addn(&out, launch++, 1);
    }
    wr_str_fini(&path);
    wr_str_fini(&cmd);
    wr_str_fini(&where);
    return out.s;
}

static _Noreturn void become(const char *program, char *command, int in, int out, pid_t parent)
{
    dup2(in, 0);
    dup2(out, 1);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    if (command)
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    else
        execl(program, "weir", "internal", "rpc-worker", (char *)NULL);
    _exit(127);
}

bool rpc_member_start(struct rpc_member *m, const char *program, const char *launch,
                      const char *host, struct wr_err *err)
{
    int down[2] = {-1, -1}, up[2] = {-1, -1};
    pid_t parent = getpid();
    char *command =
        launch && *launch ? fill_in(launch, program, host ? host : "", m->role, m->rank) : NULL;

    fflush(NULL);
    if (!pipe2(down, O_CLOEXEC) && !pipe2(up, O_CLOEXEC))
        m->pid = fork();
    else
        m->pid = -1;
    if (!m->pid)
        become(program, command, down[0], up[1], parent);
    free(command);
    close(down[0]);
    close(up[1]);
    m->to = down[1];
    m->from = up[0];
    if (m->pid < 0) {
        close(m->to);
        close(m->from);
        return wr_fail_errno(err, "cannot start %s %u; start fewer processes", m->role, m->rank);
    }
    m->alive = true;
    return true;
}

/* ---- talk ---- */

/* Out: nobody waits for it any more. */
static void expel(struct rpc_member *m, const char *why)
{
    if (!m->alive)
        return;
    m->alive = false;
    snprintf(m->why, sizeof m->why, "%s %u %.200s", m->role, m->rank, why);
    if (!m->reaped && m->pid > 0)
        kill(m->pid, SIGKILL);
}

static bool reap(struct rpc_member *m, int *status)
{
    if (!m->reaped && waitpid(m->pid, status, WNOHANG) != 0)
        m->reaped = true;
    return m->reaped;
}

static void tell_its_end(struct rpc_member *m, int status)
{
    char why[64] = "ended before its time";

    if (WIFSIGNALED(status))
        snprintf(why, sizeof why, "was killed by signal %d", WTERMSIG(status));
    else if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        snprintf(why, sizeof why, "could not be started: no such command");
    expel(m, why);
}

/* Its pipe is closed, so it is about to be gone. */
static void out_of_itself(struct rpc_member *m)
{
    int status = 0;

    for (int i = 0; i < 100 && !reap(m, &status); i++)
        usleep(2000);
    tell_its_end(m, status);
}

void rpc_crew_look(struct rpc_member *m, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int status = 0;

        if (m[i].alive && m[i].pid > 0 && reap(&m[i], &status))
            tell_its_end(&m[i], status);
    }
}

void rpc_member_say(struct rpc_member *m, json_t *what)
{
    char *text = json_dumps(what, JSON_COMPACT);
    size_t n = strlen(text);

    json_decref(m->answer);
    m->answer = NULL;
    text[n] = '\n';
    if (m->alive && m->pid > 0 && write(m->to, text, n + 1) != (ssize_t)(n + 1))
        out_of_itself(m);
    free(text);
    json_decref(what);
}

static void take_line(struct rpc_member *m)
{
    char *end = m->text.s ? memchr(m->text.s, '\n', m->text.n) : NULL;

    if (!end)
        return;
    size_t n = (size_t)(end - m->text.s) + 1;

    m->answer = json_loadb(m->text.s, n - 1, 0, NULL);
    memmove(m->text.s, m->text.s + n, m->text.n - n + 1);
    m->text.n -= n;
    const char *failed = json_string_value(json_object_get(m->answer, "failed"));

    if (!m->answer)
        expel(m, "does not speak our language; use the same weir everywhere");
    else if (failed) {
        char why[200];

        snprintf(why, sizeof why, "failed: %.180s", failed);
        expel(m, why);
    }
}

static void hear(struct rpc_member *m)
{
    char part[65536];
    ssize_t n = read(m->from, part, sizeof part);

    if (n > 0) {
        wr_str_addn(&m->text, part, (size_t)n);
        if (m->text.n > LONGEST)
            expel(m, "talks without end");
        else
            take_line(m);
    } else if (n == 0 || errno != EINTR)
        out_of_itself(m);
}

bool rpc_crew_await(struct rpc_member **m, size_t n, uint64_t timeout_ns, bool (*stop)(void))
{
    struct pollfd *p = wr_zalloc(n, sizeof *p);
    uint64_t begun = wr_clock_ns();
    bool stopped = false;

    for (;;) {
        size_t waiting = 0;

        for (size_t i = 0; i < n; i++) {
            bool wait = m[i]->alive && m[i]->pid > 0 && !m[i]->answer;

            p[i] = (struct pollfd){.fd = wait ? m[i]->from : -1, .events = POLLIN};
            waiting += wait;
        }
        if (!waiting || (stopped = stop && stop()))
            break;
        if (wr_clock_ns() - begun > timeout_ns) {
            for (size_t i = 0; i < n; i++)
                if (p[i].fd >= 0)
                    expel(m[i], "does not answer and was killed");
            break;
        }
        if (poll(p, n, LOOK_MS) <= 0)
            continue;
        for (size_t i = 0; i < n; i++)
            if (p[i].fd >= 0 && p[i].revents)
                hear(m[i]);
    }
    free(p);
    return !stopped;
}

/* ---- end ---- */

/* Its files are PID:NUMBER:NUMBER; ours, of a process that is gone, nobody misses. */
void rpc_crew_sweep(pid_t pid)
{
    DIR *dir = opendir("/dev/shm");
    struct dirent *each;
    char begin[32];
    size_t n = (size_t)snprintf(begin, sizeof begin, "%d:", (int)pid);

    while (dir && (each = readdir(dir))) {
        struct stat st;

        if (strncmp(each->d_name, begin, n) == 0 &&
            strspn(each->d_name, "0123456789:") == strlen(each->d_name) &&
            !fstatat(dirfd(dir), each->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode) &&
            st.st_uid == geteuid())
            unlinkat(dirfd(dir), each->d_name, 0);
    }
    if (dir)
        closedir(dir);
}

void rpc_crew_end(struct rpc_member *m, size_t n)
{
    uint64_t begun = wr_clock_ns();

    for (size_t i = 0; i < n; i++)
        if (m[i].pid > 0) {
            close(m[i].to);
            close(m[i].from);
        }
    for (size_t i = 0; i < n; i++) {
        int status;

        while (m[i].pid > 0 && !reap(&m[i], &status)) {
            if (wr_clock_ns() - begun > 3000000000)
                kill(m[i].pid, SIGKILL);
            usleep(2000);
        }
        if (m[i].pid > 0)
            rpc_crew_sweep(m[i].pid);
        json_decref(m[i].answer);
        json_decref(m[i].hello);
        wr_str_fini(&m[i].text);
        m[i] = (struct rpc_member){.pid = 0};
    }
    nic_tables_collect(NULL); /* of those that were killed */
}
