/*
 * switches.c - when threads were off the processors, and which thread woke which, as the kernel
 * reports it (perf_event_open(2)). The first is permitted for one's own processes with
 * kernel.perf_event_paranoid at 2 or less; the second for root, where tracefs is mounted.
 *
 * Each processor has a ring in which the kernel writes a record when it takes a thread of the
 * program off, or on again, or when such a thread wakes another one. Times are those of
 * CLOCK_MONOTONIC, as of the other records.
 */
#include "cmd/record/record.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "formats/common/idmap.h"
#include "formats/common/vector.h"

enum {
    RING_PAGES = 64,     /* a power of two; perf_event_mlock_kb allows 128 */
    MOST_OFFS = 1 << 16, /* of a thread; earlier ones are dropped */
    WAKINGS = 1 << 16,   /* that are kept */
    VISIBLE_NS = 100000, /* a record of another processor is visible after that time */
};

/* What a thread was off. */
typedef struct offs {
    switch_off *list; /* from first on those that are not dropped */
    size_t first, count, capacity;
    bool is_off; /* the last one has no end yet */
} offs;

typedef struct cpu {
    int fd, waking_fd;                 /* waking_fd < 0: not permitted */
    struct perf_event_mmap_page *page; /* the ring follows it */
} cpu;

/* A record that is not yet among others in order of time. */
typedef struct taken {
    uint64_t time;
    uint32_t tid, misc;
    uint32_t woken; /* by the thread; 0: it is a switch */
} taken;

/* What tracefs says of the tracepoint sched:sched_waking. */
typedef struct tracepoint {
    uint64_t id;  /* 0: it may not be read */
    unsigned pid; /* the offset of the thread that is woken */
} tracepoint;

struct switches {
    cpu *cpus;
    size_t count;
    size_t page_size;
    taken *pending;
    size_t pending_count, pending_capacity;
    idmap threads; /* offs by id */
    tracepoint tracepoint;
    waking *wakings; /* WAKINGS of them, where the number modulo that says; NULL: none yet */
    uint64_t waking_count;
    uint64_t known_since; /* before, records were lost */
    uint64_t read_until;  /* all records until then were read, unless some were lost */
    bool failed;          /* memory is refused */
};

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ---- wakings --------------------------------------------------------------------------------- */

/* How the data of all tracepoints begin. Of the flags see enum trace_flag_type in the kernel's
 * include/linux/trace_events.h. */
typedef struct tracepoint_data {
    uint16_t type;
    uint8_t flags, preempt_count;
    int32_t pid;
} tracepoint_data;

enum { FLAG_HARDIRQ = 0x08, FLAG_SOFTIRQ = 0x10, FLAG_NMI = 0x40 };

/* The ids in the data of tracepoints are those of the first PID namespace, whose number is
 * PROC_PID_INIT_INO in the kernel's include/linux/proc_ns.h. */
static bool is_first_namespace(void)
{
    const ino_t first = 0xEFFFFFFC;
    struct stat namespace;
    return stat("/proc/self/ns/pid", &namespace) == 0 && namespace.st_ino == first;
}

static tracepoint find_tracepoint(void)
{
#define EVENT "/sys/kernel/tracing/events/sched/sched_waking/"
    unsigned long long id = 0;
    unsigned pid = 0;
    char line[256];
    FILE *f = fopen(EVENT "id", "re");
    const bool known = f && fscanf(f, "%llu", &id) == 1;
    if (f)
        fclose(f);
    f = known ? fopen(EVENT "format", "re") : NULL;
    while (f && pid == 0 && fgets(line, sizeof line, f))
        sscanf(line, " field:pid_t pid; offset:%u; size:4;", &pid);
    if (f)
        fclose(f);
    return (tracepoint){pid > 0 ? id : 0, pid};
#undef EVENT
}

/* Its records are in the ring of another event. */
static int open_wakings(const tracepoint *of, pid_t pid, int number, int shared)
{
    struct perf_event_attr how = {
        .size = sizeof how,
        .type = PERF_TYPE_TRACEPOINT,
        .config = of->id,
        .sample_period = 1,
        .inherit = 1,
        .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
    };
    const int fd = of->id ? (int)syscall(SYS_perf_event_open, &how, pid, number, -1,
                                         PERF_FLAG_FD_CLOEXEC)
                          : -1;
    if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, shared) == 0)
        return fd;
    close(fd);
    return -1;
}

static void add_waking(switches *s, const taken *r)
{
    if (!s->wakings && !(s->wakings = malloc(WAKINGS * sizeof *s->wakings)))
        s->failed = true;
    else
        s->wakings[s->waking_count++ % WAKINGS] = (waking){r->time, r->tid, r->woken};
}

const waking *switches_waking(const switches *s, uint64_t *number)
{
    if (*number + WAKINGS < s->waking_count)
        *number = s->waking_count - WAKINGS;
    return *number < s->waking_count ? &s->wakings[*number % WAKINGS] : NULL;
}

/* ---- rings ----------------------------------------------------------------------------------- */

/* The record of a switch, or the beginning of one of a tracepoint: see perf_event_open(2),
 * PERF_RECORD_SWITCH and PERF_RECORD_SAMPLE, with what sample_type adds. */
typedef struct switch_record {
    struct perf_event_header header;
    uint32_t pid, tid;
    uint64_t time;
} switch_record;

/* What follows in that of a tracepoint; bytes of data. */
enum { MOST_DATA = 256 };

typedef struct raw_data {
    uint32_t size;
    char data[MOST_DATA];
} raw_data;

static int open_cpu(pid_t pid, int number)
{
    struct perf_event_attr how = {
        .size = sizeof how,
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_DUMMY,
        .context_switch = 1,
        .inherit = 1,
        .sample_id_all = 1,
        .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
    };
    return (int)syscall(SYS_perf_event_open, &how, pid, number, -1, PERF_FLAG_FD_CLOEXEC);
}

static void *map_ring(int fd, size_t page_size)
{
    void *memory = mmap(NULL, (1 + RING_PAGES) * page_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                        0);
    return memory == MAP_FAILED ? NULL : memory;
}

switches *switches_open(pid_t pid)
{
    const long cpus = sysconf(_SC_NPROCESSORS_CONF);
    switches *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    idmap_init(&s->threads, sizeof(offs));
    if (is_first_namespace())
        s->tracepoint = find_tracepoint();
    s->page_size = (size_t)sysconf(_SC_PAGESIZE);
    s->cpus = cpus > 0 ? calloc((size_t)cpus, sizeof *s->cpus) : NULL;
    for (long i = 0; s->cpus && i < cpus; i++) {
        const int fd = open_cpu(pid, (int)i);
        if (fd < 0 && errno == ENODEV)
            continue; /* it is off */
        cpu *added = &s->cpus[s->count++];
        *added = (cpu){fd, -1, fd < 0 ? NULL : map_ring(fd, s->page_size)};
        if (!added->page) {
            switches_close(s);
            return NULL;
        }
        added->waking_fd = open_wakings(&s->tracepoint, pid, (int)i, fd);
    }
    if (s->count > 0)
        return s;
    switches_close(s);
    return NULL;
}

/* The kernel takes 36 ms to close the last descriptor of a tracepoint, twice what is needed to
 * record a short program: a process that nothing waits for does it. */
static void close_wakings(const switches *s)
{
    size_t i = 0;
    while (i < s->count && s->cpus[i].waking_fd < 0)
        i++;
    if (i < s->count && fork() == 0) {
        close_range(0, ~0U, 0);
        _exit(0);
    }
    for (; i < s->count; i++)
        if (s->cpus[i].waking_fd >= 0)
            close(s->cpus[i].waking_fd);
}

void switches_close(switches *s)
{
    size_t cursor = 0;
    uint64_t tid;
    void *value;
    if (!s)
        return;
    close_wakings(s);
    for (size_t i = 0; i < s->count; i++) {
        if (s->cpus[i].page)
            munmap(s->cpus[i].page, (1 + RING_PAGES) * s->page_size);
        if (s->cpus[i].fd >= 0)
            close(s->cpus[i].fd);
    }
    while (idmap_next(&s->threads, &cursor, &tid, &value))
        free(((offs *)value)->list);
    idmap_free(&s->threads);
    free(s->wakings);
    free(s->pending);
    free(s->cpus);
    free(s);
}

/* ---- records --------------------------------------------------------------------------------- */

static void begin_off(switches *s, offs *o, uint64_t time, bool preempted)
{
    if (o->count - o->first >= MOST_OFFS)
        o->first = o->count - MOST_OFFS / 2;
    if (o->first > 0 && o->count == o->capacity) {
        memmove(o->list, o->list + o->first, (o->count - o->first) * sizeof *o->list);
        o->count -= o->first;
        o->first = 0;
    }
    switch_off *grown = vector_room(o->list, &o->capacity, o->count, sizeof *grown);
    if (!grown) {
        s->failed = true;
        return;
    }
    o->list = grown;
    o->list[o->count++] = (switch_off){time, UINT64_MAX, preempted};
    o->is_off = true;
}

static void take_switch(switches *s, const taken *r)
{
    offs *o = idmap_insert(&s->threads, r->tid);
    if (!o) {
        s->failed = true;
        return;
    }
    if (r->misc & PERF_RECORD_MISC_SWITCH_OUT) {
        begin_off(s, o, r->time, (r->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0);
    } else if (o->is_off && o->count > o->first) {
        o->list[o->count - 1].end = r->time;
        o->is_off = false;
    }
}

static void add_pending(switches *s, const switch_record *r, uint32_t woken)
{
    taken *grown = vector_room(s->pending, &s->pending_capacity, s->pending_count, sizeof *grown);
    if (!grown) {
        s->failed = true;
        return;
    }
    s->pending = grown;
    s->pending[s->pending_count++] = (taken){r->time, r->tid, r->header.misc, woken};
}

/* Copies bytes of a ring of that size, which may be at its end and its beginning. */
static void copy_out(const char *from, size_t size, uint64_t at, void *to, size_t bytes)
{
    const size_t begin = at % size, first = bytes < size - begin ? bytes : size - begin;
    memcpy(to, from + begin, first);
    memcpy((char *)to + first, from, bytes - first);
}

/* A record of the tracepoint, whose data are at that place. What an interrupt did, the thread did
 * not. */
static void take_tracepoint(switches *s, const switch_record *r, const char *records, uint64_t at)
{
    raw_data raw = {0};
    tracepoint_data data;
    int32_t woken;
    const size_t bytes = r->header.size - sizeof *r;
    copy_out(records, RING_PAGES * s->page_size, at, &raw, bytes < sizeof raw ? bytes : sizeof raw);
    if (raw.size > MOST_DATA || s->tracepoint.pid + sizeof woken > raw.size)
        return;
    memcpy(&data, raw.data, sizeof data);
    memcpy(&woken, raw.data + s->tracepoint.pid, sizeof woken);
    if (woken > 0 && !(data.flags & (FLAG_HARDIRQ | FLAG_SOFTIRQ | FLAG_NMI)))
        add_pending(s, r, (uint32_t)woken);
}

static void read_cpu(switches *s, cpu *c)
{
    const char *records = (const char *)c->page + s->page_size;
    const size_t size = RING_PAGES * s->page_size;
    const uint64_t head = __atomic_load_n(&c->page->data_head, __ATOMIC_ACQUIRE);
    uint64_t tail = c->page->data_tail;
    while (tail < head) {
        switch_record r;
        copy_out(records, size, tail, &r.header, sizeof r.header);
        if (r.header.size < sizeof r.header)
            break;
        if (r.header.size >= sizeof r)
            copy_out(records, size, tail, &r, sizeof r);
        if (r.header.type == PERF_RECORD_SWITCH && r.header.size >= sizeof r) {
            add_pending(s, &r, 0);
        } else if (r.header.type == PERF_RECORD_SAMPLE && r.header.size >= sizeof r) {
            take_tracepoint(s, &r, records, tail + sizeof r);
        } else if (r.header.type == PERF_RECORD_LOST) {
            s->known_since = now();
        }
        tail += r.header.size;
    }
    __atomic_store_n(&c->page->data_tail, head, __ATOMIC_RELEASE);
}

static int compare_times(const void *a, const void *b)
{
    const taken *x = a, *y = b;
    return (x->time > y->time) - (x->time < y->time);
}

void switches_read(switches *s)
{
    const uint64_t until = now() - VISIBLE_NS; /* of other processors, too */
    size_t done = 0;
    for (size_t i = 0; i < s->count; i++)
        read_cpu(s, &s->cpus[i]);
    qsort(s->pending, s->pending_count, sizeof *s->pending, compare_times);
    for (; done < s->pending_count && s->pending[done].time <= until; done++)
        if (s->pending[done].woken)
            add_waking(s, &s->pending[done]);
        else
            take_switch(s, &s->pending[done]);
    s->pending_count -= done;
    s->read_until = until;
    if (done > 0)
        memmove(s->pending, s->pending + done, s->pending_count * sizeof *s->pending);
}

bool switches_next(switches *s, uint64_t tid, uint64_t since, uint64_t until, switch_off *off)
{
    offs *o = idmap_find(&s->threads, tid);
    if (!o || since < s->known_since || s->failed)
        return false;
    while (o->first < o->count && o->list[o->first].end <= since)
        o->first++;
    if (o->first == o->count || o->list[o->first].end > until)
        return false;
    *off = o->list[o->first++];
    off->begin = off->begin > since ? off->begin : since;
    return true;
}

bool switches_are_complete(const switches *s)
{
    return s->known_since == 0 && !s->failed;
}

bool switches_have_wakings(const switches *s)
{
    return s->waking_count > 0 && switches_are_complete(s);
}

bool switches_at(switches *s, uint64_t tid, uint64_t time, switch_off *off)
{
    const offs *o = idmap_find(&s->threads, tid);
    size_t i = o ? o->count : 0;
    while (i > 0 && i > o->first && o->list[i - 1].begin > time)
        i--;
    if (i == 0 || i == o->first || o->list[i - 1].end < time || time < s->known_since || s->failed)
        return false;
    *off = o->list[i - 1];
    return true;
}

/* *begin: when it begins to wait first. */
static bool begins_wait(const offs *o, uint64_t since, uint64_t until, uint64_t *begin)
{
    *begin = UINT64_MAX;
    for (size_t i = o->count; i > o->first && o->list[i - 1].begin > since; i--)
        if (o->list[i - 1].begin < until && !o->list[i - 1].preempted)
            *begin = o->list[i - 1].begin;
    return *begin != UINT64_MAX;
}

bool switches_waits(switches *s, uint64_t tid, uint64_t since, uint64_t until, uint64_t *begin)
{
    const offs *o = idmap_find(&s->threads, tid);
    return o && begins_wait(o, since, until, begin);
}

bool switches_waits_not(switches *s, uint64_t tid, uint64_t since, uint64_t until)
{
    const offs *o = idmap_find(&s->threads, tid);
    uint64_t begin;
    return o && !s->failed && since >= s->known_since && until <= s->read_until &&
           (o->first == 0 || o->list[o->first - 1].end <= since) &&
           !begins_wait(o, since, until, &begin);
}
