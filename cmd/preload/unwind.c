/*
 * unwind.c - whether the unwinder of the compiler can go on from a frame.
 *
 * It reads memory where the unwind information and the registers say that a frame is, without
 * checking that. Code written by hand, other compilers and damaged stacks have frames that are not
 * as described, and programs that nevertheless work. So the place of the next return address is
 * computed here first, from the same information (DWARF 4, 6.4), as far as compilers use it, and
 * only memory that can be read is read.
 */
#include "cmd/preload/unwind.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cmd/preload/real.h"
#include "cmd/preload/trace.h"

/* Of libgcc (unwind-dw2-fde.h). */
struct dwarf_eh_bases {
    void *tbase, *dbase, *func;
};
extern const void *_Unwind_Find_FDE(void *pc, struct dwarf_eh_bases *bases);

enum { MOST_STATES = 8 }; /* that are remembered at a time */

/* Where something is: at register + offset or, with deref, at the address that is there. */
typedef struct rule {
    bool known, deref;
    uint64_t reg;
    int64_t offset;
} rule;

typedef struct rules {
    rule cfa;
    rule ra; /* of the return address; without a register the offset is from the CFA */
    bool ra_has_reg;
} rules;

typedef struct reading {
    const uint8_t *p, *end;
    uint64_t code_align, ra_column;
    int64_t data_align;
    uintptr_t at, pc; /* instructions up to pc have an effect */
    rules now, first, states[MOST_STATES];
    unsigned state_count;
    bool bad; /* not understood */
} reading;

/* ---- bytes ----------------------------------------------------------------------------------- */

static uint64_t get(reading *r, size_t size)
{
    uint64_t value = 0;
    if ((size_t)(r->end - r->p) < size) {
        r->bad = true;
        return 0;
    }
    for (size_t i = 0; i < size; i++) {
        const size_t place = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? i : size - 1 - i;
        value |= (uint64_t)r->p[i] << 8 * place;
    }
    r->p += size;
    return value;
}

static uint64_t get_leb(reading *r, bool is_signed)
{
    uint64_t value = 0, byte;
    unsigned shift = 0;
    do {
        byte = get(r, 1);
        if (shift < 64)
            value |= (byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80 && !r->bad);
    if (is_signed && shift < 64 && byte & 0x40)
        value |= UINT64_MAX << shift;
    return value;
}

static uint64_t get_unsigned(reading *r)
{
    return get_leb(r, false);
}

static int64_t get_signed(reading *r)
{
    return (int64_t)get_leb(r, true);
}

static void skip(reading *r, uint64_t size)
{
    if ((uint64_t)(r->end - r->p) < size)
        r->bad = true;
    else
        r->p += size;
}

/* The size of an encoded pointer; 0: not understood. */
static size_t pointer_size(uint8_t encoding)
{
    if (encoding == 0x50) /* DW_EH_PE_aligned */
        return 0;
    switch (encoding & 7) {
    case 0: return sizeof(void *);
    case 2: return 2;
    case 3: return 4;
    case 4: return 8;
    default: return 0;
    }
}

/* ---- instructions ---------------------------------------------------------------------------- */

/* An expression that is a register and an offset, perhaps the address that is there. */
static rule get_expression(reading *r)
{
    enum { BREG0 = 0x70, BREG31 = 0x8f, DEREF = 0x06 };
    const uint64_t size = get_unsigned(r);
    reading block = {.p = r->p};
    skip(r, size);
    if (r->bad)
        return (rule){.known = false};
    block.end = r->p;
    const uint64_t op = get(&block, 1);
    rule found = {.known = op >= BREG0 && op <= BREG31, .reg = op - BREG0};
    found.offset = get_signed(&block);
    if (block.p < block.end)
        found.deref = get(&block, 1) == DEREF;
    found.known = found.known && !block.bad && block.p == block.end;
    return found;
}

static void set_offset(reading *r, uint64_t reg, int64_t factor)
{
    if (reg != r->ra_column)
        return;
    r->now.ra = (rule){.known = true, .offset = factor * r->data_align};
    r->now.ra_has_reg = false;
}

static void set_unknown(reading *r, uint64_t reg)
{
    if (reg == r->ra_column)
        r->now.ra.known = false;
}

static void set_cfa(reading *r, uint64_t reg, int64_t offset)
{
    r->now.cfa = (rule){.known = true, .reg = reg, .offset = offset};
}

static void keep_state(reading *r)
{
    if (r->state_count == MOST_STATES)
        r->bad = true;
    else
        r->states[r->state_count++] = r->now;
}

static void restore_state(reading *r)
{
    if (r->state_count == 0)
        r->bad = true;
    else
        r->now = r->states[--r->state_count];
}

static void restore(reading *r, uint64_t reg)
{
    if (reg != r->ra_column)
        return;
    r->now.ra = r->first.ra;
    r->now.ra_has_reg = r->first.ra_has_reg;
}

/* The instructions that do not have an operand in the opcode (DW_CFA_...). */
static void execute_extended(reading *r, uint8_t op)
{
    uint64_t reg;
    switch (op) {
    case 0x00: /* nop */
    case 0x2d: /* GNU_window_save, AARCH64_negate_ra_state */ break;
    case 0x02: r->at += get(r, 1) * r->code_align; break; /* advance_loc1, 2, 4 */
    case 0x03: r->at += get(r, 2) * r->code_align; break;
    case 0x04: r->at += get(r, 4) * r->code_align; break;
    case 0x05: /* offset_extended */
        reg = get_unsigned(r);
        set_offset(r, reg, (int64_t)get_unsigned(r));
        break;
    case 0x06: restore(r, get_unsigned(r)); break;     /* restore_extended */
    case 0x07:                                         /* undefined */
    case 0x08: set_unknown(r, get_unsigned(r)); break; /* same_value */
    case 0x09:                                         /* register */
    case 0x14:                                         /* val_offset */
        set_unknown(r, get_unsigned(r));
        get_unsigned(r);
        break;
    case 0x0a: keep_state(r); break;
    case 0x0b: restore_state(r); break;
    case 0x0c: /* def_cfa */
        reg = get_unsigned(r);
        set_cfa(r, reg, (int64_t)get_unsigned(r));
        break;
    case 0x0d: set_cfa(r, get_unsigned(r), r->now.cfa.offset); break; /* def_cfa_register */
    case 0x0e: r->now.cfa.offset = (int64_t)get_unsigned(r); break;   /* def_cfa_offset */
    case 0x0f: r->now.cfa = get_expression(r); break;                 /* def_cfa_expression */
    case 0x10:                                                        /* expression */
        reg = get_unsigned(r);
        const rule place = get_expression(r);
        if (reg == r->ra_column) {
            r->now.ra = place;
            r->now.ra_has_reg = true;
        }
        break;
    case 0x11: /* offset_extended_sf */
        reg = get_unsigned(r);
        set_offset(r, reg, get_signed(r));
        break;
    case 0x12: /* def_cfa_sf */
        reg = get_unsigned(r);
        set_cfa(r, reg, get_signed(r) * r->data_align);
        break;
    case 0x13: r->now.cfa.offset = get_signed(r) * r->data_align; break; /* def_cfa_offset_sf */
    case 0x2e: get_unsigned(r); break;                                   /* GNU_args_size */
    default: r->bad = true; break;
    }
}

static void execute(reading *r, const uint8_t *end)
{
    r->end = end;
    while (r->p < r->end && r->at < r->pc && !r->bad) {
        const uint8_t op = (uint8_t)get(r, 1), operand = op & 0x3f;
        switch (op >> 6) {
        case 0: execute_extended(r, op); break;
        case 1: r->at += operand * r->code_align; break;
        case 2: set_offset(r, operand, (int64_t)get_unsigned(r)); break;
        case 3: restore(r, operand); break;
        }
    }
}

/* ---- functions ------------------------------------------------------------------------------- */

/* The length is that of what follows. */
static const uint8_t *end_of(const uint8_t *entry)
{
    uint32_t length;
    memcpy(&length, entry, sizeof length);
    return entry + sizeof length + length;
}

/* Reads the common entry, and executes it. Sets the encoding of addresses, and whether entries of
 * functions have other data. */
static void read_common(reading *r, const uint8_t *cie, uint8_t *encoding, bool *has_data)
{
    r->p = cie + 2 * sizeof(uint32_t);
    r->end = end_of(cie);
    const uint8_t version = (uint8_t)get(r, 1);
    const char *augmentation = (const char *)r->p;
    skip(r, strnlen(augmentation, (size_t)(r->end - r->p)) + 1);
    r->code_align = get_unsigned(r);
    r->data_align = get_signed(r);
    r->ra_column = version == 1 ? get(r, 1) : get_unsigned(r);
    *has_data = augmentation[0] == 'z';
    const uint64_t size = *has_data ? get_unsigned(r) : 0;
    const uint8_t *instructions = r->p + size;
    for (const char *a = augmentation + *has_data; *a && !r->bad; a++) {
        if (*a == 'R')
            *encoding = (uint8_t)get(r, 1);
        else if (*a == 'L')
            get(r, 1);
        else if (*a == 'P')
            skip(r, pointer_size((uint8_t)get(r, 1)));
        else if (*a != 'S' && *a != 'B')
            r->bad = true;
    }
    r->p = instructions;
    execute(r, end_of(cie));
    r->first = r->now;
}

/* Reads the rules at pc, which is in the function of that entry. */
static bool read_rules(reading *r, const uint8_t *fde, uintptr_t begin)
{
    int32_t distance;
    uint8_t encoding = 0;
    bool has_data;
    memcpy(&distance, fde + sizeof(uint32_t), sizeof distance);
    r->at = begin;
    read_common(r, fde + sizeof(uint32_t) - distance, &encoding, &has_data);
    const size_t size = pointer_size(encoding);
    if (r->bad || size == 0)
        return false;
    r->p = fde + 2 * sizeof(uint32_t) + 2 * size;
    r->end = end_of(fde);
    if (has_data)
        skip(r, get_unsigned(r));
    execute(r, end_of(fde));
    return !r->bad && r->now.cfa.known && r->now.ra.known;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* The kernel reads the mask before it sees that there is nothing to do with it. */
static bool is_readable(uintptr_t address)
{
    const int error = errno;
    const bool good = REAL(syscall)(SYS_rt_sigprocmask, -1, address & -sizeof(void *), NULL, 8) ==
                          0 ||
                      errno != EFAULT;
    errno = error;
    return good;
}

/* Whether the unwinder has the register in every frame. */
static bool is_preserved(uint64_t reg)
{
#if defined __x86_64__
    return reg == 3 || reg == 6 || (reg >= 12 && reg <= 15);
#elif defined __aarch64__
    return reg >= 19 && reg <= 29;
#else
    return reg < 32;
#endif
}

/* Sets the address; false: it cannot be known. */
static bool find(struct _Unwind_Context *context, const rule *found, uintptr_t *address)
{
    if (found->reg == (uint64_t)__builtin_dwarf_sp_column())
        *address = _Unwind_GetCFA(context);
    else if (is_preserved(found->reg))
        *address = _Unwind_GetGR(context, (int)found->reg);
    else
        return false;
    *address += (uintptr_t)found->offset;
    if (!found->deref)
        return true;
    if (!is_readable(*address))
        return false;
    memcpy(address, (const void *)*address, sizeof *address);
    return true;
}

bool trace_next_frame(struct _Unwind_Context *context, const uintptr_t **place, bool *described)
{
    enum { NEAR = 512 }; /* other saved registers */
    int before;
    struct dwarf_eh_bases bases;
    const uintptr_t pc = _Unwind_GetIPInfo(context, &before), old = _Unwind_GetCFA(context);
    const bool is_signal = before != 0;
    const uint8_t *fde = _Unwind_Find_FDE((void *)(pc - !is_signal), &bases);
    reading r = {.pc = pc + is_signal};
    uintptr_t cfa, ra;
    if (!fde || !read_rules(&r, fde, (uintptr_t)bases.func) || !find(context, &r.now.cfa, &cfa))
        return false;
    if (r.now.ra_has_reg) {
        if (!find(context, &r.now.ra, &ra))
            return false;
    } else {
        ra = cfa + (uintptr_t)r.now.ra.offset;
    }
    /* Frames are one after the other, except where a handler of a signal begins. */
    if (cfa % sizeof(void *) != 0 || (!r.now.ra_has_reg && cfa <= old) || !is_readable(ra) ||
        !is_readable(cfa - sizeof(void *)) || (cfa - old > NEAR && !is_readable(cfa - NEAR)))
        return false;
    *place = (const uintptr_t *)ra;
    *described = _Unwind_Find_FDE((void *)(**place - 1), &bases) != NULL;
    return true;
}
