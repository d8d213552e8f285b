package routing

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

const (
	batchSize     = 256     // requests per sendmsg: more gains nothing
	messageBuffer = 1 << 16 // no netlink datagram of the kernel is longer
	commandBuffer = 4 << 20 // the errors of a whole batch must fit
	eventBuffer   = 8 << 20 // a neighbour's 50,000 route changes
	answerTimeout = 10 * time.Second
	dumpAttempts  = 5 // a dump is repeated if the table changed under it
)

// netlinkKernel is the Kernel behind two netlink sockets: one for requests,
// one for events.
type netlinkKernel struct {
	requests *netlink.Conn
	watch    *netlink.Conn
	events   chan Event
	done     chan struct{}
	close    sync.Once
}

// Dial returns the kernel of the calling thread's network namespace. It needs
// CAP_NET_ADMIN.
func Dial() (Kernel, error) {
	requests, err := netlink.Dial(unix.NETLINK_ROUTE, &netlink.Config{Strict: true, MessageBufferSize: messageBuffer})
	if err != nil {
		return nil, fmt.Errorf("routing: open netlink: %w", err)
	}
	k := &netlinkKernel{requests: requests, events: make(chan Event, 256), done: make(chan struct{})}
	err = errors.Join(
		requests.SetReadBuffer(commandBuffer),
		requests.SetWriteBuffer(commandBuffer))
	if err == nil {
		k.watch, err = dialEvents(requests.PID())
	}
	if err != nil {
		_ = requests.Close()
		return nil, fmt.Errorf("routing: set up netlink: %w", err)
	}
	go k.pump()
	return k, nil
}

func (k *netlinkKernel) Close() error {
	var err error
	k.close.Do(func() {
		close(k.done)
		err = errors.Join(k.watch.Close(), k.requests.Close())
	})
	return err
}

// Features asks for a dump of nexthop objects, which a kernel without them
// does not know.
func (k *netlinkKernel) Features() (Features, error) {
	_, err := k.Nexthops()
	switch {
	case err == nil:
		return Features{NexthopObjects: true}, nil
	case errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EINVAL):
		return Features{}, nil
	}
	return Features{}, err
}

func (k *netlinkKernel) Links() ([]Link, error) {
	var out []Link
	err := k.dump(unix.RTM_GETLINK, make([]byte, unix.SizeofIfInfomsg), func() { out = nil }, func(b []byte) error {
		l, err := decodeLink(b)
		out = append(out, l)
		return err
	})
	return out, err
}

func (k *netlinkKernel) Nexthops() ([]NexthopObject, error) {
	var out []NexthopObject
	err := k.dump(unix.RTM_GETNEXTHOP, make([]byte, sizeNhmsg), func() { out = nil }, func(b []byte) error {
		o, err := decodeNexthop(b)
		out = append(out, o)
		return err
	})
	return out, err
}

func (k *netlinkKernel) Routes() ([]RouteEntry, error) {
	var all []RouteEntry
	for _, family := range []byte{unix.AF_INET, unix.AF_INET6} {
		var out []RouteEntry
		header := make([]byte, unix.SizeofRtMsg)
		header[0] = family
		err := k.dump(unix.RTM_GETROUTE, header, func() { out = nil }, func(b []byte) error {
			r, ok, err := decodeRoute(b)
			if ok {
				out = append(out, r)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		all = slices.Concat(all, out)
	}
	return all, nil
}

// dump reads a table and calls each for its entries. If the table changes
// meanwhile, it calls reset and starts over.
func (k *netlinkKernel) dump(typ netlink.HeaderType, header []byte, reset func(), each func([]byte) error) error {
	for range dumpAttempts {
		reset()
		interrupted, err := k.dumpOnce(typ, header, each)
		if err != nil || !interrupted {
			return err
		}
	}
	return errors.New("the table keeps changing while it is read")
}

func (k *netlinkKernel) dumpOnce(typ netlink.HeaderType, header []byte, each func([]byte) error) (interrupted bool, err error) {
	defer func() {
		if err != nil {
			k.drain()
		}
	}()
	if err := k.requests.SetReadDeadline(time.Now().Add(answerTimeout)); err != nil {
		return false, err
	}
	_, err = k.requests.Send(netlink.Message{
		Header: netlink.Header{Type: typ, Flags: netlink.Request | netlink.Dump},
		Data:   header,
	})
	if err != nil {
		return false, err
	}
	for m, err := range k.requests.ReceiveIter() {
		if err != nil {
			return false, err
		}
		interrupted = interrupted || m.Header.Flags&netlink.DumpInterrupted != 0
		if err := each(m.Data); err != nil {
			return false, fmt.Errorf("netlink message type %d: %w", m.Header.Type, err)
		}
	}
	return interrupted, nil
}

// drain discards the answers to a call that failed. The kernel answers before
// sendmsg returns, so that what can come is there.
func (k *netlinkKernel) drain() {
	_ = k.requests.SetReadDeadline(time.Now().Add(time.Millisecond))
	for {
		_, err := k.requests.Receive()
		var op *netlink.OpError
		if errors.Is(err, os.ErrDeadlineExceeded) || err != nil && !errors.As(err, &op) || errors.Is(err, os.ErrClosed) {
			return
		}
	}
}

// Apply sends ops in batches. Only the last message of a batch asks for an
// acknowledgement: the kernel works in order, and reports errors of the
// others unasked.
func (k *netlinkKernel) Apply(ops []Op) []error {
	var errs []error
	for start := 0; start < len(ops); start += batchSize {
		batch := ops[start:min(start+batchSize, len(ops))]
		fail := func(i int, err error) {
			if errs == nil {
				errs = make([]error, len(ops))
			}
			errs[start+i] = err
		}
		k.applyBatch(batch, fail)
	}
	return errs
}

func (k *netlinkKernel) applyBatch(ops []Op, fail func(int, error)) {
	failAll := func(err error) {
		for i := range ops {
			fail(i, err)
		}
	}
	msgs := make([]netlink.Message, len(ops))
	for i, op := range ops {
		m, err := encodeOp(op)
		if err != nil {
			failAll(err)
			return
		}
		msgs[i] = m
	}
	msgs[len(msgs)-1].Header.Flags |= netlink.Acknowledge
	if err := k.requests.SetReadDeadline(time.Now().Add(answerTimeout)); err != nil {
		failAll(err)
		return
	}
	sent, err := k.requests.SendMessages(msgs)
	if err != nil {
		failAll(err)
		return
	}
	first := sent[0].Header.Sequence
	for {
		replies, err := k.requests.Receive()
		var op *netlink.OpError
		switch {
		case err == nil:
			for _, m := range replies {
				if m.Header.Sequence-first == uint32(len(ops)-1) {
					return
				}
			}
		case errors.As(err, &op) && op.Sequence != 0:
			i := op.Sequence - first
			if i >= uint32(len(ops)) {
				continue // not an answer to this batch
			}
			fail(int(i), kernelError(op))
			if int(i) == len(ops)-1 {
				return
			}
		default:
			// Which of them the kernel has done is unknown.
			k.drain()
			failAll(fmt.Errorf("answer lost: %w", err))
			return
		}
	}
}

// kernelError keeps the error number and the kernel's explanation.
func kernelError(op *netlink.OpError) error {
	if op.Message == "" {
		return op.Err
	}
	return fmt.Errorf("%w: %s", op.Err, op.Message)
}
