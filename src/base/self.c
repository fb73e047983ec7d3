/* self.c -- where this program, its libraries and its data files are.
 *
 * See self.h. No state: every call looks at /proc/self/exe again.
 */
#include "base/self.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

/* Without /proc: what the kernel was given to execute, which for a script's or a shell's search
 * of PATH is a path, too. It is right as long as the directory has not been changed. */
static bool self_executed(char ret[WR_SELF_PATH])
{
    const char *given = (const char *)getauxval(AT_EXECFN); // NOLINT(performance-no-int-to-ptr)
    char *full = given ? realpath(given, NULL) : NULL;
    bool fits = full && strlen(full) < WR_SELF_PATH;

    if (fits)
        memcpy(ret, full, strlen(full) + 1);
    free(full);
    return fits;
}

bool wr_self_path(char ret[WR_SELF_PATH], struct wr_err *err)
{
    ssize_t n = readlink("/proc/self/exe", ret, WR_SELF_PATH - 1);

    ret[n > 0 ? n : 0] = '\0';
    return n > 0 || self_executed(ret) ||
           wr_fail_errno(err, "cannot find this program; mount /proc");
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

/* Is `leaf` in one of the places, each relative to the program's folder? */
static bool self_find(struct wr_str *ret, const char *const *places, size_t n, const char *leaf)
{
    struct wr_str folder = {0};
    bool found = false;

    wr_self_folder(&folder);
    for (size_t i = 0; !found && i < n; i++) {
        struct wr_str path = {0};

        wr_str_addf(&path, "%s/%s/%s", wr_str_get(&folder), places[i], leaf);
        char *real = realpath(path.s, NULL);

        found = real && !access(real, R_OK);
        if (found)
            wr_str_add(ret, real);
        free(real);
        wr_str_fini(&path);
    }
    wr_str_fini(&folder);
    return found;
}

/* Tests are programs one and two folders below the build tree's. */
bool wr_self_find_library(struct wr_str *ret, const char *leaf)
{
    static const char up_libdir[] = "../" WEIR_LIBDIR "/weir";
    static const char *const places[] = {"lib", up_libdir, "../lib/weir", "../lib", "../../lib"};

    return self_find(ret, places, sizeof places / sizeof places[0], leaf);
}

bool wr_self_find_data(struct wr_str *ret, const char *name)
{
    static const char *const places[] = {"share/weir",       "share/weir/examples",
                                         "../share/weir",    "../share/weir/examples",
                                         "../../share/weir", "../../share/weir/examples"};

    if (!name[0] || name[0] == '/' || strstr(name, ".."))
        return false;
    return self_find(ret, places, sizeof places / sizeof places[0], name);
}

bool wr_self_find_file(struct wr_str *ret, const char *name)
{
    struct stat st;

    if (!wr_self_find_data(ret, name))
        return false;
    if (!stat(ret->s, &st) && S_ISREG(st.st_mode))
        return true;
    wr_str_fini(ret);
    return false;
}
