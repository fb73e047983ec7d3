/* mpi_data_priv.h -- the data of messages and collectives, handed over beside their simulation.
 *
 * Shared by all ranks of a job, whatever thread executes them. */
#ifndef LOAD_MPI_MPI_DATA_PRIV_H
#define LOAD_MPI_MPI_DATA_PRIV_H

#include <stddef.h>
#include <stdint.h>

struct mpi_data;

struct mpi_data *mpi_data_new(void);
void mpi_data_free(struct mpi_data *d);

struct mpi_message_key {
    uint32_t from, to;
    int64_t tag;
    uint64_t number; /* among those of the same three */
};

void mpi_data_post(struct mpi_data *d, struct mpi_message_key key, const void *data, size_t n);
/* How long it is; at most n bytes are copied, and it is gone. SIZE_MAX: it is not there. */
size_t mpi_data_take(struct mpi_data *d, struct mpi_message_key key, void *data, size_t n);

struct mpi_coll_key {
    uint64_t comm, number;
};

void mpi_data_put(struct mpi_data *d, struct mpi_coll_key key, uint32_t place, uint32_t members,
                  const void *data, size_t n);
/* Until this rank leaves. NULL: it is not there. */
const void *mpi_data_part(struct mpi_data *d, struct mpi_coll_key key, uint32_t place);
void mpi_data_leave(struct mpi_data *d, struct mpi_coll_key key);

#endif
