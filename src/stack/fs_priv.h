/* fs_priv.h -- the machine file as it is written, before fs.c compiles it.
 *
 * fs_rows.c has a row for each field. All strings belong to the struct conf of the file system.
 */
#ifndef STACK_FS_PRIV_H
#define STACK_FS_PRIV_H

#include "base/units.h"
#include "stack/fs.h"

/* Each struct is one kind of mapping of the file, its fields are the keys (fs_rows.c); NULL and 0:
 * not given. Constant after reading. */
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

/* The whole file. */
struct stack_file {
    const char *title, *requests, *starts;   /* the last two: machines */
    struct conf_list codes, vars, layers;    /* of const char * */
    struct conf_list cells;                  /* of const char * */
    struct conf_list params, resources;      /* of struct stack_param_text, stack_resource_text */
    struct conf_list messages, machines;     /* of struct stack_message_text, stack_machine_text */
    struct conf_list operations[STACK_APIS]; /* of struct stack_operation_text */
    struct {
        const char *meta, *data;
    } place; /* expressions: the server of metadata, of a data file */
    uint32_t roles, stripes;
    uint64_t cache_b;
    bool connects;
    uint64_t strip_b, eager_b, buffer_b, header_b;
    uint32_t buffers;
    double acache_ps, acache_size_ps, capcache_ps, ncache_ps;
    bool stuffs;
};

extern const struct conf_row stack_file_rows[];

/* The text of state number `s`, for complaints. */
const struct stack_state_text *stack_text_of(const struct stack_fs *fs, uint16_t s);

#endif
