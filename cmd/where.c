#include "cmd/where.h"

#include <string.h>

#include "cmd/diag.h"
#include "cmd/options.h"
#include "cmd/trace_limits.h"

/* The column of an offset, from 1 on, in characters. */
static size_t column_of(const char *text, size_t at)
{
    size_t column = 1;
    for (size_t i = 0; i < at; i++)
        column += ((unsigned char)text[i] & 0xc0) != 0x80;
    return column;
}

int where_open(expression *x, const char *text, const char *where)
{
    expression_error error;
    if (expression_parse(x, text, &error))
        return EXIT_SOUND;
    if (!error.message[0]) {
        limits_no_memory();
        return EXIT_SYSTEM;
    }
    const char *near = error.word[0] ? nearest(error.word, expression_word) : NULL;
    diag_error("%scolumn %zu: %s%s%s%s", where, column_of(text, error.at), error.message,
               near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    if (text[0])
        diag_excerpt(text, error.at);
    return EXIT_USAGE;
}

int where_find(places *found, find_job *job, input *in)
{
    gotrace_reader *reader = input_read_again(in);
    if (!reader)
        return EXIT_SYSTEM;
    places_find(found, job, reader);
    gotrace_reader_close(reader);
    return where_finish(job, "--where: ");
}

int where_finish(const find_job *job, const char *where)
{
    if (job->too_hard) {
        diag_error("%scolumn %zu: matching the regular expression with '%s' takes too many steps "
                   "or too much memory; use a simpler one",
                   where, column_of(job->what->text, job->hard_at), job->text);
        return EXIT_USAGE;
    }
    if (job->failed) {
        limits_no_memory();
        return EXIT_SYSTEM;
    }
    if (job->error) {
        diag_error("cannot store moments in a temporary file: %s", strerror(job->error));
        return EXIT_SYSTEM;
    }
    return EXIT_SOUND;
}
