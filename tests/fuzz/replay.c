/* replay.c -- a main for fuzz harnesses without libFuzzer: feeds each file of the
 * directories given, the empty input, and each file cut at its half. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void feed(const uint8_t *data, size_t size)
{
    /* An exact copy: the sanitizer then sees a read past the end. */
    uint8_t *copy = calloc(size ? size : 1, 1);

    for (size_t i = 0; i < size; i++)
        copy[i] = data[i];
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static int feed_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    struct stat about;

    if (!f || fstat(fileno(f), &about) || !S_ISREG(about.st_mode)) {
        if (f)
            fclose(f);
        return 0;
    }
    size_t size = (size_t)about.st_size;
    uint8_t *data = malloc(size ? size : 1);
    size = fread(data, 1, size, f);
    fclose(f);
    feed(data, size);
    feed(data, size / 2);
    free(data);
    return 1;
}

int main(int argc, char **argv)
{
    int fed = 0;

    feed((const uint8_t *)"", 0);
    for (int i = 1; i < argc; i++) {
        DIR *dir = opendir(argv[i]);

        if (!dir) {
            fprintf(stderr, "%s: no such directory; put seeds of the harness there\n", argv[i]);
            return 1;
        }
        for (struct dirent *e; (e = readdir(dir));) {
            char path[4096];

            snprintf(path, sizeof path, "%s/%s", argv[i], e->d_name);
            fed += feed_file(path);
        }
        closedir(dir);
    }
    printf("%d inputs\n", fed);
    return fed ? 0 : 1;
}
