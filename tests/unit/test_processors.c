/* test_processors.c - the number of processors that the program may use: affinity and CPU quotas.
 */
#include <check.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/processors.h"

/* A folder with the files of /proc and /sys that contain the quota. */
static char root[] = "/tmp/gotrace-processors-XXXXXX";

static void begin(void)
{
    strcpy(root + strlen(root) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
}

static void end(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r '%s'", root);
    ck_assert_int_eq(system(command), 0);
}

/* Write a file below root, with the folders that it needs. */
static void put(const char *path, const char *text)
{
    char full[8192];
    snprintf(full, sizeof full, "%s%s", root, path);
    for (char *p = full + strlen(root) + 1; (p = strchr(p, '/')); *p++ = '/') {
        *p = '\0';
        mkdir(full, 0700);
    }
    FILE *f = fopen(full, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    ck_assert_int_eq(fclose(f), 0);
}

static void expect(double quota)
{
    ck_assert_double_eq(processors_quota(root), quota);
}

START_TEST(v2)
{
    begin();
    put("/proc/self/cgroup", "0::/system/gotrace\n");
    expect(0); /* no file */
    put("/sys/fs/cgroup/system/gotrace/cpu.max", "max 100000\n");
    expect(0);
    put("/sys/fs/cgroup/system/gotrace/cpu.max", "150000 100000\n");
    expect(1.5);
    put("/sys/fs/cgroup/system/gotrace/cpu.max", "20000 40000"); /* no end of the line */
    expect(0.5);
    end();
}
END_TEST

/* A group has at most the quota of those that contain it. */
START_TEST(nested)
{
    begin();
    put("/proc/self/cgroup", "0::/a/b/c\n");
    put("/sys/fs/cgroup/a/b/c/cpu.max", "400000 100000\n");
    put("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    put("/sys/fs/cgroup/a/cpu.max", "200000 100000\n");
    expect(2);
    put("/sys/fs/cgroup/a/b/c/cpu.max", "100000 100000\n");
    expect(1);
    put("/sys/fs/cgroup/a/b/c/cpu.max", "max 100000\n");
    expect(2);
    /* not one that contains it */
    put("/sys/fs/cgroup/a/d/cpu.max", "1000 100000\n");
    put("/sys/fs/cgroup/a/b/c/d/cpu.max", "1000 100000\n");
    expect(2);
    end();
}
END_TEST

/* In a container the own group is the root, or is not there. */
START_TEST(container)
{
    begin();
    put("/proc/self/cgroup", "0::/\n");
    put("/sys/fs/cgroup/cpu.max", "300000 100000\n");
    expect(3);
    put("/proc/self/cgroup", "0::/kubepods/pod1/container\n");
    expect(3);
    put("/proc/self/cgroup", "0::/../../sibling\n");
    expect(3);
    put("/proc/self/cgroup", "7:cpu,cpuacct:/docker/0123\n");
    put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n");
    put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    expect(0.5);
    end();
}
END_TEST

START_TEST(v1)
{
    begin();
    put("/proc/self/cgroup",
        "12:cpuset:/set\n11:memory:/m\n4:cpuacct,cpu:/a/b\n1:name=systemd:/a/b\n0::/a/b\n");
    put("/sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us", "-1\n");
    put("/sys/fs/cgroup/cpu/a/b/cpu.cfs_period_us", "100000\n");
    expect(0);
    put("/sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us", "250000\n");
    expect(2.5);
    put("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "100000\n");
    expect(2.5); /* without a period it is none */
    put("/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "50000\n");
    expect(2);
    /* groups of other controllers do not count */
    put("/proc/self/cgroup", "12:cpuset:/a/b\n11:cpuacct:/a/b\n");
    expect(0);
    end();
}
END_TEST

/* Both versions, as systemd mounts them in its hybrid mode. */
START_TEST(both_versions)
{
    begin();
    put("/proc/self/cgroup", "4:cpu:/a\n0::/b\n");
    put("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "300000");
    put("/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000");
    put("/sys/fs/cgroup/b/cpu.max", "200000 100000");
    expect(2);
    put("/sys/fs/cgroup/b/cpu.max", "400000 100000");
    expect(3);
    end();
}
END_TEST

START_TEST(not_as_documented)
{
    static const char *const quotas[] = {"",        "\n",         "100000",       "100000 0",
                                         "0 10000", "-5 100000",  "100000 -1",    "nan nan",
                                         "text",    "inf 100000", "100000 words", " "};
    static const char *const groups[] = {"", "\n", "0", "0:", "0:cpu", ":::::", "cpu:/", "0::a/b"};
    char long_group[6000];

    begin();
    expect(0); /* no /proc */
    put("/proc/self/cgroup", "0::/a\n");
    for (size_t i = 0; i < sizeof quotas / sizeof *quotas; i++) {
        put("/sys/fs/cgroup/a/cpu.max", quotas[i]);
        expect(0);
    }
    put("/sys/fs/cgroup/a/cpu.max", "100000 100000\n");
    expect(1);
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        put("/proc/self/cgroup", groups[i]);
        expect(0);
    }
    memset(long_group, 'x', sizeof long_group);
    memcpy(long_group, "0::/", 4);
    long_group[sizeof long_group - 1] = '\0';
    put("/proc/self/cgroup", long_group);
    expect(0);
    end();
}
END_TEST

START_TEST(rounding)
{
    ck_assert_uint_eq(processors_within(8, 0), 8);
    ck_assert_uint_eq(processors_within(8, 0.01), 1);
    ck_assert_uint_eq(processors_within(8, 1), 1);
    ck_assert_uint_eq(processors_within(8, 1.5), 2);
    ck_assert_uint_eq(processors_within(8, 7.5), 8);
    ck_assert_uint_eq(processors_within(8, 1e30), 8);
    ck_assert_uint_eq(processors_within(0, 0), 1);
}
END_TEST

START_TEST(affinity)
{
    cpu_set_t all, one;
    size_t first = 0;

    ck_assert_int_eq(sched_getaffinity(0, sizeof all, &all), 0);
    size_t before = processors_allowed();
    ck_assert_uint_ge(before, 1);
    ck_assert_uint_le(before, (size_t)CPU_COUNT(&all));
    while (!CPU_ISSET(first, &all))
        first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
    ck_assert_uint_eq(processors_allowed(), 1);
    ck_assert_int_eq(sched_setaffinity(0, sizeof all, &all), 0);
    ck_assert_uint_eq(processors_allowed(), before);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("processors");
    TCase *tests = tcase_create("processors");
    tcase_add_test(tests, v2);
    tcase_add_test(tests, nested);
    tcase_add_test(tests, container);
    tcase_add_test(tests, v1);
    tcase_add_test(tests, both_versions);
    tcase_add_test(tests, not_as_documented);
    tcase_add_test(tests, rounding);
    tcase_add_test(tests, affinity);
    suite_add_tcase(suite, tests);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
