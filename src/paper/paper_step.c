/* paper_step.c -- one step of a recipe: weir itself as a child process in the item's folder.
 *
 * Owns the child until it has ended. A request to stop is passed on to it, once: a terminal sends
 * Ctrl-C to the child, too, which takes both for one.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/self.h"
#include "base/signals.h"
#include "base/utf8.h"
#include "paper_priv.h"

extern char **environ;

static const struct wr_format step_format = {.name = "the output of a step"};

static char **step_argv(const struct paper *p, const struct paper_step *s, char *program,
                        struct wr_arena *arena)
{
    char **argv = wr_arena_alloc(arena, (s->words.n + 2) * sizeof *argv);
    const char *const *word = s->words.items;

    argv[0] = program;
    for (size_t i = 0; i < s->words.n; i++)
        argv[i + 1] = wr_arena_strdup(arena, paper_expand(arena, p, word[i]));
    return argv;
}

static bool step_spawn(pid_t *ret, char **argv, const char *dir, int out, int said,
                       struct wr_err *err)
{
    posix_spawn_file_actions_t files;

    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, out, 1);
    posix_spawn_file_actions_adddup2(&files, said, 2);
    posix_spawn_file_actions_addchdir_np(&files, dir);
    int rc = posix_spawn(ret, argv[0], &files, NULL, argv, environ);

    posix_spawn_file_actions_destroy(&files);
    errno = rc;
    return !rc || wr_fail_errno(err, "cannot start %s; see whether processes are left", argv[0]);
}

/* Looked at often, since waiting for a child would be resumed after Ctrl-C. */
static int step_wait(pid_t pid)
{
    bool stopped = false;
    int status = 0;
    pid_t got;

    while ((got = waitpid(pid, &status, WNOHANG)) == 0 || (got < 0 && errno == EINTR)) {
        if (wr_interrupted() && !stopped) {
            kill(pid, SIGTERM); /* SIGINT may be ignored, as in a shell's background */
            stopped = true;
        }
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    return status;
}

/* The last line that says something. */
static const char *step_last_line(const char *text, struct wr_arena *arena)
{
    const char *end = text + strlen(text), *begin;

    while (end > text && (end[-1] == '\n' || end[-1] == ' '))
        end--;
    begin = end;
    while (begin > text && begin[-1] != '\n')
        begin--;
    struct wr_str safe = {0};

    wr_str_add_harmless(&safe, begin, (size_t)(end - begin));
    const char *line = wr_arena_strdup(arena, wr_str_get(&safe));

    wr_str_fini(&safe);
    return line;
}

static void step_collect(FILE *said, struct wr_str *log)
{
    char part[4096];
    size_t n;

    rewind(said);
    while ((n = fread(part, 1, sizeof part, said)) > 0)
        wr_str_addn(log, part, n);
}

static bool step_judge(const struct paper_step *s, int status, const char *said, struct wr_err *err)
{
    struct wr_arena arena = {0};
    struct wr_str command = {0};

    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    const char *last = step_last_line(said, &arena);

    paper_command(s, &command);
    if (wr_interrupted())
        wr_fail(err, WR_INTERRUPTED, "interrupted");
    else if (WIFSIGNALED(status))
        wr_fail(err, WR_CHECK, "`%s` was killed by signal %d: %s", command.s, WTERMSIG(status),
                last);
    else
        wr_fail(err, WR_CHECK, "`%s` ended with status %d: %s", command.s, WEXITSTATUS(status),
                last);
    wr_str_fini(&command);
    wr_arena_fini(&arena);
    return false;
}

/* With standard output going to `out`. */
static bool step_run_to(const struct paper *p, const struct paper_step *s, const char *dir, int out,
                        FILE *said, struct wr_str *log, struct wr_err *err)
{
    char program[WR_SELF_PATH];
    struct wr_arena arena = {0};
    size_t before = log->n;
    pid_t pid;
    bool ok = wr_self_path(program, err) &&
              step_spawn(&pid, step_argv(p, s, program, &arena), dir, out, fileno(said), err);

    if (ok) {
        int status = step_wait(pid);

        step_collect(said, log);
        ok = step_judge(s, status, wr_str_get(log) + before, err);
    }
    wr_arena_fini(&arena);
    return ok;
}

static bool step_run_into_file(const struct paper *p, const struct paper_step *s, const char *dir,
                               FILE *said, struct wr_str *log, struct wr_err *err)
{
    struct wr_str path = {0};
    struct wr_output o;

    wr_str_addf(&path, "%s/%s", dir, s->to);
    bool ok = wr_output_open(&o, path.s, &step_format, WR_FORCE, err);

    if (ok) {
        ok = step_run_to(p, s, dir, fileno(o.f), said, log, err);
        if (ok)
            ok = wr_output_commit(&o, err);
        else
            wr_output_abandon(&o);
    }
    wr_str_fini(&path);
    return ok;
}

bool paper_step_run(const struct paper *p, const struct paper_step *s, const char *dir,
                    struct wr_str *log, struct wr_err *err)
{
    FILE *said = tmpfile();

    if (!said)
        return wr_fail_errno(err, "cannot make a temporary file; free some space in /tmp");
    wr_str_add(log, "$ ");
    paper_command(s, log);
    wr_str_add(log, "\n");
    bool ok = s->to[0] ? step_run_into_file(p, s, dir, said, log, err)
                       : step_run_to(p, s, dir, fileno(said), said, log, err);

    fclose(said);
    return ok;
}
