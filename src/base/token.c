/* token.c -- makes, writes and reads the secret that a server and its clients share.
 *
 * See token.h. Buffers that held a token are cleared before they are released; comparing and
 * parsing take the same time whatever the digits are.
 */
#include "base/token.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

bool wr_token_make(struct wr_token *ret, struct wr_err *err)
{
    struct wr_token t;

    if (getrandom(&t, sizeof t, 0) != sizeof t)
        return wr_fail_errno(err, "no random numbers for a token; check the kernel");
    *ret = t;
    return true;
}

/* ---- as text ---- */

void wr_token_text(const struct wr_token *t, char into[WR_TOKEN_TEXT])
{
    snprintf(into, WR_TOKEN_TEXT, "%016llx%016llx", (unsigned long long)t->word[0],
             (unsigned long long)t->word[1]);
}

/* Without a branch or a table that depends on the digit: 0 to 15, or more than that. */
static unsigned token_digit(unsigned char c)
{
    unsigned number = c - (unsigned)'0', letter = (c | 0x20u) - (unsigned)'a';
    unsigned is_number = number < 10, is_letter = letter < 6;

    return number * is_number + (letter + 10u) * is_letter + 16u * (1u - is_number - is_letter);
}

bool wr_token_parse(struct wr_token *ret, const char *text)
{
    struct wr_token t = {{0, 0}};
    unsigned bad = 0;

    if (!text || strnlen(text, WR_TOKEN_TEXT) != WR_TOKEN_DIGITS)
        return false;
    for (size_t i = 0; i < WR_TOKEN_DIGITS; i++) {
        unsigned digit = token_digit((unsigned char)text[i]);

        bad |= digit & ~15u;
        t.word[i / 16] = t.word[i / 16] << 4 | (digit & 15u);
    }
    if (bad)
        return false;
    *ret = t;
    return true;
}

/* ---- from outside ---- */

/* Never blocks, whatever the path is. One line, at whose end blanks are forgiven. */
static bool token_read_line(char into[WR_TOKEN_TEXT + 1], const char *file, struct wr_err *err)
{
    enum { MOST = 256 };
    char text[MOST + 1];
    struct stat st;
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd < 0)
        return wr_fail_read(err, "cannot open the token's file %s; check the path", file);
    bool ok = true;
    ssize_t n = 0;

    if (fstat(fd, &st) || !S_ISREG(st.st_mode))
        ok = wr_fail(err, WR_INPUT, "%s is no regular file; write the token into one", file);
    else if (st.st_mode & 077 || (st.st_uid != geteuid() && st.st_uid))
        ok = wr_fail(err, WR_INPUT,
                     "%s holds a token, but not its owner alone may read it; run `chmod 600` on it",
                     file);
    else if ((n = read(fd, text, MOST)) < 0)
        ok = wr_fail_errno(err, "cannot read the token's file %s; check the disk", file);
    close(fd);
    while (ok && n && strchr(" \t\r\n", text[n - 1]))
        n--;
    if (ok)
        snprintf(into, WR_TOKEN_TEXT + 1, "%.*s", (int)n, text);
    explicit_bzero(text, sizeof text);
    return ok;
}

bool wr_token_find(struct wr_token *ret, bool *ret_given, const char *file, const char *variable,
                   struct wr_err *err)
{
    const char *text = file ? NULL : getenv(variable);
    char line[WR_TOKEN_TEXT + 1] = ""; /* one more: a longer one is seen to be so */
    bool given = file || text;

    if (file && !token_read_line(line, file, err))
        return false;
    bool ok = !given || wr_token_parse(ret, file ? line : text);

    explicit_bzero(line, sizeof line);
    if (!ok)
        return wr_fail(err, WR_INPUT,
                       "%s%s is no token of %d hexadecimal digits; make one with `openssl rand "
                       "-hex 16`",
                       file ? "the content of " : "the environment's ", file ? file : variable,
                       WR_TOKEN_DIGITS);
    *ret_given = given;
    return true;
}
