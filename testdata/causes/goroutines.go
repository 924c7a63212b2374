// Part of gotrace; BSD-3-Clause.

package main

import (
	"context"
	"fmt"
	"sync"
	"time"
)

func init() {
	programs["goroutine.leak-http"] = program{run: abandoned}
	programs["goroutine.leak-pool"] = program{run: heartbeats}
	programs["goroutine.leak-pipeline"] = program{run: func(s int) {
		line{5 * time.Millisecond, 3, 300 * time.Microsecond, 100 * time.Microsecond, 200 * time.Microsecond,
			at(s, 20, 6, 2)}.run()
	}}
	programs["goroutine.leak-stage"] = program{run: func(s int) {
		slowLine(3, at(s, 50, 25, 10)).run()
	}}
	programs["goroutine.leak-client"] = program{run: openBodies}
	programs["goroutine.leak-lock"] = program{run: stuck}
	programs["goroutine.churn-http"] = program{run: func(s int) {
		serve(4, 10*time.Millisecond, func(context.Context, int) { fanOut(at(s, 100, 200, 400)) })
	}}
	programs["goroutine.churn-cli"] = program{length: 500 * time.Millisecond, run: func(s int) {
		go func() {
			for {
				fanOut(100)
				compute(us(s, 400, 200, 50))
			}
		}()
	}}
	programs["wake.storm-http"] = program{run: func(s int) {
		q := newQueue(at(s, 100, 250, 600))
		serve(6, ms(s, 10, 12, 15), func(_ context.Context, n int) {
			done := make(chan bool)
			q.put(n, done)
			<-done
		})
	}}
	programs["wake.storm-pool"] = program{run: func(s int) {
		q := newQueue(at(s, 100, 250, 600))
		go func() {
			for n := 0; ; n++ {
				time.Sleep(us(s, 1500, 2000, 2500))
				q.put(n, make(chan bool, 1))
			}
		}()
	}}
}

// notify blocks forever, because nobody receives.
func notify(done chan bool) {
	compute(20 * time.Microsecond)
	done <- true
}

// Some requests do not wait for the answer of the goroutine that they start.
func abandoned(s int) {
	serve(6, 15*time.Millisecond, func(_ context.Context, n int) {
		done := make(chan bool)
		go notify(done)
		compute(time.Millisecond)
		if n%at(s, 8, 3, 1) != 0 {
			<-done
		}
	})
}

// Some responses of another server are not read: their connections have two goroutines each.
func openBodies(s int) {
	go func() {
		for n := 0; ; n++ {
			time.Sleep(5 * time.Millisecond)
			if n%at(s, 8, 3, 1) != 0 {
				get(time.Millisecond)
			} else if _, err := client.Get(fmt.Sprintf("http://%s/?wait=1ms", peerAddress)); err != nil {
				check(err)
			}
		}
	}()
	serve(3, 15*time.Millisecond, func(context.Context, int) { compute(time.Millisecond) })
}

// Some jobs start a goroutine that waits for a lock that is never released.
func stuck(s int) {
	var mu sync.Mutex
	mu.Lock()
	pool(4, 5*time.Millisecond, func(_ context.Context, n int) {
		compute(time.Millisecond)
		if n%at(s, 6, 3, 1) == 0 {
			go mu.Lock()
		}
	})
}

// Some jobs start a ticker that nobody stops.
func heartbeats(s int) {
	pool(4, 5*time.Millisecond, func(_ context.Context, n int) {
		compute(time.Millisecond)
		if n%at(s, 6, 3, 1) == 0 {
			go beat(time.NewTicker(100 * time.Millisecond))
		}
	})
}

func beat(t *time.Ticker) {
	for range t.C {
		compute(10 * time.Microsecond)
	}
}

// fanOut starts goroutines that have almost nothing to do.
func fanOut(n int) {
	var done sync.WaitGroup
	done.Add(n)
	for i := 0; i < n; i++ {
		go func() {
			hash(1)
			done.Done()
		}()
	}
	done.Wait()
}

// A queue in which each job is for one worker, and all are woken for it.
type queue struct {
	mu    sync.Mutex
	ready *sync.Cond
	jobs  [][]chan bool // of each worker
}

func newQueue(workers int) *queue {
	q := &queue{jobs: make([][]chan bool, workers)}
	q.ready = sync.NewCond(&q.mu)
	for i := 0; i < workers; i++ {
		go q.work(i)
	}
	return q
}

func (q *queue) put(n int, done chan bool) {
	worker := n * 37 % len(q.jobs)
	q.mu.Lock()
	q.jobs[worker] = append(q.jobs[worker], done)
	q.mu.Unlock()
	q.ready.Broadcast()
}

func (q *queue) take(worker int) chan bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.jobs[worker]) == 0 {
		q.ready.Wait()
	}
	done := q.jobs[worker][0]
	q.jobs[worker] = q.jobs[worker][1:]
	return done
}

func (q *queue) work(i int) {
	for {
		done := q.take(i)
		compute(20 * time.Microsecond)
		done <- true
	}
}
