/* comm_mpi.c -- messages and collectives with MPI (the comm_* functions of runtime.c).
 *
 * A set of processors is a communicator, created by its members when it is used first, and kept.
 * All tasks execute their collectives in the order of the program, so members create communicators
 * in the same order. */

struct mpi_set {
    uint32_t n, *proc;
    MPI_Comm comm;
};

struct mpi_pending {
    MPI_Request request;
    struct nc_hold hold;
};

static WR_VEC(struct mpi_set) mpi_sets;
static WR_VEC(struct mpi_pending) mpi_pending;
static int mpi_most_tag = 32767;

void comm_start(int *argc, char ***argv)
{
    int size, rank, found;
    void *most;

    MPI_Init(argc, argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &found);
    if (found)
        mpi_most_tag = *(int *)most;
    nc.tasks = size;
    nc.proc = (uint32_t)rank;
}

bool comm_tasks(int64_t wanted)
{
    return !wanted || wanted == nc.tasks;
}

uint32_t comm_first(void)
{
    return nc.proc;
}

uint32_t comm_last(void)
{
    return nc.proc;
}

void comm_end(void)
{
    MPI_Finalize();
}

void comm_abort(int status)
{
    fflush(stdout);
    usleep(100000); /* launchers lose output that was written just before */
    MPI_Abort(MPI_COMM_WORLD, status);
    exit(status);
}

int comm_largest_tag(void)
{
    return mpi_most_tag;
}

/* ---- sets ---- */

static MPI_Comm mpi_comm(const struct nc_set *s)
{
    MPI_Group world, group;
    struct mpi_set new;

    if (!s || s->n == (uint32_t)nc.tasks)
        return MPI_COMM_WORLD;
    for (size_t i = 0; i < mpi_sets.n; i++)
        if (mpi_sets.v[i].n == s->n && !memcmp(mpi_sets.v[i].proc, s->proc, s->n * sizeof *s->proc))
            return mpi_sets.v[i].comm;
    new = (struct mpi_set){.n = s->n, .proc = wr_alloc(s->n * sizeof *s->proc)};
    memcpy(new.proc, s->proc, s->n * sizeof *s->proc);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, (int)s->n, (const int *)new.proc, &group);
    MPI_Comm_create_group(MPI_COMM_WORLD, group, 0, &new.comm);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    wr_vec_push(&mpi_sets, new);
    return new.comm;
}

/* A processor's rank among a set. */
static int mpi_rank_in(const struct nc_set *s, uint32_t proc)
{
    int rank = 0;

    while (s->proc[rank] != proc)
        rank++;
    return rank;
}

/* ---- operations in flight ---- */

static void mpi_begun(MPI_Request request, const struct nc_hold *hold)
{
    wr_vec_push(&mpi_pending, (struct mpi_pending){.request = request, .hold = *hold});
}

bool comm_pending(void)
{
    return mpi_pending.n;
}

void comm_wait(uint32_t of)
{
    MPI_Request *requests = wr_alloc((mpi_pending.n + 1) * sizeof *requests);
    MPI_Status *statuses = wr_alloc((mpi_pending.n + 1) * sizeof *statuses);
    struct nc_hold *holds = wr_alloc((mpi_pending.n + 1) * sizeof *holds);
    size_t left = 0;
    int n = 0;

    for (size_t i = 0; i < mpi_pending.n; i++)
        if (mpi_pending.v[i].hold.of & of) {
            requests[n] = mpi_pending.v[i].request;
            holds[n++] = mpi_pending.v[i].hold;
        } else {
            mpi_pending.v[left++] = mpi_pending.v[i];
        }
    mpi_pending.n = left;
    MPI_Waitall(n, requests, statuses);
    for (int i = 0; i < n; i++)
        nc_held(&holds[i]);
    free(requests);
    free(statuses);
    free(holds);
}

/* ---- point to point ---- */

/* Bytes as MPI counts them; beyond what fits an int, as one value of a type of that length. */
struct mpi_bytes {
    MPI_Datatype type;
    int count;
};

static struct mpi_bytes mpi_bytes(int64_t bytes)
{
    enum { BLOCK = 1 << 30 };
    int lengths[2] = {(int)(bytes / BLOCK), (int)(bytes % BLOCK)};
    MPI_Aint at[2] = {0, (MPI_Aint)(bytes - bytes % BLOCK)};
    MPI_Datatype types[2] = {MPI_DATATYPE_NULL, MPI_BYTE};
    struct mpi_bytes b = {MPI_BYTE, (int)bytes};

    if (bytes <= INT_MAX)
        return b;
    b.count = 1;
    MPI_Type_contiguous(BLOCK, MPI_BYTE, &types[0]);
    MPI_Type_create_struct(2, lengths, at, types, &b.type);
    MPI_Type_commit(&b.type);
    MPI_Type_free(&types[0]);
    return b;
}

static void mpi_bytes_free(struct mpi_bytes *b)
{
    if (b->type != MPI_BYTE)
        MPI_Type_free(&b->type);
}

void comm_send(uint32_t to, const void *data, int64_t bytes, int tag, const struct nc_hold *hold)
{
    struct mpi_bytes b = mpi_bytes(bytes);
    MPI_Request request;

    if (hold) {
        MPI_Isend(data, b.count, b.type, (int)to, tag, MPI_COMM_WORLD, &request);
        mpi_begun(request, hold);
    } else {
        MPI_Send(data, b.count, b.type, (int)to, tag, MPI_COMM_WORLD);
    }
    mpi_bytes_free(&b);
}

/* True: the message has arrived. */
bool comm_receive(uint32_t from, void *data, int64_t bytes, int tag, const struct nc_hold *hold)
{
    struct mpi_bytes b = mpi_bytes(bytes);
    MPI_Request request;

    if (hold) {
        MPI_Irecv(data, b.count, b.type, (int)from, tag, MPI_COMM_WORLD, &request);
        mpi_begun(request, hold);
    } else {
        MPI_Recv(data, b.count, b.type, (int)from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    mpi_bytes_free(&b);
    return !hold;
}

/* ---- collectives ---- */

bool comm_multicast(uint32_t root, const struct nc_set *with, void *data, int64_t bytes,
                    const struct nc_hold *hold)
{
    struct mpi_bytes b = mpi_bytes(bytes);
    MPI_Comm comm = mpi_comm(with);
    MPI_Request request;

    if (hold) {
        MPI_Ibcast(data, b.count, b.type, mpi_rank_in(with, root), comm, &request);
        mpi_begun(request, hold);
    } else {
        MPI_Bcast(data, b.count, b.type, mpi_rank_in(with, root), comm);
    }
    mpi_bytes_free(&b);
    return !hold;
}

/* One piece whose count fits an int. A processor that is no source contributes zeros. */
static void mpi_reduce(const struct nc_set *from, const struct nc_set *to, struct nc_set *all,
                       char *data, char *result, int count, bool wide)
{
    MPI_Datatype type = wide ? MPI_UINT64_T : MPI_UINT32_T;
    int root = mpi_rank_in(all, to->proc[0]);

    if (from->n == all->n && to->n == all->n) {
        MPI_Allreduce(data, result, count, type, MPI_SUM, mpi_comm(all));
        return;
    }
    if (!rt_set_has(from, nc.proc))
        memset(data, 0, (size_t)count * (wide ? 8 : 4));
    MPI_Reduce(data, result, count, type, MPI_SUM, root, mpi_comm(all));
    if (to->n > 1 && rt_set_has(to, nc.proc))
        MPI_Bcast(result, count, type, 0, mpi_comm(to));
}

void comm_reduce(const struct nc_set *from, const struct nc_set *to, void *data, void *result,
                 int64_t count, bool wide)
{
    enum { PIECE = 1 << 27 };
    static struct nc_set all;

    nc_set_clear(&all);
    for (uint32_t i = 0; i < from->n; i++)
        nc_set_add(&all, nc.task_of[from->proc[i]]);
    for (uint32_t i = 0; i < to->n; i++)
        nc_set_add(&all, nc.task_of[to->proc[i]]);
    rt_set_sort(&all);
    for (int64_t at = 0; at < count; at += PIECE) {
        int64_t skip = at * (wide ? 8 : 4);

        mpi_reduce(from, to, &all, (char *)data + skip, (char *)result + skip,
                   (int)(count - at < PIECE ? count - at : PIECE), wide);
    }
}

void comm_barrier(const struct nc_set *of)
{
    if (!of || of->n > 1)
        MPI_Barrier(mpi_comm(of));
}

int64_t comm_least(int64_t mine)
{
    long long least = mine;

    MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_LONG_LONG_INT, MPI_MIN, MPI_COMM_WORLD);
    return least;
}
