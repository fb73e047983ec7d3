/* recording_priv.h -- a recording while it is read. */
#ifndef LOAD_PROFILE_RECORDING_PRIV_H
#define LOAD_PROFILE_RECORDING_PRIV_H

#include "recording.h"
#include "run/reader.h"

struct recording_row {
    uint32_t rank;
    uint64_t seq; /* of the rank, where t_ps is the same */
    struct recording_phase p;
};

struct recording_maker {
    const char *path;
    struct run_reader *run;
    uint32_t app, ranks;
    double start_ns; /* of the job, on the clock of its slices */
    WR_VEC(struct recording_row) rows;
    uint64_t *begin_ps, *end_ps; /* [ranks]: life, since the job's start */
    struct recording *to;
    struct wr_err *err;
    bool bad; /* err is set */
};

/* "file damaged" unless 0 <= v <= most. */
bool recording_number(struct recording_maker *m, double v, double most, uint64_t *ret);

bool recording_from_slices(struct recording_maker *m, struct wr_err *err);

#endif
