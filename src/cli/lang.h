/* lang.h -- the verbs below `weir lang` that live in files of their own. */
#ifndef CLI_LANG_H
#define CLI_LANG_H

#include "base/output.h"
#include "cli/cli.h"
#include "load/ncptl/ncptl_tool.h"

extern const struct cli_verb cli_lang_goal, cli_lang_ior, cli_lang_compile, cli_lang_bench;

/* cmd_lang_compile.c: the program in a file, as C. */
extern const struct wr_format lang_c_format;
bool lang_compile(const char *path, const struct ncptl_target *how, struct wr_str *out,
                  struct wr_err *err);

#endif
