/* pattern_permutation_file.c -- a permutation read from a text file. */
#include <stddef.h>
#include <stdlib.h>

#include "permfile.h"
#include "synth_priv.h"

struct permutation_file_params {
    const char *file;
    bool many;
};

static const struct conf_row permutation_file_rows[] = {
    {"file", CONF_PATH, offsetof(struct permutation_file_params, file), NULL,
     .help = "Lines of a source and its destination; # begins a remark."},
    {"many", CONF_BOOL, offsetof(struct permutation_file_params, many), "false",
     .help = "May several sources share a destination."},
    CONF_END,
};

static bool permutation_file_init(struct synth_pattern *p, struct wr_err *err)
{
    const struct permutation_file_params *par = p->params;
    uint32_t *to;

    if (!synth_permfile_read(&to, par->file, p->nnodes, par->many, err))
        return false;
    p->priv = to;
    return true;
}

static void permutation_file_fini(struct synth_pattern *p)
{
    free(p->priv);
}

static uint32_t permutation_file_dest(const struct synth_pattern *p, uint32_t src,
                                      struct wr_rng *rng, uint64_t nth)
{
    const uint32_t *to = p->priv;

    (void)rng;
    (void)nth;
    return to[src];
}

const struct synth_pattern_ops synth_pattern_permutation_file = {
    .kind = {"permutation-file", "pairs of source and destination, read from a text file",
             permutation_file_rows, sizeof(struct permutation_file_params)},
    .init = permutation_file_init,
    .fini = permutation_file_fini,
    .dest = permutation_file_dest,
};
