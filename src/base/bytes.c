/* bytes.c -- numbers, texts and histograms as a row of bytes, and back.
 *
 * See bytes.h. Numbers are LEB128: seven bits a byte, the lowest first. A reader never reads beyond
 * its end; it becomes `bad` and gives zeros from then on, so callers check once, at the end.
 */
#include "base/bytes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hist.h"
#include "base/mem.h"

void wr_bytes_put(struct wr_bytes *b, const void *data, size_t n)
{
    wr_vec_grow((void **)&b->v, &b->cap, b->n + n, 1);
    if (n)
        memcpy(b->v + b->n, data, n);
    b->n += n;
}

void wr_bytes_u64(struct wr_bytes *b, uint64_t x)
{
    unsigned char buf[10];
    size_t n = 0;

    for (; x >= 0x80; x >>= 7)
        buf[n++] = (unsigned char)(x | 0x80);
    buf[n++] = (unsigned char)x;
    wr_bytes_put(b, buf, n);
}

void wr_bytes_many(struct wr_bytes *b, const uint64_t *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        wr_bytes_u64(b, x[i]);
}

void wr_bytes_text(struct wr_bytes *b, const char *text)
{
    size_t n = strlen(text);

    wr_bytes_u64(b, n);
    wr_bytes_put(b, text, n);
}

/* Cells that count something, by how far each is from the one before. */
void wr_bytes_hist(struct wr_bytes *b, const struct wr_hist *h)
{
    uint32_t cells = 0, last = 0;

    wr_bytes_u64(b, h->n);
    if (!h->n)
        return;
    wr_bytes_u64(b, h->min);
    wr_bytes_u64(b, h->max);
    wr_bytes_u64(b, (uint64_t)h->sum);
    wr_bytes_u64(b, (uint64_t)(h->sum >> 64));
    for (uint32_t i = 0; i < WR_HIST_CELLS; i++)
        cells += h->cell[i] > 0;
    wr_bytes_u64(b, cells);
    for (uint32_t i = 0; i < WR_HIST_CELLS; i++)
        if (h->cell[i]) {
            wr_bytes_u64(b, i - last);
            wr_bytes_u64(b, h->cell[i]);
            last = i;
        }
}

void wr_bytes_fini(struct wr_bytes *b)
{
    free(b->v);
    *b = (struct wr_bytes){0};
}

void wr_read_raw(struct wr_reader *r, void *ret, size_t n)
{
    assert(r->at <= r->end);
    if (n > (size_t)(r->end - r->at)) {
        r->bad = true;
        memset(ret, 0, n);
        return;
    }
    if (n)
        memcpy(ret, r->at, n);
    r->at += n;
}

size_t wr_read_count(struct wr_reader *r, size_t size)
{
    assert(size > 0);
    uint64_t n = wr_read_u64(r);

    if (n <= (uint64_t)(r->end - r->at) / size)
        return n;
    r->bad = true;
    return 0;
}

uint64_t wr_read_u64(struct wr_reader *r)
{
    uint64_t x = 0;

    for (unsigned shift = 0; shift < 64 && r->at < r->end; shift += 7) {
        unsigned char c = *r->at++;

        x |= (uint64_t)(c & 0x7f) << shift;
        if (c < 0x80)
            return x;
    }
    r->bad = true;
    return 0;
}

uint64_t wr_read_below(struct wr_reader *r, uint64_t below)
{
    uint64_t x = wr_read_u64(r);

    if (x < below)
        return x;
    r->bad = true;
    return 0;
}

void wr_read_many(struct wr_reader *r, uint64_t *ret, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ret[i] = wr_read_u64(r);
}

char *wr_read_text(struct wr_reader *r)
{
    size_t n = wr_read_count(r, 1);
    char *text = wr_alloc(n + 1);

    wr_read_raw(r, text, n);
    text[n] = '\0';
    return text;
}

void wr_read_hist(struct wr_reader *r, struct wr_hist *ret)
{
    uint64_t at = 0;

    *ret = (struct wr_hist){.n = wr_read_u64(r)};
    if (!ret->n)
        return;
    ret->min = wr_read_u64(r);
    ret->max = wr_read_u64(r);
    ret->sum = wr_read_u64(r);
    ret->sum |= (unsigned __int128)wr_read_u64(r) << 64;
    for (uint64_t cells = wr_read_below(r, WR_HIST_CELLS + 1); cells; cells--) {
        at += wr_read_below(r, WR_HIST_CELLS - at);
        ret->cell[at] = wr_read_u64(r);
    }
}

bool wr_read_all(const struct wr_reader *r)
{
    return !r->bad && r->at == r->end;
}
