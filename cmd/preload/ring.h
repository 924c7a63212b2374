/*
 * ring.h - memory that recorded processes share with `gotrace record`.
 *
 * Each thread of a process has a slot with a ring of records, which it writes without a lock and
 * `record` takes away. The memory outlives the process, so that nothing is lost when it is killed,
 * calls exec or _exit.
 *
 * Times are nanoseconds of CLOCK_MONOTONIC and do not decrease within a ring. While a thread takes
 * the time and writes a record, its slot is busy: records of a slot that is not busy, which are not
 * yet visible, are later than the present.
 *
 * A fault of the process can write anything here, at any time. `record` reads each member once,
 * checks it and then uses the copy; what only one side needs is in that side's own memory. Members
 * that both sides access are atomic, also to be read once.
 */
#ifndef PRELOAD_RING_H
#define PRELOAD_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    RING_SLOTS = 1024,
    RING_RECORDS = 8192,    /* in a slot; a power of two */
    RING_STACKS = 256,      /* known stacks of a thread; the last one is that of a sample */
    RING_FRAMES = 32,       /* of a stack; further callers are left out */
    RING_IMAGES = 256,      /* programs that the process executes, one after the other */
    RING_MAPS = 1 << 16,    /* bytes */
    RING_PROCESSES = 512,   /* at a time */
    RING_PATH = 256,        /* bytes */
    RING_NAME_SIZE = 16,    /* bytes, see pthread_setname_np(3) */
    RING_FDS = 4096,        /* descriptors of a process of which what they are is recorded */
    RING_LINK = 152,        /* bytes of a link in /proc/self/fd */
    RING_INET_ADDRESS = 32, /* bytes of an address of IPv4 or IPv6, */
    RING_ADDRESS = 112,     /* and of any socket */
    RING_PERIODS = 64,      /* that one sample may stand for */
};

/* The environment variable with the path of a ring_session. */
#define RING_VARIABLE "GOTRACE_RECORD"

/* The function of the library that is called with that path in a process that runs already. */
#define RING_ATTACH_FUNCTION "gotrace_attach"

typedef enum ring_attached {
    RING_ATTACHED = 0,
    RING_IS_RECORDED,   /* by another `record` */
    RING_NO_SESSION,    /* the path cannot be opened */
    RING_NO_RESOURCES,  /* memory or a key of threads is refused */
    RING_SIGNAL_IS_USED /* the process handles that of samples */
} ring_attached;

typedef enum ring_type {
    RING_FRAME = 1, /* frame `kind` of the stack `stack`, which has `flags`; object: its PC */
    RING_ATTACH,    /* a thread that no recorded thread created is seen; object: its id;
                       flags: 0: the first one of the process. Else RING_NAME is before, and the
                       stack has its start routine, if that is known */
    RING_CREATE,    /* the thread creates the one of slot `flags`; object: its start routine */
    RING_START,     /* a created thread begins; object: its id */
    RING_END,       /* object: its pthread_t */
    RING_SELF,      /* object: the thread's pthread_t */
    RING_HOLDER,    /* before RING_BLOCK, for a lock; object: the id of the thread that has it */
    RING_BLOCK,     /* a call of `kind` on the object begins to wait; flags: of ring_wait */
    RING_DELAY,     /* before RING_RESUME; object: ns for which the thread was runnable during the
                       wait, as the kernel has it; of the first one also before RING_START */
    RING_RESUME,    /* it returns; flags: ring_result; object: of a lock, the time of the RING_WAKE
                       that let it in; 0: none */
    RING_WAKE,      /* wakes waiting threads of the object: flags of them; kind: RING_SHARED or 0 */
    RING_OFF,       /* for `object` ns since its last record, the thread was not on a processor;
                       flags: 1: it mostly waited, in a way that is not seen, 0: it was runnable */
    RING_SAMPLE,    /* the thread executes what the stack says, whose first PC is as if it had
                       returned there; flags: periods since the last sample */
    RING_FD,        /* object: part `kind` of the ring_descriptor of the file descriptor `flags`,
                       of which the first `stack` parts are recorded, one after the other */
    RING_NAME,      /* object: characters of the thread's name from number 8 * `kind` on */
} ring_type;

/* What a thread waits for. */
typedef enum ring_kind {
    RING_MUTEX = 1,
    RING_READ_LOCK,
    RING_WRITE_LOCK,
    RING_COND,
    RING_SEM,
    RING_JOIN,
    RING_BARRIER,
    RING_FUTEX,
    RING_SLEEP,
    RING_POLL,
    RING_SIGNAL,
    /* Calls that may return at once; the object is a file descriptor, with RING_FROM or RING_TO if
     * the call reads or writes, or of System V an id with RING_OF_SYSTEM. */
    RING_NETWORK,
    RING_RECEIVE, /* from a pipe or a message queue */
    RING_SEND,
    RING_FILE_LOCK,
    RING_SYSTEM_SEM, /* a set of semaphores of System V */
    RING_FILE,
    RING_CHILD,   /* a process */
    RING_NO_WAIT, /* any call of a form that never waits, also if it takes long */
} ring_kind;

typedef enum ring_result {
    RING_DONE = 0,
    RING_TIMEOUT,     /* nobody woke it */
    RING_LAST,        /* of a barrier: it was the last thread that arrived */
    RING_INTERRUPTED, /* a signal handler runs, or the thread was cancelled */
} ring_result;

enum { RING_ALL = UINT16_MAX };

typedef enum ring_wait {
    RING_TIMED = 1,  /* at most until a time */
    RING_SHARED = 2, /* for a semaphore that processes share */
} ring_wait;

/* In the object of a call, above the file descriptor or id. CONNECTS: what the call connects is
 * recorded after its RING_RESUME, as RING_FD. */
#define RING_OF_SYSTEM (UINT64_C(1) << 32)
#define RING_FROM      (UINT64_C(1) << 33)
#define RING_TO        (UINT64_C(1) << 34)
#define RING_CONNECTS  (UINT64_C(1) << 35)

static inline uint32_t ring_fd(uint64_t object)
{
    return (uint32_t)object;
}

typedef enum ring_fd_type {
    RING_FD_UNKNOWN = 0,
    RING_FD_FILE,      /* or anything else that is no socket */
    RING_FD_CONNECTED, /* a socket with a peer */
    RING_FD_SOCKET,    /* another one */
} ring_fd_type;

/* What a file descriptor is. Addresses are each a struct sockaddr. */
typedef struct ring_descriptor {
    uint64_t type; /* ring_fd_type */
    union {
        char link[RING_LINK]; /* as in /proc/self/fd, up to the first NUL or the end */
        struct {
            uint64_t inode;              /* of the socket; 0: unknown */
            char own[RING_INET_ADDRESS]; /* address; zeros: it has none, or a longer one */
            char peer[RING_ADDRESS];     /* address of the peer, or if there is none, its own */
        } socket;
    };
} ring_descriptor;

enum { RING_FD_PARTS = sizeof(ring_descriptor) / sizeof(uint64_t) };

typedef struct ring_record {
    uint64_t time;
    uint64_t object;
    uint16_t stack; /* 0: none, else a number below RING_STACKS */
    uint16_t flags;
    uint8_t type, kind;
} ring_record;

/* RESERVED: a thread is setting it up. */
enum { RING_FREE = 0, RING_RESERVED, RING_TAKEN, RING_FINISHED };

typedef struct ring_slot {
    _Atomic uint32_t state; /* FREE, which only `record` sets; FINISHED: no more records come */
    _Atomic uint32_t image;
    _Atomic uint32_t busy;
    _Atomic uint64_t head __attribute__((aligned(64))); /* number of records written */
    _Atomic uint64_t tail __attribute__((aligned(64))); /* number of records taken */
    ring_record records[RING_RECORDS] __attribute__((aligned(64)));
} ring_slot;

typedef struct ring {
    uint64_t size;                       /* of this struct: both sides are of the same build */
    uint32_t stacks;                     /* whether callers are recorded */
    uint32_t sample_ns;                  /* of a thread's processor time between samples; 0: none */
    _Atomic uint32_t closed;             /* nothing is recorded any more */
    int32_t parent;                      /* of the process, when it took this memory */
    _Atomic uint32_t images;             /* programs seen; 0: no process uses this memory yet */
    _Atomic uint32_t used;               /* slots from this one on were never used */
    _Atomic uint32_t lost;               /* threads without a slot */
    _Atomic uint32_t left;               /* records that were not completed, see trace_jump */
    _Atomic uint32_t samples_lost;       /* while a record was written, or without room */
    _Atomic uint64_t mains[RING_IMAGES]; /* address of main; 0: unknown */
    char programs[RING_IMAGES][RING_NAME_SIZE]; /* name of the program; ends with NUL */
    /* /proc/self/maps when the program began; ends with NUL, and is truncated. */
    char maps[RING_IMAGES][RING_MAPS];
    ring_slot slots[RING_SLOTS];
} ring;

/* A pid of ring_session, if it is not that of a process. RESERVED_BY_PARENT: the process with that
 * pid takes this ring, or has another one; if it is the parent itself, it is about to reserve it.
 */
enum { RING_NONE = -1, RING_READY = 0 };
#define RING_RESERVED_BY_PARENT(pid) (-(pid))

/*
 * The processes that are recorded. The program itself is number 0. If children are recorded,
 * `record` keeps some rings ready, and a new process takes one by setting its pid. It is one store,
 * so that a process that is killed has taken a ring or has not.
 */
typedef struct ring_session {
    uint64_t size;                            /* of this struct */
    int32_t recorder;                         /* the process that has fds */
    _Atomic uint32_t owner;                   /* a robust futex of its thread that reads: the kernel
                                                 sets FUTEX_OWNER_DIED when that ends */
    uint32_t follows;                         /* children are recorded */
    _Atomic uint32_t closed;                  /* no process is added any more */
    _Atomic uint32_t pulse;                   /* changes, and is a futex, when there is work */
    _Atomic uint32_t missed;                  /* processes for which there was no ring */
    _Atomic uint32_t forks;                   /* children that have not taken a ring yet */
    _Atomic int32_t pids[RING_PROCESSES];     /* NONE: there is no ring; READY: it is free */
    _Atomic int32_t fds[RING_PROCESSES];      /* of that process, for the rings */
    char executes[RING_PROCESSES][RING_PATH]; /* a program that the process is about to execute,
                                                 until that is recorded */
} ring_session;

#endif
