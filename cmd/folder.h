/* folder.h - output folders of verbs that write several files. */
#ifndef FOLDER_H
#define FOLDER_H

#include "cmd/verb.h"

/* Check that the name is not "-", standard output. Returns false after a diagnostic. */
bool folder_is_valid(const char *folder);

/* Create the folder unless it exists; new_file_folders_end removes it if it was created and is
 * empty. Returns false after a diagnostic. */
bool folder_make(const char *folder);

/* Set the common start of the output names: the name of the input without folder and endings,
 * "trace" for standard input (NULL or "-"). */
void folder_stem(char *stem, size_t size, const char *file);

/* Check that the file does not exist or may be replaced (force). Returns false after a
 * diagnostic. */
bool folder_may_write(const char *path, bool force);

#endif
