#include <stdio.h>

#include "base/signals.h"
#include "cli/cli.h"

int main(int argc, char **argv)
{
    wr_crash_explain();
    wr_xfsz_ignore();
    return cli_main(argc, argv, stdout, stderr);
}
