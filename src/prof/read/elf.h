/* elf.h -- the names of functions in a program or library, from its own table of symbols.
 *
 * Of this machine's kind only: 64 bits, its byte order. Nothing in the file is believed before it
 * was compared with its size.
 */
#ifndef PROF_READ_ELF_H
#define PROF_READ_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prof_elf {
    const char *bytes;
    size_t len;
    uint64_t symbols_at, nsymbols; /* of the fuller table there is */
    uint64_t names_at, names_len;
};

/* The bytes stay the caller's, for as long as the other is used. False: no such file, or it has no
 * symbols. */
bool prof_elf_parse(struct prof_elf *ret, const void *bytes, size_t len);
/* The function that holds the byte at this place of the file; NULL: none does. */
const char *prof_elf_name(const struct prof_elf *e, uint64_t offset);

#endif
