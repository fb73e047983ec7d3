/* The viewer's answers: who may ask, what is found, and what is not. */
#include "unit/run_help.h"

#include <jansson.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>

#include "report/sections/sections.h"
#include "report/web/web.h"

/* A site of the test's own directory, with one run in it. */
struct lab {
    struct web_site site;
    struct web_config c;
    const char *dir;
};

static void make_run(const char *path, int slices)
{
    struct wr_err err;
    struct run *run;
    uint32_t id;

    must(run_create(&run, path, &plain_meta, &err), err);
    must(run_put_text(run, "title", "A <run>", &err), err);
    must(run_open_series(run, &(struct run_series){"machine", "sent", "B", 1000}, &id, &err), err);
    for (int i = 0; i < slices; i++)
        must(run_put_slice(run, id, i * 1000ll, 1000, i, &err), err);
    must(run_finish(run, RUN_COMPLETE, NULL, &err), err);
}

static void lab_open(struct lab *l, struct place *p, struct web_config c)
{
    char path[160];
    struct wr_err err;

    snprintf(path, sizeof path, "%s/a.weir", p->dir);
    make_run(path, 10);
    l->dir = p->dir;
    l->c = c;
    l->c.operands = &l->dir;
    l->c.n = 1;
    l->c.makers = report_sections;
    must(web_open(&l->site, &l->c, &err), err);
}

static const char *base_of(const struct lab *l)
{
    const char *slash = strrchr(l->dir, '/');

    return slash ? slash + 1 : l->dir;
}

/* Asks, as `method` or with a body; the body of the answer lives until the next question. */
static unsigned ask_as(struct lab *l, const char *method, const char *target, const char *body,
                       struct web_answer *ret)
{
    struct wr_arena arena = {0};
    struct web_request q;

    wr_str_fini(&ret->body);
    if (!web_parse(&q, target, &arena)) {
        wr_arena_fini(&arena);
        return 400;
    }
    q.method = method;
    q.host = "127.0.0.1:8765";
    q.type = "application/json";
    q.body = body;
    q.len = body ? strlen(body) : 0;
    web_answer(&l->site, &q, ret);
    wr_arena_fini(&arena);
    return ret->status;
}

static unsigned ask(struct lab *l, const char *target, struct web_answer *ret)
{
    return ask_as(l, "GET", target, NULL, ret);
}

/* The files of an experiment are one thing in the list, with what their names say. */
static void the_runs_of_an_experiment_are_one_entry(void **state)
{
    static const char *const names[] = {"private.1.r1.P", "private.1+3.r1.P", "private.1+3.r1.Q"};
    struct web_answer a = {0};
    struct lab l;
    char path[160];

    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s.weir", ((struct place *)*state)->dir, names[i]);
        make_run(path, 10);
    }
    lab_open(&l, *state, (struct web_config){.loopback = true});
    assert_int_equal(ask(&l, "/api/runs", &a), 200);
    json_t *j = json_loads(a.body.s, 0, NULL);
    assert_non_null(j);
    json_t *studies = json_object_get(j, "studies");
    assert_int_equal(json_array_size(studies), 1);
    json_t *one = json_array_get(studies, 0);
    assert_string_equal(json_string_value(json_object_get(one, "kind")), "experiment");
    assert_string_equal(json_string_value(json_object_get(one, "name")), base_of(&l));
    assert_int_equal(json_number_value(json_object_get(one, "runs")), 3);
    json_t *q = json_object_get(json_array_get(json_object_get(j, "runs"), 2), "choices");
    assert_string_equal(json_string_value(json_object_get(q, "together")), "1+3");
    assert_string_equal(json_string_value(json_object_get(q, "job")), "Q");
    json_decref(j);
    /* The page without scripts links all of it, too. */
    assert_int_equal(ask(&l, "/", &a), 200);
    assert_non_null(strstr(a.body.s, "/report?dir="));
    wr_str_fini(&a.body);
    web_close(&l.site);
}

static void a_run_is_listed_and_reported_by_its_id(void **state)
{
    struct web_answer a = {0};
    struct lab l;
    char target[160];

    lab_open(&l, *state, (struct web_config){.loopback = true});
    assert_int_equal(ask(&l, "/api/runs", &a), 200);
    json_t *j = json_loads(a.body.s, 0, NULL);
    assert_non_null(j);
    json_t *runs = json_object_get(j, "runs");
    assert_int_equal(json_array_size(runs), 1);
    const char *id = json_string_value(json_object_get(json_array_get(runs, 0), "id"));
    assert_string_equal(json_string_value(json_object_get(json_array_get(runs, 0), "title")),
                        "A <run>");
    snprintf(target, sizeof target, "/api/report?run=%s", id);
    assert_int_equal(ask(&l, target, &a), 200);
    json_decref(j);
    j = json_loads(a.body.s, 0, NULL);
    assert_non_null(j);
    assert_int_equal(json_integer_value(json_object_get(j, "weir_report")), 1);
    assert_true(json_array_size(json_object_get(j, "sections")) >= 2);
    json_decref(j);
    /* The same as a page, and one section alone. */
    snprintf(target, sizeof target, "/report?run=%s/a.weir&section=time", base_of(&l));
    assert_int_equal(ask(&l, target, &a), 200);
    assert_non_null(strstr(a.body.s, "Sent over time"));
    assert_null(strstr(a.body.s, "Summary of the run"));
    assert_int_equal(ask(&l, "/", &a), 200);
    assert_non_null(strstr(a.body.s, "data-weir=\"viewer\""));
    assert_non_null(strstr(a.policy, "default-src 'none'"));
    wr_str_fini(&a.body);
    web_close(&l.site);
}

static void no_address_leads_outside(void **state)
{
    static const char *const targets[] = {
        "/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/etc/passwd",
        "/api/report?run=../../etc/passwd",
        "/api/report?run=%2Fetc%2Fpasswd",
        "/api/report?run=/dev/zero",
        "/api/report?dir=/",
        "/api/report?dir=..",
        "/report?run=a.weir%00",
        "/api/runs%00",
        "/api//runs",
        "/api/report?run=secret.weir",
    };
    struct place *p = *state;
    struct web_answer a = {0};
    struct lab l;
    char outside[160], link[160], target[200];

    lab_open(&l, p, (struct web_config){.loopback = true});
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        unsigned status = ask(&l, targets[i], &a);

        if (status != 404 && status != 400)
            fail_msg("%s: %u", targets[i], status);
    }
    /* Nor does a link that lies inside. */
    snprintf(outside, sizeof outside, "%s.weir", p->dir);
    snprintf(link, sizeof link, "%s/secret.weir", p->dir);
    make_run(outside, 1);
    assert_int_equal(symlink(outside, link), 0);
    assert_int_equal(ask(&l, "/api/runs", &a), 200);
    assert_null(strstr(a.body.s, "secret"));
    snprintf(target, sizeof target, "/api/report?run=%s/secret.weir", base_of(&l));
    assert_int_equal(ask(&l, target, &a), 404);
    snprintf(target, sizeof target, "/api/report?dir=%s", base_of(&l));
    assert_int_equal(ask(&l, target, &a), 200);
    assert_null(strstr(a.body.s, "secret"));
    unlink(outside);
    wr_str_fini(&a.body);
    web_close(&l.site);
}

static void a_wrong_token_opens_nothing(void **state)
{
    static const char *const closed[] = {"/",       "/api/runs",     "/api/report?run=x",
                                         "/report", "/api/progress", "/api/study",
                                         "/nowhere"};
    static const char *const wrong[] = {"", "0123456789abcdef0123456789abcdee",
                                        "0123456789abcdef0123456789abcde",
                                        "0123456789abcdef0123456789abcdef0", "0123456789abcdef"};
    struct wr_token token;
    struct web_answer a = {0};
    struct lab l;
    char target[160];

    assert_true(wr_token_parse(&token, "0123456789abcdef0123456789abcdef"));
    lab_open(&l, *state, (struct web_config){.token = &token});
    for (size_t i = 0; i < sizeof closed / sizeof *closed; i++) {
        assert_int_equal(ask(&l, closed[i], &a), 403);
        for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
            snprintf(target, sizeof target, "%s%ctoken=%s", closed[i],
                     strchr(closed[i], '?') ? '&' : '?', wrong[k]);
            assert_int_equal(ask(&l, target, &a), 403);
        }
    }
    assert_int_equal(ask(&l, "/api/runs?token=0123456789abcdef0123456789abcdef", &a), 200);
    wr_str_fini(&a.body);
    web_close(&l.site);
}

static void only_reading_is_offered(void **state)
{
    static const char *const methods[] = {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "get", ""};
    struct web_answer a = {0};
    struct lab l;

    lab_open(&l, *state, (struct web_config){.loopback = true});
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        assert_int_equal(ask_as(&l, methods[i], "/api/runs", "{}", &a), 405);
    assert_int_equal(ask_as(&l, "HEAD", "/api/runs", NULL, &a), 200);
    assert_int_equal(ask_as(&l, "POST", "/api/study", "{}", &a), 403);
    assert_int_equal(ask(&l, "/api/study", &a), 403);
    wr_str_fini(&a.body);
    web_close(&l.site);
}

static void names_of_other_machines_are_not_answered_to(void **state)
{
    static const char *const hosts[] = {"evil.example", "127.0.0.1.evil.example", "localhost.x:1",
                                        "", NULL};
    struct wr_arena arena = {0};
    struct web_request q;
    struct web_answer a;
    struct lab l;

    lab_open(&l, *state, (struct web_config){.loopback = true});
    assert_true(web_parse(&q, "/api/runs", &arena));
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        q.host = hosts[i];
        web_answer(&l.site, &q, &a);
        assert_int_equal(a.status, 403);
        wr_str_fini(&a.body);
    }
    wr_arena_fini(&arena);
    web_close(&l.site);
}

static void a_study_is_started_only_from_what_is_there(void **state)
{
    static const struct {
        const char *body;
        unsigned status;
    } cases[] = {
        {"", 400},
        {"[]", 400},
        {"{}", 404},
        {"{\"study\": \"/etc/passwd\", \"name\": \"x\"}", 404},
        {"{\"study\": \"%s\"}", 400},
        {"{\"study\": \"%s\", \"name\": \"../x\"}", 400},
        {"{\"study\": \"%s\", \"name\": \"-f\"}", 400},
        {"{\"study\": \"%s\", \"name\": \"a.weir\"}", 400},
        {"{\"study\": \"%s\", \"name\": \"x\", \"set\": {\"a b\": \"1\"}}", 400},
        {"{\"study\": \"%s\", \"name\": \"x\", \"set\": {\"a\": 1}}", 400},
        {"{\"study\": \"%s\", \"name\": \"x\", \"set\": {\"seed\": \"2\"}}", 200},
    };
    struct place *p = *state;
    struct web_answer a = {0};
    char path[160], id[128], body[400];
    struct lab l;

    snprintf(path, sizeof path, "%s/s.yaml", p->dir);
    FILE *f = fopen(path, "w");
    fputs("name: s\nrun: x.yaml\ncross:\n  seed: {values: [1]}\n", f);
    fclose(f);
    /* What is started says with what it was started. */
    lab_open(&l, p,
             (struct web_config){.loopback = true, .allow_run = true, .program = "/bin/echo"});
    snprintf(id, sizeof id, "%s/s.yaml", base_of(&l));
    assert_int_equal(ask(&l, "/api/study", &a), 200);
    assert_non_null(strstr(a.body.s, "cross:"));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *gap = strstr(cases[i].body, "%s");

        snprintf(body, sizeof body, "%.*s%s%s", gap ? (int)(gap - cases[i].body) : 0, cases[i].body,
                 gap ? id : "", gap ? gap + 2 : cases[i].body);
        unsigned status = ask_as(&l, "POST", "/api/study", body, &a);
        if (status != cases[i].status)
            fail_msg("%s: %u, %s", body, status, a.body.s);
    }
    snprintf(path, sizeof path, "%s/x.log", p->dir);
    char said[300] = "";
    for (int i = 0; i < 200 && !strchr(said, '\n'); i++) {
        f = fopen(path, "r");
        if (f && !fgets(said, sizeof said, f))
            said[0] = '\0';
        if (f)
            fclose(f);
        usleep(5000);
    }
    assert_non_null(strstr(said, "study run"));
    assert_non_null(strstr(said, "--set seed=2"));
    wr_str_fini(&a.body);
    web_close(&l.site);
}

/* What is started goes on until it is killed; that which waits starts then. */
static void few_studies_wait_and_one_runs(void **state)
{
    struct place *p = *state;
    struct web_answer a = {0};
    char path[160], body[300];
    unsigned started = 0, waiting = 0, refused = 0;
    struct lab l;

    snprintf(path, sizeof path, "%s/s.yaml", p->dir);
    FILE *f = fopen(path, "w");
    fputs("cross:\n", f);
    fclose(f);
    snprintf(path, sizeof path, "%s/endless", p->dir);
    f = fopen(path, "w");
    fputs("#!/bin/sh\nexec sleep 60\n", f);
    fclose(f);
    chmod(path, 0755);
    lab_open(&l, p, (struct web_config){.loopback = true, .allow_run = true, .program = path});
    for (int i = 0; i < 31; i++) {
        snprintf(body, sizeof body, "{\"study\": \"%s/s.yaml\", \"name\": \"x%d\"}", base_of(&l),
                 i);
        unsigned status = ask_as(&l, "POST", "/api/study", body, &a);

        refused += status == 429;
        started += status == 200 && strstr(a.body.s, "\"waits\":false");
        waiting += status == 200 && strstr(a.body.s, "\"waits\":true");
    }
    assert_int_equal(started, 1);
    assert_int_equal(waiting, 8);
    assert_int_equal(refused, 22);
    /* One that waits has its name already. */
    snprintf(body, sizeof body, "{\"study\": \"%s/s.yaml\", \"name\": \"x3\"}", base_of(&l));
    assert_int_equal(ask_as(&l, "POST", "/api/study", body, &a), 400);
    int first = l.site.requested.v[0].pid;
    kill(first, SIGKILL);
    for (int i = 0; i < 1000 && l.site.requested.v[0].pid == first; i++) {
        usleep(5000);
        web_tick(&l.site);
    }
    assert_int_equal(l.site.requested.n, 8);
    assert_string_equal(l.site.requested.v[0].name, "x1");
    assert_true(l.site.requested.v[0].pid > 0);
    assert_int_equal(l.site.requested.v[1].pid, 0);
    kill(l.site.requested.v[0].pid, SIGKILL);
    waitpid(l.site.requested.v[0].pid, NULL, 0);
    wr_str_fini(&a.body);
    web_close(&l.site);
}

/* A file with a view that never ends is listed with the others, and reported. */
static void a_file_that_never_ends_is_its_own_trouble(void **state)
{
    struct place *p = *state;
    struct web_answer a = {0};
    char path[160], target[200];
    struct lab l;
    sqlite3 *db;

    snprintf(path, sizeof path, "%s/bad.weir", p->dir);
    make_run(path, 1);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db,
                                  "DROP VIEW summary; CREATE VIEW summary AS WITH RECURSIVE i(x) "
                                  "AS (VALUES(1) UNION ALL SELECT x + 1 FROM i) SELECT 'title' AS "
                                  "key, x AS value, '' AS unit, 0 AS volatile FROM i WHERE x < 0",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);
    lab_open(&l, p, (struct web_config){.loopback = true});
    assert_int_equal(ask(&l, "/api/runs", &a), 200);
    assert_non_null(strstr(a.body.s, "bad.weir"));
    snprintf(target, sizeof target, "/api/report?run=%s/bad.weir", base_of(&l));
    assert_int_equal(ask(&l, target, &a), 200);
    wr_str_fini(&a.body);
    web_close(&l.site);
}

/* Two hundred thousand slices of one series become a few hundred points, and all are in them. */
static void a_large_run_is_answered_with_little(void **state)
{
    struct place *p = *state;
    struct web_answer a = {0};
    char path[160], target[160];
    struct lab l;

    lab_open(&l, p, (struct web_config){.loopback = true});
    snprintf(path, sizeof path, "%s/big.weir", p->dir);
    make_run(path, 200000);
    assert_int_equal(ask(&l, "/api/runs", &a), 200);
    snprintf(target, sizeof target, "/api/report?run=%s/big.weir&section=time", base_of(&l));
    assert_int_equal(ask(&l, target, &a), 200);
    assert_true(a.body.n < 50000);
    /* The last step holds the slices 199,584 to 199,999: 416 of 1 ns with 199,791.5 B at the mean.
     */
    assert_non_null(strstr(a.body.s, ",199.7915,199.7915]"));
    wr_str_fini(&a.body);
    web_close(&l.site);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(a_run_is_listed_and_reported_by_its_id),
        IN_PLACE(no_address_leads_outside),
        IN_PLACE(a_wrong_token_opens_nothing),
        IN_PLACE(only_reading_is_offered),
        IN_PLACE(names_of_other_machines_are_not_answered_to),
        IN_PLACE(a_study_is_started_only_from_what_is_there),
        IN_PLACE(few_studies_wait_and_one_runs),
        IN_PLACE(the_runs_of_an_experiment_are_one_entry),
        IN_PLACE(a_file_that_never_ends_is_its_own_trouble),
        IN_PLACE(a_large_run_is_answered_with_little),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
