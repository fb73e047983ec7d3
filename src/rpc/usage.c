/* usage.c -- processor time and context switches of this process, from getrusage(). */
#include "rpc/usage.h"

#include <sys/resource.h>

struct rpc_usage rpc_usage_now(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (struct rpc_usage){
        (uint64_t)u.ru_utime.tv_sec * 1000000000u + (uint64_t)u.ru_utime.tv_usec * 1000u,
        (uint64_t)u.ru_stime.tv_sec * 1000000000u + (uint64_t)u.ru_stime.tv_usec * 1000u,
        (uint64_t)u.ru_nvcsw, (uint64_t)u.ru_nivcsw};
}
