/* ticket.c -- reads, writes and removes the file by which clients find a running server.
 *
 * See ticket.h for its content. It is written with mode 0600 through base/output.h; a ticket whose
 * server has exited is replaced without asking.
 */
#include "rpc/ticket.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/output.h"
#include "base/str.h"

/* ---- read ---- */

static bool ticket_take_text(char *into, size_t size, const json_t *j, const char *key,
                             const char *name, struct wr_err *err)
{
    const char *s = json_string_value(json_object_get(j, key));

    if (!s || strlen(s) >= size)
        return wr_fail(
            err, WR_INPUT,
            "%s: \"%s\" is missing or no text of less than %zu bytes; take the file that "
            "`weir roofline serve` wrote",
            name, key, size);
    memcpy(into, s, strlen(s) + 1);
    return true;
}

static bool ticket_take_size(uint64_t *into, const json_t *j, const char *key, const char *name,
                             struct wr_err *err)
{
    const json_t *v = json_object_get(j, key);

    if (!json_is_integer(v) || json_integer_value(v) < 0)
        return wr_fail(err, WR_INPUT,
                       "%s: \"%s\" is missing or no number of bytes; take the file that `weir "
                       "roofline serve` wrote",
                       name, key);
    *into = (uint64_t)json_integer_value(v);
    return true;
}

static bool ticket_take_token(struct wr_token *into, const json_t *j, const char *name,
                              struct wr_err *err)
{
    char digits[WR_TOKEN_TEXT + 1];

    if (!ticket_take_text(digits, sizeof digits, j, "token", name, err))
        return false;
    if (!wr_token_parse(into, digits))
        return wr_fail(err, WR_INPUT,
                       "%s: \"token\" has not 32 hexadecimal digits; take the file that `weir "
                       "roofline serve` wrote",
                       name);
    return true;
}

/* Absent in those of other programs; whose life it is, is then not known. */
static void ticket_take_process(struct rpc_process *into, const json_t *j)
{
    const char *s = json_string_value(json_object_get(j, "process"));

    if (!s || sscanf(s, "%" SCNx64 ".%" SCNd32, &into->node, &into->pid) != 2)
        *into = (struct rpc_process){.pid = 0};
}

bool rpc_ticket_parse(struct rpc_ticket *ret, const char *name, const char *text, size_t len,
                      struct wr_err *err)
{
    json_error_t where;
    json_t *j = json_loadb(text, len, JSON_REJECT_DUPLICATES, &where);
    struct rpc_ticket t;

    if (!j)
        return wr_fail(err, WR_INPUT,
                       "%s:%d:%d: %.100s; take the file that `weir roofline serve` wrote", name,
                       where.line, where.column, where.text);
    memset(&t, 0, sizeof t);
    bool ok = ticket_take_text(t.version, sizeof t.version, j, "weir", name, err) &&
              ticket_take_text(t.transport, sizeof t.transport, j, "transport", name, err) &&
              ticket_take_text(t.provider, sizeof t.provider, j, "provider", name, err) &&
              ticket_take_text(t.address, sizeof t.address, j, "address", name, err) &&
              ticket_take_token(&t.token, j, name, err) &&
              ticket_take_size(&t.bulk_b, j, "bulk", name, err) &&
              ticket_take_size(&t.storage_b, j, "storage", name, err);

    ticket_take_process(&t.process, j);
    json_decref(j);
    if (ok)
        *ret = t;
    return ok;
}

bool rpc_ticket_read(struct rpc_ticket *ret, const char *path, struct wr_err *err)
{
    char *text;
    size_t len;

    if (!wr_file_read(&text, &len, path, RPC_TICKET_MOST, err))
        return wr_wrap(err, "the server's ticket");
    bool ok = rpc_ticket_parse(ret, path, text, len, err);

    free(text);
    return ok;
}

/* ---- write ---- */

static const struct wr_format ticket_format = {
    .name = "a ticket", .begins = "{\n  \"weir\": ", .holds = "\"token\": ", .data = true};

/* Is what is there the ticket of a server that was killed? */
static bool ticket_is_stale(const char *path)
{
    struct rpc_process own = rpc_process_own();
    struct rpc_ticket t = {.process = {.pid = 0}};
    struct wr_err err;
    struct stat st;
    char *text;
    size_t len;

    if (stat(path, &st) || !S_ISREG(st.st_mode) ||
        !wr_file_peek(&text, &len, path, RPC_TICKET_MOST, &err))
        return false;
    bool ours = rpc_ticket_parse(&t, path, text, len, &err);

    free(text);
    return ours && rpc_process_exited(&t.process, &own);
}

static json_t *ticket_json(const struct rpc_ticket *t)
{
    char token[WR_TOKEN_TEXT], process[48];

    wr_token_text(&t->token, token);
    snprintf(process, sizeof process, "%" PRIx64 ".%" PRId32, t->process.node, t->process.pid);
    return json_pack("{ss, ss, ss, ss, ss, sI, sI, ss}", "weir", t->version, "transport",
                     t->transport, "provider", t->provider, "address", t->address, "token", token,
                     "bulk", (json_int_t)t->bulk_b, "storage", (json_int_t)t->storage_b, "process",
                     process);
}

bool rpc_ticket_write(const struct rpc_ticket *t, const char *path, bool force, struct wr_err *err)
{
    unsigned flags = WR_PRIVATE | (force || ticket_is_stale(path) ? WR_FORCE : 0);
    struct wr_output out;

    if (!wr_output_open(&out, path, &ticket_format, flags, err))
        return wr_wrap(err, "the server's ticket");
    json_t *j = ticket_json(t);

    json_dumpf(j, out.f, JSON_INDENT(2));
    fputc('\n', out.f);
    json_decref(j);
    return wr_output_commit(&out, err) || wr_wrap(err, "the server's ticket");
}

void rpc_ticket_remove(const struct rpc_ticket *t, const char *path)
{
    struct rpc_ticket there;
    struct wr_err ignored;

    if (rpc_ticket_read(&there, path, &ignored) && wr_token_same(&there.token, &t->token))
        unlink(path);
}
