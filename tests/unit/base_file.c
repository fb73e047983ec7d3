/* Texts come plain, whatever they were packed in, and errors say whose they are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/version.h"

static char path[] = "/tmp/weir-file-XXXXXX";

static int enter(void **state)
{
    (void)state;
    strcpy(path + strlen(path) - 6, "XXXXXX");
    int fd = mkstemp(path);

    return fd < 0 || close(fd);
}

static int leave(void **state)
{
    (void)state;
    return unlink(path);
}

static void put(const char *how, const void *bytes, size_t n)
{
    FILE *f = fopen(path, how);

    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static void put_zstd(const char *how, const char *text)
{
    char packed[4096];
    size_t n = ZSTD_compress(packed, sizeof packed, text, strlen(text), 3);

    assert_false(ZSTD_isError(n));
    put(how, packed, n);
}

static void reads(const char *text)
{
    struct wr_err err;
    char *got, stream[4096];
    size_t n;
    FILE *f;

    if (!wr_file_read(&got, &n, path, 4000, &err))
        fail_msg("%s", err.text);
    assert_string_equal(got, text);
    assert_int_equal(n, strlen(text));
    free(got);
    assert_true(wr_file_open(&f, path, &err));
    stream[fread(stream, 1, sizeof stream - 1, f)] = '\0';
    fclose(f);
    assert_string_equal(stream, text);
    assert_int_equal(wr_file_head(stream, 4, path), strlen(text) < 4 ? strlen(text) : 4);
    assert_int_equal(strncmp(stream, text, 4), 0);
}

static bool has_zlib(void)
{
    for (const struct wr_feature *f = wr_features(); f->name; f++)
        if (!strcmp(f->name, "zlib"))
            return f->found;
    return false;
}

/* "one\n", as gzip -n packs it. */
static const unsigned char one[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00,
                                    0x00, 0x03, 0xcb, 0xcf, 0x4b, 0xe5, 0x02, 0x00,
                                    0x9f, 0xa8, 0x17, 0xf8, 0x04, 0x00, 0x00, 0x00};

static void what_is_plain_is_read_as_it_is(void **state)
{
    (void)state;
    put("w", "one\n", 4);
    reads("one\n");
    put("w", "", 0);
    reads("");
}

static void zstd_is_seen_from_its_first_bytes(void **state)
{
    (void)state;
    put_zstd("w", "time,rate\n1,2\n");
    reads("time,rate\n1,2\n");
    put_zstd("a", "3,4\n"); /* as `cat` joins them */
    reads("time,rate\n1,2\n3,4\n");
}

static void gzip_is_seen_from_its_first_bytes(void **state)
{
    struct wr_err err;
    char *got;
    size_t n;

    (void)state;
    put("w", one, sizeof one);
    if (!has_zlib()) {
        assert_false(wr_file_read(&got, &n, path, 100, &err));
        assert_non_null(strstr(err.text, "zlib1g-dev"));
        return;
    }
    reads("one\n");
    put("a", one, sizeof one);
    reads("one\none\n");
    put("a", "\0\0\0\0", 4); /* padding of tapes */
    reads("one\none\n");
}

static void what_is_cut_or_damaged_is_refused_at_every_byte(void **state)
{
    char packed[4096];
    struct wr_err err;
    char *got;
    size_t n, len = ZSTD_compress(packed, sizeof packed, "some words, some words\n", 23, 3);

    (void)state;
    for (size_t i = 4; i < len; i++) {
        put("w", packed, i);
        assert_false(wr_file_read(&got, &n, path, 100, &err));
        assert_int_equal(err.code, WR_INPUT);
    }
    for (size_t i = 2; has_zlib() && i < sizeof one; i++) {
        put("w", one, i);
        assert_false(wr_file_read(&got, &n, path, 100, &err));
        assert_int_equal(err.code, WR_INPUT);
        assert_non_null(strstr(err.text, "gzip"));
    }
}

/* A little file may hide a lot. */
static void what_is_too_long_once_it_is_unpacked_is_refused(void **state)
{
    char *zeros = calloc(1, 1 << 20), packed[4096];
    struct wr_err err;
    char *got;
    size_t n, len = ZSTD_compress(packed, sizeof packed, zeros, 1 << 20, 3);

    (void)state;
    put("w", packed, len);
    assert_true(len < 1000);
    assert_false(wr_file_read(&got, &n, path, 100000, &err));
    assert_int_equal(err.code, WR_INPUT);
    assert_non_null(strstr(err.text, "holds more than 100000 bytes"));
    free(zeros);
}

static void a_name_that_leads_nowhere_is_the_users(void **state)
{
    static const char *const names[] = {"/nonexistent", "/dev/null/x", "/", ""};
    struct wr_err err;
    char *got;
    size_t n;
    FILE *f;

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        assert_false(wr_file_read(&got, &n, names[i], 100, &err));
        assert_int_equal(err.code, WR_INPUT);
    }
    assert_false(wr_file_open(&f, "/nonexistent", &err));
    assert_int_equal(err.code, WR_INPUT);
    assert_int_equal(wr_file_head(path, 0, "/nonexistent"), 0);
}

static void what_was_read_is_an_input_and_what_was_looked_at_is_not(void **state)
{
    struct wr_err err;
    struct stat st;
    char *got;
    size_t n;

    (void)state;
    put("w", "text\n", 5);
    assert_int_equal(stat(path, &st), 0);
    wr_input_begin();
    assert_true(wr_file_peek(&got, &n, path, 100, &err));
    free(got);
    assert_false(wr_input_is(&st));
    assert_true(wr_file_read(&got, &n, path, 100, &err));
    free(got);
    assert_true(wr_input_is(&st));
    wr_input_begin();
    assert_false(wr_input_is(&st));
}

static void supplied_content_is_read_instead_of_the_file(void **state)
{
    struct wr_file_id first, second, file;
    struct wr_err err;
    char *got, line[100], head[4];
    size_t n;
    FILE *f;

    (void)state;
    put("w", "of the file system\n", 19);
    assert_true(wr_file_identify(&file, path));
    wr_file_supply(path, "supplied\n", 9);
    wr_file_supply("no/such/file", "", 0);
    wr_file_supply(path, "again\n", 6); /* the first stays */
    assert_true(wr_file_read(&got, &n, path, 9, &err));
    assert_int_equal(n, 9);
    assert_string_equal(got, "supplied\n");
    free(got);
    assert_false(wr_file_read(&got, &n, path, 8, &err));
    assert_int_equal(err.code, WR_INPUT);
    assert_true(wr_file_open(&f, path, &err));
    assert_string_equal(fgets(line, sizeof line, f), "supplied\n");
    assert_null(fgets(line, sizeof line, f));
    fclose(f);
    assert_int_equal(wr_file_head(head, sizeof head, path), 4);
    assert_memory_equal(head, "supp", 4);
    assert_true(wr_file_exists("no/such/file"));
    assert_true(wr_file_open(&f, "no/such/file", &err));
    assert_int_equal(fgetc(f), EOF);
    fclose(f);
    assert_true(wr_file_identify(&first, path) && wr_file_identify(&second, "no/such/file"));
    assert_true(first.ino != second.ino && first.dev == second.dev && first.dev != file.dev);
    wr_file_supply_end();
    assert_false(wr_file_exists("no/such/file"));
    assert_false(wr_file_identify(&second, "no/such/file"));
    assert_true(wr_file_read(&got, &n, path, 100, &err));
    assert_string_equal(got, "of the file system\n");
    free(got);
}

#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(what_is_plain_is_read_as_it_is),
        IN_PLACE(zstd_is_seen_from_its_first_bytes),
        IN_PLACE(gzip_is_seen_from_its_first_bytes),
        IN_PLACE(what_is_cut_or_damaged_is_refused_at_every_byte),
        IN_PLACE(what_is_too_long_once_it_is_unpacked_is_refused),
        IN_PLACE(a_name_that_leads_nowhere_is_the_users),
        IN_PLACE(what_was_read_is_an_input_and_what_was_looked_at_is_not),
        IN_PLACE(supplied_content_is_read_instead_of_the_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
