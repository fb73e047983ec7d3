/* fs.c -- compiles a machine file: names become numbers, expressions become code.
 *
 * The order matters: variables, constants and parameters first, then the names of all machines and
 * states (fs_outline), so that a state may refer to a later one, then messages, operations and the
 * states themselves. fs_check.c finds what is wrong although every word is known. Read-only once
 * opened: engines, traces and logs share one struct stack_fs.
 */
#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "fs_priv.h"

static const struct stack_shipped shipped[] = {
#include "stack_fs.inc"
    {NULL, NULL},
};

const struct stack_shipped *stack_shipped_fs(void)
{
    return shipped;
}

static const char *const common_vars[] = {
#define X(id, name) #name,
    STACK_VARS_OF_ALL(X)
#undef X
};

static const struct {
    const char *name;
    uint32_t nargs;
} builtins[] = {
#define X(id, name, nargs) {#name, nargs},
    STACK_BUILTINS(X)
#undef X
};

/* A machine file that is being compiled into `fs`. */
struct builder {
    struct stack_fs *fs;
    struct conf *conf;       /* places of values, for errors */
    struct stack_file *file; /* the text, typed */
    WR_VEC(struct stack_name_of {
        const char *name;
        int64_t value;
    })
    constant;
    struct stack_names names;
};

static bool fs_is_word(const char *name, const char *word, size_t len)
{
    return !strncmp(name, word, len) && !name[len];
}

static bool fs_find_name(void *ctx, const char *word, size_t len, struct stack_name *ret)
{
    struct builder *b = ctx;

    for (size_t i = 0; i < b->fs->var.n; i++)
        if (fs_is_word(b->fs->var.v[i], word, len)) {
            *ret = (struct stack_name){.kind = STACK_IS_VAR, .number = (int64_t)i};
            return true;
        }
    for (size_t i = 0; i < b->constant.n; i++)
        if (fs_is_word(b->constant.v[i].name, word, len)) {
            *ret = (struct stack_name){.kind = STACK_IS_NUMBER, .number = b->constant.v[i].value};
            return true;
        }
    for (size_t i = 0; i < STACK_BUILTINS_ALL; i++)
        if (fs_is_word(builtins[i].name, word, len)) {
            *ret = (struct stack_name){
                .kind = STACK_IS_BUILTIN, .number = (int64_t)i, .nargs = builtins[i].nargs};
            return true;
        }
    return false;
}

/* The expression at `field`, a const char * of the file. */
static bool fs_compile_expr(struct builder *b, uint32_t *ret, const char *const *field, bool assign,
                            struct wr_err *err)
{
    struct wr_err inner = {0};

    if (stack_expr(ret, &b->fs->codes, &b->names, *field, assign, &inner))
        return true;
    return conf_fail(b->conf, field, err, "%s", inner.text);
}

static bool fs_is_given(const char *text)
{
    return text && *text;
}

static bool fs_compile_optional(struct builder *b, uint32_t *ret, bool *has,
                                const char *const *field, struct wr_err *err)
{
    *has = fs_is_given(*field);
    return !*has || fs_compile_expr(b, ret, field, false, err);
}

static bool fs_read_name(const char *text, char *ret, size_t size)
{
    size_t n = 0;

    while (n + 1 < size && (isalnum((unsigned char)text[n]) || text[n] == '_')) {
        ret[n] = text[n];
        n++;
    }
    ret[n] = 0;
    return n && !isdigit((unsigned char)*ret);
}

static bool fs_compile_codes(struct builder *b, struct wr_err *err)
{
    const char **text = b->file->codes.items;

    for (size_t i = 0; i < b->file->codes.n; i++) {
        char name[64], *end;
        const char *equals = strchr(text[i], '=');

        if (!fs_read_name(text[i], name, sizeof name) || !equals)
            return conf_fail(b->conf, &text[i], err,
                             "\"%s\" is no constant; write it as NAME = 190",
                             wr_text_clip(text[i]).s);
        long long v = strtoll(equals + 1, &end, 0);

        if (*end || end == equals + 1)
            return conf_fail(b->conf, &text[i], err, "\"%s\" is no number; write NAME = 190",
                             wr_text_clip(equals + 1).s);
        wr_vec_push(&b->constant, (struct stack_name_of){wr_arena_strdup(&b->fs->arena, name), v});
    }
    return true;
}

static void fs_add_constant(struct builder *b, const char *name, int64_t value)
{
    assert(name && *name);
    wr_vec_push(&b->constant, (struct stack_name_of){name, value});
}

static bool fs_check_unused(struct builder *b, const void *field, const char *name,
                            struct wr_err *err)
{
    struct stack_name known;
    char plain[64];

    if (!fs_read_name(name, plain, sizeof plain) || strcmp(plain, name))
        return conf_fail(b->conf, field, err, "\"%s\" is no name; use letters, digits and _",
                         wr_text_clip(name).s);
    return !fs_find_name(b, name, strlen(name), &known) ||
           conf_fail(b->conf, field, err, "there is a %s already; take another name", name);
}

/* Numbers with a source, and the names of cells and resources: constants, all of them. */
static bool fs_compile_constants(struct builder *b, struct wr_err *err)
{
    const struct stack_param_text *p = b->file->params.items;
    const struct stack_resource_text *r = b->file->resources.items;
    const char **cell = b->file->cells.items;
    struct wr_err inner = {0};

    for (size_t i = 0; i < b->file->params.n; i++) {
        uint64_t v;

        if (!fs_check_unused(b, &p[i], p[i].key.name, err))
            return false;
        if ((!wr_parse_u64(&v, p[i].value, &inner) && !wr_parse_bytes(&v, p[i].value, &inner)) ||
            v > INT64_MAX)
            return conf_fail(b->conf, &p[i].value, err,
                             "\"%s\" is no whole number; write 8 or 4 MiB",
                             wr_text_clip(p[i].value).s);
        wr_vec_push(&b->fs->param, (struct stack_param){p[i].key.name, p[i].value, p[i].source,
                                                        p[i].help, (int64_t)v});
        fs_add_constant(b, p[i].key.name, (int64_t)v);
    }
    for (size_t i = 0; i < b->file->cells.n; i++) {
        if (!fs_check_unused(b, &cell[i], cell[i], err))
            return false;
        fs_add_constant(b, cell[i], (int64_t)i);
    }
    for (size_t i = 0; i < b->file->resources.n; i++) {
        struct stack_resource to = {.name = r[i].key.name};

        if (!fs_check_unused(b, &r[i], r[i].key.name, err) ||
            !fs_compile_expr(b, &to.limit, &r[i].limit, false, err))
            return false;
        fs_add_constant(b, r[i].key.name, (int64_t)i);
        wr_vec_push(&b->fs->resource, to);
    }
    return true;
}

static bool fs_compile_variables(struct builder *b, struct wr_err *err)
{
    const char **text = b->file->vars.items;

    for (size_t i = 0; i < STACK_VARS_COMMON; i++)
        wr_vec_push(&b->fs->var, common_vars[i]);
    for (size_t i = 0; i < b->file->vars.n; i++) {
        char name[64];
        struct stack_name known;

        if (!fs_read_name(text[i], name, sizeof name) || strcmp(name, text[i]))
            return conf_fail(b->conf, &text[i], err,
                             "\"%s\" is no name of a variable; use letters, digits and _",
                             wr_text_clip(text[i]).s);
        if (fs_find_name(b, name, strlen(name), &known))
            return conf_fail(b->conf, &text[i], err, "there is a %s already; take another name",
                             name);
        if (b->fs->var.n == STACK_VARS)
            return conf_fail(b->conf, &text[i], err,
                             "more than %d variables; leave some out of vars",
                             STACK_VARS - STACK_VARS_COMMON);
        wr_vec_push(&b->fs->var, text[i]);
    }
    return true;
}

static uint16_t fs_layer_id(struct builder *b, const char *name)
{
    for (size_t i = 0; i < b->fs->layer.n; i++)
        if (!strcmp(b->fs->layer.v[i], name))
            return (uint16_t)i;
    wr_vec_push(&b->fs->layer, name);
    return (uint16_t)(b->fs->layer.n - 1);
}

/* Names come into pictures, traces and tables as they are. */
static bool fs_check_name(struct builder *b, const void *at, const char *what, const char *name,
                          struct wr_err *err)
{
    for (const char *c = name ? name : ""; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127 || strchr("<>&\"'\\,", *c))
            return conf_fail(b->conf, at, err,
                             "the %s \"%s\" has a character that cannot be drawn; use letters, "
                             "digits, spaces and _ - . : / ( )",
                             what, wr_text_clip(name).s);
    return true;
}

static bool fs_check_names(struct builder *b, const struct stack_machine_text *m,
                           struct wr_err *err)
{
    const struct stack_state_text *s = m->states.items;

    if (!fs_check_name(b, m, "machine", m->key.name, err) ||
        !fs_check_name(b, &m->layer, "layer", m->layer, err) ||
        !fs_check_name(b, &m->agent, "agent", m->agent, err) ||
        !fs_check_name(b, &m->function, "function", m->function, err))
        return false;
    for (size_t i = 0; i < m->states.n; i++)
        if (!fs_check_name(b, &s[i], "state", s[i].key.name, err) ||
            !fs_check_name(b, &s[i].function, "function", s[i].function, err))
            return false;
    return true;
}

/* All names first, so that a state may point forward. */
static bool fs_outline(struct builder *b, struct wr_err *err)
{
    const struct stack_machine_text *m = b->file->machines.items;
    const char **layers = b->file->layers.items;
    struct stack_fs *fs = b->fs;

    for (size_t i = 0; i < b->file->layers.n; i++) {
        if (!fs_check_name(b, &layers[i], "layer", layers[i], err))
            return false;
        fs_layer_id(b, layers[i]);
    }
    for (size_t i = 0; i < b->file->machines.n; i++, m++) {
        const struct stack_state_text *s = m->states.items;

        if (!fs_check_names(b, m, err))
            return false;
        if (fs->state.n + m->states.n > STACK_MOST)
            return conf_fail(b->conf, m, err, "more than %d states; use several file systems",
                             STACK_MOST);
        wr_vec_push(&fs->machine, (struct stack_machine){
                                      .name = m->key.name,
                                      .layer = m->layer,
                                      .agent = m->agent,
                                      .function = fs_is_given(m->function) ? m->function : NULL,
                                      .side = (uint8_t)m->side,
                                      .kind = (uint8_t)m->kind,
                                      .common = m->common || m->kind == STACK_LAYER,
                                      .first = (uint16_t)fs->state.n,
                                      .nstates = (uint16_t)m->states.n,
                                      .layer_id = fs_layer_id(b, m->layer),
                                  });
        for (size_t j = 0; j < m->states.n; j++) {
            wr_vec_push(&fs->state,
                        (struct stack_state){
                            .function = fs_is_given(s[j].function) ? s[j].function : NULL,
                            .does = (uint8_t)s[j].does,
                            .cls = (uint8_t)s[j].cls,
                            .machine = (uint16_t)i,
                            .target = STACK_NONE,
                            .below = STACK_NONE,
                            .message = STACK_NONE,
                            .instead = STACK_NONE,
                            .phase = (uint16_t)s[j].phase,
                            .resource = STACK_NONE,
                            .receives_data = s[j].data,
                            .pulls = s[j].pull,
                            .resends = s[j].failed,
                        });
            wr_vec_push(&fs->state_name, s[j].key.name);
        }
    }
    return true;
}

uint16_t stack_find_machine(const struct stack_fs *fs, const char *name)
{
    for (size_t i = 0; i < fs->machine.n; i++)
        if (!strcmp(fs->machine.v[i].name, name))
            return (uint16_t)i;
    return STACK_NONE;
}

uint16_t stack_find_function(const struct stack_fs *fs, const char *name)
{
    for (size_t i = 0; i < fs->machine.n; i++)
        if (!strcmp(fs->machine.v[i].function, name))
            return (uint16_t)i;
    return STACK_NONE;
}

uint16_t stack_find_state_function(const struct stack_fs *fs, const char *name)
{
    for (size_t i = 0; i < fs->state.n; i++)
        if (fs->state.v[i].function && !strcmp(fs->state.v[i].function, name))
            return (uint16_t)i;
    return STACK_NONE;
}

static bool fs_compile_machine_name(struct builder *b, uint16_t *ret, const char *const *field,
                                    const char *name, struct wr_err *err)
{
    struct wr_nearest near = {.want = name};

    *ret = stack_find_machine(b->fs, name);
    if (*ret != STACK_NONE)
        return true;
    for (size_t i = 0; i < b->fs->machine.n; i++)
        wr_nearest_try(&near, b->fs->machine.v[i].name);
    return conf_fail(b->conf, field, err, "there is no machine \"%s\"; %s%s%s",
                     wr_text_clip(name).s, near.best ? "did you mean " : "add it to machines",
                     near.best ? near.best : "", near.best ? "?" : "");
}

static bool fs_compile_messages(struct builder *b, struct wr_err *err)
{
    const struct stack_message_text *m = b->file->messages.items;

    for (size_t i = 0; i < b->file->messages.n; i++) {
        struct stack_message to = {.name = m[i].key.name};

        if (!fs_check_name(b, &m[i], "message", m[i].key.name, err) ||
            !fs_compile_machine_name(b, &to.serves, &m[i].serves, m[i].serves, err))
            return false;
        to.down = b->fs->machine.v[to.serves].side == STACK_CLIENT;
        if (!fs_compile_expr(b, &to.request, &m[i].request, false, err) ||
            !fs_compile_expr(b, &to.response, &m[i].response, false, err))
            return false;
        wr_vec_push(&b->fs->message, to);
    }
    b->fs->starts = STACK_NONE;
    if (fs_is_given(b->file->starts) &&
        !fs_compile_machine_name(b, &b->fs->starts, &b->file->starts, b->file->starts, err))
        return false;
    return fs_compile_machine_name(b, &b->fs->serves, &b->file->requests, b->file->requests, err);
}

static bool fs_compile_operations(struct builder *b, enum stack_api api, struct wr_err *err)
{
    assert(api < STACK_APIS);
    const struct stack_operation_text *o = b->file->operations[api].items;

    for (size_t i = 0; i < STACK_OPS; i++)
        b->fs->operation[api][i] = STACK_NONE;
    for (size_t i = 0; i < b->file->operations[api].n; i++) {
        struct wr_nearest near = {.want = o[i].key.name};
        size_t op = 0;

        while (op < STACK_OPS && strcmp(stack_operation_names[op], o[i].key.name))
            wr_nearest_try(&near, stack_operation_names[op++]);
        if (op == STACK_OPS)
            return conf_fail(b->conf, &o[i], err, "there is no operation \"%s\"; %s%s",
                             wr_text_clip(o[i].key.name).s,
                             near.best ? "did you mean " : "use open, create, write, read, ...",
                             near.best ? near.best : "");
        if (!fs_compile_machine_name(b, &b->fs->operation[api][op], &o[i].machine, o[i].machine,
                                     err))
            return false;
        b->fs->once[api][op] = o[i].once;
    }
    return true;
}

static bool fs_compile_steps(struct builder *b, uint32_t *ret, uint8_t *ret_n,
                             const struct conf_list *list, struct wr_err *err)
{
    const char *const *text = list->items;

    *ret = (uint32_t)b->fs->step.n;
    *ret_n = (uint8_t)list->n;
    if (list->n > 100)
        return conf_fail(b->conf, &text[100], err, "more than 100 steps; use two states");
    for (size_t i = 0; i < list->n; i++) {
        uint32_t at;

        if (!fs_compile_expr(b, &at, &text[i], true, err))
            return false;
        wr_vec_push(&b->fs->step, at);
    }
    return true;
}

/* "machine if expression" */
static bool fs_compile_forks(struct builder *b, struct stack_state *s, const struct conf_list *list,
                             struct wr_err *err)
{
    const char *const *text = list->items;

    s->fork = (uint32_t)b->fs->fork.n;
    s->nfork = (uint8_t)list->n;
    if (list->n > 16)
        return conf_fail(b->conf, &text[16], err,
                         "more than 16 children; use a machine of its own");
    for (size_t i = 0; i < list->n; i++) {
        const char *when = strstr(text[i], " if "), *always = "1";
        char *name = when ? wr_arena_strndup(&b->fs->arena, text[i], (size_t)(when - text[i]))
                          : wr_arena_strdup(&b->fs->arena, text[i]);
        struct stack_fork f;
        struct wr_err inner = {0};

        if (!fs_compile_machine_name(b, &f.machine, &text[i], name, err))
            return false;
        if (!stack_expr(&f.when, &b->fs->codes, &b->names, when ? when + 4 : always, false, &inner))
            return conf_fail(b->conf, &text[i], err, "%s", inner.text);
        wr_vec_push(&b->fs->fork, f);
    }
    return true;
}

static bool fs_find_next_state(struct builder *b, const struct stack_machine *m,
                               const char *const *field, const char *name, uint16_t *ret,
                               struct wr_err *err)
{
    struct wr_nearest near = {.want = name};

    *ret = !strcmp(name, "return")      ? STACK_RETURN
           : !strcmp(name, "terminate") ? STACK_TERMINATE
                                        : STACK_NONE;
    for (uint16_t i = 0; *ret == STACK_NONE && i < m->nstates; i++) {
        wr_nearest_try(&near, b->fs->state_name.v[m->first + i]);
        if (!strcmp(b->fs->state_name.v[m->first + i], name))
            *ret = (uint16_t)(m->first + i);
    }
    if (*ret != STACK_NONE)
        return true;
    return conf_fail(b->conf, field, err, "%s has no state \"%s\"; %s%s%s", m->name,
                     wr_text_clip(name).s, near.best ? "did you mean " : "add it to its states",
                     near.best ? near.best : "", near.best ? "?" : "");
}

/* A code: a number, or its name. */
static bool fs_compile_code(struct builder *b, int64_t *ret, const void *field, const char *code,
                            struct wr_err *err)
{
    int64_t none[STACK_VARS] = {0};
    struct wr_err inner = {0};
    uint32_t at;

    if (!stack_expr(&at, &b->fs->codes, &b->names, code, false, &inner))
        return conf_fail(b->conf, field, err, "%s", inner.text);
    if (b->fs->codes.code.v[at].op != STACK_PUSH || b->fs->codes.code.v[at + 1].op != STACK_END)
        if (code[0] != '-')
            return conf_fail(b->conf, field, err, "\"%s\" is no constant; name it under codes",
                             wr_text_clip(code).s);
    *ret = stack_eval(&b->fs->codes, at, none, NULL, NULL);
    return true;
}

static bool fs_compile_data_code(struct builder *b, const struct stack_state_text *t,
                                 struct stack_state *s, struct wr_err *err)
{
    s->has_data_code = fs_is_given(t->data_code);
    if (!s->has_data_code)
        return true;
    if (s->does != STACK_WAIT)
        return conf_fail(b->conf, &t->data_code, err,
                         "data_code is for states that wait; leave it out, or add \"does: wait\"");
    return fs_compile_code(b, &s->data_code, &t->data_code, t->data_code, err);
}

/* "code -> state" */
static bool fs_compile_transition(struct builder *b, const struct stack_machine *m,
                                  const char *const *field, struct wr_err *err)
{
    const char *arrow = strstr(*field, "->"), *to;
    struct stack_next n = {0};
    char code[128];

    if (!arrow || (size_t)(arrow - *field) >= sizeof code)
        return conf_fail(b->conf, field, err,
                         "\"%s\" is no transition; write it as \"code -> state\"",
                         wr_text_clip(*field).s);
    for (to = arrow + 2; *to == ' ';)
        to++;
    memcpy(code, *field, (size_t)(arrow - *field));
    code[arrow - *field] = 0;
    for (size_t i = strlen(code); i && code[i - 1] == ' ';)
        code[--i] = 0;
    n.any = !strcmp(code, "default");
    if (!n.any && strcmp(code, "success") && !fs_compile_code(b, &n.code, field, code, err))
        return false;
    if (!fs_find_next_state(b, m, field, to, &n.to, err))
        return false;
    wr_vec_push(&b->fs->next, n);
    return true;
}

static bool fs_find_message(struct builder *b, uint16_t *ret, const char *const *field,
                            const char *name, struct wr_err *err)
{
    struct wr_nearest near = {.want = name};

    for (size_t i = 0; i < b->fs->message.n; i++) {
        wr_nearest_try(&near, b->fs->message.v[i].name);
        if (!strcmp(b->fs->message.v[i].name, name)) {
            *ret = (uint16_t)i;
            return true;
        }
    }
    return conf_fail(b->conf, field, err, "there is no message \"%s\"; %s%s%s",
                     wr_text_clip(name).s, near.best ? "did you mean " : "add it to messages",
                     near.best ? near.best : "", near.best ? "?" : "");
}

/* "message if expression" */
static bool fs_compile_instead(struct builder *b, const struct stack_state_text *t,
                               struct stack_state *s, struct wr_err *err)
{
    struct wr_err inner = {0};

    if (!fs_is_given(t->instead))
        return true;
    const char *when = strstr(t->instead, " if ");

    if (!when || s->message == STACK_NONE)
        return conf_fail(b->conf, &t->instead, err,
                         "write \"MESSAGE if expression\", beside a message");
    if (!fs_find_message(b, &s->instead, &t->instead,
                         wr_arena_strndup(&b->fs->arena, t->instead, (size_t)(when - t->instead)),
                         err))
        return false;
    if (b->fs->message.v[s->instead].down != b->fs->message.v[s->message].down)
        return conf_fail(b->conf, &t->instead, err,
                         "one of the two goes to a client, the other to a server; take one that "
                         "goes where %s goes",
                         b->fs->message.v[s->message].name);
    if (!stack_expr(&s->swap, &b->fs->codes, &b->names, when + 4, false, &inner))
        return conf_fail(b->conf, &t->instead, err, "%s", inner.text);
    return true;
}

static bool fs_compile_message(struct builder *b, const struct stack_state_text *t,
                               struct stack_state *s, struct wr_err *err)
{
    if (!fs_is_given(t->message))
        return fs_compile_instead(b, t, s, err);
    return fs_find_message(b, &s->message, &t->message, t->message, err) &&
           fs_compile_instead(b, t, s, err) &&
           fs_compile_expr(b, &s->count, &t->count, false, err) &&
           fs_compile_expr(b, &s->to, &t->to, false, err);
}

static bool fs_compile_resource(struct builder *b, const struct stack_state_text *t,
                                struct stack_state *s, struct wr_err *err)
{
    struct wr_nearest near = {.want = t->resource};

    if (s->does != STACK_TAKE)
        return true;
    for (size_t i = 0; i < b->fs->resource.n; i++) {
        wr_nearest_try(&near, b->fs->resource.v[i].name);
        if (!strcmp(b->fs->resource.v[i].name, t->resource))
            s->resource = (uint16_t)i;
    }
    if (s->resource == STACK_NONE)
        return conf_fail(b->conf, &t->resource, err, "there is no resource \"%s\"; %s%s%s",
                         wr_text_clip(t->resource).s,
                         near.best ? "did you mean " : "add it to resources",
                         near.best ? near.best : "", near.best ? "?" : "");
    return fs_compile_expr(b, &s->key, &t->of, false, err) &&
           fs_compile_expr(b, &s->amount, &t->amount, false, err);
}

static bool fs_compile_below(struct builder *b, const struct stack_state_text *t,
                             struct stack_state *s, struct wr_err *err)
{
    if (!fs_is_given(t->below))
        return true;
    if (!fs_compile_machine_name(b, &s->below, &t->below, t->below, err))
        return false;
    if (b->fs->machine.v[s->below].kind != STACK_LAYER)
        return conf_fail(b->conf, &t->below, err, "%s is no layer; say kind: layer in it",
                         b->fs->machine.v[s->below].name);
    return true;
}

static bool fs_compile_state(struct builder *b, uint16_t at, struct wr_err *err)
{
    assert(at < b->fs->state.n);
    struct stack_fs *fs = b->fs;
    const struct stack_state_text *t = stack_text_of(fs, at);
    struct stack_state *s = &fs->state.v[at];
    const char *const *next = t->next.items;

    if (s->does == STACK_JUMP_TO &&
        !fs_compile_machine_name(b, &s->target, &t->machine, t->machine, err))
        return false;
    if (!fs_compile_data_code(b, t, s, err) || !fs_compile_below(b, t, s, err) ||
        !fs_compile_message(b, t, s, err) || !fs_compile_resource(b, t, s, err) ||
        !fs_compile_forks(b, s, &t->fork, err) ||
        !fs_compile_steps(b, &s->set, &s->nset, &t->set, err) ||
        !fs_compile_steps(b, &s->pass, &s->npass, &t->pass, err) ||
        !fs_compile_optional(b, &s->code, &s->has_code, &t->code, err) ||
        !fs_compile_optional(b, &s->then, &s->has_then, &t->then, err) ||
        !fs_compile_optional(b, &s->when, &s->has_when, &t->when, err) ||
        !fs_compile_optional(b, &s->tag, &s->has_tag, &t->tag, err) ||
        !fs_compile_optional(b, &s->bytes, &s->has_bytes, &t->bytes, err))
        return false;
    s->next = (uint32_t)fs->next.n;
    s->nnext = (uint8_t)t->next.n;
    if (t->next.n > 100)
        return conf_fail(b->conf, &next[100], err, "more than 100 transitions; use two states");
    for (size_t i = 0; i < t->next.n; i++)
        if (!fs_compile_transition(b, &fs->machine.v[s->machine], &next[i], err))
            return false;
    return true;
}

static bool fs_compile_place(struct builder *b, struct wr_err *err)
{
    struct stack_fs *fs = b->fs;
    const struct stack_file *f = b->file;

    fs->placed = fs_is_given(f->place.meta);
    if (fs->placed != fs_is_given(f->place.data))
        return conf_fail(b->conf, &f->place, err, "place needs both meta and data; give the other");
    return !fs->placed || (fs_compile_expr(b, &fs->place_meta, &f->place.meta, false, err) &&
                           fs_compile_expr(b, &fs->place_data, &f->place.data, false, err));
}

/* A machine without a function has the name of the message that it serves, or its own. */
static void fs_name_functions(struct stack_fs *fs)
{
    for (size_t i = 0; i < fs->message.n; i++) {
        struct stack_machine *m = &fs->machine.v[fs->message.v[i].serves];

        if (!m->function)
            m->function = wr_arena_printf(&fs->arena, "serve_%s", fs->message.v[i].name);
    }
    for (size_t i = 0; i < fs->machine.n; i++)
        if (!fs->machine.v[i].function)
            fs->machine.v[i].function = fs->machine.v[i].name;
    for (size_t i = 0; i < fs->machine.n; i++)
        fs->machine.v[i].function_id = stack_find_function(fs, fs->machine.v[i].function);
}

static bool fs_compile(struct builder *b, struct wr_err *err)
{
    struct stack_fs *fs = b->fs;

    b->names = (struct stack_names){fs_find_name, b};
    fs->title = b->file->title;
    fs->strip_b = b->file->strip_b;
    fs->eager_b = b->file->eager_b;
    fs->buffer_b = b->file->buffer_b;
    fs->buffers = b->file->buffers;
    fs->header_b = b->file->header_b;
    fs->acache_ns = (uint64_t)(b->file->acache_ps * 1e-3);
    fs->acache_size_ns = (uint64_t)(b->file->acache_size_ps * 1e-3);
    fs->capcache_ns = (uint64_t)(b->file->capcache_ps * 1e-3);
    fs->ncache_ns = (uint64_t)(b->file->ncache_ps * 1e-3);
    fs->stuffs = b->file->stuffs;
    fs->connects = b->file->connects;
    fs->apart = b->file->roles == 1;
    fs->stripes = b->file->stripes;
    fs->cache_b = b->file->cache_b;
    if (!fs_compile_variables(b, err) || !fs_compile_codes(b, err) ||
        !fs_compile_constants(b, err) || !fs_compile_place(b, err) || !fs_outline(b, err) ||
        !fs_compile_messages(b, err) || !fs_compile_operations(b, STACK_MPIIO, err) ||
        !fs_compile_operations(b, STACK_POSIX, err))
        return false;
    for (size_t i = 0; i < fs->state.n; i++) {
        if (!fs_compile_state(b, (uint16_t)i, err))
            return false;
        fs->machine.v[fs->state.v[i].machine].moves |= fs->state.v[i].cls == STACK_DATA;
    }
    fs_name_functions(fs);
    return true;
}

struct first {
    char text[1024];
};

static void fs_keep_first(void *ctx, const char *text)
{
    struct first *f = ctx;

    if (!*f->text)
        snprintf(f->text, sizeof f->text, "%s", text);
}

static bool fs_finish(struct stack_fs *fs, struct wr_err *err)
{
    struct builder b = {.fs = fs, .conf = fs->conf, .file = fs->file};
    bool ok = fs_compile(&b, err);

    wr_vec_fini(&b.constant);
    return ok;
}

static bool fs_read_with(struct stack_fs **ret, const char *name, const char *text, size_t len,
                         const char *const *sets, size_t nsets, struct wr_err *err)
{
    assert(name && (text || !len));
    struct stack_fs *fs = wr_zalloc(1, sizeof *fs);

    fs->file = wr_zalloc(1, sizeof *fs->file);
    fs->name = wr_arena_strdup(&fs->arena, name);
    bool ok = text ? conf_load_text(&fs->conf, fs->file, stack_file_rows, name, text, len, sets,
                                    nsets, err)
                   : conf_load(&fs->conf, fs->file, stack_file_rows, name, sets, nsets, err);

    if (!ok || !fs_finish(fs, err)) {
        stack_fs_close(fs);
        return false;
    }
    *ret = fs;
    return true;
}

bool stack_fs_read(struct stack_fs **ret, const char *name, const char *text, size_t len,
                   struct wr_err *err)
{
    return fs_read_with(ret, name, text, len, NULL, 0, err);
}

static bool fs_checked(struct stack_fs **ret, struct stack_fs *fs, struct wr_err *err)
{
    struct first first = {{0}};

    if (stack_fs_check(fs, fs_keep_first, &first)) {
        wr_fail(err, WR_INPUT, "%s", first.text);
        stack_fs_close(fs);
        return false;
    }
    *ret = fs;
    return true;
}

bool stack_fs_open_text(struct stack_fs **ret, const char *name, const char *text, size_t len,
                        struct wr_err *err)
{
    struct stack_fs *fs;

    return stack_fs_read(&fs, name, text, len, err) && fs_checked(ret, fs, err);
}

bool stack_fs_open_with(struct stack_fs **ret, const char *name, const char *const *sets,
                        size_t nsets, struct wr_err *err)
{
    struct wr_nearest near = {.want = name};
    struct stack_fs *fs;

    for (const struct stack_shipped *s = shipped; s->name; s++) {
        wr_nearest_try(&near, s->name);
        if (!strcmp(s->name, name))
            return fs_read_with(&fs, name, s->text, strlen(s->text), sets, nsets, err) &&
                   fs_checked(ret, fs, err);
    }
    if (!strchr(name, '/') && !strchr(name, '.'))
        return wr_fail(err, WR_UNKNOWN, "no file system \"%s\"; %s%s%s", wr_text_clip(name).s,
                       near.best ? "did you mean " : "`weir stack list` shows them",
                       near.best ? near.best : "", near.best ? "?" : "");
    return fs_read_with(&fs, name, NULL, 0, sets, nsets, err) && fs_checked(ret, fs, err);
}

bool stack_fs_open(struct stack_fs **ret, const char *name, struct wr_err *err)
{
    return stack_fs_open_with(ret, name, NULL, 0, err);
}

void stack_fs_close(struct stack_fs *fs)
{
    if (!fs)
        return;
    if (fs->conf)
        conf_close(fs->conf);
    free(fs->file);
    stack_codes_fini(&fs->codes);
    wr_vec_fini(&fs->machine);
    wr_vec_fini(&fs->state);
    wr_vec_fini(&fs->state_name);
    wr_vec_fini(&fs->next);
    wr_vec_fini(&fs->step);
    wr_vec_fini(&fs->fork);
    wr_vec_fini(&fs->message);
    wr_vec_fini(&fs->param);
    wr_vec_fini(&fs->resource);
    wr_vec_fini(&fs->layer);
    wr_vec_fini(&fs->var);
    wr_arena_fini(&fs->arena);
    free(fs);
}

const struct stack_state_text *stack_text_of(const struct stack_fs *fs, uint16_t s)
{
    assert(s < fs->state.n);
    uint16_t m = fs->state.v[s].machine;
    const struct stack_machine_text *t = fs->file->machines.items;

    return (const struct stack_state_text *)t[m].states.items + (s - fs->machine.v[m].first);
}

struct stack_text stack_state_text(const struct stack_fs *fs, uint16_t state)
{
    assert(state < fs->state.n);
    struct stack_text t;

    snprintf(t.s, sizeof t.s, "%s:%s", fs->machine.v[fs->state.v[state].machine].name,
             fs->state_name.v[state]);
    return t;
}

uint16_t stack_find_state(const struct stack_fs *fs, const char *name, size_t len)
{
    assert(name);
    const char *colon = memchr(name, ':', len);

    if (!colon)
        return STACK_NONE;
    for (size_t m = 0; m < fs->machine.n; m++) {
        const struct stack_machine *k = &fs->machine.v[m];

        if (!fs_is_word(k->name, name, (size_t)(colon - name)))
            continue;
        for (uint16_t i = 0; i < k->nstates; i++)
            if (fs_is_word(fs->state_name.v[k->first + i], colon + 1,
                           len - 1 - (size_t)(colon - name)))
                return (uint16_t)(k->first + i);
    }
    return STACK_NONE;
}

struct stack_text stack_like_state(const struct stack_fs *fs, const char *name)
{
    struct stack_text *all = wr_zalloc(fs->state.n + 1, sizeof *all), best = {""};
    struct wr_nearest near = {.want = name};

    for (size_t i = 0; i < fs->state.n; i++) {
        all[i] = stack_state_text(fs, (uint16_t)i);
        wr_nearest_try(&near, all[i].s);
    }
    if (near.best)
        snprintf(best.s, sizeof best.s, "%s", near.best);
    free(all);
    return best;
}
