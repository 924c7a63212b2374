/*
 * patch.c - interposition in a process that runs already.
 *
 * A library that is loaded later takes no one's place: the other objects call the C library by
 * addresses that the dynamic linker has stored in them. Those of interposed functions are replaced
 * here, as if this library had been preloaded: only where they are the C library's, or will be
 * because they are not looked up yet, and not where the program has another library between.
 * Copies of the addresses that the program has made itself are not seen.
 */
#include "cmd/preload/real.h"
#include "cmd/preload/trace.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

#if defined __x86_64__

typedef struct function {
    const char *name;
    uintptr_t real, own;
    bool usual; /* objects that look the name up find the real one */
} function;

#define COUNT_BLOCKING(result, name, kind, object, parameters, arguments) +1
#define COUNT_OTHER(result, name, parameters)                             +1
enum { FUNCTIONS = BLOCKING_CALLS(COUNT_BLOCKING) OTHER_CALLS(COUNT_OTHER) + 3 };

/* Of an object. */
typedef struct object {
    const function *functions;
    uintptr_t base, begin, end;         /* of its memory */
    uintptr_t protected, protected_end; /* is read-only after relocation */
    bool writable;                      /* not now */
    const ElfW(Sym) * symbols;
    const char *names;
} object;

static function describe(void *self, const char *name, void *real)
{
    return (function){name, (uintptr_t)real, (uintptr_t)dlsym(self, name),
                      trace_look_up(RTLD_DEFAULT, name) == real};
}

/* False: the library cannot find its own functions. */
static bool list_functions(function list[FUNCTIONS])
{
    Dl_info library;
    void *self = NULL, *real;
    function *f = list;
    if (dladdr(&trace_here, &library))
        self = dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (!self)
        return false;
#define DESCRIBE(name)                                                                             \
    memcpy(&real, &trace_reals.name, sizeof real);                                                 \
    *f++ = describe(self, #name, real);
#define DESCRIBE_BLOCKING(result, name, kind, object, parameters, arguments) DESCRIBE(name)
#define DESCRIBE_OTHER(result, name, parameters)                             DESCRIBE(name)
    BLOCKING_CALLS(DESCRIBE_BLOCKING)
    OTHER_CALLS(DESCRIBE_OTHER)
    *f++ = describe(self, "execl", dlsym(RTLD_NEXT, "execl"));
    *f++ = describe(self, "execlp", dlsym(RTLD_NEXT, "execlp"));
    *f++ = describe(self, "execle", dlsym(RTLD_NEXT, "execle"));
    dlclose(self);
    return true;
}

static const function *find_function(const object *o, const char *name)
{
    for (size_t i = 0; i < FUNCTIONS; i++)
        if (strcmp(o->functions[i].name, name) == 0)
            return &o->functions[i];
    return NULL;
}

/* Whether a write would succeed, as far as the kernel can say (since 5.14). */
static bool can_write(const uintptr_t *at)
{
    static char known;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
#define PAGE_OF(x) __extension__(void *)((uintptr_t)(x) & ~(page - 1))
    return madvise(PAGE_OF(at), page, MADV_POPULATE_WRITE) == 0 ||
           madvise(PAGE_OF(&known), page, MADV_POPULATE_WRITE) != 0;
}

static void replace(object *o, uintptr_t *at, uintptr_t before, uintptr_t after)
{
    if ((uintptr_t)at >= o->protected && (uintptr_t)at < o->protected_end && !o->writable)
        o->writable = mprotect(__extension__(void *) o->protected, o->protected_end - o->protected,
                               PROT_READ | PROT_WRITE) == 0;
    if (can_write(at))
        __atomic_compare_exchange_n(at, &before, after, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

static void patch(object *o, const ElfW(Rela) * r)
{
    const unsigned type = ELF64_R_TYPE(r->r_info);
    if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT)
        return;
    const ElfW(Sym) *symbol = &o->symbols[ELF64_R_SYM(r->r_info)];
    const function *f = find_function(o, o->names + symbol->st_name);
    if (!f || !f->real || !f->own)
        return;
    uintptr_t *at = __extension__(uintptr_t *)(o->base + r->r_offset);
    const uintptr_t value = __atomic_load_n(at, __ATOMIC_RELAXED);
    /* The address of the object's own code that looks the function up. */
    const bool is_lazy = type == R_X86_64_JUMP_SLOT && symbol->st_shndx == SHN_UNDEF &&
                         value >= o->begin && value < o->end;
    if (value == f->real || (is_lazy && f->usual))
        replace(o, at, value, f->own);
}

static void patch_list(object *o, uintptr_t list, size_t size)
{
    const ElfW(Rela) *r = __extension__(const ElfW(Rela) *) list;
    for (size_t i = 0; r && o->symbols && o->names && i < size / sizeof *r; i++)
        patch(o, &r[i]);
}

/* The dynamic linker relocates these addresses, except where they cannot be written to. */
static uintptr_t address_of(const object *o, const ElfW(Dyn) * entry)
{
    const uintptr_t value = entry->d_un.d_ptr;
    return value < o->begin ? o->base + value : value;
}

static void patch_lists(object *o, const ElfW(Dyn) * entry)
{
    uintptr_t list = 0, jumps = 0;
    size_t size = 0, jumps_size = 0;
    for (; entry->d_tag != DT_NULL; entry++) {
        switch (entry->d_tag) {
        case DT_SYMTAB: o->symbols = __extension__(const ElfW(Sym) *) address_of(o, entry); break;
        case DT_STRTAB: o->names = __extension__(const char *) address_of(o, entry); break;
        case DT_RELA: list = address_of(o, entry); break;
        case DT_RELASZ: size = entry->d_un.d_val; break;
        case DT_JMPREL: jumps = address_of(o, entry); break;
        case DT_PLTRELSZ: jumps_size = entry->d_un.d_val; break;
        default: break;
        }
    }
    patch_list(o, list, size);
    patch_list(o, jumps, jumps_size);
}

static int patch_object(struct dl_phdr_info *info, size_t size, void *functions)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    object o = {.functions = functions, .base = info->dlpi_addr, .begin = UINTPTR_MAX};
    const ElfW(Dyn) *dynamic = NULL;
    (void)size;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        const uintptr_t begin = o.base + part->p_vaddr, end = begin + part->p_memsz;
        if (part->p_type == PT_LOAD) {
            o.begin = begin < o.begin ? begin : o.begin;
            o.end = end > o.end ? end : o.end;
        } else if (part->p_type == PT_DYNAMIC) {
            dynamic = __extension__(const ElfW(Dyn) *) begin;
        } else if (part->p_type == PT_GNU_RELRO) { /* as the dynamic linker, in _dl_protect_relro */
            o.protected = begin & ~(page - 1);
            o.protected_end = end & ~(page - 1);
        }
    }
    if (dynamic)
        patch_lists(&o, dynamic);
    if (o.writable)
        mprotect(__extension__(void *) o.protected, o.protected_end - o.protected, PROT_READ);
    return 0;
}

void trace_patch(void)
{
    /* Before the list of objects is locked, which looking up locks too. */
    function functions[FUNCTIONS];
    if (list_functions(functions))
        dl_iterate_phdr(patch_object, functions);
}

#else

void trace_patch(void)
{
}

#endif
