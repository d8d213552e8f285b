package nl

import (
	"errors"
	"io"
	"net/netip"
	"strings"
	"testing"

	"github.com/mdlayher/netlink"
	"github.com/mdlayher/netlink/nltest"
	"golang.org/x/sys/unix"

	"github.com/ipsecd/ipsecd/xfrm"
)

// fakeConn answers requests by f and counts how often the socket is opened.
func fakeConn(t *testing.T, f func(netlink.Message) ([]netlink.Message, error)) (*conn, *int) {
	t.Helper()
	opened := 0
	c := &conn{open: func() (*netlink.Conn, error) {
		opened++
		return nltest.Dial(func(req []netlink.Message) ([]netlink.Message, error) {
			if len(req) == 0 {
				return nil, io.EOF
			}
			return f(req[0])
		}), nil
	}}
	t.Cleanup(func() { _ = c.close() })
	return c, &opened
}

func TestProbe(t *testing.T) {
	// A kernel of 6.11: it checks the lengths of what it knows, and ignores the rest.
	known := map[uint16]bool{attrIfID: true, attrMTimerThresh: true, attrSADir: true, attrNATKeepalive: true}
	c, _ := fakeConn(t, func(m netlink.Message) ([]netlink.Message, error) {
		if m.Header.Type == msgGetDefault {
			return nltest.Error(int(unix.EINVAL), []netlink.Message{m})
		}
		for typ := range attrMap(t, m.Data[sizeUserSAID:]) {
			if known[typ] {
				return nltest.Error(int(unix.ERANGE), []netlink.Message{m})
			}
		}
		return nltest.Error(int(unix.ESRCH), []netlink.Message{m})
	})
	got, err := probe(c)
	if err != nil {
		t.Fatal(err)
	}
	want := xfrm.NewFeatures(xfrm.SADirection, xfrm.NATKeepalive, xfrm.MappingThreshold, xfrm.XFRMInterfaces)
	if got != want {
		t.Errorf("features %06b, want %06b", got, want)
	}
	if err := got.Require(xfrm.PerCPUSAs); err == nil || !strings.Contains(err.Error(), "6.13") {
		t.Errorf("the error must name the kernel: %v", err)
	}
}

func TestProbeWithoutPermission(t *testing.T) {
	c, _ := fakeConn(t, func(m netlink.Message) ([]netlink.Message, error) {
		return nltest.Error(int(unix.EPERM), []netlink.Message{m})
	})
	if _, err := probe(c); !errors.Is(err, unix.EPERM) {
		t.Errorf("got %v", err)
	}
}

// A refused request leaves the socket in order; a lost reply does not.
func TestSocketIsReplacedOnlyAfterLostReplies(t *testing.T) {
	var fail error
	c, opened := fakeConn(t, func(m netlink.Message) ([]netlink.Message, error) {
		if fail != nil {
			return nil, fail
		}
		return nltest.Error(int(unix.EEXIST), []netlink.Message{m})
	})
	if err := c.do(msgNewSA, 0, nil); !errors.Is(err, unix.EEXIST) {
		t.Fatal(err)
	}
	if err := c.do(msgNewSA, 0, nil); !errors.Is(err, unix.EEXIST) || *opened != 1 {
		t.Fatalf("error %v, opened %d times", err, *opened)
	}
	fail = unix.ENOBUFS
	if err := c.do(msgNewSA, 0, nil); !errors.Is(err, unix.ENOBUFS) {
		t.Fatal(err)
	}
	fail = nil
	if err := c.do(msgNewSA, 0, nil); !errors.Is(err, unix.EEXIST) || *opened != 2 {
		t.Fatalf("error %v, opened %d times", err, *opened)
	}
}

func TestInterruptedDumpIsRepeated(t *testing.T) {
	tries := 0
	c, _ := fakeConn(t, func(m netlink.Message) ([]netlink.Message, error) {
		tries++
		reply := netlink.Message{Header: netlink.Header{Type: msgNewPolicy, Sequence: m.Header.Sequence, PID: m.Header.PID}}
		if tries < 3 {
			reply.Header.Flags = unix.NLM_F_DUMP_INTR
		}
		return nltest.Multipart([]netlink.Message{reply, {Header: netlink.Header{Sequence: m.Header.Sequence, PID: m.Header.PID}}})
	})
	msgs, err := c.dump(msgGetPolicy)
	if err != nil || len(msgs) != 1 || tries != 3 {
		t.Errorf("%d messages after %d tries, error %v", len(msgs), tries, err)
	}
}

func TestErrorsNameObjectErrnoAndKernelText(t *testing.T) {
	id := xfrm.SAID{Dst: netip.MustParseAddr("10.0.0.2"), SPI: 0xc0000001, Proto: xfrm.ESP}
	err := kernelError("add SA", id.String(), &netlink.OpError{Op: "receive", Err: unix.EINVAL, Message: "Replay window should be 0 for output SA", Sequence: 3})
	want := "xfrm: add SA 10.0.0.2 esp spi 0xc0000001: EINVAL: Replay window should be 0 for output SA"
	if err.Error() != want || !errors.Is(err, unix.EINVAL) {
		t.Errorf("got  %v\nwant %v", err, want)
	}
}
