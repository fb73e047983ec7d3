#include <signal.h>

#include <stdio.h>

#include "base/signals.h"
#include "cli/cli.h"

int main(int argc, char **argv)
{
    wr_crash_explain();
    /* A file that grew too long is a full disk: an error to report, not an end. */
    signal(SIGXFSZ, SIG_IGN);
    return cli_main(argc, argv, stdout, stderr);
}
