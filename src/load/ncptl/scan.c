/* scan.c -- numbers out of text: option values and cells of FILE_DATA.
 *
 * The text of this file is also part of every program that `weir lang compile` writes.
 */
#include "scan_priv.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

bool nc_scan_number(const char *s, int64_t *ret)
{
    static const char letters[] = "kmgt";
    bool minus = *s == '-';
    char *end;
    long long v;

    s += minus || *s == '+';
    if (!isdigit((unsigned char)*s))
        return false;
    v = strtoll(s, &end, 10);
    int c = tolower((unsigned char)*end);
    const char *m = c ? strchr(letters, c) : NULL;
    if (m && !end[1]) {
        for (int k = (int)(m - letters); k >= 0; k--)
            if (__builtin_mul_overflow(v, 1024, &v))
                return false;
    } else if (c == 'e' && isdigit((unsigned char)end[1])) {
        for (long e = strtol(end + 1, &end, 10); e > 0; e--)
            if (e > 18 || __builtin_mul_overflow(v, 10, &v))
                return false;
        if (*end)
            return false;
    } else if (c) {
        return false;
    }
    *ret = minus ? -v : v;
    return true;
}

struct scan_span {
    const char *s;
    size_t n;
};

/* The piece that begins at *pos: pieces are separated by single characters, or by
 * runs of them, which leave no empty pieces. */
static bool scan_next_piece(struct scan_span from, const char *seps, bool runs, size_t *pos,
                            struct scan_span *ret)
{
    size_t i = *pos, n = 0;

    while (runs && i < from.n && strchr(seps, from.s[i]))
        i++;
    if (i >= from.n)
        return false;
    while (i + n < from.n && !strchr(seps, from.s[i + n]))
        n++;
    *ret = (struct scan_span){from.s + i, n};
    *pos = i + n + 1;
    return true;
}

/* Piece 1, 2, ... or, from the end, -1, -2, ... */
static bool scan_piece(struct scan_span from, const char *seps, bool runs, int64_t which,
                       struct scan_span *ret)
{
    size_t pos = 0;
    int64_t count = 0;

    if (which < 0) {
        while (scan_next_piece(from, seps, runs, &pos, ret))
            count++;
        which += count + 1;
        pos = 0;
    }
    if (which <= 0)
        return false;
    for (; which; which--)
        if (!scan_next_piece(from, seps, runs, &pos, ret))
            return false;
    return true;
}

bool nc_scan_cell(const char *text, const char *colsep, const char *rowsep, int64_t column,
                  int64_t row, double *ret)
{
    struct scan_span line, cell;
    char number[64];

    if (!column || !row ||
        !scan_piece((struct scan_span){text, strlen(text)}, rowsep, false, row, &line) ||
        !scan_piece(line, colsep, true, column, &cell))
        return false;
    size_t n = cell.n < sizeof number ? cell.n : sizeof number - 1;
    memcpy(number, cell.s, n);
    number[n] = '\0';
    *ret = strtod(number, NULL);
    return true;
}
