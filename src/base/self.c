#include "base/self.h"

#include <string.h>
#include <unistd.h>

void wr_self_folder(struct wr_str *ret)
{
    char exe[4096];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);

    exe[n > 0 ? n : 0] = 0;
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
