/* options.h - the command line, GNU style: --name=value, --name value, -n value, -abc, --, -. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "cmd/verb.h"

/* Parse the arguments of a verb (argv after its name, NULL at the end) into s->set and s->files.
 * argv is reordered: files first. Returns false, after a diagnostic, on an error. */
bool options_parse(session *s, int argc, char **argv);

/* Returns how many bytes must be changed to get the word from what was written; the same number for
 * all words if one of both is long. */
size_t word_distance(const char *written, const char *word);

/* Returns the candidate most similar to the word, or NULL if none is similar. at returns the n-th
 * candidate, NULL past the last. */
const char *nearest(const char *written, const char *(*at)(size_t n));

/* Join the candidates with commas. */
void options_join(char *dst, size_t size, const char *(*at)(size_t n));

/* Report that an option's value is not one of the candidates, with the list and the most similar
 * one. */
void options_unknown(const char *option, const char *value, const char *(*at)(size_t n));

/* Parse a list of candidates separated by commas (NULL: empty) and set the bit of each in *set.
 * Returns false after a diagnostic. */
bool options_list(const char *option, const char *list, const char *(*at)(size_t n), unsigned *set);

/* Print a table of options, ended by a row without a name. */
void options_help(out *o, const option_spec *row);

/* Returns the n-th option of a verb, its own first, or NULL past the last. */
const option_spec *option_at(const verb *v, size_t n);

#endif
