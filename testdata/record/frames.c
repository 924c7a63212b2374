/*
 * frames.c - frames HOW: calls a recorded function where the stack is not as the unwind information
 * says, or with a path that is no string, which is the program's right. For tests/record.
 *
 * HOW: base: the register of the frame has another value; return: a caller's return address is no
 * address of code; signal: a handler interrupts a jump to no code; exec: a path that cannot be
 * read.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DONE = 5 };

#if defined __x86_64__
void call_with_base(void);
void call_with_return(void);
/* clang-format off */
__asm__(".text\n"
        ".globl call_with_base\n"
        "call_with_base:\n"
        "    .cfi_startproc\n"
        "    push %rbp\n"
        "    .cfi_def_cfa_offset 16\n"
        "    .cfi_offset 6, -16\n"
        "    mov %rsp, %rbp\n"
        "    .cfi_def_cfa_register 6\n"
        "    push %rbx\n"
        "    mov $8, %rbp\n"
        "    mov $1, %edi\n"
        "    sub $8, %rsp\n"
        "    call usleep@plt\n"
        "    add $8, %rsp\n"
        "    pop %rbx\n"
        "    pop %rbp\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".globl call_with_return\n"
        "call_with_return:\n"
        "    .cfi_startproc\n"
        "    sub $24, %rsp\n"
        "    .cfi_def_cfa_offset 24\n"
        "    movq $12345, 16(%rsp)\n"
        "    mov $1, %edi\n"
        "    call usleep@plt\n"
        "    add $24, %rsp\n"
        "    ret\n"
        "    .cfi_endproc\n");
/* clang-format on */
#else
static void call_with_base(void)
{
    usleep(1);
}

static void call_with_return(void)
{
    usleep(1);
}
#endif

static void handle(int number)
{
    (void)number;
    usleep(1);
    _exit(DONE);
}

int main(int argc, char **argv)
{
    char *no_args[] = {NULL};
    const char *how = argc > 1 ? argv[1] : "";
    const volatile uintptr_t no_code = 8;
    if (strcmp(how, "base") == 0)
        call_with_base();
    else if (strcmp(how, "return") == 0)
        call_with_return();
    else if (strcmp(how, "exec") == 0)
        return execv((const char *)no_code, no_args) < 0 && errno == EFAULT ? DONE : 1;
    else if (strcmp(how, "signal") == 0 && signal(SIGSEGV, handle) != SIG_ERR)
        (__extension__(void (*)(void)) no_code)();
    return DONE;
}
