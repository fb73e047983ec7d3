/* unpack.c -- gzip and zstd, distinguished by their first bytes; zlib and bzip2 where a format says
 * that it uses them. */
#include "base/unpack.h"

#include <stdint.h>
#include <string.h>
#include <zstd.h>

#ifdef WEIR_HAVE_bzip2
#include <bzlib.h>
#endif
#ifdef WEIR_HAVE_zlib
#include <zlib.h>
#endif

static const char unpack_gzip_magic[] = "\x1f\x8b", unpack_zstd_magic[] = "\x28\xb5\x2f\xfd";

static bool unpack_is_gzip(const char *bytes, size_t n)
{
    return n >= 2 && !memcmp(bytes, unpack_gzip_magic, 2);
}

static bool unpack_is_zstd(const char *bytes, size_t n)
{
    return n >= 4 && !memcmp(bytes, unpack_zstd_magic, 4);
}

bool wr_unpack_knows(const char *bytes, size_t n)
{
    return unpack_is_gzip(bytes, n) || unpack_is_zstd(bytes, n);
}

static bool unpack_fail(const char *name, const char *how, struct wr_err *err)
{
    return wr_fail(err, WR_INPUT,
                   "%s: its compression (%s) is damaged or cut off; copy it again, or give the "
                   "plain text",
                   name, how);
}

#ifdef WEIR_HAVE_zlib

enum { UNPACK_GZIP_HEADER = 16, UNPACK_MOST_AT_ONCE = 1 << 30 };

/* Streams may follow each other: `cat a.gz b.gz` is a gzip file. What follows the last and is none
 * is padding, as gzip(1) has it; a format of its own (`all`) has no padding. */
static bool unpack_inflate(const char *name, const char *how, int header, bool all,
                           const char *bytes, size_t n, wr_unpack_put *put, void *ctx,
                           struct wr_err *err)
{
    z_stream z = {.next_in = (Bytef *)(uintptr_t)bytes};
    char piece[65536];
    size_t left = n;
    int rc = Z_OK;
    bool ok = true;

    if (inflateInit2(&z, header + MAX_WBITS) != Z_OK)
        return wr_fail(err, WR_SYSTEM, "%s: no memory to read what is compressed; free some", name);
    while (ok && (rc == Z_OK || (rc == Z_STREAM_END && z.avail_in + left > 0))) {
        if (!z.avail_in) {
            z.avail_in = (uInt)(left < UNPACK_MOST_AT_ONCE ? left : UNPACK_MOST_AT_ONCE);
            left -= z.avail_in;
        }
        if (rc == Z_STREAM_END) {
            if (!all && !unpack_is_gzip((const char *)z.next_in, z.avail_in))
                break;
            inflateReset(&z);
        }
        z.next_out = (Bytef *)piece;
        z.avail_out = sizeof piece;
        rc = inflate(&z, Z_NO_FLUSH);
        ok = put(ctx, piece, sizeof piece - z.avail_out, err);
    }
    inflateEnd(&z);
    return ok && (rc == Z_STREAM_END || unpack_fail(name, how, err));
}

#else

static bool unpack_inflate(const char *name, const char *how, int header, bool all,
                           const char *bytes, size_t n, wr_unpack_put *put, void *ctx,
                           struct wr_err *err)
{
    (void)header, (void)all, (void)bytes, (void)n, (void)put, (void)ctx;
    return wr_fail(err, WR_INPUT,
                   "%s is compressed with %s, and this weir was built without zlib (Debian: "
                   "zlib1g-dev); %sbuild weir with zlib",
                   name, how, header ? "gunzip it, or " : "");
}

enum { UNPACK_GZIP_HEADER = 16 };

#endif

#ifdef WEIR_HAVE_bzip2

bool wr_unpack_bzip2(const char *name, const char *bytes, size_t n, wr_unpack_put *put, void *ctx,
                     struct wr_err *err)
{
    enum { MOST_AT_ONCE = 1 << 30 };
    bz_stream z = {.next_in = (char *)(uintptr_t)bytes};
    char piece[65536];
    size_t left = n;
    int rc = BZ2_bzDecompressInit(&z, 0, 0);
    bool ok = rc == BZ_OK;

    if (!ok)
        return wr_fail(err, WR_SYSTEM, "%s: no memory to read what is compressed; free some", name);
    while (ok && rc == BZ_OK) {
        if (!z.avail_in) {
            z.avail_in = (unsigned)(left < MOST_AT_ONCE ? left : MOST_AT_ONCE);
            left -= z.avail_in;
        }
        unsigned before = z.avail_in;

        z.next_out = piece;
        z.avail_out = sizeof piece;
        rc = BZ2_bzDecompress(&z);
        unsigned got = (unsigned)sizeof piece - z.avail_out;

        ok = put(ctx, piece, got, err);
        if (rc == BZ_OK && !got && before == z.avail_in && !left)
            break; /* cut off */
        if (rc == BZ_STREAM_END && z.avail_in + left > 0) {
            bz_stream next = {.next_in = z.next_in, .avail_in = z.avail_in};

            BZ2_bzDecompressEnd(&z);
            z = next;
            rc = BZ2_bzDecompressInit(&z, 0, 0);
        }
    }
    BZ2_bzDecompressEnd(&z);
    return ok && (rc == BZ_STREAM_END || unpack_fail(name, "bzip2", err));
}

#else

bool wr_unpack_bzip2(const char *name, const char *bytes, size_t n, wr_unpack_put *put, void *ctx,
                     struct wr_err *err)
{
    (void)bytes, (void)n, (void)put, (void)ctx;
    return wr_fail(err, WR_INPUT,
                   "%s is compressed with bzip2, and this weir was built without it (Debian: "
                   "libbz2-dev); build weir with bzip2",
                   name);
}

#endif

bool wr_unpack_zlib(const char *name, const char *bytes, size_t n, wr_unpack_put *put, void *ctx,
                    struct wr_err *err)
{
    return unpack_inflate(name, "zlib", 0, true, bytes, n, put, ctx, err);
}

static bool unpack_gzip(const char *name, const char *bytes, size_t n, wr_unpack_put *put,
                        void *ctx, struct wr_err *err)
{
    return unpack_inflate(name, "gzip", UNPACK_GZIP_HEADER, false, bytes, n, put, ctx, err);
}

static bool unpack_zstd(const char *name, const char *bytes, size_t n, wr_unpack_put *put,
                        void *ctx, struct wr_err *err)
{
    ZSTD_DStream *z = ZSTD_createDStream();
    ZSTD_inBuffer in = {bytes, n, 0};
    char piece[65536];
    size_t more = 1;
    bool ok =
        z || wr_fail(err, WR_SYSTEM, "%s: no memory to read what is compressed; free some", name);

    /* 0: the end of a frame, after which another may follow. */
    while (ok && !ZSTD_isError(more) && (more || in.pos < in.size)) {
        ZSTD_outBuffer o = {piece, sizeof piece, 0};
        size_t before = in.pos;

        more = ZSTD_decompressStream(z, &o, &in);
        if (!ZSTD_isError(more) && more && !o.pos && in.pos == before)
            break; /* cut off */
        ok = put(ctx, piece, o.pos, err);
    }
    ZSTD_freeDStream(z);
    return ok && (!more || unpack_fail(name, "zstd", err));
}

bool wr_unpack(const char *name, const char *bytes, size_t n, wr_unpack_put *put, void *ctx,
               struct wr_err *err)
{
    return unpack_is_gzip(bytes, n) ? unpack_gzip(name, bytes, n, put, ctx, err)
                                    : unpack_zstd(name, bytes, n, put, ctx, err);
}
