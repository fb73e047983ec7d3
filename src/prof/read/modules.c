/* modules.c -- call paths as text, with the names of functions.
 *
 * Maps each ELF file of a path once, for the duration of prof_job_make. A file that cannot be read,
 * or has no symbols, gives "name+0xoffset". */
#include <assert.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "prof/read/elf.h"
#include "profile_job_priv.h"

struct module {
    char *path;
    void *map; /* NULL: it cannot be read */
    size_t len;
    struct prof_elf elf;
};

struct prof_modules {
    WR_VEC(struct module) v;
};

struct prof_modules *prof_modules_open(void)
{
    return wr_zalloc(1, sizeof(struct prof_modules));
}

void prof_modules_close(struct prof_modules *m)
{
    for (size_t i = 0; i < m->v.n; i++) {
        if (m->v.v[i].map)
            munmap(m->v.v[i].map, m->v.v[i].len);
        free(m->v.v[i].path);
    }
    wr_vec_fini(&m->v);
    free(m);
}

static void modules_map(struct module *m)
{
    int fd = open(m->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;

    if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0) {
        m->len = (size_t)st.st_size;
        m->map = mmap(NULL, m->len, PROT_READ, MAP_PRIVATE, fd, 0);
        m->map = m->map == MAP_FAILED ? NULL : m->map;
    }
    if (fd >= 0)
        close(fd);
    if (m->map && !prof_elf_parse(&m->elf, m->map, m->len)) {
        munmap(m->map, m->len);
        m->map = NULL;
    }
}

static const struct module *modules_find(struct prof_modules *m, const char *path)
{
    for (size_t i = 0; i < m->v.n; i++)
        if (!strcmp(m->v.v[i].path, path))
            return &m->v.v[i];
    struct module new = {.path = wr_strdup(path)};

    modules_map(&new);
    wr_vec_push(&m->v, new);
    return &m->v.v[m->v.n - 1];
}

static void modules_add_frame(struct prof_modules *m, struct wr_str *to, const struct prof_file *f,
                              const struct prof_frame *frame)
{
    bool known =
        frame->module && frame->module < f->nnames && f->name[frame->module].kind == PROF_K_MODULE;
    const char *path = known ? f->name[frame->module].path : "";
    const struct module *module = *path == '/' ? modules_find(m, path) : NULL;
    /* A return address follows the call, which may be the last instruction of its function. */
    const char *name =
        module && module->map ? prof_elf_name(&module->elf, frame->offset - 1) : NULL;
    const char *slash = strrchr(path, '/');

    if (name)
        wr_str_add(to, name);
    else
        wr_str_addf(to, "%s+0x%" PRIx64, slash ? slash + 1 : *path ? path : "?", frame->offset);
}

char *prof_modules_path(struct prof_modules *m, const struct prof_file *f, uint32_t row)
{
    assert(row < f->nnames && f->name[row].kind == PROF_K_PATH);
    assert(f->name[row].dev <= PROF_FRAMES);
    const struct prof_name *name = &f->name[row];
    struct prof_frame frame[PROF_FRAMES];
    struct wr_str text = {0};

    memcpy(frame, name->path, sizeof frame);
    wr_str_add(&text, name->dev ? "call:" : "call:(others)");
    for (uint64_t i = name->dev; i-- > 0;) {
        modules_add_frame(m, &text, f, &frame[i]);
        if (i)
            wr_str_add(&text, ">");
    }
    return text.s;
}
