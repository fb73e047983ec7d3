/* tour.c -- every step of docs/contributing/tour.md names a file that is there and functions that
 * it has.
 *
 * A step is a row `| N | `FILE` | `NAME()`, ... | ... |`: FILE under src/, each NAME a whole word
 * of it.
 */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TOUR_STEPS_LEAST = 40 };

static const char tour_page[] = WEIR_SOURCE_DIR "/docs/contributing/tour.md";

/* The whole file as a string, or NULL; freed by the caller. */
static char *tour_read(const char *path)
{
    FILE *f = fopen(path, "r");
    char *text = NULL;
    size_t n = 0;

    if (!f)
        return NULL;
    ssize_t len = getdelim(&text, &n, '\0', f);
    fclose(f);
    if (len < 0) {
        free(text);
        return NULL;
    }
    return text;
}

static bool tour_has_word(const char *text, const char *word, size_t len)
{
    for (const char *at = text; (at = strstr(at, word)); at++) {
        bool before = at > text && (isalnum((unsigned char)at[-1]) || at[-1] == '_');
        bool after = isalnum((unsigned char)at[len]) || at[len] == '_';

        if (!before && !after)
            return true;
    }
    return false;
}

/* The next word between backquotes in [*at, end), without "()"; false when there is none. */
static bool tour_next_name(const char **at, const char *end, char *ret, size_t size)
{
    const char *from = memchr(*at, '`', (size_t)(end - *at));

    if (!from)
        return false;
    const char *to = memchr(from + 1, '`', (size_t)(end - from - 1));

    assert_non_null(to);
    *at = to + 1;
    snprintf(ret, size, "%.*s", (int)(to - from - 1), from + 1);
    ret[strcspn(ret, "(")] = '\0';
    return true;
}

/* Looks at one row, returns how many names are missing. */
static unsigned tour_check_step(const char *row, const char *end)
{
    char file[256], path[1024], name[256];
    unsigned missing = 0;

    assert_true(tour_next_name(&row, end, file, sizeof file));
    snprintf(path, sizeof path, "%s/src/%s", WEIR_SOURCE_DIR, file);
    char *text = tour_read(path);

    if (!text) {
        print_error("the tour names src/%s, which is not there: correct the step\n", file);
        return 1;
    }
    row = strchr(row, '|') + 1;
    const char *cell_end = memchr(row, '|', (size_t)(end - row));

    assert_non_null(cell_end);
    while (tour_next_name(&row, cell_end, name, sizeof name)) {
        if (!tour_has_word(text, name, strlen(name))) {
            print_error("src/%s has no %s: correct the tour\n", file, name);
            missing++;
        }
    }
    free(text);
    return missing;
}

static void each_step_of_the_tour_names_a_file_and_functions_that_it_has(void **state)
{
    (void)state;
    char *page = tour_read(tour_page);
    unsigned steps = 0, missing = 0;

    assert_non_null(page);
    for (char *line = strtok(page, "\n"); line; line = strtok(NULL, "\n")) {
        if (strncmp(line, "| ", 2) != 0 || !isdigit((unsigned char)line[2]))
            continue;
        steps++;
        missing += tour_check_step(line, line + strlen(line));
    }
    free(page);
    assert_true(steps >= TOUR_STEPS_LEAST);
    assert_int_equal(missing, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_step_of_the_tour_names_a_file_and_functions_that_it_has),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
