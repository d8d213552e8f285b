package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mdlayher/sdnotify"

	"github.com/ipsecd/ipsecd/cmd/internal/charonlog"
	"github.com/ipsecd/ipsecd/cmd/internal/config"
	"github.com/ipsecd/ipsecd/cmd/internal/handover"
	"github.com/ipsecd/ipsecd/cmd/internal/metrics"
	"github.com/ipsecd/ipsecd/cmd/internal/revocation"
	"github.com/ipsecd/ipsecd/cmd/internal/status"
	"github.com/ipsecd/ipsecd/cmd/internal/updown"
	"github.com/ipsecd/ipsecd/cmd/internal/vici"
	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/routing/lookup"
	"github.com/ipsecd/ipsecd/xfrm"
)

const (
	shutdownTime     = 3 * time.Second  // a stop waits so long for peers to answer our deletes
	watchdogInterval = 10 * time.Second // between two signs of life to the service manager
)

// Daemon is a running keying process. It implements status.Control.
type Daemon struct {
	opts    Options
	log     *slog.Logger
	started time.Time

	loop   *engineLoop
	kernel *kernelLoop
	router *router
	notes  *notes
	socks  *sockets
	addrs  hostAddresses
	names  *resolver
	updown *updown.Runner
	charon *charonlog.Log

	fetcher *revocation.Fetcher

	reloadMu sync.Mutex    // one reload at a time
	files    *config.Files // as they were read at the start or by the last reload; of who holds reloadMu
	laid     []trap        // of the configuration in force; likewise
	config   atomic.Pointer[config.Config]
	loaded   atomic.Pointer[config.Loaded] // by VICI clients; nil: nothing
	engine   atomic.Pointer[ike.Snapshot]
	counted  atomic.Pointer[kernelStatus]
	reload   atomic.Pointer[status.Reload]
	traps    atomic.Pointer[[]status.Trap]
}

var _ status.Control = (*Daemon)(nil)

// Run reads the configuration, takes over the kernel and serves until ctx
// ends; then it deletes its SAs, leaving the guards that keep protected
// traffic from going out in the clear. When it was asked to hand over instead, it leaves everything as it is and returns
// what the next process needs: the caller has that take this one's place.
func Run(ctx context.Context, opts Options) (*handover.Bundle, error) {
	files, err := config.ReadFiles(opts.ConfigFile)
	if err != nil {
		return nil, err
	}
	c, mistakes, err := files.Serving()
	if err == nil && opts.Inherited != nil {
		err = errors.Join(mistakes...) // its tunnels are there, and to stay
	}
	if err != nil {
		return nil, err
	}
	charon := &charonlog.Log{}
	defer charon.Close()
	opts.Log = slog.New(charon.Handler(opts.Log.Handler()))
	d := &Daemon{charon: charon, files: files, opts: opts, log: opts.Log, started: time.Now(), notes: newNotes(opts.Log), router: newRouter(opts.Log, opts.LogLevel)}
	d.openCharonLogs(c)
	logWarnings(d.log, c.Warnings)
	d.config.Store(c)
	d.reload.Store(&status.Reload{At: d.started, OK: true, SuccessAt: d.started})
	d.engine.Store(&ike.Snapshot{Taken: d.started})
	d.counted.Store(&kernelStatus{})
	d.traps.Store(new([]status.Trap))

	// What runs until the very end, and what ends first.
	base, stop := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	if err := d.prepare(base, c, mistakes); err != nil {
		return nil, err
	}
	defer d.socks.close()
	d.report(mistakes)
	d.goAll(base, &wg)
	servers, err := d.serve(c)
	defer closeAll(servers)
	if err != nil {
		return nil, err
	}
	d.opts.Notify(sdnotify.Ready)
	d.log.Info("ipsecd is running", "version", opts.Version, "config", strings.Join(c.Files, " "), "connections", len(c.IKE.Connections))
	if next := d.wait(ctx); next != nil {
		scripts, done := context.WithTimeout(context.Background(), updownStop)
		defer done()
		d.updown.Wait(scripts)
		return next, nil
	}
	d.opts.Notify(sdnotify.Stopping)
	return nil, d.shutdown()
}

// report says which connections are left out.
func (d *Daemon) report(mistakes []error) {
	for _, err := range mistakes {
		d.log.Error("a connection is left out for a mistake", "err", err)
	}
	if err := errors.Join(mistakes...); err != nil {
		d.reload.Store(&status.Reload{At: d.started, Err: err.Error()})
	}
}

// prepare makes the parts and brings the kernel into its first state: guards and traps
// before anything else. A connection with a mistake is left out only where the kernel has no policies of an earlier process:
// those without a connection go, and what they protect would leave in the clear.
func (d *Daemon) prepare(ctx context.Context, c *config.Config, mistakes []error) error {
	events, err := d.opts.Kernel.Events(ctx)
	if err != nil {
		return fmt.Errorf("listening to the kernel's IPsec events: %w", err)
	}
	queue := newEventQueue()
	in := newInstaller(d.opts.Kernel, ownerOf(c), d.log, queue.put)
	if len(mistakes) > 0 && in.inherits() {
		return errors.Join(mistakes...)
	}
	in.routes.open, in.virtual.kernel = d.opts.Routes, d.opts.VirtualIPs
	in.trapsSet = func(list []status.Trap) { d.traps.Store(&list) }
	if d.socks, err = openSockets(c.Ports, d.opts.Inherited); err != nil {
		return err
	}
	d.fetcher = revocation.New(ctx, revocation.Options(c.Revocation))
	d.names = newResolver(queue.put, func() { d.router.configure(d.routerConfig(d.config.Load())) })
	d.updown = updown.New(d.log, updownOptions(c), outgoing)
	engine := ike.New(d.engineConfig(c), d.opts.Rand, 0)
	d.readAddresses(time.Now(), engine, c)
	if err := d.inherit(engine, in); err != nil {
		return err
	}
	in.report("virtual addresses", in.virtual.configure(c.Routing.VirtualIPs))
	in.report("source routes", in.routes.configure(c.Routing.SourceRoutes, waysOf(c)))
	if err := in.keepLeftovers(reqidsOf(c, engine.ReqID)); err != nil {
		return fmt.Errorf("looking at the kernel's IPsec state: %w", err)
	}
	engine.NumberAbove(in.leftNumbers())
	d.laid = trapsOf(c, engine.ReqID, sourceOf(c), nil)
	if err := in.takeOver(fixtureOf(c), d.laid); err != nil {
		return fmt.Errorf("taking over the kernel's IPsec state: %w", err)
	}
	d.kernel = newKernelLoop(in, events, d.counted.Store)
	d.loop = &engineLoop{
		engine:  engine,
		intake:  newIntake(),
		events:  queue,
		calls:   make(chan func(time.Time, *ike.Engine)),
		kernel:  d.kernel.actions,
		jobs:    make(chan ike.Compute),
		send:    d.send,
		resolve: func(a ike.Resolve) { d.names.start(ctx, a) },
		updown:  d.updown.Put,
		notes:   d.notes,
		publish: d.engine.Store,
	}
	d.setAcquireExpiry(c)
	d.router.configure(d.routerConfig(c))
	return nil
}

// ownerOf tells our kernel objects from others': by the reqids that the engine
// assigns, and those that the configuration fixes.
func ownerOf(c *config.Config) xfrm.Owner {
	o := xfrm.DefaultOwner
	for _, conn := range c.IKE.Connections {
		for _, ch := range conn.Children {
			if ch.ReqID != 0 {
				o.ReqIDs = append(o.ReqIDs, ch.ReqID)
			}
		}
	}
	return o
}

// reqidsOf tells which reqids configured children have.
func reqidsOf(c *config.Config, of func(connection, child string) uint32) func(reqid uint32) bool {
	list := map[uint32]bool{}
	for _, conn := range c.IKE.Connections {
		for _, ch := range conn.Children {
			list[of(conn.Name, ch.Name)] = true
		}
	}
	return func(reqid uint32) bool { return list[reqid] }
}

// engineConfig is the engine's part of the configuration, with what only the
// host can tell.
func (d *Daemon) engineConfig(c *config.Config) *ike.Config {
	e := c.IKE
	e.Credentials = e.Credentials.WithFetcher(d.fetcher)
	e.ReqIDBase = xfrm.DefaultOwner.ReqIDBase
	e.Source, e.Routed = sourceOf(c), d.addrs.routed
	e.CPUs = d.cpus(c)
	return &e
}

// readAddresses tells the engine which addresses it has with a configuration.
func (d *Daemon) readAddresses(now time.Time, e *ike.Engine, c *config.Config) {
	l, err := d.addrs.read(tunnelNames(c), waysOf(c))
	if err != nil {
		d.log.Error("could not read the host's addresses", "err", err)
		return
	}
	e.HandleEvent(now, ike.AddressChanged{Addrs: l.addrs})
}

// tunnelNames are the names of our xfrm interfaces.
func tunnelNames(c *config.Config) map[string]bool {
	tunnels := map[string]bool{}
	for _, i := range c.Interfaces {
		tunnels[i.Name] = true
	}
	return tunnels
}

// waysOf says which ways to peers count.
func waysOf(c *config.Config) lookup.Filter {
	w := c.Routing.Ways
	return lookup.Filter{Use: w.UseLinks, Ignore: w.IgnoreLinks, Tables: w.IgnoreTables}
}

// sourceOf returns the look-up of our address towards a peer.
func sourceOf(c *config.Config) func(netip.Addr) netip.Addr {
	tunnels, ways := tunnelNames(c), waysOf(c)
	return func(remote netip.Addr) netip.Addr { return sourceAddress(remote, tunnels, ways) }
}

func (d *Daemon) goAll(ctx context.Context, wg *sync.WaitGroup) {
	wg.Go(func() { d.kernel.run(ctx) })
	wg.Go(func() { d.loop.run(ctx) })
	wg.Go(func() { d.router.run(ctx) })
	roam := &roam{addrs: &d.addrs, config: d.config.Load, emit: d.loop.events.put, log: d.log}
	wg.Go(func() { roam.run(ctx) })
	for range runtime.NumCPU() * workersPerCPU {
		wg.Go(func() { d.loop.work(ctx) })
	}
	d.socks.receive(ctx, d.loop.intake, d.addrs.ignores)
}

// serve starts VICI and metrics. What has started is returned even on an error.
func (d *Daemon) serve(c *config.Config) ([]io.Closer, error) {
	uri := d.opts.VICI
	if uri == "" {
		uri = c.Control.VICI
	}
	v, err := vici.Listen(uri, d, d.log)
	if err != nil {
		return nil, err
	}
	if c.Metrics.Listen == "" {
		return []io.Closer{v}, nil
	}
	m, err := metrics.Listen(c.Metrics.Listen, d, d.log)
	if err != nil {
		return []io.Closer{v}, err
	}
	return []io.Closer{v, m}, nil
}

func closeAll(list []io.Closer) {
	for _, c := range list {
		c.Close()
	}
}

// wait handles reloads and the watchdog until ctx ends, or until the state is ready for another process.
func (d *Daemon) wait(ctx context.Context) *handover.Bundle {
	alive := time.NewTicker(watchdogInterval)
	defer alive.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-d.opts.Upgrade:
			next, err := d.handOver(ctx)
			if err == nil {
				return next
			}
			d.log.Error("no handover to another process; this one goes on", "err", err)
		case <-d.opts.Hangup:
			d.opts.Notify(sdnotify.Reloading)
			_, _ = d.Reload(ctx, false) // it reports
			d.opts.Notify(sdnotify.Ready)
		case <-alive.C:
			// The engine's goroutine answers, or the service manager restarts us.
			if d.loop.call(ctx, func(time.Time, *ike.Engine) {}) == nil {
				d.opts.Notify("WATCHDOG=1")
			}
		}
	}
}

// shutdown deletes all SAs, at the peers too where they answer in time, and
// then everything of ours in the kernel but the guards.
func (d *Daemon) shutdown() error {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTime)
	defer cancel()
	d.loop.events.put(ike.Shutdown{})
	for idle := false; !idle && ctx.Err() == nil; {
		err := d.loop.call(ctx, func(_ time.Time, e *ike.Engine) { idle = e.Idle() })
		if err != nil || idle {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
	scripts, done := context.WithTimeout(context.Background(), updownStop)
	defer done()
	if !d.updown.Close(scripts) {
		d.log.Error("updown scripts are still running; the daemon ends without them", "waited", updownStop)
	}
	return d.kernel.call(context.Background(), (*installer).clear)
}

func (d *Daemon) send(a ike.Send) {
	if err := d.socks.send(a); err != nil {
		// The retransmission tries again; the peer is not declared dead by this.
		d.log.Debug("could not send", "to", a.Remote.String(), "err", err)
	}
}

// openCharonLogs opens the logs of the section charon, anew if they are open.
func (d *Daemon) openCharonLogs(c *config.Config) {
	if err := d.charon.Configure(c.CharonLogs); err != nil {
		d.log.Error("a log of section charon is not written", "err", err)
	}
}

func logWarnings(log *slog.Logger, list []config.Warning) {
	for _, w := range list {
		log.Warn(w.String())
	}
}
