/* dev_help.h -- a device written as in a configuration. */
#ifndef TESTS_DEV_HELP_H
#define TESTS_DEV_HELP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "store/dev/dev_drive.h"

struct help_dev {
    struct dev_set set;
    struct conf *conf;
    struct dev dev;
};

/* "null", "{kind: table, seek: 1 ms}"; `ret` must stay in place. */
static inline bool help_dev_try(struct help_dev *ret, const char *yaml, uint64_t seed,
                                struct wr_err *err)
{
    char text[1024];
    int n = snprintf(text, sizeof text, "device: %s\n", yaml);

    *ret = (struct help_dev){0};
    if (!conf_load_text(&ret->conf, &ret->set, dev_set_rows, "test", text, (size_t)n, NULL, 0, err))
        return false;
    if (dev_open(&ret->dev, &ret->set.device, seed, 0, err))
        return true;
    conf_close(ret->conf);
    return false;
}

static inline void help_dev_open(struct help_dev *ret, const char *yaml, uint64_t seed)
{
    struct wr_err err;

    if (!help_dev_try(ret, yaml, seed, &err))
        fail_msg("%s: %s", yaml, err.text);
}

static inline void help_dev_close(struct help_dev *h)
{
    dev_close(&h->dev);
    conf_close(h->conf);
}

static inline uint64_t help_ask(struct help_dev *h, uint64_t t_ps, uint64_t offset_b,
                                uint64_t bytes, bool write)
{
    struct dev_req r = {.t_ps = t_ps, .offset_b = offset_b, .bytes = bytes, .write = write};

    return dev_submit(&h->dev, &r);
}

#endif
