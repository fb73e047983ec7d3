/* Memory: cleared where promised, aligned where promised, there or the program ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"

static void aligned_memory_is_cleared_and_on_a_cache_line(void **state)
{
    (void)state;
    for (size_t n = 0; n < 200; n += 7) {
        unsigned char *p = wr_zalloc_aligned(n, 3);

        assert_int_equal((uintptr_t)p % 64, 0);
        for (size_t i = 0; i < 3 * n; i++)
            assert_int_equal(p[i], 0);
        free(p);
    }
}

static void an_arena_gives_cleared_aligned_pieces_that_do_not_overlap(void **state)
{
    enum { PIECES = 3000 };
    static unsigned char *piece[PIECES];
    struct wr_arena a = {0};
    (void)state;

    for (size_t i = 0; i < PIECES; i++) {
        size_t size = i % 97 + 1;

        piece[i] = wr_arena_alloc(&a, size);
        assert_int_equal((uintptr_t)piece[i] % 16, 0);
        for (size_t j = 0; j < size; j++)
            assert_int_equal(piece[i][j], 0);
        memset(piece[i], (int)(i % 255) + 1, size);
    }
    for (size_t i = 0; i < PIECES; i++)
        for (size_t j = 0; j < i % 97 + 1; j++)
            assert_int_equal(piece[i][j], i % 255 + 1);
    wr_arena_fini(&a);
    assert_null(a.head);
}

static void an_arena_gives_pieces_larger_than_its_chunks(void **state)
{
    struct wr_arena a = {0};
    char *small = wr_arena_strdup(&a, "small");
    unsigned char *large = wr_arena_alloc(&a, 1 << 20);
    (void)state;

    for (size_t i = 0; i < 1 << 20; i++)
        assert_int_equal(large[i], 0);
    memset(large, 7, 1 << 20);
    assert_string_equal(small, "small");
    assert_string_equal(wr_arena_printf(&a, "%d of %s", 3, "many"), "3 of many");
    assert_string_equal(wr_arena_strndup(&a, "abcdef", 3), "abc");
    wr_arena_fini(&a);
}

static void a_vector_keeps_what_was_pushed_while_it_grows(void **state)
{
    WR_VEC(uint64_t) v = {0};
    (void)state;

    for (uint64_t i = 0; i < 10000; i++)
        wr_vec_push(&v, i * i);
    assert_int_equal(v.n, 10000);
    assert_true(v.cap >= v.n);
    for (uint64_t i = 0; i < 10000; i++)
        assert_int_equal(v.v[i], i * i);
    wr_vec_fini(&v);
    assert_null(v.v);
    assert_int_equal(v.n, 0);
}

static void a_copy_of_a_string_is_another_string(void **state)
{
    char text[] = "text";
    char *copy = wr_strdup(text);
    (void)state;

    text[0] = 'n';
    assert_string_equal(copy, "text");
    free(copy);
}

/* What a child that asks for more than there is ends with. */
static int status_of_asking(void (*ask)(void))
{
    int status;

    fflush(NULL);
    pid_t child = fork();
    if (!child) {
        if (!freopen("/dev/null", "w", stderr))
            _exit(99);
        ask();
        _exit(0);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void ask_plain(void)
{
    wr_alloc(SIZE_MAX / 2);
}

static void ask_overflowing(void)
{
    wr_zalloc(SIZE_MAX / 2, 3);
}

static void ask_overflowing_vector(void)
{
    wr_realloc(NULL, SIZE_MAX / 2, 3);
}

static void ask_aligned(void)
{
    wr_zalloc_aligned(SIZE_MAX / 2, 3);
}

static void memory_that_is_not_there_ends_the_program_with_status_4(void **state)
{
    (void)state;
#ifdef WEIR_SANITIZED
    skip(); /* the sanitizer ends it first */
#endif
    assert_int_equal(status_of_asking(ask_plain), 4);
    assert_int_equal(status_of_asking(ask_overflowing), 4);
    assert_int_equal(status_of_asking(ask_overflowing_vector), 4);
    assert_int_equal(status_of_asking(ask_aligned), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(aligned_memory_is_cleared_and_on_a_cache_line),
        cmocka_unit_test(an_arena_gives_cleared_aligned_pieces_that_do_not_overlap),
        cmocka_unit_test(an_arena_gives_pieces_larger_than_its_chunks),
        cmocka_unit_test(a_vector_keeps_what_was_pushed_while_it_grows),
        cmocka_unit_test(a_copy_of_a_string_is_another_string),
        cmocka_unit_test(memory_that_is_not_there_ends_the_program_with_status_4),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
