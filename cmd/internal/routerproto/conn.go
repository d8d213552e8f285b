package routerproto

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// Conn is one end of the socket pair. Send may be called by several goroutines,
// Receive by one.
type Conn struct {
	c  io.ReadWriteCloser
	r  *bufio.Reader
	mu sync.Mutex // serialises writes
}

// NewConn takes ownership of c.
func NewConn(c io.ReadWriteCloser) *Conn {
	return &Conn{c: c, r: bufio.NewReader(c)}
}

// Socketpair returns the keying process's end, and the file to pass to the
// router process as descriptor FD (the first of exec.Cmd.ExtraFiles). Close the
// file once the process has started.
func Socketpair() (*Conn, *os.File, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("routerproto: socketpair: %w", err)
	}
	child := os.NewFile(uintptr(fds[1]), "router socket")
	parent, err := fromFile(os.NewFile(uintptr(fds[0]), "router socket"))
	if err != nil {
		child.Close()
		return nil, nil, err
	}
	return parent, child, nil
}

// Inherited returns the router process's end, found on descriptor FD.
func Inherited() (*Conn, error) {
	unix.CloseOnExec(FD)
	c, err := fromFile(os.NewFile(FD, "router socket"))
	if err != nil {
		return nil, fmt.Errorf("%w (the router process is started by ipsecd, not by hand)", err)
	}
	return c, nil
}

// fromFile consumes f.
func fromFile(f *os.File) (*Conn, error) {
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		return nil, fmt.Errorf("routerproto: descriptor %d is no socket: %w", f.Fd(), err)
	}
	return NewConn(c), nil
}

// Send writes one message. It blocks while the other side does not read.
func (c *Conn) Send(m Message) error {
	b, err := Append(nil, m)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.c.Write(b); err != nil {
		return fmt.Errorf("routerproto: send: %w", err)
	}
	return nil
}

// Receive reads one message, and returns io.EOF when the other side has closed.
func (c *Conn) Receive() (Message, error) { return Read(c.r) }

// Close ends both directions.
func (c *Conn) Close() error { return c.c.Close() }
