/* test_functions.c - short names of functions, and their packages. */
#include <string.h>

#include "formats/common/functions.h"
#include "support.h"

START_TEST(shortened)
{
    static const struct {
        const char *name, *as;
    } cases[] = {
        {"main.main", "main.main"},
        {"main.together.func2", "main.together.func2"},
        {"net/http.(*conn).serve", "http.(*conn).serve"},
        {"github.com/foo/bar.Do", "bar.Do"},
        /* a module's version is not part of the package's name */
        {"github.com/foo/bar/v2.(*Server).Serve.func1", "bar.(*Server).Serve.func1"},
        {"github.com/foo/bar/v12.Do", "bar.Do"},
        {"github.com/foo/bar/v2/baz.Do", "baz.Do"},
        {"v2.Do", "v2.Do"},
        {"/v2.Do", "v2.Do"},
        {"k8s.io/api/core/v1.Pod.String", "v1.Pod.String"},
        {"example.com/v02.Do", "v02.Do"},
        {"example.com/v2x.Do", "v2x.Do"},
        {"example.com/v.Do", "v.Do"},
        /* dots in the last path element are escaped, so that the package ends at the first dot */
        {"gopkg.in/yaml%2ev3.(*Decoder).Decode", "yaml.v3.(*Decoder).Decode"},
        {"example.com/a%2eb%2ec.F", "a.b.c.F"},
        {"example.com/100%25.F", "100%.F"},
        {"example.com/a%20b.F", "a b.F"},
        {"example.com/a%1fb.F", "a%1fb.F"},
        {"example.com/a%7fb.F", "a%7fb.F"},
        {"example.com/a%0ab.F", "a%0ab.F"},
        {"example.com/a%2", "a%2"},
        {"example.com/a%zz.F", "a%zz.F"},
        /* type arguments contain paths too */
        {"main.Map[...]", "main.Map[...]"},
        {"main.Map[go.shape.*github.com/foo/bar.T].func1",
         "main.Map[go.shape.*github.com/foo/bar.T].func1"},
        {"github.com/foo/bar/v2.Map[net/http.T,a/b/v3.U].Do", "bar.Map[net/http.T,a/b/v3.U].Do"},
        {"github.com/foo/bar.(*List[github.com/foo/baz/v2.T]).Push",
         "bar.(*List[github.com/foo/baz/v2.T]).Push"},
        {"go.(*struct { net/http.Handler }).ServeHTTP",
         "go.(*struct { net/http.Handler }).ServeHTTP"},
        {"", ""},
        {"/", ""},
        {"plain", "plain"},
        {"a/b", "b"},
        {"a/b/", ""},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char got[256];
        size_t size = function_short(got, sizeof got - 1, cases[i].name, strlen(cases[i].name));
        got[size] = '\0';
        ck_assert_str_eq(got, cases[i].as);
    }
}
END_TEST

/* A name is truncated between characters. */
START_TEST(cut)
{
    static const char name[] = "a/b.\xc3\xa9\xe2\x82\xacz", as[] = "b.\xc3\xa9\xe2\x82\xacz";
    static const size_t sizes[] = {0, 1, 2, 2, 4, 4, 4, 7, 8, 8};
    char got[16];

    for (size_t room = 0; room < sizeof sizes / sizeof *sizes; room++) {
        size_t size = function_short(got, room, name, sizeof name - 1);
        ck_assert_uint_eq(size, sizes[room]);
        ck_assert_mem_eq(got, as, size);
    }
}
END_TEST

START_TEST(system_functions)
{
    static const char *const ours[] = {"runtime.bgsweep", "runtime.gcBgMarkWorker", "runtime.",
                                       "runtime.main.func1"};
    static const char *const others[] = {
        "runtime.main",     "runtime/trace.Start.func1", "main.main", "runtime", "",
        "myruntime.bgsweep"};

    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        ck_assert(function_is_system(ours[i], strlen(ours[i])));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ck_assert(!function_is_system(others[i], strlen(others[i])));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("functions");
    TCase *cases = tcase_create("all");

    tcase_add_test(cases, shortened);
    tcase_add_test(cases, cut);
    tcase_add_test(cases, system_functions);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
