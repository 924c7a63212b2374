/*
 * threads.c - interposed functions of POSIX and C11 threads.
 *
 * A lock is tried before it is waited for, so that only waiting is recorded. C11's functions of the
 * C library do not call POSIX's, but their objects are the same.
 */
#include "cmd/preload/real.h"
#include "cmd/preload/trace.h"

#include <errno.h>

#define OBJECT(x) ((uint64_t)(uintptr_t)(x))

/* The result of a wait by the value that a function of POSIX or C11 returned. */
static ring_result posix_result(int returned)
{
    return returned == ETIMEDOUT ? RING_TIMEOUT : RING_DONE;
}

static ring_result c11_result(int returned)
{
    return returned == thrd_timedout ? RING_TIMEOUT : RING_DONE;
}

/* ---- creation and end ------------------------------------------------------------------------ */

static void *start_posix(void *started)
{
    void *routine, *arg;
    trace_start(started, &routine, &arg);
    return (__extension__(void *(*)(void *)) routine)(arg);
}

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*routine)(void *),
                          void *arg)
{
    trace_started *started = trace_create(__extension__(void *) routine, arg);
    if (!started)
        return REAL(pthread_create)(thread, attr, routine, arg);
    int error = REAL(pthread_create)(thread, attr, start_posix, started);
    if (error)
        trace_not_created(started);
    return error;
}

static int start_c11(void *started)
{
    void *routine, *arg;
    trace_start(started, &routine, &arg);
    return (__extension__(thrd_start_t) routine)(arg);
}

EXPORT int thrd_create(thrd_t *thread, thrd_start_t routine, void *arg)
{
    trace_started *started = trace_create(__extension__(void *) routine, arg);
    if (!started)
        return REAL(thrd_create)(thread, routine, arg);
    int result = REAL(thrd_create)(thread, start_c11, started);
    if (result != thrd_success)
        trace_not_created(started);
    return result;
}

/* ---- functions that wait --------------------------------------------------------------------- */

/* WAITING(name, function for the result, kind, object, attempt, (parameters), (arguments)): returns
 * the value of the attempt unless it failed because the caller has to wait. TIMED: at most until a
 * time. */
#define WAITING(...) DEFINE(false, __VA_ARGS__)
#define TIMED(...)   DEFINE(true, __VA_ARGS__)
#define DEFINE(timed, name, result, kind, object, attempt, parameters, arguments)                  \
    EXPORT int name parameters                                                                     \
    {                                                                                              \
        attempt;                                                                                   \
        bool recorded = trace_wait(kind, OBJECT(object), timed);                                   \
        int returned = REAL(name) arguments;                                                       \
        trace_resume(recorded, result(returned));                                                  \
        return returned;                                                                           \
    }

#define TRY(call, busy)                                                                            \
    int tried = call;                                                                              \
    if (tried != (busy))                                                                           \
    return tried

#define MUTEX_TRY TRY(REAL(pthread_mutex_trylock)(m), EBUSY)
#define READ_TRY  TRY(REAL(pthread_rwlock_tryrdlock)(l), EBUSY)
#define WRITE_TRY TRY(REAL(pthread_rwlock_trywrlock)(l), EBUSY)
#define JOIN_TRY  TRY(REAL(pthread_tryjoin_np)(thread, end), EBUSY)
#define C11_TRY   TRY(REAL(mtx_trylock)(m), thrd_busy)

WAITING(pthread_mutex_lock, posix_result, RING_MUTEX, m, MUTEX_TRY, (pthread_mutex_t * m), (m))
TIMED(pthread_mutex_timedlock, posix_result, RING_MUTEX, m, MUTEX_TRY,
      (pthread_mutex_t * m, const struct timespec *t), (m, t))
TIMED(pthread_mutex_clocklock, posix_result, RING_MUTEX, m, MUTEX_TRY,
      (pthread_mutex_t * m, clockid_t clock, const struct timespec *t), (m, clock, t))
WAITING(mtx_lock, c11_result, RING_MUTEX, m, C11_TRY, (mtx_t * m), (m))
TIMED(mtx_timedlock, c11_result, RING_MUTEX, m, C11_TRY, (mtx_t * m, const struct timespec *t),
      (m, t))

WAITING(pthread_rwlock_rdlock, posix_result, RING_READ_LOCK, l, READ_TRY, (pthread_rwlock_t * l),
        (l))
TIMED(pthread_rwlock_timedrdlock, posix_result, RING_READ_LOCK, l, READ_TRY,
      (pthread_rwlock_t * l, const struct timespec *t), (l, t))
TIMED(pthread_rwlock_clockrdlock, posix_result, RING_READ_LOCK, l, READ_TRY,
      (pthread_rwlock_t * l, clockid_t clock, const struct timespec *t), (l, clock, t))
WAITING(pthread_rwlock_wrlock, posix_result, RING_WRITE_LOCK, l, WRITE_TRY, (pthread_rwlock_t * l),
        (l))
TIMED(pthread_rwlock_timedwrlock, posix_result, RING_WRITE_LOCK, l, WRITE_TRY,
      (pthread_rwlock_t * l, const struct timespec *t), (l, t))
TIMED(pthread_rwlock_clockwrlock, posix_result, RING_WRITE_LOCK, l, WRITE_TRY,
      (pthread_rwlock_t * l, clockid_t clock, const struct timespec *t), (l, clock, t))

WAITING(pthread_join, posix_result, RING_JOIN, thread, JOIN_TRY, (pthread_t thread, void **end),
        (thread, end))
TIMED(pthread_timedjoin_np, posix_result, RING_JOIN, thread, JOIN_TRY,
      (pthread_t thread, void **end, const struct timespec *t), (thread, end, t))
TIMED(pthread_clockjoin_np, posix_result, RING_JOIN, thread, JOIN_TRY,
      (pthread_t thread, void **end, clockid_t clock, const struct timespec *t),
      (thread, end, clock, t))
WAITING(thrd_join, c11_result, RING_JOIN, thread, , (thrd_t thread, int *end), (thread, end))

/* The mutex is unlocked first. */
WAITING(pthread_cond_wait, posix_result, RING_COND, c, trace_wake(m, 1),
        (pthread_cond_t * c, pthread_mutex_t *m), (c, m))
TIMED(pthread_cond_timedwait, posix_result, RING_COND, c, trace_wake(m, 1),
      (pthread_cond_t * c, pthread_mutex_t *m, const struct timespec *t), (c, m, t))
TIMED(pthread_cond_clockwait, posix_result, RING_COND, c, trace_wake(m, 1),
      (pthread_cond_t * c, pthread_mutex_t *m, clockid_t clock, const struct timespec *t),
      (c, m, clock, t))
WAITING(cnd_wait, c11_result, RING_COND, c, trace_wake(m, 1), (cnd_t * c, mtx_t *m), (c, m))
TIMED(cnd_timedwait, c11_result, RING_COND, c, trace_wake(m, 1),
      (cnd_t * c, mtx_t *m, const struct timespec *t), (c, m, t))

/* In the C library the last thread to arrive is the one with the special result. */
static ring_result barrier_result(int returned)
{
    return returned == PTHREAD_BARRIER_SERIAL_THREAD ? RING_LAST : RING_DONE;
}

WAITING(pthread_barrier_wait, barrier_result, RING_BARRIER, b, , (pthread_barrier_t * b), (b))

/* Whether the semaphore was taken without waiting. */
static bool try_semaphore(sem_t *s)
{
    int error = errno;
    pthread_testcancel();
    bool taken = REAL(sem_trywait)(s) == 0;
    errno = error;
    return taken;
}

static ring_result errno_result(int returned)
{
    return returned < 0 ? posix_result(errno) : RING_DONE;
}

#define SEM_TRY                                                                                    \
    if (try_semaphore(s))                                                                          \
    return 0

WAITING(sem_wait, errno_result, RING_SEM, s, SEM_TRY, (sem_t * s), (s))
TIMED(sem_timedwait, errno_result, RING_SEM, s, SEM_TRY, (sem_t * s, const struct timespec *t),
      (s, t))
TIMED(sem_clockwait, errno_result, RING_SEM, s, SEM_TRY,
      (sem_t * s, clockid_t clock, const struct timespec *t), (s, clock, t))

/* ---- functions that wake --------------------------------------------------------------------- */

#define WAKING(name, count, parameter, object)                                                     \
    EXPORT int name(parameter)                                                                     \
    {                                                                                              \
        trace_wake(object, count);                                                                 \
        return REAL(name)(object);                                                                 \
    }

/* Not if a recursive mutex remains locked. The type is in the lowest bits, whatever else the mutex
 * is. */
static bool is_last_unlock(const void *mutex)
{
    enum { TYPE = 3 };
    const pthread_mutex_t *m = mutex;
    return (m->__data.__kind & TYPE) != PTHREAD_MUTEX_RECURSIVE_NP || m->__data.__count <= 1;
}

#define UNLOCKING(name, parameter)                                                                 \
    EXPORT int name(parameter)                                                                     \
    {                                                                                              \
        if (is_last_unlock(m))                                                                     \
            trace_wake(m, 1);                                                                      \
        return REAL(name)(m);                                                                      \
    }

UNLOCKING(pthread_mutex_unlock, pthread_mutex_t *m)
UNLOCKING(mtx_unlock, mtx_t *m)
WAKING(pthread_rwlock_unlock, 1, pthread_rwlock_t *l, l)
WAKING(pthread_cond_signal, 1, pthread_cond_t *c, c)
WAKING(pthread_cond_broadcast, RING_ALL, pthread_cond_t *c, c)

/* Threads of other processes may wait for it. */
EXPORT int sem_post(sem_t *s)
{
    enum { WAITERS_SHIFT = 32 };
    const trace_sem *inside = (const void *)s;
    if (!trace_is_shared(inside))
        trace_wake(s, 1);
    else if (__atomic_load_n(&inside->data, __ATOMIC_RELAXED) >> WAITERS_SHIFT)
        trace_wake_slow((uintptr_t)s, 1, RING_SHARED);
    return REAL(sem_post)(s);
}

WAKING(cnd_signal, 1, cnd_t *c, c)
WAKING(cnd_broadcast, RING_ALL, cnd_t *c, c)
