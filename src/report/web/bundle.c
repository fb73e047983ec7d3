/* bundle.c -- finds the viewer's script and style sheet among the files that the build embedded. */
#include "report/web/bundle.h"

#include <string.h>

/* The last row, in case that there is no other. */
static const struct {
    const char *name, *text;
} rows[] = {
#include "bundle.inc"
    {"", ""},
};

static const char *bundle_find(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(rows[i].name, name))
            return rows[i].text;
    return NULL;
}

const struct report_bundled *web_bundle(void)
{
    static struct report_bundled code; /* filled once, always with the same */

    code = (struct report_bundled){.js = bundle_find("weir_js"), .css = bundle_find("weir_css")};
    return code.js && code.css ? &code : NULL;
}
