/* cli_figure.c -- PDF and PNG of SVG by rsvg-convert (cli_figure.h).
 *
 * The renderer reads a copy in memory and writes into the part of the output, which gets its name
 * only when the renderer has ended well.
 */
#include "cli/cli_figure.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Others' begin in the same way: they are replaced with --force only. */
const struct wr_format cli_format_pdf = {
    .name = "a PDF picture", .endings = ".pdf", .begins = "%PDF", .data = true};
const struct wr_format cli_format_png = {
    .name = "a PNG picture", .endings = ".png", .begins = "\x89PNG", .data = true};

static const struct wr_format *const figure_formats[] = {&wr_format_svg, &cli_format_pdf,
                                                         &cli_format_png, NULL};

static const char figure_renderer[] = "rsvg-convert";

static bool figure_has_renderer(void)
{
    const char *at = getenv("PATH");
    struct wr_str path = {0};
    bool found = false;

    for (size_t n; at && *at && !found; at += n + (at[n] == ':')) {
        n = strcspn(at, ":");
        path.n = 0;
        wr_str_addf(&path, "%.*s/%s", (int)n, n ? at : ".", figure_renderer);
        found = !access(path.s, X_OK);
    }
    wr_str_fini(&path);
    return found;
}

static bool figure_pick(const struct wr_format **ret, const char *path, struct wr_err *err)
{
    if (!wr_output_format(ret, path, figure_formats, err))
        return false;
    if (*ret == &wr_format_svg || figure_has_renderer())
        return true;
    return wr_fail(err, WR_SYSTEM,
                   "%s: %s is made by %s, which is not here; install librsvg2-bin, or give a name "
                   "that ends in .svg",
                   path, (*ret)->name, figure_renderer);
}

bool cli_figure_is_rendered(const char *path)
{
    const char *dot = strrchr(path, '.');

    return dot && (!strcmp(dot, cli_format_pdf.endings) || !strcmp(dot, cli_format_png.endings));
}

bool cli_figure_check(const char *path, unsigned flags, struct wr_err *err)
{
    const struct wr_format *f;

    return figure_pick(&f, path, err) && wr_output_check(path, f, flags, err);
}

/* A descriptor from which the text is read; -1 with an error. */
static int figure_memory(const struct wr_str *text, struct wr_err *err)
{
    int fd = memfd_create("weir-figure", MFD_CLOEXEC);
    size_t done = 0;

    while (fd >= 0 && done < text->n) {
        ssize_t n = write(fd, text->s + done, text->n - done);

        if (n <= 0) {
            close(fd);
            fd = -1;
        } else
            done += (size_t)n;
    }
    if (fd < 0 || lseek(fd, 0, SEEK_SET))
        (void)wr_fail_errno(err, "not enough memory for the picture; free some");
    return fd;
}

static bool figure_render(const struct wr_str *svg, const char *kind, int to, struct wr_err *err)
{
    extern char **environ;
    char *argv[] = {(char *)figure_renderer, (char *)"--format", (char *)kind, NULL};
    posix_spawn_file_actions_t files;
    int status = 0;
    pid_t pid;

    int from = figure_memory(svg, err);

    if (from < 0)
        return false;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, from, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, to, STDOUT_FILENO);
    int rc = posix_spawnp(&pid, figure_renderer, &files, NULL, argv, environ);

    posix_spawn_file_actions_destroy(&files);
    close(from);
    while (!rc && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (!rc && WIFEXITED(status) && !WEXITSTATUS(status))
        return true;
    return wr_fail(err, WR_SYSTEM,
                   "%s could not make the picture%s%s; give a name that ends in .svg",
                   figure_renderer, rc ? ": " : "", rc ? strerror(rc) : "");
}

bool cli_figure_write(const char *path, const struct wr_str *svg, unsigned flags,
                      struct wr_err *err)
{
    const struct wr_format *f;
    struct wr_output o;

    if (!figure_pick(&f, path, err))
        return false;
    if (f == &wr_format_svg)
        return wr_output_text(path, f, flags, svg, err);
    if (!wr_output_open(&o, path, f, flags, err))
        return false;
    if (figure_render(svg, f->endings + 1, fileno(o.f), err))
        return wr_output_commit(&o, err);
    wr_output_abandon(&o);
    return false;
}
