/* peer_process.c -- identifies a process on this kernel, and whether it has exited.
 *
 * The node number is a hash of the boot identifier and the PID namespace: processes of another
 * kernel or container are never taken for ours.
 */
#include "rpc/peer_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"

/* Another container on the same kernel has its own numbers: there a number of ours means nothing.
 */
static uint64_t process_own_node(void)
{
    char boot[64];
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, boot, sizeof boot);
    struct stat space;

    if (fd >= 0)
        close(fd);
    if (n < 32 || stat("/proc/self/ns/pid", &space))
        return 0;
    uint64_t h = wr_hash_u64(wr_hash(WR_HASH_INIT, boot, (size_t)n), space.st_ino);

    return h ? h : 1;
}

struct rpc_process rpc_process_own(void)
{
    return (struct rpc_process){.node = process_own_node(), .pid = (int32_t)getpid()};
}

bool rpc_process_exited(const struct rpc_process *l, const struct rpc_process *from)
{
    return l->node && l->node == from->node && l->pid > 0 && kill(l->pid, 0) && errno == ESRCH;
}
