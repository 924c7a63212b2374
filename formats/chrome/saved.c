/* saved.c - records that are written again, later or in another document. */
#include "formats/chrome/chrome.h"

#include <stdlib.h>
#include <string.h>

chrome_saved *chrome_save(idmap *map, uint64_t key, const chrome_record *record, const char *text)
{
    chrome_saved *saved = idmap_insert(map, key);
    char *copy = record->text_size > 0 ? malloc(record->text_size) : NULL;

    if (!saved || (record->text_size > 0 && !copy)) {
        free(copy);
        return NULL;
    }
    if (copy)
        memcpy(copy, text, record->text_size);
    free(saved->text);
    *saved = (chrome_saved){.record = *record, .text = copy, .part = saved->part};
    return saved;
}

void chrome_unsave(idmap *map, uint64_t key)
{
    chrome_saved *saved = idmap_find(map, key);

    if (saved)
        free(saved->text);
    idmap_remove(map, key);
}

void chrome_unsave_all(idmap *map)
{
    size_t cursor = 0;
    uint64_t key;
    void *value;

    while (idmap_next(map, &cursor, &key, &value))
        free(((chrome_saved *)value)->text);
    idmap_free(map);
}

/* One key for rows of all sections, and for sections. */
static uint64_t key_of(uint64_t pid, uint64_t tid, bool section)
{
    return tid * 8 + pid * 2 + section;
}

uint64_t chrome_row_key(const chrome_record *record)
{
    bool flow = record->op == CHROME_FLOW_START || record->op == CHROME_FLOW_END;
    bool names = record->op == CHROME_ROW || record->op == CHROME_SECTION;
    uint64_t pid = record->op == CHROME_TASK ? CHROME_PID_TASKS
                   : flow || names           ? record->values[CHROME_PID]
                                             : (uint64_t)CHROME_PID_PROCS;

    return key_of(pid, record->values[CHROME_TID], record->op == CHROME_SECTION);
}
