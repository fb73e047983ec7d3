/* libweir-rpc when the other side dies. (examples/rpc/key-value.c is the test of all that works.)
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "weir-rpc.h"

static int answer(void *ctx, unsigned op, const void *bytes, size_t len, void *reply,
                  size_t reply_size)
{
    (void)ctx;
    (void)op;
    (void)bytes;
    (void)len;
    (void)reply;
    (void)reply_size;
    return 0;
}

static const struct weir_rpc_config config = {
    .size = sizeof config, .transport = "shm", .token = 0x5eed};

static void serve(int address_pipe)
{
    struct weir_rpc_server *s = weir_rpc_server_open(&config, answer, NULL, NULL, 0);
    const char *address = s ? weir_rpc_server_address(s) : "";

    if (write(address_pipe, address, strlen(address) + 1) < 0)
        _exit(1);
    for (;;)
        weir_rpc_server_step(s, 100000);
}

static void a_caller_learns_soon_that_the_server_died(void **state)
{
    char address[1024] = "", why[256] = "";
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    pid_t server = fork();

    if (!server)
        serve(ends[1]);
    assert_true(read(ends[0], address, sizeof address - 1) > 0);
    struct weir_rpc_client *c = weir_rpc_client_open(&config, address, why, sizeof why);

    if (!c)
        fail_msg("%s", why);
    assert_int_equal(weir_rpc_call(c, 1, "x", 1, NULL, 0), 0);
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
    alarm(20); /* ends the test; its patience is ten seconds */
    assert_int_equal(weir_rpc_call(c, 1, "x", 1, NULL, 0), WEIR_RPC_GONE);
    alarm(0);
    weir_rpc_client_close(c);
    close(ends[0]);
    close(ends[1]);
}

/* Opens a server and, if that works, closes it again. */
static bool opens(struct weir_rpc_config c, char why[256])
{
    struct weir_rpc_server *s = weir_rpc_server_open(&c, answer, NULL, why, 256);

    weir_rpc_server_close(s);
    return s;
}

static void a_server_that_others_reach_needs_a_whole_token(void **state)
{
    struct weir_rpc_config here = {.size = sizeof here, .transport = "tcp", .token = 0x5eed};
    struct weir_rpc_config there = here, older = here;
    char why[256] = "";

    (void)state;
    there.bind = "0.0.0.1"; /* no interface has it: opening fails at bind() */
    older.size = offsetof(struct weir_rpc_config, token_file);
    assert_true(opens(here, why) && opens(older, why));
    assert_false(opens(there, why));
    assert_non_null(strstr(why, "WEIR_RPC_TOKEN"));
    setenv("WEIR_RPC_TOKEN", "00112233445566778899aabbccddeeff", 1);
    assert_false(opens(there, why));
    assert_non_null(strstr(why, "cannot listen"));
    setenv("WEIR_RPC_TOKEN", "0x5eed", 1);
    assert_false(opens(here, why));
    assert_non_null(strstr(why, "no token of 32"));
    unsetenv("WEIR_RPC_TOKEN");
    here.token_file = "/nonexistent/token";
    assert_false(opens(here, why));
    assert_non_null(strstr(why, "/nonexistent/token"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_caller_learns_soon_that_the_server_died),
        cmocka_unit_test(a_server_that_others_reach_needs_a_whole_token),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
