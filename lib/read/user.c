#include "read/user.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- the place in the code --------------------------------------------------------------------
 */

static bool is_of_runtime(const gotrace_frame *f)
{
    static const char runtime[] = "runtime";
    const size_t size = sizeof runtime - 1;
    return f->function_size > size && memcmp(f->function, runtime, size) == 0 &&
           (f->function[size] == '.' || f->function[size] == '/');
}

/* The innermost frame outside of the runtime, which has few of its own for such events; if there is
 * none, the innermost one. */
static gotrace_frame user_frame(const gotrace_reader *reader, uint64_t stack)
{
    enum { LOOK = 16 };
    gotrace_frame frames[LOOK] = {{0}};
    size_t count = gotrace_reader_stack(reader, stack, frames, LOOK), n = 0;
    while (n < count && is_of_runtime(&frames[n]))
        n++;
    return frames[n < count ? n : 0];
}

static bool continues_character(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* Copies the first bytes of a text that is too long, or (last) the last ones. */
static void copy_text(char *dst, size_t room, const char *text, size_t size, bool last)
{
    size_t most = room - 1, skip = last && size > most ? size - most : 0;
    size_t count = size - skip < most ? size - skip : most;
    while (count > 0 && skip > 0 && continues_character(text[skip]))
        skip++, count--;
    while (count > 0 && skip + count < size && continues_character(text[skip + count]))
        count--;
    if (count > 0)
        memcpy(dst, text + skip, count);
    dst[count] = '\0';
}

/* ---- reports ----------------------------------------------------------------------------------
 */

static bool report(gotrace_reader *reader, gotrace_rule rule, const gt_user *of, const char *format,
                   va_list args)
{
    gotrace_error where = {.time = of->time, .goroutine = of->goroutine};
    gotrace_frame f = user_frame(reader, of->stack);
    char message[sizeof where.message];
    where.line = f.line;
    copy_text(where.function, sizeof where.function, f.function, f.function_size, false);
    copy_text(where.file, sizeof where.file, f.file, f.file_size, true);
    vsnprintf(message, sizeof message, format, args);
    return gt_report_in_code(reader, rule, of->place, &where, message);
}

bool gt_report_user(gotrace_reader *reader, gotrace_rule rule, const gt_user *of,
                    const char *format, ...)
{
    va_list args;
    va_start(args, format);
    bool go_on = report(reader, rule, of, format, args);
    va_end(args);
    return go_on;
}

/* Whether a part of the trace is missing, so far as is known. */
static bool is_incomplete(const gotrace_reader *reader)
{
    return reader->incomplete || reader->summary.problems > 0 || reader->summary.unread_bytes > 0;
}

/* Identifies a place in the code and a kind of event there. The seed is fixed, so that a collision,
 * after which one report less is made, does not depend on the process. */
static uint64_t key_of(const gotrace_reader *reader, const gt_user *of, const char *what)
{
    static const uint64_t seed = 0xd6e8feb86659fd93u;
    gotrace_frame f = user_frame(reader, of->stack);
    uint64_t hash = gt_hash_bytes(seed, what, strlen(what));
    hash = gt_hash_add(seed, hash, f.line);
    if (f.function_size > 0)
        hash = gt_hash_add(seed, hash, gt_hash_bytes(seed, f.function, f.function_size));
    return hash;
}

bool gt_report_no_begin(gotrace_reader *reader, gt_assumptions *assumed, const gt_user *of,
                        const char *what, const char *format, ...)
{
    if (is_incomplete(reader) || reader->quiet)
        return true;
    uint64_t key = key_of(reader, of, what);
    if (!reader->config.every_problem && gt_map_get(&reader->ends_reported, key))
        return true;
    if (!gt_map_put(&reader->ends_reported, key, 1))
        return gt_fail_memory(reader);
    if (assumed)
        return gt_assume(assumed, (gt_assumption){.kind = GT_ASSUME_NO_BEGIN, .id = key}) ||
               gt_fail_memory(reader);
    va_list args;
    va_start(args, format);
    bool go_on = report(reader, GOTRACE_RULE_BEGIN_MISSING, of, format, args);
    va_end(args);
    return go_on;
}

bool gt_no_begin_holds(const gotrace_reader *reader, const gt_assumption *assumption)
{
    return is_incomplete(reader) ||
           (!reader->config.every_problem && gt_map_get(&reader->ends_reported, assumption->id));
}

/* ---- tasks that ended -------------------------------------------------------------------------
 */

bool gt_task_begins(gotrace_reader *reader, uint64_t id)
{
    uint64_t bits = gt_map_get(&reader->ended_tasks, id / 64), bit = (uint64_t)1 << id % 64;
    if (!(bits & bit))
        return true;
    if (bits != bit)
        return gt_map_put(&reader->ended_tasks, id / 64, bits & ~bit);
    gt_map_remove(&reader->ended_tasks, id / 64);
    return true;
}

bool gt_task_ends(gotrace_reader *reader, uint64_t id)
{
    return gt_assume_new(&reader->ended_tasks, id);
}

bool gt_adopt_ended_tasks(gotrace_reader *reader, const gotrace_reader *alone)
{
    for (size_t i = 0; i < alone->ended_tasks.capacity; i++) {
        const gt_slot *slot = &alone->ended_tasks.slots[i];
        uint64_t bits = slot->value | gt_map_get(&reader->ended_tasks, slot->key);
        if (slot->value && !gt_map_put(&reader->ended_tasks, slot->key, bits))
            return false;
    }
    return true;
}
