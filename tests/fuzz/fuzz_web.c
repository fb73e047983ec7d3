/* Requests to the viewer: first the target, then, after a zero byte, headers and a body. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/web/web.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *next_text(const char **at, const char *end)
{
    const char *s = *at;
    size_t n = strnlen(s, (size_t)(end - s));

    *at = s + n < end ? s + n + 1 : end;
    return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct report_maker *const none[] = {NULL};
    static const char *const nothing[1];
    static const struct wr_token token = {{0x0123456789abcdef, 0x0123456789abcdef}};
    struct web_config c = {.operands = nothing, .makers = none, .token = &token, .allow_run = true};
    struct wr_arena arena = {0};
    struct web_request q;
    struct web_answer a;
    struct web_site site;
    struct wr_err err;
    char *text = malloc(size + 1);

    memcpy(text, data, size);
    text[size] = '\0';
    const char *at = text, *end = text + size, *target = next_text(&at, end);
    if (web_parse(&q, target, &arena) && web_open(&site, &c, &err)) {
        const char *method = next_text(&at, end);

        q.method = *method ? method : "GET";
        q.authorization = *method ? next_text(&at, end) : "Bearer 0123456789abcdef0123456789abcdef";
        q.host = next_text(&at, end);
        q.origin = next_text(&at, end);
        q.type = "application/json";
        q.body = at;
        q.len = (size_t)(end - at);
        web_answer(&site, &q, &a);
        wr_str_fini(&a.body);
        web_close(&site);
    }
    wr_arena_fini(&arena);
    free(text);
    return 0;
}
