/* libweir-rpc when the other side dies. (examples/rpc/key-value.c is the test of all that works.)
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "weir-rpc.h"

static int answer(void *ctx, unsigned op, const void *bytes, size_t len, void *reply, size_t room)
{
    (void)ctx;
    (void)op;
    (void)bytes;
    (void)len;
    (void)reply;
    (void)room;
    return 0;
}

static const struct weir_rpc_config config = {
    .size = sizeof config, .transport = "shm", .token = 0x5eed};

static void serve(int tell)
{
    struct weir_rpc_server *s = weir_rpc_server_open(&config, answer, NULL, NULL, 0);
    const char *address = s ? weir_rpc_server_address(s) : "";

    if (write(tell, address, strlen(address) + 1) < 0)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_caller_learns_soon_that_the_server_died),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
