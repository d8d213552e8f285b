package vici

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/ipsecd/ipsecd/ike"
)

// controlPoll is how often a waiting command looks at the status.
const controlPoll = 50 * time.Millisecond

// waiting is what a command that controls the engine waits for.
type waiting struct {
	event      ike.Event
	timeout    time.Duration // 0: for ever; less: not at all
	connection string        // whose log the client gets; empty: every connection's
	failed     string        // begins the error of a failure
	late       string        // begins the error of a timeout
	// done sees every note, and nil now and then.
	done func(*ike.Note) (bool, error)
}

// timeout reads the key timeout in milliseconds.
func (c *call) timeout() (time.Duration, error) {
	s := c.req.Keys["timeout"]
	if s == "" {
		return 0, nil
	}
	ms, err := strconv.ParseInt(s, 0, 32)
	if err != nil {
		return 0, fmt.Errorf("timeout: milliseconds are expected, not %s", quote(s))
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// await hands the event to the engine and waits for its effect, sending the log
// to the client meanwhile.
func (c *call) await(w waiting) error {
	level, err := c.logLevel()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(c.conn.ctx)
	defer cancel()
	notes := c.ctl.Notes(ctx)
	if err := c.ctl.Do(ctx, w.event); err != nil {
		return err
	}
	if w.timeout < 0 {
		return c.ok()
	}
	var deadline <-chan time.Time
	if w.timeout > 0 {
		deadline = time.After(w.timeout)
	}
	tick := time.NewTicker(controlPoll)
	defer tick.Stop()
	for {
		var note *ike.Note
		select {
		case <-c.conn.ctx.Done():
			return c.conn.ctx.Err()
		case <-deadline:
			return fmt.Errorf("%s after %dms", w.late, w.timeout.Milliseconds())
		case n, ok := <-notes:
			if !ok {
				return errors.New("the daemon is stopping")
			}
			note = &n
			if n.Text != "" && (w.connection == "" || n.Connection == w.connection) && logLevel(n) <= level {
				c.stream("control-log", func(b *Builder) { writeLog(b, n) })
			}
		case <-tick.C:
		}
		end, err := w.done(note)
		if err != nil {
			return fmt.Errorf("%s: %w", w.failed, err)
		}
		if end {
			return c.ok()
		}
	}
}

// logLevel reads the key loglevel: the highest level of the log that the client
// wants.
func (c *call) logLevel() (int, error) {
	s := c.req.Keys["loglevel"]
	if s == "" {
		return 1, nil
	}
	n, err := strconv.ParseInt(s, 0, 8)
	if err != nil {
		return 0, fmt.Errorf("loglevel: a number from -1 to 4 is expected, not %s", quote(s))
	}
	return int(n), nil
}
