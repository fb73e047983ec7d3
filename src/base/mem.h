/* mem.h -- memory that is there or the program ends.
 *
 * Event handlers never allocate, so an allocation that fails happens while something is being set
 * up: a message and exit status 4 are all that a caller could do.
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>
#include <stdint.h>

void *wr_alloc(size_t size);                /* not cleared */
void *wr_zalloc(size_t count, size_t size); /* cleared */
void *wr_realloc(void *old, size_t count, size_t size);
void *wr_zalloc_aligned(size_t count, size_t size); /* cleared, on 128 bytes; free() it */
/* Large arrays of which parts may never be touched: cleared, whole pages, no memory before it is
 * touched. */
void *wr_alloc_pages(size_t count, size_t size);
void wr_free_pages(void *p, size_t count, size_t size);
char *wr_strdup(const char *s);

/* An arena: many small things that die together. Zero-initialise it. */
struct wr_arena {
    struct wr_arena_chunk *head;
};

void *wr_arena_alloc(struct wr_arena *a, size_t size); /* cleared, 16-byte aligned */
char *wr_arena_strdup(struct wr_arena *a, const char *s);
char *wr_arena_strndup(struct wr_arena *a, const char *s, size_t n);
char *wr_arena_printf(struct wr_arena *a, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void wr_arena_fini(struct wr_arena *a);

/* A growable array: struct { T *v; size_t n, cap; } declared with WR_VEC(T). */
#define WR_VEC(T)      \
    struct {           \
        T *v;          \
        size_t n, cap; \
    }

#define wr_vec_push(vec, ...)                                                         \
    do {                                                                              \
        wr_vec_grow((void **)&(vec)->v, &(vec)->cap, (vec)->n + 1, sizeof *(vec)->v); \
        (vec)->v[(vec)->n++] = (__VA_ARGS__);                                         \
    } while (0)

#define wr_vec_fini(vec)           \
    do {                           \
        free((vec)->v);            \
        (vec)->v = NULL;           \
        (vec)->n = (vec)->cap = 0; \
    } while (0)

void wr_vec_grow(void **v, size_t *cap, size_t need, size_t size);

#endif
