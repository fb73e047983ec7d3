/* main.c -- the program weir: main() alone, so that tests can call cli_main() themselves. */
#include <stdio.h>

#include "base/signals.h"
#include "cli/cli.h"

int main(int argc, char **argv)
{
    wr_crash_explain();
    wr_xfsz_ignore();
    return cli_main(argc, argv, stdout, stderr);
}
