/*
 * frame.c - stack frames as text, in scripts by meaning:
 *
 *   main.work /src/main.go:42 @0x46f2a0
 *
 * The function ends at the first space outside brackets, so main.f[func(int, int) bool] is one
 * name. Where that is ambiguous, spaces, brackets and backslashes are escaped with a backslash, and
 * so is the colon of a function that ends like a line number, "f\:12": "main.main:12" is an error,
 * because it was probably meant as a function and a line. The file is the rest up to the last colon
 * and line number. Empty or zero parts are omitted ("main.work", "main.work @0x46f2a0",
 * "@0x46f2a0"), and so is the PC that a frame without PC gets.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/script/script.h"

/* The change of nesting depth by a character. */
static int bracket(char c)
{
    return c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
}

/* The end of the function name at the start; *depth is set to the nesting depth there. */
static size_t function_end(const char *s, size_t size, size_t *depth)
{
    size_t i = 0;
    *depth = 0;
    for (; i < size && (s[i] != ' ' || *depth > 0); i++) {
        if (s[i] == '\\')
            i++;
        else if (bracket(s[i]) > 0)
            ++*depth;
        else if (bracket(s[i]) < 0 && *depth > 0)
            --*depth;
    }
    return i < size ? i : size;
}

/* Whether this is "@0x" and the hexadecimal digits of a program counter, to the end. */
static bool is_pc(const char *s, size_t size)
{
    if (size < 4 || memcmp(s, "@0x", 3) != 0)
        return false;
    for (size_t i = 3; i < size; i++)
        if (script_digit(s[i]) > 15)
            return false;
    return true;
}

/* Whether the text ends in a line number, ":12", whose colon is not escaped. */
static bool ends_in_line(const char *s, size_t size)
{
    size_t i = size;
    while (i > 0 && s[i - 1] >= '0' && s[i - 1] <= '9')
        i--;
    return i > 0 && i < size && s[i - 1] == ':' && (i == 1 || s[i - 2] != '\\');
}

/* Whether a function name needs no escapes. */
static bool is_plain(const char *s, size_t size)
{
    size_t depth;
    return !is_pc(s, size) && !ends_in_line(s, size) && !memchr(s, '\\', size) &&
           function_end(s, size, &depth) == size && depth == 0;
}

/* ---- writing ------------------------------------------------------------------------------- */

static bool reserve(script_frame_text *text, size_t more)
{
    if (more <= text->capacity - text->size)
        return true;
    size_t capacity = 2 * (text->size + more);
    char *moved = realloc(text->bytes, capacity);
    if (!moved)
        return false;
    text->bytes = moved;
    text->capacity = capacity;
    return true;
}

static void put_bytes(script_frame_text *text, const char *s, size_t size)
{
    if (size > 0)
        memcpy(text->bytes + text->size, s, size);
    text->size += size;
}

static void put_escaped(script_frame_text *text, const char *s, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (s[i] == ' ' || s[i] == '\\' || s[i] == '@' || s[i] == ':' || bracket(s[i]) != 0)
            put_bytes(text, "\\", 1);
        put_bytes(text, s + i, 1);
    }
}

/* Whether to write the PC: not if it is the one that a frame without PC gets. */
static bool has_pc(const gotrace_frame *frame)
{
    gotrace_frame bare = *frame;
    bare.pc = 0;
    return frame->pc != 0 &&
           (frame->pc < GOTRACE_FRAME_PC_MADE || frame->pc != gotrace_frame_pc(&bare));
}

bool script_frame_write(script_frame_text *text, const gotrace_frame *frame)
{
    enum { NUMBERS = 64 };
    char number[NUMBERS];
    const char *function = frame->function ? frame->function : "";
    const char *file = frame->file ? frame->file : "";
    text->size = 0;
    if (!reserve(text, 2 * frame->function_size + frame->file_size + NUMBERS))
        return false;
    if (is_plain(function, frame->function_size))
        put_bytes(text, function, frame->function_size);
    else
        put_escaped(text, function, frame->function_size);
    if (frame->file_size > 0 || frame->line != 0) {
        put_bytes(text, " ", 1);
        put_bytes(text, file, frame->file_size);
        int size = snprintf(number, sizeof number, ":%llu", (unsigned long long)frame->line);
        put_bytes(text, number, (size_t)size);
    }
    if (has_pc(frame)) {
        int size = snprintf(number, sizeof number, "%s@0x%llx", text->size > 0 ? " " : "",
                            (unsigned long long)frame->pc);
        put_bytes(text, number, (size_t)size);
    }
    return true;
}

/* ---- reading ------------------------------------------------------------------------------- */

/* Removes the escapes. */
static size_t unescape(char *s, size_t size)
{
    size_t used = 0;
    if (size == 0 || !memchr(s, '\\', size))
        return size;
    for (size_t i = 0; i < size; i++) {
        if (s[i] == '\\' && i + 1 < size)
            i++;
        s[used++] = s[i];
    }
    return used;
}

static gotrace_status wrong_frame(script_job *job, uint64_t line, const char *s, size_t size)
{
    return script_fail(job, line, "\"%s\" found, a frame \"function file:line @0xPC\" expected",
                       script_show(s, size).text);
}

gotrace_status script_frame_read(script_job *job, uint64_t line, char *s, size_t size,
                                 gotrace_frame *frame)
{
    size_t depth, end = is_pc(s, size) ? 0 : function_end(s, size, &depth);
    *frame = (gotrace_frame){.function = s, .file = s};
    if (ends_in_line(s, end))
        return wrong_frame(job, line, s, size);
    const char *rest = s + end, *stop = s + size;
    /* A space follows the function. */
    if (rest < stop && *rest == ' ')
        rest++;
    for (const char *at = stop; at > rest; at--)
        if (at[-1] == '@') {
            bool parted = at - 1 == rest || at[-2] == ' ';
            if (!parted || !is_pc(at - 1, (size_t)(stop - at + 1)))
                break;
            if (script_number(job, line, at, (size_t)(stop - at), &frame->pc) != GOTRACE_OK)
                return GOTRACE_ERROR;
            stop = at - 1 > rest ? at - 2 : rest;
            break;
        } else if (at[-1] == ' ') {
            break;
        }
    if (rest < stop) {
        const char *colon = stop;
        while (colon > rest && colon[-1] >= '0' && colon[-1] <= '9')
            colon--;
        if (colon == stop || colon == rest || colon[-1] != ':')
            return wrong_frame(job, line, s, size);
        if (script_number(job, line, colon, (size_t)(stop - colon), &frame->line) != GOTRACE_OK)
            return GOTRACE_ERROR;
        frame->file = rest;
        frame->file_size = (size_t)(colon - 1 - rest);
    }
    frame->function_size = unescape(s, end);
    return GOTRACE_OK;
}
