//! Two threads, recorded as goroutines: one sends letters, which the other reads.
//!
//!     rustc -g -C force-frame-pointers=yes letters.rs -l gotrace
//!     ./letters 26 >letters.trace
//!
//! A thread has a proc while it runs. That a reader waits is recorded while it holds the lock of
//! the letters: nobody can wake it before.
use std::ffi::c_void;
use std::os::raw::{c_char, c_int};
use std::ptr::{null, null_mut};
use std::sync::{Condvar, Mutex};
use std::{env, process, thread, time};

type Handle = *mut c_void;

/// The first members of gotrace_recorder_options.
#[repr(C)]
struct Options {
    size: usize,
    resolve: unsafe extern "C" fn(Handle, u64, *mut c_void, usize) -> usize,
    resolve_ctx: Handle,
}

const RECEIVE: c_int = 3; // gotrace_rec_reason

#[link(name = "gotrace")]
extern "C" {
    fn gotrace_symbols_new(config: *const c_void, symbols: *mut Handle, error: Handle) -> c_int;
    fn gotrace_symbols_read_maps(symbols: Handle, path: *const c_char, error: Handle) -> c_int;
    fn gotrace_symbols_resolve(symbols: Handle, pc: u64, frames: *mut c_void, max: usize) -> usize;
    fn gotrace_symbols_free(symbols: Handle);
    fn gotrace_recorder_new(
        options: *const Options,
        config: *const c_void,
        recorder: *mut Handle,
        error: Handle,
    ) -> c_int;
    fn gotrace_recorder_start_fd(recorder: Handle, version: c_int, fd: c_int) -> c_int;
    fn gotrace_recorder_stop(recorder: Handle) -> c_int;
    fn gotrace_recorder_free(recorder: Handle);
    fn gotrace_rec_thread_new(recorder: Handle, id: u64) -> Handle;
    fn gotrace_rec_thread_end(thread: Handle);
    fn gotrace_rec_proc_new(recorder: Handle, id: u64) -> Handle;
    fn gotrace_rec_proc_start(thread: Handle, proc: Handle);
    fn gotrace_rec_proc_stop(thread: Handle);
    fn gotrace_rec_go_create(t: Handle, id: u64, start: u64, pcs: *const u64, n: usize) -> Handle;
    fn gotrace_rec_go_start(thread: Handle, go: Handle);
    fn gotrace_rec_go_park(thread: Handle, reason: c_int, pcs: *const u64, depth: usize);
    fn gotrace_rec_go_unpark(thread: Handle, go: Handle, pcs: *const u64, depth: usize);
    fn gotrace_rec_go_end(thread: Handle);
}

/// The pcs and depth of GOTRACE_REC_CALLERS: the recorder finds the callers of a frame.
macro_rules! callers {
    () => {{
        let frame: *const u64;
        #[cfg(target_arch = "x86_64")]
        std::arch::asm!("mov {}, rbp", out(reg) frame);
        #[cfg(target_arch = "aarch64")]
        std::arch::asm!("mov {}, x29", out(reg) frame);
        (frame, usize::MAX)
    }};
}

/// What one thread of the program has. Only that thread uses the handles, except `go`.
#[derive(Clone, Copy)]
struct Worker {
    thread: Handle,
    proc: Handle,
    go: Handle,
}
unsafe impl Send for Worker {}

struct Mailbox {
    letters: Mutex<(Vec<u32>, Option<Worker>)>, // and the reader that waits
    sent: Condvar,
}

impl Mailbox {
    #[inline(never)]
    fn send(&self, by: &Worker, letter: u32) {
        let mut state = self.letters.lock().unwrap();
        state.0.push(letter);
        if let Some(reader) = state.1.take() {
            unsafe {
                let (pcs, depth) = callers!();
                gotrace_rec_go_unpark(by.thread, reader.go, pcs, depth);
            }
            self.sent.notify_one();
        }
    }

    #[inline(never)]
    fn read(&self, by: &Worker) -> u32 {
        let mut state = self.letters.lock().unwrap();
        if state.0.is_empty() {
            state.1 = Some(*by);
            unsafe {
                let (pcs, depth) = callers!();
                gotrace_rec_go_park(by.thread, RECEIVE, pcs, depth);
                gotrace_rec_proc_stop(by.thread);
            }
            state = self.sent.wait_while(state, |state| state.0.is_empty()).unwrap();
            unsafe {
                gotrace_rec_proc_start(by.thread, by.proc);
                gotrace_rec_go_start(by.thread, by.go);
            }
        }
        state.0.remove(0)
    }
}

static MAILBOX: Mailbox = Mailbox { letters: Mutex::new((Vec::new(), None)), sent: Condvar::new() };
const LETTERS: u32 = 100;

fn sender(own: &Worker) {
    for letter in 0..LETTERS {
        MAILBOX.send(own, letter);
        thread::sleep(time::Duration::from_micros(100)); // not recorded: it is shown as running
    }
}

fn reader(own: &Worker) {
    for letter in 0..LETTERS {
        assert_eq!(MAILBOX.read(own), letter);
    }
}

/// Runs the function on a thread, which the recorder knows by that number.
fn start(recorder: Handle, number: u64, run: fn(&Worker)) -> thread::JoinHandle<()> {
    let own = unsafe {
        let thread = gotrace_rec_thread_new(recorder, number);
        let go = gotrace_rec_go_create(thread, number, run as usize as u64, null(), 0);
        Worker { thread, proc: gotrace_rec_proc_new(recorder, number - 1), go }
    };
    thread::spawn(move || unsafe {
        let own = own; // all of it
        gotrace_rec_proc_start(own.thread, own.proc);
        gotrace_rec_go_start(own.thread, own.go);
        run(&own);
        gotrace_rec_go_end(own.thread);
        gotrace_rec_proc_stop(own.thread);
        gotrace_rec_thread_end(own.thread);
    })
}

fn main() {
    let version = env::args().nth(1).and_then(|v| v.parse().ok()).unwrap_or(26);
    let (mut symbols, mut recorder): (Handle, Handle) = (null_mut(), null_mut());
    unsafe {
        let maps = b"/proc/self/maps\0".as_ptr() as *const c_char;
        gotrace_symbols_new(null(), &mut symbols, null_mut());
        gotrace_symbols_read_maps(symbols, maps, null_mut());
        let options = Options {
            size: std::mem::size_of::<Options>(),
            resolve: gotrace_symbols_resolve,
            resolve_ctx: symbols,
        };
        if gotrace_recorder_new(&options, null(), &mut recorder, null_mut()) < 0
            || gotrace_recorder_start_fd(recorder, version, 1) < 0
        {
            eprintln!("letters: cannot record");
            process::exit(1);
        }
        let threads = [start(recorder, 1, reader), start(recorder, 2, sender)];
        for thread in threads {
            thread.join().unwrap();
        }
        let stopped = gotrace_recorder_stop(recorder);
        gotrace_recorder_free(recorder);
        gotrace_symbols_free(symbols);
        if stopped < 0 {
            eprintln!("letters: the trace is not complete");
            process::exit(1);
        }
    }
}
