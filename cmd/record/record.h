/*
 * record.h - the parts of `gotrace record`:
 *
 *   program.c   finds, checks and starts the program; how it ended
 *   attach.c    finds and checks a process that runs already, and loads the library into it
 *   inject.c    calls functions in another process
 *   signals.c   signals: to the program, or they end recording
 *   group.c     which of them were sent to the process group, and so to the program, too
 *   helper.c    processes of `record` itself, for group.c and symbols.c
 *   processes.c the processes that are recorded: the program and, with --follow-forks, its children
 *   source.c    takes the records of a process's threads out of the shared memory
 *   replay.c    what the records mean: their order, who woke whom
 *   goroutines.c  threads as goroutines with procs, of one process or several
 *   wakes.c     which thread a call woke, and when a thread became runnable
 *   descriptors.c  what file descriptors are, and which are the two ends of a channel
 *   objects.c   what a thread waits for, in words
 *   off.c       when threads in no recorded call were off the processors
 *   switches.c  when threads were off the processors and which woke which, as the kernel reports it
 *   traces.c    the traces that are written, and what is not in them
 *   names.c     functions of the programs that the processes execute
 *   files.c     the files that these programs map, each with its symbols once
 *   symbols.c   a process that reads the symbols
 *   cache.c     what recordings before have found in a file
 *
 * The recorder is in this process, not in the program: the library in the program (preload) writes
 * what the threads do into shared memory, which is replayed here. So nothing is lost when the
 * program is killed, calls _exit or exec; and the library has no thread, takes no lock, allocates
 * no memory and needs no other library. The memory is a memfd whose descriptor only `record` has;
 * the program opens it by its path in /proc.
 */
#ifndef RECORD_RECORD_H
#define RECORD_RECORD_H

#include <linux/futex.h>
#include <stdio.h>
#include <sys/types.h>

#include "cmd/output.h"
#include "cmd/preload/ring.h"
#include "core/lookup.h"
#include "formats/common/out.h"
#include "gotrace_record.h"
#include "gotrace_symbols.h"

/* ---- program.c ------------------------------------------------------------------------------- */

typedef struct program {
    char *path;              /* of the program's file */
    char *preload;           /* of the library */
    const char *const *args; /* ends with NULL */
    pid_t pid;               /* 0: it has ended */
    int status;              /* how, as waitpid reports it */
    int go, report;          /* pipes: the child waits for the one, and writes errno to the other */
    int fd;                  /* of a process that ran already; -1: it was started */
} program;

/* Exit statuses, as of env(1), timeout(1) and shells. */
enum { PROGRAM_NOT_EXECUTED = 126, PROGRAM_NOT_FOUND = 127 };

/* Finds the program and the library, and checks that it can be recorded. Returns an exit status,
 * after a diagnostic if it is not EXIT_SOUND. */
int program_find(program *p, const char *const *args);
/* Why the program of that path or name cannot be recorded; NULL: unknown. */
const char *program_why_not(const char *name);
/* Creates its process, which waits, with the shared memory of that descriptor. False after a
 * diagnostic. */
bool program_prepare(program *p, ring_session *shared, int fd);
/* Lets it execute the program. Returns an exit status, after a diagnostic if it is not EXIT_SOUND.
 */
int program_start(program *p);
/* Sets p->preload. False after a diagnostic. */
bool program_find_preload(program *p);
/* Ends a process that waits. */
void program_cancel(program *p);
/* Whether it has ended. */
bool program_ended(program *p);
/* Waits until it has, or a signal ends waiting. */
void program_wait(program *p);
/* The exit status of `gotrace record`. */
int program_exit_status(const program *p);
void program_free(program *p);

/* ---- attach.c -------------------------------------------------------------------------------- */

/* Finds a process that runs already, and the library, and checks that it can be recorded. Returns
 * an exit status, after a diagnostic if it is not EXIT_SOUND. */
int attach_find(program *p, pid_t pid);
/* Loads the library, which begins to record with the shared memory of that descriptor. Returns an
 * exit status, after a diagnostic if it is not EXIT_SOUND. */
int attach_begin(program *p, ring_session *shared, int fd);
/* The number of threads that the process has, and of those that is_seen. */
void attach_count_threads(pid_t pid, bool (*is_seen)(void *ctx, uint64_t tid), void *ctx,
                          size_t *count, size_t *seen);

/* ---- inject.c -------------------------------------------------------------------------------- */

typedef struct injection injection;

/* Whether a thread that is in the system call of that number, with that second argument, waits, and
 * not for a lock: it has none of the memory allocator and of the dynamic linker. */
bool inject_waits(int64_t number, uint64_t second);
/* Stops a thread. NULL: *error is that of ptrace, or 0: the thread has ended. */
injection *inject_begin(pid_t pid, pid_t tid, int *error);
/* Whether it was stopped in such a system call. *pc: where the thread is. */
bool inject_is_waiting(const injection *i, uint64_t *pc);
/* Prepares calls, and calls a function in the thread, which must be waiting. INJECT_TEXT stands for
 * the address of the text. False: inject_why says why; nothing else can be called then. */
bool inject_prepare(injection *i);
bool inject_call(injection *i, uint64_t function, uint64_t first, uint64_t second, const char *text,
                 uint64_t *result);
#define INJECT_TEXT UINT64_MAX
/* Reads memory. Returns the number of bytes. */
size_t inject_read(const injection *i, uint64_t from, void *bytes, size_t size);
bool inject_write_int(injection *i, uint64_t to, int value);
const char *inject_why(const injection *i);
/* The thread goes on. */
void inject_end(injection *i);

/* ---- signals.c ------------------------------------------------------------------------------- */

/* From now on signals are passed to that process, which waited for has to be reported; 0: there is
 * none, signals end recording, and the trace has all that was recorded until then. */
void signals_catch(pid_t pid);
void signals_child_ended(int status);
/* When it ended, if it has: a time of CLOCK_MONOTONIC; 0: unknown. */
uint64_t signals_end_time(void);
/* SIGUSR2 is not passed to it; whether it came since the last call. */
void signals_keep_snapshot(void);
bool signals_want_snapshot(void);
/* Whether a signal came that the program cannot handle, because it has ended; and whether that was
 * so long ago that recording ends with what has been replayed. */
bool signals_want_end(void);
bool signals_want_end_now(void);
/* Its number. */
int signals_that_ended(void);

/* ---- helper.c -------------------------------------------------------------------------------- */

/* A process of `record` itself, in its group, with all signals blocked. It ends with `record`. */
typedef struct helper {
    pid_t pid;
    int fd; /* a socket, to the one that is passed to serve */
} helper;

/* Starts one that calls serve. False: errno says why. */
bool helper_start(helper *h, const char *name, void (*serve)(int fd));
void helper_end(helper *h);

/* ---- group.c --------------------------------------------------------------------------------- */

/* From now on signals to the process group are noticed. */
void group_watch(void);
/* Whether a signal that was just received was sent to all of the group, too. In signal handlers,
 * with the signals of signals.c blocked. */
bool group_got(int number);

/* ---- symbols.c ------------------------------------------------------------------------------- */

/* While an answer is waited for, which may take long. */
typedef struct waiting {
    void (*pause)(void *ctx); /* called again and again */
    void *ctx;
    bool (*stops)(void); /* whether it is not waited for any more */
} waiting;

/* A process with a gotrace_symbols. */
typedef struct symbols symbols;

/* NULL: errno says why. */
symbols *symbols_new(void);
void symbols_free(symbols *s);
/* Adds mapped files: text in the format of /proc/PID/maps. False: the process has ended. */
bool symbols_read_maps(symbols *s, const char *maps, size_t size);
/* As gotrace_symbols_resolve. The strings are valid until the next call. 0: there is no answer,
 * because w stops, or because the process could not read a file; it is to be freed. */
size_t symbols_resolve(symbols *s, uint64_t pc, gotrace_frame *frames, size_t max,
                       const waiting *w);

/* ---- cache.c --------------------------------------------------------------------------------- */

/* What was found in a file with a build ID and debug information, by the offset in the file. */
typedef struct cache cache;

struct stat;

/* inlined: a number of all that are open, 0 at first. NULL: nothing is kept of this file, or it is
 * not the expected one any more. */
cache *cache_open(const char *path, const struct stat *expected, uint64_t *inlined);
/* As gotrace_symbols_resolve, without the PC of the last frame. The strings are valid until it is
 * closed. 0: unknown. */
size_t cache_find(const cache *c, uint64_t offset, gotrace_frame *frames, size_t max);
void cache_add(cache *c, uint64_t offset, const gotrace_frame *frames, size_t count);
/* Writes what was added. NULL is accepted. */
void cache_close(cache *c);

/* ---- files.c --------------------------------------------------------------------------------- */

typedef struct files files;
typedef struct mapping mapping;
typedef struct shared_part shared_part;

/* A program that a process executed: what it has mapped. */
typedef struct mapped {
    mapping *list;
    size_t count;
    shared_part *shared; /* memory that other processes may share */
    size_t shared_count;
} mapped;

/* NULL: memory is refused. Images are freed before the files. */
files *files_new(void);
void files_free(files *all);
/* Adds the code that is mapped according to that file, which has the format of /proc/PID/maps. */
void mapped_read(files *all, mapped *m, FILE *maps);
/* Whether code is mapped there; pc is a return address, here and below. */
bool mapped_has(const mapped *m, uint64_t pc);
/* A number for that address in shared memory, the same in all processes; 0: it is not shared. */
uint64_t mapped_key(const mapped *m, uint64_t address);
/* The path of the file that is mapped there; NULL: none. */
const char *mapped_path(const mapped *m, uint64_t pc);
/* As gotrace_symbols_resolve. The strings are valid until the next call. */
size_t mapped_resolve(files *all, const mapped *m, uint64_t pc, gotrace_frame *frames, size_t max,
                      const waiting *w);
void mapped_free(files *all, mapped *m);

/* ---- names.c --------------------------------------------------------------------------------- */

/* An address in an image, which is a program that a process executed. The highest bit is not set.
 */
enum { PC_IMAGE_SHIFT = 48, NAMES_NO_IMAGE = 0x7ffe };
#define PC_MASK ((UINT64_C(1) << PC_IMAGE_SHIFT) - 1)

typedef struct executed executed;

/* The names in a trace. */
typedef struct names {
    files *files; /* of all processes */
    bool several; /* the trace is of several processes */
    executed **images;
    size_t image_count, image_capacity;
    char (*threads)[RING_NAME_SIZE + 1]; /* names of threads, see names_thread */
    size_t thread_count, thread_capacity;
    waiting wait; /* stops: nothing is replayed and no address is resolved any more */
} names;

/* Adds a program that the process executes, which has that number in the shared memory. Returns its
 * image; NAMES_NO_IMAGE, for which there are no names: memory is refused, or there are too many. */
uint32_t names_add(names *n, ring *shared, uint32_t number, int32_t pid);
/* The process executes another program. */
void names_past(names *n, uint32_t image);
/* The shared memory is not used any more. */
void names_end(names *n, uint32_t image);
/* An address of that image is seen. */
void names_see(names *n, uint32_t image, uint64_t pc);
/* The address of its main; 0: unknown. */
uint64_t names_main(const names *n, uint32_t image);
/* The name of the program, also for the name of a file; empty: unknown. It is valid as long as n.
 */
const char *names_program(names *n, uint32_t image);
/* A number for an object in memory that processes share, which is the same in all of them and has
 * the highest bit. 0: the memory is not shared, or what is mapped there is not known. */
uint64_t names_key(names *n, uint32_t image, uint64_t address);
#define NAMES_SHARED (UINT64_C(1) << 63)
/* Whether threads whose start routine is there wait in system calls that are not interposed: those
 * of OpenMP in GCC's libgomp. */
bool names_wait_unseen(names *n, uint32_t image, uint64_t pc);
/* An address that is resolved to the function of that routine or, if that has no name, to the name;
 * 0: there is none. */
uint64_t names_thread(names *n, uint64_t routine, const char *name);
/* A gotrace_resolve_fn. */
size_t names_resolve(void *n, uint64_t pc, gotrace_frame *frames, size_t max);
void names_free(names *n);

/* ---- source.c -------------------------------------------------------------------------------- */

enum { MOST_BACKLOG = 256 << 20 }; /* see source.most_backlog */

typedef struct stack {
    uint32_t depth;
    uint64_t pcs[RING_FRAMES];
} stack;

typedef struct thread thread;
typedef struct source source;

typedef struct descriptor descriptor;

/* A record of a thread. */
typedef struct item {
    ring_record record;
    const stack *stack; /* NULL: none */
    union {
        thread *other;          /* of RING_CREATE: the thread that is created */
        descriptor *descriptor; /* of RING_FD: what the file descriptor is; owned */
    };
    uint64_t key;   /* of the object, see names_key */
    uint64_t delay; /* of RING_RESUME: of RING_DELAY; UNKNOWN_DELAY: there is none */
} item;

#define UNKNOWN_DELAY UINT64_MAX

typedef enum thread_state {
    THREAD_NEW,
    THREAD_CREATED,
    THREAD_RUNNING,
    THREAD_CALLS, /* in a system call */
    THREAD_WAITS,
    THREAD_WOKEN, /* it was woken, and does not run yet */
    THREAD_ENDED,
} thread_state;

typedef enum thread_off { OFF_NOT, OFF_WAITS, OFF_PREEMPTED } thread_off;

struct thread {
    source *of;
    uint32_t slot;
    uint32_t image;      /* its number in the shared memory */
    bool finished;       /* no more records come */
    uint32_t named;      /* in so many items */
    uint64_t last;       /* time of the last record */
    uint64_t busy_head;  /* head of the slot when it was first seen to be busy ... */
    uint64_t busy_since; /* ... with that head; 0: it is not */
    item *items;         /* not replayed yet: from first to end */
    size_t first, end, capacity;
    stack *building;    /* its frames are being taken */
    descriptor *naming; /* its parts are being taken */
    const stack *stacks[RING_STACKS];
    uint64_t self;  /* its pthread_t; 0: not known */
    uint64_t delay; /* of RING_DELAY, if that was the last record; else UNKNOWN_DELAY */
    /* Of replay.c. */
    thread_state state;
    char name[RING_NAME_SIZE + 1]; /* empty: not recorded */
    bool labelled;                 /* the goroutine has the name as its label, in this generation */
    uint64_t since;                /* of the last record that was replayed */
    uint64_t woken;                /* when it was created, or woken last */
    uint64_t delayed; /* runnable since the last RING_DELAY, as far as shown: the next one has it */
    thread_off off;   /* it runs as far as is recorded, and is shown as off the processors */
    uint64_t off_since;      /* of that, if it is not OFF_NOT */
    uint64_t off_ns;         /* shown so since the last RING_OFF */
    const stack *call;       /* of the last call; NULL: none */
    const stack *wake;       /* of the last record, if that is a RING_WAKE of the object ... */
    uint64_t wake_key;       /* ... with that key; 0: it is not */
    ring_record wait;        /* what it waits for */
    uint64_t wait_key;       /* see item */
    bool passed;             /* a RING_WAKE of that object did not wake it */
    uint64_t holder;         /* of RING_HOLDER, if that was the last record; else 0 */
    uint64_t held_by;        /* the thread that has what is waited for; 0: not known */
    gotrace_rec_thread *rec; /* NULL: it has not begun */
    uint64_t tid;
    gotrace_rec_go *go;
    uint64_t number; /* of the goroutine; 0: not created */
    unsigned proc;
    bool has_proc;
};

struct source {
    ring *shared;
    int32_t pid, parent; /* processes; 0: unknown */
    const char *fault; /* what is wrong in the shared memory: nothing is taken any more; or NULL */
    bool ended;        /* the process is to record nothing any more */
    uint64_t tails[RING_SLOTS]; /* of the slots: those in shared memory are for the process */
    uint64_t complete;          /* all records until then were taken, except of busy slots */
    bool stalled;               /* busy slots keep records from being replayed */
    bool passed;                /* no records were taken, because of the backlog */
    size_t *backlog;            /* bytes of what is taken and not yet replayed, of all processes */
    size_t most_backlog;        /* then nothing is taken until some are replayed */
    uint64_t patience_ns;       /* a slot that is busy for longer with one record is passed over */
    size_t lost_stacks;
    size_t unseen; /* threads that wait unseen, see names_wait_unseen */
    names *names;
    uint32_t images[RING_IMAGES]; /* in names */
    uint32_t image_count;         /* programs that the process has executed */
    thread *at[RING_SLOTS];
    thread **threads; /* that have records, in order of their beginning */
    size_t count, capacity;
    stack **stacks; /* all different ones */
    size_t stack_count, stack_capacity;
    gt_lookup known;  /* of stacks */
    descriptor **fds; /* what file descriptors are, NULL: unknown; of descriptors.c */
    size_t fd_count;
    bool failed; /* memory is refused */
    /* Of replay.c. */
    uint32_t image;            /* that runs */
    gotrace_rec_thread *first; /* the first thread, of all images */
    uint64_t goroutine;        /* the id of the last one */
    uint64_t last_goroutine;   /* of those that are for the process */
    uint64_t process_ended;    /* see replay_end_process; 0: not yet */
    bool declared;             /* the trace says which process it is, in this generation */
    bool replayed;             /* nothing is to be replayed any more */
};

/* Creates the memory of a process. Returns its descriptor; -1: errno says why. */
int source_create(bool stacks, uint32_t sample_ns);
/* Closes it, at the end: a process that goes on has it mapped, and needs only the first page. */
void source_give_back(int fd);
/* n: of the trace; backlog: of all processes. False: errno says why. */
bool source_open(source *s, int fd, int32_t pid, names *n, size_t *backlog);
/* Takes all records, unless many are to be replayed first. Returns a time up to which no more come.
 */
uint64_t source_take(source *s);
/* Takes records while others are replayed. */
void source_take_ahead(source *s);
/* The process is to record nothing any more; takes what it has recorded. */
void source_end(source *s);
void source_take_last(source *s);
/* The time of the first record, before any is replayed; 0: there is none. */
uint64_t source_begin(const source *s);
/* Frees threads that have ended and whose records were replayed. */
void source_forget(source *s);
void source_close(source *s);

/* ---- switches.c ------------------------------------------------------------------------------ */

typedef struct switches switches;

/* A time in which a thread was off the processors. */
typedef struct switch_off {
    uint64_t begin, end;
    bool preempted; /* others were on them instead; else it waited */
} switch_off;

/* A thread woke another one. */
typedef struct waking {
    uint64_t time;
    uint32_t tid, woken;
} waking;

/* Of a process that has one thread and waits, and of its children. NULL: it is not permitted, or
 * the system cannot. */
switches *switches_open(pid_t pid);
void switches_close(switches *s);
/* Takes what the kernel has written. */
void switches_read(switches *s);
/* The next time off of a thread that ends after `since`, from then on, and at or before `until`.
 * since does not decrease from call to call. False: there is none, or it is not known. */
bool switches_next(switches *s, uint64_t tid, uint64_t since, uint64_t until, switch_off *off);
/* Whether none was lost. */
bool switches_are_complete(const switches *s);
/* Whether all wakings are reported. Before the first one it is not known. */
bool switches_have_wakings(const switches *s);
/* The time off of the thread that has begun and not ended before that time. end == UINT64_MAX: it
 * is not known when it ends. False: there is none, or it is not known. */
bool switches_at(switches *s, uint64_t tid, uint64_t time, switch_off *off);
/* Whether the thread is known to begin to wait after `since`, first at *begin, and before `until`;
 * and whether it is known not to. */
bool switches_waits(switches *s, uint64_t tid, uint64_t since, uint64_t until, uint64_t *begin);
bool switches_waits_not(switches *s, uint64_t tid, uint64_t since, uint64_t until);
/* The waking of that number in order of time, from 0 on; if it is kept no longer, the first one
 * that is, and *number is its number. Valid until the next switches_read. NULL: there is none yet,
 * or none is reported. */
const waking *switches_waking(const switches *s, uint64_t *number);

/* ---- replay.c -------------------------------------------------------------------------------- */

typedef struct replay replay;

/* The trace begins at that time; 0: now. flight_ns: not 0: nothing is written but snapshots of that
 * time. NULL after a diagnostic. */
replay *replay_new(names *n, int version, uint64_t begin, uint64_t flight_ns, out *to);
/* From now on, when threads were off the processors and which woke which is taken from there, if
 * the trace can show it: from 1.22 on. */
void replay_use_switches(replay *r, switches *s);
/* Whether those show all that waited, also in functions that are not recorded. */
bool replay_sees_waits(const replay *r);
/* The trace has the records of that process, too. False: memory is refused. */
bool replay_add(replay *r, source *s);
/* The process has ended, and all its records were taken. When they are replayed, its goroutines
 * end, and s->replayed is set. For traces of several processes. */
void replay_end_process(replay *r, source *s, uint64_t ended);
/* Writes a trace of what a flight recorder keeps. */
bool replay_snapshot(replay *r, out *to);
/* Replays the records up to that time; UINT64_MAX: all. If it is not known yet which thread an
 * unlock let in, those from that unlock on are left, unless it was before the time `decided`. */
void replay_until(replay *r, uint64_t time, uint64_t decided);
/* Whether records are left, because a signal ended recording. */
bool replay_is_cut(const replay *r);
/* Ends the trace. ended: when the last process was seen to have ended; 0: one goes on. Returns an
 * exit status, after a diagnostic if it is not EXIT_SOUND. */
int replay_end(replay *r, uint64_t ended);
/* Without ending the trace, while its output and its source are open. NULL is accepted. */
void replay_free(replay *r);
/* What is not in the trace, or not as it was. */
typedef struct replay_losses {
    uint64_t late;    /* records that were replayed much later than they were written, since other
                         threads did not wait for them; and those that were not replayed */
    uint64_t samples; /* by the recorder */
} replay_losses;

replay_losses replay_lost(const replay *r);

/* ---- descriptors.c --------------------------------------------------------------------------- */

enum { DESCRIPTOR_TEXT = RING_LINK + 16 }; /* bytes */

struct descriptor {
    ring_descriptor is;
    /* The two ends of the channel, equal for a pipe or queue; 0: not known. Others differ from
     * them, in all processes. */
    uint64_t own, peer;
};

/* Finds the ends of the channel of that file descriptor of the process. */
void descriptor_find_ends(descriptor *d, int32_t pid, uint16_t fd);
/* Whether what is written to one is read from the other. */
bool descriptors_are_ends(const descriptor *a, const descriptor *b);
/* Writes what it is, after its number; returns the number of bytes. */
int descriptor_put(const descriptor *d, char text[DESCRIPTOR_TEXT]);
/* From now on the process's file descriptor is d, which s owns. */
void descriptors_set(source *s, uint16_t fd, descriptor *d);
/* What the file descriptor of that RING_BLOCK is; NULL: it has none, or an unknown one. */
const descriptor *descriptors_of(const source *s, const ring_record *call);
/* RING_FROM, RING_TO and RING_CONNECTS of that RING_BLOCK; 0: it has no file descriptor, or only
 * waits for it. */
uint64_t descriptor_use(const ring_record *call);

/* ---- objects.c ------------------------------------------------------------------------------- */

/* The thread with that id that has begun and lives; NULL: none. */
thread *objects_thread(const source *s, uint64_t tid);
/* The thread, which runs, begins to wait according to that RING_BLOCK. */
void objects_log_wait(const source *s, thread *t, const ring_record *wait);
/* The thread, which runs, releases a lock that others may wait for. */
void objects_log_release(const source *s, const thread *by, uint64_t object);

/* ---- traces.c -------------------------------------------------------------------------------- */

typedef struct processes processes;

/* What is not in a trace, or not as it was: numbers of each. */
typedef struct losses {
    size_t threads, calls, samples, unseen, stacks, late;
} losses;

/* A trace that is written. */
typedef struct trace_output {
    names names;
    replay *replay; /* NULL: it is not open */
    output own;     /* of a child */
    output *output;
    char *path;
    unsigned snapshots;
    bool damaged; /* a process has damaged its shared memory */
    losses losses;
} trace_output;

/* NULL: memory is refused. */
trace_output *trace_new(processes *p);
/* to: its output, which the caller closes; NULL: one that is opened. begin: as of replay_new. False
 * after a diagnostic. */
bool trace_open(processes *p, trace_output *t, const char *path, output *to, uint64_t begin);
/* Gives it another name; without effect if that fails. */
void trace_move(trace_output *t, const char *path);
/* Notes what was not recorded of a process. */
void trace_add_losses(trace_output *t, const source *s);
/* Writes what a flight recorder keeps to PATH.1, PATH.2, ... */
void trace_snapshot(processes *p, trace_output *t);
/* Ends it, if it is open; as replay_end. */
int trace_end(trace_output *t, uint64_t ended);
void trace_free(trace_output *t);

/* ---- processes.c ----------------------------------------------------------------------------- */

typedef struct recorded recorded;

struct processes {
    ring_session *shared; /* the processes can write to all of it */
    bool follows, attaches, damaged;
    bool separate;           /* each process has its own trace_output */
    int fds[RING_PROCESSES]; /* of the rings; -1: there is none */
    uint32_t owner;          /* of shared->owner */
    struct robust {
        struct robust_list_head list;
        struct robust_list entry; /* of shared->owner */
        struct robust_list_head *before;
    } robust;
    size_t backlog; /* see source.backlog */
    int fd;
    files *files;
    recorded *list[RING_PROCESSES]; /* NULL: none */
    int version;
    bool stacks;
    uint32_t sample_ns; /* see ring.sample_ns */
    uint64_t flight_ns;
    const char *path;   /* of the program's trace, without the number of the process */
    packing packing;    /* of the traces of children */
    unsigned opened;    /* number of traces */
    trace_output *one;  /* of all processes; NULL: each has its own */
    switches *switches; /* NULL: they are not known */
    int status;         /* an exit status */
};

/* Creates the shared memory. False after a diagnostic. */
bool processes_open(processes *p, bool follow);
/* The program itself, which has not begun; to is its trace, which the caller closes. Returns an
 * exit status, after a diagnostic if it is not EXIT_SOUND. */
int processes_add_program(processes *p, pid_t pid, const char *path, output *to);
/* Records all processes until they have ended, or that time of CLOCK_MONOTONIC, and ends the
 * traces. Returns an exit status, after a diagnostic if it is not EXIT_SOUND. */
int processes_follow(processes *p, program *main, uint64_t end);
/* For `waiting`: while addresses are resolved, which may take long, rings are emptied, and ready.
 */
void processes_take_all(void *processes);
void processes_close(processes *p);

#endif
