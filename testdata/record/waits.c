/*
 * waits.c - waits KIND: a thread waits three times in a function, and the main thread wakes it each
 * time after it has waited for some milliseconds. For tests/record.
 */
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "blocked.h"

enum { ROUNDS = 3, WAIT_US = 20000, PAGE = 4096 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t rounds, object;
static sem_t sem;
static mtx_t c11_mutex;
static cnd_t c11_cond;
static int flag, futex_word;
static int pipes[2], sockets[2], epoll;
static char byte;
static int files[2];                              /* of the same file, opened twice */
static int others[2], null, semaphores, messages; /* a pipe of one page; of System V */
static mqd_t queue;                               /* has room for one message */
static struct message {
    long type;
    char text[PAGE];
} message = {.type = 1};

static struct timespec later(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    t.tv_sec += 60;
    return t;
}

static void nothing(void)
{
}

static void mutex_lock(void)
{
    pthread_mutex_lock(&mutex);
}
static void mutex_unlock(void)
{
    pthread_mutex_unlock(&mutex);
}
static void mutex_timedlock(void)
{
    struct timespec t = later(CLOCK_REALTIME);
    pthread_mutex_timedlock(&mutex, &t);
}
static void mutex_clocklock(void)
{
    struct timespec t = later(CLOCK_MONOTONIC);
    pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &t);
}
static void read_lock(void)
{
    pthread_rwlock_rdlock(&lock);
}
static void write_lock(void)
{
    pthread_rwlock_wrlock(&lock);
}
static void timed_read_lock(void)
{
    struct timespec t = later(CLOCK_REALTIME);
    pthread_rwlock_timedrdlock(&lock, &t);
}
static void timed_write_lock(void)
{
    struct timespec t = later(CLOCK_REALTIME);
    pthread_rwlock_timedwrlock(&lock, &t);
}
static void rw_unlock(void)
{
    pthread_rwlock_unlock(&lock);
}
static void take_semaphore(void)
{
    sem_wait(&sem);
}
static void take_semaphore_timed(void)
{
    struct timespec t = later(CLOCK_REALTIME);
    sem_timedwait(&sem, &t);
}
static void post_semaphore(void)
{
    sem_post(&sem);
}
static void wait_barrier(void)
{
    pthread_barrier_wait(&object);
}

static void wait_condition(void)
{
    pthread_mutex_lock(&mutex);
    while (!flag)
        pthread_cond_wait(&cond, &mutex);
    flag = 0;
    pthread_mutex_unlock(&mutex);
}
static void wait_condition_timed(void)
{
    struct timespec t = later(CLOCK_REALTIME);
    pthread_mutex_lock(&mutex);
    while (!flag)
        pthread_cond_timedwait(&cond, &mutex, &t);
    flag = 0;
    pthread_mutex_unlock(&mutex);
}
static void set_flag(void)
{
    pthread_mutex_lock(&mutex);
    flag = 1;
    pthread_mutex_unlock(&mutex);
}
static void signal_condition(void)
{
    set_flag();
    pthread_cond_signal(&cond);
}
/* The thread that is woken waits for the mutex then. */
static void signal_and_hold(void)
{
    pthread_mutex_lock(&mutex);
    flag = 1;
    pthread_cond_signal(&cond);
    usleep(WAIT_US);
    pthread_mutex_unlock(&mutex);
}
static void broadcast_condition(void)
{
    set_flag();
    pthread_cond_broadcast(&cond);
}
static void wait_timeout(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += WAIT_US * 1000L;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    pthread_mutex_lock(&mutex);
    while (pthread_cond_timedwait(&cond, &mutex, &t) != ETIMEDOUT)
        continue;
    pthread_mutex_unlock(&mutex);
}

static void c11_lock(void)
{
    mtx_lock(&c11_mutex);
}
static void c11_unlock(void)
{
    mtx_unlock(&c11_mutex);
}
static void c11_wait(void)
{
    mtx_lock(&c11_mutex);
    while (!flag)
        cnd_wait(&c11_cond, &c11_mutex);
    flag = 0;
    mtx_unlock(&c11_mutex);
}
static void c11_signal(void)
{
    mtx_lock(&c11_mutex);
    flag = 1;
    mtx_unlock(&c11_mutex);
    cnd_signal(&c11_cond);
}

static void futex_wait(void)
{
    while (!__atomic_exchange_n(&futex_word, 0, __ATOMIC_ACQ_REL))
        syscall(SYS_futex, &futex_word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}
static void futex_wake(void)
{
    __atomic_store_n(&futex_word, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &futex_word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static void get_pipe(void)
{
    (void)!read(pipes[0], &byte, 1);
}
static void put_pipe(void)
{
    (void)!write(pipes[1], &byte, 1);
}
static void get_socket(void)
{
    (void)!recv(sockets[0], &byte, 1, 0);
}
static void read_socket(void)
{
    (void)!read(sockets[0], &byte, 1);
}
static void put_socket(void)
{
    (void)!send(sockets[1], &byte, 1, 0);
}
static void poll_pipe(void)
{
    struct pollfd f = {.fd = pipes[0], .events = POLLIN};
    poll(&f, 1, -1);
}
static void ppoll_pipe(void)
{
    struct pollfd f = {.fd = pipes[0], .events = POLLIN};
    ppoll(&f, 1, NULL, NULL);
}
static void select_pipe(void)
{
    fd_set set;
    FD_ZERO(&set);
    FD_SET(pipes[0], &set);
    select(pipes[0] + 1, &set, NULL, NULL, NULL);
}
static void pselect_pipe(void)
{
    fd_set set;
    FD_ZERO(&set);
    FD_SET(pipes[0], &set);
    pselect(pipes[0] + 1, &set, NULL, NULL, NULL, NULL);
}
static void epoll_pipe(void)
{
    struct epoll_event event;
    epoll_wait(epoll, &event, 1, -1);
}
static void epoll_pwait_pipe(void)
{
    struct epoll_event event;
    epoll_pwait(epoll, &event, 1, -1, NULL);
}

static const struct timespec short_time = {.tv_nsec = WAIT_US * 1000L};
static void sleep_us(void)
{
    usleep(WAIT_US);
}
static void sleep_nano(void)
{
    nanosleep(&short_time, NULL);
}
static void sleep_clock(void)
{
    clock_nanosleep(CLOCK_MONOTONIC, 0, &short_time, NULL);
}
static void sleep_c11(void)
{
    thrd_sleep(&short_time, NULL);
}

/* ---- objects of the system ------------------------------------------------------------------- */

/* Locks of a process do not exclude each other, but exclude those of an open file. */
static void control_lock(int fd, int command, short type)
{
    struct flock l = {.l_type = type, .l_whence = SEEK_SET};
    if (fcntl(fd, command, &l) < 0)
        abort();
}
static void file_hold(void)
{
    control_lock(files[0], F_OFD_SETLK, F_WRLCK);
}
static void file_release(void)
{
    control_lock(files[0], F_OFD_SETLK, F_UNLCK);
}
static void file_wait(void)
{
    control_lock(files[1], F_SETLKW, F_WRLCK);
}
static void file_done(void)
{
    control_lock(files[1], F_SETLK, F_UNLCK);
}
static void open_file_wait(void)
{
    control_lock(files[1], F_OFD_SETLKW, F_WRLCK);
}
static void open_file_done(void)
{
    control_lock(files[1], F_OFD_SETLK, F_UNLCK);
}
static void lockf_wait(void)
{
    (void)!lockf(files[1], F_LOCK, 0);
}
static void lockf_done(void)
{
    (void)!lockf(files[1], F_ULOCK, 0);
}
static void flock_hold(void)
{
    flock(files[0], LOCK_EX);
}
static void flock_release(void)
{
    flock(files[0], LOCK_UN);
}
static void flock_wait(void)
{
    flock(files[1], LOCK_SH);
}
static void flock_done(void)
{
    flock(files[1], LOCK_UN);
}

static void system_sem_wait(void)
{
    struct sembuf o = {.sem_op = -1};
    semop(semaphores, &o, 1);
}
static void system_sem_timed(void)
{
    struct sembuf o = {.sem_op = -1};
    struct timespec t = {.tv_sec = 60};
    semtimedop(semaphores, &o, 1, &t);
}
static void system_sem_post(void)
{
    struct sembuf o = {.sem_op = 1};
    semop(semaphores, &o, 1);
}

static void queue_get(void)
{
    mq_receive(queue, message.text, PAGE, NULL);
}
static void queue_get_timed(void)
{
    struct timespec t = later(CLOCK_REALTIME);
    mq_timedreceive(queue, message.text, PAGE, NULL, &t);
}
static void queue_put(void)
{
    mq_send(queue, &byte, 1, 0);
}
static void queue_put_timed(void)
{
    struct timespec t = later(CLOCK_REALTIME);
    mq_timedsend(queue, &byte, 1, 0, &t);
}
static void message_get(void)
{
    (void)!msgrcv(messages, &message, PAGE, 0, 0);
}
static void message_put(void)
{
    msgsnd(messages, &message, PAGE, 0);
}
static void message_fill(void)
{
    while (msgsnd(messages, &message, PAGE, IPC_NOWAIT) == 0)
        continue;
}
static void message_empty(void)
{
    while (msgrcv(messages, &message, PAGE, 0, IPC_NOWAIT) > 0)
        continue;
}

static void splice_pipe(void)
{
    (void)!splice(pipes[0], NULL, null, NULL, 1, 0);
}
static void splice_socket(void)
{
    (void)!splice(sockets[0], NULL, others[1], NULL, 1, 0);
}
static void get_other(void)
{
    (void)!read(others[0], &byte, 1);
}
static void splice_file(void)
{
    (void)!splice(files[0], &(off64_t){0}, others[1], NULL, PAGE, 0);
}
static void tee_pipe(void)
{
    (void)!tee(pipes[0], others[1], 1, 0);
}
static void tee_done(void)
{
    get_other();
    get_pipe();
}
static void page_get(void)
{
    (void)!read(others[0], message.text, PAGE);
}
static void page_put(void)
{
    (void)!write(others[1], message.text, PAGE);
}
static void splice_page(void)
{
    struct iovec v = {message.text, PAGE};
    (void)!vmsplice(others[1], &v, 1, 0);
}

static void poll_send(void)
{
    struct pollfd p = {.fd = others[1], .events = POLLOUT};
    poll(&p, 1, -1);
}

static pthread_t thread;     /* that waits */
static sigset_t user_signal; /* blocked */
static void signal_wait(void)
{
    int number;
    sigwait(&user_signal, &number);
}
static void signal_send(void)
{
    pthread_kill(thread, SIGUSR1);
}

static struct aiocb request;
static void request_begin(void)
{
    request = (struct aiocb){.aio_fildes = pipes[0], .aio_buf = &byte, .aio_nbytes = 1};
    aio_read(&request);
}
static void request_wait(void)
{
    const struct aiocb *const list[] = {&request};
    aio_suspend(list, 1, NULL);
}
static void request_end(void)
{
    aio_return(&request);
}

/* Main thread: hold, (round begins, the thread sleeps for a while, because very short calls are not
 * recorded as waits), release. Thread: wait, done. */
static const struct kind {
    const char *name;
    void (*hold)(void), (*wait)(void), (*release)(void), (*done)(void);
} kinds[] = {
    {"mutex", mutex_lock, mutex_lock, mutex_unlock, mutex_unlock},
    {"timedlock", mutex_lock, mutex_timedlock, mutex_unlock, mutex_unlock},
    {"clocklock", mutex_lock, mutex_clocklock, mutex_unlock, mutex_unlock},
    {"rdlock", write_lock, read_lock, rw_unlock, rw_unlock},
    {"timedrdlock", write_lock, timed_read_lock, rw_unlock, rw_unlock},
    {"wrlock", read_lock, write_lock, rw_unlock, rw_unlock},
    {"timedwrlock", read_lock, timed_write_lock, rw_unlock, rw_unlock},
    {"sem", nothing, take_semaphore, post_semaphore, nothing},
    {"semtimed", nothing, take_semaphore_timed, post_semaphore, nothing},
    {"barrier", nothing, wait_barrier, wait_barrier, nothing},
    {"cond", nothing, wait_condition, signal_condition, nothing},
    {"condtimed", nothing, wait_condition_timed, signal_condition, nothing},
    {"condheld", nothing, wait_condition, signal_and_hold, nothing},
    {"broadcast", nothing, wait_condition, broadcast_condition, nothing},
    {"timeout", nothing, wait_timeout, nothing, nothing},
    {"mtx", c11_lock, c11_lock, c11_unlock, c11_unlock},
    {"cnd", nothing, c11_wait, c11_signal, nothing},
    {"futex", nothing, futex_wait, futex_wake, nothing},
    {"pipe", nothing, get_pipe, put_pipe, nothing},
    {"recv", nothing, get_socket, put_socket, nothing},
    {"readsocket", nothing, read_socket, put_socket, nothing},
    {"poll", nothing, poll_pipe, put_pipe, get_pipe},
    {"ppoll", nothing, ppoll_pipe, put_pipe, get_pipe},
    {"select", nothing, select_pipe, put_pipe, get_pipe},
    {"pselect", nothing, pselect_pipe, put_pipe, get_pipe},
    {"epoll", nothing, epoll_pipe, put_pipe, get_pipe},
    {"epollp", nothing, epoll_pwait_pipe, put_pipe, get_pipe},
    {"usleep", nothing, sleep_us, nothing, nothing},
    {"nanosleep", nothing, sleep_nano, nothing, nothing},
    {"clocksleep", nothing, sleep_clock, nothing, nothing},
    {"thrdsleep", nothing, sleep_c11, nothing, nothing},
    {"setlkw", file_hold, file_wait, file_release, file_done},
    {"ofdsetlkw", file_hold, open_file_wait, file_release, open_file_done},
    {"lockf", file_hold, lockf_wait, file_release, lockf_done},
    {"flock", flock_hold, flock_wait, flock_release, flock_done},
    {"semop", nothing, system_sem_wait, system_sem_post, nothing},
    {"semtimedop", nothing, system_sem_timed, system_sem_post, nothing},
    {"mqreceive", nothing, queue_get, queue_put, nothing},
    {"mqtimedreceive", nothing, queue_get_timed, queue_put, nothing},
    {"mqsend", queue_put, queue_put, queue_get, queue_get},
    {"mqtimedsend", queue_put, queue_put_timed, queue_get, queue_get},
    {"msgrcv", nothing, message_get, message_put, nothing},
    {"msgsnd", message_fill, message_put, message_get, message_empty},
    {"splice", nothing, splice_pipe, put_pipe, nothing},
    {"splicesocket", nothing, splice_socket, put_socket, get_other},
    {"splicefile", page_put, splice_file, page_get, page_get},
    {"tee", nothing, tee_pipe, put_pipe, tee_done},
    {"vmsplice", page_put, splice_page, page_get, page_get},
    {"pollsend", page_put, poll_send, page_get, nothing},
    {"sigwait", nothing, signal_wait, signal_send, nothing},
    {"aiosuspend", request_begin, request_wait, put_pipe, request_end},
};

static const struct kind *kind;
static _Atomic pid_t waiting; /* the thread, when it is about to wait; 0: not yet */

static void *waiter(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&rounds);
        waiting = gettid();
        kind->wait();
        kind->done();
        pthread_barrier_wait(&rounds);
    }
    return arg;
}

static void check(bool good, const char *what)
{
    if (!good) {
        perror(what);
        exit(1);
    }
}

/* Nothing of it is left when the program ends, but for System V, see clean_up. Where the system has
 * no queues or semaphores, only their own tests fail. */
static void set_up_system(void)
{
    char path[] = "waits-XXXXXX", name[32];
    struct mq_attr limits = {.mq_maxmsg = 1, .mq_msgsize = PAGE};
    files[0] = mkstemp(path);
    files[1] = open(path, O_RDWR | O_CLOEXEC);
    check(files[0] >= 0 && files[1] >= 0 && unlink(path) == 0 && ftruncate(files[0], PAGE) == 0,
          "file");
    check(pipe(others) == 0 && fcntl(others[1], F_SETPIPE_SZ, PAGE) > 0, "pipe");
    check((null = open("/dev/null", O_RDWR | O_CLOEXEC)) >= 0, "/dev/null");
    snprintf(name, sizeof name, "/waits-%d", (int)getpid());
    queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600, &limits);
    mq_unlink(name);
    semaphores = semget(IPC_PRIVATE, 1, 0600);
    messages = msgget(IPC_PRIVATE, 0600);
}

static void clean_up(void)
{
    semctl(semaphores, 0, IPC_RMID);
    msgctl(messages, IPC_RMID, NULL);
}

static void set_up(void)
{
    sigemptyset(&user_signal);
    sigaddset(&user_signal, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &user_signal, NULL);
    pthread_barrier_init(&rounds, NULL, 2);
    pthread_barrier_init(&object, NULL, 2);
    sem_init(&sem, 0, 0);
    mtx_init(&c11_mutex, mtx_plain);
    cnd_init(&c11_cond);
    struct epoll_event event = {.events = EPOLLIN};
    check(pipe(pipes) == 0, "pipe");
    check(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0, "socketpair");
    check((epoll = epoll_create1(0)) >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, pipes[0], &event) == 0,
          "epoll");
    set_up_system();
    atexit(clean_up);
}

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (argc < 2)
            puts(kinds[i].name);
        else if (strcmp(argv[1], kinds[i].name) == 0)
            kind = &kinds[i];
    }
    if (!kind)
        return 2;
    set_up();
    if (pthread_create(&thread, NULL, waiter, NULL) != 0)
        return 1;
    for (int i = 0; i < ROUNDS; i++) {
        kind->hold();
        pthread_barrier_wait(&rounds);
        if (kind->release != nothing) {
            while (!waiting)
                sched_yield();
            wait_until_blocked(waiting);
            usleep(WAIT_US);
            kind->release();
        }
        pthread_barrier_wait(&rounds);
        waiting = 0;
    }
    pthread_join(thread, NULL);
    return 0;
}
