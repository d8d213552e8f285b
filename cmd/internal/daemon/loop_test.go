package daemon

import (
	"crypto/rand"
	"slices"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike"
)

// Who is established goes before who is being set up, and an address that asks for too much comes last.
func TestJobsAreQueuedByClass(t *testing.T) {
	l := &engineLoop{}
	for i, class := range []ike.JobClass{ike.JobBulk, ike.JobSetup, ike.JobEstablished, ike.JobBulk, ike.JobSetup, ike.JobEstablished} {
		l.compute(ike.Compute{ID: uint64(i), Class: class})
	}
	var got []uint64
	for _, job := range l.jobQueue {
		got = append(got, job.ID)
	}
	if want := []uint64{2, 5, 1, 4, 0, 3}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
}

// What waits for a CRL or an OCSP responder that hangs keeps no worker from the others, and the engine
// serves on.
func TestHangingFetchesDelayNobody(t *testing.T) {
	l := &engineLoop{
		engine: ike.New(&ike.Config{Limits: ike.DefaultLimits(), Timing: ike.DefaultTiming()}, rand.Reader, 0),
		intake: newIntake(), events: newEventQueue(), calls: make(chan func(time.Time, *ike.Engine)), jobs: make(chan ike.Compute),
		publish: func(*ike.Snapshot) {},
	}
	done := make(chan struct{})
	release := make(chan struct{})
	for i := range uint64(100) {
		l.compute(ike.Compute{ID: 1000 + i, Waits: true, Run: func() any { <-release; return nil }})
	}
	l.compute(ike.Compute{ID: 1, Run: func() any { close(done); return nil }})
	go l.run(t.Context())
	go l.work(t.Context()) // the only one
	<-done
	if err := l.call(t.Context(), func(time.Time, *ike.Engine) {}); err != nil {
		t.Error(err)
	}
	close(release)
}
