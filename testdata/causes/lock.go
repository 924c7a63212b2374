// Part of gotrace; BSD-3-Clause.

package main

import (
	"context"
	"sync"
	"time"
)

func init() {
	programs["lock.contended-http"] = program{run: sessions}
	programs["network.wait-sessions"] = program{run: fixedSessions}
	programs["lock.contended-pool"] = program{run: counters}
	programs["lock.contended-log"] = program{run: logging}
	programs["lock.contended-short"] = program{run: func(s int) {
		var mu sync.Mutex
		serve(at(s, 12, 20, 40), 2*time.Millisecond, func(context.Context, int) {
			for i := 0; i < 10; i++ {
				compute(20 * time.Microsecond)
				mu.Lock()
				compute(50 * time.Microsecond)
				mu.Unlock()
			}
		})
	}}
	programs["lock.contended-cli"] = program{run: crawl}
}

// A mutex that is held while an expired entry is fetched.
type store struct{ mu sync.Mutex }

func (s *store) lookup(expired bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if expired {
		fetch(15 * time.Millisecond)
	}
	compute(20 * time.Microsecond)
}

func sessions(s int) {
	sessions := &store{}
	serve(12, 10*time.Millisecond, func(_ context.Context, n int) {
		sessions.lookup(n%at(s, 10, 5, 2) == 0)
		compute(300 * time.Microsecond)
	})
}

// The same after the fix: the mutex is not held during the fetch.
func (s *store) lookupFixed(expired bool) {
	if expired {
		fetch(15 * time.Millisecond)
	}
	s.mu.Lock()
	compute(20 * time.Microsecond)
	s.mu.Unlock()
}

func fixedSessions(s int) {
	sessions := &store{}
	serve(12, 10*time.Millisecond, func(_ context.Context, n int) {
		sessions.lookupFixed(n%at(s, 10, 5, 2) == 0)
		compute(300 * time.Microsecond)
	})
}

// A mutex that is held during the larger part of the computation.
type totals struct{ mu sync.Mutex }

func (t *totals) add() {
	t.mu.Lock()
	compute(500 * time.Microsecond)
	t.mu.Unlock()
}

func counters(s int) {
	totals := &totals{}
	pool(at(s, 4, 8, 12), 0, func(_ context.Context, n int) {
		compute(us(s, 200, 100, 20))
		totals.add()
	})
}

// A mutex that is held while a line is written to a slow disk.
type logger struct{ mu sync.Mutex }

func (l *logger) print() {
	l.mu.Lock()
	syncDisk(2 * time.Millisecond)
	l.mu.Unlock()
}

func logging(s int) {
	log := &logger{}
	serve(at(s, 7, 10, 16), 8*time.Millisecond, func(context.Context, int) {
		compute(300 * time.Microsecond)
		log.print()
	})
}

// An RWMutex that is held for writing while the configuration is fetched.
type settings struct{ mu sync.RWMutex }

func (c *settings) refresh(wait time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	get(wait)
}

func (c *settings) allows() {
	c.mu.RLock()
	compute(100 * time.Microsecond)
	c.mu.RUnlock()
}

func crawl(s int) {
	settings := &settings{}
	for i := 0; i < 6; i++ {
		go func() {
			for {
				settings.allows()
				fetch(time.Millisecond)
			}
		}()
	}
	go func() {
		for {
			settings.refresh(ms(s, 20, 40, 80))
			time.Sleep(ms(s, 15, 15, 10))
		}
	}()
}
