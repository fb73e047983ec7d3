/* worker_pool.c -- starts worker processes, here or through a launcher, and exchanges lines with
 * them.
 *
 * Used by collect.c and polling.c. A worker that exits, hangs or reports a failure is marked not
 * alive and killed; `why` keeps the reason and the others go on. Invariant: a member with pid > 0
 * has two open pipes until rpc_pool_end().
 */
#include "rpc/worker_pool.h"

#include <assert.h>
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
static bool pool_uses_shell(const char *launch)
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
static char *pool_expand_template(const char *launch, const char *program, const char *host,
                                  const char *role, uint32_t rank)
{
    struct wr_str out = {0}, path = {0}, cmd = {0}, where = {0};
    char number[16];

    run_command_word(&path, program);
    if (pool_uses_shell(launch))
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

static _Noreturn void pool_exec(const char *program, char *command, int in, int out, pid_t parent)
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
    assert(m->role && program && !m->pid);
    int down[2] = {-1, -1}, up[2] = {-1, -1};
    pid_t parent = getpid();
    char *command = launch && *launch
                        ? pool_expand_template(launch, program, host ? host : "", m->role, m->rank)
                        : NULL;

    fflush(NULL);
    if (!pipe2(down, O_CLOEXEC) && !pipe2(up, O_CLOEXEC))
        m->pid = fork();
    else
        m->pid = -1;
    if (!m->pid)
        pool_exec(program, command, down[0], up[1], parent);
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

/* Its answers are not waited for any more. */
static void pool_fail(struct rpc_member *m, const char *why)
{
    if (!m->alive)
        return;
    m->alive = false;
    snprintf(m->why, sizeof m->why, "%s %u %.200s", m->role, m->rank, why);
    if (!m->reaped && m->pid > 0)
        kill(m->pid, SIGKILL);
}

static bool pool_reap(struct rpc_member *m, int *status)
{
    if (!m->reaped && waitpid(m->pid, status, WNOHANG) != 0)
        m->reaped = true;
    return m->reaped;
}

static void pool_report_exit(struct rpc_member *m, int status)
{
    char why[64] = "ended before its time";

    if (WIFSIGNALED(status))
        snprintf(why, sizeof why, "was killed by signal %d", WTERMSIG(status));
    else if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        snprintf(why, sizeof why, "could not be started: no such command");
    pool_fail(m, why);
}

/* Its pipe is closed, so the process is about to exit. */
static void pool_reap_closed(struct rpc_member *m)
{
    int status = 0;

    for (int i = 0; i < 100 && !pool_reap(m, &status); i++)
        usleep(2000);
    pool_report_exit(m, status);
}

void rpc_pool_check(struct rpc_member *m, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int status = 0;

        if (m[i].alive && m[i].pid > 0 && pool_reap(&m[i], &status))
            pool_report_exit(&m[i], status);
    }
}

void rpc_member_say(struct rpc_member *m, json_t *what)
{
    assert(what);
    char *text = json_dumps(what, JSON_COMPACT);
    size_t n = strlen(text);

    json_decref(m->answer);
    m->answer = NULL;
    text[n] = '\n';
    if (m->alive && m->pid > 0 && write(m->to, text, n + 1) != (ssize_t)(n + 1))
        pool_reap_closed(m);
    free(text);
    json_decref(what);
}

static void pool_parse_line(struct rpc_member *m)
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
        pool_fail(m, "does not speak our language; use the same weir everywhere");
    else if (failed) {
        char why[200];

        snprintf(why, sizeof why, "failed: %.180s", failed);
        pool_fail(m, why);
    }
}

static void pool_read(struct rpc_member *m)
{
    char part[65536];
    ssize_t n = read(m->from, part, sizeof part);

    if (n > 0) {
        wr_str_addn(&m->text, part, (size_t)n);
        if (m->text.n > LONGEST)
            pool_fail(m, "talks without end");
        else
            pool_parse_line(m);
    } else if (n == 0 || errno != EINTR)
        pool_reap_closed(m);
}

bool rpc_pool_await(struct rpc_member **m, size_t n, uint64_t timeout_ns, bool (*stop)(void))
{
    for (size_t i = 0; i < n; i++)
        assert(m[i]);
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
                    pool_fail(m[i], "does not answer and was killed");
            break;
        }
        if (poll(p, n, LOOK_MS) <= 0)
            continue;
        for (size_t i = 0; i < n; i++)
            if (p[i].fd >= 0 && p[i].revents)
                pool_read(m[i]);
    }
    free(p);
    return !stopped;
}

/* ---- end ---- */

/* The files are called PID:NUMBER:NUMBER. Only those of this user are removed. */
void rpc_pool_remove_shm(pid_t pid)
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

void rpc_pool_end(struct rpc_member *m, size_t n)
{
    uint64_t begun = wr_clock_ns();

    for (size_t i = 0; i < n; i++)
        if (m[i].pid > 0) {
            close(m[i].to);
            close(m[i].from);
        }
    for (size_t i = 0; i < n; i++) {
        int status;

        while (m[i].pid > 0 && !pool_reap(&m[i], &status)) {
            if (wr_clock_ns() - begun > 3000000000)
                kill(m[i].pid, SIGKILL);
            usleep(2000);
        }
        if (m[i].pid > 0)
            rpc_pool_remove_shm(m[i].pid);
        json_decref(m[i].answer);
        json_decref(m[i].hello);
        wr_str_fini(&m[i].text);
        m[i] = (struct rpc_member){.pid = 0};
    }
    nic_tables_collect(NULL); /* of those that were killed */
}
