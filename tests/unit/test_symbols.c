/*
 * test_symbols.c - functions and lines of addresses, of this program.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gotrace_symbols.h"
#include "record/symbols.h"
#include "support.h"

#define FIRST_INLINED (UINT64_C(1) << 63)

static bool has_libdw(void)
{
    gt_dwarf *dwarf = gt_dwarf_new();
    gt_dwarf_free(dwarf);
    return dwarf != NULL;
}

__attribute__((noinline)) static uint64_t return_address(void)
{
    __asm__ volatile("");
    return (uint64_t)(uintptr_t)__builtin_return_address(0);
}

static inline __attribute__((always_inline)) uint64_t inlined_function(void)
{
    return return_address();
}

__attribute__((noinline)) static uint64_t outer_function(void)
{
    uint64_t pc = inlined_function();
    __asm__ volatile("");
    return pc;
}

static gotrace_symbols *own_symbols(void)
{
    gotrace_symbols *symbols;
    ck_assert_int_eq(gotrace_symbols_new(NULL, &symbols, NULL), GOTRACE_OK);
    ck_assert_int_eq(gotrace_symbols_read_maps(symbols, "/proc/self/maps", NULL), GOTRACE_OK);
    return symbols;
}

static bool is_named(const gotrace_frame *frame, const char *name)
{
    return frame->function_size == strlen(name) &&
           memcmp(frame->function, name, frame->function_size) == 0;
}

static bool is_in(const gotrace_frame *frame, const char *file)
{
    return frame->file && memmem(frame->file, frame->file_size, file, strlen(file));
}

START_TEST(inlined)
{
    gotrace_symbols *symbols = own_symbols();
    uint64_t pc = outer_function();
    gotrace_frame frames[8], again[8];
    ck_assert(gotrace_symbols_has(symbols, pc));
    size_t count = gotrace_symbols_resolve(symbols, pc, frames, 8);
    if (has_libdw()) {
        ck_assert_uint_eq(count, 2);
        ck_assert(is_named(&frames[0], "inlined_function"));
        ck_assert(is_named(&frames[1], "outer_function"));
        ck_assert(is_in(&frames[0], "test_symbols.c") && is_in(&frames[1], "test_symbols.c"));
        ck_assert_uint_lt(frames[0].line, frames[1].line);
        ck_assert_uint_ge(frames[0].pc, FIRST_INLINED);
        /* With less room the function that was not inlined remains. */
        ck_assert_uint_eq(gotrace_symbols_resolve(symbols, pc, again, 1), 1);
        ck_assert(is_named(&again[0], "outer_function"));
    } else {
        ck_assert_uint_eq(count, 1);
        ck_assert_ptr_nonnull(memmem(frames[0].function, frames[0].function_size, "+0x", 3));
    }
    ck_assert_uint_eq(frames[count - 1].pc, pc);
    ck_assert_uint_eq(gotrace_symbols_resolve(symbols, pc, again, 8), count);
    for (size_t i = 0; i < count; i++)
        ck_assert_uint_eq(again[i].pc, frames[i].pc);
    gotrace_symbols_free(symbols);
}
END_TEST

/* A copy of the mapped files, and a function of the C library. */
START_TEST(copied_maps)
{
    char path[] = "/tmp/gotrace-maps-XXXXXX", command[128];
    gotrace_symbols *symbols;
    gotrace_frame frame;
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    snprintf(command, sizeof command, "cat /proc/%d/maps >%s", (int)getpid(), path);
    ck_assert_int_eq(system(command), 0);
    ck_assert_int_eq(gotrace_symbols_new(NULL, &symbols, NULL), GOTRACE_OK);
    ck_assert_int_eq(gotrace_symbols_read_maps(symbols, path, NULL), GOTRACE_OK);
    ck_assert_uint_eq(
        gotrace_symbols_resolve(symbols, (uint64_t)(uintptr_t)outer_function + 1, &frame, 1), 1);
    ck_assert(!has_libdw() || is_named(&frame, "outer_function"));
    gotrace_symbols_free(symbols);
    close(fd);
    unlink(path);
}
END_TEST

/* A function without debug information, which has that name for the linker. */
#define LINKER_NAME(function, name)                                                                \
    __asm__(".text\n.type " name ", %function\n" name ": .skip 16\n.size " name ", 16");           \
    extern char function[] __asm__(name)

LINKER_NAME(of_cxx, "_ZN2ns6WorkerIiE3runEPKc");
LINKER_NAME(of_rust, "_ZN7mycrate5serve17h0123456789abcdefE");
LINKER_NAME(of_new_rust, "_RNvNtCs4fqI2P2rA04_7mycrate3net5serve");
LINKER_NAME(of_c, "_Zone_of");

/* Names are those of the source, without types of parameters. */
START_TEST(mangled)
{
    gotrace_symbols *symbols = own_symbols();
    const struct {
        char *function;
        const char *plain, *symbol;
    } names[] = {{of_cxx, "ns::Worker<int>::run", "_ZN2ns6WorkerIiE3runEPKc"},
                 {of_rust, "mycrate::serve", "_ZN7mycrate5serve17h0123456789abcdefE"},
                 {of_new_rust, "mycrate::net::serve", "_RNvNtCs4fqI2P2rA04_7mycrate3net5serve"},
                 {of_c, "_Zone_of", "_Zone_of"}};
    for (size_t i = 0; has_libdw() && i < sizeof names / sizeof *names; i++) {
        gotrace_frame frame;
        const uint64_t pc = (uint64_t)(uintptr_t)names[i].function + 8;
        ck_assert_uint_eq(gotrace_symbols_resolve(symbols, pc, &frame, 1), 1);
#if __has_include(<libiberty/demangle.h>)
        const char *name = names[i].plain;
#else
        const char *name = names[i].symbol;
#endif
        ck_assert_msg(is_named(&frame, name), "%.*s instead of %s", (int)frame.function_size,
                      frame.function, name);
    }
    gotrace_symbols_free(symbols);
}
END_TEST

/* A function of 16 bytes with another name, which is weak, a label, and a function of 4 bytes in
 * it; after it a label. */
__asm__(".text\n"
        ".globl whole\n.weak weak_whole\n.type whole, %function\n.type weak_whole, %function\n"
        "weak_whole: whole: .skip 4\n"
        ".type part, %function\npart: .skip 4\n.size part, 4\n"
        "label_in_whole: .skip 8\n"
        ".size whole, 16\n.size weak_whole, 16\n"
        ".globl label_after_whole\nlabel_after_whole: .skip 16\n");
extern char whole[];

/* What is nearest, has the address, and is global. */
START_TEST(several_names)
{
    gotrace_symbols *symbols = own_symbols();
    const struct {
        uint64_t offset;
        const char *name;
    } names[] = {{0, "whole"},
                 {3, "whole"},
                 {4, "part"},
                 {7, "part"},
                 {8, "whole"},
                 {15, "whole"},
                 {16, "label_after_whole"},
                 {31, "label_after_whole"}};
    for (size_t i = 0; has_libdw() && i < sizeof names / sizeof *names; i++) {
        gotrace_frame frame;
        const uint64_t pc = (uint64_t)(uintptr_t)whole + names[i].offset + 1;
        ck_assert_uint_eq(gotrace_symbols_resolve(symbols, pc, &frame, 1), 1);
        ck_assert_msg(is_named(&frame, names[i].name), "%.*s instead of %s",
                      (int)frame.function_size, frame.function, names[i].name);
    }
    gotrace_symbols_free(symbols);
}
END_TEST

/* A function of a file without debug information: without servers their client is not loaded. */
START_TEST(no_servers)
{
    gotrace_symbols *symbols = own_symbols();
    gotrace_frame frame;
    const uint64_t pc = (uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT, "zlibVersion") + 1;
    unsetenv("DEBUGINFOD_URLS");
    ck_assert_uint_eq(gotrace_symbols_resolve(symbols, pc, &frame, 1), 1);
    ck_assert(!has_libdw() || is_named(&frame, "zlibVersion"));
    ck_assert_ptr_null(dlopen("libdebuginfod.so.1", RTLD_NOLOAD | RTLD_LAZY));
    gotrace_symbols_free(symbols);
}
END_TEST

START_TEST(unknown)
{
    gotrace_symbols *symbols = own_symbols();
    gotrace_error error = GOTRACE_INIT(gotrace_error);
    gotrace_frame frame;
    ck_assert(!gotrace_symbols_has(symbols, 1));
    ck_assert_uint_eq(gotrace_symbols_resolve(symbols, 1, &frame, 1), 1);
    ck_assert_uint_eq(frame.pc, 1);
    ck_assert_ptr_null(frame.function);
    ck_assert_int_eq(gotrace_symbols_read_maps(symbols, "/nonexistent", &error), GOTRACE_ERROR);
    ck_assert_int_eq(error.rule, GOTRACE_RULE_SYSTEM_OPEN);
    gotrace_symbols_free(symbols);
    gotrace_symbols_free(NULL);
}
END_TEST

/* Without memory an address has no names, and nothing leaks. */
START_TEST(refused)
{
    for (uint64_t fail_at = 0;; fail_at++) {
        failing_allocator a = {.fail_at = fail_at};
        gotrace_config config = failing_config(&a);
        gotrace_symbols *symbols = NULL;
        gotrace_frame frame;
        bool good = gotrace_symbols_new(&config, &symbols, NULL) == GOTRACE_OK &&
                    gotrace_symbols_read_maps(symbols, "/proc/self/maps", NULL) == GOTRACE_OK;
        if (symbols)
            ck_assert_uint_eq(gotrace_symbols_resolve(symbols, outer_function(), &frame, 1), 1);
        gotrace_symbols_free(symbols);
        ck_assert_int_eq(a.bytes, 0);
        if (good && frame.function)
            break;
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("symbols");
    TCase *all = tcase_create("symbols");
    tcase_add_test(all, inlined);
    tcase_add_test(all, copied_maps);
    tcase_add_test(all, mangled);
    tcase_add_test(all, several_names);
    tcase_add_test(all, no_servers);
    tcase_add_test(all, unknown);
    tcase_add_test(all, refused);
    suite_add_tcase(suite, all);
    return run_suite(suite);
}
