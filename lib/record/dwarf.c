/*
 * dwarf.c - functions at an address, by elfutils' libdw (ELF symbols and DWARF) and libiberty.
 */
#include "record/symbols.h"

#if defined GT_HAVE_LIBDW

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#if defined GT_HAVE_LIBIBERTY
#include <libiberty/demangle.h>
#endif
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A DIE, and the number of the one that contains it, from 1 on; 0: it is the unit. */
typedef struct scope {
    Dwarf_Die die;
    size_t parent;
} scope;

/* The functions of a unit and what contains them, by the address of their DIEs. libdw walks a unit
 * to find what contains a DIE: for each function that is inlined at an address, which takes
 * milliseconds in C++. */
typedef struct unit_scopes {
    struct unit_scopes *next;
    const Dwarf_CU *unit;
    scope *list;
    size_t count, capacity;
} unit_scopes;

/* A symbol of an ELF file. */
typedef struct elf_symbol {
    Dwarf_Addr begin, end; /* equal: it has no size */
    Dwarf_Addr reach;      /* the last end of this one and all before it */
    int number;            /* in the file */
    uint8_t rank;          /* of two at one address, that with the higher one is shown */
} elf_symbol;

/* Those of a file, by address. libdw goes through all of them for each address: through 107,100 of
 * node in 3 ms. */
typedef struct elf_symbols {
    struct elf_symbols *next;
    const Dwfl_Module *module;
    size_t count;
    elf_symbol list[];
} elf_symbols;

struct gt_dwarf {
    Dwfl *dwfl;
    unit_scopes *units;
    elf_symbols *files;
};

static char *debug_path; /* NULL: the usual folders */

/* Whether that file exists. */
static bool exists(const char *root, const char *folder, const char *name)
{
    char path[PATH_MAX];
    const int size = snprintf(path, sizeof path, "%s%s/%s", root, folder, name);
    return size < 0 || (size_t)size >= sizeof path || access(path, F_OK) == 0;
}

/* Whether there is a file where libdw looks for the debug information of a file by its name: that
 * of the link, else its own. Source: elfutils, libdwfl/find-debuginfo.c. */
static bool may_have_debug_file(const char *file, const char *link)
{
    static const char debug[] = "/usr/lib/debug";
    char folder[PATH_MAX], own[PATH_MAX];
    const char *name = strrchr(file, '/');
    if (file[0] != '/' || (link && strchr(link, '/')))
        return true;
    snprintf(folder, sizeof folder, "%.*s", (int)(name - file), file);
    snprintf(own, sizeof own, "%s.debug", ++name);
    if (exists(folder, "", link ? link : own))
        return true;
    const char *names[] = {link ? link : own, name};
    for (size_t i = 0; i < (link ? 1 : 2); i++) {
        bool found = exists(folder, "/.debug", names[i]) || exists(debug, "", names[i]);
        for (const char *part = folder; part && !found; part = strchr(part + 1, '/'))
            found = exists(debug, part, names[i]);
        if (found)
            return true;
    }
    return false;
}

/* libdw loads the client of debuginfod servers, with some thirty libraries, before it looks whether
 * there are any, which takes 5 ms. So without servers it is not asked for what only they have. */
static int find_debug_file(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
                           const char *file, const char *link, GElf_Word crc, char **found)
{
    const char *servers = getenv("DEBUGINFOD_URLS");
    if (file && (!servers || !servers[0])) {
        const int fd = dwfl_build_id_find_debuginfo(module, data, name, base, file, link, crc,
                                                    found);
        if (fd >= 0 || !may_have_debug_file(file, link))
            return fd;
    }
    return dwfl_standard_find_debuginfo(module, data, name, base, file, link, crc, found);
}

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_linux_proc_find_elf,
    .find_debuginfo = find_debug_file,
    .debuginfo_path = &debug_path,
};

gt_dwarf *gt_dwarf_new(void)
{
    gt_dwarf *d = calloc(1, sizeof *d);
    if (d && !(d->dwfl = dwfl_begin(&callbacks))) {
        free(d);
        return NULL;
    }
    return d;
}

void gt_dwarf_free(gt_dwarf *d)
{
    if (!d)
        return;
    for (unit_scopes *u = d->units, *next; u; u = next) {
        next = u->next;
        free(u->list);
        free(u);
    }
    for (elf_symbols *f = d->files, *next; f; f = next) {
        next = f->next;
        free(f);
    }
    dwfl_end(d->dwfl);
    free(d);
}

void gt_dwarf_read_maps(gt_dwarf *d, FILE *maps)
{
    dwfl_report_begin_add(d->dwfl);
    dwfl_linux_proc_maps_report(d->dwfl, maps);
    dwfl_report_end(d->dwfl, NULL, NULL);
}

/* ---- scopes ---------------------------------------------------------------------------------- */

/* As libdw's dwarf_getscopes. */
static bool may_have_functions(Dwarf_Die *die)
{
    switch (dwarf_tag(die)) {
    case DW_TAG_module:
    case DW_TAG_namespace:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_subprogram:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_entry_point:
    case DW_TAG_lexical_block:
    case DW_TAG_with_stmt:
    case DW_TAG_catch_block:
    case DW_TAG_try_block: return true;
    default: return false;
    }
}

/* Adds a DIE and those in it; false: memory is refused. The unit may be damaged, but a DIE that is
 * not after the last one is not added: so this ends. */
static bool add_scopes(unit_scopes *u, Dwarf_Die *die, size_t parent)
{
    Dwarf_Die child;
    if (u->count > 0 && (uintptr_t)die->addr <= (uintptr_t)u->list[u->count - 1].die.addr)
        return true;
    if (u->count == u->capacity) {
        const size_t room = u->capacity ? 2 * u->capacity : 64;
        scope *larger = reallocarray(u->list, room, sizeof *larger);
        if (!larger)
            return false;
        u->list = larger;
        u->capacity = room;
    }
    u->list[u->count++] = (scope){*die, parent};
    const size_t number = u->count;
    bool good = true;
    for (int left = dwarf_child(die, &child); left == 0 && good;
         left = dwarf_siblingof(&child, &child))
        good = !may_have_functions(&child) || add_scopes(u, &child, number);
    return good;
}

/* Those of the unit of the DIE; NULL: memory is refused. */
static const unit_scopes *get_unit(gt_dwarf *d, Dwarf_Die *die)
{
    Dwarf_Die root;
    unit_scopes *u = d->units;
    while (u && u->unit != die->cu)
        u = u->next;
    if (u || !dwarf_diecu(die, &root, NULL, NULL) || !(u = calloc(1, sizeof *u)))
        return u;
    *u = (unit_scopes){.next = d->units, .unit = die->cu};
    d->units = u;
    if (!add_scopes(u, &root, 0))
        u->count = 0;
    return u;
}

/* The number of the DIE in its unit; 0: unknown. */
static size_t find_scope(gt_dwarf *d, Dwarf_Die *die, const unit_scopes **unit)
{
    const unit_scopes *u = *unit = get_unit(d, die);
    size_t begin = 0, end = u ? u->count : 0;
    while (begin < end) {
        const size_t middle = begin + (end - begin) / 2;
        const uintptr_t at = (uintptr_t)u->list[middle].die.addr;
        if (at == (uintptr_t)die->addr)
            return middle + 1;
        if (at < (uintptr_t)die->addr)
            begin = middle + 1;
        else
            end = middle;
    }
    return 0;
}

/* ---- names ----------------------------------------------------------------------------------- */

static void append(char *name, const char *part, size_t size)
{
    size_t used = strlen(name), room = GT_SYMBOL_NAME - used - 1;
    memcpy(name + used, part, size < room ? size : room);
    name[used + (size < room ? size : room)] = '\0';
}

static void append_string(char *name, const char *string)
{
    append(name, string, strlen(string));
}

#if defined GT_HAVE_LIBIBERTY
/* A demangle_callbackref. */
static void append_part(const char *part, size_t size, void *name)
{
    append(name, part, size);
}
#endif

/* The name of an ELF symbol as it is in the source: those of C++ and Rust are mangled. Without
 * types of parameters, as debug information has it. */
static void put_symbol(char *name, const char *symbol)
{
    name[0] = '\0';
#if defined GT_HAVE_LIBIBERTY
    if (rust_demangle_callback(symbol, 0, append_part, name) ||
        cplus_demangle_v3_callback(symbol, 0, append_part, name))
        return;
    name[0] = '\0'; /* that of a part, if it is not a whole name */
#endif
    append_string(name, symbol);
}

/* The DIE that declares a function: of its class, if it has one. */
static Dwarf_Die declaration(Dwarf_Die die)
{
    Dwarf_Attribute attr;
    Dwarf_Die next;
    static const unsigned int ways[] = {DW_AT_abstract_origin, DW_AT_specification};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (dwarf_attr(&die, ways[i], &attr) && dwarf_formref_die(&attr, &next))
            die = next;
    return die;
}

static bool is_named_scope(Dwarf_Die *die)
{
    switch (dwarf_tag(die)) {
    case DW_TAG_namespace:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_enumeration_type:
    case DW_TAG_module: return true;
    default: return false;
    }
}

static void put_scopes(char *name, const unit_scopes *u, size_t number)
{
    if (number == 0)
        return;
    Dwarf_Die die = u->list[number - 1].die;
    put_scopes(name, u, u->list[number - 1].parent);
    if (!is_named_scope(&die))
        return;
    const char *part = dwarf_diename(&die);
    append_string(name, part ? part : "(anonymous)");
    append_string(name, "::");
}

/* The name with those of its classes and namespaces. False: it has none. */
static bool put_name(gt_dwarf *d, char *name, Dwarf_Die function)
{
    const unit_scopes *unit;
    Dwarf_Die die = declaration(function);
    const char *last = dwarf_diename(&die);
    name[0] = '\0';
    if (!last)
        return false;
    const size_t number = find_scope(d, &die, &unit);
    if (number > 0)
        put_scopes(name, unit, unit->list[number - 1].parent);
    append_string(name, last);
    return true;
}

/* ---- functions ------------------------------------------------------------------------------- */

/* Sets file and line to those of the call of an inlined function. */
static void put_call(gt_symbol *s, Dwarf_Die *unit, Dwarf_Die *inlined)
{
    Dwarf_Attribute attr;
    Dwarf_Word file, line;
    Dwarf_Files *files;
    size_t count;
    s->file = NULL;
    s->line = 0;
    if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attr), &file) == 0 &&
        dwarf_getsrcfiles(unit, &files, &count) == 0 && file < count)
        s->file = dwarf_filesrc(files, file, NULL, NULL);
    if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attr), &line) == 0)
        s->line = line;
}

/* The function of the DIE, and all into which it is inlined. symbols[0] has file and line. */
static size_t put_functions(gt_dwarf *d, gt_symbol *symbols, Dwarf_Die *unit, Dwarf_Die *innermost)
{
    const unit_scopes *u;
    size_t count = 0, number = find_scope(d, innermost, &u);
    for (; number > 0 && count < GT_SYMBOL_FRAMES; number = u->list[number - 1].parent) {
        Dwarf_Die die = u->list[number - 1].die;
        const int tag = dwarf_tag(&die);
        if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine)
            continue;
        if (!put_name(d, symbols[count].function, die))
            break;
        count++;
        if (tag == DW_TAG_subprogram)
            break;
        if (count < GT_SYMBOL_FRAMES)
            put_call(&symbols[count], unit, &die);
    }
    return count;
}

static void put_line(gt_symbol *s, Dwarf_Die *unit, Dwarf_Addr address)
{
    int line = 0;
    Dwarf_Line *source = unit ? dwarf_getsrc_die(unit, address) : NULL;
    s->file = source ? dwarf_linesrc(source, NULL, NULL) : NULL;
    s->line = source && dwarf_lineno(source, &line) == 0 && line > 0 ? (uint64_t)line : 0;
}

/* The compilation unit of the address. dwfl_module_addrdie needs .debug_aranges, which LLVM does
 * not write. */
static Dwarf_Die *find_unit(Dwfl_Module *module, Dwarf_Addr address, Dwarf_Addr *bias)
{
    Dwarf_Die *unit = dwfl_module_addrdie(module, address, bias);
    if (unit)
        return unit;
    while ((unit = dwfl_module_nextcu(module, unit, bias)))
        if (dwarf_haspc(unit, address - *bias) > 0)
            break;
    return unit;
}

/* ---- ELF symbols ----------------------------------------------------------------------------- */

static uint8_t rank_of(const GElf_Sym *symbol)
{
    switch (GELF_ST_BIND(symbol->st_info)) {
    case STB_LOCAL: return 0;
    case STB_WEAK: return 1;
    default: return 2;
    }
}

/* By address; what is to be shown is last. */
static int compare_symbols(const void *a, const void *b)
{
    const elf_symbol *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->number > y->number ? -1 : x->number < y->number;
}

static void take_symbol(elf_symbols *f, Dwfl_Module *module, int number)
{
    GElf_Sym symbol;
    GElf_Addr begin;
    GElf_Word section;
    const char *name = dwfl_module_getsym_info(module, number, &symbol, &begin, &section, NULL,
                                               NULL);
    const unsigned type = GELF_ST_TYPE(symbol.st_info);
    if (!name || !name[0] || section == SHN_UNDEF || section == SHN_ABS || type == STT_SECTION ||
        type == STT_FILE || type == STT_TLS)
        return;
    f->list[f->count++] = (elf_symbol){
        .begin = begin, .end = begin + symbol.st_size, .number = number, .rank = rank_of(&symbol)};
}

/* NULL: it has none, or memory is refused. */
static const elf_symbols *symbols_of(gt_dwarf *d, Dwfl_Module *module)
{
    elf_symbols *f = d->files;
    while (f && f->module != module)
        f = f->next;
    if (f)
        return f;
    const int count = dwfl_module_getsymtab(module);
    f = count > 0 ? malloc(sizeof *f + (size_t)count * sizeof *f->list) : NULL;
    if (!f)
        return NULL;
    *f = (elf_symbols){.next = d->files, .module = module};
    d->files = f;
    for (int i = 0; i < count; i++)
        take_symbol(f, module, i);
    qsort(f->list, f->count, sizeof *f->list, compare_symbols);
    for (size_t i = 0; i < f->count; i++) {
        elf_symbol *s = &f->list[i];
        s->reach = i > 0 && s[-1].reach > s->end ? s[-1].reach : s->end;
    }
    return f;
}

/* Whether the symbol, which has no size, is in the same section: others are not its code. */
static bool is_in_section(Dwfl_Module *module, Dwarf_Addr symbol, Dwarf_Addr address)
{
    Dwarf_Addr bias;
    const Elf_Scn *section = dwfl_module_address_section(module, &address, &bias);
    return section && section == dwfl_module_address_section(module, &symbol, &bias);
}

/* The name of the symbol that begins last before the address and has it, or after which there is
 * nothing else. NULL: none. */
static const char *find_symbol(gt_dwarf *d, Dwfl_Module *module, Dwarf_Addr address)
{
    GElf_Sym symbol;
    const elf_symbols *f = symbols_of(d, module);
    size_t low = 0, high = f ? f->count : 0;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (f->list[middle].begin <= address)
            low = middle + 1;
        else
            high = middle;
    }
    const Dwarf_Addr reach = low > 0 ? f->list[low - 1].reach : 0;
    for (; low > 0; low--) {
        const elf_symbol *s = &f->list[low - 1];
        const bool follows = s->end == s->begin && s->begin >= reach;
        if (address < s->end || (follows && is_in_section(module, s->begin, address)))
            return dwfl_module_getsym(module, s->number, &symbol, NULL);
        if (s->reach <= address && !follows)
            break;
    }
    return NULL;
}

size_t gt_dwarf_find(gt_dwarf *d, uint64_t address, gt_symbol *symbols)
{
    Dwfl_Module *module = dwfl_addrmodule(d->dwfl, address);
    Dwarf_Addr bias = 0;
    Dwarf_Die *scopes = NULL;
    size_t count = 0;
    if (!module)
        return 0;
    Dwarf_Die *unit = find_unit(module, address, &bias);
    put_line(&symbols[0], unit, address - bias);
    if (unit && dwarf_getscopes(unit, address - bias, &scopes) > 0)
        count = put_functions(d, symbols, unit, &scopes[0]);
    free(scopes);
    const char *name = count == 0 ? find_symbol(d, module, address) : NULL;
    if (!name)
        return count;
    put_symbol(symbols[0].function, name);
    return 1;
}

#else

gt_dwarf *gt_dwarf_new(void)
{
    return NULL;
}

void gt_dwarf_free(gt_dwarf *d)
{
    (void)d;
}

void gt_dwarf_read_maps(gt_dwarf *d, FILE *maps)
{
    (void)d;
    (void)maps;
}

size_t gt_dwarf_find(gt_dwarf *d, uint64_t address, gt_symbol *symbols)
{
    (void)d;
    (void)address;
    (void)symbols;
    return 0;
}

#endif
