/* bytes.h -- numbers in a row of bytes, for another process of the same program.
 *
 *   struct wr_bytes out = {0};              struct wr_reader in = {out.v, out.v + out.n, false};
 *   wr_bytes_u64(&out, 7);                  x = wr_read_u64(&in);
 *   wr_bytes_hist(&out, h);                 wr_read_hist(&in, h);
 *                                           if (!wr_read_all(&in)) ... it was something else
 *
 * A number takes as many bytes as it has groups of seven bits: accounts are mostly small
 * numbers and zeros. A reader that reads beyond the end gets zeros; wr_read_all() reports it.
 */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wr_hist;

/* Zero-initialise. */
struct wr_bytes {
    unsigned char *v;
    size_t n, cap;
};

void wr_bytes_put(struct wr_bytes *b, const void *data, size_t n);
void wr_bytes_u64(struct wr_bytes *b, uint64_t x);
void wr_bytes_many(struct wr_bytes *b, const uint64_t *x, size_t n);
void wr_bytes_text(struct wr_bytes *b, const char *text); /* with its length */
void wr_bytes_hist(struct wr_bytes *b, const struct wr_hist *h);
void wr_bytes_fini(struct wr_bytes *b);

struct wr_reader {
    const unsigned char *at, *end;
    bool bad; /* it was too short, or is not what was expected */
};

void wr_read_raw(struct wr_reader *r, void *ret, size_t n); /* what wr_bytes_put put */
uint64_t wr_read_u64(struct wr_reader *r);
/* How many items of `size` bytes follow; 0 when fewer bytes are left than they need. */
size_t wr_read_count(struct wr_reader *r, size_t size);
/* A number below `below`; another makes the reader bad, and gives 0. */
uint64_t wr_read_below(struct wr_reader *r, uint64_t below);
void wr_read_many(struct wr_reader *r, uint64_t *ret, size_t n);
char *wr_read_text(struct wr_reader *r); /* free() it */
void wr_read_hist(struct wr_reader *r, struct wr_hist *ret);
bool wr_read_all(const struct wr_reader *r); /* everything was read, and nothing more */

#endif
