// SPDX-License-Identifier: Apache-2.0
// The table of symbols of /proc/self/exe. What the file says is believed only as far as it makes sense.
#include "symbols.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    TABLE_MOST = 1 << 29, /* bytes; more is not read */
    FILLING = 64          /* bytes: so much may lie between variables without being one */
};

struct entry {
    uint64_t begin, end; /* in the file's addresses */
    const char *name;
    bool label;        /* an address without a size */
    uint32_t furthest; /* of this entry and all before it: the one that ends last */
};

/* Written once. */
static struct {
    struct entry *entries;
    uint32_t count;
    uint64_t bias, end; /* what is added to the file's addresses; where all data of the program ends, 0: not known */
    bool locals;        /* it has those of static variables, too */
} table;

/* --- the file ----------------------------------------------------------------------------------------------------- */

/* A part of the file, with a zero behind it; NULL: it does not have it. */
static void *read_part(int file, uint64_t offset, uint64_t bytes)
{
    if (!bytes || bytes > TABLE_MOST || offset > INT64_MAX - bytes)
        return NULL;
    char *part = malloc(bytes + 1);
    uint64_t done = 0;
    ssize_t got = 1;
    while (part && done < bytes && got > 0 &&
           (got = pread(file, part + done, bytes - done, (off_t)(offset + done))) > 0)
        done += (uint64_t)got;
    if (part && done == bytes) {
        part[bytes] = 0;
        return part;
    }
    free(part);
    return NULL;
}

static bool is_known(const ElfW(Ehdr) * head)
{
    return !memcmp(head->e_ident, ELFMAG, SELFMAG) && head->e_ident[EI_CLASS] == ELFCLASS64 &&
           head->e_ident[EI_DATA] == ELFDATA2LSB && (head->e_type == ET_EXEC || head->e_type == ET_DYN) &&
           head->e_shentsize == sizeof(ElfW(Shdr)) && head->e_shnum;
}

/* The full table if there is one, else what the program exports. */
static const ElfW(Shdr) * choose(const ElfW(Shdr) * sections, unsigned count)
{
    const ElfW(Shdr) *best = NULL;
    for (unsigned i = 0; i < count; i++)
        if (sections[i].sh_type == SHT_SYMTAB || (sections[i].sh_type == SHT_DYNSYM && !best))
            best = &sections[i];
    return best && best->sh_entsize == sizeof(ElfW(Sym)) && best->sh_link < count &&
                   sections[best->sh_link].sh_type == SHT_STRTAB
               ? best
               : NULL;
}

/* Labels that the linker makes at the borders of sections. */
static bool is_border(const char *name)
{
    static const char *const borders[] = {"_end",        "end",          "_edata",    "edata",
                                          "__bss_start", "__data_start", "data_start"};
    for (unsigned i = 0; i < sizeof borders / sizeof *borders; i++)
        if (!strcmp(name, borders[i]))
            return true;
    return false;
}

static void add(const ElfW(Sym) * s, const char *names, uint64_t names_bytes)
{
    unsigned type = ELF64_ST_TYPE(s->st_info);
    bool variable = type == STT_OBJECT && s->st_size, label = type == STT_NOTYPE || (type == STT_OBJECT && !variable);
    if (s->st_name >= names_bytes || s->st_size > UINT64_MAX - s->st_value || !(variable || label))
        return;
    const char *name = names + s->st_name;
    if (!strcmp(name, "_end"))
        table.end = s->st_value;
    if (s->st_shndx == SHN_UNDEF || s->st_shndx >= SHN_LORESERVE || !s->st_value || (label && is_border(name)))
        return;
    table.locals |= variable && ELF64_ST_BIND(s->st_info) == STB_LOCAL;
    table.entries[table.count++] = (struct entry){
        .begin = s->st_value, .end = s->st_value + (variable ? s->st_size : 0), .name = name, .label = label};
}

static int by_begin(const void *a, const void *b)
{
    const struct entry *left = a, *right = b;
    return left->begin < right->begin ? -1 : left->begin > right->begin;
}

static void settle(void)
{
    qsort(table.entries, table.count, sizeof *table.entries, by_begin);
    for (uint32_t i = 1; i < table.count; i++) {
        uint32_t before = table.entries[i - 1].furthest;
        table.entries[i].furthest = table.entries[before].end > table.entries[i].end ? before : i;
    }
}

static void read_symbols(int file, const ElfW(Shdr) * sections, unsigned count)
{
    const ElfW(Shdr) *section = choose(sections, count);
    if (!section)
        return;
    const ElfW(Shdr) *texts = &sections[section->sh_link];
    ElfW(Sym) *symbols = read_part(file, section->sh_offset, section->sh_size);
    char *names = read_part(file, texts->sh_offset, texts->sh_size);
    size_t n = symbols ? section->sh_size / sizeof *symbols : 0;
    table.entries = n && names ? calloc(n, sizeof *table.entries) : NULL;
    for (size_t i = 0; table.entries && i < n; i++)
        add(&symbols[i], names, texts->sh_size);
    if (table.entries)
        settle(); /* the names stay */
    else
        free(names);
    free(symbols);
}

/* The first that is told of is the program. */
static int take_bias(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    table.bias = info->dlpi_addr;
    return 1;
}

static void read_table(void)
{
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
    ElfW(Ehdr) *head = read_part(file, 0, sizeof *head);
    ElfW(Shdr) *sections =
        head && is_known(head) ? read_part(file, head->e_shoff, (uint64_t)head->e_shnum * sizeof *sections) : NULL;
    dl_iterate_phdr(take_bias, NULL);
    if (sections)
        read_symbols(file, sections, head->e_shnum);
    free(sections);
    free(head);
    close(file);
}

/* --- asking ------------------------------------------------------------------------------------------------------- */

/* How many entries begin at the address or before it. */
static uint32_t count_until(uint64_t address)
{
    uint32_t low = 0, high = table.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (table.entries[middle].begin <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Whether the address, where variable e has ended, is none of another one that has no symbol: it is beyond all data, or
   in a gap as they come by aligning the next variable. */
static bool is_filling(const struct entry *e, uint32_t next, uint64_t address)
{
    if (!table.locals)
        return false;
    if (table.end && address >= table.end)
        return address - e->end < FILLING;
    return next < table.count && table.entries[next].begin - e->end < FILLING;
}

bool shmemi_symbol_passed(const void *address, size_t bytes, struct shmemi_symbol *out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_table);
    uint64_t at = (uint64_t)(uintptr_t)address - table.bias;
    uint32_t next = count_until(at);
    for (uint32_t i = next; i-- > 0 && table.entries[i].begin == at;)
        if (table.entries[i].label)
            return false; /* whatever begins there has no size */
    if (!next)
        return false;
    const struct entry *e = &table.entries[table.entries[next - 1].furthest];
    if (e->label || (at < e->end && bytes <= e->end - at) || (at >= e->end && !is_filling(e, next, at)))
        return false;
    *out = (struct shmemi_symbol){
        .name = e->name, .begin = (char *)(uintptr_t)(e->begin + table.bias), .bytes = e->end - e->begin};
    return true;
}
