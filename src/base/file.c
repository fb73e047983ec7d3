/* file.c -- reads files and compressed files whole or as streams, and keeps the list of inputs.
 *
 * The list holds device and inode of each file that was read since wr_input_begin(); base/output.h
 * asks it before it replaces a file. It is guarded by a lock, because files are read by threads.
 *
 * Supplied contents are set up by one thread before others read, and do not change afterwards.
 */
#include "base/file.h"

#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/unpack.h"

/* ---- what was read ---- */

static pthread_mutex_t input_lock = PTHREAD_MUTEX_INITIALIZER;
static WR_VEC(struct wr_file_id) input_list;
static bool input_kept; /* a command has begun */

static bool file_is_input(const struct stat *st)
{
    for (size_t i = 0; i < input_list.n; i++)
        if (input_list.v[i].dev == st->st_dev && input_list.v[i].ino == st->st_ino)
            return true;
    return false;
}

void wr_input_begin(void)
{
    pthread_mutex_lock(&input_lock);
    wr_vec_fini(&input_list);
    input_kept = true;
    pthread_mutex_unlock(&input_lock);
}

void wr_input_note(const struct stat *st)
{
    if (!S_ISREG(st->st_mode)) /* nothing that could be replaced */
        return;
    pthread_mutex_lock(&input_lock);
    if (input_kept && !file_is_input(st))
        wr_vec_push(&input_list, (struct wr_file_id){st->st_dev, st->st_ino});
    pthread_mutex_unlock(&input_lock);
}

bool wr_input_is(const struct stat *st)
{
    pthread_mutex_lock(&input_lock);
    bool found = file_is_input(st);

    pthread_mutex_unlock(&input_lock);
    return found;
}

/* ---- content in place of files ---- */

struct file_supplied {
    char *path;
    char *text; /* followed by a zero byte */
    size_t len;
};
static WR_VEC(struct file_supplied) file_supplies;

static const struct file_supplied *file_find_supplied(const char *path)
{
    for (size_t i = 0; i < file_supplies.n; i++)
        if (!strcmp(file_supplies.v[i].path, path))
            return &file_supplies.v[i];
    return NULL;
}

void wr_file_supply(const char *path, const char *text, size_t len)
{
    assert(path && (text || !len));
    if (file_find_supplied(path))
        return;
    struct file_supplied s = {.path = wr_strdup(path), .text = wr_alloc(len + 1), .len = len};

    if (len)
        memcpy(s.text, text, len);
    s.text[len] = '\0';
    wr_vec_push(&file_supplies, s);
}

void wr_file_supply_end(void)
{
    for (size_t i = 0; i < file_supplies.n; i++) {
        free(file_supplies.v[i].path);
        free(file_supplies.v[i].text);
    }
    wr_vec_fini(&file_supplies);
}

bool wr_file_exists(const char *path)
{
    return file_find_supplied(path) || !access(path, F_OK);
}

bool wr_file_identify(struct wr_file_id *ret, const char *path)
{
    const struct file_supplied *supplied = file_find_supplied(path);
    struct stat st;

    if (supplied) {
        /* No file system has device 0. */
        *ret = (struct wr_file_id){.ino = (ino_t)(supplied - file_supplies.v) + 1};
        return true;
    }
    if (stat(path, &st) < 0)
        return false;
    *ret = (struct wr_file_id){.dev = st.st_dev, .ino = st.st_ino};
    return true;
}

static bool file_copy_supplied(char **ret, size_t *ret_len, const struct file_supplied *s,
                               size_t most, struct wr_err *err)
{
    if (s->len > most)
        return wr_fail(err, WR_INPUT, "%s is longer than %zu bytes; give a smaller file", s->path,
                       most);
    *ret = wr_alloc(s->len + 1);
    memcpy(*ret, s->text, s->len + 1);
    *ret_len = s->len;
    return true;
}

/* ---- reading ---- */

static bool file_fail(struct wr_err *err, const char *path)
{
    return wr_fail_read(err, "cannot read %s; check the file name", path);
}

/* The bytes of the file as they are. */
static bool file_slurp(char **ret, size_t *ret_len, FILE *f, const char *path, size_t most,
                       struct wr_err *err)
{
    enum { PART = 65536 };
    char *text = NULL;
    size_t len = 0, cap = 0, got;

    do {
        wr_vec_grow((void **)&text, &cap, len + PART + 1, 1);
        got = fread(text + len, 1, PART, f);
        len += got;
    } while (got == PART && len <= most);

    bool ok = true;
    if (ferror(f))
        ok = file_fail(err, path);
    else if (len > most)
        ok = wr_fail(err, WR_INPUT, "%s is longer than %zu bytes; give a smaller file", path, most);
    if (!ok) {
        free(text);
        return false;
    }
    text[len] = '\0';
    *ret = text;
    *ret_len = len;
    return true;
}

struct file_plain {
    const char *path;
    char *text;
    size_t len, cap, most;
};

static bool file_keep(void *ctx, const char *bytes, size_t n, struct wr_err *err)
{
    struct file_plain *p = ctx;

    if (n > p->most - p->len)
        return wr_fail(err, WR_INPUT,
                       "%s holds more than %zu bytes once it is unpacked; give a smaller file",
                       p->path, p->most);
    wr_vec_grow((void **)&p->text, &p->cap, p->len + n + 1, 1);
    memcpy(p->text + p->len, bytes, n);
    p->len += n;
    return true;
}

static bool file_unpack(char **ret, size_t *ret_len, const char *path, size_t most,
                        struct wr_err *err)
{
    struct file_plain p = {.path = path, .most = most};

    wr_vec_grow((void **)&p.text, &p.cap, 1, 1);
    if (!wr_unpack(path, *ret, *ret_len, file_keep, &p, err)) {
        free(p.text);
        return false;
    }
    p.text[p.len] = '\0';
    free(*ret);
    *ret = p.text;
    *ret_len = p.len;
    return true;
}

static FILE *file_begin(const char *path, bool note)
{
    FILE *f = fopen(path, "rbe");
    struct stat st;

    if (f && note && !fstat(fileno(f), &st))
        wr_input_note(&st);
    return f;
}

static bool file_read(char **ret, size_t *ret_len, const char *path, size_t most, bool note,
                      struct wr_err *err)
{
    const struct file_supplied *supplied = file_find_supplied(path);
    char *text;
    size_t len;

    if (supplied)
        return file_copy_supplied(ret, ret_len, supplied, most, err);
    FILE *f = file_begin(path, note);

    if (!f)
        return file_fail(err, path);
    bool ok = file_slurp(&text, &len, f, path, most, err);

    fclose(f);
    if (!ok)
        return false;
    if (wr_unpack_knows(text, len) && !file_unpack(&text, &len, path, most, err)) {
        free(text);
        return false;
    }
    *ret = text;
    *ret_len = len;
    return true;
}

bool wr_file_read(char **ret, size_t *ret_len, const char *path, size_t most, struct wr_err *err)
{
    return file_read(ret, ret_len, path, most, true, err);
}

bool wr_file_peek(char **ret, size_t *ret_len, const char *path, size_t most, struct wr_err *err)
{
    return file_read(ret, ret_len, path, most, false, err);
}

struct file_head {
    char *head;
    size_t n, most;
};

static bool file_put_head(void *ctx, const char *bytes, size_t n, struct wr_err *err)
{
    struct file_head *h = ctx;
    size_t take = n < h->most - h->n ? n : h->most - h->n;

    (void)err;
    memcpy(h->head + h->n, bytes, take);
    h->n += take;
    return h->n < h->most;
}

size_t wr_file_head(char *head, size_t most, const char *path)
{
    const struct file_supplied *supplied = file_find_supplied(path);

    if (supplied) {
        size_t n = supplied->len < most ? supplied->len : most;

        memcpy(head, supplied->text, n);
        return n;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    char raw[65536];
    struct wr_err ignored;
    struct stat st;
    ssize_t n = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) ? read(fd, raw, sizeof raw) : 0;

    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return 0;
    assert(head && most);
    struct file_head h = {.head = head, .most = most};

    if (wr_unpack_knows(raw, (size_t)n))
        (void)wr_unpack(path, raw, (size_t)n, file_put_head, &h, &ignored);
    else
        (void)file_put_head(&h, raw, (size_t)n, &ignored);
    return h.n;
}

/* ---- streams ---- */

static bool file_put(void *ctx, const char *bytes, size_t n, struct wr_err *err)
{
    return fwrite(bytes, 1, n, ctx) == n ||
           wr_fail_errno(err, "no temporary file for what is compressed; set TMPDIR, or unpack it");
}

/* A compressed file behind the same pointer as a plain one. */
static bool file_unpack_stream(FILE **io, const char *path, struct wr_err *err)
{
    FILE *plain = tmpfile();
    char *text;
    size_t len;

    if (!plain)
        return wr_fail_errno(err,
                             "%s: no temporary file for what is compressed; set TMPDIR, or unpack "
                             "it",
                             path);
    bool ok = file_slurp(&text, &len, *io, path, (size_t)4 << 30, err);

    if (ok) {
        ok = wr_unpack(path, text, len, file_put, plain, err);
        free(text);
    }
    if (!ok) {
        fclose(plain);
        return false;
    }
    rewind(plain);
    fclose(*io);
    *io = plain;
    return true;
}

bool wr_file_open(FILE **ret, const char *path, struct wr_err *err)
{
    const struct file_supplied *supplied = file_find_supplied(path);
    FILE *f = !supplied       ? file_begin(path, true)
              : supplied->len ? fmemopen(supplied->text, supplied->len, "r")
                              : fopen("/dev/null", "re");
    struct stat st;
    char head[4];

    if (!f)
        return file_fail(err, path);
    /* A pipe cannot be looked into and read again; what comes from it is plain. */
    if (!supplied && !fstat(fileno(f), &st) && S_ISREG(st.st_mode)) {
        ssize_t n = pread(fileno(f), head, sizeof head, 0);

        if (n > 0 && wr_unpack_knows(head, (size_t)n) && !file_unpack_stream(&f, path, err)) {
            fclose(f);
            return false;
        }
    }
    *ret = f;
    return true;
}
