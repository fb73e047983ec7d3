/* fs_priv.h -- the machine file as it is written, before it becomes numbers. */
#ifndef STACK_FS_PRIV_H
#define STACK_FS_PRIV_H

#include "base/units.h"
#include "stack/fs.h"

struct stack_state_text {
    struct conf_key key;
    uint32_t does, cls, phase;
    const char *resource, *of, *amount;
    const char *machine, *message, *instead, *count, *to, *code, *then, *when, *tag, *bytes, *below,
        *function, *data_code;
    struct conf_list next, set, pass, fork; /* of const char * */
    bool data, pull, failed;
};

struct stack_machine_text {
    struct conf_key key;
    const char *layer, *agent, *function;
    uint32_t side, kind;
    bool common;
    struct conf_list states; /* of struct stack_state_text */
};

struct stack_message_text {
    struct conf_key key;
    const char *serves, *request, *response;
};

struct stack_operation_text {
    struct conf_key key;
    const char *machine;
    bool once;
};

struct stack_param_text {
    struct conf_key key;
    const char *value, *source, *help;
};

struct stack_resource_text {
    struct conf_key key;
    const char *limit;
};

struct stack_file {
    const char *title, *requests, *starts;
    struct conf_list codes, vars, layers; /* of const char * */
    struct conf_list cells;               /* of const char * */
    struct conf_list params, resources;
    struct conf_list messages, machines;
    struct conf_list operations[STACK_APIS];
    struct {
        const char *meta, *data;
    } place;
    uint32_t roles, stripes;
    uint64_t cache_b;
    bool connects;
    uint64_t strip_b, eager_b, buffer_b, header_b;
    double acache_ps, acache_size_ps, capcache_ps, ncache_ps;
    bool stuffs;
};

extern const struct conf_row stack_file_rows[];

/* The text of state number `s`, for complaints. */
const struct stack_state_text *stack_text_of(const struct stack_fs *fs, uint16_t s);

#endif
