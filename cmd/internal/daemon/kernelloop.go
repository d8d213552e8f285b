package daemon

import (
	"context"
	"time"

	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/xfrm"
)

// The kernel goroutine's timing.
const (
	pollInterval  = 2 * time.Second        // between two counts of traffic
	pollShare     = 20                     // a poll takes at most this part of the time
	pollFresh     = 200 * time.Millisecond // counts that are younger serve a reader too
	auditInterval = 30 * time.Second       // between two comparisons with the kernel
)

// kernelLoop owns the installer. Actions arrive in order; kernel events go to
// the engine; every pollInterval the SAs are counted.
type kernelLoop struct {
	in      *installer
	actions chan ike.Action
	calls   chan func(*installer)
	refresh chan chan struct{}
	publish func(*kernelStatus)
	events  <-chan xfrm.Event

	polled time.Time
	took   time.Duration

	recheck   *time.Timer // set when somebody touched what is ours
	checked   time.Time
	checkTook time.Duration
}

func newKernelLoop(in *installer, events <-chan xfrm.Event, publish func(*kernelStatus)) *kernelLoop {
	return &kernelLoop{
		in:      in,
		actions: make(chan ike.Action, 64),
		calls:   make(chan func(*installer)),
		refresh: make(chan chan struct{}),
		publish: publish,
		events:  events,
		recheck: stoppedTimer(),
	}
}

func stoppedTimer() *time.Timer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}

func (k *kernelLoop) run(ctx context.Context) {
	poll := time.NewTimer(pollInterval)
	defer poll.Stop()
	audit := time.NewTicker(auditInterval)
	defer audit.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case a := <-k.actions:
			k.in.perform(a)
		case f := <-k.calls:
			f(k.in)
		case done := <-k.refresh:
			if time.Since(k.polled) > pollFresh {
				k.poll()
			}
			close(done)
		case ev, ok := <-k.events:
			if !ok {
				k.events = nil
				continue
			}
			k.event(ev)
		case <-poll.C:
			k.poll()
			poll.Reset(max(pollInterval, k.took*pollShare))
		case <-audit.C:
			k.audit()
		case <-k.recheck.C:
			k.check()
		}
	}
}

// call runs f on the kernel goroutine and waits for it.
func (k *kernelLoop) call(ctx context.Context, f func(*installer) error) error {
	result := make(chan error, 1)
	select {
	case k.calls <- func(in *installer) { result <- f(in) }:
		return <-result
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (k *kernelLoop) poll() {
	start := time.Now()
	k.in.dropLeftovers()
	s, err := k.in.poll()
	k.polled, k.took = time.Now(), time.Since(start)
	if err != nil {
		k.in.log.Error("could not read the kernel's SAs", "err", err)
		return
	}
	s.taken = k.polled
	k.publish(s)
}

func (k *kernelLoop) audit() {
	if err := k.in.audit(); err != nil {
		k.in.log.Error("audit of the kernel's policies and interfaces failed", "err", err)
	}
	k.in.report("virtual address", k.in.virtual.audit())
	k.in.auditRoutes()
}

// check compares everything with the kernel. Policies come first: until they are
// back, packets may leave in the clear.
func (k *kernelLoop) check() {
	start := time.Now()
	k.audit()
	k.poll()
	k.checked, k.checkTook = time.Now(), time.Since(start)
}

// touched has everything compared: at once, unless somebody touches so much that
// comparing would take more than its share of the time.
func (k *kernelLoop) touched() {
	k.recheck.Reset(k.recheckDelay(time.Now()))
}

func (k *kernelLoop) recheckDelay(now time.Time) time.Duration {
	return max(0, k.checkTook*pollShare-now.Sub(k.checked))
}

// event passes on what the kernel reports.
func (k *kernelLoop) event(ev xfrm.Event) {
	switch ev := ev.(type) {
	case xfrm.AcquireEvent:
		k.in.emit(acquire(ev))
	case xfrm.ExpireEvent:
		id := ev.SA.ID()
		if _, ours := k.in.bySPI[id]; !ours {
			return
		}
		if ev.Hard {
			delete(k.in.bySPI, id)
		}
		k.in.emit(ike.Expire{SPI: uint32(id.SPI), Dst: id.Dst, Hard: ev.Hard})
	case xfrm.MappingEvent:
		if _, ours := k.in.bySPI[ev.ID]; ours {
			k.in.emit(ike.PeerMoved{SPI: uint32(ev.ID.SPI), New: ev.New})
		}
	case xfrm.RemovedEvent:
		if ev.AllPolicies {
			k.in.reguard()
		}
		k.touched()
	case xfrm.LinkEvent:
		if ev.Deleted && k.in.links.wants(ev.Name) {
			k.touched()
		}
	case xfrm.OverrunEvent:
		k.in.log.Warn("the kernel's event queue overran; comparing everything anew", "err", ev.Err)
		k.check()
	}
}

func acquire(ev xfrm.AcquireEvent) ike.Acquire {
	src := addrPort(ev.Packet.Src.Addr(), ev.Packet.SrcPort)
	dst := addrPort(ev.Packet.Dst.Addr(), ev.Packet.DstPort)
	return ike.Acquire{ReqID: ev.ReqID, IfID: ev.Policy.IfID, CPU: ike.CPU(ev.CPU), Seq: ev.Seq, Src: src, Dst: dst, Protocol: ev.Packet.Proto}
}
