/* script_file.h - an event script as a stream, compressed or not. */
#ifndef SCRIPT_FILE_H
#define SCRIPT_FILE_H

#include <stdint.h>
#include <stdio.h>

/* A stream over descriptor fd, which it closes. zstd is known by its magic and decompressed on
 * the fly; where it is damaged, reading fails with EBADMSG. NULL when out of memory. */
FILE *script_file_open(int fd);

#endif
