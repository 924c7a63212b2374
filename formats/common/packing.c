#include "formats/common/packing.h"

#include <string.h>
#include <strings.h>

static const char *const endings[] = {
    [PACKING_NONE] = "", [PACKING_ZSTD] = ".zst", [PACKING_GZIP] = ".gz"};

packing packing_of_path(const char *path, size_t *stem)
{
    packing found = PACKING_NONE;
    size_t size = strlen(path);
    for (packing p = PACKING_ZSTD; p <= PACKING_GZIP; p++) {
        size_t length = strlen(endings[p]);
        if (size > length && strcasecmp(path + size - length, endings[p]) == 0)
            found = p;
    }
    if (stem)
        *stem = size - strlen(endings[found]);
    return found;
}

const char *packing_ending(packing p)
{
    return endings[p];
}
