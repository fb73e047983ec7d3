/* examples.c -- finds the examples that came with the program and reads what each is about. */
#include "cli/examples.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/self.h"

/* The examples found so far: name, and the sentence of what each is about. */
struct examples {
    const char *root; /* directory of the shipped examples */
    WR_VEC(struct cli_pair) pair;
    struct wr_arena *arena;
};

/* Where the first sentence ends, just past its mark; NULL: not in this text. */
static const char *examples_sentence_end(const char *text)
{
    for (const char *at = text; (at = strpbrk(at, ".?")) != NULL; at++)
        if (!at[1] || at[1] == ' ')
            return at + 1;
    return NULL;
}

/* The first sentence of the comment that a file opens with; "" where it opens otherwise. */
static const char *examples_about(const char *path, struct wr_arena *arena)
{
    const char *end = NULL, *about;
    char line[256];
    struct wr_str text = {0};
    FILE *f = fopen(path, "r");

    while (f && !end && fgets(line, sizeof line, f) && !strncmp(line, "# ", 2)) {
        line[strcspn(line, "\n")] = '\0';
        wr_str_addf(&text, "%s%s", text.n ? " " : "", line + 2);
        end = examples_sentence_end(text.s);
    }
    if (f)
        fclose(f);
    about = wr_arena_strndup(arena, wr_str_get(&text), end ? (size_t)(end - text.s) : text.n);
    wr_str_fini(&text);
    return about;
}

static bool examples_is_config(const char *leaf)
{
    const char *dot = strrchr(leaf, '.');

    return leaf[0] != '.' && dot && !strcmp(dot, ".yaml");
}

/* `folder` is "" or "machines/". */
static void examples_scan(struct examples *e, const char *folder)
{
    const char *path = wr_arena_printf(e->arena, "%s/%s", e->root, folder);
    DIR *dir = opendir(path);
    struct dirent *entry;

    while (dir && (entry = readdir(dir)) != NULL) {
        const char *name = wr_arena_printf(e->arena, "%s%s", folder, entry->d_name);

        if (examples_is_config(entry->d_name))
            wr_vec_push(&e->pair,
                        (struct cli_pair){
                            name, examples_about(wr_arena_printf(e->arena, "%s/%s", e->root, name),
                                                 e->arena)});
        else if (!folder[0] && !strchr(entry->d_name, '.'))
            examples_scan(e, wr_arena_printf(e->arena, "%s/", entry->d_name));
    }
    if (dir)
        closedir(dir);
}

/* Those that run as they are before the parts that they are made of, which are in folders. */
static int examples_order(const void *a, const void *b)
{
    const char *x = ((const struct cli_pair *)a)->head, *y = ((const struct cli_pair *)b)->head;
    int folders = (strchr(x, '/') != NULL) - (strchr(y, '/') != NULL);

    return folders ? folders : strcmp(x, y);
}

bool cli_examples(struct cli_pair **ret, size_t *ret_n, struct wr_arena *arena, struct wr_err *err)
{
    struct examples e = {.arena = arena};
    struct wr_str root = {0};

    if (!wr_self_find_data(&root, "examples"))
        return wr_fail(err, WR_SYSTEM,
                       "the examples are not installed with this program; install weir anew, or "
                       "give a file of your own");
    e.root = wr_arena_strdup(arena, root.s);
    wr_str_fini(&root);
    examples_scan(&e, "");
    if (e.pair.n)
        qsort(e.pair.v, e.pair.n, sizeof *e.pair.v, examples_order);
    *ret = wr_arena_alloc(arena, (e.pair.n + 1) * sizeof **ret);
    if (e.pair.n)
        memcpy(*ret, e.pair.v, e.pair.n * sizeof **ret);
    *ret_n = e.pair.n;
    wr_vec_fini(&e.pair);
    return true;
}
