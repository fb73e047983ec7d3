/* io_mpiio.c -- files with MPI-IO (the io_* functions of runtime.c).
 *
 * Each task has a handle of its own for independent accesses. COLLECTIVELY uses a handle of the set
 * of tasks, opened at its first access and closed at the end of the program, since one task alone
 * may execute CLOSES. */

struct mpiio_file {
    MPI_File file;
};

struct mpiio_shared {
    int64_t number;
    MPI_Comm comm;
    MPI_File file;
};

static WR_VEC(struct mpiio_shared) mpiio_shared;

static void mpiio_check(int code, const char *what, const char *name)
{
    char text[MPI_MAX_ERROR_STRING];
    int n;

    if (code == MPI_SUCCESS)
        return;
    MPI_Error_string(code, text, &n);
    fprintf(stderr, "cannot %s %s: %s; give another directory with --io-dir\n", what, name, text);
    comm_abort(4);
}

static MPI_File mpiio_own(struct nc_file *f, const char *name)
{
    struct mpiio_file *p = f->handle;

    if (p)
        return p->file;
    if (!f->made && access(name, F_OK))
        rt_claim(f, name);
    p = f->handle = wr_alloc(sizeof *p);
    mpiio_check(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR, MPI_INFO_NULL, &p->file), "open",
                name);
    return p->file;
}

static MPI_File mpiio_of(struct nc_file *f, const char *name, const struct nc_set *with)
{
    struct mpiio_shared new = {.number = f->number, .comm = mpi_comm(with)};

    for (size_t i = 0; i < mpiio_shared.n; i++)
        if (mpiio_shared.v[i].number == new.number && mpiio_shared.v[i].comm == new.comm)
            return mpiio_shared.v[i].file;
    if (nc.proc == with->proc[0] && !f->made && access(name, F_OK))
        rt_claim(f, name);
    comm_barrier(with);
    mpiio_check(MPI_File_open(new.comm, name, MPI_MODE_RDWR, MPI_INFO_NULL, &new.file), "open",
                name);
    wr_vec_push(&mpiio_shared, new);
    return new.file;
}

void io_open(struct nc_file *f, const char *name, uint32_t mode)
{
    (void)mode; /* a file may be read and written, whatever it was opened for */
    mpiio_own(f, name);
}

void io_close(struct nc_file *f)
{
    struct mpiio_file *p = f->handle;

    if (p) {
        io_wait(); /* what was begun with it */
        MPI_File_close(&p->file);
    }
    free(p);
    f->handle = NULL;
}

void io_flush(struct nc_file *f, const char *name)
{
    mpiio_check(MPI_File_sync(mpiio_own(f, name)), "flush", name);
}

/* Extends a file that the dry run did not prepare. */
static void mpiio_ready_to_read(struct nc_file *f, const char *name, MPI_File file, int64_t end)
{
    MPI_Offset size;

    mpiio_check(MPI_File_get_size(file, &size), "look at", name);
    if (size < end)
        rt_extend(f, name, size, end);
}

static int mpiio_begin(MPI_File file, bool writes, char *data, const struct mpi_bytes *b,
                       MPI_Offset at, bool all, MPI_Request *request)
{
    if (all)
        return writes ? MPI_File_iwrite_at_all(file, at, data, b->count, b->type, request)
                      : MPI_File_iread_at_all(file, at, data, b->count, b->type, request);
    return writes ? MPI_File_iwrite_at(file, at, data, b->count, b->type, request)
                  : MPI_File_iread_at(file, at, data, b->count, b->type, request);
}

static int mpiio_do(MPI_File file, bool writes, char *data, const struct mpi_bytes *b,
                    MPI_Offset at, bool all)
{
    MPI_Status status;

    if (all)
        return writes ? MPI_File_write_at_all(file, at, data, b->count, b->type, &status)
                      : MPI_File_read_at_all(file, at, data, b->count, b->type, &status);
    return writes ? MPI_File_write_at(file, at, data, b->count, b->type, &status)
                  : MPI_File_read_at(file, at, data, b->count, b->type, &status);
}

void io_access(struct nc_file *f, const char *name, bool writes, char *data, int64_t bytes,
               int64_t offset, const struct nc_set *with, const struct nc_hold *hold)
{
    MPI_File file = with ? mpiio_of(f, name, with) : mpiio_own(f, name);
    struct mpi_bytes b = mpi_bytes(bytes);
    MPI_Request request;

    if (!writes)
        mpiio_ready_to_read(f, name, file, offset + bytes);
    if (hold) {
        mpiio_check(mpiio_begin(file, writes, data, &b, offset, with, &request),
                    writes ? "write" : "read", name);
        mpi_begun(request, hold);
    } else {
        mpiio_check(mpiio_do(file, writes, data, &b, offset, with), writes ? "write" : "read",
                    name);
    }
    mpi_bytes_free(&b);
}

void io_wait(void)
{
    comm_wait(NCPTL_IOS);
}

bool io_pending(void)
{
    return false; /* among the messages */
}

void io_end(void)
{
    for (uint32_t i = 0; i < rt.filecap; i++)
        if (rt.files[i].used)
            io_close(&rt.files[i]);
    for (size_t i = 0; i < mpiio_shared.n; i++)
        MPI_File_close(&mpiio_shared.v[i].file);
}
