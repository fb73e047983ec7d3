/* io_posix.c -- files with POSIX calls (the io_* functions of runtime.c).
 *
 * A task opens a file at its first access, if the program has not done so. Asynchronous accesses
 * are POSIX AIO. COLLECTIVELY ends with a barrier of the tasks. */
#include <aio.h>

struct posix_file {
    int fd;
};

struct posix_pending {
    struct aiocb *cb;
    struct nc_hold hold;
    char *name;
    bool writes;
};

static WR_VEC(struct posix_pending) posix_pending;

static int posix_fd(struct nc_file *f, const char *name)
{
    struct posix_file *p = f->handle;

    if (p)
        return p->fd;
    if (!f->made && access(name, F_OK))
        rt_claim(f, name);
    p = f->handle = wr_alloc(sizeof *p);
    p->fd = open(name, O_RDWR);
    if (p->fd < 0)
        rt_file_fail("open", name);
    return p->fd;
}

void io_open(struct nc_file *f, const char *name, uint32_t mode)
{
    (void)mode; /* a file may be read and written, whatever it was opened for */
    posix_fd(f, name);
}

void io_close(struct nc_file *f)
{
    struct posix_file *p = f->handle;

    if (p) {
        io_wait(); /* what was begun with it */
        close(p->fd);
    }
    free(p);
    f->handle = NULL;
}

void io_flush(struct nc_file *f, const char *name)
{
    if (fsync(posix_fd(f, name)))
        rt_file_fail("flush", name);
}

/* Extends a file that the dry run did not prepare. */
static void posix_ready_to_read(struct nc_file *f, const char *name, int64_t offset, int64_t bytes)
{
    struct stat st;

    if (fstat(posix_fd(f, name), &st))
        rt_file_fail("look at", name);
    if (st.st_size < offset + bytes)
        rt_extend(f, name, offset, offset + bytes);
}

static void posix_begin(struct nc_file *f, const char *name, bool writes, char *data, int64_t bytes,
                        int64_t offset, const struct nc_hold *hold)
{
    struct aiocb *cb = wr_zalloc(1, sizeof *cb);

    cb->aio_fildes = posix_fd(f, name);
    cb->aio_buf = data;
    cb->aio_nbytes = (size_t)bytes;
    cb->aio_offset = (off_t)offset;
    if (writes ? aio_write(cb) : aio_read(cb))
        rt_file_fail(writes ? "write" : "read", name);
    wr_vec_push(&posix_pending,
                (struct posix_pending){
                    .cb = cb, .hold = *hold, .name = rt_checked(strdup(name)), .writes = writes});
}

void io_access(struct nc_file *f, const char *name, bool writes, char *data, int64_t bytes,
               int64_t offset, const struct nc_set *with, const struct nc_hold *hold)
{
    int fd = posix_fd(f, name);

    if (!writes)
        posix_ready_to_read(f, name, offset, bytes);
    if (hold) {
        posix_begin(f, name, writes, data, bytes, offset, hold);
        return;
    }
    while (bytes > 0) {
        ssize_t n = writes ? pwrite(fd, data, (size_t)bytes, (off_t)offset)
                           : pread(fd, data, (size_t)bytes, (off_t)offset);

        if (!n)
            errno = EIO;
        if (n <= 0 && errno != EINTR)
            rt_file_fail(writes ? "write" : "read", name);
        offset += n > 0 ? n : 0;
        bytes -= n > 0 ? n : 0;
        data += n > 0 ? n : 0;
    }
    if (with)
        comm_barrier(with);
}

void io_wait(void)
{
    for (size_t i = 0; i < posix_pending.n; i++) {
        struct posix_pending *p = &posix_pending.v[i];
        const struct aiocb *one[] = {p->cb};

        while (aio_error(p->cb) == EINPROGRESS)
            aio_suspend(one, 1, NULL);
        errno = aio_error(p->cb);
        if (aio_return(p->cb) != (ssize_t)p->cb->aio_nbytes)
            rt_file_fail(p->writes ? "write" : "read", p->name);
        nc_held(&p->hold);
        free(p->cb);
        free(p->name);
    }
    posix_pending.n = 0;
}

bool io_pending(void)
{
    return posix_pending.n;
}

void io_end(void)
{
    for (uint32_t i = 0; i < rt.filecap; i++)
        if (rt.files[i].used)
            io_close(&rt.files[i]);
}
