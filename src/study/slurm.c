/* slurm.c -- a study as a Slurm job array: each task executes one run by its number.
 *
 * Writes DIR/study.sbatch and submits it with sbatch. Slurm's own directives (#SBATCH --array) and
 * the command that a task runs are text of that script.
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/signals.h"
#include "run/run.h"
#include "study_priv.h"

/* "0-3,7": the numbers of the runs to do, in the syntax of Slurm's job arrays. */
static size_t slurm_add_array(const struct study *s, bool force, struct wr_str *out)
{
    size_t n = 0;

    for (size_t i = 0; i < s->nruns;) {
        size_t end = i;

        while (end < s->nruns &&
               (force || (s->run[end].state != STUDY_DONE && s->run[end].state != STUDY_BUSY)))
            end++;
        if (end == i) {
            i++;
            continue;
        }
        wr_str_addf(out, end - i > 1 ? "%s%zu-%zu" : "%s%zu", n ? "," : "", i, end - 1);
        n += end - i;
        i = end;
    }
    return n;
}

static void slurm_add_words(struct wr_str *out, const char *a, const char *b)
{
    wr_str_add(out, " ");
    run_command_word(out, a);
    if (b)
        slurm_add_words(out, b, NULL);
}

/* A line of sbatch's own cannot be quoted. */
static void slurm_add_name(struct wr_str *out, const char *name)
{
    wr_str_add(out, "#SBATCH --job-name=");
    for (; *name; name++)
        wr_str_addn(out, isalnum((unsigned char)*name) || *name == '-' ? name : "_", 1);
    wr_str_add(out, "\n");
}

const struct wr_format study_script_format = {.name = "a script of a study",
                                              .begins = "#!/bin/sh\n#SBATCH --array=",
                                              .holds = "\n# Written by weir study run --slurm"};

/* The tasks may start elsewhere, so every name is a whole path. */
static bool slurm_write_script(const struct study *s, const struct study_slurm *how,
                               const char *path, const char *array, struct wr_err *err)
{
    char cwd[PATH_MAX];
    struct wr_str text = {0};

    if (!getcwd(cwd, sizeof cwd))
        return wr_fail_errno(err, "cannot find the current directory; change to another");
    wr_str_addf(&text, "#!/bin/sh\n#SBATCH --array=%s\n#SBATCH --ntasks=1\n", array);
    slurm_add_name(&text, s->c.name);
    wr_str_addf(&text,
                "# Written by weir study run --slurm: each task makes one run file, and those\n"
                "# that are there already are kept.\ncd");
    slurm_add_words(&text, cwd, NULL);
    wr_str_add(&text, " || exit 4\nexec");
    slurm_add_words(&text, how->program, "study");
    slurm_add_words(&text, "run", s->file);
    slurm_add_words(&text, "-o", how->dir);
    for (size_t i = 0; i < how->nsets; i++)
        slurm_add_words(&text, "--set", how->sets[i]);
    wr_str_addf(&text, "%s -q --only \"$SLURM_ARRAY_TASK_ID\"\n", how->force ? " --force" : "");

    bool ok = wr_output_text(path, &study_script_format, how->force ? WR_FORCE : 0, &text, err);

    wr_str_fini(&text);
    return ok;
}

static void slurm_run_sbatch(const struct study_slurm *how, const char *path, const char *log,
                             int fd)
{
    char **words = wr_zalloc(how->noptions + 4, sizeof *words);
    size_t n = 0;

    words[n++] = (char *)"sbatch";
    words[n++] = (char *)log;
    for (size_t i = 0; i < how->noptions; i++)
        words[n++] = (char *)how->options[i];
    words[n] = (char *)path;
    if (dup2(fd, STDOUT_FILENO) < 0 || dup2(fd, STDERR_FILENO) < 0)
        _exit(126);
    wr_xfsz_restore();
    execvp(words[0], words);
    _exit(127);
}

static bool slurm_submit(const struct study_slurm *how, const char *path, struct wr_str *said,
                         struct wr_err *err)
{
    char log[PATH_MAX], buffer[512];
    int fd[2], status = 0;
    ssize_t n;

    snprintf(log, sizeof log, "--output=%s/slurm-%%A_%%a.out", how->dir);
    if (pipe(fd))
        return wr_fail_errno(err, "cannot open a pipe to sbatch; try again");
    fflush(NULL);
    pid_t pid = fork();

    if (pid < 0) {
        close(fd[0]);
        close(fd[1]);
        return wr_fail_errno(err, "cannot start sbatch; try again");
    }
    if (!pid)
        slurm_run_sbatch(how, path, log, fd[1]);
    close(fd[1]);
    while ((n = read(fd[0], buffer, sizeof buffer)) > 0 || (n < 0 && errno == EINTR))
        wr_str_addn(said, buffer, n > 0 ? (size_t)n : 0);
    close(fd[0]);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (WIFEXITED(status) && !WEXITSTATUS(status))
        return true;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return wr_fail(err, WR_SYSTEM,
                       "no sbatch on this machine; take %s to one that has Slurm, or run the study "
                       "here",
                       path);
    while (said->n && said->s[said->n - 1] == '\n')
        said->s[--said->n] = '\0';
    return wr_fail(err, WR_SYSTEM, "sbatch refused %s: %.1000s; correct it with options for sbatch",
                   path, wr_str_get(said));
}

bool study_slurm(struct study *s, const struct study_slurm *how, size_t *ret_tasks,
                 struct wr_str *ret_said, struct wr_err *err)
{
    struct wr_str array = {0}, said = {0};
    const char *path = wr_arena_printf(&s->arena, "%s/study.sbatch", how->dir);
    size_t n = slurm_add_array(s, how->force, &array);
    bool ok = study_make_dir(how->dir, how->force, err);

    if (ok && n)
        ok = slurm_write_script(s, how, path, wr_str_get(&array), err) &&
             (!how->submit || slurm_submit(how, path, &said, err));
    wr_str_fini(&array);
    if (!ok) {
        wr_str_fini(&said);
        return false;
    }
    *ret_tasks = n;
    *ret_said = said;
    return true;
}
