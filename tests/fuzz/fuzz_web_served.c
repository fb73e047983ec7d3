/* Requests to a viewer that serves runs: reports, lists and pages of real files. First the target,
 * then, after a zero byte, the method. The site is opened once. */
#include <stdint.h>
#include <sys/stat.h>

#include "report/sections/sections.h"
#include "report/web/web.h"
#include "run_template.h"
#include "sqlite_heap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct fuzz_served {
    char dir[64], path[2][80];
    const char *operand;
    struct web_site site;
    bool open;
} served;

static void served_close(void)
{
    web_close(&served.site);
    for (int i = 0; i < 2; i++)
        unlink(served.path[i]);
    rmdir(served.dir);
}

/* Ids begin with the directory's name: "d/a.weir". */
static void served_open(void)
{
    static const struct wr_token token = {{1, 2}};
    struct wr_err err;

    fuzz_heap_use();
    template_path(served.dir, sizeof served.dir, "served");
    if (mkdir(served.dir, 0700))
        abort();
    for (int i = 0; i < 2; i++) {
        snprintf(served.path[i], sizeof served.path[i], "%s/%c.weir", served.dir, 'a' + i);
        if (!template_make(served.path[i]))
            abort();
    }
    served.operand = served.dir;
    struct web_config c = {.operands = &served.operand,
                           .n = 1,
                           .makers = report_sections,
                           .token = &token,
                           .loopback = true};
    if (!web_open(&served.site, &c, &err))
        abort();
    served.open = true;
    atexit(served_close);
}

/* "@" in a target stands for the directory, whose name differs from process to process. */
static char *target_of(const char *text)
{
    const char *name = strrchr(served.dir, '/');
    struct wr_str out = {0};

    for (; *text; text++)
        if (*text == '@')
            wr_str_add(&out, name ? name + 1 : served.dir);
        else
            wr_str_addn(&out, text, 1);
    return out.s ? out.s : strdup("");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wr_arena arena = {0};
    struct web_request q;
    struct web_answer a;

    if (!served.open)
        served_open();
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = '\0';
    size_t first = strlen(text);
    char *target = target_of(text);
    if (web_parse(&q, target, &arena)) {
        q.method = first < size && text[first + 1] ? text + first + 1 : "GET";
        q.authorization = "Bearer 00000000000000010000000000000002";
        q.host = "localhost";
        web_answer(&served.site, &q, &a);
        if (a.status == 200 && a.body.n && strchr(a.body.s, '\033'))
            abort();
        wr_str_fini(&a.body);
    }
    wr_arena_fini(&arena);
    free(target);
    free(text);
    return 0;
}
