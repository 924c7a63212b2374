/* plural.h - counts in messages. */
#ifndef PLURAL_H
#define PLURAL_H

#include <stdint.h>

/* The plural ending of a regular noun for that count. */
static inline const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

#endif
