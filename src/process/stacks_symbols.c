/* See stacks_symbols.h. dladdr(3), and with it backtrace_symbols_fd(3), takes the loader's lock: a
 * thread that hangs inside of dlopen() (a module's constructor) would make the report of it hang as
 * well. So the object comes from _dl_find_object(3), made for signal handlers, and its name from
 * the object's own table of dynamic symbols, which is mapped already. */
#include "process/stacks_symbols.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <unistd.h>

/* Of this process; what it forks has the same. */
static char executable[256] = "?";

void cc_stacks_symbols_prepare(void)
{
    ssize_t len = readlink("/proc/self/exe", executable, sizeof executable - 1);

    if (len > 0)
        executable[len] = '\0';
}

/* What of the dynamic section is used. */
struct tables {
    const ElfW(Sym) * symbols;
    const char *strings;
    const uint32_t *hash;
};

static struct tables tables_of(const struct link_map *map)
{
    struct tables found = {NULL, NULL, NULL};

    for (const ElfW(Dyn) *entry = map->l_ld; entry != NULL && entry->d_tag != DT_NULL; entry++) {
        uintptr_t at = (uintptr_t)entry->d_un.d_ptr;
        /* The loader has made addresses of them, but in objects whose section it cannot write. */
        const void *table = (const void *)(at < map->l_addr ? at + map->l_addr : at);
        if (entry->d_tag == DT_SYMTAB)
            found.symbols = table;
        else if (entry->d_tag == DT_STRTAB)
            found.strings = table;
        else if (entry->d_tag == DT_GNU_HASH)
            found.hash = table;
    }
    return found;
}

static bool covers(const ElfW(Sym) * symbol, uintptr_t offset)
{
    return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF &&
           offset >= symbol->st_value && offset - symbol->st_value < symbol->st_size;
}

/* The exported function that the offset is inside of, or NULL. All of the hash table's chains are
 * walked: it is the only place that says how many symbols there are. */
static const ElfW(Sym) * find_symbol(const struct tables *tables, uintptr_t offset)
{
    if (tables->symbols == NULL || tables->strings == NULL || tables->hash == NULL)
        return NULL;
    uint32_t n_buckets = tables->hash[0], first = tables->hash[1], bloom_words = tables->hash[2];
    const uint32_t *buckets =
        tables->hash + 4 + (size_t)bloom_words * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
    const uint32_t *chains = buckets + n_buckets;

    for (uint32_t i = 0; i < n_buckets; i++) {
        uint32_t index = buckets[i];
        if (index < first)
            continue;
        do
            if (covers(&tables->symbols[index], offset))
                return &tables->symbols[index];
        while ((chains[index++ - first] & 1) == 0);
    }
    return NULL;
}

static const struct link_map *find_object(uintptr_t address)
{
    struct dl_find_object found;

    if (_dl_find_object((void *)address, &found) != 0)
        return NULL;
    return found.dlfo_link_map;
}

void cc_stacks_put_symbol(struct cc_stacks_text *text, uintptr_t address, bool is_return)
{
    uintptr_t code = address - (is_return ? 1 : 0);
    const struct link_map *map = find_object(code);

    if (map == NULL) {
        cc_stacks_put(text, "code that belongs to no file");
        return;
    }
    struct tables tables = tables_of(map);
    const ElfW(Sym) *symbol = find_symbol(&tables, code - map->l_addr);
    if (symbol != NULL) {
        cc_stacks_put(text, tables.strings + symbol->st_name);
        cc_stacks_put(text, "+");
        cc_stacks_put_hex(text, address - map->l_addr - symbol->st_value, 1);
        cc_stacks_put(text, " ");
    }
    cc_stacks_put(text, "(");
    cc_stacks_put(text, map->l_name == NULL || *map->l_name == '\0' ? executable : map->l_name);
    cc_stacks_put(text, "+");
    cc_stacks_put_hex(text, address - map->l_addr, 1);
    cc_stacks_put(text, ")");
}
