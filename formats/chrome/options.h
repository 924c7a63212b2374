/* options.h - the options of the Chrome format alone. */
#ifndef CHROME_OPTIONS_H
#define CHROME_OPTIONS_H

#include <stddef.h>

/* What has a row. */
typedef enum chrome_view { BY_PROC, BY_GOROUTINE, BY_THREAD } chrome_view;

typedef struct chrome_options {
    const char *by; /* a name of a view; NULL: the first */
} chrome_options;

/* NULL after the last. */
const char *chrome_view_name(size_t n);

#endif
