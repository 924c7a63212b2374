// Part of gotrace; BSD-3-Clause.

// The recorder runs one scenario while the execution tracer is on and writes the trace to a file.
// It builds with gccgo 12 (Go 1.18's language) and with every Go since 1.19; each scenario
// registers itself, so that those that a toolchain does not support (cgo.go, ...) are left out.
//
//	recorder [-scale N] [-procs N] [-bytes N] [-seconds N] [-stats] SCENARIO FILE
//	recorder -list
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/trace"
	"sort"
	"sync/atomic"
	"syscall"
	"time"
)

// A scenario does something worth tracing; n grows with -scale and is 1 for the smallest trace.
type scenario struct {
	what string
	run  func(n int)
	// Scenarios that start and stop the tracer themselves are given the file's name instead.
	traces func(n int, name string)
	// Required settings of GODEBUG; the runtime reads some of them only when it starts.
	debug string
	// GOMAXPROCS, overriding -procs.
	procs int
}

var scenarios = map[string]scenario{}

var (
	scale   = flag.Int("scale", 1, "how much work the scenario does")
	procs   = flag.Int("procs", 4, "GOMAXPROCS at the start")
	bytes   = flag.Int64("bytes", 110<<20, "big, phases: stop when the trace has this size")
	seconds = flag.Int("seconds", 60, "big, phases: stop after this time in any case")
	stats   = flag.Bool("stats", false, "print the trace's size and how long it took")
	list    = flag.Bool("list", false, "list the scenarios")
)

// output is the trace's file; it counts what was written, for scenarios that stop at a size.
type output struct {
	file    *os.File
	buffer  *bufio.Writer
	written int64
}

var current *output

func create(name string) *output {
	f, err := os.Create(name)
	check(err)
	return &output{file: f, buffer: bufio.NewWriterSize(f, 1<<20)}
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.buffer.Write(p)
	atomic.AddInt64(&o.written, int64(n))
	return n, err
}

func (o *output) size() int64 { return atomic.LoadInt64(&o.written) }

func (o *output) close() {
	check(o.buffer.Flush())
	check(o.file.Close())
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "recorder:", err)
		os.Exit(1)
	}
}

// record traces one call of f into the file of that name.
func record(name string, f func()) {
	current = create(name)
	check(trace.Start(current))
	f()
	trace.Stop()
	current.close()
}

// want restarts the program if GODEBUG does not have the required settings.
func want(debug string) {
	if debug == "" || os.Getenv("GODEBUG") == debug {
		return
	}
	check(os.Setenv("GODEBUG", debug))
	self, err := os.Executable()
	check(err)
	check(syscall.Exec(self, os.Args, os.Environ()))
}

func main() {
	flag.Parse()
	if *list {
		names := []string{}
		for name := range scenarios {
			names = append(names, name)
		}
		sort.Strings(names)
		for _, name := range names {
			fmt.Println(name)
		}
		return
	}
	s, known := scenarios[flag.Arg(0)]
	if flag.NArg() != 2 || !known {
		fmt.Fprintln(os.Stderr, "usage: recorder [FLAGS] SCENARIO FILE; scenarios:")
		for name, s := range scenarios {
			fmt.Fprintf(os.Stderr, "  %-10s %s\n", name, s.what)
		}
		os.Exit(2)
	}
	want(s.debug)
	if s.procs != 0 {
		*procs = s.procs
	}
	runtime.GOMAXPROCS(*procs)
	start := time.Now()
	name := flag.Arg(1)
	if s.traces != nil {
		s.traces(*scale, name)
	} else {
		record(name, func() { s.run(*scale) })
	}
	if *stats {
		fmt.Printf("%s: %d bytes in %.1f s, %s, %d goroutines left\n", name, current.size(),
			time.Since(start).Seconds(), runtime.Version(), runtime.NumGoroutine())
	}
}
