// Part of gotrace; BSD-3-Clause.

// The program is slow for one reason, or healthy, and records a trace of itself. Go 1.19 and later.
//
//	causes [-duration D] [-freeze] VARIANT FILE
//	causes -list
//
// A variant is CAUSE-SHAPE-STRENGTH, such as lock.contended-http-2; README.md describes them. Work
// is measured for two procs.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/trace"
	"sort"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// A program of a cause in a shape. run starts its goroutines, which work until the process ends.
type program struct {
	run func(strength int)
	// Required in the environment: the runtime reads GODEBUG only when it starts.
	debug string
	// The length of the trace, if it is not that of -duration.
	length time.Duration
	// The number of procs if it is not 2: more than the one processor that the threads may use.
	procs int
	// The first version whose traces show the cause: 0 for all.
	since int
}

// By CAUSE-SHAPE.
var programs = map[string]program{}

const strengths = 3

// at returns the value for a strength: 1 is the weakest.
func at[T any](strength int, values ...T) T { return values[strength-1] }

func ms(strength int, values ...time.Duration) time.Duration {
	return at(strength, values...) * time.Millisecond
}
func us(strength int, values ...time.Duration) time.Duration {
	return at(strength, values...) * time.Microsecond
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "causes:", err)
		os.Exit(1)
	}
}

// restart runs the program again, in the same process, with what must be set before the runtime starts.
func (p program) restart() {
	if p.procs > 0 {
		// Threads inherit it from the one that calls exec.
		runtime.LockOSThread()
		first := uint64(1)
		_, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, 8, uintptr(unsafe.Pointer(&first)))
		if errno != 0 {
			check(errno)
		}
	}
	check(os.Setenv("GODEBUG", p.debug))
	check(os.Setenv("CAUSES_RESTARTED", "1"))
	self, err := os.Executable()
	check(err)
	check(syscall.Exec(self, os.Args, os.Environ()))
}

// minor is the N of Go 1.N.
func minor() (n int) {
	fmt.Sscanf(runtime.Version(), "go1.%d", &n)
	return n
}

func variants() (names []string) {
	for name, p := range programs {
		for s := 1; s <= strengths && p.since <= minor(); s++ {
			names = append(names, fmt.Sprintf("%s-%d", name, s))
		}
	}
	sort.Strings(names)
	return names
}

func record(name string, duration time.Duration) {
	file, err := os.Create(name)
	check(err)
	out := bufio.NewWriterSize(file, 1<<20)
	check(trace.Start(out))
	time.Sleep(duration)
	trace.Stop()
	check(out.Flush())
	check(file.Close())
}

func main() {
	duration := flag.Duration("duration", 1200*time.Millisecond, "length of most traces")
	freezes := flag.Bool("freeze", false, "stop the process for 80 of 150 ms, too")
	list := flag.Bool("list", false, "list the variants")
	isPeer := flag.Bool("peer", false, "be the other process: a slow server, and clients")
	flag.Parse()
	if *isPeer {
		peer()
		return
	}
	if *list {
		fmt.Println(strings.Join(variants(), "\n"))
		return
	}
	var name string
	var strength int
	if i := strings.LastIndexByte(flag.Arg(0), '-'); i >= 0 {
		name = flag.Arg(0)[:i]
		fmt.Sscanf(flag.Arg(0)[i:], "-%d", &strength)
	}
	p, known := programs[name]
	if flag.NArg() != 2 || !known || strength < 1 || strength > strengths {
		fmt.Fprintln(os.Stderr, "usage: causes [-duration D] VARIANT FILE; causes -list")
		os.Exit(2)
	}
	if (p.debug != "" || p.procs > 0) && os.Getenv("CAUSES_RESTARTED") == "" {
		p.restart()
	}
	procs := 2
	if p.procs > 0 {
		procs = p.procs
	}
	runtime.GOMAXPROCS(procs)
	calibrate()
	startPeer()
	if *freezes {
		freezing(strengths)
	}
	p.run(strength)
	time.Sleep(200 * time.Millisecond)
	if p.length > 0 {
		*duration = p.length
	}
	record(flag.Arg(1), *duration)
}
