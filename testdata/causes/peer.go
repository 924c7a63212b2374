// Part of gotrace; BSD-3-Clause.

// The peer is another process, so that the trace has neither the clients of a server nor the servers
// that it calls. It gets orders on its standard input, and ends when that is closed.

package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

var (
	orders      io.Writer
	peerAddress string
	device      *os.File // from which the peer's ticks are read
)

func startPeer() {
	self, err := os.Executable()
	check(err)
	command := exec.Command(self, "-peer")
	command.Stderr = os.Stderr
	orders, err = command.StdinPipe()
	check(err)
	output, err := command.StdoutPipe()
	check(err)
	var ticks *os.File
	device, ticks, err = os.Pipe()
	check(err)
	command.ExtraFiles = []*os.File{ticks}
	check(command.Start())
	check(ticks.Close())
	_, err = fmt.Fscanln(output, &peerAddress)
	check(err)
}

func order(values ...interface{}) {
	_, err := fmt.Fprintln(orders, values...)
	check(err)
}

// ---- the peer ------------------------------------------------------------------------------------

func parseDuration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	check(err)
	return d
}

func peer() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	go http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(parseDuration(r.FormValue("wait")))
		io.WriteString(w, "ok\n")
	}))
	fmt.Println(listener.Addr())
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		switch f[0] {
		case "load":
			var clients int
			fmt.Sscan(f[2], &clients)
			transport := &http.Transport{MaxIdleConnsPerHost: clients}
			for i := 0; i < clients; i++ {
				go visit(&http.Client{Transport: transport}, "http://"+f[1], i, parseDuration(f[3]))
			}
		case "freeze":
			go freeze(os.Getppid(), parseDuration(f[1]), parseDuration(f[2]))
		case "tick":
			go tick(os.NewFile(3, "ticks"), parseDuration(f[1]))
		}
	}
}

// visit is a client that thinks for 0.5 to 1.5 times the duration between two requests.
func visit(client *http.Client, server string, i int, think time.Duration) {
	for n := i; ; n++ {
		time.Sleep(think/2 + time.Duration(rand.Int63n(int64(think)+1)))
		res, err := client.Get(server + [...]string{"/search", "/checkout"}[n%2])
		if err != nil {
			return // the server has ended
		}
		io.Copy(io.Discard, res.Body)
		res.Body.Close()
	}
}

func freeze(process int, stop, period time.Duration) {
	for {
		time.Sleep(period - stop)
		syscall.Kill(process, syscall.SIGSTOP)
		time.Sleep(stop)
		syscall.Kill(process, syscall.SIGCONT)
	}
}

func tick(out io.Writer, every time.Duration) {
	for range time.Tick(every) {
		out.Write([]byte{0})
	}
}

// ---- calls of the peer ---------------------------------------------------------------------------

type connection struct {
	net.Conn
	reader *bufio.Reader
}

// Idle connections.
var connections struct {
	sync.Mutex
	idle []*connection
}

func takeConnection() *connection {
	connections.Lock()
	defer connections.Unlock()
	if n := len(connections.idle); n > 0 {
		c := connections.idle[n-1]
		connections.idle = connections.idle[:n-1]
		return c
	}
	conn, err := net.Dial("tcp", peerAddress)
	check(err)
	return &connection{conn, bufio.NewReader(conn)}
}

func returnConnection(c *connection) {
	connections.Lock()
	defer connections.Unlock()
	connections.idle = append(connections.idle, c)
}

// fetch waits for the peer, on the network itself, as most drivers of databases do.
func fetch(wait time.Duration) {
	c := takeConnection()
	_, err := fmt.Fprintf(c, "GET /?wait=%s HTTP/1.1\r\nHost: peer\r\n\r\n", wait)
	check(err)
	res, err := http.ReadResponse(c.reader, nil)
	check(err)
	io.Copy(io.Discard, res.Body)
	returnConnection(c)
}

var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}

// get does the same with Go's HTTP client: its own goroutines wait for the network, and pass the
// response over a channel.
func get(wait time.Duration) {
	res, err := client.Get(fmt.Sprintf("http://%s/?wait=%s", peerAddress, wait))
	check(err)
	io.Copy(io.Discard, res.Body)
	res.Body.Close()
}
