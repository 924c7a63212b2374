/*
 * real.h - the functions that are interposed, as the C library defines them.
 */
#ifndef PRELOAD_REAL_H
#define PRELOAD_REAL_H

#include <aio.h>
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

typedef int trace_main(int, char **, char **);

/*
 * Calls that block and need nothing else: X(result, name, kind, object, (parameters), (arguments)).
 * The kind is a ring_kind, which only calls.c uses; it includes trace.h for that.
 * The names with _chk are called by programs that were compiled with _FORTIFY_SOURCE.
 */
#define READ_FROM(fd)     trace_fd_kind(fd, RING_RECEIVE)
#define WRITE_TO(fd)      trace_fd_kind(fd, RING_SEND)
#define UNLESS(now, kind) ((now) ? RING_NO_WAIT : (kind))
#define SOCKET(fd)        UNLESS(trace_is_nonblocking(fd), RING_NETWORK)
#define MESSAGE(fd, how)  UNLESS((how)&MSG_DONTWAIT, SOCKET(fd))
#define POLL_MS(ms)       UNLESS((ms) == 0, RING_POLL)
/* The C library reads the time itself too: reading it here is no new fault. */
#define POLL_TIME(t, part) UNLESS((t) && (t)->tv_sec == 0 && (t)->part == 0, RING_POLL)
#define QUEUE(fd, kind)    UNLESS(trace_is_nonblocking(fd), kind)
#define FD(fd)             (uint64_t)(uint32_t)(fd)
#define FROM(fd)           (RING_FROM | FD(fd))
#define TO(fd)             (RING_TO | FD(fd))
#define SYSTEM(id)         (RING_OF_SYSTEM | (uint32_t)(id))
#define BLOCKING_CALLS(X)                                                                          \
    X(ssize_t, read, READ_FROM(fd), FROM(fd), (int fd, void *p, size_t n), (fd, p, n))             \
    X(ssize_t, __read_chk, READ_FROM(fd), FROM(fd), (int fd, void *p, size_t n, size_t room),      \
      (fd, p, n, room))                                                                            \
    X(ssize_t, readv, READ_FROM(fd), FROM(fd), (int fd, const struct iovec *v, int n), (fd, v, n)) \
    X(ssize_t, write, WRITE_TO(fd), TO(fd), (int fd, const void *p, size_t n), (fd, p, n))         \
    X(ssize_t, writev, WRITE_TO(fd), TO(fd), (int fd, const struct iovec *v, int n), (fd, v, n))   \
    X(ssize_t, pread, RING_FILE, FD(fd), (int fd, void *p, size_t n, off_t at), (fd, p, n, at))    \
    X(ssize_t, pread64, RING_FILE, FD(fd), (int fd, void *p, size_t n, off64_t at),                \
      (fd, p, n, at))                                                                              \
    X(ssize_t, __pread_chk, RING_FILE, FD(fd), (int fd, void *p, size_t n, off_t at, size_t room), \
      (fd, p, n, at, room))                                                                        \
    X(ssize_t, __pread64_chk, RING_FILE, FD(fd),                                                   \
      (int fd, void *p, size_t n, off64_t at, size_t room), (fd, p, n, at, room))                  \
    X(ssize_t, preadv, RING_FILE, FD(fd), (int fd, const struct iovec *v, int n, off_t at),        \
      (fd, v, n, at))                                                                              \
    X(ssize_t, pwrite, RING_FILE, FD(fd), (int fd, const void *p, size_t n, off_t at),             \
      (fd, p, n, at))                                                                              \
    X(ssize_t, pwrite64, RING_FILE, FD(fd), (int fd, const void *p, size_t n, off64_t at),         \
      (fd, p, n, at))                                                                              \
    X(ssize_t, pwritev, RING_FILE, FD(fd), (int fd, const struct iovec *v, int n, off_t at),       \
      (fd, v, n, at))                                                                              \
    X(int, fsync, RING_FILE, FD(fd), (int fd), (fd))                                               \
    X(int, fdatasync, RING_FILE, FD(fd), (int fd), (fd))                                           \
    X(ssize_t, sendfile, WRITE_TO(to), TO(to), (int to, int from, off_t *at, size_t n),            \
      (to, from, at, n))                                                                           \
    X(ssize_t, sendfile64, WRITE_TO(to), TO(to), (int to, int from, off64_t *at, size_t n),        \
      (to, from, at, n))                                                                           \
    X(ssize_t, recv, MESSAGE(fd, how), FROM(fd), (int fd, void *p, size_t n, int how),             \
      (fd, p, n, how))                                                                             \
    X(ssize_t, __recv_chk, MESSAGE(fd, how), FROM(fd),                                             \
      (int fd, void *p, size_t n, size_t room, int how), (fd, p, n, room, how))                    \
    X(ssize_t, recvfrom, MESSAGE(fd, how), FROM(fd),                                               \
      (int fd, void *p, size_t n, int how, __SOCKADDR_ARG a, socklen_t *size),                     \
      (fd, p, n, how, a, size))                                                                    \
    X(ssize_t, __recvfrom_chk, MESSAGE(fd, how), FROM(fd),                                         \
      (int fd, void *p, size_t n, size_t room, int how, __SOCKADDR_ARG a, socklen_t *size),        \
      (fd, p, n, room, how, a, size))                                                              \
    X(ssize_t, recvmsg, MESSAGE(fd, how), FROM(fd), (int fd, struct msghdr *m, int how),           \
      (fd, m, how))                                                                                \
    X(int, recvmmsg, MESSAGE(fd, how), FROM(fd),                                                   \
      (int fd, struct mmsghdr *m, unsigned n, int how, struct timespec *t), (fd, m, n, how, t))    \
    X(ssize_t, send, MESSAGE(fd, how), TO(fd), (int fd, const void *p, size_t n, int how),         \
      (fd, p, n, how))                                                                             \
    X(ssize_t, sendto, MESSAGE(fd, how), TO(fd),                                                   \
      (int fd, const void *p, size_t n, int how, __CONST_SOCKADDR_ARG a, socklen_t size),          \
      (fd, p, n, how, a, size))                                                                    \
    X(ssize_t, sendmsg, MESSAGE(fd, how), TO(fd), (int fd, const struct msghdr *m, int how),       \
      (fd, m, how))                                                                                \
    X(int, sendmmsg, MESSAGE(fd, how), TO(fd), (int fd, struct mmsghdr *m, unsigned n, int how),   \
      (fd, m, n, how))                                                                             \
    X(int, poll, POLL_MS(ms), 0, (struct pollfd * f, nfds_t n, int ms), (f, n, ms))                \
    X(int, __poll_chk, POLL_MS(ms), 0, (struct pollfd * f, nfds_t n, int ms, size_t room),         \
      (f, n, ms, room))                                                                            \
    X(int, ppoll, POLL_TIME(t, tv_nsec), 0,                                                        \
      (struct pollfd * f, nfds_t n, const struct timespec *t, const sigset_t *s), (f, n, t, s))    \
    X(int, __ppoll_chk, POLL_TIME(t, tv_nsec), 0,                                                  \
      (struct pollfd * f, nfds_t n, const struct timespec *t, const sigset_t *s, size_t room),     \
      (f, n, t, s, room))                                                                          \
    X(int, select, POLL_TIME(t, tv_usec), 0,                                                       \
      (int n, fd_set *r, fd_set *w, fd_set *e, struct timeval *t), (n, r, w, e, t))                \
    X(int, pselect, POLL_TIME(t, tv_nsec), 0,                                                      \
      (int n, fd_set *r, fd_set *w, fd_set *e, const struct timespec *t, const sigset_t *s),       \
      (n, r, w, e, t, s))                                                                          \
    X(int, epoll_wait, POLL_MS(ms), FD(fd), (int fd, struct epoll_event *e, int n, int ms),        \
      (fd, e, n, ms))                                                                              \
    X(int, epoll_pwait, POLL_MS(ms), FD(fd),                                                       \
      (int fd, struct epoll_event *e, int n, int ms, const sigset_t *s), (fd, e, n, ms, s))        \
    X(int, epoll_pwait2, RING_POLL, FD(fd),                                                        \
      (int fd, struct epoll_event *e, int n, const struct timespec *t, const sigset_t *s),         \
      (fd, e, n, t, s))                                                                            \
    X(unsigned, sleep, RING_SLEEP, 0, (unsigned s), (s))                                           \
    X(int, usleep, RING_SLEEP, 0, (useconds_t us), (us))                                           \
    X(int, nanosleep, RING_SLEEP, 0, (const struct timespec *t, struct timespec *left), (t, left)) \
    X(int, clock_nanosleep, RING_SLEEP, 0,                                                         \
      (clockid_t clock, int how, const struct timespec *t, struct timespec *left),                 \
      (clock, how, t, left))                                                                       \
    X(int, thrd_sleep, RING_SLEEP, 0, (const struct timespec *t, struct timespec *left),           \
      (t, left))                                                                                   \
    X(int, pause, RING_SIGNAL, 0, (void), ())                                                      \
    X(int, sigsuspend, RING_SIGNAL, 0, (const sigset_t *s), (s))                                   \
    X(int, sigwait, RING_SIGNAL, 0, (const sigset_t *s, int *number), (s, number))                 \
    X(int, sigwaitinfo, RING_SIGNAL, 0, (const sigset_t *s, siginfo_t *i), (s, i))                 \
    X(int, sigtimedwait, RING_SIGNAL, 0,                                                           \
      (const sigset_t *s, siginfo_t *i, const struct timespec *t), (s, i, t))                      \
    X(pid_t, wait, RING_CHILD, 0, (int *status), (status))                                         \
    X(pid_t, waitpid, RING_CHILD, 0, (pid_t child, int *status, int how), (child, status, how))    \
    X(pid_t, wait3, RING_CHILD, 0, (int *status, int how, struct rusage *u), (status, how, u))     \
    X(pid_t, wait4, RING_CHILD, 0, (pid_t child, int *status, int how, struct rusage *u),          \
      (child, status, how, u))                                                                     \
    X(int, waitid, RING_CHILD, 0, (idtype_t type, id_t id, siginfo_t * i, int how),                \
      (type, id, i, how))                                                                          \
    X(int, flock, UNLESS((how) & (LOCK_NB | LOCK_UN), RING_FILE_LOCK), FD(fd), (int fd, int how),  \
      (fd, how))                                                                                   \
    X(int, lockf, UNLESS((how) != F_LOCK, RING_FILE_LOCK), FD(fd), (int fd, int how, off_t n),     \
      (fd, how, n))                                                                                \
    X(int, lockf64, UNLESS((how) != F_LOCK, RING_FILE_LOCK), FD(fd), (int fd, int how, off64_t n), \
      (fd, how, n))                                                                                \
    X(int, semop, RING_SYSTEM_SEM, SYSTEM(id), (int id, struct sembuf *o, size_t n), (id, o, n))   \
    X(int, semtimedop, RING_SYSTEM_SEM, SYSTEM(id),                                                \
      (int id, struct sembuf *o, size_t n, const struct timespec *t), (id, o, n, t))               \
    X(int, msgsnd, UNLESS((how)&IPC_NOWAIT, RING_SEND), SYSTEM(id),                                \
      (int id, const void *m, size_t n, int how), (id, m, n, how))                                 \
    X(ssize_t, msgrcv, UNLESS((how)&IPC_NOWAIT, RING_RECEIVE), SYSTEM(id),                         \
      (int id, void *m, size_t n, long type, int how), (id, m, n, type, how))                      \
    X(int, mq_send, QUEUE(fd, RING_SEND), TO(fd), (mqd_t fd, const char *m, size_t n, unsigned p), \
      (fd, m, n, p))                                                                               \
    X(int, mq_timedsend, QUEUE(fd, RING_SEND), TO(fd),                                             \
      (mqd_t fd, const char *m, size_t n, unsigned p, const struct timespec *t), (fd, m, n, p, t)) \
    X(ssize_t, mq_receive, QUEUE(fd, RING_RECEIVE), FROM(fd),                                      \
      (mqd_t fd, char *m, size_t n, unsigned *p), (fd, m, n, p))                                   \
    X(ssize_t, mq_timedreceive, QUEUE(fd, RING_RECEIVE), FROM(fd),                                 \
      (mqd_t fd, char *m, size_t n, unsigned *p, const struct timespec *t), (fd, m, n, p, t))      \
    X(ssize_t, vmsplice, UNLESS((how)&SPLICE_F_NONBLOCK, WRITE_TO(fd)), TO(fd),                    \
      (int fd, const struct iovec *v, size_t n, unsigned how), (fd, v, n, how))                    \
    X(int, aio_suspend, RING_POLL, 0,                                                              \
      (const struct aiocb *const list[], int n, const struct timespec *t), (list, n, t))           \
    X(int, aio_suspend64, RING_POLL, 0,                                                            \
      (const struct aiocb64 *const list[], int n, const struct timespec *t), (list, n, t))

/* Other functions: X(result, name, (parameters)). */
#define OTHER_CALLS(X)                                                                             \
    X(int, pthread_create,                                                                         \
      (pthread_t * thread, const pthread_attr_t *attr, void *(*routine)(void *), void *arg))       \
    X(int, pthread_join, (pthread_t thread, void **result))                                        \
    X(int, pthread_tryjoin_np, (pthread_t thread, void **result))                                  \
    X(int, pthread_timedjoin_np, (pthread_t thread, void **result, const struct timespec *t))      \
    X(int, pthread_clockjoin_np,                                                                   \
      (pthread_t thread, void **result, clockid_t clock, const struct timespec *t))                \
    X(int, pthread_mutex_lock, (pthread_mutex_t * m))                                              \
    X(int, pthread_mutex_trylock, (pthread_mutex_t * m))                                           \
    X(int, pthread_mutex_timedlock, (pthread_mutex_t * m, const struct timespec *t))               \
    X(int, pthread_mutex_clocklock,                                                                \
      (pthread_mutex_t * m, clockid_t clock, const struct timespec *t))                            \
    X(int, pthread_mutex_unlock, (pthread_mutex_t * m))                                            \
    X(int, pthread_rwlock_rdlock, (pthread_rwlock_t * l))                                          \
    X(int, pthread_rwlock_tryrdlock, (pthread_rwlock_t * l))                                       \
    X(int, pthread_rwlock_timedrdlock, (pthread_rwlock_t * l, const struct timespec *t))           \
    X(int, pthread_rwlock_clockrdlock,                                                             \
      (pthread_rwlock_t * l, clockid_t clock, const struct timespec *t))                           \
    X(int, pthread_rwlock_wrlock, (pthread_rwlock_t * l))                                          \
    X(int, pthread_rwlock_trywrlock, (pthread_rwlock_t * l))                                       \
    X(int, pthread_rwlock_timedwrlock, (pthread_rwlock_t * l, const struct timespec *t))           \
    X(int, pthread_rwlock_clockwrlock,                                                             \
      (pthread_rwlock_t * l, clockid_t clock, const struct timespec *t))                           \
    X(int, pthread_rwlock_unlock, (pthread_rwlock_t * l))                                          \
    X(int, pthread_cond_wait, (pthread_cond_t * c, pthread_mutex_t * m))                           \
    X(int, pthread_cond_timedwait,                                                                 \
      (pthread_cond_t * c, pthread_mutex_t * m, const struct timespec *t))                         \
    X(int, pthread_cond_clockwait,                                                                 \
      (pthread_cond_t * c, pthread_mutex_t * m, clockid_t clock, const struct timespec *t))        \
    X(int, pthread_cond_signal, (pthread_cond_t * c))                                              \
    X(int, pthread_cond_broadcast, (pthread_cond_t * c))                                           \
    X(int, pthread_barrier_wait, (pthread_barrier_t * b))                                          \
    X(int, sem_wait, (sem_t * s))                                                                  \
    X(int, sem_trywait, (sem_t * s))                                                               \
    X(int, sem_timedwait, (sem_t * s, const struct timespec *t))                                   \
    X(int, sem_clockwait, (sem_t * s, clockid_t clock, const struct timespec *t))                  \
    X(int, sem_post, (sem_t * s))                                                                  \
    X(int, thrd_create, (thrd_t * thread, thrd_start_t routine, void *arg))                        \
    X(int, thrd_join, (thrd_t thread, int *result))                                                \
    X(int, mtx_lock, (mtx_t * m))                                                                  \
    X(int, mtx_trylock, (mtx_t * m))                                                               \
    X(int, mtx_timedlock, (mtx_t * m, const struct timespec *t))                                   \
    X(int, mtx_unlock, (mtx_t * m))                                                                \
    X(int, cnd_wait, (cnd_t * c, mtx_t * m))                                                       \
    X(int, cnd_timedwait, (cnd_t * c, mtx_t * m, const struct timespec *t))                        \
    X(int, cnd_signal, (cnd_t * c))                                                                \
    X(int, cnd_broadcast, (cnd_t * c))                                                             \
    X(int, connect, (int fd, __CONST_SOCKADDR_ARG a, socklen_t size))                              \
    X(int, accept, (int fd, __SOCKADDR_ARG a, socklen_t *size))                                    \
    X(int, accept4, (int fd, __SOCKADDR_ARG a, socklen_t *size, int how))                          \
    X(int, fcntl, (int fd, int command, ...))                                                      \
    X(int, fcntl64, (int fd, int command, ...))                                                    \
    X(ssize_t, splice, (int from, off64_t *at, int to, off64_t *to_at, size_t n, unsigned how))    \
    X(ssize_t, tee, (int from, int to, size_t n, unsigned how))                                    \
    X(int, fclose, (FILE * file))                                                                  \
    X(int, close_range, (unsigned first, unsigned last, int flags))                                \
    X(void, closefrom, (int first))                                                                \
    X(int, close, (int fd))                                                                        \
    X(int, dup2, (int from, int to))                                                               \
    X(int, dup3, (int from, int to, int flags))                                                    \
    X(long, syscall, (long number, ...))                                                           \
    X(int, execve, (const char *path, char *const *args, char *const *env))                        \
    X(int, execv, (const char *path, char *const *args))                                           \
    X(int, execvp, (const char *path, char *const *args))                                          \
    X(int, execvpe, (const char *path, char *const *args, char *const *env))                       \
    X(int, fexecve, (int fd, char *const *args, char *const *env))                                 \
    X(int, posix_spawn,                                                                            \
      (pid_t * pid, const char *path, const posix_spawn_file_actions_t *actions,                   \
       const posix_spawnattr_t *how, char *const *args, char *const *env))                         \
    X(int, posix_spawnp,                                                                           \
      (pid_t * pid, const char *path, const posix_spawn_file_actions_t *actions,                   \
       const posix_spawnattr_t *how, char *const *args, char *const *env))                         \
    X(void, longjmp, (struct __jmp_buf_tag * to, int value))                                       \
    X(void, _longjmp, (struct __jmp_buf_tag * to, int value))                                      \
    X(void, siglongjmp, (struct __jmp_buf_tag * to, int value))                                    \
    X(void, __longjmp_chk, (struct __jmp_buf_tag * to, int value))                                 \
    X(int, pthread_setname_np, (pthread_t thread, const char *name))                               \
    X(int, prctl, (int option, ...))                                                               \
    X(int, sigaction, (int number, const struct sigaction *action, struct sigaction *before))      \
    X(__sighandler_t, signal, (int number, __sighandler_t handler))                                \
    X(int, pthread_sigmask, (int how, const sigset_t *set, sigset_t *before))                      \
    X(int, sigprocmask, (int how, const sigset_t *set, sigset_t *before))                          \
    X(pid_t, _Fork, (void))                                                                        \
    X(void, _exit, (int status))                                                                   \
    X(void, _Exit, (int status))                                                                   \
    X(int, __libc_start_main,                                                                      \
      (trace_main *, int, char **, trace_main *, void (*)(void), void (*)(void), void *))

typedef struct trace_real {
#define BLOCKING_MEMBER(result, name, kind, object, parameters, arguments) result(*name) parameters;
#define OTHER_MEMBER(result, name, parameters)                             result(*name) parameters;
    BLOCKING_CALLS(BLOCKING_MEMBER) OTHER_CALLS(OTHER_MEMBER)
#undef BLOCKING_MEMBER
#undef OTHER_MEMBER
} trace_real;

extern trace_real trace_reals;

/* As dlsym, in the version that programs use; NULL: there is none. */
void *trace_look_up(void *where, const char *name);
/* Finds one, or all. */
void trace_find(const char *name, void *function);
void trace_find_all(void);

/* Constructors of other libraries may call interposed functions before that of this one. */
#define REAL(name)                                                                                 \
    (*(trace_reals.name ? &trace_reals : (trace_find(#name, &trace_reals.name), &trace_reals))     \
          ->name)

#endif
