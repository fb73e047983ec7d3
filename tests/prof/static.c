/* static.c -- `prof-static FILE MIB MS`: a static program, which nothing can be preloaded into,
 * writes MIB mebibytes and lives for MS milliseconds. With MS `-` it reads a byte before each
 * mebibyte and writes one after it.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static char buf[1 << 20];

int main(int argc, char **argv)
{
    if (argc != 4)
        return 9;
    int fd = open(argv[1], O_WRONLY | O_CREAT, 0600), steps = argv[3][0] == '-';

    for (int i = atoi(argv[2]); i > 0; i--)
        if ((steps && read(0, buf, 1) != 1) || write(fd, buf, sizeof buf) != sizeof buf ||
            (steps && write(1, buf, 1) != 1))
            return 8;
    if (steps)
        return 0;
    usleep((unsigned)atoi(argv[3]) * 1000u);
    return 0;
}
