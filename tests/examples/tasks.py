"""Record generators as goroutines: LIBRARY=libgotrace.so python3 tasks.py 26 >tasks.trace

Each task is a generator. What it yields is the time in seconds that it sleeps.
"""
import ctypes
import heapq
import itertools
import os
import sys
import time

SLEEP = 1  # gotrace_rec_reason


class Frame(ctypes.Structure):  # gotrace_frame
    _fields_ = [('pc', ctypes.c_uint64), ('line', ctypes.c_uint64),
                ('function_id', ctypes.c_uint64), ('file_id', ctypes.c_uint64),
                ('function', ctypes.c_char_p), ('function_size', ctypes.c_size_t),
                ('file', ctypes.c_char_p), ('file_size', ctypes.c_size_t)]


Resolve = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_void_p, ctypes.c_uint64,
                           ctypes.POINTER(Frame), ctypes.c_size_t)


class Options(ctypes.Structure):  # the first members of gotrace_recorder_options
    _fields_ = [('size', ctypes.c_size_t), ('resolve', Resolve), ('resolve_ctx', ctypes.c_void_p)]


def load():
    """The library, with the types of the functions that are used: handles are pointers."""
    library = ctypes.CDLL(os.environ.get('LIBRARY', 'libgotrace.so.0'))
    handle, number, size = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_size_t
    stack = [ctypes.POINTER(number), size]
    for name, result, *parameters in [
            ('recorder_new', ctypes.c_int, ctypes.POINTER(Options), handle,
             ctypes.POINTER(handle), handle),
            ('recorder_start_fd', ctypes.c_int, handle, ctypes.c_int, ctypes.c_int),
            ('recorder_stop', ctypes.c_int, handle),
            ('recorder_free', None, handle),
            ('rec_thread_new', handle, handle, number),
            ('rec_proc_new', handle, handle, number),
            ('rec_proc_start', None, handle, handle),
            ('rec_proc_stop', None, handle),
            ('rec_go_create', handle, handle, number, number, *stack),
            ('rec_go_start', None, handle, handle),
            ('rec_go_park', None, handle, ctypes.c_int, *stack),
            ('rec_go_unpark', None, handle, handle, *stack),
            ('rec_go_end', None, handle)]:
        function = getattr(library, 'gotrace_' + name)
        function.restype, function.argtypes = result, parameters
    return library


# An address in a trace is a number for which `resolve` has a name. It is that of a return address:
# the function where a goroutine starts is looked up as its number + 1.
places, numbers = {}, {}


def number_of(code, line):
    if (code, line) not in numbers:
        numbers[code, line] = 2 * len(numbers) + 2
        places[numbers[code, line] | 1] = code.co_name.encode(), code.co_filename.encode(), line
    return numbers[code, line]


@Resolve
def resolve(_, pc, frames, most):
    """Called while a generation of the trace is written; the texts live until the next call."""
    name, file, line = places[pc]
    frames[0].function, frames[0].function_size = name, len(name)
    frames[0].file, frames[0].file_size = file, len(file)
    frames[0].line = line
    return 1


def stack_of(task):
    """Of a generator that has yielded, with those that it delegates to, innermost first."""
    frames = []
    while task is not None and task.gi_frame:
        frames.insert(0, number_of(task.gi_code, task.gi_frame.f_lineno) | 1)
        task = task.gi_yieldfrom
    return (ctypes.c_uint64 * len(frames))(*frames), len(frames)


def run(library, thread, tasks):
    handles, ready, asleep, order = {}, [], [], itertools.count()
    for number, task in enumerate(tasks, 1):
        start = number_of(task.gi_code, task.gi_code.co_firstlineno)
        handles[task] = library.gotrace_rec_go_create(thread, number, start, None, 0)
        ready.append(task)
    while ready or asleep:
        if not ready:
            time.sleep(max(0, asleep[0][0] - time.monotonic()))
        while asleep and asleep[0][0] <= time.monotonic():
            task = heapq.heappop(asleep)[2]
            library.gotrace_rec_go_unpark(thread, handles[task], None, 0)
            ready.append(task)
        if ready:
            task = ready.pop(0)
            library.gotrace_rec_go_start(thread, handles[task])
            try:
                seconds = next(task)
                library.gotrace_rec_go_park(thread, SLEEP, *stack_of(task))
                heapq.heappush(asleep, (time.monotonic() + seconds, next(order), task))
            except StopIteration:
                library.gotrace_rec_go_end(thread)


def pause(seconds):
    yield seconds


def ticker(seconds, times):
    for _ in range(times):
        yield from pause(seconds)


def adder(times):
    for _ in range(times):
        sum(range(100000))
        yield 0.001


def main():
    library, recorder = load(), ctypes.c_void_p()
    options = Options(ctypes.sizeof(Options), resolve, None)
    if library.gotrace_recorder_new(options, None, recorder, None) < 0:
        sys.exit('tasks.py: cannot create a recorder')
    library.gotrace_recorder_start_fd(recorder, int(sys.argv[1]), sys.stdout.fileno())
    thread = library.gotrace_rec_thread_new(recorder, os.getpid())
    library.gotrace_rec_proc_start(thread, library.gotrace_rec_proc_new(recorder, 0))
    run(library, thread, [ticker(0.002, 5), adder(4), adder(4)])
    library.gotrace_rec_proc_stop(thread)
    stopped = library.gotrace_recorder_stop(recorder)
    library.gotrace_recorder_free(recorder)
    sys.exit('tasks.py: the trace is not complete' if stopped < 0 else 0)


main()
