/* static.c -- `prof-static FILE MIB MS`: a static program, which nothing can be preloaded into,
 * writes MIB mebibytes and lives for MS milliseconds.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static char buf[1 << 20];

int main(int argc, char **argv)
{
    if (argc != 4)
        return 9;
    int fd = open(argv[1], O_WRONLY | O_CREAT, 0600);

    for (int i = atoi(argv[2]); i > 0; i--)
        if (write(fd, buf, sizeof buf) != sizeof buf)
            return 8;
    usleep((unsigned)atoi(argv[3]) * 1000u);
    return 0;
}
