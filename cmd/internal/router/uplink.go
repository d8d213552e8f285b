package router

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/ipsecd/ipsecd/cmd/internal/routerproto"
)

// uplink sends status and log records without ever making the router wait: a
// keying process that does not read costs records, not failovers.
type uplink struct {
	conn *routerproto.Conn
	wake chan struct{}
	stop chan struct{}
	done chan struct{}

	mu      sync.Mutex
	logs    []routerproto.Log
	dropped int
	status  *routerproto.Status // the latest not yet sent
}

func newUplink(conn *routerproto.Conn) *uplink {
	u := &uplink{conn: conn, wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	go u.run()
	return u
}

// log queues a record. It never fails.
func (u *uplink) log(l routerproto.Log) error {
	u.mu.Lock()
	if len(u.logs) < logQueue {
		u.logs = append(u.logs, l)
	} else {
		u.dropped++
	}
	u.mu.Unlock()
	u.signal()
	return nil
}

// report replaces a status that was not sent yet.
func (u *uplink) report(s *routerproto.Status) {
	u.mu.Lock()
	u.status = s
	u.mu.Unlock()
	u.signal()
}

func (u *uplink) signal() {
	select {
	case u.wake <- struct{}{}:
	default:
	}
}

func (u *uplink) run() {
	defer close(u.done)
	for {
		select {
		case <-u.wake:
			if !u.flush() {
				return
			}
		case <-u.stop:
			u.flush()
			return
		}
	}
}

// flush sends what is queued and says whether the other side is there.
func (u *uplink) flush() bool {
	for _, m := range u.take() {
		if u.conn.Send(m) != nil {
			return false // its end is what Receive reports
		}
	}
	return true
}

func (u *uplink) take() (out []routerproto.Message) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for i := range u.logs {
		out = append(out, routerproto.Message{Log: &u.logs[i]})
	}
	if u.dropped > 0 {
		out = append(out, routerproto.Message{Log: &routerproto.Log{
			Time: time.Now(), Level: slog.LevelWarn, Message: fmt.Sprintf("%d log records of the router process were lost", u.dropped),
		}})
	}
	if u.status != nil {
		out = append(out, routerproto.Message{Status: u.status})
	}
	u.logs, u.dropped, u.status = nil, 0, nil
	return out
}

// close sends what is left, for as long as flushTimeout.
func (u *uplink) close() {
	close(u.stop)
	select {
	case <-u.done:
	case <-time.After(flushTimeout):
	}
}
