/* elements.c - text of the trace, numbers with units, and the parts of tables. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/common/utf8.h"
#include "formats/html/html.h"

/* ---- text of the trace ------------------------------------------------------------------------
 */

/* A character that has a meaning in HTML, or in JSON within HTML; NULL for the others. */
static const char *reference(char c, bool json)
{
    switch (c) {
    case '&': return json ? "\\u0026" : "&amp;";
    case '<': return json ? "\\u003c" : "&lt;";
    case '>': return json ? "\\u003e" : "&gt;";
    case '"': return json ? "\\\"" : "&quot;";
    case '\'': return json ? "'" : "&#39;";
    case '\\': return json ? "\\\\" : "\\";
    default: return NULL;
    }
}

static void put_text(out *o, const char *text, size_t size, size_t most, bool json)
{
    const char *slash = json ? "\\\\" : "\\";
    size_t at = 0;
    while (at < size && at < most) {
        uint32_t rune;
        size_t length = utf8_decode(text + at, size - at, &rune);
        const char *known = length == 1 ? reference(text[at], json) : NULL;
        if (length == 0)
            out_printf(o, "%sx%02x", slash, (unsigned char)text[at]);
        else if (known)
            out_str(o, known);
        else if (utf8_printable(rune))
            out_bytes(o, text + at, length);
        else
            out_printf(o,
                       rune < 0x80      ? "%sx%02" PRIx32
                       : rune < 0x10000 ? "%su%04" PRIx32
                                        : "%sU%08" PRIx32,
                       slash, rune);
        at += length ? length : 1;
    }
    if (at < size)
        out_str(o, "...");
}

void html_text(out *o, const char *text, size_t size, size_t most)
{
    put_text(o, text, size, most, false);
}

void html_json_text(out *o, const char *text, size_t size, size_t most)
{
    put_text(o, text, size, most, true);
}

void html_name(html *h, uint32_t name)
{
    size_t size;
    const char *text = stacks_text(h->s->stacks, name, &size);
    if (size > 0)
        html_text(h->out, text, size, HTML_NAME);
    else
        out_str(h->out, "(unknown)");
}

void html_label(html *h, uint32_t label)
{
    if (!label)
        return;
    out_str(h->out, " (");
    html_name(h, label);
    out_char(h->out, ')');
}

void html_stack(html *h, uint32_t stack)
{
    html_frames(h, stack, (stack_view){.frames = STACK_FRAMES});
}

void html_frames(html *h, uint32_t stack, stack_view view)
{
    size_t depth = stacks_depth(h->s->stacks, stack);
    if (depth == 0)
        out_str(h->out, "(no stack)");
    for (size_t i = 0; i < depth && i < view.frames; i++) {
        const stacks_frame *frame = stacks_frame_at(h->s->stacks, stack, i);
        if (i)
            out_str(h->out, "<br>");
        html_name(h, frame->function);
        if (view.lines && frame->function)
            out_printf(h->out, ":%" PRIu64, frame->line);
        else if (view.lines)
            out_printf(h->out, " at 0x%" PRIx64, frame->pc);
    }
    if (depth > view.frames)
        out_printf(h->out, "<br>... (%zu frames)", depth);
}

/* ---- numbers ----------------------------------------------------------------------------------
 */

#define MICRO "\xc2\xb5" /* the micro sign */

void html_duration(out *o, int64_t ns)
{
    static const struct {
        int64_t ns;
        const char *name;
    } units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, MICRO "s"}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (ns < units[i].ns - units[i].ns / 2000000) /* it is not rounded up to that unit */
            continue;
        bool whole = ns % units[i].ns == 0;
        out_printf(o, "%.*f %s", whole ? 0 : 3, (double)ns / (double)units[i].ns, units[i].name);
        return;
    }
    out_printf(o, "%" PRId64 " ns", ns);
}

void html_count(out *o, uint64_t count)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, count);
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            out_char(o, ',');
        out_char(o, digits[i]);
    }
}

void html_bytes(out *o, uint64_t bytes)
{
    static const char *const units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
    double value = (double)bytes / 1000;
    size_t unit = 0;
    if (bytes < 1000) {
        out_printf(o, "%" PRIu64 " B", bytes);
        return;
    }
    while (value >= 999.95) {
        value /= 1000;
        unit++;
    }
    out_printf(o, "%.1f %s", value, units[unit]);
}

void html_share(out *o, double share)
{
    out_printf(o, "%.1f %%", 100 * share);
}

/* A time as an option takes it: exact, with a unit that suits the time. */
static void put_time(out *o, int64_t ns)
{
    static const struct {
        int64_t ns;
        int digits;
        const char *name;
    } units[] = {{1000000000, 9, "s"}, {1000000, 6, "ms"}, {1000, 3, "us"}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (ns < units[i].ns)
            continue;
        int64_t rest = ns % units[i].ns;
        int digits = units[i].digits;
        out_printf(o, "%" PRId64, ns / units[i].ns);
        for (; rest > 0 && rest % 10 == 0; rest /= 10)
            digits--;
        if (rest > 0)
            out_printf(o, ".%0*" PRId64, digits, rest);
        out_str(o, units[i].name);
        return;
    }
    out_printf(o, "%" PRId64 "ns", ns);
}

/* A word for the shell. */
static void put_word(out *o, const char *word)
{
    size_t size = strlen(word);
    if (strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/+,@:-") ==
            size &&
        size > 0) {
        html_text(o, word, size, SIZE_MAX);
        return;
    }
    html_text(o, "'", 1, 1);
    for (size_t i = 0; i < size;) {
        size_t plain = strcspn(word + i, "'");
        html_text(o, word + i, plain, SIZE_MAX);
        i += plain;
        if (i < size)
            html_text(o, "'\\''", 4, 4);
        i += i < size;
    }
    html_text(o, "'", 1, 1);
}

void html_file(html *h, size_t trace)
{
    const char *name = h->s->traces[trace].name;
    if (name[0] == '<')
        out_str(h->out, "FILE");
    else
        put_word(h->out, name);
}

void html_files(html *h)
{
    if (html_is_several(h))
        out_str(h->out, "FILE ...");
    else
        html_file(h, 0);
}

static void put_trace_name(html *h, size_t trace)
{
    const char *name = h->s->traces[trace].name;
    html_text(h->out, name, strlen(name), HTML_NAME);
}

void html_each_trace(html *h, void (*put)(html *h))
{
    const size_t count = h->s->trace_count;
    for (size_t i = 0; i < count && i < HTML_TRACES; i++) {
        h->trace = &h->traces[i];
        if (count > 1) {
            out_printf(h->out, "<details class=\"trace\"%s>\n<summary>", i ? "" : " open");
            put_trace_name(h, i);
            out_str(h->out, "</summary>\n");
        }
        put(h);
        out_str(h->out, count > 1 ? "</details>\n" : "");
    }
    if (count > HTML_TRACES)
        out_printf(h->out, "<p>The first %d of %zu traces.</p>\n", HTML_TRACES, count);
}

void html_window(html *h, size_t trace, int64_t begin, int64_t ns)
{
    out *o = h->out;
    int64_t margin = ns / 4 + 1000, end;
    int64_t from = begin > margin ? begin - margin : 0;
    if (html_is_several(h)) {
        put_trace_name(h, trace);
        out_str(o, "<br>");
    }
    if (begin < 0 || __builtin_add_overflow(begin, ns, &end) ||
        __builtin_add_overflow(end, margin, &end))
        return;
    out_str(o, "<code class=\"window\"");
    if (html_is_several(h)) {
        out_str(o, " data-file=\"");
        html_file(h, trace);
        out_char(o, '"');
    }
    out_str(o, "><span>--from ");
    put_time(o, from);
    out_str(o, "</span> <span>--until ");
    put_time(o, end);
    out_str(o, "</span></code>");
}

void html_selection(html *h)
{
    const char *before = "";
    for (size_t by = 0; h->what && by < SELECT_COUNT; by++) {
        const char *text = h->what->texts[by];
        if (!text)
            continue;
        out_printf(h->out, "%s--%s ", before, select_option(by));
        before = " ";
        put_word(h->out, text);
    }
}

/* ---- tables -----------------------------------------------------------------------------------
 */

void html_cell_time(out *o, int64_t ns)
{
    out_printf(o, "<td class=\"n\" data-v=\"%" PRId64 "\">", ns);
    if (ns == 0)
        out_char(o, '0');
    else
        html_duration(o, ns);
}

void html_cell_count(out *o, uint64_t count)
{
    out_printf(o, "<td class=\"n\" data-v=\"%" PRIu64 "\">", count);
    html_count(o, count);
}

void html_cell_id(out *o, uint64_t id)
{
    out_printf(o, "<td class=\"n\" data-v=\"%" PRIu64 "\">%" PRIu64, id, id);
}

void html_table(out *o, const char *caption, const char *class, const char *const *columns)
{
    out_printf(o,
               "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">\n"
               "<table class=\"%s\">\n<caption>%s</caption>\n<thead><tr>",
               caption, class, caption);
    for (; *columns; columns++) {
        bool number = **columns == '#';
        out_printf(o, "<th scope=\"col\"%s>%s", number ? " class=\"n\"" : "", *columns + number);
    }
    out_str(o, "</tr></thead>\n<tbody>\n");
}

void html_table_end(out *o)
{
    out_str(o, "</tbody>\n</table>\n</div>\n");
}

void html_bar(out *o, double share)
{
    out_printf(o,
               "<svg class=\"bar\" viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\" "
               "aria-hidden=\"true\"><rect width=\"%.2f\" height=\"8\"/></svg>",
               100 * share);
}
