/* comm_serial.c -- messages in one process (the comm_* functions of runtime.c).
 *
 * The process executes one task after the other: messages and collectives are counted and logged,
 * but no data is transferred. Files and computation are real. */

static int64_t serial_tasks = 1;
static WR_VEC(int64_t) serial_elapsed; /* of the first task, which the others follow */
static size_t serial_next;
static uint32_t serial_follows; /* the processor that is at serial_next */

void comm_start(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    nc.tasks = 1;
}

bool comm_tasks(int64_t wanted)
{
    serial_tasks = nc.tasks = wanted ? wanted : 1;
    return nc.tasks < UINT32_MAX / 2;
}

uint32_t comm_first(void)
{
    return 0;
}

uint32_t comm_last(void)
{
    return (uint32_t)serial_tasks - 1;
}

void comm_end(void)
{
}

void comm_abort(int status)
{
    fflush(stdout);
    exit(status);
}

int comm_largest_tag(void)
{
    return INT_MAX;
}

bool comm_pending(void)
{
    return false;
}

void comm_wait(uint32_t of)
{
    (void)of;
}

void comm_send(uint32_t to, const void *data, int64_t bytes, int tag, const struct nc_hold *hold)
{
    (void)to, (void)data, (void)bytes, (void)tag;
    if (hold)
        rt_release(hold);
}

/* False: no data has arrived. */
bool comm_receive(uint32_t from, void *data, int64_t bytes, int tag, const struct nc_hold *hold)
{
    comm_send(from, data, bytes, tag, hold);
    return false;
}

bool comm_multicast(uint32_t root, const struct nc_set *with, void *data, int64_t bytes,
                    const struct nc_hold *hold)
{
    (void)with;
    comm_send(root, data, bytes, 0, hold);
    return false;
}

void comm_reduce(const struct nc_set *from, const struct nc_set *to, void *data, void *result,
                 int64_t count, bool wide)
{
    (void)from, (void)to, (void)data, (void)result, (void)count, (void)wide;
}

void comm_barrier(const struct nc_set *of)
{
    (void)of;
}

void comm_align(void)
{
}

int64_t comm_least(int64_t mine)
{
    if (!nc.proc) {
        wr_vec_push(&serial_elapsed, mine);
        return mine;
    }
    if (serial_follows != nc.proc) {
        serial_follows = nc.proc;
        serial_next = 0;
    }
    return serial_next < serial_elapsed.n ? serial_elapsed.v[serial_next++] : INT64_MAX;
}

void comm_collect(const struct wr_str *mine, FILE *out)
{
    fwrite(wr_str_get(mine), 1, mine->n, out);
}
