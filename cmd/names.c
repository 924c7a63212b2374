#include "cmd/names.h"

#include <inttypes.h>

/* Bytes of a name that are shown. */
enum { LONGEST_NAME = 100 };

size_t names_cut(const char *text, size_t size, size_t most)
{
    if (size <= most)
        return size;
    size = most;
    while (size > 0 && ((unsigned char)text[size] & 0xc0) == 0x80)
        size--;
    return size;
}

const char *names_text(const stacks *s, uint32_t name, size_t *size)
{
    static const char unknown[] = "(unknown)";
    const char *text = stacks_text(s, name, size);
    if (*size > 0)
        return text;
    *size = sizeof unknown - 1;
    return unknown;
}

void names_write(out *o, const stacks *s, uint32_t name)
{
    size_t size;
    const char *text = names_text(s, name, &size);
    size_t shown = names_cut(text, size, LONGEST_NAME);
    out_go_text(o, text, shown);
    if (shown < size)
        out_str(o, "...");
}

void names_write_label(out *o, const stacks *s, uint32_t label)
{
    if (!label)
        return;
    out_str(o, " (");
    names_write(o, s, label);
    out_char(o, ')');
}

void names_write_json_label(out *o, const stacks *s, uint32_t label)
{
    if (!label)
        return;
    out_str(o, ",\"label\":");
    names_write_json(o, s, label);
}

void names_write_frames(out *o, const stacks *s, uint32_t stack, stack_view view)
{
    size_t depth = stacks_depth(s, stack), i = 0;
    if (depth == 0)
        out_str(o, "(no stack)");
    for (; i < depth && i < view.frames; i++) {
        const size_t end = view.folds ? stacks_run_end(s, stack, i) : i;
        const stacks_frame *frame = stacks_frame_at(s, stack, end);
        if (i)
            out_str(o, " < ");
        if (end > i)
            out_str(o, "... < ");
        i = end;
        names_write(o, s, frame->function);
        if (view.lines && frame->function)
            out_printf(o, ":%" PRIu64, frame->line);
        else if (view.lines)
            out_printf(o, " at 0x%" PRIx64, frame->pc);
    }
    if (depth > i)
        out_str(o, " < ...");
}

void names_write_stack(out *o, const stacks *s, uint32_t stack)
{
    names_write_frames(o, s, stack, (stack_view){.frames = STACK_FRAMES});
}

void names_write_json(out *o, const stacks *s, uint32_t name)
{
    size_t size;
    const char *text = stacks_text(s, name, &size);
    out_json_string(o, text, size);
}

void names_write_json_stack(out *o, const stacks *s, uint32_t stack)
{
    size_t depth = stacks_depth(s, stack);
    out_str(o, ",\"stack\":[");
    for (size_t i = 0; i < depth; i++) {
        const stacks_frame *frame = stacks_frame_at(s, stack, i);
        out_str(o, i ? ",{\"func\":" : "{\"func\":");
        names_write_json(o, s, frame->function);
        out_str(o, ",\"file\":");
        names_write_json(o, s, frame->file);
        out_str(o, ",\"line\":");
        out_json_u64(o, frame->line);
        out_char(o, '}');
    }
    out_char(o, ']');
}
