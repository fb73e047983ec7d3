/* Any bytes as a program whose functions are asked for: names or none. */
#include <stdlib.h>
#include <string.h>

#include "prof/read/elf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct prof_elf e;

    if (!prof_elf_parse(&e, data, size))
        return 0;
    for (uint64_t at = 0; at < size && at < 65536; at += 61) {
        const char *name = prof_elf_name(&e, at);

        if (name && !strlen(name))
            abort();
    }
    return 0;
}
