/* stack_open.h -- PVFS2's machines, read once for all tests of a program. */
#ifndef TESTS_STACK_OPEN_H
#define TESTS_STACK_OPEN_H

#include "stack/fs.h"

static struct stack_fs *fs;

static int open_fs(void **state)
{
    struct wr_err err = {0};

    (void)state;
    return stack_fs_open(&fs, "pvfs2", &err) ? 0 : -1;
}

static int close_fs(void **state)
{
    (void)state;
    stack_fs_close(fs);
    return 0;
}

#endif
