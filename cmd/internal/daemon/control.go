package daemon

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/ipsecd/ipsecd/cmd/internal/config"
	"github.com/ipsecd/ipsecd/cmd/internal/revocation"
	"github.com/ipsecd/ipsecd/cmd/internal/status"
	"github.com/ipsecd/ipsecd/ike"
)

// Status returns the present state of everything.
func (d *Daemon) Status() *status.Status {
	k := d.counted.Load()
	return &status.Status{
		Started:        d.started,
		Version:        d.opts.Version,
		Config:         d.config.Load(),
		Loaded:         d.loaded.Load(),
		Engine:         d.engine.Load(),
		Traffic:        k.traffic,
		Totals:         k.totals,
		UpSince:        k.upSince,
		Traps:          *d.traps.Load(),
		Kernel:         d.kernelStatus(k),
		Router:         d.router.status.Load(),
		RouterRestarts: int(d.router.restarts.Load()),
		Reload:         *d.reload.Load(),
	}
}

func (d *Daemon) kernelStatus(k *kernelStatus) status.Kernel {
	s := k.kernel
	errs, err := xfrmErrors()
	if err != nil {
		d.log.Debug("no XFRM error counters", "err", err)
	}
	s.Errors = errs
	ports := d.config.Load().Ports
	if s.SocketDrops, err = socketDrops(ports.IKE, ports.NATT); err != nil {
		d.log.Debug("no counts of dropped messages", "err", err)
	}
	s.SocketDrops += d.loop.intake.strangers.dropped()
	return s
}

// Refresh makes the next Status current, traffic counts included.
func (d *Daemon) Refresh(ctx context.Context) error {
	if err := d.loop.call(ctx, func(time.Time, *ike.Engine) {}); err != nil { // it publishes
		return err
	}
	done := make(chan struct{})
	select {
	case d.kernel.refresh <- done:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Do hands an event to the engine.
func (d *Daemon) Do(ctx context.Context, ev ike.Event) error {
	return d.loop.call(ctx, func(now time.Time, e *ike.Engine) { e.HandleEvent(now, ev) })
}

// Fetched returns what is kept of what was fetched about revoked certificates.
func (d *Daemon) Fetched() status.Fetched {
	crls, ocsp := d.fetcher.Known()
	return status.Fetched{CRLs: crls, OCSP: ocsp}
}

// Flush drops it.
func (d *Daemon) Flush(crls, ocsp bool) { d.fetcher.Flush(crls, ocsp) }

// Notes returns the engine's notes from now on.
func (d *Daemon) Notes(ctx context.Context) <-chan ike.Note { return d.notes.subscribe(ctx) }

// Reload reads the configuration again. A configuration with errors changes
// nothing.
func (d *Daemon) Reload(ctx context.Context, dryRun bool) (string, error) {
	d.reloadMu.Lock()
	defer d.reloadMu.Unlock()
	old := d.config.Load()
	files, c, loaded, err := d.readAnew()
	if err == nil && c.Ports != old.Ports {
		err = errors.New("the IKE ports cannot change while running; restart ipsecd")
	}
	if err == nil {
		err = c.NoLonger(old)
	}
	if err != nil {
		if !dryRun {
			d.reload.Store(&status.Reload{At: time.Now(), Err: err.Error(), SuccessAt: d.reload.Load().SuccessAt})
			d.log.Error("the configuration was not reloaded; the old one stays", "err", err)
		}
		return "", err
	}
	plan := config.Diff(old, c).String()
	if dryRun {
		return plan, nil
	}
	d.openCharonLogs(c)
	logWarnings(d.log, c.Warnings)
	if err := d.apply(ctx, c); err != nil {
		return "", err
	}
	d.files = files
	d.loaded.Store(loaded)
	now := time.Now()
	d.reload.Store(&status.Reload{At: now, OK: true, SuccessAt: now})
	d.notes.publish(ike.Note{Level: ike.LevelInfo, Group: "CFG", Text: "configuration reloaded: " + strings.ReplaceAll(strings.TrimSpace(plan), "\n", "; ")})
	return plan, nil
}

// apply makes c the configuration. The caller holds reloadMu.
func (d *Daemon) apply(ctx context.Context, c *config.Config) error {
	if err := d.kernel.call(ctx, func(in *installer) error {
		in.owner.ReqIDs = slices.Concat(in.owner.ReqIDs, ownerOf(c).ReqIDs) // the old ones are still in use
		slices.Sort(in.owner.ReqIDs)
		in.owner.ReqIDs = slices.Compact(in.owner.ReqIDs)
		in.report("virtual addresses", in.virtual.configure(c.Routing.VirtualIPs))
		in.report("source routes", in.routes.configure(c.Routing.SourceRoutes, waysOf(c)))
		return in.reconfigure(fixtureOf(c))
	}); err != nil {
		return err
	}
	old := d.config.Load()
	d.config.Store(c)
	d.updown.Configure(updownOptions(c))
	d.fetcher.Configure(revocation.Options(c.Revocation))
	d.setAcquireExpiry(c)
	d.router.configure(d.routerConfig(c))
	err := d.loop.call(ctx, func(now time.Time, e *ike.Engine) {
		e.HandleEvent(now, ike.Reconfigure{Config: d.engineConfig(c)})
		if !reflect.DeepEqual(old.Routing.Ways, c.Routing.Ways) {
			d.readAddresses(now, e, c)
		}
		d.laid = trapsOf(c, e.ReqID, sourceOf(c), d.laid)
	})
	if err != nil {
		return err
	}
	return d.kernel.call(ctx, func(in *installer) error { return in.setTraps(d.laid) })
}
