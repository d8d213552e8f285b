package vici

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ipsecd/ipsecd/cmd/internal/status"
)

// socketMode lets root and the socket's group in.
const socketMode = 0o660

// acceptPause keeps a failing accept from spinning.
const acceptPause = 100 * time.Millisecond

// server is one listening VICI socket and its connections.
type server struct {
	ctl    status.Control
	log    *slog.Logger
	ln     net.Listener
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup

	counted baseline

	mu    sync.Mutex
	conns map[*conn]bool
}

// Listen serves the protocol on a URI, unix:///path or tcp://host:port, until
// the returned Closer is closed. A socket file that nobody listens on any more
// is replaced.
func Listen(uri string, ctl status.Control, log *slog.Logger) (io.Closer, error) {
	ln, err := listen(uri)
	if err != nil {
		return nil, fmt.Errorf("VICI socket %s: %w", uri, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &server{ctl: ctl, log: log, ln: ln, ctx: ctx, cancel: cancel, conns: map[*conn]bool{}}
	notes, first := ctl.Notes(ctx), ctl.Status() // before the first client can come
	s.wg.Go(func() { s.broadcast(notes, first) })
	s.wg.Go(s.accept)
	return s, nil
}

func listen(uri string) (net.Listener, error) {
	scheme, address, ok := strings.Cut(uri, "://")
	switch {
	case ok && scheme == "tcp":
		return net.Listen("tcp", address)
	case ok && scheme == "unix":
		return listenUnix(address)
	}
	return nil, errors.New("unix:///path or tcp://host:port is expected")
}

func listenUnix(path string) (net.Listener, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	if c, err := net.Dial("unix", path); err == nil {
		c.Close()
		return nil, errors.New("another daemon listens there")
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	old := unix.Umask(0o777 &^ socketMode)
	defer unix.Umask(old)
	return net.Listen("unix", path)
}

// Close stops listening and ends every connection.
func (s *server) Close() error {
	s.cancel()
	err := s.ln.Close()
	s.mu.Lock()
	for c := range s.conns {
		c.close()
	}
	s.mu.Unlock()
	s.wg.Wait()
	return err
}

func (s *server) accept() {
	for {
		nc, err := s.ln.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			// Out of descriptors, most likely: it passes.
			s.log.Error("VICI accept failed", "err", err)
			time.Sleep(acceptPause)
			continue
		}
		c := newConn(s, nc)
		s.mu.Lock()
		s.conns[c] = true
		s.mu.Unlock()
		s.wg.Go(c.write) // ends the connection if the server is closing
		s.wg.Go(c.read)
	}
}

func (s *server) forget(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

// snapshotConns returns the present connections.
func (s *server) snapshotConns() []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*conn, 0, len(s.conns))
	for c := range s.conns {
		list = append(list, c)
	}
	return list
}
