/* Files are there whole or not at all, and two writers of one do not meet. */
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/output.h"
#include "base/signals.h"

static const struct wr_format drawing = {
    .name = "a drawing", .endings = ".draw .dr", .begins = "drawn", .holds = "by us"};
static const struct wr_format table = {.name = "a table", .endings = ".csv"};

static int enter(void **state)
{
    char *dir = strdup("/tmp/weir-output-XXXXXX");

    *state = dir;
    return !mkdtemp(dir) || chdir(dir);
}

static int leave(void **state)
{
    DIR *d = opendir(".");

    for (const struct dirent *e; (e = readdir(d));)
        unlink(e->d_name);
    closedir(d);
    rmdir(*state);
    free(*state);
    return chdir("/tmp");
}

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void has(const char *path, const char *text)
{
    char got[256] = "";
    FILE *f = fopen(path, "r");

    assert_non_null(f);
    got[fread(got, 1, sizeof got - 1, f)] = '\0';
    fclose(f);
    assert_string_equal(got, text);
}

static int files(void)
{
    DIR *d = opendir(".");
    int n = 0;

    for (const struct dirent *e; (e = readdir(d));)
        n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
    closedir(d);
    return n;
}

static bool write_drawing(const char *path, unsigned flags, struct wr_err *err)
{
    struct wr_str text = {0};

    wr_str_add(&text, "drawn again by us\n");
    bool ok = wr_output_text(path, &drawing, flags, &text, err);

    wr_str_fini(&text);
    return ok;
}

static void nothing_has_the_name_before_it_is_whole(void **state)
{
    struct wr_output o;
    struct wr_err err;

    (void)state;
    put("a.draw", "drawn before by us\n");
    assert_true(wr_output_open(&o, "a.draw", &drawing, 0, &err));
    fputs("drawn", o.f);
    fflush(o.f);
    has("a.draw", "drawn before by us\n");
    fputs(" now by us\n", o.f);
    assert_true(wr_output_commit(&o, &err));
    has("a.draw", "drawn now by us\n");
    assert_true(wr_output_open(&o, "a.draw", &drawing, 0, &err));
    fputs("drawn", o.f);
    wr_output_abandon(&o);
    has("a.draw", "drawn now by us\n");
    assert_int_equal(files(), 1);
}

static void what_is_there_is_judged_by_what_it_holds(void **state)
{
    struct wr_err err;

    (void)state;
    put("a.draw", "drawn by others\n");
    assert_false(write_drawing("a.draw", 0, &err));
    assert_int_equal(err.code, WR_EXISTS);
    assert_non_null(strstr(err.text, "is not a drawing that weir wrote; choose another name or "
                                     "replace it"));
    has("a.draw", "drawn by others\n");
    assert_true(write_drawing("a.draw", WR_FORCE, &err));
    assert_true(write_drawing("a.draw", 0, &err));
    put("empty.draw", "");
    assert_true(write_drawing("empty.draw", 0, &err));
    assert_false(write_drawing(".", WR_FORCE, &err));
    assert_false(write_drawing("a.png", WR_FORCE, &err));
    assert_non_null(strstr(err.text, "ends in .draw .dr"));
    assert_true(write_drawing("without", 0, &err));
    assert_int_equal(files(), 3);
}

static void a_table_is_known_by_the_names_of_its_columns(void **state)
{
    struct wr_str text = {0};
    struct wr_err err;

    (void)state;
    wr_str_add(&text, "time,rate\n1,2\n");
    put("a.csv", "time,rate\n7,8\n");
    assert_true(wr_output_text("a.csv", &table, 0, &text, &err));
    has("a.csv", "time,rate\n1,2\n");
    put("b.csv", "time,rate,who\n7,8,9\n");
    assert_false(wr_output_text("b.csv", &table, 0, &text, &err));
    has("b.csv", "time,rate,who\n7,8,9\n");
    wr_str_fini(&text);
    wr_str_add(&text, "{\n}\n"); /* a brace alone says nothing */
    put("c.csv", "{\n \"mine\": 1}\n");
    assert_false(wr_output_text("c.csv", &table, 0, &text, &err));
    wr_str_fini(&text);
}

static void an_input_is_an_input_behind_every_link(void **state)
{
    static const char *const names[] = {"in.draw", "hard.draw", "soft.draw", "dir/../in.draw"};
    struct wr_err err;
    char *text;
    size_t n;

    (void)state;
    mkdir("dir", 0777);
    put("in.draw", "drawn before by us\n");
    assert_int_equal(link("in.draw", "hard.draw"), 0);
    assert_int_equal(symlink("in.draw", "soft.draw"), 0);
    wr_input_begin();
    assert_true(wr_file_read(&text, &n, "in.draw", 100, &err));
    free(text);
    for (size_t i = 0; i < 4; i++) {
        assert_false(write_drawing(names[i], WR_FORCE, &err));
        assert_non_null(strstr(err.text, "is an input of this command, so it stays"));
    }
    has("in.draw", "drawn before by us\n");
    assert_true(write_drawing("in.draw", WR_IN_PLACE, &err)); /* that was asked for */
    wr_input_begin();
    assert_true(write_drawing("in.draw", 0, &err));
    rmdir("dir");
}

static void what_is_read_after_it_was_opened_is_an_input_too(void **state)
{
    struct wr_output o;
    struct wr_err err;
    char *text;
    size_t n;

    (void)state;
    put("in.draw", "drawn before by us\n");
    wr_input_begin();
    assert_true(wr_output_open(&o, "in.draw", &drawing, WR_FORCE, &err));
    assert_true(wr_file_read(&text, &n, "in.draw", 100, &err));
    free(text);
    assert_false(wr_output_commit(&o, &err));
    has("in.draw", "drawn before by us\n");
    assert_int_equal(files(), 1);
    wr_input_begin();
}

static void a_link_is_followed_and_stays_a_link(void **state)
{
    struct wr_err err;
    struct stat st;

    (void)state;
    put("a.draw", "drawn before by us\n");
    assert_int_equal(chmod("a.draw", 0640), 0);
    assert_int_equal(symlink("a.draw", "soft.draw"), 0);
    assert_true(write_drawing("soft.draw", 0, &err));
    assert_int_equal(lstat("soft.draw", &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    has("a.draw", "drawn again by us\n");
    assert_int_equal(stat("a.draw", &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_int_equal(symlink("nowhere", "dangling.draw"), 0);
    assert_false(write_drawing("dangling.draw", WR_FORCE, &err));
}

/* Six at once: all try before the first of them is ready. */
static void of_six_writers_one_wins_and_the_others_are_reported(void **state)
{
    enum { N = 6 };
    int go[2], tried[2];
    pid_t child[N];
    int won = 0, refused = 0;
    char byte;

    (void)state;
    assert_int_equal(pipe(go), 0);
    assert_int_equal(pipe(tried), 0);
    fflush(NULL);
    for (int i = 0; i < N; i++)
        if (!(child[i] = fork())) {
            struct wr_output o;
            struct wr_err err;
            bool opened = wr_output_open(&o, "a.draw", &drawing, WR_FORCE, &err);

            close(go[1]);
            if (write(tried[1], "", 1) != 1 || read(go[0], &byte, 1))
                _exit(99);
            if (!opened)
                _exit(strstr(err.text, "a.draw is being written by another run") ? 2 : 98);
            fprintf(o.f, "drawn by us, %d\n", i);
            _exit(!wr_output_commit(&o, &err));
        }
    for (int i = 0; i < N; i++)
        assert_int_equal(read(tried[0], &byte, 1), 1);
    close(go[1]);
    for (int i = 0; i < N; i++) {
        int status;

        waitpid(child[i], &status, 0);
        assert_true(WIFEXITED(status));
        won += WEXITSTATUS(status) == 0;
        refused += WEXITSTATUS(status) == 2;
    }
    close(go[0]);
    close(tried[0]);
    close(tried[1]);
    assert_int_equal(won, 1);
    assert_int_equal(refused, N - 1);
    assert_int_equal(files(), 1);
}

/* A child that opens the output and waits to be ended by `sig`. */
static void end_a_writer(int sig)
{
    int ready[2], status;
    char byte;

    assert_int_equal(pipe(ready), 0);
    fflush(NULL);
    pid_t child = fork();

    if (!child) {
        struct wr_output o;
        struct wr_err err;

        if (!wr_output_open(&o, "a.draw", &drawing, 0, &err))
            _exit(99);
        fputs("drawn half", o.f);
        fflush(o.f);
        if (write(ready[1], "", 1) != 1)
            _exit(98);
        for (;;)
            pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    kill(child, sig);
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), sig);
    close(ready[0]);
    close(ready[1]);
}

static void who_is_interrupted_leaves_nothing(void **state)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        end_a_writer(signals[i]);
        assert_int_equal(files(), 0);
    }
}

static void what_a_killed_process_left_is_in_nobodys_way(void **state)
{
    struct wr_err err;

    (void)state;
    end_a_writer(SIGKILL);
    assert_int_equal(files(), 1);
    assert_true(write_drawing("a.draw", 0, &err));
    has("a.draw", "drawn again by us\n");
    assert_int_equal(files(), 1);
}

/* A table that grows for days has its name from the first line on, and its lock to the end. */
static void what_grows_is_locked_under_its_own_name(void **state)
{
    struct wr_output o, other;
    struct wr_err err;

    (void)state;
    assert_true(wr_output_open(&o, "a.draw", &drawing, 0, &err));
    fputs("drawn by us\n", o.f);
    assert_true(wr_output_publish(&o, &err));
    has("a.draw", "drawn by us\n");
    fputs("more\n", o.f);
    assert_false(write_drawing("a.draw", WR_FORCE, &err));
    assert_non_null(strstr(err.text, "being written by another run"));
    assert_false(wr_output_append(&other, "a.draw", &err));
    assert_true(wr_output_end(&o, &err));
    has("a.draw", "drawn by us\nmore\n");
    assert_true(wr_output_append(&o, "a.draw", &err));
    fputs("yet more\n", o.f);
    assert_true(wr_output_end(&o, &err));
    has("a.draw", "drawn by us\nmore\nyet more\n");
    assert_int_equal(files(), 1);
}

static void a_directory_of_others_is_not_written_into(void **state)
{
    const struct wr_format *const marks[] = {&drawing, NULL};
    struct wr_err err;
    bool made;

    (void)state;
    assert_true(wr_output_dir("d", marks, false, &made, &err));
    assert_true(made);
    assert_true(wr_output_dir("d", marks, false, &made, &err));
    assert_false(made);
    put("d/thesis", "mine\n");
    assert_false(wr_output_dir("d", marks, false, NULL, &err));
    assert_int_equal(err.code, WR_EXISTS);
    assert_true(wr_output_dir("d", marks, true, NULL, &err));
    put("d/a.draw", "drawn by us\n");
    assert_true(wr_output_dir("d", marks, false, NULL, &err));
    assert_false(wr_output_dir("d/thesis", marks, true, NULL, &err));
    unlink("d/thesis");
    unlink("d/a.draw");
    rmdir("d");
}

static void devices_are_written_in_place(void **state)
{
    struct wr_err err;

    (void)state;
    assert_true(write_drawing("/dev/null", 0, &err));
    if (write_drawing("/dev/full", 0, &err))
        fail_msg("/dev/full took it");
    assert_int_equal(err.code, WR_SYSTEM);
    assert_non_null(strstr(err.text, "No space left"));
}

#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(nothing_has_the_name_before_it_is_whole),
        IN_PLACE(what_is_there_is_judged_by_what_it_holds),
        IN_PLACE(a_table_is_known_by_the_names_of_its_columns),
        IN_PLACE(an_input_is_an_input_behind_every_link),
        IN_PLACE(what_is_read_after_it_was_opened_is_an_input_too),
        IN_PLACE(a_link_is_followed_and_stays_a_link),
        IN_PLACE(of_six_writers_one_wins_and_the_others_are_reported),
        IN_PLACE(who_is_interrupted_leaves_nothing),
        IN_PLACE(what_a_killed_process_left_is_in_nobodys_way),
        IN_PLACE(what_grows_is_locked_under_its_own_name),
        IN_PLACE(a_directory_of_others_is_not_written_into),
        IN_PLACE(devices_are_written_in_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
