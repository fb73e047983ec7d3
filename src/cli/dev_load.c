/* dev_load.c -- opens a device by name for `weir dev` and `weir dev fit`.
 *
 * A name with a slash or a dot is a file; any other name is first a shipped device, then a model.
 * dev_shipped[] has the shipped devices (store/dev).
 */
#include "cli/dev_load.h"

#include <string.h>
#include <unistd.h>

#include "base/str.h"

static const struct conf_text *dev_load_find_shipped(const char *name)
{
    const struct conf_text *s = dev_shipped;

    while (s->name && strcmp(s->name, name) != 0)
        s++;
    return s->name ? s : NULL;
}

static bool dev_load_is_model(const char *name)
{
    size_t i = 0;

    while (dev_kinds[i] && strcmp(dev_kinds[i]->name, name) != 0)
        i++;
    return dev_kinds[i];
}

static bool dev_load_fail_name(const char *name, struct wr_err *err)
{
    struct wr_nearest near = {.want = name};

    for (size_t i = 0; dev_shipped[i].name; i++)
        wr_nearest_try(&near, dev_shipped[i].name);
    for (size_t i = 0; dev_kinds[i]; i++)
        wr_nearest_try(&near, dev_kinds[i]->name);
    if (near.best)
        return wr_fail(err, WR_UNKNOWN, "no device or file \"%s\"; did you mean %s?", name,
                       near.best);
    return wr_fail(err, WR_UNKNOWN,
                   "no device or file \"%s\"; `weir dev --help` names the devices that weir knows",
                   name);
}

bool dev_load_set(struct conf **ret, struct dev_set *into, const char *name,
                  const char *const *sets, size_t nsets, struct wr_err *err)
{
    const struct conf_text *s = dev_load_find_shipped(name);
    char text[64];

    if (s)
        return conf_load_text(ret, into, dev_set_rows, name, s->text, strlen(s->text), sets, nsets,
                              err);
    if (dev_load_is_model(name)) {
        int n = snprintf(text, sizeof text, "device: %s\n", name);

        return conf_load_text(ret, into, dev_set_rows, name, text, (size_t)n, sets, nsets, err);
    }
    if (!strpbrk(name, "./") && access(name, F_OK))
        return dev_load_fail_name(name, err);
    return conf_load(ret, into, dev_set_rows, name, sets, nsets, err);
}

void dev_load_names(FILE *out)
{
    for (size_t i = 0; dev_shipped[i].name; i++)
        fprintf(out, "%s\n", dev_shipped[i].name);
    for (size_t i = 0; dev_kinds[i]; i++)
        fprintf(out, "%s\n", dev_kinds[i]->name);
}
