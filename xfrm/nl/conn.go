package nl

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// Socket buffers, bytes. The kernel dumps in messages of up to 32 KiB.
const (
	messageBuffer = 64 << 10
	receiveBuffer = 4 << 20
)

// maxDumpTries bounds how often a dump is repeated that changes interrupted.
const maxDumpTries = 5

// dial opens a request socket.
func dial() (*conn, error) {
	c := &conn{open: openXFRM}
	var err error
	if c.c, err = c.open(); err != nil {
		return nil, err
	}
	c.port.Store(portOf(c.c))
	return c, nil
}

func openXFRM() (*netlink.Conn, error) {
	c, err := netlink.Dial(unix.NETLINK_XFRM, &netlink.Config{MessageBufferSize: messageBuffer})
	if err != nil {
		return nil, fmt.Errorf("xfrm: cannot open an XFRM netlink socket (module xfrm_user): %w", err)
	}
	// Without it errors have no text; nothing else depends on it.
	_ = c.SetOption(netlink.ExtendedAcknowledge, true)
	return c, nil
}

// conn makes requests, one at a time. When a request ends other than by the
// kernel's answer (a signal, ENOBUFS, a reply cut short), late replies could be
// taken for the next request's: the socket is replaced.
type conn struct {
	open func() (*netlink.Conn, error)

	port atomic.Uint32 // of c, in messages that its requests caused

	mu sync.Mutex // guards c
	c  *netlink.Conn
}

func (c *conn) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.c == nil {
		return nil
	}
	return c.c.Close()
}

// do makes a request that the kernel acknowledges.
func (c *conn) do(typ netlink.HeaderType, flags netlink.HeaderFlags, body []byte) error {
	_, err := c.exchange(typ, netlink.Request|netlink.Acknowledge|flags, body)
	return err
}

// get makes a request that the kernel answers by one message.
func (c *conn) get(typ netlink.HeaderType, body []byte) ([]byte, error) {
	msgs, err := c.exchange(typ, netlink.Request, body)
	if err != nil {
		return nil, err
	}
	if len(msgs) != 1 {
		return nil, fmt.Errorf("xfrm: %d replies, expected one", len(msgs))
	}
	return msgs[0].Data, nil
}

// dump asks for all objects of a kind. A dump during which the kernel's tables
// changed may lack objects or have them twice: it is repeated.
func (c *conn) dump(typ netlink.HeaderType) ([]netlink.Message, error) {
	for range maxDumpTries {
		msgs, err := c.exchange(typ, netlink.Request|netlink.Dump, nil)
		if err != nil {
			return nil, err
		}
		if !interrupted(msgs) {
			return msgs, nil
		}
	}
	return nil, fmt.Errorf("xfrm: dump interrupted by changes %d times", maxDumpTries)
}

func interrupted(msgs []netlink.Message) bool {
	for _, m := range msgs {
		if m.Header.Flags&unix.NLM_F_DUMP_INTR != 0 {
			return true
		}
	}
	return false
}

func (c *conn) exchange(typ netlink.HeaderType, flags netlink.HeaderFlags, body []byte) ([]netlink.Message, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.c == nil {
		var err error
		if c.c, err = c.open(); err != nil {
			return nil, err
		}
		c.port.Store(portOf(c.c))
	}
	msgs, err := exchange(c.c, netlink.Message{Header: netlink.Header{Type: typ, Flags: flags}, Data: body})
	if err != nil && !isAnswer(err) {
		_ = c.c.Close()
		c.c = nil
	}
	return msgs, err
}

// exchange sends a request and returns the messages that answer it.
func exchange(c *netlink.Conn, m netlink.Message) ([]netlink.Message, error) {
	req, err := c.Send(m)
	if err != nil {
		return nil, err
	}
	for {
		msgs, err := c.Receive()
		if err != nil {
			return nil, err
		}
		if len(msgs) == 0 {
			return nil, nil // the end of an empty dump
		}
		if msgs[0].Header.Sequence != req.Header.Sequence {
			continue // nobody else's replies come here, but the kernel may
		}
		return msgs, nil
	}
}
