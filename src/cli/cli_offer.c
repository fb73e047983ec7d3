/* cli_offer.c -- finds the values that the shell's completion offers (offer.h).
 *
 * Called by `weir internal complete` alone, from the rows of options and the usage of verbs. The
 * shell selects those that begin with what was typed.
 */
#include "cli/offer.h"

#include <dirent.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"
#include "net/route/route.h"
#include "world/config.h"

/* ---- keys ---- */

/* A walk over all rows of a configuration. */
struct offer_keys {
    FILE *out;
    struct wr_str plugin; /* "machine.topology.": its parameters depend on the kind chosen */
};

/* Names of tables and places in lists are the user's own. */
static bool offer_has_placeholder(const char *key)
{
    return strstr(key, ".NAME") || strstr(key, ".N.") ||
           (strlen(key) > 2 && !strcmp(key + strlen(key) - 2, ".N"));
}

static void offer_key(const struct conf_about *about, void *arg)
{
    struct offer_keys *k = arg;

    if (k->plugin.n && !strncmp(about->key, k->plugin.s, k->plugin.n))
        return;
    if (about->row->kinds) {
        k->plugin.n = 0;
        wr_str_addf(&k->plugin, "%s.", about->key);
    }
    if (about->row->type != CONF_SECTION && !offer_has_placeholder(about->key))
        fprintf(k->out, "%s=\n", about->key);
}

static void offer_choices(const char *typed, size_t key_len, FILE *out)
{
    struct wr_str key = {0};

    wr_str_addn(&key, typed, key_len);
    const struct conf_row *row = conf_find_row(world_rows, wr_str_get(&key));

    for (size_t i = 0; row && row->names && row->names[i]; i++)
        fprintf(out, "%s=%s\n", key.s, row->names[i]);
    for (size_t i = 0; row && row->kinds && row->kinds[i]; i++)
        fprintf(out, "%s=%s\n", key.s, row->kinds[i]->name);
    for (size_t i = 0; row && row->files && row->files->shipped[i].name; i++)
        fprintf(out, "%s=%s\n", key.s, row->files->shipped[i].name);
    wr_str_fini(&key);
}

void cli_offer_settings(const char *typed, FILE *out)
{
    struct offer_keys k = {.out = out};
    struct wr_err ignored;

    if (typed[strcspn(typed, "=")])
        offer_choices(typed, strcspn(typed, "="), out);
    else
        conf_each_row(world_rows, NULL, offer_key, &k, &ignored);
    wr_str_fini(&k.plugin);
}

void cli_offer_routings(const char *typed, FILE *out)
{
    (void)typed;
    for (size_t i = 0; route_kinds[i]; i++)
        fprintf(out, "%s\n", route_kinds[i]->name);
}

/* ---- run files ---- */

static bool offer_is_run(const char *leaf)
{
    const char *dot = strrchr(leaf, '.');

    return dot && !strcmp(dot, ".weir");
}

void cli_offer_runs(const char *typed, FILE *out)
{
    const char *slash = strrchr(typed, '/');
    int folder = slash ? (int)(slash + 1 - typed) : 0;
    struct wr_str path = {0}, found = {0};
    struct dirent *entry;
    struct stat st;
    bool any = false;

    wr_str_addf(&path, "%.*s", folder, typed);
    DIR *dir = opendir(folder ? path.s : ".");

    while (dir && (entry = readdir(dir)) != NULL) {
        bool run = offer_is_run(entry->d_name);

        /* The shell separates words by blanks. */
        if (entry->d_name[0] == '.' || strpbrk(entry->d_name, " \t\n"))
            continue;
        path.n = 0;
        wr_str_addf(&path, "%.*s%s", folder, typed, entry->d_name);
        if (run || (!stat(path.s, &st) && S_ISDIR(st.st_mode)))
            wr_str_addf(&found, "%s%s\n", path.s, run ? "" : "/");
        any = any || run;
    }
    if (dir)
        closedir(dir);
    if (any)
        fputs(wr_str_get(&found), out);
    wr_str_fini(&path);
    wr_str_fini(&found);
}
