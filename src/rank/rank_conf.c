/* rank_conf.c -- the configuration rows of `mpi:`, and presets: the same rows, other defaults. */
#include <stddef.h>

#include "rank.h"

static const char *const sendrecv_names[] = {"concurrent", "serial", NULL};
static const char *const eager_names[] = {"copied", "sent", NULL};
static const char *const progress_names[] = {"always", "calls", NULL};

const char *const rank_class_names[] = {
    [RANK_POINT] = "message_point",
    [RANK_COLLECTIVE] = "message_collective",
    [RANK_CONTROL] = "message_control",
    [RANK_MEMORY] = "message_memory",
};

const char *const rank_account_names[] = {
    [RANK_COMPUTE] = "compute", [RANK_SEND] = "send", [RANK_RECV] = "receive",
    [RANK_WAIT] = "wait",       [RANK_IO] = "io",     [RANK_IDLE] = "idle",
};

#define AT(field) offsetof(struct rank_mpi, field)

#define MPI_ROWS(eager, send, recv, copy, delay, delay_byte, memory, memory_byte, done, both)  \
    {                                                                                          \
        {.key = "eager_limit",                                                                 \
         .type = CONF_BYTES,                                                                   \
         .offset = AT(eager_b),                                                                \
         .def = eager,                                                                         \
         .help = "longer messages are sent by rendezvous: request, clear to send, data"},      \
            {.key = "control",                                                                 \
             .type = CONF_BYTES,                                                               \
             .offset = AT(control_b),                                                          \
             .def = "64 B",                                                                    \
             .max = 1 << 20,                                                                   \
             .help = "size of a rendezvous' two control messages"},                            \
            {.key = "send_overhead",                                                           \
             .type = CONF_TIME,                                                                \
             .offset = AT(send_overhead_ps),                                                   \
             .def = send,                                                                      \
             .max = 1e12,                                                                      \
             .help = "processor time to send a message"},                                      \
            {.key = "recv_overhead",                                                           \
             .type = CONF_TIME,                                                                \
             .offset = AT(recv_overhead_ps),                                                   \
             .def = recv,                                                                      \
             .max = 1e12,                                                                      \
             .help = "processor time to receive a message"},                                   \
            {.key = "copy_per_byte",                                                           \
             .type = CONF_TIME,                                                                \
             .offset = AT(copy_ps),                                                            \
             .def = copy,                                                                      \
             .max = 1e9,                                                                       \
             .help = "processor time per byte of an eager message, at the sender and at the "  \
                     "receiver"},                                                              \
            {.key = "send_delay",                                                              \
             .type = CONF_TIME,                                                                \
             .offset = AT(send_delay_ps),                                                      \
             .def = delay,                                                                     \
             .max = 1e12,                                                                      \
             .help = "time until the NIC has a message, while the processor goes on"},         \
            {.key = "send_delay_per_byte",                                                     \
             .type = CONF_TIME,                                                                \
             .offset = AT(send_delay_byte_ps),                                                 \
             .def = delay_byte,                                                                \
             .max = 1e9,                                                                       \
             .help = "and per byte; the delays of several messages overlap"},                  \
            {.key = "memory_latency",                                                          \
             .type = CONF_TIME,                                                                \
             .offset = AT(memory_ps),                                                          \
             .def = memory,                                                                    \
             .max = 1e12,                                                                      \
             .help = "time of a message to a rank of the same node"},                          \
            {.key = "memory_per_byte",                                                         \
             .type = CONF_TIME,                                                                \
             .offset = AT(memory_byte_ps),                                                     \
             .def = memory_byte,                                                               \
             .max = 1e9,                                                                       \
             .help = "and per byte"},                                                          \
            {.key = "eager_done",                                                              \
             .type = CONF_CHOICE,                                                              \
             .offset = AT(eager_done),                                                         \
             .def = done,                                                                      \
             .names = eager_names,                                                             \
             .help = "when an eager send is complete: copied, at once; sent, when the last "   \
                     "packet has left the NIC"},                                               \
            {.key = "sendrecv",                                                                \
             .type = CONF_CHOICE,                                                              \
             .offset = AT(sendrecv),                                                           \
             .def = both,                                                                      \
             .names = sendrecv_names,                                                          \
             .help = "steps of collectives that send and receive: at the same time, or a "     \
                     "blocking send and then a blocking receive"},                             \
            {.key = "progress",                                                                \
             .type = CONF_CHOICE,                                                              \
             .offset = AT(progress),                                                           \
             .def = "always",                                                                  \
             .names = progress_names,                                                          \
             .help = "when handshakes are answered: always (by the NIC or a thread), or only " \
                     "while the rank is in a call of MPI"},                                    \
            CONF_END,                                                                          \
    }

/* A Slingshot-like machine: about 2 us between neighbours, copies at 20 GB/s. */
static const struct conf_row modern_rows[] =
    MPI_ROWS("16 KiB", "200 ns", "200 ns", "0.05 ns", "300 ns", "0", "200 ns", "0.1 ns", "copied",
             "concurrent");

/* The published 1,056-node study's simulator. */
static const struct conf_row reference_rows[] =
    MPI_ROWS("16 EB", "0", "0", "0", "3510 ns", "0.55 ns", "3510 ns", "0.55 ns", "sent", "serial");

/* Nothing costs anything but the network. */
static const struct conf_row ideal_rows[] =
    MPI_ROWS("16 EB", "0", "0", "0", "0", "0", "0", "0", "sent", "concurrent");

static const struct conf_kind modern = {
    .name = "modern",
    .summary = "overheads of a current machine, rendezvous above 16 KiB",
    .rows = modern_rows,
    .params_size = sizeof(struct rank_mpi),
};

static const struct conf_kind reference = {
    .name = "reference",
    .summary = "the published study's: always eager, 3510 ns and 0.55 ns/B before the NIC",
    .rows = reference_rows,
    .params_size = sizeof(struct rank_mpi),
};

static const struct conf_kind ideal = {
    .name = "ideal",
    .summary = "MPI costs nothing, only the network does",
    .rows = ideal_rows,
    .params_size = sizeof(struct rank_mpi),
};

const struct conf_kind *const rank_mpi_kinds[] = {&modern, &reference, &ideal, NULL};
