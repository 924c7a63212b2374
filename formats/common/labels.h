/* labels.h - labels of goroutines that are names. */
#ifndef LABELS_H
#define LABELS_H

#include <stddef.h>

enum { LABEL_MOST = 64 /* bytes of a label that are shown */ };

/* How many bytes of the label are shown as the name of its goroutine; 0: it is not a name. */
size_t label_shown(const char *text, size_t size);

#endif
