// Part of gotrace; BSD-3-Clause.

// What the programs consist of: work for a processor, an HTTP server, a pool, a pipeline.

package main

import (
	"context"
	"crypto/sha256"
	"io"
	"net"
	"net/http"
	"runtime/trace"
	"sync/atomic"
	"time"
)

// The time of a round of hash, without interruptions.
var perRound time.Duration

func hash(rounds int) {
	var block [1024]byte
	for i := 0; i < rounds; i++ {
		sum := sha256.Sum256(block[:])
		copy(block[:], sum[:])
	}
}

func calibrate() {
	perRound = time.Second
	for i := 0; i < 200; i++ {
		begin := time.Now()
		hash(32)
		if d := time.Since(begin) / 32; d < perRound {
			perRound = d
		}
	}
}

// compute does the work that takes so long if nothing interrupts it.
func compute(d time.Duration) { hash(int(d / perRound)) }

// serve runs an HTTP server, and lets the peer send requests to it.
func serve(clients int, think time.Duration, handle func(ctx context.Context, n int)) {
	order("load", listen(handle), clients, think)
}

// listen runs an HTTP server, and returns its address. Each request is a task.
func listen(handle func(ctx context.Context, n int)) net.Addr {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	var requests int64
	go http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, task := trace.NewTask(r.Context(), r.URL.Path[1:])
		handle(ctx, int(atomic.AddInt64(&requests, 1)))
		task.End()
		io.WriteString(w, "ok\n")
	}))
	return listener.Addr()
}

// pool runs workers that take jobs from a channel. Each job is a task of the name "ingest". There is
// one job per interval, or always one if that is 0.
func pool(workers int, interval time.Duration, handle func(ctx context.Context, n int)) {
	jobs := make(chan int, 16)
	for i := 0; i < workers; i++ {
		go work(jobs, handle)
	}
	go dispatch(jobs, interval)
}

func work(jobs <-chan int, handle func(ctx context.Context, n int)) {
	for n := range jobs {
		ctx, task := trace.NewTask(context.Background(), "ingest")
		handle(ctx, n)
		task.End()
	}
}

func dispatch(jobs chan<- int, interval time.Duration) {
	for n := 1; ; n++ {
		time.Sleep(interval)
		jobs <- n
	}
}

// A line runs a pipeline without tasks: read -> 4 parse -> dedup -> 2 write.
type line struct {
	pause              time.Duration // of the reader, before each batch
	batch              int
	parse, dedup, save time.Duration // of each item
	leak               int           // one item of so many starts a goroutine that never ends; 0: none
}

func (l line) run() {
	lines, records, unique := make(chan int, 16), make(chan int, 16), make(chan int, 16)
	go read(l, lines)
	for i := 0; i < 4; i++ {
		go parse(l, lines, records)
	}
	go dedup(l, records, unique)
	for i := 0; i < 2; i++ {
		go write(l, unique)
	}
}

func read(l line, out chan<- int) {
	for n := 1; ; {
		if l.pause > 0 {
			time.Sleep(l.pause)
		}
		for end := n + l.batch; n < end; n++ {
			out <- n
		}
	}
}

func parse(l line, in <-chan int, out chan<- int) {
	for n := range in {
		compute(l.parse)
		out <- n
	}
}

func dedup(l line, in <-chan int, out chan<- int) {
	for n := range in {
		compute(l.dedup)
		out <- n
	}
}

func write(l line, in <-chan int) {
	for n := range in {
		compute(l.save)
		if l.leak > 0 && n%l.leak == 0 {
			go notify(make(chan bool))
		}
	}
}
