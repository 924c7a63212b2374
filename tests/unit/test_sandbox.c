/* test_sandbox.c - what the kernel permits inside the sandbox. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/sandbox.h"
#include "support.h"

static char folder[] = "/tmp/gotrace-sandbox-XXXXXX";

static char *in_folder(const char *name)
{
    static char path[4][256];
    static unsigned n;
    char *p = path[n++ % 4];
    snprintf(p, sizeof path[0], "%s/%s", folder, name);
    return p;
}

static void make(const char *name)
{
    int fd = open(in_folder(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, name, strlen(name)), (ssize_t)strlen(name));
    close(fd);
}

/* Returns the errno of opening the file, 0 on success. */
static int opens(const char *path, int flags)
{
    int fd = open(path, flags, 0600);
    int error = errno;
    if (fd >= 0)
        close(fd);
    return fd >= 0 ? 0 : error;
}

static int errno_of(long result)
{
    return result < 0 ? errno : 0;
}

static void *do_nothing(void *ctx)
{
    return ctx;
}

static int executes(void)
{
    char *const arguments[] = {(char *)"true", NULL};
    execv("/bin/true", arguments);
    return errno;
}

static int maps(int protection)
{
    void *p = mmap(NULL, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int error = errno;
    if (p == MAP_FAILED)
        return error;
    error = errno_of(mprotect(p, 4096, PROT_READ | PROT_EXEC));
    return error ? error : munmap(p, 4096);
}

/* Return the line number if the errno is not the expected one. */
#define WANT(wanted, got)                                                                          \
    do {                                                                                           \
        int error_ = (got);                                                                        \
        if (error_ != (wanted)) {                                                                  \
            fprintf(stderr, "%s: %s, not %s\n", #got, strerror(error_), strerror(wanted));         \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

static int probe(const session *s)
{
    pthread_t thread;
    WANT(0, opens("/etc/passwd", O_RDONLY));
    WANT(0, errno_of(socket(AF_UNIX, SOCK_STREAM, 0)));
    if (sandbox_enter(s) != EXIT_SOUND)
        return 1;
    WANT(1, prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == -1); /* even this query is denied */
    /* files: those of the command line, of the output's folder, temporary files */
    WANT(0, opens(in_folder("in"), O_RDONLY));
    WANT(EACCES, opens(in_folder("in"), O_WRONLY));
    WANT(EACCES, opens(in_folder("other"), O_RDONLY));
    WANT(EACCES, opens("/etc/passwd", O_RDONLY));
    WANT(EACCES, opens("/", O_RDONLY | O_DIRECTORY));
    WANT(0, opens(in_folder("to/new"), O_WRONLY | O_CREAT | O_EXCL));
    WANT(0, errno_of(rename(in_folder("to/new"), in_folder("to/out"))));
    WANT(0, errno_of(unlink(in_folder("to/out"))));
    WANT(EACCES, opens(in_folder("new"), O_WRONLY | O_CREAT | O_EXCL));
    WANT(EACCES, errno_of(unlink(in_folder("other"))));
    WANT(EACCES, errno_of(mkdir(in_folder("folder"), 0700)));
    WANT(EPERM, errno_of(symlink("/etc/passwd", in_folder("to/link"))));
    WANT(EPERM, errno_of(chmod(in_folder("in"), 0777)));
    int temporary = open(getenv("TMPDIR"), O_TMPFILE | O_RDWR, 0600);
    WANT(0, errno_of(temporary));
    WANT(0, errno_of(ftruncate(temporary, 0)));
    /* system calls */
    WANT(EPERM, errno_of(socket(AF_UNIX, SOCK_STREAM, 0)));
    WANT(EPERM, executes());
    WANT(EPERM, errno_of(fork()));
    WANT(EPERM, errno_of(kill(getppid(), 0)));
    WANT(EPERM, maps(PROT_READ | PROT_EXEC));
    WANT(EPERM, maps(PROT_READ | PROT_WRITE));
    WANT(0, pthread_create(&thread, NULL, do_nothing, NULL));
    WANT(0, pthread_join(thread, NULL));
    return 0;
}

START_TEST(sandbox_denies)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
    make("in");
    make("other");
    ck_assert_int_eq(mkdir(in_folder("to"), 0700), 0);
    ck_assert_int_eq(mkdir(in_folder("tmp"), 0700), 0);
    ck_assert_int_eq(setenv("TMPDIR", in_folder("tmp"), 1), 0);
    /* a word is not a file: its name gives no right */
    const verb with_word = {.words = 1};
    const char *files[] = {in_folder("other"), in_folder("in"), "-", NULL};
    char out_path[256];
    snprintf(out_path, sizeof out_path, "%s", in_folder("to/out"));
    settings set = {.output = out_path, .sandbox = true};
    session s = {.verb = &with_word, .files = files, .file_count = 3, .set = &set};
    pid_t child = fork();
    /* exit handlers of sanitizers are denied too */
    if (child == 0)
        _exit(probe(&s));
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(unlink(in_folder("in")), 0);
    ck_assert_int_eq(unlink(in_folder("other")), 0);
    ck_assert_int_eq(rmdir(in_folder("to")), 0);
    ck_assert_int_eq(rmdir(in_folder("tmp")), 0);
    ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sandbox");
    TCase *cases = tcase_create("all");
    tcase_add_test(cases, sandbox_denies);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
