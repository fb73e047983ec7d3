/* web_start.c -- studies that may be started, and starting one: with --allow-run only.
 *
 * The study is one of the files that were found, by its id; its runs go to a new directory next to
 * the others. What is started is this program with words of its own, never a shell. One study runs
 * at a time (it uses the processors by itself), a few wait for it to end, more are refused.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "report/json.h"
#include "web_priv.h"

enum { MOST_SETS = 32, MOST_RUNNING = 1, MOST_REQUESTED = 9 };

void web_list_studies(struct web_site *s, struct web_answer *ret)
{
    struct wr_str *out = &ret->body;
    struct wr_err err;

    if (!web_look_for(s, ret))
        return;
    wr_str_add(out, "{\"studies\":[");
    for (size_t i = 0; i < s->study.n; i++) {
        const char *slash = strrchr(s->study.v[i].path, '/');
        char *text;
        size_t n;

        if (!wr_file_read(&text, &n, s->study.v[i].path, WEB_LONGEST_BODY, &err))
            continue;
        report_json_comma(out);
        wr_str_add(out, "{");
        report_json_member(out, "id", s->study.v[i].id);
        report_json_member(out, "name", slash ? slash + 1 : s->study.v[i].path);
        report_json_member(out, "text", text);
        wr_str_add(out, "}");
        free(text);
    }
    wr_str_add(out, "]}\n");
}

/* A name, and nothing that leads elsewhere. */
static bool start_is_plain(const char *name)
{
    return *name && *name != '.' && *name != '-' && strlen(name) < 100 &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
               strlen(name);
}

/* "machine.routing", and a value of one line. */
static bool start_is_set(const char *key, const char *value)
{
    return *key && *key != '-' && strlen(key) < 200 && strlen(value) < 1000 &&
           !strpbrk(key, "= \n\r\t") && !strpbrk(value, "\n\r");
}

/* The first directory that is served. */
static const char *start_home_of(const struct web_site *s)
{
    struct stat st;

    for (size_t i = 0; i < s->c.n; i++)
        if (!stat(s->c.operands[i], &st) && S_ISDIR(st.st_mode))
            return s->c.operands[i];
    return NULL;
}

static bool start_spawn_study(const struct web_site *s, struct web_study *y, struct wr_err *err)
{
    posix_spawn_file_actions_t files;
    extern char **environ;

    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, y->log, O_WRONLY | O_CREAT | O_EXCL, 0644);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
    int rc = posix_spawn(&y->pid, s->c.program, &files, NULL, y->argv, environ);

    posix_spawn_file_actions_destroy(&files);
    if (rc)
        y->pid = 0;
    errno = rc;
    return !rc || wr_fail_errno(err, "cannot start the study; try again");
}

/* ---- requested studies ---- */

static void start_study_fini(struct web_study *y)
{
    for (char **word = y->argv; *word; word++)
        free(*word);
    free(y->argv);
    free(y->name);
    free(y->log);
}

void web_forget_studies(struct web_site *s)
{
    for (size_t i = 0; i < s->requested.n; i++)
        start_study_fini(&s->requested.v[i]);
    wr_vec_fini(&s->requested);
}

static void start_study_drop(struct web_site *s, size_t i)
{
    start_study_fini(&s->requested.v[i]);
    memmove(&s->requested.v[i], &s->requested.v[i + 1],
            (s->requested.n - i - 1) * sizeof *s->requested.v);
    s->requested.n--;
}

/* Those that have ended go, and those that wait start, or go as well when that fails. The caller
 * holds the lock. */
static void start_studies_advance(struct web_site *s, struct wr_err *err)
{
    size_t running = 0;

    for (size_t i = 0; i < s->requested.n;) {
        struct web_study *y = &s->requested.v[i];

        if (y->pid && waitpid(y->pid, NULL, WNOHANG) != 0) {
            start_study_drop(s, i);
            continue;
        }
        if (!y->pid && running < MOST_RUNNING && !start_spawn_study(s, y, err)) {
            start_study_drop(s, i);
            continue;
        }
        running += y->pid != 0;
        i++;
    }
}

void web_tick(struct web_site *s)
{
    struct wr_err ignored;

    pthread_mutex_lock(&s->lock);
    start_studies_advance(s, &ignored);
    pthread_mutex_unlock(&s->lock);
}

static bool start_is_requested(const struct web_site *s, const char *name)
{
    for (size_t i = 0; i < s->requested.n; i++)
        if (!strcmp(s->requested.v[i].name, name))
            return true;
    return false;
}

struct plan {
    char *argv[8 + 2 * MOST_SETS];
    size_t n;
};

static void start_add_word(struct plan *p, struct wr_arena *a, const char *word)
{
    p->argv[p->n++] = wr_arena_strdup(a, word);
}

static bool start_add_sets(struct plan *p, struct wr_arena *a, json_t *set)
{
    const char *key;
    json_t *value;
    size_t n = 0;

    json_object_foreach(set, key, value)
    {
        const char *text = json_string_value(value);

        if (!text || !start_is_set(key, text) || n++ == MOST_SETS)
            return false;
        start_add_word(p, a, "--set");
        start_add_word(p, a, wr_arena_printf(a, "%s=%s", key, text));
    }
    return true;
}

static void start_request(struct web_site *s, const struct plan *p, const char *name,
                          const char *log)
{
    struct web_study y = {.name = wr_strdup(name),
                          .log = wr_strdup(log),
                          .argv = wr_zalloc(p->n + 1, sizeof *y.argv)};

    for (size_t i = 0; i < p->n; i++)
        y.argv[i] = wr_strdup(p->argv[i]);
    wr_vec_push(&s->requested, y);
}

static void start_study(struct web_site *s, json_t *q, struct wr_arena *a, struct web_answer *ret)
{
    const char *id = json_string_value(json_object_get(q, "study"));
    const char *name = json_string_value(json_object_get(q, "name")), *home = start_home_of(s);
    struct plan p = {.n = 0};
    const char *file = NULL;
    struct wr_err err;
    struct stat st;

    for (size_t i = 0; id && i < s->study.n; i++)
        if (!strcmp(s->study.v[i].id, id))
            file = s->study.v[i].path;
    if (!file || !home) {
        web_refuse(ret, 404, "no such study; /api/study lists those that there are");
        return;
    }
    if (!name || !start_is_plain(name)) {
        web_refuse(ret, 400, "give the study a name of letters, digits, dots and dashes");
        return;
    }
    char *dir = wr_arena_printf(a, "%s/%s", home, name);
    char *log = wr_arena_printf(a, "%s/%s.log", home, name);
    if (!lstat(dir, &st) || !lstat(log, &st) || start_is_requested(s, name)) {
        web_refuse(ret, 400, "something of this name is there already; choose another");
        return;
    }
    start_add_word(&p, a, s->c.program);
    start_add_word(&p, a, "study");
    start_add_word(&p, a, "run");
    start_add_word(&p, a, file);
    start_add_word(&p, a, "-o");
    start_add_word(&p, a, dir);
    if (!start_add_sets(&p, a, json_object_get(q, "set"))) {
        web_refuse(ret, 400, "set is an object of keys of the configuration and texts");
        return;
    }
    start_studies_advance(s, &err);
    if (s->requested.n == MOST_REQUESTED) {
        web_refuse(ret, 429, "too many studies wait already; try again when one has ended");
        return;
    }
    start_request(s, &p, name, log);
    start_studies_advance(s, &err);
    if (!start_is_requested(s, name)) {
        web_refuse(ret, 500, err.text);
        return;
    }
    bool waits = !s->requested.v[s->requested.n - 1].pid;
    wr_str_add(&ret->body, "{");
    report_json_member(&ret->body, "name", name);
    report_json_key(&ret->body, "waits");
    wr_str_add(&ret->body, waits ? "true" : "false");
    report_json_member(&ret->body, "log", strrchr(log, '/') + 1);
    wr_str_add(&ret->body, "}\n");
}

void web_start(struct web_site *s, const struct web_request *q, struct web_answer *ret)
{
    struct wr_arena a = {0};
    json_t *j = q->body ? json_loadb(q->body, q->len, JSON_REJECT_DUPLICATES, NULL) : NULL;

    if (!json_is_object(j))
        web_refuse(ret, 400,
                   "this is not a study: send {\"study\": ID, \"set\": {}, \"name\": NAME}");
    else
        start_study(s, j, &a, ret);
    json_decref(j);
    wr_arena_fini(&a);
}
