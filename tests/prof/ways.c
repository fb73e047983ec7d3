/* ways.c -- one way of doing I/O per name: `prof-ways WAY DIR` moves a known volume and ends.
 *
 * Run under the profiler by tests/unit/prof_ways.c, which knows what each way moves. Nothing
 * else in here touches storage.
 */
#include <aio.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/io_uring.h>
#include <linux/seccomp.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef WAYS_LIBAIO
#include <libaio.h>
#endif
#ifdef WAYS_LIBURING
#include <liburing.h>
#endif

#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wunused-result"
#pragma GCC diagnostic ignored "-Wint-to-pointer-cast"

enum { MIB = 1 << 20, CHUNK = 4096 };

extern char **environ;
static char buf[MIB + 1];
static char path[4096], self[4096];
static const char *dir;

static const char *in(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static void must(int ok)
{
    if (!ok) {
        fprintf(stderr, "prof-ways: %s\n", strerror(errno));
        exit(9);
    }
}

static int file(int more)
{
    int fd = open(in("data"), O_RDWR | O_CREAT | more, 0600);

    must(fd >= 0);
    return fd;
}

/* A mebibyte in chunks. */
static void fill(int fd)
{
    for (int i = 0; i < MIB; i += CHUNK)
        must(write(fd, buf + i, CHUNK) == CHUNK);
}

#define EACH for (int i = 0; i < MIB; i += CHUNK)
#define IOV2(at)                              \
    {                                         \
        {buf + (at), CHUNK / 2},              \
        {                                     \
            buf + (at) + CHUNK / 2, CHUNK / 2 \
        }                                     \
    }

static void way_write(void)
{
    fill(file(0));
}

static void way_pwrite(void)
{
    int fd = file(0);

    EACH must(pwrite(fd, buf, CHUNK, i) == CHUNK);
}

static void way_pwrite64(void)
{
    int fd = file(0);

    EACH must(pwrite64(fd, buf, CHUNK, i) == CHUNK);
}

static void way_writev(void)
{
    int fd = file(0);

    EACH
    {
        struct iovec v[] = IOV2(i);

        must(writev(fd, v, 2) == CHUNK);
    }
}

static void way_pwritev(void)
{
    int fd = file(0);

    EACH
    {
        struct iovec v[] = IOV2(i);

        must(pwritev(fd, v, 2, i) == CHUNK);
    }
}

static void way_pwritev64(void)
{
    int fd = file(0);

    EACH
    {
        struct iovec v[] = IOV2(i);

        must(pwritev64(fd, v, 2, i) == CHUNK);
    }
}

static void way_pwritev2(void)
{
    int fd = file(0);

    EACH
    {
        struct iovec v[] = IOV2(i);

        must(pwritev2(fd, v, 2, i, 0) == CHUNK);
    }
}

/* Reads: a file without a single write, holes read as zeros. */
static int hole(void)
{
    int fd = file(0);

    must(!ftruncate(fd, MIB));
    return fd;
}

static void way_read(void)
{
    int fd = hole();

    EACH must(read(fd, buf, CHUNK) == CHUNK);
}

static void way_pread(void)
{
    int fd = hole();

    EACH must(pread(fd, buf, CHUNK, i) == CHUNK);
}

static void way_pread64(void)
{
    int fd = hole();

    EACH must(pread64(fd, buf, CHUNK, i) == CHUNK);
}

static void way_readv(void)
{
    int fd = hole();

    EACH
    {
        struct iovec v[] = IOV2(i);

        must(readv(fd, v, 2) == CHUNK);
    }
}

static void way_preadv(void)
{
    int fd = hole();

    EACH
    {
        struct iovec v[] = IOV2(i);

        must(preadv(fd, v, 2, i) == CHUNK);
    }
}

static void way_preadv2(void)
{
    int fd = hole();

    EACH
    {
        struct iovec v[] = IOV2(i);

        must(preadv2(fd, v, 2, i, 0) == CHUNK);
    }
}

/* At the end of the file: fewer bytes than asked for. */
static void way_short_read(void)
{
    int fd = hole();

    must(pread(fd, buf, MIB, MIB / 2) == MIB / 2);
    must(pread(fd, buf, MIB, MIB) == 0);
}

static FILE *stream(const char *how)
{
    FILE *f = fopen(in("data"), how);

    must(f != NULL);
    return f;
}

static void way_fwrite(void)
{
    FILE *f = stream("w");

    EACH must(fwrite(buf + i, 2, CHUNK / 2, f) == CHUNK / 2);
    must(!fclose(f));
}

static void way_fwrite_unlocked(void)
{
    FILE *f = stream("w");

    EACH must((fwrite_unlocked)(buf + i, 1, CHUNK, f) == CHUNK);
    must(!fclose(f));
}

/* Lines of 32 bytes. */
static const char line[] = "0123456789abcdef0123456789abcde\n";

static void way_fputs(void)
{
    FILE *f = stream("w");

    for (int i = 0; i < MIB / 32; i++)
        must(fputs(line, f) >= 0);
    must(!fclose(f));
}

static void way_fputs_unlocked(void)
{
    FILE *f = stream("w");

    for (int i = 0; i < MIB / 32; i++)
        must(fputs_unlocked(line, f) >= 0);
    must(!fclose(f));
}

static void way_fputc(void)
{
    FILE *f = stream("w");

    for (int i = 0; i < CHUNK; i++)
        must((fputc)('x', f) == 'x' && (putc)('y', f) == 'y');
    must(!fclose(f));
}

static void way_fputc_unlocked(void)
{
    FILE *f = stream("w");

    for (int i = 0; i < CHUNK; i++)
        must((fputc_unlocked)('x', f) == 'x' && (putc_unlocked)('y', f) == 'y');
    must(!fclose(f));
}

static void way_fprintf(void)
{
    FILE *f = stream("w");

    for (int i = 0; i < MIB / 32; i++)
        must(fprintf(f, "%031d\n", i) == 32);
    must(!fclose(f));
}

static void print_to(FILE *f, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    must(vfprintf(f, fmt, ap) == 32);
    va_end(ap);
}

static void way_vfprintf(void)
{
    FILE *f = stream("w");

    for (int i = 0; i < MIB / 32; i++)
        print_to(f, "%031d\n", i);
    must(!fclose(f));
}

static void way_dprintf(void)
{
    int fd = file(0);

    for (int i = 0; i < CHUNK; i++)
        must(dprintf(fd, "%031d\n", i) == 32);
}

/* A file of lines, written by a child that is not profiled would be seen by the kernel's counters:
 * so it is written here, and counts. */
static FILE *lines(void)
{
    FILE *f = stream("w+");

    for (int i = 0; i < MIB / 32; i++)
        must(fputs(line, f) >= 0);
    must(!fflush(f));
    rewind(f);
    return f;
}

static void way_fread(void)
{
    FILE *f = lines();

    EACH must(fread(buf + i, 2, CHUNK / 2, f) == CHUNK / 2);
    must(!fclose(f));
}

static void way_fread_unlocked(void)
{
    FILE *f = lines();

    EACH must((fread_unlocked)(buf + i, 1, CHUNK, f) == CHUNK);
    must(!fclose(f));
}

static void way_fgets(void)
{
    FILE *f = lines();
    char got[64];

    while (fgets(got, sizeof got, f))
        ;
    must(!fclose(f));
}

static void way_fgetc(void)
{
    FILE *f = lines();

    for (int i = 0; i < CHUNK; i++)
        must((fgetc)(f) != EOF && (getc)(f) != EOF);
    must(!fclose(f));
}

static void way_getline(void)
{
    FILE *f = lines();
    char *got = NULL;
    size_t cap = 0;

    while (getline(&got, &cap, f) > 0)
        ;
    free(got);
    must(!fclose(f));
}

static void way_sendfile(void)
{
    int from = hole(), to = open(in("copy"), O_RDWR | O_CREAT, 0600);

    must(to >= 0 && sendfile(to, from, NULL, MIB) == MIB);
}

static void way_copy_file_range(void)
{
    int from = file(0), to = open(in("copy"), O_RDWR | O_CREAT, 0600);

    fill(from);
    lseek(from, 0, SEEK_SET);
    for (ssize_t left = MIB, n; left; left -= n) {
        n = copy_file_range(from, NULL, to, NULL, (size_t)left, 0);
        must(n > 0);
    }
}

static void way_splice(void)
{
    int from = file(0), to = open(in("copy"), O_RDWR | O_CREAT, 0600), p[2];

    fill(from);
    lseek(from, 0, SEEK_SET);
    must(!pipe(p));
    EACH
    {
        must(splice(from, NULL, p[1], NULL, CHUNK, 0) == CHUNK);
        must(splice(p[0], NULL, to, NULL, CHUNK, 0) == CHUNK);
    }
}

static void way_fallocate(void)
{
    int fd = file(0);

    must(!fallocate(fd, 0, 0, MIB) && !posix_fallocate(fd, 0, MIB));
}

static void way_sync(void)
{
    int fd = file(0);

    must(!fsync(fd) && !fdatasync(fd) && !syncfs(fd));
    sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
}

static void way_open(void)
{
    struct stat st;

    for (int i = 0; i < 3; i++)
        close(open(in("data"), O_RDWR | O_CREAT, 0600));
    close(open64(in("data"), O_RDWR));
    close(openat(AT_FDCWD, in("data"), O_RDWR));
    close(creat(in("data"), 0600));
    fclose(fopen(in("data"), "r"));
    char name[4096];

    snprintf(name, sizeof name, "%s/XXXXXX", dir);
    close(mkstemp(name));
    must(!unlink(name) && !stat(in("data"), &st) && !chmod(in("data"), 0600) &&
         !access(in("data"), R_OK));
}

static void aio(int write, int list)
{
    static struct aiocb cb[16];
    struct aiocb *all[16];
    int fd = write ? file(0) : hole();

    for (int i = 0; i < 16; i++) {
        cb[i] = (struct aiocb){.aio_fildes = fd,
                               .aio_buf = buf + (size_t)i * (MIB / 16),
                               .aio_nbytes = MIB / 16,
                               .aio_offset = i * (MIB / 16),
                               .aio_lio_opcode = write ? LIO_WRITE : LIO_READ};
        all[i] = &cb[i];
        if (!list)
            must(!(write ? aio_write(&cb[i]) : aio_read(&cb[i])));
    }
    if (list)
        must(!lio_listio(LIO_WAIT, all, 16, NULL));
    for (int i = 0; i < 16; i++) {
        const struct aiocb *one[] = {&cb[i]};

        while (aio_error(&cb[i]) == EINPROGRESS)
            aio_suspend(one, 1, NULL);
        must(aio_return(&cb[i]) == MIB / 16);
    }
}

static void way_aio_write(void)
{
    aio(1, 0);
}

static void way_aio_read(void)
{
    aio(0, 0);
}

static void way_lio_listio(void)
{
    aio(1, 1);
}

/* libaio and liburing, where they are installed. */
enum { NOT_BUILT = 77 };

static void way_libaio(void)
{
#ifdef WAYS_LIBAIO
    int fd = file(0);
    io_context_t ctx = 0;
    struct iocb cb[16], *all[16];
    struct io_event e[16];

    for (int i = 0; i < 16; i++) {
        io_prep_pwrite(&cb[i], fd, buf, MIB / 16, i * (MIB / 16));
        all[i] = &cb[i];
    }
    must(io_setup(16, &ctx) == 0 && io_submit(ctx, 16, all) == 16);
    must(io_getevents(ctx, 16, 16, e, NULL) == 16);
    for (int i = 0; i < 16; i++)
        io_prep_pread(&cb[i], fd, buf, MIB / 16, i * (MIB / 16));
    must(io_submit(ctx, 16, all) == 16 && io_getevents(ctx, 16, 16, e, NULL) == 16);
    io_destroy(ctx);
#else
    exit(NOT_BUILT);
#endif
}

static void way_io_uring(void)
{
#ifdef WAYS_LIBURING
    struct io_uring ring;
    struct io_uring_cqe *cqe;
    int fd = file(0), r = io_uring_queue_init(32, &ring, 0);

    if (r == -ENOSYS || r == -EPERM) /* not every machine allows it */
        exit(NOT_BUILT);
    must(!r);
    for (int i = 0; i < 16; i++) {
        struct iovec v = {buf, MIB / 16};
        struct io_uring_sqe *e = io_uring_get_sqe(&ring);

        if (i % 2)
            io_uring_prep_write(e, fd, buf, MIB / 16, (uint64_t)i * (MIB / 16));
        else
            io_uring_prep_writev(e, fd, &v, 1, (uint64_t)i * (MIB / 16));
        must(io_uring_submit(&ring) == 1);
        must(!io_uring_wait_cqe(&ring, &cqe) && cqe->res == MIB / 16);
        io_uring_cqe_seen(&ring, cqe);
    }
    for (int i = 0; i < 16; i++)
        io_uring_prep_read(io_uring_get_sqe(&ring), fd, buf, MIB / 16, (uint64_t)i * (MIB / 16));
    io_uring_prep_fsync(io_uring_get_sqe(&ring), fd, 0);
    must(io_uring_submit_and_wait(&ring, 17) == 17);
    io_uring_queue_exit(&ring);
#else
    exit(NOT_BUILT);
#endif
}

/* The same without the C library's functions: by number. */
static void way_sys_write(void)
{
    long fd = syscall(SYS_openat, AT_FDCWD, in("data"), O_RDWR | O_CREAT, 0600);

    must(fd >= 0);
    EACH must(syscall(SYS_write, fd, buf + i, CHUNK) == CHUNK);
    must(!syscall(SYS_fsync, fd) && !syscall(SYS_close, fd));
}

static void way_sys_read(void)
{
    int fd = hole();

    for (int i = 0; i < MIB; i += 2 * CHUNK) {
        struct iovec v[] = IOV2(i);

        must(syscall(SYS_pread64, fd, buf, CHUNK, (long)i) == CHUNK);
        must(syscall(SYS_preadv, fd, v, 2, (long)i + CHUNK, 0L) == CHUNK);
    }
}

static void way_sys_copy(void)
{
    int from = file(0), to = open(in("copy"), O_RDWR | O_CREAT, 0600);

    fill(from);
    must(lseek(from, 0, SEEK_SET) == 0);
    for (long left = MIB, n; left > 0; left -= n) {
        n = syscall(SYS_copy_file_range, from, NULL, to, NULL, left, 0);
        must(n > 0);
    }
}

static void way_sys_exit(void)
{
    fill(file(0));
    syscall(SYS_exit_group, 0);
}

/* A ring by hand, as fio and libuv have theirs. */
struct hand {
    int fd;
    unsigned *sq_tail, *sq_flags, *array, *cq_head, *cq_tail;
    unsigned sq_mask, cq_mask, flags;
    struct io_uring_sqe *sqe;
    struct io_uring_cqe *cqe;
};

static struct hand hand_open(unsigned flags)
{
    struct io_uring_params p = {.flags = flags, .sq_thread_idle = 50};
    struct hand h = {.fd = (int)syscall(SYS_io_uring_setup, 8, &p), .flags = flags};

    if (h.fd < 0 && (errno == ENOSYS || errno == EPERM))
        exit(NOT_BUILT);
    must(h.fd >= 0);
    char *sq = mmap(NULL, p.sq_off.array + p.sq_entries * 4, PROT_READ | PROT_WRITE, MAP_SHARED,
                    h.fd, IORING_OFF_SQ_RING);
    char *cq = mmap(NULL, p.cq_off.cqes + p.cq_entries * sizeof *h.cqe, PROT_READ | PROT_WRITE,
                    MAP_SHARED, h.fd, IORING_OFF_CQ_RING);

    h.sqe = mmap(NULL, p.sq_entries * sizeof *h.sqe, PROT_READ | PROT_WRITE, MAP_SHARED, h.fd,
                 IORING_OFF_SQES);
    must(sq != MAP_FAILED && cq != MAP_FAILED && h.sqe != MAP_FAILED);
    h.sq_tail = (unsigned *)(sq + p.sq_off.tail);
    h.sq_flags = (unsigned *)(sq + p.sq_off.flags);
    h.sq_mask = *(unsigned *)(sq + p.sq_off.ring_mask);
    h.array = (unsigned *)(sq + p.sq_off.array);
    h.cq_head = (unsigned *)(cq + p.cq_off.head);
    h.cq_tail = (unsigned *)(cq + p.cq_off.tail);
    h.cq_mask = *(unsigned *)(cq + p.cq_off.ring_mask);
    h.cqe = (struct io_uring_cqe *)(cq + p.cq_off.cqes);
    return h;
}

static void hand_put(struct hand *h, struct io_uring_sqe e)
{
    unsigned tail = *h->sq_tail;

    h->sqe[tail & h->sq_mask] = e;
    h->array[tail & h->sq_mask] = tail & h->sq_mask;
    __atomic_store_n(h->sq_tail, tail + 1, __ATOMIC_RELEASE);
}

/* Submits n and takes their results, each of so many bytes. */
static void hand_go(struct hand *h, unsigned n, int bytes)
{
    if (!(h->flags & IORING_SETUP_SQPOLL)) {
        must(syscall(SYS_io_uring_enter, h->fd, n, n, IORING_ENTER_GETEVENTS, NULL, 0) == (long)n);
    } else {
        int ep = epoll_create1(0);
        struct epoll_event none;

        if (__atomic_load_n(h->sq_flags, __ATOMIC_SEQ_CST) & IORING_SQ_NEED_WAKEUP)
            syscall(SYS_io_uring_enter, h->fd, n, 0, IORING_ENTER_SQ_WAKEUP, NULL, 0);
        /* As libuv does: it waits for events before it takes results, even if they are there. */
        do
            epoll_wait(ep, &none, 1, 1);
        while (__atomic_load_n(h->cq_tail, __ATOMIC_ACQUIRE) - *h->cq_head < n);
        close(ep);
    }
    for (; n; n--) {
        must(h->cqe[*h->cq_head & h->cq_mask].res == bytes);
        __atomic_store_n(h->cq_head, *h->cq_head + 1, __ATOMIC_RELEASE);
    }
}

/* Written in sixteen requests, then read by vectors; the last read is short. */
static void hand_all(struct hand *h, int fd, uint8_t flags)
{
    struct iovec v = {buf, MIB / 16};

    for (int i = 0; i < 16; i += 4) {
        for (int k = i; k < i + 4; k++)
            hand_put(h, (struct io_uring_sqe){.opcode = IORING_OP_WRITE,
                                              .flags = flags,
                                              .fd = flags ? 0 : fd,
                                              .addr = (uintptr_t)buf,
                                              .len = MIB / 16,
                                              .user_data = (uint64_t)k,
                                              .off = (uint64_t)k * (MIB / 16)});
        hand_go(h, 4, MIB / 16);
    }
    for (int i = 0; i < 16; i++) {
        hand_put(h, (struct io_uring_sqe){.opcode = IORING_OP_READV,
                                          .flags = flags,
                                          .fd = flags ? 0 : fd,
                                          .addr = (uintptr_t)&v,
                                          .len = 1,
                                          .off = (uint64_t)i * (MIB / 16)});
        hand_go(h, 1, MIB / 16);
    }
    hand_put(h, (struct io_uring_sqe){.opcode = IORING_OP_READ,
                                      .flags = flags,
                                      .fd = flags ? 0 : fd,
                                      .addr = (uintptr_t)buf,
                                      .len = MIB,
                                      .off = MIB - 100});
    hand_go(h, 1, 100);
    hand_put(
        h, (struct io_uring_sqe){.opcode = IORING_OP_FSYNC, .flags = flags, .fd = flags ? 0 : fd});
    hand_go(h, 1, 0);
}

static void way_ring(void)
{
    struct hand h = hand_open(0);

    hand_all(&h, file(0), 0);
    close(h.fd);
}

/* The file is known to the ring by its place in a table. */
static void way_ring_fixed(void)
{
    struct hand h = hand_open(0);
    int fd = file(0);

    must(!syscall(SYS_io_uring_register, h.fd, IORING_REGISTER_FILES, &fd, 1));
    hand_all(&h, fd, IOSQE_FIXED_FILE);
}

/* A thread of the kernel empties the ring: no call is made to submit. */
static void way_ring_polled(void)
{
    struct hand h = hand_open(IORING_SETUP_SQPOLL);

    hand_all(&h, file(0), 0);
}

/* Entered by an instruction of the program's own, 64 times: the ring keeps the last of them. */
static void way_ring_inline(void)
{
#if defined __x86_64__
    struct hand h = hand_open(0);
    int fd = file(0);

    for (int i = 0; i < 64; i++) {
        hand_put(&h, (struct io_uring_sqe){.opcode = IORING_OP_WRITE,
                                           .fd = fd,
                                           .addr = (uintptr_t)buf,
                                           .len = MIB / 64,
                                           .off = (uint64_t)i * (MIB / 64)});
        register long wait __asm__("r10") = IORING_ENTER_GETEVENTS;
        register long none __asm__("r8") = 0;
        register long size __asm__("r9") = 0;
        long r = SYS_io_uring_enter;

        __asm__ volatile("syscall"
                         : "+a"(r)
                         : "D"((long)h.fd), "S"(1L), "d"(1L), "r"(wait), "r"(none), "r"(size)
                         : "rcx", "r11", "memory");
        must(r == 1 && h.cqe[*h.cq_head & h.cq_mask].res == MIB / 64);
        __atomic_store_n(h.cq_head, *h.cq_head + 1, __ATOMIC_RELEASE);
    }
    close(h.fd);
#else
    exit(NOT_BUILT);
#endif
}

/* A server that takes what comes and sends it back; the path of its socket is in the environment of
 * the test. Every function that moves bytes there, a chunk of 4096 each: 5 to it, 5 from it. */
static void way_socket(void)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int listens = socket(AF_UNIX, SOCK_STREAM, 0), fd = socket(AF_UNIX, SOCK_STREAM, 0);
    struct iovec v = {buf, CHUNK};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
    struct mmsghdr mm = {.msg_hdr = m};
    struct stat st;

    snprintf(to.sun_path, sizeof to.sun_path, "%s", in("server"));
    must(!bind(listens, (struct sockaddr *)&to, sizeof to) && !listen(listens, 1));
    if (!fork()) {
        int peer = accept(listens, NULL, NULL);
        char got[CHUNK];

        close(fd); /* or it would never end */
        for (ssize_t n; (n = read(peer, got, sizeof got)) > 0;)
            must(write(peer, got, (size_t)n) == n);
        _exit(0);
    }
    must(!fstat(fd, &st)); /* it is known as no storage before it is connected */
    must(!connect(fd, (struct sockaddr *)&to, sizeof to));
    must(write(fd, buf, CHUNK) == CHUNK && recv(fd, buf, CHUNK, MSG_WAITALL) == CHUNK);
    must(send(fd, buf, CHUNK, 0) == CHUNK && read(fd, buf, CHUNK) == CHUNK);
    must(sendto(fd, buf, CHUNK, 0, NULL, 0) == CHUNK);
    must(recvfrom(fd, buf, CHUNK, MSG_WAITALL, NULL, NULL) == CHUNK);
    must(sendmsg(fd, &m, 0) == CHUNK && recvmsg(fd, &m, MSG_WAITALL) == CHUNK);
    must(sendmmsg(fd, &mm, 1, 0) == 1 && recvmmsg(fd, &mm, 1, MSG_WAITALL, NULL) == 1);
    close(fd);
    close(listens);
    wait(NULL);
    unlink(to.sun_path);
}

static void way_mmap(void)
{
    int fd = hole();
    char *at = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    must(at != MAP_FAILED);
    for (int i = 0; i < MIB; i += CHUNK)
        at[i] = 1;
    must(!msync(at, MIB, MS_SYNC) && !munmap(at, MIB));
}

/* Never unmapped: looked at when the program ends. */
static void way_mmap_end(void)
{
    int fd = hole();
    char *at = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    must(at != MAP_FAILED);
    for (int i = 0; i < MIB; i += CHUNK)
        at[i] = 1;
}

static void way_mmap_killed(void)
{
    way_mmap_end();
    kill(getpid(), SIGKILL);
}

static void way_mmap_exec(void)
{
    way_mmap_end();
    execl(self, self, "write", dir, NULL);
    must(0);
}

static void way_dup(void)
{
    int fd = file(0), a = dup(fd), b = dup2(fd, 200), c = fcntl(fd, F_DUPFD, 300);

    close(fd);
    for (int i = 0; i < MIB / 3; i += CHUNK)
        must(write(a, buf, CHUNK) == CHUNK && write(b, buf, CHUNK) == CHUNK &&
             write(c, buf, CHUNK) == CHUNK);
}

static void way_unlinked(void)
{
    int fd = file(0);

    must(!unlink(in("data")));
    fill(fd);
}

static void way_tmpfile(void)
{
    int fd = open(dir, O_TMPFILE | O_RDWR, 0600);

    if (fd < 0) /* not every file system has it */
        fd = file(0);
    fill(fd);
}

static void end_child(pid_t pid)
{
    int status;

    must(pid > 0 && waitpid(pid, &status, 0) == pid && !status);
}

static void way_fork(void)
{
    int fd = file(O_APPEND);
    pid_t pid = fork();

    fill(fd);
    if (!pid) {
        if (!fork()) {
            fill(fd);
            _exit(0);
        }
        wait(NULL);
        _exit(0);
    }
    end_child(pid);
}

/* Children that each write 100 KiB to a file of their own; at most `at_once` of them live. */
static void children(int n, int at_once)
{
    for (int i = 0; i < n; i++) {
        if (i >= at_once)
            wait(NULL);
        pid_t pid = fork();

        must(pid >= 0);
        if (pid)
            continue;
        char name[32];

        snprintf(name, sizeof name, "child%d", i);
        int fd = open(in(name), O_RDWR | O_CREAT, 0600);

        must(fd >= 0 && !unlink(path));
        for (int k = 0; k < 25; k++)
            must(write(fd, buf, CHUNK) == CHUNK);
        _exit(0);
    }
    while (wait(NULL) > 0)
        ;
}

/* The clock is set by a file that comes to be; the profiler has seen it before the child begins. */
static void way_step(void)
{
    const char *flag = getenv("WEIR_STEP");
    int fd = file(0);

    fill(fd);
    must(flag &&
         (int)syscall(SYS_openat, AT_FDCWD, flag, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) >= 0);
    usleep(400000);
    fill(fd);
    pid_t pid = fork();

    if (!pid) {
        fill(fd);
        usleep(20000);
        _exit(0);
    }
    end_child(pid);
}

/* As much as fits where files are limited to 8 KiB. */
static void way_small(void)
{
    must(write(file(0), buf, CHUNK) == CHUNK);
}

static void way_many_children(void)
{
    children(1500, 8);
}

static void way_zombies(void)
{
    children(400, 400);
}

/* All at once: no process ends before all have written. */
static void way_crowd(void)
{
    int hold[2], n = 60;

    must(!pipe(hold));
    for (int i = 0; i < n; i++) {
        if (fork())
            continue;
        close(hold[1]);
        int fd = file(O_APPEND);

        for (int k = 0; k < 25; k++)
            must(write(fd, buf, CHUNK) == CHUNK);
        must(read(hold[0], path, 1) == 0);
        _exit(0);
    }
    usleep(500000);
    close(hold[1]);
    while (wait(NULL) > 0)
        ;
}

/* The kernel returns EFAULT, and the library does not fault before. */
static void bad_path(const char *p)
{
    struct stat st;
    int ok = 1;

#define BAD(call) ok &= (errno = 0, (call) == -1 && errno == EFAULT)
    BAD(open(p, O_RDONLY));
    BAD(openat(AT_FDCWD, p, O_RDONLY));
    BAD(stat(p, &st));
    BAD(access(p, F_OK));
    BAD(unlink(p));
    BAD(rename(p, "nowhere"));
    BAD(mkdir(p, 0700));
    BAD(readlink(p, (char *)&st, sizeof st));
    BAD(chmod(p, 0));
    BAD(truncate(p, 0));
    BAD(chdir(p));
    ok &= !fopen(p, "r") && errno == EFAULT;
#undef BAD
    if (!ok)
        fprintf(stderr, "bad path %p\n", (const void *)p);
    must(ok);
}

static void bad_vector(int fd, const void *v)
{
    must(writev(fd, v, 2) == -1 && errno == EFAULT);
    must(readv(fd, v, 2) == -1 && errno == EFAULT);
    must(preadv(fd, v, 2, 0) == -1 && errno == EFAULT);
    must(pwritev(fd, v, 2, 0) == -1 && errno == EFAULT);
}

static void way_bad_pointers(void)
{
    char *page = mmap(NULL, 3 * CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int fd = file(0);

    must(page != MAP_FAILED && !mprotect(page + CHUNK, CHUNK, PROT_NONE));
    must(!munmap(page + 2 * CHUNK, CHUNK));
    memset(page, '/', CHUNK);
    const char *const bad[] = {(char *)8,        (char *)-8,         (char *)0xdeadbee8,
                               page + CHUNK,     page + 2 * CHUNK,   page + CHUNK - 8,
                               (char *)1 + 4096, (char *)(1ul << 55)};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        bad_path(bad[i]);
        bad_vector(fd, bad[i]);
    }
    must(write(fd, page + CHUNK, 1) == -1 && errno == EFAULT);
    /* What ends just before the wall is whole. */
    page[CHUNK - 1] = 0;
    page[CHUNK - 2] = 'x';
    must(open(page + CHUNK - 2, O_RDONLY) == -1 && errno == ENOENT);
    struct iovec *v = (struct iovec *)(void *)(page + CHUNK) - 1;

    *v = (struct iovec){buf, CHUNK};
    must(writev(fd, v, 1) == CHUNK);
}

static bool filter_by_number; /* syscall(SYS_seccomp), as who is root may do without a herald */

static void filter_calls(const int *allowed, size_t n)
{
    struct sock_filter code[64] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    struct sock_fprog prog = {.filter = code, .len = (unsigned short)(n + 3)};

    for (size_t i = 0; i < n; i++)
        code[i + 1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)allowed[i],
                                                   (unsigned char)(n - i), 0);
    code[n + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    code[n + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    if (filter_by_number) {
        if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) && errno == EACCES)
            exit(NOT_BUILT);
        return;
    }
    must(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    must(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog));
}

static void *fill_it(void *fd)
{
    fill(*(int *)fd);
    return NULL;
}

/* A kernel before Linux 5.14, as far as this matters: pages are made real by another way. */
static void way_old_kernel(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 23 /* MADV_POPULATE_WRITE */, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog prog = {.filter = code, .len = sizeof code / sizeof code[0]};

    must(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    must(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog));
    execl(self, self, "threads", dir, NULL);
}

/* Only what the program itself calls: one MiB before, one behind, one to a file that is opened
 * behind, one by a thread, one by a child. */
static void way_filtered(void)
{
    static const int allowed[] = {SYS_write,    SYS_openat, SYS_close,          SYS_exit_group,
                                  SYS_exit,     SYS_clone,  SYS_wait4,          SYS_set_robust_list,
                                  SYS_futex,    SYS_rseq,   SYS_clone3,         SYS_mmap,
                                  SYS_mprotect, SYS_munmap, SYS_rt_sigprocmask, SYS_madvise,
                                  SYS_brk};
    int fd = file(0);
    pthread_t t;

    fill(fd);
    /* What the C library does at its first thread and child is not this program's. */
    must(!pthread_create(&t, NULL, fill_it, &fd) && !pthread_join(t, NULL));
    filter_calls(allowed, sizeof allowed / sizeof allowed[0]);
    fill(fd);
    int other = open(in("other"), O_WRONLY | O_CREAT, 0600);

    must(other >= 0);
    fill(other);
    must(!close(other));
    must(!pthread_create(&t, NULL, fill_it, &fd) && !pthread_join(t, NULL));
    pid_t pid = fork();

    if (!pid) {
        fill(fd);
        _exit(0);
    }
    must(wait(NULL) == pid);
}

static void way_filtered_by_number(void)
{
    filter_by_number = true;
    way_filtered();
}

/* Set before the program began: what the library does that the program does not is not allowed. */
static void way_filter_inherited(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_waitid, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog prog = {.filter = code, .len = sizeof code / sizeof code[0]};

    must(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    must(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog));
    execl(self, self, "fork", dir, NULL);
}

/* read, write, exit: nothing else. */
static void way_strict(void)
{
    int fd = file(0);

    must(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT));
    fill(fd);
    syscall(SYS_exit, 0);
}

/* Raw, so that no handler of fork runs: only the return value of the kernel shows the child that it
 * is one. */
static void way_raw_fork(void)
{
    int fd = file(O_APPEND);
    pid_t pid = _Fork();

    fill(fd);
    if (!pid)
        _exit(0);
    end_child(pid);
}

static void way_exec(void)
{
    way_write();
    execl(self, self, "write", dir, NULL);
    must(0);
}

static void way_spawn(void)
{
    char *const argv[] = {self, (char *)"write", (char *)dir, NULL};
    pid_t pid;

    must(!posix_spawn(&pid, self, NULL, NULL, argv, environ));
    end_child(pid);
}

static void way_vfork(void)
{
    int fd = file(O_APPEND), null = open("/dev/null", O_WRONLY);
    pid_t pid = vfork();

    if (!pid) {
        /* What a child does with its descriptors is not its parent's. */
        dup2(null, fd);
        execl(self, self, "write", dir, NULL);
        _exit(9);
    }
    end_child(pid);
    fill(fd);
}

static void way_system(void)
{
    char command[8300];

    snprintf(command, sizeof command, "'%s' write '%s'", self, dir);
    must(!system(command));
}

static void *work(void *arg)
{
    int fd = *(int *)arg;

    fill(fd);
    return NULL;
}

static void way_threads(void)
{
    int fd = file(O_APPEND);
    pthread_t t[8];

    for (int i = 0; i < 8; i++)
        must(!pthread_create(&t[i], NULL, work, &fd));
    for (int i = 0; i < 8; i++)
        pthread_join(t[i], NULL);
}

static void *work_little(void *arg)
{
    must(write(*(int *)arg, buf, 512) == 512);
    return NULL;
}

/* More threads than there are slots, one after the other. */
/* A thread with the least stack there is. */
static void *on_little(void *arg)
{
    (void)arg;
    int fd = file(0);

    fill(fd);
    close(fd);
    return NULL;
}

static void way_small_stack(void)
{
    pthread_attr_t attr;
    pthread_t t;

    must(!pthread_attr_init(&attr) &&
         !pthread_attr_setstacksize(&attr, (size_t)sysconf(_SC_THREAD_STACK_MIN)));
    must(!pthread_create(&t, &attr, on_little, NULL));
    pthread_join(t, NULL);
}

static void way_many_threads(void)
{
    int fd = file(0);

    for (int i = 0; i < MIB / 512; i++) {
        pthread_t t;

        must(!pthread_create(&t, NULL, work_little, &fd));
        pthread_join(t, NULL);
    }
}

static void way_inherited_end(void)
{
    fill(77);
}

static void way_inherited(void)
{
    must(dup2(file(0), 77) == 77);
    execl(self, self, "inherited_end", dir, NULL);
    must(0);
}

static void way_stdout_end(void)
{
    for (int i = 0; i < MIB / 32; i++)
        must(printf("%031d\n", i) == 32);
}

static void way_stdout(void)
{
    must(dup2(file(0), 1) == 1);
    execl(self, self, "stdout_end", dir, NULL);
    must(0);
}

static void way__exit(void)
{
    way_write();
    _exit(0);
}

static void way_abort(void)
{
    way_write();
    abort();
}

static void way_kill(void)
{
    way_write();
    kill(getpid(), SIGKILL);
}

static void way_term(void)
{
    way_write();
    raise(SIGTERM);
}

static void way_segv(void)
{
    way_write();
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
}

/* A thread that is cancelled in a call leaves nothing behind it. */
static void *read_for_ever(void *arg)
{
    char c;

    read(*(int *)arg, &c, 1);
    return NULL;
}

static void way_cancel(void)
{
    pthread_t t = 0;
    void *how;
    int p[2];

    must(!pipe(p) && !pthread_create(&t, NULL, read_for_ever, &p[0]));
    usleep(20000);
    must(!pthread_cancel(t) && !pthread_join(t, &how) && how == PTHREAD_CANCELED);
    way_write();
}

/* Pipes are not storage. */
static void way_pipe(void)
{
    int p[2];

    must(!pipe(p));
    EACH must(write(p[1], buf, CHUNK) == CHUNK && read(p[0], buf, CHUNK) == CHUNK);
}

/* A descriptor's number is used again for something else. */
static void way_reuse(void)
{
    int fd = file(0), p[2];

    fill(fd);
    close(fd);
    must(!pipe(p) && (p[0] == fd || p[1] == fd));
    must(write(p[1], buf, CHUNK) == CHUNK && read(p[0], buf, CHUNK) == CHUNK);
}

/* errno, also after calls that succeed, is the program's. */
static void way_errno(void)
{
    errno = 1234;
    int fd = file(0);

    fill(fd);
    struct stat st;

    must(!fstat(fd, &st) && !fsync(fd) && !close(fd));
    if (errno != 1234)
        exit(8);
    if (write(fd, buf, 1) != -1 || errno != EBADF || read(-1, buf, 1) != -1 || errno != EBADF)
        exit(7);
    errno = 0;
    if (open("/nowhere/at/all", O_RDONLY) != -1 || errno != ENOENT)
        exit(6);
}

/* The next descriptor and the number of open ones, as an exit status to compare. */
static void way_descriptors(void)
{
    int fd = file(0), n = 0;
    DIR *d = opendir("/proc/self/fd");

    for (struct dirent *e; d && (e = readdir(d));)
        n += e->d_name[0] != '.';
    closedir(d);
    fill(fd);
    exit(fd * 10 + n);
}

/* What a program can ask about itself, as an exit status to compare. */
static void way_self(void)
{
    struct sigaction act;
    sigset_t mask;
    unsigned sum = umask(022);
    DIR *d = opendir("/proc/self/task");

    sigprocmask(SIG_BLOCK, NULL, &mask);
    for (int i = 1; i < 32; i++) {
        sum = sum * 7 + (unsigned)sigismember(&mask, i);
        if (!sigaction(i, NULL, &act))
            sum = sum * 7 + (act.sa_handler != SIG_DFL) + (unsigned)act.sa_flags;
    }
    for (const char *s = setlocale(LC_ALL, NULL); *s; s++)
        sum = sum * 31 + (unsigned char)*s;
    for (struct dirent *e; d && (e = readdir(d));)
        sum = sum * 7 + (e->d_name[0] != '.');
    exit((int)(sum % 251));
}

/* So many bytes by four processes with eight threads each, in different ways: 1 GiB in all, to a
 * file in memory that is one mebibyte long. */
static void *mix(void *arg)
{
    int fd = *(int *)arg, part = MIB / 32;
    struct iovec v[] = {{buf, (size_t)part / 2}, {buf, (size_t)part / 2}};

    for (int i = 0; i < 1024; i++)
        switch (i % 4) {
        case 0:
            must(pwrite(fd, buf, (size_t)part, 0) == part);
            break;
        case 1:
            must(pwritev(fd, v, 2, 0) == part);
            break;
        case 2:
            must(pread(fd, buf, (size_t)part, 0) == part);
            break;
        default:
            must(pwrite64(fd, buf, (size_t)part, part) == part);
        }
    return NULL;
}

static void way_mix(void)
{
    int fd = file(0);

    must(!ftruncate(fd, MIB));
    for (int p = 0; p < 3 && fork(); p++)
        ;
    pthread_t t[8];

    for (int k = 0; k < 8; k++)
        must(!pthread_create(&t[k], NULL, mix, &fd));
    for (int k = 0; k < 8; k++)
        pthread_join(t[k], NULL);
    while (wait(NULL) > 0)
        ;
}

static int64_t wall_us(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* Small writes all the time for 600 ms, the last one after that however long we were stopped, and
 * when each began and ended; and how far the kernel's coarse clock was behind, which may be more
 * than its step. The times go to a file by calls that the library does not see. */
static void tick(int fd)
{
    enum { MOST = 4096 };
    static int64_t us[2 * MOST + 3];
    int64_t end = wall_us(CLOCK_REALTIME) + 600000, began = 0, n = 0, behind = 0;
    char name[64];

    while (n < MOST && began < end) {
        began = us[3 + 2 * n] = wall_us(CLOCK_REALTIME);
        must(write(fd, buf, 64) == 64);
        int64_t late = wall_us(CLOCK_REALTIME_COARSE), now = wall_us(CLOCK_REALTIME);

        us[4 + 2 * n++] = now;
        behind = now - late > behind ? now - late : behind;
        usleep(300);
    }
    us[0] = getpid();
    us[1] = n;
    us[2] = behind;
    snprintf(name, sizeof name, "../times.%d", getpid());
    /* Through memory, which is no write. */
    size_t len = (size_t)(2 * n + 3) * sizeof *us;
    int out = open(in(name), O_RDWR | O_CREAT, 0600);
    void *at = MAP_FAILED;

    if (out >= 0 && !ftruncate(out, (off_t)len))
        at = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, out, 0);
    must(at != MAP_FAILED);
    memcpy(at, us, len);
    munmap(at, len);
    close(out);
}

/* Two processes tick at the same time. */
static void way_ticks(void)
{
    int fd = file(O_APPEND);
    pid_t pid = fork();

    tick(fd);
    if (!pid)
        _exit(0);
    end_child(pid);
}

/* One call that lasts: a pipe is full for 400 ms, and sendfile waits to put a file into it. Short
 * sleeps, so that being stopped before the call does not shorten it. */
static void way_long_call(void)
{
    int fd = hole(), p[2];

    must(!pipe(p));
    pid_t pid = fork();

    if (!pid) {
        for (int step = 0; step < 80; step++)
            usleep(5000);
        for (ssize_t got = 0, n; got < MIB; got += n)
            if ((n = read(p[0], buf, MIB)) <= 0)
                break;
        _exit(0);
    }
    for (int left = MIB; left;) {
        ssize_t n = sendfile(p[1], fd, NULL, (size_t)left);

        must(n > 0);
        left -= (int)n;
    }
    end_child(pid);
}

/* The same call from two functions, and from another thread, by a stream. */
__attribute__((noinline)) static void alpha(int fd)
{
    fill(fd);
}

__attribute__((noinline)) static void beta(int fd)
{
    fill(fd);
    dprintf(fd, "%s", "eight by");
}

static void *gamma_thread(void *arg)
{
    FILE *f = fdopen(dup(*(int *)arg), "w");

    fwrite(buf, 1, MIB, f);
    fclose(f);
    return NULL;
}

static void way_callers(void)
{
    int fd = file(0);
    pthread_t t;

    alpha(fd);
    beta(fd);
    alpha(fd);
    must(!pthread_create(&t, NULL, gamma_thread, &fd));
    pthread_join(t, NULL);
}

/* Two processes with a file each. */
static void way_own_files(void)
{
    pid_t pid = fork();
    int fd = open(in(pid ? "one" : "two"), O_RDWR | O_CREAT, 0600);

    fill(fd);
    if (!pid)
        _exit(0);
    end_child(pid);
}

static void way_files(void)
{
    for (int i = 1; i <= 3; i++) {
        char name[16];

        snprintf(name, sizeof name, "file%d", i);
        int fd = open(in(name), O_RDWR | O_CREAT, 0600);

        for (int k = 0; k < i; k++)
            must(write(fd, buf, CHUNK) == CHUNK);
        close(fd);
    }
}

/* clang-format off */
#define WAYS(X) \
    X(write) X(pwrite) X(pwrite64) X(writev) X(pwritev) X(pwritev64) X(pwritev2) X(read) \
    X(pread) X(pread64) X(readv) X(preadv) X(preadv2) X(short_read) X(fwrite) \
    X(fwrite_unlocked) X(fputs) X(fputs_unlocked) X(fputc) X(fputc_unlocked) X(fprintf) \
    X(vfprintf) X(dprintf) X(fread) X(fread_unlocked) X(fgets) X(fgetc) X(getline) \
    X(sendfile) X(copy_file_range) X(splice) X(fallocate) X(sync) X(open) X(aio_write) \
    X(aio_read) X(lio_listio) X(libaio) X(io_uring) X(sys_write) X(sys_read) X(sys_copy) \
    X(sys_exit) X(ring) X(ring_fixed) X(ring_polled) X(ring_inline) X(socket) X(mmap) X(mmap_end) X(mmap_killed) X(mmap_exec) X(dup) X(unlinked) \
    X(tmpfile) X(fork) X(raw_fork) X(exec) X(spawn) X(vfork) X(system) X(threads) \
    X(many_threads) X(small_stack) X(inherited) X(inherited_end) X(stdout) X(stdout_end) X(_exit) X(abort) \
    X(kill) X(term) X(segv) X(cancel) X(pipe) X(reuse) X(errno) X(mix) X(ticks) X(long_call) \
    X(files) X(own_files) X(small) X(step) X(bad_pointers) X(old_kernel) X(filtered) X(filtered_by_number) X(filter_inherited) X(strict) X(many_children) X(zombies) X(crowd) X(callers) X(descriptors) X(self)
/* clang-format on */

static const struct {
    const char *name;
    void (*go)(void);
} ways[] = {
#define X(name) {#name, way_##name},
    WAYS(X)
#undef X
};

int main(int argc, char **argv)
{
    if (argc != 3)
        return 9;
    dir = argv[2];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

    snprintf(self + (n > 0 ? n : 0), sizeof self - (size_t)(n > 0 ? n : 0), "%s",
             n > 0 ? "" : argv[0]);
    memset(buf, 'x', MIB);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        if (!strcmp(ways[i].name, argv[1])) {
            ways[i].go();
            return 0;
        }
    return 9;
}
