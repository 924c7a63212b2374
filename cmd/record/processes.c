/*
 * processes.c - the processes that are recorded, each with its memory and its trace: the program
 * and, with --follow-forks, its children, their children, and so on.
 *
 * A process takes a ring by itself (ring.h), so that some are always ready. It has ended when its
 * descriptor says so, which no signal and no parent can prevent.
 */
#include "cmd/record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cmd/diag.h"
#include "cmd/verb.h"

enum {
    PERIOD_NS = 10000000, /* records are taken at least so often */
    AHEAD_NS = 5000000,   /* and replayed so much later, see replay.c */
    /* So long an unlock waits for the thread that it let in. With six busy loops on two processors
     * that of testdata/record/barges.c had the lock up to 9 ms later. */
    DECIDE_NS = 100000000,
    SECOND_NS = 1000000000,
    READY_RINGS = 64,
};

typedef enum recorded_state {
    RECORDED_NEW,   /* it has recorded nothing yet */
    RECORDED_LIVES, /* its trace is open */
    RECORDED_TAKEN, /* all its records were taken, and are to be replayed */
    RECORDED_DONE,
} recorded_state;

struct recorded {
    source source;
    trace_output *trace;
    recorded_state state;
    int32_t pid;
    int fd;         /* of the process; -1: it has ended, or it is the program */
    bool descends;  /* from this process, as far as is known */
    uint64_t ended; /* when it was seen that it has; not of the program */
};

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
}

static void no_memory(processes *p)
{
    diag_error("out of memory [system.memory]");
    p->status = EXIT_SYSTEM;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static bool make_ring(processes *p, uint32_t number)
{
    p->fds[number] = source_create(p->stacks, p->sample_ns);
    p->shared->fds[number] = p->fds[number];
    return p->fds[number] >= 0;
}

/* Keeps rings ready. Without memory or descriptors for more, processes are missed. */
static void prepare_rings(processes *p)
{
    unsigned ready = 0;
    for (uint32_t i = 1; i < RING_PROCESSES; i++)
        ready += p->fds[i] >= 0 && !p->list[i] && p->shared->pids[i] == RING_READY;
    for (uint32_t i = 1; i < RING_PROCESSES && ready < READY_RINGS; i++) {
        if (p->fds[i] >= 0 || p->list[i])
            continue;
        if (!make_ring(p, i))
            return;
        p->shared->pids[i] = RING_READY;
        ready++;
    }
}

/* ---- what processes must not change ---------------------------------------------------------- */

/* Corrects a number that only `record` changes now. */
static void keep(processes *p, _Atomic int32_t *shared, int32_t own)
{
    if (*shared == own)
        return;
    *shared = own;
    p->damaged = true;
}

/* A fault of a process can write to the shared memory. A process that is recorded keeps its ring;
 * without a ring there is no process, and none is free that does not exist. */
static void keep_session(processes *p)
{
    if (p->shared->owner != p->owner)
        p->shared->owner = p->owner;
    for (uint32_t i = 0; i < RING_PROCESSES; i++) {
        keep(p, &p->shared->fds[i], p->fds[i]);
        if (p->list[i] && p->list[i]->state != RECORDED_NEW)
            keep(p, &p->shared->pids[i], p->list[i]->pid);
        else if (p->fds[i] < 0)
            keep(p, &p->shared->pids[i], RING_NONE);
        else if (p->shared->pids[i] == RING_NONE)
            keep(p, &p->shared->pids[i], RING_READY);
    }
}

/* If `record` ends, also because it is killed, the kernel sets FUTEX_OWNER_DIED (set_robust_list(2)
 * and its tables are those of a thread). Programs that wait for it see that. */
static void mark_owner(processes *p)
{
    size_t size;
    struct robust *r = &p->robust;
    if (syscall(SYS_get_robust_list, 0, &r->before, &size) < 0)
        return; /* on a machine that has none, programs wait in vain */
    p->shared->owner = p->owner = (uint32_t)gettid();
    r->entry.next = &r->list.list;
    r->list.list.next = &r->entry;
    r->list.futex_offset = (char *)&p->shared->owner - (char *)&r->entry;
    syscall(SYS_set_robust_list, &r->list, sizeof r->list);
}

static void unmark_owner(processes *p)
{
    if (p->owner)
        syscall(SYS_set_robust_list, p->robust.before, sizeof p->robust.list);
}

/* ---- beginning ------------------------------------------------------------------------------- */

/* Each process takes two or three descriptors. */
static void raise_limit(void)
{
    struct rlimit most;
    if (getrlimit(RLIMIT_NOFILE, &most) == 0) {
        most.rlim_cur = most.rlim_max;
        setrlimit(RLIMIT_NOFILE, &most);
    }
}

bool processes_open(processes *p, bool follow)
{
    for (uint32_t i = 0; i < RING_PROCESSES; i++)
        p->fds[i] = -1;
    p->fd = memfd_create("gotrace", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    void *memory = MAP_FAILED;
    if (p->fd >= 0 && ftruncate(p->fd, sizeof(ring_session)) == 0 &&
        fcntl(p->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        memory = mmap(NULL, sizeof(ring_session), PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, 0);
    if (memory == MAP_FAILED) {
        diag_error("cannot create shared memory: %s [system.memory]", strerror(errno));
        return false;
    }
    p->shared = memory;
    p->shared->size = sizeof(ring_session);
    p->shared->recorder = getpid();
    p->shared->follows = p->follows = follow;
    mark_owner(p);
    for (uint32_t i = 0; i < RING_PROCESSES; i++) {
        p->shared->pids[i] = RING_NONE;
        p->shared->fds[i] = -1;
    }
    if (!(p->files = files_new())) {
        no_memory(p);
        return false;
    }
    if (!make_ring(p, 0)) {
        diag_error("cannot create shared memory: %s [system.memory]", strerror(errno));
        return false;
    }
    return true;
}

/* ---- the ends of processes ------------------------------------------------------------------- */

static bool has_ended(const recorded *r)
{
    struct pollfd state = {.fd = r->fd, .events = POLLIN};
    if (r->fd < 0)
        return kill(r->pid, 0) < 0 && errno == ESRCH;
    return poll(&state, 1, 0) > 0;
}

/* Also while the end of another trace takes time: a goroutine that runs does so until then. */
static void note_ends(processes *p)
{
    for (uint32_t i = 1; i < RING_PROCESSES; i++)
        if (p->list[i] && !p->list[i]->ended && has_ended(p->list[i]))
            p->list[i]->ended = now();
}

/* ---- processes ------------------------------------------------------------------------------- */

void processes_take_all(void *ctx)
{
    processes *p = ctx;
    if (p->follows)
        prepare_rings(p);
    note_ends(p);
    for (uint32_t i = 0; i < RING_PROCESSES; i++)
        if (p->list[i] && p->list[i]->state == RECORDED_LIVES)
            source_take_ahead(&p->list[i]->source);
}

/* A process with that ring. NULL: memory is refused. */
static recorded *new_process(processes *p, uint32_t number, int32_t pid)
{
    recorded *r = calloc(1, sizeof *r);
    trace_output *t = p->one ? p->one : trace_new(p);
    if (r && t && source_open(&r->source, p->fds[number], pid, &t->names, &p->backlog)) {
        r->pid = pid;
        r->trace = t;
        r->fd = -1;
        return p->list[number] = r;
    }
    if (t != p->one)
        trace_free(t);
    free(r);
    no_memory(p);
    return NULL;
}

static void free_process(processes *p, uint32_t number)
{
    recorded *r = p->list[number];
    source_close(&r->source);
    if (r->trace != p->one)
        trace_free(r->trace);
    if (r->fd >= 0)
        close(r->fd);
    free(r);
    p->list[number] = NULL;
}

int processes_add_program(processes *p, pid_t pid, const char *path, output *to)
{
    recorded *r = new_process(p, 0, pid);
    if (!r)
        return EXIT_SYSTEM;
    r->descends = true;
    if (p->follows && !p->separate)
        p->one = r->trace;
    if (!p->attaches)
        p->switches = switches_open(pid);
    if (!trace_open(p, r->trace, path, to, 0))
        return EXIT_SYSTEM;
    if (!replay_add(r->trace->replay, &r->source)) {
        no_memory(p);
        return EXIT_SYSTEM;
    }
    r->state = RECORDED_LIVES;
    return EXIT_SOUND;
}

/* The parent of a process; 0: unknown. */
static int32_t parent_of(int32_t pid)
{
    char path[32], text[512] = "";
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    const size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
    const char *name_end = size > 0 ? strrchr(text, ')') : NULL;
    if (!name_end || sscanf(name_end, ") %*c %d", &parent) != 1)
        parent = 0;
    if (file)
        fclose(file);
    return parent;
}

/* Not if a parent on the way has ended. */
static bool descends_from(int32_t pid, int32_t ancestor)
{
    enum { MOST_PARENTS = 1000 };
    for (unsigned i = 0; i < MOST_PARENTS && pid > 0 && pid != ancestor; i++)
        pid = parent_of(pid);
    return pid == ancestor;
}

static void add_process(processes *p, uint32_t number, int32_t pid)
{
    recorded *r = new_process(p, number, pid);
    if (!r)
        return;
    r->descends = descends_from(pid, getpid());
    r->fd = (int)syscall(SYS_pidfd_open, pid, 0);
}

/* Of the trace of a child: OUT.PROGRAM.PID, after the last program that it has executed. To be
 * freed; NULL: memory is refused. */
static char *path_of(const processes *p, const recorded *r)
{
    const source *s = &r->source;
    const char *name = "";
    char *path;
    for (uint32_t i = s->image_count; i > 0 && !name[0]; i--)
        name = names_program(s->names, s->images[i - 1]);
    if (asprintf(&path, "%s%s%s.%d", p->path, name[0] ? "." : "", name, (int)r->pid) < 0)
        return NULL;
    return path;
}

static void move_child(const processes *p, const recorded *r)
{
    char *path = r->trace->output == &r->trace->own ? path_of(p, r) : NULL;
    if (path)
        trace_move(r->trace, path);
    free(path);
}

static bool open_child(processes *p, recorded *r)
{
    if (p->one)
        return p->one->replay;
    char *path = path_of(p, r);
    if (!path) {
        no_memory(p);
        return false;
    }
    const bool good = trace_open(p, r->trace, path, NULL, source_begin(&r->source));
    if (!good)
        p->status = EXIT_SYSTEM;
    free(path);
    return good;
}

/* A child that has begun to record gets a trace, or is in that of all. */
static void begin_trace(processes *p, recorded *r)
{
    if (r->state != RECORDED_NEW || atomic_load(&r->source.shared->images) == 0)
        return;
    source_take(&r->source);
    if (source_begin(&r->source) == 0)
        return;
    r->source.parent = r->source.shared->parent;
    r->state = RECORDED_LIVES;
    if (!open_child(p, r)) {
        source_end(&r->source);
        r->state = RECORDED_DONE;
    } else if (!replay_add(r->trace->replay, &r->source)) {
        no_memory(p);
        source_end(&r->source);
    }
}

/* The process that has the ring, or for which its parent has reserved it; 0: none. */
static int32_t owner_of(const processes *p, uint32_t number)
{
    const int32_t pid = p->shared->pids[number];
    return pid == RING_NONE || pid == RING_READY || pid == INT32_MIN ? 0 : abs(pid);
}

/* Sees processes that have taken a ring, or given it back. */
static void see_processes(processes *p)
{
    for (uint32_t i = 1; i < RING_PROCESSES; i++) {
        const int32_t pid = owner_of(p, i);
        if (p->list[i] && p->list[i]->state == RECORDED_NEW && pid != p->list[i]->pid)
            free_process(p, i);
        if (!p->list[i] && pid > 0)
            add_process(p, i, pid);
    }
}

/* ---- ends ------------------------------------------------------------------------------------ */

static void take_last(recorded *r)
{
    if (r->trace->names.wait.stops())
        source_end(&r->source);
    else
        source_take_last(&r->source);
}

static bool has_thread(void *ctx, uint64_t tid)
{
    const source *s = ctx;
    size_t i = 0;
    while (i < s->count && (!s->threads[i]->rec || s->threads[i]->tid != tid))
        i++;
    return i < s->count;
}

/* Warns of threads of a process that ran already which have done nothing that is seen. */
static void note_unseen(recorded *r)
{
    size_t count, seen;
    attach_count_threads(r->pid, has_thread, &r->source, &count, &seen);
    if (seen < count)
        diag_warning(r->trace->path,
                     "threads that are not in the trace, since they called none of the recorded "
                     "functions, or had not returned from one: %zu of %zu",
                     count - seen, count);
}

static void read_switches(const processes *p)
{
    if (p->switches)
        switches_read(p->switches);
}

/* Ends the trace of a process that has its own. ended: when the process has; 0: it goes on. */
static void end_trace(processes *p, recorded *r, uint64_t ended)
{
    if (r->state != RECORDED_LIVES)
        return;
    take_last(r);
    move_child(p, r);
    read_switches(p);
    replay_until(r->trace->replay, UINT64_MAX, UINT64_MAX);
    if (p->attaches && !ended)
        note_unseen(r);
    trace_add_losses(r->trace, &r->source);
    const int status = trace_end(r->trace, ended);
    if (status != EXIT_SOUND)
        p->status = status;
    r->state = RECORDED_DONE;
}

/* Warns of a program that does not load the library. */
static void note_program(const processes *p, uint32_t number, const recorded *r)
{
    char name[RING_PATH];
    if (p->damaged)
        return;
    memcpy(name, p->shared->executes[number], sizeof name); /* it may change */
    name[sizeof name - 1] = '\0';
    if (name[0]) {
        const char *why = program_why_not(name);
        diag_warning(p->path, "process %d executed '%s', which was not recorded: %s", (int)r->pid,
                     name, why ? why : "it did not load libgotrace-preload.so");
    } else if (number == 0 && r->source.shared->images == 0) {
        diag_warning(p->path,
                     "the program did not load libgotrace-preload.so: nothing was recorded");
    }
}

/* The process has ended and is in its trace: its number is free. */
static void forget_process(processes *p, uint32_t number)
{
    note_program(p, number, p->list[number]);
    free_process(p, number);
    close(p->fds[number]);
    p->fds[number] = -1;
    p->shared->fds[number] = -1;
    p->shared->executes[number][0] = '\0';
    p->shared->pids[number] = RING_NONE;
}

static bool has_process_ended(const recorded *r, uint32_t number, program *main)
{
    return number == 0 ? program_ended(main) : r->ended > 0;
}

static uint64_t end_time(const recorded *r, uint32_t number)
{
    const uint64_t ended = number == 0 ? signals_end_time() : r->ended;
    return ended ? ended : now();
}

/* ---- each process has its trace -------------------------------------------------------------- */

/* decide_ns: so long an unlock is held back until the thread is known that it let in, unless there
 * is much to keep. */
static void replay_to(const processes *p, replay *r, uint64_t safe, uint64_t decide_ns)
{
    read_switches(p);
    if (p->backlog > MOST_BACKLOG / 2)
        decide_ns = 0;
    if (safe > AHEAD_NS + decide_ns)
        replay_until(r, safe - AHEAD_NS, safe - AHEAD_NS - decide_ns);
}

/* Takes the records of a process, and sees whether it has ended. */
static void follow_process(processes *p, uint32_t number, program *main)
{
    recorded *r = p->list[number];
    const bool ended = has_process_ended(r, number, main); /* before records are taken */
    begin_trace(p, r);
    if (!ended && r->state == RECORDED_LIVES)
        replay_to(p, r->trace->replay, source_take(&r->source), DECIDE_NS);
    if (ended) {
        end_trace(p, r, end_time(r, number));
        forget_process(p, number);
    } else if (r->source.ended) {
        end_trace(p, r, 0);
    }
}

static void follow_separate(processes *p, program *main)
{
    for (uint32_t i = 0; i < RING_PROCESSES; i++)
        if (p->list[i])
            follow_process(p, i, main);
}

/* ---- one trace of all processes -------------------------------------------------------------- */

/* Takes the records of a process. Returns a time up to which no more come. */
static uint64_t take_process(processes *p, uint32_t number, program *main)
{
    recorded *r = p->list[number];
    const bool ended = has_process_ended(r, number, main); /* before records are taken */
    begin_trace(p, r);
    if (r->state == RECORDED_NEW && ended)
        r->state = RECORDED_DONE;
    if (r->state != RECORDED_LIVES)
        return UINT64_MAX;
    if (!ended && !r->source.ended)
        return source_take(&r->source);
    take_last(r);
    replay_end_process(p->one->replay, &r->source, ended ? end_time(r, number) : now());
    r->state = RECORDED_TAKEN;
    return UINT64_MAX;
}

static void take_processes(processes *p, program *main, uint64_t safe, uint64_t decide_ns)
{
    for (uint32_t i = 0; i < RING_PROCESSES; i++) {
        const uint64_t taken = p->list[i] ? take_process(p, i, main) : UINT64_MAX;
        safe = taken < safe ? taken : safe;
    }
    replay_to(p, p->one->replay, safe, decide_ns);
}

/* A process that is not in `list` yet has no records before the time `seen`. */
static void follow_together(processes *p, program *main, uint64_t seen)
{
    take_processes(p, main, seen, DECIDE_NS);
    for (uint32_t i = 0; i < RING_PROCESSES; i++) {
        recorded *r = p->list[i];
        if (r && r->state == RECORDED_TAKEN && r->source.replayed) {
            trace_add_losses(r->trace, &r->source);
            r->state = RECORDED_DONE;
        }
        if (r && r->state == RECORDED_DONE && has_process_ended(r, i, main))
            forget_process(p, i);
    }
}

/* ended: when the last process has; 0: one goes on. */
static void end_together(processes *p, uint64_t ended)
{
    for (uint32_t i = 0; i < RING_PROCESSES; i++)
        if (p->list[i] && p->list[i]->state == RECORDED_LIVES)
            take_last(p->list[i]);
    read_switches(p);
    replay_until(p->one->replay, UINT64_MAX, UINT64_MAX);
    for (uint32_t i = 0; i < RING_PROCESSES; i++) {
        const recorded *r = p->list[i];
        if (r && (r->state == RECORDED_LIVES || r->state == RECORDED_TAKEN))
            trace_add_losses(p->one, &r->source);
    }
    const int status = trace_end(p->one, ended);
    if (status != EXIT_SOUND)
        p->status = status;
}

/* ---- all ------------------------------------------------------------------------------------- */

static void take_snapshots(processes *p, program *main, uint64_t seen)
{
    if (p->one) {
        take_processes(p, main, seen, 0);
        trace_snapshot(p, p->one);
        return;
    }
    for (uint32_t i = 0; i < RING_PROCESSES; i++) {
        recorded *r = p->list[i];
        if (!r)
            continue;
        begin_trace(p, r);
        if (r->state != RECORDED_LIVES)
            continue;
        replay_to(p, r->trace->replay, source_take(&r->source), 0);
        move_child(p, r);
        trace_snapshot(p, r->trace);
    }
}

/* A process may still begin. That of which only damaged memory says that it does would be waited
 * for in vain. */
static bool is_waited_for(const recorded *r)
{
    return r && (r->state == RECORDED_NEW ? r->descends : r->state != RECORDED_DONE);
}

/* Returns whether any is left. */
static bool follow_all(processes *p, program *main)
{
    const uint64_t seen = now();
    bool left = false;
    keep_session(p);
    if (p->follows) {
        prepare_rings(p);
        see_processes(p);
    }
    if (signals_want_snapshot())
        take_snapshots(p, main, seen); /* first: the end of a trace takes time */
    note_ends(p);
    if (p->one)
        follow_together(p, main, seen);
    else
        follow_separate(p, main);
    for (uint32_t i = 0; i < RING_PROCESSES; i++)
        left = left || is_waited_for(p->list[i]);
    return left;
}

/* Waits until there is work, or some milliseconds. */
static void wait_for_work(const ring_session *shared, uint32_t pulse)
{
    const struct timespec period = {.tv_nsec = PERIOD_NS};
    syscall(SYS_futex, &shared->pulse, FUTEX_WAIT, pulse, &period, NULL, 0);
}

int processes_follow(processes *p, program *main, uint64_t end)
{
    const uint64_t fork_ns = SECOND_NS; /* that a child needs to take a ring */
    uint64_t last = now();              /* when processes were left */
    bool left = true;
    uint32_t pulse = p->shared->pulse;
    if (p->follows)
        raise_limit();
    while (now() < end && !signals_want_end()) {
        bool forks = p->follows && p->shared->forks > 0; /* before they are seen */
        bool before = left;
        left = follow_all(p, main);
        if (left)
            last = now();
        else if (before && p->follows)
            continue; /* the last process may have created one after the others were seen */
        else if (!forks || now() - last > fork_ns)
            break;
        wait_for_work(p->shared, pulse);
        pulse = p->shared->pulse;
    }
    p->shared->closed = 1;
    for (uint32_t i = 0; i < RING_PROCESSES; i++) {
        if (p->list[i]) {
            begin_trace(p, p->list[i]);
            if (!p->one)
                end_trace(p, p->list[i], 0);
        }
    }
    if (p->one)
        end_together(p, left ? 0 : now());
    const unsigned missed = p->shared->missed;
    if (missed > 0 && !p->damaged)
        diag_warning(p->path,
                     "processes that were not recorded: %u (at most %d are at a time, and those "
                     "that cannot open the recorder's files in /proc are not)",
                     missed, RING_PROCESSES);
    if (p->damaged)
        diag_warning(p->path, "a process has damaged the list of processes that it shares with the "
                              "recorder, which was corrected");
    return p->status;
}

void processes_close(processes *p)
{
    for (uint32_t i = 0; i < RING_PROCESSES; i++) {
        if (p->list[i])
            free_process(p, i);
        if (p->fds[i] >= 0)
            source_give_back(p->fds[i]);
    }
    trace_free(p->one);
    switches_close(p->switches);
    files_free(p->files);
    unmark_owner(p);
    if (p->shared)
        munmap(p->shared, sizeof *p->shared);
    if (p->fd >= 0)
        close(p->fd);
}
