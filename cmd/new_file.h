/*
 * new_file.h - files that appear at their paths complete, or not at all.
 *
 * A new file has no name until it is complete (O_TMPFILE), so that nothing is left whatever ends
 * the program, SIGKILL too. link(2) replaces nothing: a file that is there already is replaced by
 * way of a temporary name, which exists between two system calls. Where the file system has no
 * files without a name, or there are too many of them to keep open, a new file has a temporary name
 * from the beginning, which every signal that ends the program and can be caught removes.
 */
#ifndef NEW_FILE_H
#define NEW_FILE_H

#include <stdbool.h>
#include <sys/types.h>

/* Create a file that is to appear at path, for writing; messages call it name. Returns its
 * descriptor, which is the caller's, or -1 with errno set. */
int new_file_open(const char *path, const char *name, mode_t mode);

/* Let all files that were created appear, in their order. If one cannot, none does, and files that
 * were to be replaced are there as before: returns the errno, else 0. *failed is the name of the
 * one that cannot, to be freed, or NULL. */
int new_files_commit(char **failed);

/* Remove all of them. */
void new_files_discard(void);

/* Remember a folder that was made for the output, to be removed (if it is empty by then) when a
 * signal ends the program. NULL: forget it. */
void new_file_folder(const char *path);

#endif
