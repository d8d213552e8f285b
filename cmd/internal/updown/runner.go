package updown

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/ipsecd/ipsecd/ike"
)

// parallel is how many scripts run at once; outputWait is how long one that has ended may leave its output open, as to a
// program that it has started.
const (
	parallel   = 16
	outputWait = time.Second
)

// Options are what a Runner is told. They may change while it works.
type Options struct {
	Timeout time.Duration // after which a script is killed
	DNS     bool          // tell name servers
}

// Runner runs scripts. Its methods are safe for concurrent use.
type Runner struct {
	log    *slog.Logger
	device func(local, remote netip.Addr) string
	slots  chan struct{}

	mu      sync.Mutex
	options Options
	tunnels map[key]*tunnel
	idle    *sync.Cond // a tunnel has come to rest
}

// key names a tunnel through its rekeys.
type key struct {
	connection, child string
	reqid             uint32
}

// tunnel is what has happened to one and is to be told.
type tunnel struct {
	queue  []ike.UpDown
	busy   bool
	up     []ike.UpDown // told, or being told: two while a new CHILD_SA takes over by reauthentication
	device string       // at that time
}

// left returns what will be up when everything is told.
func (t *tunnel) left() []ike.UpDown {
	left := slices.Clone(t.up)
	for _, ev := range t.queue {
		switch {
		case ev.Up:
			left = append(left, ev)
		case len(left) > 0:
			left = left[1:]
		}
	}
	return left
}

// New makes a Runner. device returns the network device by which packets between two addresses leave, "" if there is none.
func New(log *slog.Logger, o Options, device func(local, remote netip.Addr) string) *Runner {
	r := &Runner{log: log, device: device, slots: make(chan struct{}, parallel), options: o, tunnels: map[key]*tunnel{}}
	r.idle = sync.NewCond(&r.mu)
	return r
}

// Configure changes the options.
func (r *Runner) Configure(o Options) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.options = o
}

// Put takes an event and returns at once. What went up and down before a script could tell is not told.
func (r *Runner) Put(ev ike.UpDown) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.put(ev)
}

func (r *Runner) put(ev ike.UpDown) {
	k := key{ev.Child.Connection, ev.Child.Config.Name, ev.Child.ReqID}
	t := r.tunnels[k]
	if t == nil {
		t = &tunnel{}
		r.tunnels[k] = t
	}
	if last := len(t.queue) - 1; !ev.Up && last >= 0 && t.queue[last].Up && len(t.left()) == 1 {
		t.queue = t.queue[:last]
		return
	}
	t.queue = append(t.queue, ev)
	if !t.busy {
		t.busy = true
		go r.work(k, t)
	}
}

// work tells what has happened to a tunnel, in order, until there is nothing more.
func (r *Runner) work(k key, t *tunnel) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(t.queue) > 0 {
		ev := t.queue[0]
		t.queue = t.queue[1:]
		switch {
		case ev.Up:
			t.up, t.device = append(t.up, ev), r.device(ev.Child.Local, ev.Child.Remote)
		case len(t.up) > 0:
			t.up = t.up[1:]
		}
		device, o := t.device, r.options
		r.mu.Unlock()
		r.slots <- struct{}{}
		r.run(ev, device, o)
		<-r.slots
		r.mu.Lock()
	}
	if t.busy = false; len(t.up) == 0 {
		delete(r.tunnels, k)
	}
	r.idle.Broadcast()
}

// run runs the script of an event, once for each pair of selectors.
func (r *Runner) run(ev ike.UpDown, device string, o Options) {
	if device == "" {
		device = "unknown"
	}
	log := r.log.With("group", "CHD", "connection", ev.Child.Connection, "child", ev.Child.Config.Name)
	for _, p := range pairs(ev.Child) {
		script(log, ev.Child.Config.Updown, environment(ev, p, os.Getenv("PATH"), device, o.DNS), o.Timeout)
	}
}

// script runs one command of the shell with all that it starts as one process group, which a timeout ends.
func script(log *slog.Logger, command string, env []string, timeout time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	out := &lines{log: log}
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", command)
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = env, out, out, outputWait
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	err := cmd.Run()
	out.flush()
	switch {
	case ctx.Err() != nil:
		log.Error("updown script was killed: it takes too long", "script", command, "timeout", timeout)
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		log.Warn("updown script failed", "script", command, "err", err)
	}
}

// Known takes in that something is up of which another process has told.
func (r *Runner) Known(ev ike.UpDown) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := key{ev.Child.Connection, ev.Child.Config.Name, ev.Child.ReqID}
	t := r.tunnels[k]
	if t == nil {
		t = &tunnel{}
		r.tunnels[k] = t
	}
	t.up, t.device = append(t.up, ev), r.device(ev.Child.Local, ev.Child.Remote)
}

// Close tells of all that is still up that it is down, and waits until that is done or ctx ends. It reports whether
// everything was told.
func (r *Runner) Close(ctx context.Context) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.tunnels {
		for _, ev := range t.left() {
			ev.Up = false
			r.put(ev)
		}
	}
	return r.wait(ctx)
}

// Wait waits until all is told, or ctx ends. It reports whether everything was told.
func (r *Runner) Wait(ctx context.Context) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.wait(ctx)
}

func (r *Runner) wait(ctx context.Context) bool {
	stop := context.AfterFunc(ctx, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.idle.Broadcast()
	})
	defer stop()
	for ctx.Err() == nil {
		busy := false
		for _, t := range r.tunnels {
			busy = busy || t.busy
		}
		if !busy {
			return true
		}
		r.idle.Wait()
	}
	return false
}
