/* options.h - the command line, GNU style: --name=value, --name value, -n value, -abc, --, -. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "cmd/verb.h"

/* Read the arguments of a verb (argv after its name, NULL at the end) into s->set and s->files.
 * argv is reordered: files first. False, after a diagnostic, if they cannot be understood. */
bool options_parse(session *s, int argc, char **argv);

/* The candidate nearest to what was written, or NULL if none is near; at tells the n-th of them,
 * NULL past the last. */
const char *nearest(const char *written, const char *(*at)(size_t n));

/* What there is to choose from, joined by commas. */
void options_join(char *dst, size_t size, const char *(*at)(size_t n));

/* Say that an option's value is none of those, which there are, and which is near. */
void options_unknown(const char *option, const char *value, const char *(*at)(size_t n));

/* Print the table of a verb's options for people. */
void options_help(out *o, const verb *v);

/* The size that text names, "64K"; false if it is none. */
bool options_size(const char *text, uint64_t *size);

/* The n-th option of a verb, its own first, or NULL past the last. */
const option_spec *option_at(const verb *v, size_t n);

#endif
