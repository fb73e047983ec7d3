#include "base/self.h"

#include <string.h>
#include <unistd.h>

bool wr_self_path(char ret[WR_SELF_PATH], struct wr_err *err)
{
    ssize_t n = readlink("/proc/self/exe", ret, WR_SELF_PATH - 1);

    ret[n > 0 ? n : 0] = '\0';
    return n > 0 || wr_fail_errno(err, "cannot find this program; mount /proc");
}

void wr_self_folder(struct wr_str *ret)
{
    char exe[WR_SELF_PATH];
    struct wr_err unknown;

    (void)wr_self_path(exe, &unknown);
    char *slash = strrchr(exe, '/');

    if (slash)
        *slash = 0;
    wr_str_add(ret, exe);
}

bool wr_self_find_library(struct wr_str *ret, const char *leaf)
{
    static const char up_libdir[] = "../" WEIR_LIBDIR;
    static const char *const places[] = {"lib", up_libdir, "../lib", "../../lib"};
    struct wr_str folder = {0};
    bool found = false;

    wr_self_folder(&folder);
    for (size_t i = 0; !found && i < sizeof places / sizeof places[0]; i++) {
        struct wr_str path = {0};

        wr_str_addf(&path, "%s/%s/%s", wr_str_get(&folder), places[i], leaf);
        found = !access(path.s, R_OK);
        if (found)
            wr_str_add(ret, path.s);
        wr_str_fini(&path);
    }
    wr_str_fini(&folder);
    return found;
}
