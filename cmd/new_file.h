/*
 * new_file.h - files that appear at their paths complete or not at all.
 *
 * A new file has no name until it is complete (O_TMPFILE), so that nothing is left if the program
 * is killed, even by SIGKILL. link(2) does not replace files: an existing file is replaced through
 * a temporary name that exists between two system calls. If the file system does not support files
 * without a name, or there are too many to keep open, a new file has a temporary name from the
 * start, which is removed by a handler for every signal that ends the program and can be caught.
 */
#ifndef NEW_FILE_H
#define NEW_FILE_H

#include <stdbool.h>
#include <sys/types.h>

/* Create a file of a group that will appear at path; name is for messages. Returns its descriptor,
 * owned by the caller, or -1 with errno set. */
int new_file_open(unsigned group, const char *path, const char *name, mode_t mode);

/* Let the only file of the group appear at another path of the same folder; name is for messages.
 * False if memory is refused. */
bool new_file_move(unsigned group, const char *path, const char *name);

/* Whether a file was created that will appear at path. */
bool new_file_awaits(const char *path);

/* Let all created files of the group appear, in order. If one fails, none appears, and replaced
 * files are restored: returns its errno, otherwise 0. *failed is the name of the file that failed,
 * to be freed, or NULL. */
int new_files_commit(unsigned group, char **failed);

/* Discard all created files of the group. */
void new_files_discard(unsigned group);

/* Register a folder that is being created for the output, so that it is removed, if it is empty,
 * when a signal ends the program. False if memory is refused. */
bool new_file_folder(const char *path);

/* Forget the last registered folder. */
void new_file_folder_drop(void);

/* Forget all registered folders, after removing, unless keep, those that are empty. */
void new_file_folders_end(bool keep);

#endif
