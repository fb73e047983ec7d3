/* training_group.c -- adds run files to the training set, in groups that overlap in time.
 *
 * Each file is read once for its span on the wall clock. Files whose spans overlap, directly or
 * through others, are then loaded together as one group; a file without a wall clock is a group of
 * its own. */
#include <assert.h>
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "interference/training.h"

/* When the jobs of a file were active, on the wall clock. */
struct span {
    const char *path;
    double from_s, to_s; /* since `base` */
    bool clocked;
    size_t group; /* the first file of its group */
};

struct spans {
    WR_VEC(struct span) v;
    int64_t base_ns;
};

struct names {
    char **v;
    size_t n, cap;
};

static int group_by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool group_is_run(const char *name)
{
    size_t n = strlen(name);

    return n > 5 && !strcmp(name + n - 5, ".weir");
}

static bool group_list_directory(struct names *list, struct wr_arena *arena, const char *dir,
                                 struct wr_err *err)
{
    DIR *d = opendir(dir);
    size_t had = list->n;

    if (!d)
        return wr_fail_errno(err, "cannot open %s; check the path and its permissions", dir);
    for (struct dirent *e; (e = readdir(d));)
        if (group_is_run(e->d_name))
            wr_vec_push(list, wr_arena_printf(arena, "%s/%s", dir, e->d_name));
    closedir(d);
    if (list->n == had)
        return wr_fail(err, WR_INPUT, "%s holds no run file NAME.weir; give another directory",
                       dir);
    qsort(list->v + had, list->n - had, sizeof *list->v, group_by_text);
    return true;
}

static bool group_list_files(struct names *list, struct wr_arena *arena, const char *const *paths,
                             size_t n, struct wr_err *err)
{
    for (size_t i = 0; i < n; i++) {
        struct stat st;

        if (!stat(paths[i], &st) && S_ISDIR(st.st_mode)) {
            if (!group_list_directory(list, arena, paths[i], err))
                return false;
        } else {
            wr_vec_push(list, wr_arena_strdup(arena, paths[i]));
        }
    }
    return true;
}

static bool group_read_span(struct spans *s, const char *path, const struct interference_load *how,
                            struct wr_err *err)
{
    struct interference_set set;
    struct span v = {.path = path, .group = s->v.n, .from_s = INFINITY};

    if (!interference_load(&set, &path, 1, how, err))
        return false;
    if (!s->v.n)
        s->base_ns = set.epoch_ns;
    v.clocked = set.clocked;
    double at = (double)(set.epoch_ns - s->base_ns) / 1e9;

    for (size_t i = 0; i < set.njobs; i++) {
        v.from_s = fmin(v.from_s, at + set.job[i].start_s);
        v.to_s = fmax(i ? v.to_s : -INFINITY, at + set.job[i].start_s + set.job[i].runtime_s);
    }
    interference_set_fini(&set);
    wr_vec_push(&s->v, v);
    return true;
}

/* Merges groups whose spans overlap until nothing changes. */
static void group_join_spans(struct spans *s)
{
    bool changed = true;

    while (changed) {
        changed = false;
        for (size_t i = 0; i < s->v.n; i++)
            for (size_t k = 0; k < i; k++) {
                struct span *a = &s->v.v[i], *b = &s->v.v[k];

                if (a->clocked && b->clocked && a->group != b->group && a->from_s < b->to_s &&
                    b->from_s < a->to_s) {
                    size_t low = a->group < b->group ? a->group : b->group;

                    a->group = b->group = low;
                    changed = true;
                }
            }
    }
}

static bool group_load(struct interference_training *t, const struct spans *s, size_t first,
                       enum interference_role role, const struct interference_load *how,
                       struct wr_err *err)
{
    assert(first < s->v.n && s->v.v[first].group == first);
    const char **paths = wr_zalloc(s->v.n + 1, sizeof *paths);
    struct interference_group g = {.role = role};
    size_t n = 0;

    for (size_t i = first; i < s->v.n; i++)
        if (s->v.v[i].group == first)
            paths[n++] = s->v.v[i].path;
    bool ok = interference_load(&g.set, paths, n, how, err);

    if (ok) {
        const char *slash = strrchr(paths[0], '/');

        g.name = wr_arena_strdup(&t->arena, slash ? slash + 1 : paths[0]);
        wr_vec_push(&t->groups, g);
    }
    free(paths);
    return ok;
}

bool interference_training_add(struct interference_training *t, const char *const *paths, size_t n,
                               enum interference_role role, enum interference_op op,
                               struct wr_err *err)
{
    struct interference_load how = {.op = op, .most = t->most};
    struct spans s = {0};
    struct names list = {0};
    bool ok = group_list_files(&list, &t->arena, paths, n, err);

    for (size_t i = 0; ok && i < list.n; i++)
        ok = group_read_span(&s, list.v[i], &how, err);
    group_join_spans(&s);
    for (size_t i = 0; ok && i < s.v.n; i++)
        if (s.v.v[i].group == i)
            ok = group_load(t, &s, i, role, &how, err);
    wr_vec_fini(&s.v);
    wr_vec_fini(&list);
    return ok;
}
