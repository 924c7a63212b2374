#include "core/errors.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Places in the table of rules. */
enum {
#define RULE_PLACE(number, name, id, class, severity, wants, source) PLACE_##name,
    GOTRACE_RULES(RULE_PLACE) RULES
#undef RULE_PLACE
};

static const gotrace_rule_info rules[] = {
#define RULE_ROW(number, name, id, class, severity, wants, source)                                 \
    {GOTRACE_RULE_##name, id, wants, source, GOTRACE_CLASS_##class, GOTRACE_##severity},
    GOTRACE_RULES(RULE_ROW)
#undef RULE_ROW
};

#define RULE_NUMBER(number, name, id, class, severity, wants, source)                              \
    _Static_assert((number) < GOTRACE_RULE_LIMIT, "the number of " id " is too large");
GOTRACE_RULES(RULE_NUMBER)
#undef RULE_NUMBER

const gotrace_rule_info *gotrace_rule_describe(gotrace_rule rule)
{
    switch (rule) { /* two rules with one number do not compile */
#define RULE_CASE(number, name, id, class, severity, wants, source)                                \
    case GOTRACE_RULE_##name: return &rules[PLACE_##name];
        GOTRACE_RULES(RULE_CASE)
#undef RULE_CASE
    }
    return &rules[PLACE_NONE];
}

const gotrace_rule_info *gotrace_rule_at(size_t n)
{
    return n < RULES ? &rules[n] : NULL;
}

const char *gotrace_class_name(gotrace_class class_)
{
    switch (class_) {
    case GOTRACE_CLASS_NONE: return "sound";
    case GOTRACE_CLASS_MALFORMED: return "malformed";
    case GOTRACE_CLASS_INCONSISTENT: return "inconsistent";
    case GOTRACE_CLASS_CLOCKS: return "broken clocks";
    case GOTRACE_CLASS_UNFINISHED: return "unfinished";
    case GOTRACE_CLASS_UNSUPPORTED: return "unsupported";
    case GOTRACE_CLASS_SYSTEM: return "unreadable";
    case GOTRACE_CLASS_USAGE: return "misused";
    }
    return "unknown";
}

/* Shortens a message to at most this many bytes, at a character boundary. */
static void shorten(char *message, size_t most)
{
    if (strlen(message) <= most)
        return;
    while (most > 0 && ((unsigned char)message[most] & 0xc0) == 0x80)
        most--;
    message[most] = '\0';
}

static void fill(gotrace_error *error, gotrace_rule rule, gt_place place, const char *format,
                 va_list args)
{
    const gotrace_rule_info *info = gotrace_rule_describe(rule);
    *error = (gotrace_error){.rule = rule,
                             .severity = info->severity,
                             .class_ = info->class_,
                             .offset = place.offset,
                             .batch = place.batch,
                             .event = place.event};
    /* One byte more, to detect whether a character ends at the last byte. */
    char message[sizeof error->message + 1];
    vsnprintf(message, sizeof message, format, args);
    shorten(message, sizeof error->message - 1);
    memcpy(error->message, message, strlen(message));
}

gotrace_status gt_error_set(gotrace_error *error, gotrace_rule rule, gt_place place,
                            const char *format, ...)
{
    if (error) {
        va_list args;
        va_start(args, format);
        fill(error, rule, place, format, args);
        va_end(args);
    }
    return GOTRACE_ERROR;
}

gotrace_status gt_error_system(gotrace_error *error, gotrace_rule rule, int os_error,
                               const char *format, ...)
{
    if (error) {
        va_list args;
        va_start(args, format);
        fill(error, rule, GT_NO_PLACE, format, args);
        va_end(args);
        error->os_error = os_error;
        char text[96] = "unknown error";
        /* The GNU strerror_r returns the text, in the buffer or elsewhere. */
        const char *reason_text = strerror_r(os_error, text, sizeof text);
        /* Shorten the message, such as a long file name, and keep the reason. */
        size_t whole = sizeof error->message - 1, reason = strlen(reason_text) + 2;
        shorten(error->message, reason < whole ? whole - reason : 0);
        size_t used = strlen(error->message);
        snprintf(error->message + used, sizeof error->message - used, ": %s", reason_text);
    }
    return GOTRACE_ERROR;
}

gotrace_status gt_error_limit(gotrace_error *error, gotrace_limit which, gt_place place,
                              uint64_t limit)
{
    static const struct {
        const char *one, *more;
    } what[] = {
        [GOTRACE_LIMIT_NONE] = {"of something", "of something"},
        [GOTRACE_LIMIT_MEMORY] = {"byte of memory", "bytes of memory"},
        [GOTRACE_LIMIT_STRINGS] = {"string", "strings"},
        [GOTRACE_LIMIT_STRING_BYTES] = {"byte of a string", "bytes of a string"},
        [GOTRACE_LIMIT_STACKS] = {"stack", "stacks"},
        [GOTRACE_LIMIT_FRAMES] = {"frame of a stack", "frames of a stack"},
        [GOTRACE_LIMIT_GOROUTINES] = {"goroutine at the same time", "goroutines at the same time"},
        [GOTRACE_LIMIT_BATCHES] = {"batch", "batches"},
        [GOTRACE_LIMIT_PROCS] = {"proc", "different procs"},
        [GOTRACE_LIMIT_INPUT] = {"byte of input from a pipe or after decompression",
                                 "bytes of input from a pipe or after decompression"},
    };
    gt_error_set(error, GOTRACE_RULE_SYSTEM_LIMIT, place, "more than %llu %s are needed, the limit",
                 (unsigned long long)limit, limit == 1 ? what[which].one : what[which].more);
    if (error)
        error->limit = (int)which;
    return GOTRACE_ERROR;
}

gotrace_status gt_error_memory(gotrace_error *error, const gt_heap *heap)
{
    if (heap->limited)
        return gt_error_limit(error, GOTRACE_LIMIT_MEMORY, GT_NO_PLACE, heap->limit);
    return gt_error_set(error, GOTRACE_RULE_SYSTEM_MEMORY, GT_NO_PLACE, "out of memory");
}
