// Part of gotrace; BSD-3-Clause.

package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/trace"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

func init() {
	scenarios["user"] = scenario{what: "tasks, regions and logs, with odd names", run: annotated}
	scenarios["overlong"] = scenario{what: "a message and a name longer than the tracer's buffer", run: overlong}
	scenarios["mix"] = scenario{what: "a little of everything", run: mix}
	scenarios["big"] = scenario{what: "a realistic mix until -bytes are written", run: big}
	scenarios["phases"] = scenario{what: "one kind of work after another, until -bytes are written", run: phases}
}

func annotated(n int) {
	ctx, outer := trace.NewTask(context.Background(), "принять заказ 注文")
	for i := 0; i < 2*n; i++ {
		child, task := trace.NewTask(ctx, "épreuve")
		together(2, func(k int) {
			trace.WithRegion(child, "outer région", func() {
				trace.Log(child, "ключ", fmt.Sprintf("значение %d 🙂", k))
				inner := trace.StartRegion(child, "inner")
				spin(10000)
				inner.End()
				trace.Logf(child, "", "no category, %d%%", k)
			})
		})
		task.End()
	}
	// Names and messages that are larger than a buffer of the usual size.
	long := strings.Repeat("лонг ", 150)
	lctx, ltask := trace.NewTask(ctx, "task "+long)
	trace.WithRegion(lctx, "region "+long, func() {})
	trace.Log(lctx, "category "+long, "message "+strings.Repeat("0123456789", 500))
	trace.Log(lctx, "bytes", "\x00\x01\xff\xfe\"quoted\"\n\ttab\\")
	trace.Log(lctx, "nothing", "")
	ltask.End()
	outer.End()
	// A task that never ends and a region without a task.
	open, _ := trace.NewTask(context.Background(), "open")
	trace.StartRegion(open, "unfinished")
	trace.WithRegion(context.Background(), "no task", func() { pingPong(2) })
}

// longestName is 70,000, or the limit beyond which the tracer throws "alloc too large".
func longestName() int {
	for _, v := range []string{"go1.22", "go1.23", "go1.24", "go1.25", "go1.26"} {
		if strings.HasPrefix(runtime.Version(), v) {
			return 60000
		}
	}
	return 70000
}

// overlong causes the tracers up to 1.21 to write a damaged trace: their buffers have 64 KiB, and they
// neither truncate nor reject everything longer.
func overlong(int) {
	ctx, task := trace.NewTask(context.Background(), "task")
	trace.WithRegion(ctx, strings.Repeat("n", longestName()), func() {})
	trace.Log(ctx, "cut", strings.Repeat("x", 70000))
	task.End()
}

func mix(n int) {
	together(6, func(i int) {
		switch i {
		case 0:
			channels(n)
		case 1:
			mutexes(n)
		case 2:
			tcp(n)
		case 3:
			systemCalls(n)
		case 4:
			timers(n)
		case 5:
			annotated(1)
		}
	})
}

// request is one unit of work of the big trace: a task with regions in several goroutines.
func request(id int, work chan<- int) {
	ctx, task := trace.NewTask(context.Background(), "request")
	defer task.End()
	trace.Logf(ctx, "id", "%d", id)
	trace.WithRegion(ctx, "parse", func() { spin(500) })
	done := make(chan bool)
	go func() {
		defer close(done)
		defer trace.StartRegion(ctx, "query").End()
		work <- id
	}()
	<-done
}

// untilWritten returns a function that returns true until -bytes are written, or -seconds have passed.
func untilWritten() func() bool {
	deadline := time.Now().Add(time.Duration(*seconds) * time.Second)
	var stop int32
	go func() {
		for current.size() < *bytes && time.Now().Before(deadline) {
			time.Sleep(5 * time.Millisecond)
		}
		atomic.StoreInt32(&stop, 1)
	}()
	return func() bool { return atomic.LoadInt32(&stop) == 0 }
}

// phases changes GOMAXPROCS from phase to phase, so that most procs are idle in some of them.
func phases(n int) {
	kinds := []func(){
		func() { channels(40) },
		func() { mutexes(20) },
		func() { tcp(20) },
		func() { timers(5) },
		func() { requests(50) },
	}
	running := untilWritten()
	for phase := 0; running(); phase++ {
		runtime.GOMAXPROCS([]int{4, 1, 2, 3}[phase%4])
		end := time.Now().Add(300 * time.Millisecond)
		together(6, func(int) {
			for running() && time.Now().Before(end) {
				kinds[phase%len(kinds)]()
			}
		})
	}
}

func big(n int) {
	running := untilWritten()
	together(14, func(i int) {
		for running() {
			switch i % 7 {
			case 0, 1:
				channels(20)
			case 2:
				mutexes(5)
			case 3:
				selects(3)
			case 4:
				calls(200)
			case 5:
				if i == 5 {
					tcp(20)
				} else {
					many(1)
				}
			case 6:
				requests(50)
				keep[i%8] = tree(8)
			}
		}
	})
}

// requests serves k requests with a few workers.
func requests(k int) {
	work := make(chan int)
	for i := 0; i < 3; i++ {
		go func() {
			for range work {
				spin(1000)
			}
		}()
	}
	together(5, func(i int) {
		for j := 0; j < k; j++ {
			request(i*k+j, work)
		}
	})
	close(work)
}

// calls does k rounds of short system calls through pipes that block a thread.
func calls(k int) {
	r, w := rawPipe()
	done := make(chan bool)
	go func() {
		buf := make([]byte, 1)
		for i := 0; i < k; i++ {
			syscall.Read(r, buf)
		}
		close(done)
	}()
	for i := 0; i < k; i++ {
		syscall.Write(w, []byte{1})
	}
	<-done
	syscall.Close(r)
	syscall.Close(w)
}
