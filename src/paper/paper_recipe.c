/* paper_recipe.c -- reads the recipe of a paper and checks what rows cannot.
 *
 * Owns the keys of share/papers/NAME.yaml and the placeholder {data}. Called by paper_open.
 */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/self.h"
#include "paper/paper.h"
#include "paper_priv.h"

#define IN(type, field) offsetof(struct type, field)

const char *const paper_sources[] = {"simulation", "measurement", "reference data", NULL};

static const struct conf_row about_rows[] = {
    {.key = "title",
     .type = CONF_STRING,
     .offset = IN(paper_about, title),
     .help = "as it was published"},
    {.key = "authors",
     .type = CONF_STRING,
     .offset = IN(paper_about, authors),
     .def = "''",
     .help = "names with commas"},
    {.key = "venue",
     .type = CONF_STRING,
     .offset = IN(paper_about, venue),
     .help = "journal or conference, and where to find it"},
    {.key = "year",
     .type = CONF_U32,
     .offset = IN(paper_about, year),
     .def = "0",
     .max = 2200,
     .help = "when it was published; 0: not known"},
    {.key = "question",
     .type = CONF_STRING,
     .offset = IN(paper_about, question),
     .help = "what it asks, in one sentence"},
    {.key = "says",
     .type = CONF_STRING,
     .offset = IN(paper_about, says),
     .def = "''",
     .help = "what it says, and how far weir agrees, in a paragraph"},
    {.key = "outlook",
     .type = CONF_STRING,
     .offset = IN(paper_about, outlook),
     .def = "''",
     .help = "what of its outlook weir does"},
    CONF_END,
};

static const struct conf_row step_rows[] = {
    {.key = "weir",
     .type = CONF_LIST,
     .item = CONF_STRING,
     .offset = IN(paper_step, words),
     .help = "arguments of weir; {data} stands for the folder `data` beside this file, and "
             "../ITEM/ is the folder of another item"},
    {.key = "to",
     .type = CONF_STRING,
     .offset = IN(paper_step, to),
     .def = "''",
     .help = "file for its standard output; without, it goes to log.txt"},
    CONF_END,
};

static const struct conf_row figure_rows[] = {
    {.key = "file",
     .type = CONF_STRING,
     .offset = IN(paper_figure, file),
     .help = "an SVG picture that the steps left"},
    {.key = "caption",
     .type = CONF_STRING,
     .offset = IN(paper_figure, caption),
     .help = "what it shows"},
    CONF_END,
};

static const struct conf_row value_rows[] = {
    {.key = "name",
     .type = CONF_STRING,
     .offset = IN(paper_value, name),
     .help = "what is compared"},
    {.key = "unit",
     .type = CONF_STRING,
     .offset = IN(paper_value, unit),
     .def = "''",
     .help = "its unit"},
    {.key = "published",
     .type = CONF_STRING,
     .offset = IN(paper_value, published),
     .def = "''",
     .help = "the number as printed in the paper; weir's is shown with as many digits"},
    {.key = "file",
     .type = CONF_STRING,
     .offset = IN(paper_value, file),
     .help = "a run file (.weir) or a JSON document (.json) that the steps left"},
    {.key = "query",
     .type = CONF_STRING,
     .offset = IN(paper_value, query),
     .help = "SQL that gives one number: on the views of the run file, or on json(r), the "
             "document, and item(key, r), its outermost elements"},
    {.key = "series",
     .type = CONF_STRING,
     .offset = IN(paper_value, series),
     .def = "''",
     .help = "which curve of the chart it belongs to"},
    {.key = "x",
     .type = CONF_STRING,
     .offset = IN(paper_value, x),
     .def = "''",
     .help = "its place on the x axis of the chart: a number, or a name"},
    {.key = "exact",
     .type = CONF_BOOL,
     .offset = IN(paper_value, exact),
     .def = "false",
     .help = "the numbers must be equal to the digits published"},
    {.key = "whole",
     .type = CONF_BOOL,
     .offset = IN(paper_value, whole),
     .def = "false",
     .help = "compare it in the whole variant only"},
    CONF_END,
};

static const struct conf_row chart_rows[] = {
    {.key = "title",
     .type = CONF_STRING,
     .offset = IN(paper_chart, title),
     .def = "''",
     .help = "what it shows; without, there is no chart"},
    {.key = "x",
     .type = CONF_STRING,
     .offset = IN(paper_chart, x),
     .def = "''",
     .help = "the x axis"},
    {.key = "y",
     .type = CONF_STRING,
     .offset = IN(paper_chart, y),
     .def = "''",
     .help = "the y axis"},
    {.key = "log_x",
     .type = CONF_BOOL,
     .offset = IN(paper_chart, log_x),
     .def = "false",
     .help = "the x axis is logarithmic"},
    {.key = "log_y",
     .type = CONF_BOOL,
     .offset = IN(paper_chart, log_y),
     .def = "false",
     .help = "the y axis is logarithmic"},
    CONF_END,
};

static const struct conf_row item_rows[] = {
    {.key = "id",
     .type = CONF_STRING,
     .offset = IN(paper_item, id),
     .help = "what the paper calls it, as in fig10 or table1: small letters, digits and -"},
    {.key = "caption",
     .type = CONF_STRING,
     .offset = IN(paper_item, caption),
     .help = "what it shows"},
    {.key = "from",
     .type = CONF_CHOICE,
     .offset = IN(paper_item, source),
     .names = paper_sources,
     .help = "what it is made from: a simulation, a measurement on this machine, or reference "
             "data"},
    {.key = "time",
     .type = CONF_TIME,
     .offset = IN(paper_item, time_ps),
     .def = "1 s",
     .max = 1e19,
     .help = "about how long its steps take"},
    {.key = "quick_time",
     .type = CONF_TIME,
     .offset = IN(paper_item, quick_ps),
     .def = "1 s",
     .max = 1e19,
     .help = "the same of the quick variant"},
    {.key = "needs",
     .type = CONF_LIST,
     .item = CONF_STRING,
     .offset = IN(paper_item, needs),
     .def = "",
     .help = "items before it whose files its steps read"},
    {.key = "steps",
     .type = CONF_LIST,
     .offset = IN(paper_item, steps),
     .def = "",
     .rows = step_rows,
     .size = sizeof(struct paper_step),
     .help = "what makes it, in the item's own folder"},
    {.key = "quick",
     .type = CONF_LIST,
     .offset = IN(paper_item, quick),
     .def = "",
     .rows = step_rows,
     .size = sizeof(struct paper_step),
     .help = "a reduced variant of the steps, in seconds; without, the steps themselves"},
    {.key = "figures",
     .type = CONF_LIST,
     .offset = IN(paper_item, figures),
     .def = "",
     .rows = figure_rows,
     .size = sizeof(struct paper_figure),
     .help = "pictures that the steps left"},
    {.key = "values",
     .type = CONF_LIST,
     .offset = IN(paper_item, values),
     .def = "",
     .rows = value_rows,
     .size = sizeof(struct paper_value),
     .help = "numbers to compare with the published ones"},
    {.key = "chart",
     .type = CONF_SECTION,
     .offset = IN(paper_item, chart),
     .def = "",
     .rows = chart_rows,
     .help = "a chart of those values that have an x: published as marks, weir's as lines"},
    {.key = "differs",
     .type = CONF_STRING,
     .offset = IN(paper_item, differs),
     .def = "''",
     .help = "where weir differs, and who is right"},
    {.key = "missing",
     .type = CONF_STRING,
     .offset = IN(paper_item, missing),
     .def = "''",
     .help = "why weir cannot make it yet; such an item has no steps"},
    CONF_END,
};

const struct conf_row paper_rows[] = {
    {.key = "paper",
     .type = CONF_SECTION,
     .offset = IN(paper, about),
     .rows = about_rows,
     .help = "what was published"},
    {.key = "items",
     .type = CONF_LIST,
     .offset = IN(paper, items),
     .rows = item_rows,
     .size = sizeof(struct paper_item),
     .min = 1,
     .max = 200,
     .help = "its figures, tables and equations"},
    CONF_END,
};

/* ---- checks ---- */

static bool recipe_is_id(const char *s)
{
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-");

    return n && !s[n] && n < 32 && s[0] != '-';
}

/* A file of the item's own folder. */
static bool recipe_is_leaf(const char *s)
{
    return s[0] && s[0] != '.' && !strchr(s, '/');
}

static bool recipe_check_leaf(const struct paper *p, const char *const *file, struct wr_err *err)
{
    return recipe_is_leaf(*file) ||
           conf_fail(p->conf, file, err,
                     "\"%s\" is not a file of the item's own folder; give a name without folders",
                     *file);
}

/* A word that is a file of data must lead to a file that is there: that is found out before hours
 * of work.
 */
static bool recipe_check_word(const struct paper *p, const char *const *word, struct wr_err *err)
{
    if (strncmp(*word, "{data}", strlen("{data}")) != 0)
        return true;
    const char *path = paper_expand((struct wr_arena *)&p->arena, p, *word);

    return wr_file_exists(path) ||
           conf_fail(p->conf, word, err,
                     "%s is not there; put the file into the folder `data` beside this file",
                     *word);
}

static bool recipe_check_steps(const struct paper *p, const struct conf_list *steps,
                               struct wr_err *err)
{
    const struct paper_step *s = steps->items;

    for (size_t i = 0; i < steps->n; i++) {
        const char *const *word = s[i].words.items;

        if (!s[i].words.n)
            return conf_fail(p->conf, &s[i].words, err,
                             "a step without words; give a verb and its arguments");
        if (s[i].to[0] && !recipe_check_leaf(p, &s[i].to, err))
            return false;
        for (size_t k = 0; k < s[i].words.n; k++)
            if (!recipe_check_word(p, &word[k], err))
                return false;
    }
    return true;
}

static bool recipe_ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);

    return n >= m && !strcmp(s + n - m, end);
}

static bool recipe_check_value(const struct paper *p, const struct paper_value *v,
                               struct wr_err *err)
{
    char *end;

    (void)strtod(v->published, &end);
    if (*end || isspace((unsigned char)v->published[0]))
        return conf_fail(p->conf, &v->published, err,
                         "\"%s\" is not a number; give it as printed, without its unit",
                         v->published);
    if (v->exact && !v->published[0])
        return conf_fail(p->conf, &v->exact, err,
                         "nothing is published that it could be equal to; give `published`");
    if (!recipe_ends_with(v->file, ".weir") && !recipe_ends_with(v->file, ".json"))
        return conf_fail(p->conf, &v->file, err,
                         "\"%s\" cannot be queried; give a run file (.weir) or a JSON document "
                         "(.json)",
                         v->file);
    return true;
}

static bool recipe_check_needs(const struct paper *p, size_t at, struct wr_err *err)
{
    const struct paper_item *item = paper_item(p, at);
    const char *const *need = item->needs.items;

    for (size_t i = 0; i < item->needs.n; i++) {
        size_t k = 0;

        while (k < at && strcmp(paper_item(p, k)->id, need[i]) != 0)
            k++;
        if (k == at)
            return conf_fail(p->conf, &need[i], err,
                             "no item \"%s\" stands before this one; list it earlier", need[i]);
    }
    return true;
}

static bool recipe_check_id(const struct paper *p, size_t at, struct wr_err *err)
{
    const struct paper_item *item = paper_item(p, at);

    if (!recipe_is_id(item->id))
        return conf_fail(p->conf, &item->id, err,
                         "\"%s\" is a folder's name; use small letters, digits and -", item->id);
    for (size_t i = 0; i < at; i++)
        if (!strcmp(paper_item(p, i)->id, item->id))
            return conf_fail(p->conf, &item->id, err, "the item \"%s\" comes twice; rename one",
                             item->id);
    return true;
}

static bool recipe_check_item(const struct paper *p, size_t at, struct wr_err *err)
{
    const struct paper_item *item = paper_item(p, at);
    const struct paper_figure *figure = item->figures.items;
    const struct paper_value *value = item->values.items;

    if (!recipe_check_id(p, at, err) || !recipe_check_needs(p, at, err))
        return false;
    if (!item->steps.n == !item->missing[0])
        return conf_fail(p->conf, &item->id, err,
                         "the item \"%s\" has %s why it is missing; give one of the two", item->id,
                         item->steps.n ? "steps and a reason" : "neither steps nor a reason");
    if (!recipe_check_steps(p, &item->steps, err) || !recipe_check_steps(p, &item->quick, err))
        return false;
    for (size_t i = 0; i < item->figures.n; i++)
        if (!recipe_check_leaf(p, &figure[i].file, err))
            return false;
    for (size_t i = 0; i < item->values.n; i++)
        if (!recipe_check_value(p, &value[i], err))
            return false;
    return true;
}

/* ---- opening ---- */

const char *paper_expand(struct wr_arena *arena, const struct paper *p, const char *word)
{
    struct wr_str text = {0};

    for (const char *at; (at = strstr(word, "{data}")) != NULL; word = at + strlen("{data}")) {
        wr_str_addn(&text, word, (size_t)(at - word));
        wr_str_add(&text, p->data);
    }
    wr_str_add(&text, word);
    const char *copy = wr_arena_strdup(arena, text.s);

    wr_str_fini(&text);
    return copy;
}

/* A shipped paper by its name, or any file. */
static bool recipe_find(struct wr_str *path, const char *name, struct wr_err *err)
{
    struct wr_arena arena = {0};
    struct wr_nearest near = {.want = name};
    struct wr_str leaf = {0};
    const char *const *names;
    size_t n = 0;

    if (recipe_ends_with(name, ".yaml") || strchr(name, '/')) {
        wr_str_add(path, name);
        return true;
    }
    wr_str_addf(&leaf, "papers/%s.yaml", name);
    bool found = wr_self_find_data(path, leaf.s);

    wr_str_fini(&leaf);
    if (found)
        return true;
    bool listed = paper_names(&names, &n, &arena, err);

    for (size_t i = 0; listed && i < n; i++)
        wr_nearest_try(&near, names[i]);
    if (listed && near.best)
        wr_fail(err, WR_UNKNOWN, "no paper \"%s\"; did you mean %s?", name, near.best);
    else if (listed)
        wr_fail(err, WR_UNKNOWN, "no paper \"%s\"; `weir paper list` names them", name);
    wr_arena_fini(&arena);
    return false;
}

static void recipe_name(struct paper *p, const char *path)
{
    const char *slash = strrchr(path, '/'), *leaf = slash ? slash + 1 : path;
    size_t n = strcspn(leaf, ".");
    char *folder = wr_arena_strndup(&p->arena, path, slash ? (size_t)(slash - path) : 0);
    char *full = realpath(slash ? folder : ".", NULL);

    p->path = wr_arena_strdup(&p->arena, path);
    p->name = wr_arena_strndup(&p->arena, leaf, n);
    p->data = wr_arena_printf(&p->arena, "%s/data", full ? full : folder);
    free(full);
}

bool paper_open(struct paper **ret, const char *name, struct wr_err *err)
{
    struct wr_str path = {0};

    if (!recipe_find(&path, name, err))
        return false;
    struct paper *p = wr_zalloc(1, sizeof *p);

    recipe_name(p, path.s);
    wr_str_fini(&path);
    bool ok = conf_load(&p->conf, p, paper_rows, p->path, NULL, 0, err);

    for (size_t i = 0; ok && i < p->items.n; i++)
        ok = recipe_check_item(p, i, err);
    if (ok)
        *ret = p;
    else
        paper_close(p);
    return ok;
}

void paper_close(struct paper *p)
{
    if (!p)
        return;
    conf_close(p->conf);
    wr_arena_fini(&p->arena);
    free(p);
}

static int recipe_order(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool paper_names(const char *const **ret, size_t *ret_n, struct wr_arena *arena, struct wr_err *err)
{
    struct wr_str root = {0};
    WR_VEC(const char *) names = {0};
    struct dirent *entry;
    DIR *dir = wr_self_find_data(&root, "papers") ? opendir(root.s) : NULL;

    wr_str_fini(&root);
    if (!dir)
        return wr_fail(err, WR_SYSTEM,
                       "the papers are not installed with this program; install weir anew, or give "
                       "a recipe of your own");
    while ((entry = readdir(dir)) != NULL)
        if (entry->d_name[0] != '.' && recipe_ends_with(entry->d_name, ".yaml"))
            wr_vec_push(&names, wr_arena_strndup(arena, entry->d_name, strlen(entry->d_name) - 5));
    closedir(dir);
    if (names.n)
        qsort(names.v, names.n, sizeof *names.v, recipe_order);
    const char **copy = wr_arena_alloc(arena, (names.n + 1) * sizeof *copy);

    if (names.n)
        memcpy(copy, names.v, names.n * sizeof *copy);
    *ret_n = names.n;
    *ret = copy;
    wr_vec_fini(&names);
    return true;
}

size_t paper_count(const struct paper *p)
{
    return p->items.n;
}

const struct paper_item *paper_item(const struct paper *p, size_t i)
{
    return (const struct paper_item *)p->items.items + i;
}

const struct conf_list *paper_steps(const struct paper_item *item, bool quick)
{
    return quick && item->quick.n ? &item->quick : &item->steps;
}

bool paper_is_reduced(const struct paper *p, const struct paper_item *item)
{
    const char *const *need = item->needs.items;
    bool reduced = item->quick.n != 0;

    for (size_t i = 0; !reduced && i < item->needs.n; i++)
        for (size_t k = 0; !reduced && k < p->items.n; k++)
            reduced =
                !strcmp(paper_item(p, k)->id, need[i]) && paper_is_reduced(p, paper_item(p, k));
    return reduced;
}

double paper_estimate_s(const struct paper_item *item, bool quick)
{
    return (quick ? item->quick_ps : item->time_ps) / 1e12;
}

void paper_command(const struct paper_step *s, struct wr_str *out)
{
    const char *const *word = s->words.items;

    wr_str_add(out, "weir");
    for (size_t i = 0; i < s->words.n; i++) {
        wr_str_add(out, " ");
        wr_str_add_word(out, word[i], "{}~"); /* placeholders stay readable */
    }
    if (s->to[0])
        wr_str_addf(out, " > %s", s->to);
}
