/* ink.c -- gives series their colours (base/palette.h) and writes coloured text for terminals. */
#include "report/ink.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void ink_of_series(const struct report_chart *c, uint32_t *ret_colour)
{
    const char **name = wr_zalloc(c->nseries + 1, sizeof *name);
    size_t *id = wr_zalloc(c->nseries + 1, sizeof *id), n = 0;
    uint32_t *colour = wr_zalloc(c->nseries + 1, sizeof *colour);

    for (size_t i = 0; i < c->nseries; i++) {
        size_t k = 0;

        while (k < n && strcmp(name[k], c->series[i].name) != 0)
            k++;
        id[i] = k;
        if (k == n && !c->series[i].guide)
            name[n++] = c->series[i].name;
    }
    palette_of_names(name, n, colour);
    for (size_t i = 0; i < c->nseries; i++)
        ret_colour[i] = id[i] < n ? colour[id[i]] : 0;
    free(name);
    free(id);
    free(colour);
}

void ink_put(struct wr_str *out, const struct report_text_style *style, uint32_t colour,
             const char *text)
{
    if (style->colour && *text)
        wr_str_addf(out, "\033[%sm%s\033[0m", palette_colours[colour % PALETTE_COLOURS].terminal,
                    text);
    else
        wr_str_add(out, text);
}

unsigned ink_columns(const char *text)
{
    unsigned n = 0;

    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80; /* others continue a character */
    return n;
}
