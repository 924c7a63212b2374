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

struct recorded {
    source source;
    replay *replay; /* NULL: nothing is recorded yet, or any more */
    output own;     /* the trace of a child */
    output *output; /* NULL: not opened yet */
    char *path;     /* of the trace */
    unsigned snapshots;
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
        if (p->list[i] && p->list[i]->output)
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

/* While addresses are resolved, which may take long, rings are emptied, and are ready. */
static void take_all(void *ctx)
{
    processes *p = ctx;
    if (p->follows)
        prepare_rings(p);
    note_ends(p);
    for (uint32_t i = 0; i < RING_PROCESSES; i++)
        if (p->list[i] && p->list[i]->replay)
            source_take_ahead(&p->list[i]->source);
}

static bool begin_replay(processes *p, recorded *r)
{
    r->source.names.wait.pause = take_all;
    r->source.names.wait.ctx = p;
    r->replay = replay_new(&r->source, p->version, source_begin(&r->source), p->flight_ns,
                           &r->output->out);
    return r->replay;
}

int processes_add_program(processes *p, pid_t pid, const char *path, output *to)
{
    recorded *r = calloc(1, sizeof *r);
    p->list[0] = r;
    if (!r || !(r->path = strdup(path)) ||
        !source_open(&r->source, p->fds[0], pid, p->files, &p->backlog)) {
        no_memory(p);
        return p->status;
    }
    r->pid = pid;
    r->descends = true;
    r->fd = -1;
    r->output = to;
    return begin_replay(p, r) ? EXIT_SOUND : EXIT_SYSTEM;
}

static void free_process(processes *p, uint32_t number)
{
    recorded *r = p->list[number];
    replay_free(r->replay); /* if the program could not be executed; else it has ended */
    source_close(&r->source);
    if (r->fd >= 0)
        close(r->fd);
    free(r->path);
    free(r);
    p->list[number] = NULL;
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
    recorded *r = calloc(1, sizeof *r);
    if (!r || !source_open(&r->source, p->fds[number], pid, p->files, &p->backlog)) {
        free(r);
        no_memory(p);
        return;
    }
    r->pid = pid;
    r->descends = descends_from(pid, getpid());
    r->fd = (int)syscall(SYS_pidfd_open, pid, 0);
    p->list[number] = r;
}

/* The trace of a child is OUT.PROGRAM.PID: of the last program that it has executed. */
static void name_trace(const processes *p, recorded *r)
{
    char name[RING_NAME_SIZE], *path;
    if (r->output != &r->own)
        return;
    names_program(&r->source.names, name);
    if (asprintf(&path, "%s%s%s.%d", p->path, name[0] ? "." : "", name, (int)r->pid) < 0)
        return;
    if (r->own.file && !output_move(&r->own, path)) {
        free(path);
        return;
    }
    free(r->path);
    r->path = path;
}

/* A child that has begun to record gets a trace. */
static void begin_trace(processes *p, recorded *r)
{
    if (r->output || atomic_load(&r->source.shared->images) == 0)
        return;
    source_take(&r->source);
    if (source_begin(&r->source) == 0)
        return;
    r->own.packing = p->packing;
    r->own.group = ++p->opened;
    r->output = &r->own;
    name_trace(p, r);
    if (!r->path) {
        no_memory(p);
    } else if (output_open(&r->own, r->path, true) != EXIT_SOUND || !begin_replay(p, r)) {
        p->status = EXIT_SYSTEM;
    }
    if (!r->replay)
        source_end(&r->source);
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
        if (p->list[i] && !p->list[i]->output && pid != p->list[i]->pid)
            free_process(p, i);
        if (!p->list[i] && pid > 0)
            add_process(p, i, pid);
    }
}

/* ---- traces ---------------------------------------------------------------------------------- */

/* Warns of what is not in the trace, or not as it was. */
static void note_losses(const recorded *r, replay_losses losses)
{
    const source *s = &r->source;
    const unsigned lost = s->shared->lost, left = s->shared->left;
    if (s->fault) {
        diag_warning(r->path,
                     "the process has damaged the memory that it shares with the recorder (%s): "
                     "recording ended early",
                     s->fault);
        return; /* the counts may be damaged too */
    }
    if (lost > 0)
        diag_warning(r->path, "threads that were not recorded: %u (at most %d are at a time)", lost,
                     RING_SLOTS);
    if (left > 0)
        diag_warning(r->path,
                     "calls that may not be recorded, since a signal handler jumped out of them: "
                     "%u",
                     left);
    if (losses.late > 0)
        diag_warning(r->path, "events that are shown later than they were: %llu",
                     (unsigned long long)losses.late);
    if (losses.samples > 0)
        diag_warning(r->path,
                     "CPU samples that were lost, since a call was being recorded or there was no "
                     "room: %llu",
                     (unsigned long long)losses.samples);
    if (s->unseen > 0)
        diag_warning(r->path,
                     "threads whose waits in libgomp (OpenMP) are not seen, and are shown as "
                     "running: %zu, and those that created them",
                     s->unseen);
    if (s->lost_stacks > 0)
        diag_warning(r->path, "stacks that were not recorded, since there are too many: %zu",
                     s->lost_stacks);
}

/* Whether records are left that were not replayed, because a signal ended recording. */
static bool is_cut(const source *s)
{
    size_t i = 0;
    while (i < s->count && s->threads[i]->first == s->threads[i]->end)
        i++;
    return i < s->count;
}

/* ended: when the process has; 0: it goes on. */
static void end_trace(processes *p, recorded *r, uint64_t ended)
{
    if (!r->replay)
        return;
    const bool stops = r->source.names.wait.stops();
    if (stops)
        source_end(&r->source);
    else
        source_take_last(&r->source);
    name_trace(p, r);
    replay_until(r->replay, UINT64_MAX, UINT64_MAX);
    if (stops || is_cut(&r->source))
        diag_warning(r->path, "a signal ended recording: the last events are not in the trace");
    const replay_losses losses = replay_lost(r->replay);
    int status = replay_end(r->replay, ended);
    r->replay = NULL;
    if (r->output == &r->own) {
        int written = output_close(&r->own, status == EXIT_SOUND);
        status = status == EXIT_SOUND ? written : status;
    }
    if (status != EXIT_SOUND)
        p->status = status;
    note_losses(r, losses);
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

/* The process has ended: its number is free. */
static void end_process(processes *p, uint32_t number)
{
    recorded *r = p->list[number];
    uint64_t ended = number == 0 ? signals_end_time() : r->ended;
    end_trace(p, r, ended ? ended : now());
    note_program(p, number, r);
    free_process(p, number);
    close(p->fds[number]);
    p->fds[number] = -1;
    p->shared->fds[number] = -1;
    p->shared->executes[number][0] = '\0';
    p->shared->pids[number] = RING_NONE;
}

/* Writes what is kept to PATH.1, PATH.2, ...; each appears when it is complete. */
static void take_snapshot(processes *p, recorded *r)
{
    output to = {.group = ++p->opened};
    char *path = NULL;
    name_trace(p, r);
    if (asprintf(&path, "%s.%u", r->path, ++r->snapshots) < 0) {
        diag_error("out of memory: there is no snapshot [system.memory]");
        return;
    }
    if (output_open(&to, path, true) == EXIT_SOUND) {
        const bool good = replay_snapshot(r->replay, &to.out);
        if (!good && !to.out.failed)
            diag_error("%s: out of memory: there is no snapshot [system.memory]", path);
        output_close(&to, good);
    }
    free(path);
}

/* ---- all ------------------------------------------------------------------------------------- */

/* decide_ns: so long an unlock is held back until the thread is known that it let in, unless there
 * is much to keep. */
static void replay_process(recorded *r, uint64_t decide_ns)
{
    const uint64_t safe = r->replay ? source_take(&r->source) : 0;
    if (*r->source.backlog > r->source.most_backlog / 2)
        decide_ns = 0;
    if (safe > AHEAD_NS + decide_ns)
        replay_until(r->replay, safe - AHEAD_NS, safe - AHEAD_NS - decide_ns);
}

static void take_snapshots(processes *p)
{
    for (uint32_t i = 0; i < RING_PROCESSES; i++) {
        recorded *r = p->list[i];
        if (!r)
            continue;
        begin_trace(p, r);
        replay_process(r, 0);
        if (r->replay)
            take_snapshot(p, r);
    }
}

/* Takes the records of a process, and sees whether it has ended. */
static void follow_process(processes *p, uint32_t number, program *main)
{
    recorded *r = p->list[number];
    bool ended = number == 0 ? program_ended(main) : r->ended > 0; /* before records are taken */
    begin_trace(p, r);
    if (!ended)
        replay_process(r, DECIDE_NS);
    if (ended)
        end_process(p, number);
    else if (r->source.ended)
        end_trace(p, r, 0);
}

/* A process may still begin. That of which only damaged memory says that it does would be waited
 * for in vain. */
static bool is_waited_for(const recorded *r)
{
    return r && (r->replay || (!r->output && r->descends));
}

/* Returns whether any is left. */
static bool follow_all(processes *p, program *main)
{
    bool left = false;
    keep_session(p);
    if (p->follows) {
        prepare_rings(p);
        see_processes(p);
    }
    if (signals_want_snapshot())
        take_snapshots(p); /* first: the end of a trace takes time */
    note_ends(p);
    for (uint32_t i = 0; i < RING_PROCESSES; i++) {
        if (p->list[i])
            follow_process(p, i, main);
        left = left || is_waited_for(p->list[i]);
    }
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
            end_trace(p, p->list[i], 0);
        }
    }
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
            close(p->fds[i]);
    }
    files_free(p->files);
    unmark_owner(p);
    if (p->shared)
        munmap(p->shared, sizeof *p->shared);
    if (p->fd >= 0)
        close(p->fd);
}
