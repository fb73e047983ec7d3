/* write.c -- a file is there whole or not at all. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/report.h"

static bool put(FILE *f, const struct wr_str *text)
{
    bool ok = fwrite(wr_str_get(text), 1, text->n, f) == text->n;
    int saved = errno;

    /* Closing tells of a full disk, too; the first failure is the one to name. */
    if (fclose(f) && ok)
        return false;
    if (!ok)
        errno = saved;
    return ok;
}

/* Devices and pipes (/dev/stdout) are written in place: there is nothing to replace. */
static bool is_special(const char *path)
{
    struct stat st;

    return !stat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

bool report_write(const char *path, const struct wr_str *text, struct wr_err *err)
{
    struct wr_str tmp = {0};
    bool special = is_special(path);

    wr_str_addf(&tmp, special ? "%s" : "%s.part", path);
    FILE *f = fopen(tmp.s, "w");
    bool ok = f && put(f, text) && (special || !rename(tmp.s, path));

    if (!ok) {
        wr_fail_errno(err, "cannot write %s; choose another file or make room", path);
        if (f && !special)
            unlink(tmp.s);
    }
    wr_str_fini(&tmp);
    return ok;
}
