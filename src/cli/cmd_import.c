/* cmd_import.c -- `weir import`: recordings of other tools as run files.
 *
 * A format is a verb below this one, in a file cmd_import_FORMAT.c and a line here.
 */
#include "cli/cmd_import.h"

static const struct cli_verb *const import_subs[] = {&cli_import_darshan, NULL};

const struct cli_verb cli_cmd_import = {
    .name = "import",
    .summary = "make run files of what other tools recorded of jobs",
    .about = "The run file is like one of `weir profile`: `weir show`, `weir report` and `weir "
             "interfere` read it, and `program: {kind: profile, file: job.weir}` simulates the job "
             "again. What the recording does not say and was assumed is printed on "
             "standard error "
             "and stored in the run file.\n"
             "\n"
             "Tables of slices are read by `weir interfere import`, tables of probes by `weir "
             "state import`.",
    .examples = "weir import darshan job.darshan -o job.weir\n",
    .subs = import_subs,
};
