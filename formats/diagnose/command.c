/* command.c - the command that shows more of a finding. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/diagnose/describe.h"

/* Writes text in single quotes of the shell. */
static void write_quoted(FILE *to, const char *text, size_t size)
{
    fputc('\'', to);
    for (size_t i = 0; i < size; i++)
        if (text[i] == '\'')
            fputs("'\\''", to);
        else
            fputc(text[i], to);
    fputc('\'', to);
}

/* Writes a word of the shell. */
static void write_word(FILE *to, const char *text, size_t size)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./+=:,@%";
    bool quoted = size == 0;
    for (size_t i = 0; i < size; i++)
        quoted |= !memchr(plain, text[i], sizeof plain - 1);
    if (quoted)
        write_quoted(to, text, size);
    else
        fwrite(text, 1, size, to);
}

/* A regular expression that only this name matches. */
static void write_pattern(FILE *to, const stacks *names, uint32_t name)
{
    size_t size;
    const char *text = stacks_text(names, name, &size);
    fputs("'^", to);
    for (size_t i = 0; i < size; i++) {
        if (strchr("\\.()[]{}*+?|^$", text[i]))
            fputc('\\', to);
        if (text[i] == '\'')
            fputs("'\\'", to);
        fputc(text[i], to);
    }
    fputs("$'", to);
}

static void write_task(FILE *to, const diagnosis *d, const stacks *names)
{
    size_t size;
    const char *name = stacks_text(names, d->task, &size);
    fputs(d->of_function ? "why --goroutine " : "why --task ", to);
    write_word(to, name, size);
    fputs(" --slowest 3", to);
}

/* Half of the longest time, with one digit, so that what is like it is found too. */
static void write_half(FILE *to, int64_t ns)
{
    int64_t unit = 1;
    while (ns / 2 / unit >= 10)
        unit *= 10;
    ns = ns / 2 / unit * unit;
    if (ns >= 1000 * 1000 * 1000)
        fprintf(to, "%llds", (long long)(ns / (1000 * 1000 * 1000)));
    else if (ns >= 1000 * 1000)
        fprintf(to, "%lldms", (long long)(ns / (1000 * 1000)));
    else
        fprintf(to, "%lldus", (long long)(ns / 1000));
}

static void write_find(FILE *to, const char *kind, int64_t longest)
{
    fprintf(to, "find '%s > ", kind);
    write_half(to, longest);
    fputc('\'', to);
}

static void write_function(FILE *to, const stacks *names, const finding *f)
{
    fputs("stat --only goroutines,blocking --function ", to);
    write_pattern(to, names, f->function);
}

static bool write_command(FILE *to, const diagnosis *d, const stacks *names, const finding *f,
                          const char *file)
{
    if (f->cause == FINDING_DEADLOCK && f->goroutine == 0)
        return false;
    if (!d->tasks &&
        (f->cause == FINDING_GC_ASSIST || f->cause == FINDING_NETWORK || f->cause == FINDING_TIMER))
        return false;
    fputs("gotrace ", to);
    switch ((finding_cause)f->cause) {
    case FINDING_LOCK:
        if (f->of == OF_TASKS || f->of == OF_CHOSEN)
            write_task(to, d, names);
        else
            write_find(to, "wait(sync)", f->longest);
        break;
    case FINDING_DEADLOCK: fprintf(to, "why --goroutine %" PRIu64, f->goroutine); break;
    case FINDING_GC_ASSIST:
    case FINDING_NETWORK:
    case FINDING_TIMER: write_task(to, d, names); break;
    case FINDING_CHANNEL:
    case FINDING_LEAK:
    case FINDING_CHURN: write_function(to, names, f); break;
    case FINDING_CPU: fputs("stat --only scheduling,samples", to); break;
    case FINDING_IDLE: fputs("find 'sched > 1ms'", to); break;
    case FINDING_FROZEN: fputs("find 'silence > 22ms'", to); break;
    case FINDING_GC_CPU: fputs("stat --only gc", to); break;
    case FINDING_STOP: write_find(to, "stw", f->longest); break;
    case FINDING_SYSCALL: write_find(to, "syscall", f->longest); break;
    case FINDING_STORM: fputs("stat --only blocking", to); break;
    case FINDING_LIMITS:
    case FINDING_CAUSE_COUNT: return false;
    }
    fputc(' ', to);
    write_word(to, file, strlen(file));
    return true;
}

char *describe_command(const diagnosis *d, const stacks *names, const finding *f, const char *file,
                       bool *failed)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    bool done = to && write_command(to, d, names, f, file);
    *failed = !to || ferror(to);
    if (to && fclose(to) != 0)
        *failed = true;
    /* glibc's fclose says nothing if it could not make the text as long as it is. */
    *failed |= done && !text;
    if (!*failed && done)
        return text;
    free(text);
    return NULL;
}
