/* errors.c - errors of a script: their position and text, and recovery. */
#include <stdarg.h>
#include <string.h>

#include "formats/common/rows_by_meaning.h"
#include "formats/script/meaning.h"

/* ---- creating and reporting ------------------------------------------------------------------ */

gotrace_error *script_error_of(script_job *job, gotrace_rule rule, uint64_t line)
{
    const gotrace_rule_info *info = gotrace_rule_describe(rule);
    job->error = (script_error){
        .line = job->binary ? 0 : line,
        .column = line == job->record.line ? job->column : 0,
        .offset = job->binary ? line : GOTRACE_NO_OFFSET,
        .event = job->events,
        .error = {.rule = rule,
                  .severity = info->severity,
                  .class_ = info->class_,
                  .offset = GOTRACE_NO_OFFSET,
                  .batch = GOTRACE_NO_OFFSET,
                  .event = GOTRACE_NO_OFFSET},
    };
    return &job->error.error;
}

gotrace_status script_fail_as(script_job *job, uint64_t line, const gotrace_error *error)
{
    *script_error_of(job, GOTRACE_RULE_NONE, line) = *error;
    return GOTRACE_ERROR;
}

static void fail_list(script_job *job, gotrace_rule rule, uint64_t line, const char *message,
                      va_list list)
{
    gotrace_error *error = script_error_of(job, rule, line);
    vsnprintf(error->message, sizeof error->message, message, list);
    /* Scripts are limited by memory only. */
    if (rule == GOTRACE_RULE_SYSTEM_LIMIT)
        error->limit = GOTRACE_LIMIT_MEMORY;
}

gotrace_status script_fail(script_job *job, uint64_t line, const char *message, ...)
{
    va_list list;
    va_start(list, message);
    fail_list(job, GOTRACE_RULE_USAGE, line, message, list);
    va_end(list);
    return GOTRACE_ERROR;
}

gotrace_status script_fail_system(script_job *job, gotrace_rule rule, const char *message, ...)
{
    va_list list;
    va_start(list, message);
    fail_list(job, rule, job->binary ? job->in.before + job->in.at : job->in.line, message, list);
    va_end(list);
    return GOTRACE_ERROR;
}

void script_prepend(gotrace_error *error, const char *text, ...)
{
    char message[sizeof error->message];
    va_list list;
    memcpy(message, error->message, sizeof message);
    va_start(list, text);
    int size = vsnprintf(error->message, sizeof error->message, text, list);
    va_end(list);
    snprintf(error->message + size, sizeof error->message - (size_t)size, "%s", message);
}

void script_finish_error(script_job *job)
{
    gotrace_error *error = &job->error.error;
    if (job->in_list && !job->unreadable && error->class_ != GOTRACE_CLASS_SYSTEM)
        script_prepend(error, "%s[%llu]: ", job->by_meaning ? "events" : "records",
                       (unsigned long long)job->index);
    if (job->errors++ == 0)
        job->first_error = job->error;
    if (job->options.report)
        job->options.report(job->options.report_ctx, &job->error);
}

gotrace_status script_recover(script_job *job)
{
    if (!job->options.report || job->unreadable || job->error.error.class_ == GOTRACE_CLASS_SYSTEM)
        return GOTRACE_ERROR;
    script_finish_error(job);
    job->faulty = true;
    return GOTRACE_OK;
}

/* ---- excerpts and suggestions in messages ---------------------------------------------------- */

script_shown script_show(const char *s, size_t size)
{
    script_shown shown;
    size_t room = sizeof shown.text - sizeof "...", used = 0;
    for (size_t i = 0; i < size && used < room; i++) {
        bool plain = s[i] >= ' ' && s[i] <= '~';
        shown.text[used++] = plain ? s[i] : '?';
    }
    memcpy(shown.text + used, size > room ? "..." : "", size > room ? 4 : 1);
    return shown;
}

/* Edit distance of two short names, ignoring case. */
static size_t distance(const char *a, size_t a_size, const char *b, size_t b_size)
{
    enum { LONGEST = 40 };
    size_t row[LONGEST + 1];
    if (a_size > LONGEST || b_size > LONGEST)
        return LONGEST;
    for (size_t j = 0; j <= b_size; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_size; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_size; j++) {
            size_t change = corner + ((a[i - 1] | 32) != (b[j - 1] | 32));
            size_t other = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            corner = row[j];
            row[j] = change < other ? change : other;
        }
    }
    return row[b_size];
}

const char *script_nearer_name(const char *found, size_t size, const char *best, const char *name)
{
    /* One letter in three may differ. */
    size_t d = distance(found, size, name, strlen(name));
    if (d > size / 3)
        return best;
    return best && distance(found, size, best, strlen(best)) <= d ? best : name;
}

void script_list(script_names *list, const char *name)
{
    size_t used = strlen(list->text);
    snprintf(list->text + used, sizeof list->text - used, "%s%s", used > 0 ? ", " : "", name);
}

const char *script_arguments_are(const script_names *arguments)
{
    return strchr(arguments->text, ',') ? "its arguments are " : "its only argument is ";
}

/* ---- unknown names ------------------------------------------------------------------------- */

/* The equivalent in this version of an event of the other format, or NULL. Each must be the other's
 * equivalent. */
static const char *name_in_other_format(int version, const char *name, size_t size)
{
    enum { LAST_V1 = GOTRACE_FIRST_V2 - 1 };
    size_t count;
    const int *versions = gotrace_versions(&count);
    int other = version >= GOTRACE_FIRST_V2 ? LAST_V1 : versions[count - 1];
    char text[32];
    if (size >= sizeof text)
        return NULL;
    memcpy(text, name, size);
    text[size] = '\0';
    const gotrace_event_spec *row = gotrace_event_spec_named(other, text);
    const gotrace_event_spec *like = row ? row_like(row, version) : NULL;
    return like && row_like(like, other) == row ? like->name : NULL;
}

/* The range of versions that have an event of that name; *first is 0 if there are none. */
static void versions_with(const char *name, size_t size, int *first, int *last)
{
    size_t count;
    const int *versions = gotrace_versions(&count);
    char text[32];
    *first = *last = 0;
    if (size >= sizeof text)
        return;
    memcpy(text, name, size);
    text[size] = '\0';
    for (size_t i = 0; i < count; i++)
        if (gotrace_event_spec_named(versions[i], text)) {
            *first = *first ? *first : versions[i];
            *last = versions[i];
        }
}

gotrace_status script_fail_event(script_job *job, const char *name, size_t size)
{
    uint64_t line = job->record.line;
    script_shown shown = script_show(name, size);
    const char *elsewhere = name_in_other_format(job->version, name, size), *near = NULL;
    int first, last;
    versions_with(name, size, &first, &last);
    if (size == 4 && memcmp(name, "Sync", 4) == 0 && !job->by_meaning) {
        job->unreadable = true;
        return script_fail(job, line,
                           "Sync is not a record of go 1.%d: it is an event of level meaning, "
                           "which needs level=meaning in the first line",
                           job->version);
    }
    if (elsewhere)
        return script_fail(job, line, "\"%s\" is not an event of go 1.%d, which calls it %s",
                           shown.text, job->version, elsewhere);
    if (first)
        return script_fail(job, line,
                           "\"%s\" is not an event of go 1.%d, only of go 1.%d to 1.%d; see "
                           "EVENTS AND THEIR ARGUMENTS in gotrace-script(5)",
                           shown.text, job->version, first, last);
    for (unsigned code = 0; code < SCRIPT_CODES; code++)
        if (job->shapes[code].spec)
            near = script_nearer_name(name, size, near, job->shapes[code].spec->name);
    if (near)
        return script_fail(job, line, "\"%s\" is not an event of go 1.%d; did you mean %s?",
                           shown.text, job->version, near);
    return script_fail(job, line,
                       "\"%s\" is not an event of go 1.%d; see EVENTS AND THEIR ARGUMENTS in "
                       "gotrace-script(5)",
                       shown.text, job->version);
}

/* Whether events by meaning have that argument and records do not: the header lacks the level. */
static bool is_by_meaning(const char *name, size_t size)
{
    static const char *const names[] = {"t", "ticks", "p", "m", "g", "on_p", "on_m", "on_g"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == size && memcmp(names[i], name, size) == 0)
            return true;
    return false;
}

gotrace_status script_fail_arg(script_job *job, uint64_t line, const char *name, size_t size)
{
    const script_shape *shape = job->record.shape;
    script_names list = {""};
    if (is_by_meaning(name, size) && !job->by_meaning) {
        job->unreadable = true;
        return script_fail(job, line,
                           "%s has the argument \"%s\" only at level meaning, which the first "
                           "line has to set: level=meaning",
                           shape->spec->name, script_show(name, size).text);
    }
    for (size_t i = 0; i < shape->arg_count; i++)
        script_list(&list, shape->args[i]->name);
    if (shape->spec->flags & GOTRACE_SPEC_DATA)
        script_list(&list, "data");
    return script_fail(job, line, "%s has no argument \"%s\"; %s%s", shape->spec->name,
                       script_show(name, size).text,
                       *list.text ? script_arguments_are(&list) : "it has no arguments", list.text);
}
