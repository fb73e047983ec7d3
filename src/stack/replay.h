/* replay.h -- the test of a log, simulated and written down as a log.
 *
 * A test of the log with its own servers, processes and command, or one transfer of its own file by
 * every process, as `ior -a MPIIO -b N -t N -F` does; that is test 1.
 * What comes out has the samples that stack_log.h takes from a real run, so medians are compared
 * with medians.
 */
#ifndef STACK_REPLAY_H
#define STACK_REPLAY_H

#include "stack/stack_log.h"
#include "stack/timing.h"

bool stack_replay(struct stack_log *ret, const struct stack_fs *fs,
                  const struct stack_timings *timings, uint32_t servers, uint32_t clients,
                  uint64_t bytes, struct wr_err *err);
bool stack_replay_log(struct stack_log *ret, const struct stack_log *log,
                      const struct stack_timings *timings, uint16_t test, struct wr_err *err);

#endif
