/*
 * jump.c - interposed functions that leave a signal handler, and with it what the handler
 * interrupted.
 */
#include "cmd/preload/real.h"
#include "cmd/preload/trace.h"

/* <setjmp.h> may declare them under another name, for fortified programs. */
#define JUMPING(name)                                                                              \
    _Noreturn void name(struct __jmp_buf_tag *to, int value);                                      \
    EXPORT _Noreturn void name(struct __jmp_buf_tag *to, int value)                                \
    {                                                                                              \
        trace_jump();                                                                              \
        REAL(name)(to, value);                                                                     \
        __builtin_unreachable();                                                                   \
    }

JUMPING(longjmp)
JUMPING(_longjmp)
JUMPING(siglongjmp)
JUMPING(__longjmp_chk)
