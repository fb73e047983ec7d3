/* elf.c -- finds the name of a function in the symbol table of an ELF file. The file may be damaged
 * or hostile: every offset is compared with its length before it is used. */
#include "prof/read/elf.h"

#include <assert.h>
#include <elf.h>
#include <string.h>

static bool elf_holds(const struct prof_elf *e, uint64_t at, uint64_t n, uint64_t each)
{
    return at <= e->len && each && n <= (e->len - at) / each;
}

/* Structures may be unaligned in the file, so they are copied. */
#define AT(e, type, at, i)                                                 \
    ({                                                                     \
        type got_;                                                         \
        memcpy(&got_, (e)->bytes + (at) + (i) * sizeof got_, sizeof got_); \
        got_;                                                              \
    })

static bool elf_is_native(const Elf64_Ehdr *h)
{
    const unsigned char order =
        __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;

    return !memcmp(h->e_ident, ELFMAG, SELFMAG) && h->e_ident[EI_CLASS] == ELFCLASS64 &&
           h->e_ident[EI_DATA] == order && h->e_phentsize == sizeof(Elf64_Phdr) &&
           h->e_shentsize == sizeof(Elf64_Shdr);
}

bool prof_elf_parse(struct prof_elf *ret, const void *bytes, size_t len)
{
    struct prof_elf e = {.bytes = bytes, .len = len};

    if (len < sizeof(Elf64_Ehdr))
        return false;
    Elf64_Ehdr h = AT(&e, Elf64_Ehdr, 0, 0);

    if (!elf_is_native(&h) || !elf_holds(&e, h.e_shoff, h.e_shnum, sizeof(Elf64_Shdr)) ||
        !elf_holds(&e, h.e_phoff, h.e_phnum, sizeof(Elf64_Phdr)))
        return false;
    for (unsigned i = 0; i < h.e_shnum; i++) {
        Elf64_Shdr s = AT(&e, Elf64_Shdr, h.e_shoff, i);

        /* A stripped file has the dynamic symbol table only. */
        if ((s.sh_type != SHT_SYMTAB && (s.sh_type != SHT_DYNSYM || e.nsymbols)) ||
            s.sh_entsize != sizeof(Elf64_Sym) || s.sh_link >= h.e_shnum ||
            !elf_holds(&e, s.sh_offset, s.sh_size, 1))
            continue;
        Elf64_Shdr names = AT(&e, Elf64_Shdr, h.e_shoff, s.sh_link);

        if (!elf_holds(&e, names.sh_offset, names.sh_size, 1) || !names.sh_size)
            continue;
        e.symbols_at = s.sh_offset;
        e.nsymbols = s.sh_size / sizeof(Elf64_Sym);
        e.names_at = names.sh_offset;
        e.names_len = names.sh_size;
    }
    if (!e.nsymbols)
        return false;
    *ret = e;
    return true;
}

/* The virtual address of a file offset. */
static bool elf_address(const struct prof_elf *e, uint64_t offset, uint64_t *ret)
{
    Elf64_Ehdr h = AT(e, Elf64_Ehdr, 0, 0);

    for (unsigned i = 0; i < h.e_phnum; i++) {
        Elf64_Phdr p = AT(e, Elf64_Phdr, h.e_phoff, i);

        if (p.p_type == PT_LOAD && offset >= p.p_offset && offset - p.p_offset < p.p_filesz) {
            *ret = offset - p.p_offset + p.p_vaddr;
            return true;
        }
    }
    return false;
}

const char *prof_elf_name(const struct prof_elf *e, uint64_t offset)
{
    assert(e->nsymbols > 0 && e->names_len > 0);
    uint64_t address;

    if (!elf_address(e, offset, &address))
        return NULL;
    for (uint64_t i = 0; i < e->nsymbols; i++) {
        Elf64_Sym s = AT(e, Elf64_Sym, e->symbols_at, i);
        unsigned type = ELF64_ST_TYPE(s.st_info);

        if ((type != STT_FUNC && type != STT_GNU_IFUNC) || address < s.st_value ||
            address - s.st_value >= s.st_size || s.st_name >= e->names_len)
            continue;
        const char *name = e->bytes + e->names_at + s.st_name;

        if (*name && memchr(name, 0, e->names_len - s.st_name))
            return name;
    }
    return NULL;
}
