/* outside.c -- compares the kernel's I/O counters of every process with those of the library.
 *
 *   ends of children (form/io.h)  ->  nodes: one per process, from any source
 *   nodes                         ->  profiles for processes that left none, by the kernel's
 * counters
 *                                 ->  the balance of those that did
 *
 *              counters at its end, with all that it waited for
 *   own      = those - the same of each of its children that are known
 *   explained = what the library counted - what the kernel does not count (async words)
 *             + what was read before the library was ready + what the library read itself
 *   unexplained = own - explained: system calls that the program makes by itself, unknown
 * grandchildren, streams that read ahead, files of the C library
 *
 * Writes are also counted as dirtied pages (write_bytes). More of them than all known writes can
 * have touched come from io_uring, AIO or mappings that were not seen.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile_job_priv.h"

enum {
    OBJECT_B = 4096,  /* upper limit of what the loader reads of each ELF file, */
    OBJECTS_MORE = 8, /* and files more: the kernel reads executables and scripts */
    PAGE = 4096,
    SMALL = 65536, /* unexplained bytes of a process without a warning: files that the C library
                    * reads, read-ahead of streams */
};

/* One process. */
struct node {
    const char *host, *job;
    uint32_t pid, reaper; /* reaper: the process that waited for it, or its parent */
    uint64_t start;
    size_t file, nfiles; /* its profiles, by start */
    const struct prof_child *end;
    struct prof_io io;       /* with its children */
    struct prof_io children; /* sum over its known children */
    struct prof_io unnoted;  /* of these, those whose end it did not record itself */
    bool known;              /* io is valid */
    bool pid_root;           /* of a PID namespace */
};

struct nodes {
    WR_VEC(struct node) v;
};

/* The end of a process, from the profile of the process that waited for it. */
struct prof_end {
    struct prof_child child;
    char host[64], job[64];
    uint32_t reaper;
};

void prof_job_ends(struct prof_job *j, const struct prof_file *f)
{
    for (size_t i = 0; i < f->nchildren; i++) {
        struct prof_end e = {.child = f->child[i], .reaper = f->head.pid};

        memcpy(e.host, f->head.host, sizeof e.host);
        memcpy(e.job, f->head.job, sizeof e.job);
        wr_vec_push(&j->ends, e);
    }
    if (f->head.children_n > f->head.children_max)
        j->children_lost += f->head.children_n - f->head.children_max;
}

static int outside_order(const char *a_host, uint32_t a_pid, uint64_t a_start, const char *b_host,
                         uint32_t b_pid, uint64_t b_start)
{
    int host = strcmp(a_host, b_host);

    if (host)
        return host;
    if (a_pid != b_pid)
        return a_pid < b_pid ? -1 : 1;
    return a_start < b_start ? -1 : a_start > b_start;
}

static int outside_by_end(const void *a, const void *b)
{
    const struct prof_end *x = a, *y = b;
    int order = outside_order(x->host, x->child.pid, x->child.pid_start, y->host, y->child.pid,
                              y->child.pid_start);

    if (order)
        return order;
    return x->child.end_ns < y->child.end_ns ? -1 : x->child.end_ns > y->child.end_ns;
}

static int outside_by_node(const void *a, const void *b)
{
    const struct node *x = a, *y = b;

    return outside_order(x->host, x->pid, x->start, y->host, y->pid, y->start);
}

static void outside_add(struct prof_io *to, const struct prof_io *more)
{
    to->rchar += more->rchar;
    to->wchar += more->wchar;
    to->syscr += more->syscr;
    to->syscw += more->syscw;
    to->read_bytes += more->read_bytes;
    to->write_bytes += more->write_bytes;
}

static uint64_t outside_behind(uint64_t all, uint64_t part)
{
    return all > part ? all - part : 0;
}

static struct prof_io outside_less(const struct prof_io *all, const struct prof_io *part)
{
    return (struct prof_io){outside_behind(all->rchar, part->rchar),
                            outside_behind(all->wchar, part->wchar),
                            outside_behind(all->syscr, part->syscr),
                            outside_behind(all->syscw, part->syscw),
                            outside_behind(all->read_bytes, part->read_bytes),
                            outside_behind(all->write_bytes, part->write_bytes)};
}

/* Whether a profile is of the process that the sampler made another one for. */
static bool outside_same_nested(const struct prof_head *kernel, const struct prof_head *own)
{
    bool root = own->pid_root && (uint32_t)own->pid_start == (uint32_t)kernel->pid_start &&
                own->ppid == kernel->ppid;
    bool inner = !own->launcher && own->pid == kernel->pid && own->pid_start == kernel->pid_start;

    return (root || inner) && own->clock != PROF_KERNEL && !own->shared &&
           !strcmp(own->host, kernel->host);
}

void prof_job_nested(struct prof_job *j)
{
    size_t kept = 0;

    for (size_t i = 0; i < j->nfiles; i++) {
        struct prof_file f = j->file[i];
        bool twice = false;

        for (size_t k = 0; f.head.clock == PROF_KERNEL && k < j->nfiles; k++) {
            const struct prof_head *own = &j->file[k].head;

            if (k >= kept && k <= i)
                continue; /* moved */
            if (!outside_same_nested(&f.head, own))
                continue;
            f.head.pid = own->pid;
            f.head.pid_start = own->pid_start;
            twice |= !(own->io_known & PROF_IO_EXEC) && f.head.end_ns > own->start_ns;
        }
        j->file[i] = (struct prof_file){0};
        if (twice)
            prof_file_fini(&f);
        else
            j->file[kept++] = f;
    }
    j->nfiles = kept;
}

/* Processes that left profiles; files are sorted by process. */
static void outside_add_files(const struct prof_job *j, struct nodes *nodes)
{
    for (size_t i = 0; i < j->nfiles; i++) {
        const struct prof_head *h = &j->file[i].head;
        struct node *last = nodes->v.n ? &nodes->v.v[nodes->v.n - 1] : NULL;

        if (h->shared)
            continue;
        if (last && last->pid == h->pid && last->start == h->pid_start &&
            !strcmp(last->host, h->host)) {
            last->nfiles++;
            last->pid_root |= h->pid_root != 0;
        } else {
            struct node n = {.host = h->host,
                             .job = h->job,
                             .pid = h->pid,
                             .reaper = h->ppid,
                             .start = h->pid_start,
                             .pid_root = h->pid_root != 0,
                             .file = i,
                             .nfiles = 1};

            wr_vec_push(&nodes->v, n);
        }
    }
}

static struct node *outside_find(struct nodes *nodes, size_t n, const char *host, uint32_t pid,
                                 uint64_t start)
{
    struct node key = {.host = host, .pid = pid, .start = start};

    return n ? bsearch(&key, nodes->v.v, n, sizeof key, outside_by_node) : NULL;
}

/* The first process of a PID namespace has one number inside, which its profile has, and another
 * one for its parent, which recorded its end. Its start is the same for both. */
static void outside_join_namespaces(struct nodes *nodes, size_t nfiles)
{
    for (size_t i = 0; i < nfiles; i++) {
        struct node *n = &nodes->v.v[i];

        for (size_t k = nfiles; n->pid_root && !n->end && k < nodes->v.n; k++) {
            const struct node *outer = &nodes->v.v[k];

            if ((uint32_t)outer->start != (uint32_t)n->start ||
                (n->reaper && outer->reaper != n->reaper) || strcmp(outer->host, n->host) != 0)
                continue;
            n->end = outer->end;
            n->io = outer->io;
            n->reaper = outer->reaper;
            n->known = true;
            nodes->v.v[k] = nodes->v.v[--nodes->v.n];
        }
    }
}

/* Adds the recorded ends; of two for one process, the later. */
static void outside_add_ends(const struct prof_job *j, struct nodes *nodes)
{
    size_t n = nodes->v.n;

    for (size_t i = 0; i < j->ends.n; i++) {
        const struct prof_end *e = &j->ends.v[i];

        if (i + 1 < j->ends.n && e->child.pid == e[1].child.pid &&
            e->child.pid_start == e[1].child.pid_start && !strcmp(e->host, e[1].host))
            continue;
        struct node *found = outside_find(nodes, n, e->host, e->child.pid, e->child.pid_start);
        struct node other = {
            .host = e->host, .job = e->job, .pid = e->child.pid, .start = e->child.pid_start};

        if (!found) {
            wr_vec_push(&nodes->v, other);
            found = &nodes->v.v[nodes->v.n - 1];
        }
        found->end = &e->child;
        found->io = e->child.io;
        found->reaper = e->reaper;
        found->known = true;
    }
    outside_join_namespaces(nodes, n);
    if (nodes->v.n)
        qsort(nodes->v.v, nodes->v.n, sizeof *nodes->v.v, outside_by_node);
}

/* Processes without a recorded end: the counters from their own profile or the last sample. */
static void outside_add_last(const struct prof_job *j, struct nodes *nodes)
{
    for (size_t i = 0; i < nodes->v.n; i++) {
        struct node *n = &nodes->v.v[i];

        for (size_t k = 0; !n->end && k < n->nfiles; k++) {
            const struct prof_head *h = &j->file[n->file + k].head;

            if (h->io_known & (PROF_IO_END | PROF_IO_SAMPLED)) {
                n->io = h->io_end;
                n->known = true;
            }
        }
    }
}

/* The parent of n: the latest process with its reaper's pid that started before n. */
static struct node *outside_parent(struct nodes *nodes, const struct node *n)
{
    size_t low = 0, high = nodes->v.n;
    struct node key = {.host = n->host, .pid = n->reaper, .start = n->start};

    while (low < high) { /* upper bound */
        size_t mid = low + (high - low) / 2;

        if (outside_by_node(&nodes->v.v[mid], &key) <= 0)
            low = mid + 1;
        else
            high = mid;
    }
    struct node *p = low ? &nodes->v.v[low - 1] : NULL;

    return p && p != n && p->pid == n->reaper && !strcmp(p->host, n->host) ? p : NULL;
}

/* Adds each process to its parent's children; a running process was not waited for. */
static void outside_add_children(const struct prof_job *j, struct nodes *nodes)
{
    for (size_t i = 0; i < nodes->v.n; i++) {
        const struct node *n = &nodes->v.v[i];
        bool runs = !n->end && n->nfiles && prof_file_alive(&j->file[n->file].head);
        struct node *p = n->known && !runs ? outside_parent(nodes, n) : NULL;

        if (p)
            outside_add(&p->children, &n->io);
        if (p && !n->end)
            outside_add(&p->unnoted, &n->io);
    }
}

/* The library's counts that rchar and wchar include; and all storage writes that may dirty pages.
 */
struct counted {
    struct prof_io io;
    uint64_t dirty;
    uint64_t written; /* on storage, estimates included */
};

static struct counted outside_counted(const struct prof_file *f)
{
    struct counted c = {0};

    for (uint32_t slot = 0; slot < f->nslots; slot++)
        for (uint32_t row = 0; row < f->nnames; row++) {
            const uint64_t *w = f->row[(size_t)slot * f->nnames + row].word;
            uint32_t kind = f->name[row].kind;

            if (kind == PROF_K_MPI || kind == PROF_K_MPI_COLL || kind == PROF_K_COUNTERS ||
                kind == PROF_K_PATH || kind == PROF_K_NONE)
                continue; /* no system calls, or counted once already */
            c.io.rchar += outside_behind(w[PROF_W_read_bytes], w[PROF_W_read_async]);
            c.io.wchar += outside_behind(w[PROF_W_write_bytes], w[PROF_W_write_async]);
            c.io.syscr += w[PROF_W_read_calls];
            c.io.syscw += w[PROF_W_write_calls];
            c.written +=
                kind == PROF_K_OTHER ? 0 : w[PROF_W_write_bytes] + w[PROF_W_write_estimate];
            c.dirty += w[PROF_W_write_bytes] + w[PROF_W_write_estimate] +
                       2 * PAGE * w[PROF_W_write_calls] +
                       OBJECTS_MORE * PAGE * (w[PROF_W_open_calls] + w[PROF_W_meta_calls]);
        }
    return c;
}

/* Bytes read before the library was ready, limited to what loading the program needs. */
static uint64_t outside_start(const struct prof_head *h, const struct prof_head *before)
{
    uint64_t most = (uint64_t)OBJECT_B * (h->objects + OBJECTS_MORE), read;

    if (h->forked || !(h->io_known & PROF_IO_START))
        return 0;
    read = outside_behind(h->io_start.rchar, before ? before->io_end.rchar : 0);
    return read < most ? read : most;
}

/* The counters at exec; an estimate where they could not be read. */
static struct prof_io outside_at_exec(const struct prof_file *f)
{
    struct prof_io io = outside_counted(f).io;

    if (f->head.io_known & PROF_IO_END)
        return f->head.io_end;
    if (!f->head.forked)
        outside_add(&io, &f->head.io_start);
    io.rchar += f->head.own_rchar;
    return io;
}

static uint64_t outside_most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Pages of the profile itself, which the process dirtied; on a disk the kernel counts them. */
static uint64_t outside_profile_b(const struct prof_file *f)
{
    const struct prof_head *h = &f->head;
    uint64_t names = PROF_NAMES + PROF_WRITTEN + h->files;
    uint64_t slots = f->nslots, log = f->nrec + f->torn;

    names += h->callers ? PROF_PATHS + 1 + PROF_MODULES : 0;
    if (h->quiet) { /* allocated before the system-call filter */
        slots = slots > PROF_QUIET_SLOTS ? slots : PROF_QUIET_SLOTS;
        log += PROF_QUIET_LOG;
    }
    return PROF_HEAD_B + names * sizeof(struct prof_name) +
           slots * (prof_slot_b((uint32_t)names) + PAGE) + log * sizeof(struct prof_rec) +
           f->nchildren * sizeof(struct prof_child);
}

/* A process that was killed with files mapped for writing: their pages are among those that it made
 * dirty. */
static bool outside_killed(const struct prof_head *h)
{
    return h->state == PROF_LIVE && h->clock != PROF_KERNEL && !h->shared && !h->quiet &&
           !(h->io_known & PROF_IO_EXEC) && !prof_file_alive(h);
}

static uint64_t outside_mapped(const struct prof_head *h, uint64_t more_pages)
{
    return h->mapped_b[0] < more_pages ? h->mapped_b[0] : more_pages;
}

static void outside_balance(struct prof_balance *b, const struct prof_job *j, const struct node *n)
{
    assert(n->nfiles > 0 && n->file + n->nfiles <= j->nfiles);
    struct prof_io own = outside_less(&n->io, &n->children);
    const struct prof_head *before = NULL;
    const struct prof_head *last = &j->file[n->file + n->nfiles - 1].head;
    uint64_t dirty = 0, written = 0, counted[2] = {0};
    bool quiet = false; /* its counters include children that are not known */

    b->known = n->known;
    b->kernel[0] = own.rchar;
    b->kernel[1] = own.wchar;
    for (size_t k = 0; k < n->nfiles; k++) {
        const struct prof_file *f = &j->file[n->file + k];
        struct counted c = outside_counted(f);

        counted[0] += c.io.rchar;
        counted[1] += c.io.wchar;
        dirty += c.dirty + outside_profile_b(f);
        written += c.written;
        quiet |= f->head.quiet != 0;
        if (f->head.clock == PROF_KERNEL)
            continue;
        b->seen[0] += c.io.rchar;
        b->seen[1] += c.io.wchar;
        b->start += outside_start(&f->head, before) + f->head.own_rchar;
        before = &f->head;
    }
    b->by_kernel[0] = counted[0] - b->seen[0];
    b->by_kernel[1] = counted[1] - b->seen[1];
    b->known &= !quiet;
    if (!b->known)
        return;
    if (outside_killed(last) && outside_behind(own.write_bytes, dirty + SMALL))
        b->mapped = outside_mapped(last, outside_behind(own.write_bytes, written));
    b->unexplained[0] = outside_behind(own.rchar, counted[0] + b->start);
    b->unexplained[1] = outside_most(outside_behind(own.wchar, counted[1]),
                                     outside_behind(own.write_bytes, dirty + SMALL + b->mapped));
}

static bool outside_wants(const struct prof_io *io)
{
    return io->rchar || io->wchar || io->write_bytes;
}

static void outside_book(struct prof_file *f, const struct prof_io *own)
{
    assert(f->nslots > 0 && f->nnames > PROF_ROW_FIRST);
    uint64_t *word = f->row[PROF_ROW_FIRST].word;
    uint64_t dirty = own->wchar + 2 * PAGE * own->syscw + SMALL;

    word[PROF_W_read_calls] = outside_most(word[PROF_W_read_calls], own->syscr);
    word[PROF_W_write_calls] = outside_most(word[PROF_W_write_calls], own->syscw);
    word[PROF_W_read_bytes] = outside_most(word[PROF_W_read_bytes], own->rchar);
    word[PROF_W_write_bytes] = outside_most(word[PROF_W_write_bytes], own->wchar);
    /* Pages that no write made dirty: mappings, or rings. */
    word[PROF_W_write_estimate] = outside_behind(own->write_bytes, dirty)
                                      ? own->write_bytes - own->wchar
                                      : word[PROF_W_write_estimate];
}

/* Makes a profile for an unprofiled process, or for the unprofiled program that it executed. */
static struct prof_file outside_make(const struct prof_job *j, const struct node *n,
                                     int64_t from_ns, const struct prof_io *own)
{
    assert(n->end);
    struct prof_file f = {.nnames = PROF_ROW_FIRST + 1, .nslots = 1};
    const struct prof_child *c = n->end;
    int64_t to_ns = c->end_ns < j->last_ns ? c->end_ns : j->last_ns;

    f.path = prof_job_name("process %u of %s", n->pid, n->host);
    f.name = wr_zalloc(f.nnames, sizeof *f.name);
    f.slot = wr_zalloc(1, sizeof *f.slot);
    f.row = wr_zalloc(f.nnames, sizeof *f.row);
    f.name[PROF_ROW_FIRST].kind = PROF_K_KERNEL;
    snprintf(f.name[PROF_ROW_FIRST].path, sizeof f.name->path, "(kernel counters)");
    f.slot[0].tid = n->pid;
    from_ns = from_ns > j->last_ns ? j->last_ns : from_ns;
    from_ns = from_ns < j->origin_ns ? j->origin_ns : from_ns;
    f.head = (struct prof_head){.clock = PROF_KERNEL,
                                .slice_ns = j->slice_ns,
                                .pid = n->pid,
                                .ppid = n->reaper,
                                .pid_start = n->start,
                                .rank = -1,
                                .nranks = -1,
                                .state = PROF_ENDED,
                                .start_ns = from_ns,
                                .end_ns = to_ns > from_ns ? to_ns : from_ns + 1};
    snprintf(f.head.host, sizeof f.head.host, "%.63s", n->host);
    snprintf(f.head.job, sizeof f.head.job, "%.63s", n->job);
    snprintf(f.head.exe, sizeof f.head.exe, "%.15s", c->comm);
    outside_book(&f, own);
    return f;
}

/* Takes what is in other profiles out of one that was sampled from the start of the process on. */
static void outside_begin_after(struct prof_file *f, const struct prof_io *before)
{
    assert(f->nslots > 0 && f->nnames > PROF_ROW_FIRST);
    const struct {
        unsigned word;
        uint64_t less;
    } parts[] = {{PROF_W_read_calls, before->syscr},
                 {PROF_W_write_calls, before->syscw},
                 {PROF_W_read_bytes, before->rchar},
                 {PROF_W_write_bytes, before->wchar}};

    for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++) {
        uint64_t *total = &f->row[PROF_ROW_FIRST].word[parts[p].word];

        *total = outside_behind(*total, parts[p].less);
        for (size_t i = 0; i < f->nrec; i++)
            if (f->rec[i].row == PROF_ROW_FIRST)
                f->rec[i].word[parts[p].word] =
                    outside_behind(f->rec[i].word[parts[p].word], parts[p].less);
    }
}

/* Completes a kernel's profile that was sampled, but not to its end; `before`: what is in others.
 */
static void outside_complete(struct prof_file *f, const struct node *n,
                             const struct prof_io *before)
{
    assert(n->end && f->head.clock == PROF_KERNEL);
    struct prof_io after = outside_less(&n->io, before);

    if (!f->nslots || f->nnames <= PROF_ROW_FIRST)
        return; /* the file is damaged */
    after = outside_less(&after, &n->unnoted);
    outside_book(f, &after);
    if (n->end->end_ns > f->head.end_ns)
        f->head.end_ns = n->end->end_ns;
}

/* In a PID namespace the sampler does not know the profile that the program before left, and takes
 * the process for unprofiled from its start on. */
static struct prof_file *outside_sampled(const struct prof_job *j, const struct node *n)
{
    for (size_t k = n->nfiles; k-- > 0;)
        if (j->file[n->file + k].head.clock == PROF_KERNEL)
            return &j->file[n->file + k];
    return NULL;
}

/* The profile to add to a process; false: its profiles are complete. */
static bool outside_missing(struct prof_file *ret, const struct prof_job *j, const struct node *n)
{
    struct prof_file *last = n->nfiles ? &j->file[n->file + n->nfiles - 1] : NULL;
    struct prof_io own = outside_less(&n->io, &n->children);
    int64_t from = n->end ? n->end->start_ns : 0;

    if (!n->end)
        return false;
    if (last && last->head.clock == PROF_KERNEL) {
        struct prof_io none = {0};

        outside_complete(last, n,
                         last->head.io_known & PROF_IO_START ? &last->head.io_start : &none);
        return false;
    }
    if (last && !(last->head.io_known & PROF_IO_EXEC))
        return false;
    if (last) { /* it executed an unprofiled program */
        struct prof_io before = outside_at_exec(last);
        struct prof_file *sampled = outside_sampled(j, n);

        if (sampled && sampled->nslots && sampled->nnames > PROF_ROW_FIRST) {
            outside_begin_after(sampled, &before);
            outside_complete(sampled, n, &before);
            if (last->head.exec_ns > sampled->head.start_ns &&
                last->head.exec_ns < sampled->head.end_ns)
                sampled->head.start_ns = last->head.exec_ns; /* it comes after the other */
            return false;
        }
        own = outside_less(&n->io, &before);
        own = outside_less(&own, &n->unnoted);
        from = last->head.exec_ns;
    }
    if (!outside_wants(&own))
        return false;
    *ret = outside_make(j, n, from, &own);
    return true;
}

static void outside_nodes(const struct prof_job *j, struct nodes *nodes)
{
    outside_add_files(j, nodes);
    if (nodes->v.n)
        qsort(nodes->v.v, nodes->v.n, sizeof *nodes->v.v, outside_by_node);
    outside_add_ends(j, nodes);
    outside_add_last(j, nodes);
    outside_add_children(j, nodes);
}

/* Whether its last profile ends with exec. */
static bool outside_became(const struct prof_job *j, const struct node *n)
{
    return n->nfiles && (j->file[n->file + n->nfiles - 1].head.io_known & PROF_IO_EXEC);
}

/* With a shared profile, a process without a file either used it or is unprofiled. Only their sum
 * beyond the shared profile is known: it goes to the first of them. */
static void outside_pool(struct prof_job *j, struct nodes *nodes)
{
    struct node *first = NULL;
    struct prof_io sum = {0};
    uint64_t n_pool = 0;

    for (size_t i = 0; i < j->nfiles; i++)
        if (j->file[i].head.shared) {
            struct counted c = outside_counted(&j->file[i]);

            outside_add(&sum, &c.io);
            sum.write_bytes += c.dirty;
        }
    for (size_t i = 0; i < nodes->v.n; i++) {
        struct node *n = &nodes->v.v[i];
        struct prof_io own = outside_less(&n->io, &n->children);

        if (n->end && outside_became(j, n)) { /* in the shared one or unprofiled: unknown */
            n->end = NULL;
            continue;
        }
        if (n->nfiles || !n->end)
            continue;
        n_pool++;
        if (first)
            outside_add(&first->io, &own);
        else
            first = n;
        if (first == n)
            n->io = own;
        if (first != n)
            n->end = NULL;
    }
    if (first) {
        first->io = outside_less(&first->io, &sum);
        first->children = first->unnoted = (struct prof_io){0};
        if (first->io.rchar + first->io.wchar <= SMALL * n_pool)
            first->end = NULL; /* no more than loading their programs */
    }
}

static bool outside_shares(const struct prof_job *j)
{
    for (size_t i = 0; i < j->nfiles; i++)
        if (j->file[i].head.shared)
            return true;
    return false;
}

/* The sampler finalises a profile after the end of its process: use the recorded end. */
static void outside_cut(const struct prof_job *j, const struct node *n)
{
    for (size_t k = 0; n->end && k < n->nfiles; k++) {
        struct prof_head *h = &j->file[n->file + k].head;

        if (h->end_ns > n->end->end_ns && n->end->end_ns > h->start_ns)
            h->end_ns = n->end->end_ns;
        if (h->sampled_ns > n->end->end_ns && n->end->end_ns > h->start_ns)
            h->sampled_ns = n->end->end_ns;
    }
}

void prof_job_outside(struct prof_job *j)
{
    struct nodes nodes = {0};
    WR_VEC(struct prof_file) more = {0};

    if (j->ends.n)
        qsort(j->ends.v, j->ends.n, sizeof *j->ends.v, outside_by_end);
    outside_nodes(j, &nodes);
    if (outside_shares(j))
        outside_pool(j, &nodes);
    for (size_t i = 0; i < nodes.v.n; i++) {
        struct prof_file f;

        outside_cut(j, &nodes.v.v[i]);
        if (outside_missing(&f, j, &nodes.v.v[i]))
            wr_vec_push(&more, f);
    }
    if (more.n) {
        j->file = wr_realloc(j->file, j->nfiles + more.n, sizeof *j->file);
        memcpy(j->file + j->nfiles, more.v, more.n * sizeof *more.v);
        j->nfiles += more.n;
    }
    wr_vec_fini(&more);
    wr_vec_fini(&nodes.v);
}

/* Warns about the fraction of unexplained bytes, and names the process with most of them. */
static void outside_warn(struct prof_job *j)
{
    const struct prof_proc *worst = NULL;
    double lost = 0, all = 0, most = 0;

    for (size_t i = 0; i < j->procs.n; i++) {
        const struct prof_balance *b = &j->procs.v[i].balance;
        double one = (double)b->unexplained[0] + (double)b->unexplained[1];

        all += (double)outside_most(b->kernel[0], b->seen[0] + b->unexplained[0]) +
               (double)outside_most(b->kernel[1], b->seen[1] + b->unexplained[1]);
        lost += one > SMALL ? one : 0;
        if (one > most) {
            most = one;
            worst = &j->procs.v[i];
        }
    }
    if (lost > 0.01 * all && worst) {
        const char *slash = strrchr(worst->head->exe, '/');

        prof_job_warn(j,
                      "%.3g MB of %.3g MB (%.3g %%) that the kernel counted were not seen, most of "
                      "them in process %u (%.60s), which makes system calls by itself or has "
                      "children that were not waited for; see the balance in `weir profile show`",
                      lost / 1e6, all / 1e6, 100 * lost / all, worst->head->pid,
                      slash ? slash + 1 : worst->head->exe);
    }
}

/* It executed an unprofiled program and its end was not recorded: its parent ignores SIGCHLD or may
 * not read /proc. */
static bool outside_lost(const struct prof_job *j, const struct node *n)
{
    return !n->end && outside_became(j, n) && !outside_shares(j) &&
           !prof_file_alive(&j->file[n->file + n->nfiles - 1].head);
}

/* The mount of a row of a file. */
static uint32_t outside_mount(struct prof_job *j, const struct prof_file *f, uint32_t row)
{
    const struct prof_name *n = row < f->nnames ? &f->name[row] : NULL;

    if (n && n->kind == PROF_K_FILE)
        n = &f->name[n->mount];
    return prof_job_entity(j, PROF_E_MOUNT,
                           prof_job_name("mount:%s", n ? n->path : "(other storage)"));
}

/* What a killed process had mapped, and wrote there as far as the kernel shows it. */
static void outside_add_mapped(struct prof_job *j, struct prof_proc *p, const struct prof_file *f)
{
    if (!outside_killed(&f->head))
        return;
    if (p->balance.mapped)
        p->mapped_mount = outside_mount(j, f, f->head.mapped_row);
    j->mapped_unknown += f->head.mapped_b[1] + (p->balance.known ? 0 : f->head.mapped_b[0]);
}

void prof_job_balance(struct prof_job *j, const size_t *proc_of)
{
    struct nodes nodes = {0};

    outside_nodes(j, &nodes);
    for (size_t i = 0; i < nodes.v.n; i++) {
        const struct node *n = &nodes.v.v[i];

        if (!n->nfiles || (outside_shares(j) && outside_became(j, n)))
            continue;
        struct prof_proc *p = &j->procs.v[proc_of[n->file]];

        outside_balance(&p->balance, j, n);
        outside_add_mapped(j, p, &j->file[n->file + n->nfiles - 1]);
        j->ends_unseen += outside_lost(j, n);
    }
    wr_vec_fini(&nodes.v);
    outside_warn(j);
    if (j->ends_unseen)
        prof_job_warn(j,
                      "%" PRIu64
                      " processes executed programs without the library and ended unseen, because "
                      "their parents ignore SIGCHLD: what these did is not known",
                      j->ends_unseen);
    if (j->mapped_unknown)
        prof_job_warn(
            j,
            "processes that were killed had %.3g MB of files in memory (tmpfs) mapped for "
            "writing, or their counters are not known: how much of it they wrote is not "
            "counted",
            (double)j->mapped_unknown / 1e6);
    if (j->left)
        prof_job_warn(j, "%" PRIu64 " processes run on: what they do from now on is not counted",
                      j->left);
}
