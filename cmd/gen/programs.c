/* programs.c - the programs of each profile's goroutines, and the names of their functions. */
#include "cmd/gen/gen.h"

#include <string.h>

/* ---- the runtime ----------------------------------------------------------------------------- */

static const gen_op worker[] = {{OP_BLOCK, 0, 0}, {OP_MARK, 0, 0}, {OP_LOOP, 0, 256}};
static const gen_op sweeper[] = {
    {OP_BLOCK, 0, 0}, {OP_SWEEP, 0, 0}, {OP_LOOP, 1, 192}, {OP_SCHED, 0, 0}, {OP_LOOP, 0, 256}};
static const gen_op timer[] = {
    {OP_WAKE_TIMERS, 0, 0}, {OP_LOOP, 0, 128}, {OP_BLOCK, 0, 0}, {OP_LOOP, 0, 256}};

/* --cover: each operation once. */
static const gen_op cover[] = {{OP_COVER, GEN_COVER_TIMER, 0},
                               {OP_CREATE, GEN_ROLE_COVER_PEER, 0},
                               {OP_SCHED, 0, 0},
                               {OP_SLEEP, 0, 0},
                               {OP_COVER, GEN_COVER_BLOCK, 0},
                               {OP_COVER, GEN_COVER_SEND, 0},
                               {OP_COVER, GEN_COVER_RECV, 0},
                               {OP_COVER, GEN_COVER_SYNC, 0},
                               {OP_COVER, GEN_COVER_COND, 0},
                               {OP_COVER, GEN_COVER_PREEMPT, 0},
                               {OP_SELECT, 0, 0},
                               {OP_NET, 0, 0},
                               {OP_FUTILE, 0, 0},
                               {OP_COVER, GEN_COVER_SYSCALL, 0},
                               {OP_SYSCALL, 0, 256},
                               {OP_TASK, 0, 0},
                               {OP_REGION, GEN_STRING_REGION_WORK, 0},
                               {OP_LOG, GEN_STRING_KEY, 0},
                               {OP_REGION_END, GEN_STRING_REGION_WORK, 0},
                               {OP_TASK_END, 0, 0},
                               {OP_CORO, GEN_ROLE_COVER_CORO, 0},
                               {OP_SWITCH, 0, 0},
                               {OP_SWITCH, 0, 0},
                               {OP_CALLBACK, 0, 0},
                               {OP_COVER, GEN_COVER_EXPERIMENT, 0},
                               {OP_COVER, GEN_COVER_EXPERIMENT_BATCH, 0},
                               {OP_ALLOC, 0, 0},
                               {OP_SAMPLE, 0, 0},
                               {OP_GC, 0, 0},
                               {OP_SWEEP, 0, 0},
                               {OP_COVER, GEN_COVER_ASSIST, 0},
                               {OP_COVER, GEN_COVER_GENERATION, 0},
                               {OP_COVER, GEN_COVER_DONE, 0},
                               {OP_FOREVER, 0, 0}};
static const gen_op cover_peer[] = {{OP_ALLOC, 0, 0}, {OP_END, 0, 0}};
static const gen_op cover_coro[] = {{OP_SWITCH, 0, 0}, {OP_SWITCH_END, 0, 0}};

/* Go code called from C. */
static const gen_op callback[] = {{OP_ALLOC, 0, 0}, {OP_LOOP, 0, 128}, {OP_CALLBACK, 0, 0}};

#define RUNTIME "/usr/local/go/src/runtime/"

const gen_role gen_runtime_roles[GEN_RUNTIME_ROLES] = {
    [GEN_ROLE_WORKER] = {"runtime.gcBgMarkWorker", RUNTIME "mgc.go", {0}, worker, 0},
    [GEN_ROLE_SWEEPER] = {"runtime.bgsweep", RUNTIME "mgcsweep.go", {0}, sweeper, 0},
    [GEN_ROLE_TIMER] = {"runtime.timerproc", RUNTIME "time.go", {0}, timer, 0},
    [GEN_ROLE_COVER] = {"main.tour", "/src/tour/main.go", {"main.(*tour).stop"}, cover, 0},
    [GEN_ROLE_COVER_PEER] = {"main.tour.func1", "/src/tour/main.go", {0}, cover_peer, 0},
    [GEN_ROLE_COVER_CORO] = {"main.tour.func2", "/src/tour/main.go", {0}, cover_coro, 0},
    [GEN_ROLE_CALLBACK] = {"main.onEvent", "/src/shop/native.go", {0}, callback, 0},
};

/* ---- http: a server -------------------------------------------------------------------------- */

/* Roles of a profile after MAIN, and channels of a group. */
enum { MAIN = GEN_RUNTIME_ROLES, A, B, C, D, E };
enum { QUERIES, LINES, RECORDS, LEAVES, BLOCKS };

static const gen_op idle_main[] = {
    {OP_POPULATE, 0, 0}, {OP_SLEEP, 0, 0}, {OP_ALLOC, 0, 0}, {OP_LOOP, 0, 256}};

static const gen_op acceptor[] = {{OP_NET, 0, 0},   {OP_SYSCALL, 0, 4}, {OP_CREATE, B, 0},
                                  {OP_LOOP, 0, 64}, {OP_SLEEP, 0, 0},   {OP_LOOP, 0, 256}};
static const gen_op handler[] = {{OP_TASK, 0, 0},
                                 {OP_REGION, GEN_STRING_REGION_READ, 0},
                                 {OP_NET, 0, 0},
                                 {OP_SYSCALL, 0, 2},
                                 {OP_LOG, GEN_STRING_KEY, 0},
                                 {OP_REGION_END, GEN_STRING_REGION_READ, 0},
                                 {OP_REGION, GEN_STRING_REGION_WORK, 0},
                                 {OP_ALLOC, 0, 0},
                                 {OP_LOCK, 0, 0},
                                 {OP_ALLOC, 0, 0},
                                 {OP_UNLOCK, 0, 0},
                                 {OP_SEND, QUERIES, 0},
                                 {OP_NET, 0, 0},
                                 {OP_ALLOC, 0, 0},
                                 {OP_REGION_END, GEN_STRING_REGION_WORK, 0},
                                 {OP_REGION, GEN_STRING_REGION_WRITE, 0},
                                 {OP_SYSCALL, 0, 8},
                                 {OP_LOG, GEN_STRING_KEY_STATE, 0},
                                 {OP_REGION_END, GEN_STRING_REGION_WRITE, 0},
                                 {OP_TASK_END, 0, 0},
                                 {OP_LOOP, 0, 160},
                                 {OP_END, 0, 0}};
static const gen_op store[] = {{OP_RECV, QUERIES, 0},
                               {OP_SYSCALL, 0, 24},
                               {OP_ALLOC, 0, 0},
                               {OP_NET, 0, 0},
                               {OP_LOOP, 0, 256}};
static const gen_op ticker[] = {
    {OP_SLEEP, 0, 0}, {OP_ALLOC, 0, 0}, {OP_COND_SIGNAL, 0, 0}, {OP_LOOP, 0, 256}};
static const gen_op watcher[] = {
    {OP_SELECT, 0, 0}, {OP_ALLOC, 0, 0}, {OP_COND_WAIT, 0, 0}, {OP_LOOP, 0, 256}};

static const gen_role http_roles[] = {
    {"main.main", "/src/shop/main.go", {0}, idle_main, 0},
    {"shop/http.(*Server).accept",
     "/src/shop/http/server.go",
     {"shop/http.(*listener).next"},
     acceptor,
     1},
    {"shop/http.(*Server).serve",
     "/src/shop/http/server.go",
     {"shop/order.(*Handler).ServeOrder", "shop/order.(*Basket).total", "shop/order.price"},
     handler,
     8},
    {"shop/store.(*Pool).run",
     "/src/shop/store/pool.go",
     {"shop/store.(*conn).query", "shop/store.(*conn).read"},
     store,
     4},
    {"shop/http.(*Server).tick", "/src/shop/http/server.go", {"shop/http.expire"}, ticker, 1},
    {"shop/order.(*Watch).loop", "/src/shop/order/watch.go", {0}, watcher, 1},
};

/* ---- pipeline -------------------------------------------------------------------------------- */

static const gen_op source[] = {{OP_ALLOC, 0, 0},  {OP_SEND, LINES, 0}, {OP_SEND, LINES, 0},
                                {OP_LOOP, 1, 224}, {OP_SCHED, 0, 0},    {OP_LOOP, 0, 256}};
static const gen_op stage[] = {{OP_RECV, LINES, 0}, {OP_SEND, RECORDS, 0}, {OP_LOOP, 0, 240},
                               {OP_LOCK, 0, 0},     {OP_ALLOC, 0, 0},      {OP_UNLOCK, 0, 0},
                               {OP_LOOP, 0, 256}};
static const gen_op sink[] = {{OP_RECV, RECORDS, 0},
                              {OP_LOOP, 0, 240},
                              {OP_LOG, GEN_STRING_KEY, 0},
                              {OP_SYSCALL, 0, 8},
                              {OP_LOOP, 0, 256}};
static const gen_op pipeline_merger[] = {
    {OP_CORO, E, 0}, {OP_SWITCH, 0, 0}, {OP_SEND, RECORDS, 0}, {OP_LOOP, 0, 256}};
static const gen_op pulled[] = {{OP_SWITCH, 0, 0}, {OP_LOOP, 0, 240}, {OP_SWITCH_END, 0, 0}};

static const gen_role pipeline_roles[] = {
    {"main.main", "/src/ingest/main.go", {0}, idle_main, 0},
    {"main.(*source).run", "/src/ingest/source.go", {"main.(*source).emit"}, source, 3},
    {"main.(*stage).run",
     "/src/ingest/stage.go",
     {"main.(*stage).transform", "main.(*decoder).decode", "main.(*decoder).field"},
     stage,
     6},
    {"main.(*sink).run", "/src/ingest/sink.go", {"main.(*sink).write"}, sink, 3},
    {"main.(*merger).run", "/src/ingest/merge.go", {"main.(*merger).next"}, pipeline_merger, 1},
    {"main.(*merger).pull", "/src/ingest/merge.go", {"main.(*merger).yield"}, pulled, 0},
};

/* ---- gc: much garbage ------------------------------------------------------------------------ */

static const gen_op allocator[] = {{OP_ALLOC, 0, 0},  {OP_LOOP, 0, 192}, {OP_SCHED, 0, 0},
                                   {OP_LOOP, 0, 224}, {OP_SLEEP, 0, 0},  {OP_LOOP, 0, 256}};
static const gen_op builder[] = {{OP_ALLOC, 0, 0},
                                 {OP_LOOP, 0, 224},
                                 {OP_CREATE, C, 0},
                                 {OP_RECV, LEAVES, 0},
                                 {OP_LOOP, 0, 256}};
static const gen_op leaf[] = {
    {OP_ALLOC, 0, 0}, {OP_LOOP, 0, 192}, {OP_SEND, LEAVES, 0}, {OP_END, 0, 0}};

static const gen_role gc_roles[] = {
    {"main.main", "/src/forest/main.go", {0}, idle_main, 0},
    {"main.grow",
     "/src/forest/tree.go",
     {"main.(*tree).insert", "main.(*tree).split"},
     allocator,
     3},
    {"main.build", "/src/forest/build.go", {"main.(*tree).clone"}, builder, 3},
    {"main.build.func1", "/src/forest/build.go", {"main.newLeaf"}, leaf, 0},
};

/* ---- syscalls: many system calls ------------------------------------------------------------- */

static const gen_op reader[] = {{OP_SYSCALL, 0, 24},
                                {OP_LOOP, 0, 224},
                                {OP_ALLOC, 0, 0},
                                {OP_SEND, BLOCKS, 0},
                                {OP_LOOP, 0, 256}};
static const gen_op writer[] = {{OP_RECV, BLOCKS, 0}, {OP_SYSCALL, 0, 64}, {OP_LOOP, 0, 256}};
static const gen_op locker[] = {
    {OP_LOCK, 0, 0}, {OP_SYSCALL, 0, 128}, {OP_UNLOCK, 0, 0}, {OP_SLEEP, 0, 0}, {OP_LOOP, 0, 256}};
static const gen_op caller[] = {{OP_CALLBACK, 0, 0}, {OP_SYSCALL, 0, 200}, {OP_LOOP, 0, 256}};

static const gen_role syscalls_roles[] = {
    {"main.main", "/src/copy/main.go", {0}, idle_main, 0},
    {"main.(*copier).read",
     "/src/copy/copier.go",
     {"os.(*File).Read", "main.(*file).fill"},
     reader,
     5},
    {"main.(*copier).write", "/src/copy/copier.go", {"os.(*File).Write"}, writer, 5},
    {"main.(*index).sync", "/src/copy/index.go", {"main.(*index).flush"}, locker, 1},
    {"main.(*watch).poll", "/src/copy/watch.go", {"main._Cfunc_wait"}, caller, 1},
};

/* ---- mixed: a bit of everything -------------------------------------------------------------- */

static const gen_op mixed_merger[] = {{OP_CORO, GEN_RUNTIME_ROLES + 11, 0},
                                      {OP_SWITCH, 0, 0},
                                      {OP_SEND, RECORDS, 0},
                                      {OP_LOOP, 0, 256}};

static const gen_role mixed_roles[] = {
    {"main.main", "/src/shop/main.go", {0}, idle_main, 0},
    {"shop/http.(*Server).accept",
     "/src/shop/http/server.go",
     {"shop/http.(*listener).next"},
     acceptor,
     2},
    {"shop/http.(*Server).serve",
     "/src/shop/http/server.go",
     {"shop/order.(*Handler).ServeOrder", "shop/order.(*Basket).total", "shop/order.price"},
     handler,
     4},
    {"shop/store.(*Pool).run",
     "/src/shop/store/pool.go",
     {"shop/store.(*conn).query", "shop/store.(*conn).read"},
     store,
     3},
    {"shop/http.(*Server).tick", "/src/shop/http/server.go", {"shop/http.expire"}, ticker, 1},
    {"shop/order.(*Watch).loop", "/src/shop/order/watch.go", {0}, watcher, 1},
    {"main.(*stage).run",
     "/src/ingest/stage.go",
     {"main.(*stage).transform", "main.(*decoder).decode"},
     stage,
     2},
    {"main.(*source).run", "/src/ingest/source.go", {"main.(*source).emit"}, source, 1},
    {"main.(*sink).run", "/src/ingest/sink.go", {"main.(*sink).write"}, sink, 1},
    {"main.grow",
     "/src/forest/tree.go",
     {"main.(*tree).insert", "main.(*tree).split"},
     allocator,
     1},
    {"main.(*merger).run", "/src/ingest/merge.go", {"main.(*merger).next"}, mixed_merger, 1},
    {"main.(*merger).pull", "/src/ingest/merge.go", {"main.(*merger).yield"}, pulled, 0},
    {"main.(*watch).poll", "/src/copy/watch.go", {"main._Cfunc_wait"}, caller, 1},
};

#define PROFILE(name, megabytes)                                                                   \
    {                                                                                              \
#name, name##_roles, sizeof name##_roles / sizeof name##_roles[0], megabytes << 20         \
    }
static const gen_profile profiles[] = {PROFILE(mixed, 64u), PROFILE(http, 64u),
                                       PROFILE(pipeline, 64u), PROFILE(gc, 16u),
                                       PROFILE(syscalls, 64u)};

const char *gen_profile_name(size_t n)
{
    return n < sizeof profiles / sizeof profiles[0] ? profiles[n].name : NULL;
}

const gen_profile *gen_profile_by_name(const char *name)
{
    for (size_t i = 0; i < sizeof profiles / sizeof profiles[0]; i++)
        if (!name || strcmp(profiles[i].name, name) == 0)
            return &profiles[i];
    return NULL;
}

/* ---- stacks ---------------------------------------------------------------------------------- */

/* Innermost frame of each operation. */
static const struct {
    const char *function, *file;
} leaves[OP_COUNT] = {
    [OP_CREATE] = {NULL, NULL},
    [OP_SEND] = {"runtime.chansend1", RUNTIME "chan.go"},
    [OP_RECV] = {"runtime.chanrecv1", RUNTIME "chan.go"},
    [OP_FUTILE] = {"runtime.selectgo", RUNTIME "select.go"},
    [OP_SELECT] = {"runtime.selectgo", RUNTIME "select.go"},
    [OP_LOCK] = {"sync.(*Mutex).Lock", "/usr/local/go/src/sync/mutex.go"},
    [OP_UNLOCK] = {"sync.(*Mutex).Unlock", "/usr/local/go/src/sync/mutex.go"},
    [OP_COND_WAIT] = {"sync.(*Cond).Wait", "/usr/local/go/src/sync/cond.go"},
    [OP_COND_SIGNAL] = {"sync.(*Cond).Signal", "/usr/local/go/src/sync/cond.go"},
    [OP_NET] = {"internal/poll.(*FD).Read", "/usr/local/go/src/internal/poll/fd_unix.go"},
    [OP_SLEEP] = {"time.Sleep", RUNTIME "time.go"},
    [OP_BLOCK] = {"runtime.gopark", RUNTIME "proc.go"},
    [OP_FOREVER] = {"runtime.block", RUNTIME "select.go"},
    [OP_SCHED] = {"runtime.Gosched", RUNTIME "proc.go"},
    [OP_SYSCALL] = {"syscall.Syscall", "/usr/local/go/src/syscall/syscall_linux.go"},
    [OP_ALLOC] = {"runtime.mallocgc", RUNTIME "malloc.go"},
    [OP_ASSIST] = {"runtime.gcAssistAlloc", RUNTIME "mgcmark.go"},
    [OP_SWEEP] = {"runtime.(*mspan).sweep", RUNTIME "mgcsweep.go"},
    [OP_GC] = {"runtime.GC", RUNTIME "mgc.go"},
    [OP_TASK] = {"runtime/trace.NewTask", "/usr/local/go/src/runtime/trace/annotation.go"},
    [OP_TASK_END] = {"runtime/trace.(*Task).End", "/usr/local/go/src/runtime/trace/annotation.go"},
    [OP_REGION] = {"runtime/trace.StartRegion", "/usr/local/go/src/runtime/trace/annotation.go"},
    [OP_REGION_END] = {"runtime/trace.(*Region).End",
                       "/usr/local/go/src/runtime/trace/annotation.go"},
    [OP_LOG] = {"runtime/trace.Log", "/usr/local/go/src/runtime/trace/annotation.go"},
    [OP_SWITCH] = {"runtime.coroswitch", RUNTIME "coro.go"},
    [OP_SWITCH_END] = {"runtime.coroexit", RUNTIME "coro.go"},
};

static gotrace_frame frame_of(const char *function, const char *file, unsigned place)
{
    /* Line and PC derive from the function's name (FNV-1a), so that they are the same in every
     * stack. */
    uint32_t hash = 2166136261u;
    size_t size = strlen(function);
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (uint8_t)function[i]) * 16777619u;
    return (gotrace_frame){.pc = 0x400000 + (hash & 0xfffff) * 16 + 4 * place,
                           .line = 10 + hash % 400 + 3 * place,
                           .function = function,
                           .function_size = size,
                           .file = file,
                           .file_size = strlen(file)};
}

size_t gen_frames(const gen_role *role, gen_op_code op, unsigned variant,
                  gotrace_frame frames[GEN_FRAMES])
{
    size_t count = 0, depth = 0;
    if (op != OP_START) {
        if (leaves[op].function)
            frames[count++] = frame_of(leaves[op].function, leaves[op].file, 0);
        while (depth < 3 && role->through[depth])
            depth++;
        /* Variants differ in depth and line. */
        for (size_t i = variant % (depth + 1); i > 0; i--)
            frames[count++] = frame_of(role->through[i - 1], role->file, op);
    }
    frames[count++] = frame_of(role->function, role->file, op == OP_START ? 0 : 1 + op + variant);
    return count;
}
