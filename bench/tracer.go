// tracer.go - the cost of an event of Go's own tracer, for bench/run.sh: two goroutines yield to each
// other, with and without a trace. A switch is two events: one goroutine stops, the other one starts.
// Prints the best of five runs, in nanoseconds.
package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/trace"
	"time"
)

const (
	switches = 2000000
	runs     = 5
)

func yield(n int, done chan<- bool) {
	for i := 0; i < n; i++ {
		runtime.Gosched()
	}
	done <- true
}

func measure() time.Duration {
	done := make(chan bool, 2)
	begin := time.Now()
	go yield(switches/2, done)
	go yield(switches/2, done)
	<-done
	<-done
	return time.Since(begin)
}

func best(run func() time.Duration) time.Duration {
	least := run()
	for i := 1; i < runs; i++ {
		if took := run(); took < least {
			least = took
		}
	}
	return least
}

func traced() time.Duration {
	if err := trace.Start(io.Discard); err != nil {
		panic(err)
	}
	defer trace.Stop()
	return measure()
}

func main() {
	runtime.GOMAXPROCS(1)
	without := best(measure)
	fmt.Printf("%.1f\n", float64(best(traced)-without)/(2*switches))
}
