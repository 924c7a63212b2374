/* folder.h - results that are several files: the folder they go to, and what they are called. */
#ifndef FOLDER_H
#define FOLDER_H

#include "cmd/verb.h"

/* Whether that can be one: "-" is standard output. Else false, after a diagnostic. */
bool folder_is_one(const char *folder);

/* Have the folder; *made tells whether it was not there before. False after a diagnostic. */
bool folder_make(const char *folder, bool *made);

/* What files made of that one begin with: its name without folder and endings, "trace" for standard
 * input (NULL or "-"). */
void folder_stem(char *stem, size_t size, const char *file);

/* Whether a file may be written there: it is not there yet, or may be replaced. Else false, after a
 * diagnostic. */
bool folder_may_write(const session *s, const char *path);

#endif
