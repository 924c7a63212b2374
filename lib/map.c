#include "map.h"

static bool grow(gt_map *map)
{
    size_t capacity = map->capacity ? 2 * map->capacity : 64;
    gt_slot *slots = gt_calloc(map->heap, capacity, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < map->capacity; i++) {
        if (!map->slots[i].value)
            continue;
        size_t at = gt_map_hash(map->slots[i].key) & (capacity - 1);
        while (slots[at].value)
            at = (at + 1) & (capacity - 1);
        slots[at] = map->slots[i];
    }
    gt_free(map->heap, map->slots, map->capacity * sizeof *slots);
    map->slots = slots;
    map->capacity = capacity;
    return true;
}

bool gt_map_put(gt_map *map, uint64_t key, uint64_t value)
{
    size_t mask = map->capacity - 1, i = 0;
    if (map->capacity)
        for (i = gt_map_hash(key) & mask; map->slots[i].value; i = (i + 1) & mask)
            if (map->slots[i].key == key) {
                map->slots[i].value = value;
                return true;
            }
    if (2 * (map->count + 1) > map->capacity) {
        if (!grow(map))
            return false;
        mask = map->capacity - 1;
        for (i = gt_map_hash(key) & mask; map->slots[i].value; i = (i + 1) & mask)
            ;
    }
    map->count++;
    map->slots[i] = (gt_slot){key, value};
    return true;
}

void gt_map_remove(gt_map *map, uint64_t key)
{
    if (map->count == 0)
        return;
    size_t mask = map->capacity - 1, i = gt_map_hash(key) & mask;
    while (map->slots[i].value && map->slots[i].key != key)
        i = (i + 1) & mask;
    if (!map->slots[i].value)
        return;
    map->count--;
    /* Close the gap: whoever would be found through it moves into it. */
    for (size_t next = (i + 1) & mask; map->slots[next].value; next = (next + 1) & mask) {
        size_t home = gt_map_hash(map->slots[next].key) & mask;
        if (((next - home) & mask) >= ((next - i) & mask)) {
            map->slots[i] = map->slots[next];
            i = next;
        }
    }
    map->slots[i].value = 0;
}

void gt_map_free(gt_map *map)
{
    gt_free(map->heap, map->slots, map->capacity * sizeof *map->slots);
    map->slots = NULL;
    map->count = map->capacity = 0;
}
