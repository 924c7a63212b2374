/*
 * window.h - the bytes of a part of the file, a batch or several, through a small buffer.
 */
#ifndef GT_FILE_WINDOW_H
#define GT_FILE_WINDOW_H

#include "read/handle.h"

/* Zeroed bytes after the buffer: more than the values of any record that is decoded without bounds
 * checks. */
enum { GT_SLACK = 128 };

typedef struct gt_file_window {
    const uint8_t *p;     /* the next byte */
    const uint8_t *limit; /* after the last byte that was read */
    const uint8_t *safe;  /* before this, GT_SLACK bytes were read */
    uint64_t base, end;   /* offsets in the file of bytes[0], and of the end of the part */
    uint8_t *bytes;       /* NULL: closed */
    size_t size;
} gt_file_window;

/* False if memory is refused. */
bool gt_file_window_open(gotrace_reader *reader, gt_file_window *window, size_t size);
void gt_file_window_close(gotrace_reader *reader, gt_file_window *window);

/* Moves to a part of the file; nothing of it is read yet. */
void gt_file_window_move(gt_file_window *window, uint64_t offset, uint64_t end);

/* Makes at least `need` bytes available from p on, or all that are left. False if reading cannot
 * continue. */
bool gt_file_window_fill(gotrace_reader *reader, gt_file_window *window, size_t need);

static inline uint64_t gt_offset_of(const gt_file_window *window, const uint8_t *p)
{
    return window->base + (uint64_t)(p - window->bytes);
}

#endif
