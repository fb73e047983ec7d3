/* mpi.h -- the part of MPI that weir simulates; functions that are not declared are not supported.
 */
#ifndef WEIR_MPI_H
#define WEIR_MPI_H

#include <stddef.h>
#include <stdint.h>

#define MPI_VERSION 3
#define MPI_SUBVERSION 1

typedef struct weir_comm *MPI_Comm;
typedef struct weir_request *MPI_Request;
typedef struct weir_group *MPI_Group;
typedef ptrdiff_t MPI_Aint;
typedef struct weir_file *MPI_File;
typedef struct weir_info *MPI_Info;
typedef int64_t MPI_Offset;
typedef int MPI_Datatype;
typedef int MPI_Op;

typedef struct {
    int MPI_SOURCE, MPI_TAG, MPI_ERROR;
    size_t weir_bytes;
} MPI_Status;

enum { MPI_SUCCESS, MPI_ERR_TRUNCATE = 15, MPI_ERR_OTHER = 16, MPI_ERR_IO = 32 };
enum { MPI_MAX_ERROR_STRING = 256 };
enum { MPI_PROC_NULL = -2, MPI_UNDEFINED = -32766, MPI_MAX_PROCESSOR_NAME = 64 };

#define MPI_STATUS_IGNORE ((MPI_Status *)0)
#define MPI_STATUSES_IGNORE ((MPI_Status *)0)
#define MPI_REQUEST_NULL ((MPI_Request)0)
#define MPI_COMM_NULL ((MPI_Comm)0)
#define MPI_INFO_NULL ((MPI_Info)0)
#define MPI_FILE_NULL ((MPI_File)0)
#define MPI_IN_PLACE ((void *)-1)

extern struct weir_comm weir_world, weir_self;
#define MPI_COMM_WORLD (&weir_world)
#define MPI_COMM_SELF (&weir_self)

enum {
    MPI_BYTE,
    MPI_CHAR,
    MPI_SIGNED_CHAR,
    MPI_UNSIGNED_CHAR,
    MPI_SHORT,
    MPI_UNSIGNED_SHORT,
    MPI_INT,
    MPI_UNSIGNED,
    MPI_LONG,
    MPI_UNSIGNED_LONG,
    MPI_LONG_LONG,
    MPI_UNSIGNED_LONG_LONG,
    MPI_INT32_T,
    MPI_UINT32_T,
    MPI_INT64_T,
    MPI_UINT64_T,
    MPI_FLOAT,
    MPI_DOUBLE,
    WEIR_DATATYPES, /* those of the program come after */
    MPI_DATATYPE_NULL = -1,
};
#define MPI_LONG_LONG_INT MPI_LONG_LONG

enum { MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN, MPI_LAND, MPI_LOR, MPI_BAND, MPI_BOR };

int MPI_Init(int *argc, char ***argv);
int MPI_Initialized(int *flag);
int MPI_Finalize(void);
int MPI_Finalized(int *flag);
int MPI_Abort(MPI_Comm comm, int status);
double MPI_Wtime(void);
double MPI_Wtick(void);
int MPI_Get_processor_name(char *name, int *n);

int MPI_Comm_rank(MPI_Comm comm, int *rank);
int MPI_Comm_size(MPI_Comm comm, int *size);
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *ret);
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *ret);
int MPI_Comm_free(MPI_Comm *comm);

/* MPI_TAG_UB is the only one. */
enum { MPI_TAG_UB };
int MPI_Comm_get_attr(MPI_Comm comm, int which, void *ret, int *flag);

int MPI_Comm_group(MPI_Comm comm, MPI_Group *ret);
int MPI_Group_incl(MPI_Group group, int n, const int *places, MPI_Group *ret);
int MPI_Group_free(MPI_Group *group);
int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *ret);

/* Only types without gaps. */
int MPI_Type_contiguous(int n, MPI_Datatype old, MPI_Datatype *ret);
int MPI_Type_create_struct(int n, const int *lengths, const MPI_Aint *at, const MPI_Datatype *types,
                           MPI_Datatype *ret);
int MPI_Type_commit(MPI_Datatype *type);
int MPI_Type_free(MPI_Datatype *type);
int MPI_Type_size(MPI_Datatype type, int *size);
int MPI_Get_count(const MPI_Status *status, MPI_Datatype type, int *count);

int MPI_Send(const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm);
int MPI_Recv(void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status *status);
int MPI_Isend(const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *ret);
int MPI_Irecv(void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request *ret);
int MPI_Sendrecv(const void *sent, int nsent, MPI_Datatype sent_type, int to, int sent_tag,
                 void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                 MPI_Status *status);
int MPI_Wait(MPI_Request *request, MPI_Status *status);
int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status);
int MPI_Waitall(int n, MPI_Request *requests, MPI_Status *statuses);
int MPI_Waitany(int n, MPI_Request *requests, int *which, MPI_Status *status);

int MPI_Barrier(MPI_Comm comm);
int MPI_Bcast(void *data, int n, MPI_Datatype type, int root, MPI_Comm comm);
int MPI_Ibcast(void *data, int n, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *ret);
int MPI_Reduce(const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm);
int MPI_Allreduce(const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int MPI_Scan(const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int MPI_Gather(const void *from, int nfrom, MPI_Datatype tfrom, void *to, int nto, MPI_Datatype tto,
               int root, MPI_Comm comm);
int MPI_Scatter(const void *from, int nfrom, MPI_Datatype tfrom, void *to, int nto,
                MPI_Datatype tto, int root, MPI_Comm comm);
int MPI_Allgather(const void *from, int nfrom, MPI_Datatype tfrom, void *to, int nto,
                  MPI_Datatype tto, MPI_Comm comm);
int MPI_Alltoall(const void *from, int nfrom, MPI_Datatype tfrom, void *to, int nto,
                 MPI_Datatype tto, MPI_Comm comm);

/* Files: the data goes to real files, the time is the simulated storage's. */
enum {
    MPI_MODE_RDONLY = 2,
    MPI_MODE_RDWR = 8,
    MPI_MODE_WRONLY = 4,
    MPI_MODE_CREATE = 1,
    MPI_MODE_EXCL = 64,
    MPI_MODE_DELETE_ON_CLOSE = 16,
};
int MPI_File_open(MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *ret);
int MPI_File_close(MPI_File *file);
int MPI_File_sync(MPI_File file);
int MPI_File_get_size(MPI_File file, MPI_Offset *size);
int MPI_File_read_at(MPI_File file, MPI_Offset at, void *data, int n, MPI_Datatype type,
                     MPI_Status *status);
int MPI_File_write_at(MPI_File file, MPI_Offset at, const void *data, int n, MPI_Datatype type,
                      MPI_Status *status);
int MPI_File_read_at_all(MPI_File file, MPI_Offset at, void *data, int n, MPI_Datatype type,
                         MPI_Status *status);
int MPI_File_write_at_all(MPI_File file, MPI_Offset at, const void *data, int n, MPI_Datatype type,
                          MPI_Status *status);
int MPI_File_iread_at(MPI_File file, MPI_Offset at, void *data, int n, MPI_Datatype type,
                      MPI_Request *ret);
int MPI_File_iwrite_at(MPI_File file, MPI_Offset at, const void *data, int n, MPI_Datatype type,
                       MPI_Request *ret);
int MPI_File_iread_at_all(MPI_File file, MPI_Offset at, void *data, int n, MPI_Datatype type,
                          MPI_Request *ret);
int MPI_File_iwrite_at_all(MPI_File file, MPI_Offset at, const void *data, int n, MPI_Datatype type,
                           MPI_Request *ret);
int MPI_Error_string(int code, char *text, int *n);

#endif
