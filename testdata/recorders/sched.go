// Part of gotrace; BSD-3-Clause.

package main

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"runtime"
	"runtime/trace"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

func init() {
	scenarios["chan"] = scenario{what: "channels: ping-pong, buffers, pipelines", run: channels}
	scenarios["mutex"] = scenario{what: "contended mutexes, conditions, woken in vain", run: mutexes}
	scenarios["select"] = scenario{what: "select, with and without default and timeout", run: selects}
	scenarios["timer"] = scenario{what: "sleeps, timers, tickers, contexts", run: timers}
	scenarios["many"] = scenario{what: "thousands of goroutines", run: many}
	scenarios["procs"] = scenario{what: "GOMAXPROCS changes while tracing", run: procChanges}
	scenarios["lock"] = scenario{what: "goroutines locked to threads", run: lockedThreads}
	scenarios["ends"] = scenario{what: "Goexit, blocked for ever, yields, deep stacks", run: ends}
	scenarios["restart"] = scenario{what: "started and stopped again: FILE, FILE.2, ...", traces: restart}
	scenarios["nostop"] = scenario{what: "the program ends without trace.Stop", traces: noStop}
	scenarios["empty"] = scenario{what: "nothing happens", run: func(int) {}}
}

// spin computes for a while without a call into the runtime.
func spin(n int) (sum uint64) {
	for i := uint64(0); i < uint64(n); i++ {
		sum = sum*6364136223846793005 + i
	}
	return sum
}

// together runs f(0) to f(n-1) in one goroutine each and waits for all.
func together(n int, f func(i int)) {
	var wg sync.WaitGroup
	wg.Add(n)
	for i := 0; i < n; i++ {
		go func(i int) {
			defer wg.Done()
			f(i)
		}(i)
	}
	wg.Wait()
}

func pingPong(rounds int) {
	ping, pong := make(chan int), make(chan int)
	go func() {
		for v := range ping {
			pong <- v + 1
		}
		close(pong)
	}()
	for i := 0; i < rounds; i++ {
		ping <- i
		<-pong
	}
	close(ping)
}

func channels(n int) {
	pingPong(20 * n)
	buffered := make(chan int, 4)
	together(4, func(i int) {
		for k := 0; k < 10*n; k++ {
			if i%2 == 0 {
				buffered <- k
			} else {
				<-buffered
			}
		}
	})
	// A pipeline of stages, as in a prime sieve.
	var source chan int = make(chan int)
	last := source
	for stage := 0; stage < 5; stage++ {
		in, out := last, make(chan int)
		go func() {
			for v := range in {
				out <- v * 2
			}
			close(out)
		}()
		last = out
	}
	go func() {
		for k := 0; k < 10*n; k++ {
			source <- k
		}
		close(source)
	}()
	for range last {
	}
}

func mutexes(n int) {
	var mu sync.Mutex
	shared := 0
	together(8, func(i int) {
		for k := 0; k < 10*n; k++ {
			mu.Lock()
			shared += int(spin(2000) & 1)
			if k%5 == 0 {
				runtime.Gosched()
			}
			mu.Unlock()
		}
	})
	var rw sync.RWMutex
	together(6, func(i int) {
		for k := 0; k < 5*n; k++ {
			if i == 0 {
				rw.Lock()
				time.Sleep(20 * time.Microsecond)
				rw.Unlock()
			} else {
				rw.RLock()
				spin(1000)
				rw.RUnlock()
			}
		}
	})
	cond := sync.NewCond(&mu)
	turn := 0
	together(4, func(i int) {
		for k := 0; k < 5*n; k++ {
			mu.Lock()
			for turn%4 != i {
				cond.Wait()
			}
			turn++
			mu.Unlock()
			cond.Broadcast()
		}
	})
	// A goroutine woken from a full or empty buffer often finds that another was faster: the
	// tracers up to 1.9 call that a futile wake-up.
	buffer := make(chan int, 1)
	together(12, func(i int) {
		for k := 0; k < 5*n; k++ {
			if i%2 == 0 {
				buffer <- k
				runtime.Gosched()
			} else {
				<-buffer
			}
		}
	})
}

func selects(n int) {
	a, b, done := make(chan int), make(chan string, 2), make(chan struct{})
	go func() {
		for i := 0; i < 10*n; i++ {
			select {
			case a <- i:
			case b <- "x":
			case <-time.After(time.Millisecond):
			}
		}
		close(done)
	}()
	for open := true; open; {
		select {
		case <-a:
		case <-b:
		case <-done:
			open = false
		}
	}
	idle := 0
	for i := 0; i < 5*n; i++ {
		select {
		case <-a:
		default:
			idle++
			runtime.Gosched()
		}
	}
	together(3, func(i int) {
		for k := 0; k < 3*n; k++ {
			select {
			case <-a:
			case <-time.After(time.Duration(i+1) * 100 * time.Microsecond):
			}
		}
	})
}

func timers(n int) {
	together(4, func(i int) {
		for k := 0; k < 4*n; k++ {
			time.Sleep(time.Duration(50*(i+1)) * time.Microsecond)
		}
	})
	fired := make(chan bool, 8)
	for i := 0; i < 8; i++ {
		time.AfterFunc(time.Duration(i*50)*time.Microsecond, func() { fired <- true })
	}
	for i := 0; i < 8; i++ {
		<-fired
	}
	ticker := time.NewTicker(100 * time.Microsecond)
	for i := 0; i < 4*n; i++ {
		<-ticker.C
	}
	ticker.Stop()
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	together(3, func(int) { <-ctx.Done() })
}

func many(n int) {
	gate := make(chan struct{})
	var sum int64
	var wg sync.WaitGroup
	for i := 0; i < 250*n; i++ {
		wg.Add(1)
		go func(i int) {
			defer wg.Done()
			if i%3 == 0 {
				<-gate
			}
			atomic.AddInt64(&sum, int64(i))
			if i%50 == 0 {
				pingPong(2)
			}
		}(i)
	}
	close(gate)
	wg.Wait()
}

func procChanges(n int) {
	stop := make(chan struct{})
	finished := make(chan struct{})
	go func() {
		together(6, func(i int) {
			for {
				select {
				case <-stop:
					return
				default:
					spin(20000)
					runtime.Gosched()
				}
			}
		})
		close(finished)
	}()
	for i := 0; i < 4*n; i++ {
		runtime.GOMAXPROCS([]int{1, 3, 8, 2}[i%4])
		time.Sleep(100 * time.Microsecond)
	}
	close(stop)
	<-finished
}

func lockedThreads(n int) {
	a, b := make(chan int), make(chan int)
	together(4, func(i int) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for k := 0; k < 5*n; k++ {
			switch i {
			case 0:
				a <- k
			case 1:
				<-a
			case 2:
				b <- k
			case 3:
				<-b
				time.Sleep(10 * time.Microsecond)
			}
		}
	})
	// A goroutine that ends while it is locked takes its thread with it.
	together(2, func(int) { runtime.LockOSThread() })
}

func deep(depth int, f func()) {
	if depth == 0 {
		f()
		return
	}
	deep(depth-1, f)
}

func ends(n int) {
	for i := 0; i < 2*n; i++ {
		go func() { select {} }()
		go func() {
			var never chan int
			<-never
		}()
		together(2, func(k int) {
			defer func() { recover() }()
			if k == 0 {
				runtime.Goexit()
			}
			panic("ended")
		})
	}
	wake := make(chan int)
	for depth := 1; depth <= 200; depth *= 3 {
		go deep(depth, func() { wake <- 1 })
		deep(depth, func() { <-wake })
	}
	for i := 0; i < 5*n; i++ {
		runtime.Gosched()
	}
	// Long enough to be preempted.
	together(2*runtime.GOMAXPROCS(0), func(int) { spin(3000000 * n) })
}

// background keeps goroutines in every state that a trace can start in.
func background(stop chan struct{}) {
	go func() {
		for {
			select {
			case <-stop:
				return
			default:
				pingPong(5)
			}
		}
	}()
	go func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(200 * time.Microsecond):
				spin(10000)
			}
		}
	}()
	for i := 0; i < 5; i++ {
		go func() { <-stop }()
	}
	blockedReader(stop)
}

// restart records one file after the other while the program runs, like a server that is
// asked for a trace from time to time.
func restart(n int, name string) {
	stop := make(chan struct{})
	background(stop)
	files(2+2*n, name, func(i int) {
		time.Sleep(time.Duration(rand.Intn(300)) * time.Microsecond)
		if i%3 == 0 {
			runtime.GC()
		}
	})
	close(stop)
}

// files records count files. The first is called name, the others name-2, name-3, ...
func files(count int, name string, f func(i int)) {
	base := strings.TrimSuffix(name, ".trace")
	for i := 1; i <= count; i++ {
		file := name
		if i > 1 {
			file = fmt.Sprintf("%s-%d.trace", base, i)
		}
		record(file, func() { f(i) })
	}
}

func noStop(n int, name string) {
	f, err := os.Create(name)
	check(err)
	check(trace.Start(f))
	channels(500 * n)
	time.Sleep(50 * time.Millisecond)
	os.Exit(0)
}
