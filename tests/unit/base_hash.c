/* base/hash.h against the values that its authors publish. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/hash.h"

static void values_are_those_of_fnv_1a(void **state)
{
    (void)state;
    assert_int_equal(wr_hash_text(WR_HASH_INIT, ""), 0xcbf29ce484222325);
    assert_int_equal(wr_hash_text(WR_HASH_INIT, "a"), 0xaf63dc4c8601ec8c);
    assert_int_equal(wr_hash_text(WR_HASH_INIT, "foobar"), 0x85944171f73967e8);
    assert_int_equal(wr_hash32_text(""), 0x811c9dc5);
    assert_int_equal(wr_hash32_text("a"), 0xe40c292c);
    assert_int_equal(wr_hash32_text("foobar"), 0xbf9cf968);
}

static void parts_hash_as_the_whole(void **state)
{
    uint64_t whole = wr_hash(WR_HASH_INIT, "foo\0bar", 7);

    (void)state;
    assert_int_equal(wr_hash(wr_hash(WR_HASH_INIT, "foo\0", 4), "bar", 3), whole);
    assert_int_not_equal(wr_hash_text(WR_HASH_INIT, "foo"), whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_those_of_fnv_1a),
        cmocka_unit_test(parts_hash_as_the_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
