package vici

import (
	"context"
	"errors"
	"net"
	"runtime/debug"
	"sync"
	"time"
)

const (
	outQueue  = 256              // packets that wait for a client
	writeTime = 30 * time.Second // a client that takes nothing for so long is dropped

	// replyPause passes between the events of a command and its reply: govici up to
	// 0.8 loses events that it has not handed out when the reply arrives.
	replyPause = 5 * time.Millisecond
)

// conn is one client. Its requests are served in order on the reading goroutine;
// everything that is sent to it passes the queue, so that only a client that
// does not read waits for itself.
type conn struct {
	srv    *server
	nc     net.Conn
	ctx    context.Context
	cancel context.CancelFunc
	out    chan []byte
	report []byte // what is left of the answer to ipsecd-show

	mu     sync.Mutex
	events map[string]int // registrations by event name; registering twice delivers twice
}

func newConn(s *server, nc net.Conn) *conn {
	ctx, cancel := context.WithCancel(s.ctx)
	return &conn{srv: s, nc: nc, ctx: ctx, cancel: cancel, out: make(chan []byte, outQueue), events: map[string]int{}}
}

func (c *conn) close() {
	c.cancel()
	c.nc.Close()
}

// write sends what is queued until the connection ends.
func (c *conn) write() {
	defer c.close()
	for {
		select {
		case <-c.ctx.Done():
			return
		case b := <-c.out:
			_ = c.nc.SetWriteDeadline(time.Now().Add(writeTime))
			if _, err := c.nc.Write(b); err != nil {
				return
			}
		}
	}
}

// read serves the client's packets until the connection ends.
func (c *conn) read() {
	defer c.srv.forget(c)
	defer c.close()
	for {
		p, err := readPacket(c.nc)
		var bad packetError
		if errors.As(err, &bad) {
			c.srv.log.Warn("undecodable VICI packet", "err", err)
			continue
		}
		if err != nil {
			return
		}
		if !c.handle(p) {
			return
		}
	}
}

// handle answers one packet; false ends the connection.
func (c *conn) handle(p packet) bool {
	switch p.kind {
	case cmdRequest:
		return c.request(p)
	case eventRegister:
		return c.register(p.name, 1)
	case eventUnregister:
		return c.register(p.name, -1)
	}
	c.srv.log.Warn("VICI packet that only a server sends", "type", p.kind)
	return true
}

func (c *conn) register(name string, delta int) bool {
	c.mu.Lock()
	ok := eventNames[name] && c.events[name]+delta >= 0
	if ok {
		c.events[name] += delta
	}
	c.mu.Unlock()
	if ok {
		return c.send(packet{kind: eventConfirm})
	}
	return c.send(packet{kind: eventUnknown})
}

func (c *conn) registered(event string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.events[event]
}

// send queues a packet, waiting for a client that reads slowly. It is for the
// client's own goroutine only.
func (c *conn) send(p packet) bool {
	b, err := p.append(nil)
	if err != nil {
		c.srv.log.Error("VICI reply discarded", "err", err)
		return true
	}
	select {
	case c.out <- b:
		return true
	case <-c.ctx.Done():
		return false
	}
}

// offer queues an event if there is room, and drops the client if there is not.
func (c *conn) offer(b []byte) {
	select {
	case c.out <- b:
	default:
		c.srv.log.Warn("VICI client does not read its events; closing it")
		c.close()
	}
}

// request runs a command and answers it.
func (c *conn) request(p packet) bool {
	cmd, ok := commands[p.name]
	if !ok {
		return c.send(packet{kind: cmdUnknown})
	}
	req, err := Parse(p.body)
	if err != nil {
		// As strongSwan does: logged, not answered.
		c.srv.log.Warn("undecodable VICI message", "command", p.name, "err", err)
		return true
	}
	var reply Builder
	call := &call{conn: c, req: req, ctl: c.srv.ctl, reply: &reply}
	if err := c.run(cmd, call); err != nil {
		reply = Builder{}
		reply.Key("success", "no")
		if call.failure != nil {
			call.failure(&reply)
		}
		reply.Key("errmsg", err.Error())
	}
	if call.streamed {
		time.Sleep(replyPause)
	}
	return c.send(packet{kind: cmdResponse, body: reply.Bytes()})
}

// run runs a command. A fault in one must not end the daemon and its tunnels.
func (c *conn) run(cmd func(*call) error, arg *call) (err error) {
	defer func() {
		if r := recover(); r != nil {
			c.srv.log.Error("fault in a VICI command; please report it", "fault", r, "stack", string(debug.Stack()))
			err = errors.New("internal error in ipsecd; its log has the details")
		}
	}()
	return cmd(arg)
}
