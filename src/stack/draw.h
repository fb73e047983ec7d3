/* draw.h -- one operation through all layers, as text, as a picture, and for viewers of traces. */
#ifndef STACK_DRAW_H
#define STACK_DRAW_H

#include "stack/stack_trace.h"

/* The activities that belong to `root`, itself too: one flag for each. free() it. */
bool *stack_family(const struct stack_trace *t, uint32_t root);
/* The nth call (from 0) that begins with this machine; UINT32_MAX: there are not so many. */
uint32_t stack_find_call(const struct stack_trace *t, uint16_t machine, uint32_t nth);

/* The messages of a family in the order of time, as indices of `sent`; free() them. */
uint32_t *stack_messages_of(const struct stack_trace *t, const bool *of, size_t *ret_n);

struct stack_node_name {
    char s[24];
};
struct stack_node_name stack_node_name(const struct stack_trace *t, uint32_t node);

/* One line each; times are relative to `t0_ns`. */
void stack_draw_visit(const struct stack_trace *t, const struct stack_visit *v, uint64_t t0_ns,
                      FILE *out);
void stack_draw_sent(const struct stack_trace *t, const struct stack_sent *s, uint64_t t0_ns,
                     FILE *out);
/* Visits and messages in the order of time. */
void stack_draw_text(const struct stack_trace *t, const bool *of, FILE *out);
/* A sequence diagram: a line down for each node, an arrow for each message. */
void stack_draw_svg(const struct stack_trace *t, const bool *of, const char *title, FILE *out);
/* The trace event format that Perfetto and Chrome read. */
void stack_draw_perfetto(const struct stack_trace *t, const bool *of, FILE *out);

#endif
