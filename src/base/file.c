#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

bool wr_file_read(char **ret, size_t *ret_len, const char *path, size_t most, struct wr_err *err)
{
    enum { PART = 65536 };
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    size_t len = 0, cap = 0, got;

    if (!f)
        return wr_fail_errno(err, "cannot open %s; check the path and its permissions", path);
    do {
        wr_vec_grow((void **)&text, &cap, len + PART + 1, 1);
        got = fread(text + len, 1, PART, f);
        len += got;
    } while (got == PART && len <= most);

    bool ok = true;
    if (ferror(f))
        ok = wr_fail_errno(err, "cannot read %s; check that it is a file", path);
    else if (len > most)
        ok = wr_fail(err, WR_INPUT, "%s is longer than %zu bytes; give a smaller file", path, most);
    fclose(f);
    if (!ok) {
        free(text);
        return false;
    }
    text[len] = '\0';
    *ret = text;
    *ret_len = len;
    return true;
}
