package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ipsecd/ipsecd/cmd/internal/routerproto"
)

// Waits between restarts of the router process: doubled each time, back to the
// first one when a process has lived for the last.
const (
	routerFirstWait = 500 * time.Millisecond
	routerLastWait  = 30 * time.Second
)

// RouterCommand is the argument that makes the ipsecd binary a router process.
const RouterCommand = "router"

// router supervises the router process. Its death touches neither tunnels nor
// kernel routes; the next one reconciles.
type router struct {
	log      *slog.Logger
	level    string // of the process's log
	status   atomic.Pointer[routerproto.Status]
	restarts atomic.Int64

	mu     sync.Mutex
	config *routerproto.Config // nil: no process is wanted
	conn   *routerproto.Conn   // to the running process
	wake   chan struct{}       // a configuration arrived
}

func newRouter(log *slog.Logger, level string) *router {
	return &router{log: log, level: level, wake: make(chan struct{}, 1)}
}

// configure hands a configuration to the running process, or starts one.
func (r *router) configure(c *routerproto.Config) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.config = c
	if r.conn != nil {
		if c == nil {
			c = &routerproto.Config{} // no neighbours, no guards
		}
		if err := r.conn.Send(routerproto.Message{Config: c}); err != nil {
			r.log.Error("could not reconfigure the router process", "err", err)
		}
		return
	}
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// run starts the process when it is wanted, and again whenever it dies, until
// ctx ends.
func (r *router) run(ctx context.Context) {
	wait := routerFirstWait
	for ctx.Err() == nil {
		if !r.wanted() {
			select {
			case <-ctx.Done():
			case <-r.wake:
			}
			continue
		}
		start := time.Now()
		err := r.once(ctx)
		if ctx.Err() != nil {
			return
		}
		if time.Since(start) > routerLastWait {
			wait = routerFirstWait
		}
		r.restarts.Add(1)
		r.log.Error("the router process ended; kernel routes stay as they are", "err", err, "restart_in", wait)
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
		wait = min(wait*2, routerLastWait)
	}
}

func (r *router) wanted() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.config != nil
}

// once runs one process until it ends. When ctx ends its socket is closed, upon
// which it leaves without touching the routes.
func (r *router) once(ctx context.Context) error {
	conn, file, err := routerproto.Socketpair()
	if err != nil {
		return err
	}
	defer conn.Close()
	exe, err := os.Executable()
	if err != nil {
		file.Close()
		return err
	}
	cmd := exec.Command(exe, RouterCommand, "--log-level", r.level)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	cmd.ExtraFiles = []*os.File{file}
	err = cmd.Start()
	file.Close()
	if err != nil {
		return fmt.Errorf("starting %s %s: %w", exe, RouterCommand, err)
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	r.attach(conn)
	r.receive(conn)
	r.attach(nil)
	conn.Close()
	return cmd.Wait()
}

// attach makes conn the running process's and sends it the configuration.
func (r *router) attach(conn *routerproto.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conn = conn
	if conn == nil {
		r.status.Store(nil)
		return
	}
	if err := conn.Send(routerproto.Message{Config: r.config}); err != nil {
		r.log.Error("could not configure the router process", "err", err)
	}
}

func (r *router) receive(conn *routerproto.Conn) {
	for {
		m, err := conn.Receive()
		if err != nil {
			return
		}
		switch {
		case m.Status != nil:
			r.status.Store(m.Status)
		case m.Log != nil:
			r.relay(m.Log)
		}
	}
}

// relay writes a record of the router process to our log.
func (r *router) relay(m *routerproto.Log) {
	attrs := make([]slog.Attr, len(m.Attrs))
	for i, a := range m.Attrs {
		attrs[i] = slog.String(a.Key, a.Value)
	}
	r.log.LogAttrs(context.Background(), m.Level, m.Message, attrs...)
}
