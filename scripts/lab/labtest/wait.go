package labtest

import (
	"testing"
	"time"
)

// pollInterval is how often WaitFor looks.
const pollInterval = 100 * time.Millisecond

// WaitFor calls cond until it returns nil, and returns how long that took. When
// it has not by the deadline, t fails with what was awaited and cond's last
// error.
func WaitFor(t testing.TB, deadline time.Duration, what string, cond func() error) time.Duration {
	t.Helper()
	start := time.Now()
	for {
		err := cond()
		took := time.Since(start)
		if err == nil {
			return took
		}
		if took > deadline {
			t.Fatalf("%s: not within %v: %v", what, deadline, err)
		}
		time.Sleep(pollInterval)
	}
}
