/* elf.h -- names of functions in a program or library, from its symbol table.
 *
 * 64-bit files in this machine's byte order only. Every offset is checked against the file's size.
 */
#ifndef PROF_READ_ELF_H
#define PROF_READ_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prof_elf {
    const char *bytes;
    size_t len;
    uint64_t symbols_at, nsymbols; /* of the more complete table */
    uint64_t names_at, names_len;
};

/* `bytes` must stay valid while *ret is used. False: no ELF file of this kind, or no symbols. */
bool prof_elf_parse(struct prof_elf *ret, const void *bytes, size_t len);
/* The function that contains this file offset; NULL: none. */
const char *prof_elf_name(const struct prof_elf *e, uint64_t offset);

#endif
