/* worker_commands.c -- the commands that a worker gets, as JSON: written and read by one table.
 *
 * Both sides are processes of the same version of weir. A field that is absent or no number is 0.
 */
#include "rpc/worker_commands.h"

#include <stdlib.h>
#include <string.h>

/* Numbers by name: a row for each field, for both ways. */
enum kind { AS_U32, AS_U64, AS_BOOL };

struct field {
    const char *name;
    enum kind kind;
    size_t offset;
};

#define FIELD(type, field_, kind_)                    \
    {                                                 \
#field_, kind_, offsetof(struct type, field_) \
    }

static const struct field open_fields[] = {
    FIELD(rpc_opts, spin_us, AS_U32),    FIELD(rpc_opts, oversubscribed, AS_BOOL),
    FIELD(rpc_opts, depth, AS_U32),      FIELD(rpc_opts, bulk_b, AS_U64),
    FIELD(rpc_opts, peers, AS_U32),      FIELD(rpc_opts, storage_b, AS_U64),
    FIELD(rpc_opts, direct, AS_BOOL),    FIELD(rpc_opts, hello_ms, AS_U32),
    FIELD(rpc_opts, nic.bucket, AS_U32), FIELD(rpc_opts, nic.policy, AS_U32),
    FIELD(rpc_opts, nic.pick, AS_BOOL),
};

static const struct field load_fields[] = {
    FIELD(rpc_load, size_b, AS_U64),    FIELD(rpc_load, depth, AS_U32),
    FIELD(rpc_load, think_ns, AS_U64),  FIELD(rpc_load, on_ns, AS_U64),
    FIELD(rpc_load, off_ns, AS_U64),    FIELD(rpc_load, start_ns, AS_U64),
    FIELD(rpc_load, warm_ns, AS_U64),   FIELD(rpc_load, measure_ns, AS_U64),
    FIELD(rpc_load, storage_b, AS_U64), FIELD(rpc_load, seed, AS_U64),
    FIELD(rpc_load, slice_ns, AS_U64),  FIELD(rpc_load, alone, AS_BOOL),
};
_Static_assert(sizeof(size_t) == sizeof(uint64_t), "sizes are 64 bits wide");

#define COUNT(a) (sizeof(a) / sizeof *(a))

static void commands_put_fields(json_t *j, const void *from, const struct field *f, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const void *at = (const char *)from + f[i].offset;
        uint64_t v = f[i].kind == AS_BOOL  ? *(const bool *)at
                     : f[i].kind == AS_U32 ? *(const uint32_t *)at
                                           : *(const uint64_t *)at;

        json_object_set_new(j, f[i].name, json_integer((json_int_t)v));
    }
}

/* What is absent, or no number, or below zero is 0. */
static void commands_take_fields(void *into, const json_t *j, const struct field *f, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        void *at = (char *)into + f[i].offset;
        json_int_t v = json_integer_value(json_object_get(j, f[i].name));

        v = v > 0 ? v : 0;
        if (f[i].kind == AS_BOOL)
            *(bool *)at = v > 0;
        else if (f[i].kind == AS_U32)
            *(uint32_t *)at = v < UINT32_MAX ? (uint32_t)v : UINT32_MAX;
        else
            *(uint64_t *)at = (uint64_t)v;
    }
}

static const char *commands_text(const json_t *j, const char *key)
{
    const char *s = json_string_value(json_object_get(j, key));

    return s && *s ? s : NULL;
}

static void commands_put_text(json_t *j, const char *key, const char *text)
{
    if (text && *text)
        json_object_set_new(j, key, json_string(text));
}

/* The place of a name in a list that ends with NULL; 0: it is not there. */
static uint32_t commands_index_of(const char *const *names, const char *name)
{
    for (uint32_t i = 0; name && names[i]; i++)
        if (!strcmp(names[i], name))
            return i;
    return 0;
}

json_t *rpc_open_json(const struct rpc_opts *o, const char *address)
{
    json_t *j = json_pack("{ss}", "do", "open");
    char token[WR_TOKEN_TEXT];

    wr_token_text(&o->token, token);
    commands_put_text(j, "transport", o->transport->name);
    commands_put_text(j, "provider", o->provider);
    commands_put_text(j, "bind", o->bind);
    commands_put_text(j, "nic", o->nic.name);
    commands_put_text(j, "nic_only", o->nic.only);
    commands_put_text(j, "storage", o->storage);
    commands_put_text(j, "token", token);
    commands_put_text(j, "wait", rpc_wait_names[o->wait]);
    commands_put_text(j, "address", address);
    commands_put_fields(j, o, open_fields, COUNT(open_fields));
    return j;
}

bool rpc_open_parse(struct rpc_opts *ret, const char **ret_address, const json_t *j,
                    struct wr_err *err)
{
    const char *transport = commands_text(j, "transport");
    struct rpc_opts o = {
        .transport = rpc_transport_find(transport ? transport : "", err),
        .provider = commands_text(j, "provider"),
        .bind = commands_text(j, "bind"),
        .nic = {.name = commands_text(j, "nic"), .only = commands_text(j, "nic_only")},
        .storage = commands_text(j, "storage"),
        .wait = (enum rpc_wait)commands_index_of(rpc_wait_names, commands_text(j, "wait")),
    };

    if (!o.transport)
        return false;
    if (!wr_token_parse(&o.token, commands_text(j, "token")))
        return wr_fail(err, WR_INPUT, "no token; use the same weir everywhere");
    commands_take_fields(&o, j, open_fields, COUNT(open_fields));
    *ret = o;
    *ret_address = commands_text(j, "address");
    return true;
}

json_t *rpc_load_json(const struct rpc_load *l)
{
    json_t *j = json_pack("{ss, ss, sf}", "do", "load", "op", rpc_op_names[l->op], "rate", l->rate);

    commands_put_fields(j, l, load_fields, COUNT(load_fields));
    return j;
}

void rpc_load_parse(struct rpc_load *ret, const json_t *j)
{
    *ret = (struct rpc_load){
        .op = (enum rpc_op)commands_index_of(rpc_op_names, commands_text(j, "op")),
        .rate = json_number_value(json_object_get(j, "rate"))};
    commands_take_fields(ret, j, load_fields, COUNT(load_fields));
}
