#include "core/map.h"

/* The slot of a key, or the free one for it. */
static size_t find_slot(const gt_map *map, uint64_t key)
{
    size_t mask = map->capacity - 1, i = gt_map_home(map, key);
    while (map->slots[i].value && map->slots[i].key != key)
        i = (i + 1) & mask;
    return i;
}

static bool grow(gt_map *map)
{
    gt_map larger = *map;
    larger.capacity = map->capacity ? 2 * map->capacity : 64;
    larger.seed = map->capacity ? map->seed : gt_hash_seed();
    larger.slots = gt_calloc(map->heap, larger.capacity, sizeof *larger.slots);
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < map->capacity; i++)
        if (map->slots[i].value)
            larger.slots[find_slot(&larger, map->slots[i].key)] = map->slots[i];
    gt_free(map->heap, map->slots, map->capacity * sizeof *map->slots);
    *map = larger;
    return true;
}

bool gt_map_put(gt_map *map, uint64_t key, uint64_t value)
{
    size_t i = map->capacity ? find_slot(map, key) : 0;
    if (map->capacity == 0 || !map->slots[i].value) {
        if (2 * (map->count + 1) > map->capacity) {
            if (!grow(map))
                return false;
            i = find_slot(map, key);
        }
        map->count++;
    }
    map->slots[i] = (gt_slot){key, value};
    return true;
}

void gt_map_remove(gt_map *map, uint64_t key)
{
    if (map->count == 0)
        return;
    size_t mask = map->capacity - 1, i = find_slot(map, key);
    if (!map->slots[i].value)
        return;
    map->count--;
    /* Closes the gap: moves entries that could no longer be found because of it. */
    for (size_t next = (i + 1) & mask; map->slots[next].value; next = (next + 1) & mask) {
        size_t home = gt_map_home(map, map->slots[next].key);
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
