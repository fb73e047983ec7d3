/* Why: a service of one's own in a page: a server keeps values, clients on the node use it.
 *
 *   cc key-value.c $(pkg-config --cflags --libs weir-rpc) -o key-value
 *   ./key-value                       over shared memory
 *   ./key-value 'tcp;ofi_rxm'         over libfabric, with this provider
 *
 * Small values travel in the messages; the large one is put into and got from the server's memory
 * by RMA. Prints what came back and ends with 0 if it is right.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weir-rpc.h>

enum { OP_SET, OP_ADD, OP_GET, OP_END };
enum { KEYS = 16, LARGE = 1 << 20 };

struct service {
    int64_t value[KEYS];
    int ended;
};

struct ask {
    uint32_t key;
    int64_t value;
};

static int answer(void *ctx, unsigned op, const void *bytes, size_t len, void *reply, size_t room)
{
    struct service *s = ctx;
    struct ask a = {.key = 0};

    if (len == sizeof a)
        memcpy(&a, bytes, sizeof a);
    if (a.key >= KEYS || room < sizeof s->value[0])
        return WEIR_RPC_BAD_RANGE;
    switch (op) {
    case OP_SET:
        s->value[a.key] = a.value;
        break;
    case OP_ADD:
        s->value[a.key] += a.value;
        break;
    case OP_GET:
        break;
    case OP_END:
        s->ended = 1;
        break;
    default:
        return WEIR_RPC_BAD_OP;
    }
    memcpy(reply, &s->value[a.key], sizeof s->value[0]);
    return (int)sizeof s->value[0];
}

/* Sends its address through a pipe, then serves until it is asked to end. */
static int serve(struct weir_rpc_config config, int address_pipe)
{
    struct service service = {.ended = 0};
    char why[256];
    struct weir_rpc_server *s;

    config.memory_b = LARGE;
    if (!(s = weir_rpc_server_open(&config, answer, &service, why, sizeof why))) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    const char *address = weir_rpc_server_address(s);

    if (write(address_pipe, address, strlen(address) + 1) < 0)
        return 1;
    while (!service.ended)
        weir_rpc_server_step(s, 100000);
    weir_rpc_server_close(s);
    return 0;
}

static int use(struct weir_rpc_config config, const char *address)
{
    struct ask a = {.key = 3, .value = 40};
    int64_t value = 0;
    char why[256];
    struct weir_rpc_client *c;

    config.memory_b = 2 * LARGE;
    if (!(c = weir_rpc_client_open(&config, address, why, sizeof why))) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    weir_rpc_call(c, OP_SET, &a, sizeof a, &value, sizeof value);
    a.value = 2;
    int n = weir_rpc_call(c, OP_ADD, &a, sizeof a, &value, sizeof value);

    printf("value of key 3: %lld\n", (long long)value);
    char *memory = weir_rpc_client_memory(c);

    for (size_t i = 0; i < LARGE; i++)
        memory[i] = (char)(i * 7 + i / 251);
    int put = weir_rpc_put(c, 0, 0, LARGE), got = weir_rpc_get(c, 0, LARGE, LARGE);
    int same = !memcmp(memory, memory + LARGE, LARGE);

    printf("a mebibyte there and back: %s\n", put || got ? weir_rpc_words(put ? put : got)
                                              : same     ? "the same"
                                                         : "different");
    int beyond = weir_rpc_get(c, 1, 0, LARGE), unknown = weir_rpc_call(c, 99, NULL, 0, NULL, 0);

    printf("beyond its end: %s\n", weir_rpc_words(beyond));
    weir_rpc_call(c, OP_END, &a, sizeof a, NULL, 0);
    weir_rpc_client_close(c);
    return n == sizeof value && value == 42 && !put && !got && same &&
                   beyond == WEIR_RPC_BAD_RANGE && unknown == WEIR_RPC_BAD_OP
               ? 0
               : 1;
}

int main(int argc, char **argv)
{
    struct weir_rpc_config config = {.size = sizeof config,
                                     .transport = argc > 1 ? "fabric" : "shm",
                                     .provider = argc > 1 ? argv[1] : NULL,
                                     .token =
                                         0x5eed}; /* else the one of WEIR_RPC_TOKEN, or of a file */
    char address[1024] = "";
    int ends[2], status = 1;

    if (pipe(ends))
        return 1;
    pid_t server = fork();

    if (!server) {
        close(ends[0]);
        _exit(serve(config, ends[1]));
    }
    close(ends[1]);
    if (read(ends[0], address, sizeof address - 1) <= 0 || use(config, address))
        return 1;
    waitpid(server, &status, 0);
    return status ? 1 : 0;
}
