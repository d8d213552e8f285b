package router

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/ipsecd/ipsecd/bgp"
	"github.com/ipsecd/ipsecd/cmd/internal/routerproto"
	"github.com/ipsecd/ipsecd/routing"
)

// ErrNeedsRestart ends Run when a configuration needs a new process: another
// AS, router ID, table or metric.
var ErrNeedsRestart = errors.New("router: the new configuration needs a new router process")

// Source is where routes come from; *bgp.Server is one.
type Source interface {
	Ready() <-chan struct{}
	Take() bgp.Batch
	Peers() []bgp.PeerStatus
	Reconfigure(context.Context, bgp.Config) error
	Stop()
}

// Options replace the world, for tests. The zero value is the real one.
type Options struct {
	// LogLevel of what is sent to the keying process; info when nil.
	LogLevel slog.Leveler
	// Kernel is closed by Run.
	Kernel routing.Kernel
	// NewSource starts BGP.
	NewSource func(bgp.Config, *slog.Logger) (Source, error)
	// Resolve finds the next hop on a link for a gateway.
	Resolve Resolver
	// Sysctls is the directory of the kernel's settings.
	Sysctls string
}

func (o Options) withDefaults() (Options, error) {
	if o.LogLevel == nil {
		o.LogLevel = slog.LevelInfo
	}
	if o.NewSource == nil {
		o.NewSource = func(c bgp.Config, log *slog.Logger) (Source, error) { return bgp.New(c, log) }
	}
	if o.Resolve == nil {
		o.Resolve = kernelResolver
	}
	if o.Sysctls == "" {
		o.Sysctls = "/proc/sys"
	}
	if o.Kernel == nil {
		k, err := routing.Dial()
		if err != nil {
			return o, fmt.Errorf("router: %w", err)
		}
		o.Kernel = k
	}
	return o, nil
}

// Run is the router process. It takes ownership of conn and returns nil when
// the other side has closed it or ctx ends. Whatever it returns, the routes
// stay in the kernel.
func Run(ctx context.Context, conn *routerproto.Conn, o Options) error {
	defer conn.Close()
	up := newUplink(conn)
	defer up.close()
	o, err := o.withDefaults()
	if err != nil {
		return err
	}
	defer o.Kernel.Close()

	r := newRouter(o, up)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	err = r.run(ctx, receive(ctx, conn))
	if r.peers != nil {
		r.peers.stop() // but not BGP: see the package comment
	}
	if err != nil {
		r.log.Error("the router process ends", "error", err)
	}
	return err
}

// router is the state of the process. One goroutine owns it.
type router struct {
	opt     Options
	log     *slog.Logger
	uplink  *uplink
	started time.Time

	cfg       *routerproto.Config // nil before the first
	neighbors map[string]routerproto.Neighbor
	manager   *routing.Manager
	source    Source // nil without neighbours
	peers     *peerPoll
	rib       rib
	gateways  gateways
	tunnels   tunnels
	start     startup
	sysctls   []routing.Sysctl

	failover  *routerproto.Failover
	counters  routerproto.Counters
	problems  map[string]string // standing ones, by what they are about
	lastRetry time.Time

	changed    bool      // since the last status
	reported   time.Time // the last status
	reportCost time.Duration
}

func newRouter(o Options, up *uplink) *router {
	return &router{
		opt:      o,
		log:      slog.New(routerproto.NewLogHandler(up.log, o.LogLevel)),
		uplink:   up,
		started:  time.Now(),
		rib:      newRIB(),
		gateways: newGateways(o.Resolve),
		problems: make(map[string]string),
	}
}

// received is a message of the keying process, or the end of them.
type received struct {
	config *routerproto.Config
	err    error
}

// receive reads conn until it or ctx ends.
func receive(ctx context.Context, conn *routerproto.Conn) <-chan received {
	ch := make(chan received)
	go func() {
		defer close(ch)
		for {
			m, err := conn.Receive()
			if err == nil && m.Config == nil {
				continue // not for us
			}
			select {
			case ch <- received{m.Config, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return ch
}

// stamped is a kernel event with the time of its arrival.
type stamped struct {
	routing.Event
	at time.Time
}

// stamp notes when events arrive, while the owner of the router is busy.
func stamp(ctx context.Context, events <-chan routing.Event) <-chan stamped {
	ch := make(chan stamped, 64)
	go func() {
		defer close(ch)
		for ev := range events {
			select {
			case ch <- stamped{ev, time.Now()}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return ch
}

// run is the loop of the process.
func (r *router) run(ctx context.Context, messages <-chan received) error {
	events := stamp(ctx, r.opt.Kernel.Events())
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		// Links come before everything else.
		select {
		case ev, ok := <-events:
			if !ok {
				return errors.New("router: the kernel's events ended")
			}
			r.kernelEvent(ev)
			continue
		default:
		}
		select {
		case <-ctx.Done():
			return nil
		case m, ok := <-messages:
			if !ok {
				return nil
			}
			if err := r.message(ctx, m); err != nil {
				return ignoreEnd(err)
			}
		case ev, ok := <-events:
			if !ok {
				return errors.New("router: the kernel's events ended")
			}
			r.kernelEvent(ev)
		case <-r.sourceReady():
			r.take()
		case <-r.work():
			r.write()
		case now := <-ticker.C:
			r.tick(now)
		}
	}
}

func (r *router) message(ctx context.Context, m received) error {
	if m.err != nil {
		return m.err
	}
	return r.configure(ctx, m.config)
}

// ignoreEnd: the keying process has left, or was killed in the middle of a frame.
func ignoreEnd(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

func (r *router) sourceReady() <-chan struct{} {
	if r.source == nil {
		return nil
	}
	return r.source.Ready()
}

// tick looks at deadlines.
func (r *router) tick(now time.Time) {
	if r.cfg == nil {
		return
	}
	if now.Sub(r.lastRetry) >= retryInterval {
		r.lastRetry = now
		r.retry()
	}
	if r.gateways.stale {
		r.refreshGateways()
	}
	r.advance(now)
	since := now.Sub(r.reported)
	if r.changed && since >= reportShare*r.reportCost || since >= routerproto.StatusInterval {
		r.report(now)
		r.reportCost = time.Since(now)
	}
}

// problem notes a standing error about something, or that there is none any more.
func (r *router) problem(about string, err error) {
	r.changed = true
	if err == nil {
		delete(r.problems, about)
		return
	}
	if text := err.Error(); r.problems[about] != text {
		r.problems[about] = text
		r.log.Error(text)
	}
}
