package nl

import (
	"fmt"

	vnl "github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/ipsecd/ipsecd/xfrm"
)

// Kernel is the running kernel, seen from one network namespace.
type Kernel struct {
	conn     *conn       // requests of the XFRM family
	route    *vnl.Handle // links and addresses
	features xfrm.Features
}

var _ xfrm.Kernel = (*Kernel)(nil)

// Open connects to the kernel from the calling thread's network namespace and
// probes its features.
func Open() (*Kernel, error) {
	c, err := dial()
	if err != nil {
		return nil, err
	}
	h, err := vnl.NewHandle(unix.NETLINK_ROUTE)
	if err != nil {
		_ = c.close()
		return nil, fmt.Errorf("xfrm: cannot open a route netlink socket: %w", err)
	}
	k := &Kernel{conn: c, route: h}
	if k.features, err = probe(c); err != nil {
		_ = k.Close()
		return nil, err
	}
	return k, nil
}

// Close ends the connection. Event channels end by their context.
func (k *Kernel) Close() error {
	k.route.Close()
	return k.conn.close()
}

// Features returns what the kernel can do.
func (k *Kernel) Features() xfrm.Features { return k.features }
