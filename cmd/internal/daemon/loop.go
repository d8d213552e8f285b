package daemon

import (
	"context"
	"slices"
	"sort"
	"time"

	"github.com/ipsecd/ipsecd/ike"
)

// The engine goroutine's timing and queues.
const (
	publishInterval = 50 * time.Millisecond // between two snapshots while things change
	publishShare    = 20                    // taking snapshots costs at most this part of the time
	idleSleep       = time.Hour             // when no timer is set
	workersPerCPU   = 1                     // for public-key work
)

// engineLoop owns the engine. Everything that happens comes in through its
// channels; what the engine wants leaves through do.
type engineLoop struct {
	engine  *ike.Engine
	intake  *intake
	events  *eventQueue
	calls   chan func(now time.Time, e *ike.Engine)
	kernel  chan<- ike.Action
	jobs    chan ike.Compute
	send    func(ike.Send)
	resolve func(ike.Resolve)
	updown  func(ike.UpDown)
	notes   *notes
	publish func(*ike.Snapshot)

	kernelQueue []ike.Action  // not yet taken by the kernel goroutine
	jobQueue    []ike.Compute // not yet taken by a worker, by class
	started     bool
	dirty       bool
	published   time.Time
	took        time.Duration
}

func (l *engineLoop) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		kernel, action := l.nextKernel()
		jobs, job := l.nextJob()
		strangers := l.intake.strangers.ready
		if len(l.intake.packets) > 0 {
			strangers = nil // peers first
		}
		select {
		case <-ctx.Done():
			return
		case p := <-l.intake.packets:
			l.engine.HandlePacket(time.Now(), p)
		case <-strangers:
			if p, ok := l.intake.strangers.take(); ok {
				l.engine.HandlePacket(time.Now(), p)
			}
		case <-l.events.ready:
			for _, ev := range l.events.take() {
				l.engine.HandleEvent(time.Now(), ev)
			}
		case f := <-l.calls:
			f(time.Now(), l.engine)
			l.drain()
			l.publishNow(time.Now())
		case now := <-timer.C:
			if !l.timeout(now) {
				timer.Reset(l.wait(time.Now()))
				continue
			}
		case kernel <- action:
			l.kernelQueue = l.kernelQueue[1:]
			continue
		case jobs <- job:
			l.jobQueue = l.jobQueue[1:]
			continue
		}
		l.drain()
		l.dirty = true
		timer.Reset(l.wait(time.Now()))
	}
}

// nextKernel and nextJob return a nil channel when there is nothing to hand out.
func (l *engineLoop) nextKernel() (chan<- ike.Action, ike.Action) {
	if len(l.kernelQueue) == 0 {
		return nil, nil
	}
	return l.kernel, l.kernelQueue[0]
}

func (l *engineLoop) nextJob() (chan<- ike.Compute, ike.Compute) {
	if len(l.jobQueue) == 0 {
		return nil, ike.Compute{}
	}
	return l.jobs, l.jobQueue[0]
}

// queueJob puts a job behind those of its class and of those that go first.
func (l *engineLoop) queueJob(job ike.Compute) {
	at := sort.Search(len(l.jobQueue), func(i int) bool { return l.jobQueue[i].Class > job.Class })
	l.jobQueue = slices.Insert(l.jobQueue, at, job)
}

// drain carries out the engine's actions, or queues them for their goroutine.
func (l *engineLoop) drain() {
	for {
		a, ok := l.engine.NextAction()
		if !ok {
			break
		}
		switch a := a.(type) {
		case ike.Send:
			l.send(a)
		case ike.Compute:
			l.compute(a)
		case ike.Resolve:
			l.resolve(a)
		case ike.UpDown:
			l.updown(a)
		case ike.Note:
			l.notes.publish(a)
		default:
			l.kernelQueue = append(l.kernelQueue, a)
		}
	}
}

// compute queues a job for the workers. One that waits for the network gets a goroutine: there
// are as many as there are IKE SAs that wait, and its time is bounded.
func (l *engineLoop) compute(job ike.Compute) {
	if job.Waits {
		go func() { l.events.put(ike.Computed{ID: job.ID, Result: job.Run()}) }()
		return
	}
	l.queueJob(job)
}

// timeout runs the engine's timers. It reports false when none was due: the
// wait was only for the next snapshot.
func (l *engineLoop) timeout(now time.Time) bool {
	if next, ok := l.engine.NextTimeout(); l.started && (!ok || next.After(now)) {
		return false
	}
	l.started = true // the first call starts the connections
	l.engine.HandleTimeout(now)
	return true
}

// wait publishes when it is time and returns how long to sleep.
func (l *engineLoop) wait(now time.Time) time.Duration {
	d := idleSleep
	if next, ok := l.engine.NextTimeout(); ok {
		d = next.Sub(now)
	}
	if l.dirty {
		due := l.published.Add(max(publishInterval, l.took*publishShare))
		if !now.Before(due) {
			l.publishNow(now)
		} else {
			d = min(d, due.Sub(now))
		}
	}
	return max(d, 0)
}

func (l *engineLoop) publishNow(now time.Time) {
	l.publish(l.engine.Snapshot(now))
	l.published, l.took, l.dirty = now, time.Since(now), false
}

// call runs f on the engine's goroutine, publishes, and returns.
func (l *engineLoop) call(ctx context.Context, f func(now time.Time, e *ike.Engine)) error {
	done := make(chan struct{})
	select {
	case l.calls <- func(now time.Time, e *ike.Engine) { f(now, e); close(done) }:
	case <-ctx.Done():
		return ctx.Err()
	}
	<-done
	return nil
}

// work runs public-key computations until ctx ends.
func (l *engineLoop) work(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case job := <-l.jobs:
			l.events.put(ike.Computed{ID: job.ID, Result: job.Run()})
		}
	}
}
