/*
 * source.c - takes the records of the program's threads out of the shared memory.
 */
#include "cmd/record/record.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "core/malloc.h"
#include "formats/common/vector.h"

enum {
    VISIBLE_NS = 100000,      /* a store of another processor is visible after that time */
    SKEW_NS = 1000000,        /* clocks of processors differ by less */
    PATIENCE_NS = 1000000000, /* see source.patience_ns */
    MOST_STACKS = 1 << 20,
};

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

int source_create(bool stacks, uint32_t sample_ns)
{
    int fd = memfd_create("gotrace", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    const struct {
        uint64_t size;
        uint32_t stacks, sample_ns;
    } begin = {sizeof(ring), stacks, sample_ns};
    if (fd >= 0 && ftruncate(fd, sizeof(ring)) == 0 &&
        pwrite(fd, &begin, offsetof(ring, closed), 0) == (ssize_t)offsetof(ring, closed) &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

void source_give_back(int fd)
{
    const off_t page = sysconf(_SC_PAGESIZE);
    fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, page, (off_t)sizeof(ring) - page);
    close(fd);
}

bool source_open(source *s, int fd, int32_t pid, names *n, size_t *backlog)
{
    void *memory = mmap(NULL, sizeof(ring), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        return false;
    s->shared = memory;
    s->names = n;
    s->pid = pid;
    s->backlog = backlog;
    s->most_backlog = MOST_BACKLOG;
    s->patience_ns = PATIENCE_NS;
    return true;
}

static void free_thread(source *s, thread *t)
{
    *s->backlog -= sizeof *t + t->capacity * sizeof *t->items;
    for (size_t i = t->first; i < t->end; i++)
        if (t->items[i].record.type == RING_FD) {
            *s->backlog -= sizeof *t->items[i].descriptor;
            free(t->items[i].descriptor);
        }
    free(t->items);
    free(t->building);
    free(t->naming);
    free(t);
}

void source_close(source *s)
{
    for (size_t i = 0; i < s->count; i++)
        free_thread(s, s->threads[i]);
    for (size_t i = 0; i < s->stack_count; i++)
        free(s->stacks[i]);
    free(s->threads);
    for (size_t i = 0; i < s->fd_count; i++)
        free(s->fds[i]);
    free(s->fds);
    free(s->stacks);
    gt_lookup_free(&s->known, gt_malloc());
    for (uint32_t i = 0; i < s->image_count; i++)
        names_end(s->names, s->images[i]);
    if (s->shared)
        munmap(s->shared, sizeof *s->shared);
}

void source_end(source *s)
{
    s->ended = true;
    s->shared->closed = 1;
}

/* Ends taking records, because the shared memory has something that the library does not write. */
static void find_fault(source *s, const char *fault)
{
    s->fault = fault;
    source_end(s);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Makes room for one more element. */
static bool grow(source *s, void **array, size_t *capacity, size_t count, size_t element)
{
    void *grown = vector_room(*array, capacity, count, element);
    *array = grown ? grown : *array;
    s->failed = s->failed || !grown;
    return grown;
}

/* ---- stacks ---------------------------------------------------------------------------------- */

static size_t stack_size(const stack *k)
{
    return offsetof(stack, pcs) + k->depth * sizeof k->pcs[0];
}

/* The one of equal stacks that is kept; NULL: memory is refused, or there are too many. */
static const stack *intern(source *s, const stack *k)
{
    size_t slot, size = stack_size(k);
    if (!gt_lookup_reserve(&s->known, gt_malloc()) ||
        !grow(s, (void **)&s->stacks, &s->stack_capacity, s->stack_count, sizeof *s->stacks))
        return NULL;
    uint64_t hash = gt_hash_bytes(s->known.seed, k, size);
    uint32_t number = gt_lookup_first(&s->known, hash, &slot);
    while (number && (stack_size(s->stacks[number - 1]) != size ||
                      memcmp(s->stacks[number - 1], k, size) != 0))
        number = gt_lookup_next(&s->known, hash, &slot);
    if (number)
        return s->stacks[number - 1];
    if (s->stack_count == MOST_STACKS) {
        s->lost_stacks++;
        return NULL;
    }
    stack *copy = malloc(size);
    if (!copy) {
        s->failed = true;
        return NULL;
    }
    memcpy(copy, k, size);
    s->stacks[s->stack_count++] = copy;
    gt_lookup_put(&s->known, slot, hash, (uint32_t)s->stack_count);
    return copy;
}

static void take_frame(source *s, thread *t, const ring_record *r)
{
    if (!t->building && !(t->building = calloc(1, sizeof *t->building))) {
        s->failed = true;
        return;
    }
    const uint64_t pc = r->object & PC_MASK;
    names_see(s->names, s->images[t->image], pc);
    t->building->depth = r->flags;
    t->building->pcs[r->kind] = pc | (uint64_t)s->images[t->image] << PC_IMAGE_SHIFT;
    if (r->kind + 1 == r->flags)
        t->stacks[r->stack] = intern(s, t->building);
}

/* ---- threads --------------------------------------------------------------------------------- */

/* Reads how many programs the process has executed. */
static bool read_images(source *s)
{
    const uint32_t images = atomic_load_explicit(&s->shared->images, memory_order_acquire);
    if (images > RING_IMAGES || images < s->image_count) {
        find_fault(s, "the number of executed programs is impossible");
        return false;
    }
    for (; s->image_count < images; s->image_count++) {
        if (s->image_count > 0)
            names_past(s->names, s->images[s->image_count - 1]);
        s->images[s->image_count] = names_add(s->names, s->shared, s->image_count, s->pid);
    }
    return true;
}

static thread *thread_at(source *s, uint32_t slot)
{
    if (s->at[slot])
        return s->at[slot];
    if (!grow(s, (void **)&s->threads, &s->capacity, s->count, sizeof *s->threads))
        return NULL;
    const uint32_t image = s->shared->slots[slot].image;
    if (image >= s->image_count && (!read_images(s) || image >= s->image_count)) {
        find_fault(s, "a thread is of a program that was not executed");
        return NULL;
    }
    if (*s->backlog > 4 * s->most_backlog) {
        find_fault(s, "there are too many threads");
        return NULL;
    }
    thread *t = calloc(1, sizeof *t);
    if (!t) {
        s->failed = true;
        return NULL;
    }
    *s->backlog += sizeof *t;
    t->of = s;
    t->slot = slot;
    t->image = image;
    t->delay = UNKNOWN_DELAY;
    s->at[slot] = t;
    s->threads[s->count++] = t;
    return t;
}

/* Within the process an object has its address. */
static uint64_t key_of(const source *s, const thread *t, const ring_record *r)
{
    const bool shared = (r->type == RING_BLOCK && r->kind == RING_SEM && r->flags & RING_SHARED) ||
                        (r->type == RING_WAKE && r->kind == RING_SHARED);
    const uint64_t key = shared ? names_key(s->names, s->images[t->image], r->object) : 0;
    return key ? key : r->object & ~NAMES_SHARED;
}

/* NULL: memory is refused. */
static item *add_item(source *s, thread *t, const ring_record *r)
{
    if (t->first > 0 && t->end == t->capacity) {
        memmove(t->items, t->items + t->first, (t->end - t->first) * sizeof *t->items);
        t->end -= t->first;
        t->first = 0;
    }
    const size_t before = t->capacity;
    if (!grow(s, (void **)&t->items, &t->capacity, t->end, sizeof *t->items))
        return NULL;
    *s->backlog += (t->capacity - before) * sizeof *t->items;
    item *i = &t->items[t->end++];
    *i = (item){
        .record = *r, .stack = t->stacks[r->stack], .key = key_of(s, t, r), .delay = t->delay};
    t->delay = UNKNOWN_DELAY;
    if (r->type == RING_CREATE && (i->other = thread_at(s, r->flags)))
        i->other->named++;
    return i;
}

/* ---- file descriptors ------------------------------------------------------------------------ */

/* Of a part that is not recorded, what was there is zero. The thread may have begun with another
 * descriptor and given that up, see trace_jump. */
static void take_part(source *s, thread *t, const ring_record *r)
{
    if (!t->naming && !(t->naming = calloc(1, sizeof *t->naming))) {
        s->failed = true;
        return;
    }
    if (r->kind == 0)
        memset(t->naming, 0, sizeof *t->naming);
    memcpy((char *)&t->naming->is + r->kind * sizeof r->object, &r->object, sizeof r->object);
    if (r->kind + 1 < r->stack)
        return;
    item *i = add_item(s, t, r);
    if (!i)
        return;
    descriptor_find_ends(t->naming, s->pid, r->flags);
    *s->backlog += sizeof *t->naming;
    i->descriptor = t->naming;
    t->naming = NULL;
}

/* ---- records --------------------------------------------------------------------------------- */

/* What is wrong with a record that was taken at that time; NULL: nothing. */
static const char *check_record(const thread *t, const ring_record *r, uint64_t time)
{
    if (r->time + SKEW_NS < t->last || r->time > time + SKEW_NS)
        return "the time of a record is impossible";
    if (r->stack >= RING_STACKS)
        return "a record has a stack with an impossible number";
    switch ((ring_type)r->type) {
    case RING_FRAME:
        if (r->stack > 0 && r->flags <= RING_FRAMES && r->kind < r->flags)
            return NULL;
        return "a frame is not of a stack";
    case RING_CREATE:
        return r->flags < RING_SLOTS ? NULL : "a created thread has an impossible number";
    case RING_BLOCK:
        return r->kind >= RING_MUTEX && r->kind <= RING_NO_WAIT ? NULL
                                                                : "a call is of no known kind";
    case RING_ATTACH:
    case RING_START:
    case RING_SELF:
    case RING_HOLDER:
    case RING_DELAY:
    case RING_END:
    case RING_RESUME:
    case RING_WAKE:
    case RING_OFF: return NULL;
    case RING_SAMPLE:
        return r->flags <= RING_PERIODS ? NULL : "a sample stands for too many periods";
    case RING_FD:
        return r->flags < RING_FDS && r->stack <= RING_FD_PARTS && r->kind < r->stack
                   ? NULL
                   : "a file descriptor or its name is impossible";
    case RING_NAME:
        return r->kind < RING_NAME_SIZE / sizeof r->object ? NULL : "a name is too long";
    }
    return "a record is of no known type";
}

/* Takes the records of a slot up to that head. */
static void take_records(source *s, thread *t, uint64_t head)
{
    const ring_slot *slot = &s->shared->slots[t->slot];
    const uint64_t time = now();
    uint64_t *tail = &s->tails[t->slot];
    for (; *tail != head && !s->fault && !s->failed; ++*tail) {
        const ring_record r = *(const volatile ring_record *)&slot->records[*tail % RING_RECORDS];
        const char *fault = check_record(t, &r, time);
        if (fault) {
            find_fault(s, fault);
            return;
        }
        t->last = r.time > t->last ? r.time : t->last;
        if (r.type == RING_FRAME)
            take_frame(s, t, &r);
        else if (r.type == RING_SELF)
            t->self = r.object;
        else if (r.type == RING_DELAY)
            t->delay = r.object;
        else if (r.type == RING_FD)
            take_part(s, t, &r);
        else
            add_item(s, t, &r);
    }
}

/* The time up to which no more records of a thread come that is seen to be busy; at most safe. It
 * is passed over if it does not go on: a signal handler has jumped out of writing the record, or
 * the memory was damaged. */
static uint64_t busy_until(source *s, thread *t, uint64_t head, uint64_t safe)
{
    const uint64_t time = now();
    if (t->busy_since == 0 || t->busy_head != head)
        t->busy_since = time;
    t->busy_head = head;
    if (t->last >= safe || time - t->busy_since > s->patience_ns)
        return safe;
    s->stalled = true;
    return t->last;
}

/* Takes the records of a slot, or only looks whether it is busy. Returns a time up to which no more
 * come; at most safe. */
static uint64_t take_slot(source *s, uint32_t number, bool takes, uint64_t safe)
{
    ring_slot *slot = &s->shared->slots[number];
    thread *t = takes || s->at[number] ? thread_at(s, number) : NULL;
    if (!t)
        return safe;
    const bool busy = atomic_load_explicit(&slot->busy, memory_order_acquire);
    const uint64_t head = atomic_load_explicit(&slot->head, memory_order_acquire);
    if (head - s->tails[number] > RING_RECORDS) {
        find_fault(s, "the number of records of a thread is impossible");
        return safe;
    }
    if (takes && head != s->tails[number]) {
        take_records(s, t, head);
        atomic_store_explicit(&slot->tail, s->tails[number], memory_order_release);
    }
    if (busy && t->image + 1 >= s->image_count)
        return busy_until(s, t, head, safe);
    t->busy_since = 0;
    return safe;
}

uint64_t source_begin(const source *s)
{
    const thread *t = s->count > 0 ? s->threads[0] : NULL;
    return t && t->first < t->end ? t->items[t->first].record.time : 0;
}

/* A thread that has ended, or whose image has: its slot can be used again. */
static void free_slot(source *s, uint32_t number)
{
    ring_slot *slot = &s->shared->slots[number];
    s->at[number]->finished = true;
    s->at[number] = NULL;
    slot->busy = 0;
    atomic_store_explicit(&slot->state, RING_FREE, memory_order_release);
}

/* Reads the state of a slot. Returns whether no more records come: the thread has ended, or the
 * process executes another program. */
static bool is_finished(source *s, uint32_t number, uint32_t *state)
{
    const ring_slot *slot = &s->shared->slots[number];
    *state = atomic_load_explicit(&slot->state, memory_order_acquire);
    if (*state > RING_FINISHED)
        find_fault(s, "the state of a thread is impossible");
    return *state == RING_FINISHED || (*state == RING_TAKEN && slot->image + 1 < s->image_count);
}

/* Reads how many slots are used. */
static uint32_t read_used(source *s)
{
    const uint32_t used = atomic_load_explicit(&s->shared->used, memory_order_acquire);
    if (used > RING_SLOTS)
        find_fault(s, "the number of threads is impossible");
    return read_images(s) && !s->fault ? used : 0;
}

static uint64_t take(source *s, bool takes)
{
    bool finished[RING_SLOTS];
    uint32_t states[RING_SLOTS];
    const uint64_t time = now() - VISIBLE_NS;
    if (s->shared->closed && !s->ended) /* the library does so only if it finds no recorder */
        find_fault(s, "it is marked as closed");
    const uint32_t used = s->fault ? 0 : read_used(s);
    if (takes || s->fault)
        s->complete = time;
    s->passed = !takes;
    s->stalled = false;
    uint64_t safe = s->complete;
    /* A thread that has ended was created before: the record of that is taken below. */
    for (uint32_t i = 0; i < used; i++)
        finished[i] = is_finished(s, i, &states[i]);
    for (uint32_t i = 0; i < used && !s->fault && !s->names->wait.stops(); i++)
        if (states[i] >= RING_TAKEN)
            safe = take_slot(s, i, takes, safe);
    for (uint32_t i = 0; i < used && takes && !s->fault; i++)
        if (finished[i] && s->at[i])
            free_slot(s, i);
    return safe;
}

uint64_t source_take(source *s)
{
    /* If nothing that was taken can be replayed, it is too new, and more has to be taken. */
    return take(s, *s->backlog < s->most_backlog || (s->passed && !s->stalled));
}

void source_take_ahead(source *s)
{
    if (*s->backlog < s->most_backlog)
        take(s, true);
}

void source_take_last(source *s)
{
    source_end(s);
    take(s, true);
}

/* A thread that is not yet replayed as created may be named in a record. */
static bool is_done(const thread *t)
{
    return t->finished && t->named == 0 && t->first == t->end &&
           (t->state == THREAD_CREATED || t->state == THREAD_ENDED);
}

/* A thread with few records gives back the memory of many. */
static void shrink(source *s, thread *t)
{
    enum { KEPT = 2 * RING_RECORDS };
    if (t->capacity <= KEPT || t->first < t->end)
        return;
    *s->backlog -= t->capacity * sizeof *t->items;
    free(t->items);
    t->items = NULL;
    t->first = t->end = t->capacity = 0;
}

void source_forget(source *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->count; i++) {
        thread *t = s->threads[i];
        if (is_done(t)) {
            free_thread(s, t);
            continue;
        }
        shrink(s, t);
        s->threads[kept++] = t;
    }
    s->count = kept;
}
