package daemon

import (
	"context"
	"encoding/binary"
	"errors"
	"net/netip"
	"testing"

	mnl "github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"github.com/ipsecd/ipsecd/ike"
)

// TestRoamConcerns: what tunnels and learned routes do must not make the engine look at all paths.
func TestRoamConcerns(t *testing.T) {
	const tunnel, ethernet = 7, 2
	r := &roam{addrs: &hostAddresses{}}
	r.addrs.now.Store(&addressList{tunnels: map[int]bool{tunnel: true}})
	message := func(kind uint16, data []byte) mnl.Message {
		return mnl.Message{Header: mnl.Header{Type: mnl.HeaderType(kind)}, Data: data}
	}
	link := func(kind uint16, index uint32) mnl.Message {
		return message(kind, binary.NativeEndian.AppendUint32(make([]byte, 4), index))
	}
	route := func(protocol byte, index uint32) mnl.Message {
		b := make([]byte, 12)
		b[5] = protocol
		b = binary.NativeEndian.AppendUint16(b, 8)
		b = binary.NativeEndian.AppendUint16(b, unix.RTA_OIF)
		return message(unix.RTM_NEWROUTE, binary.NativeEndian.AppendUint32(b, index))
	}
	for name, tt := range map[string]struct {
		m    mnl.Message
		want bool
	}{
		"address":              {link(unix.RTM_DELADDR, ethernet), true},
		"link":                 {link(unix.RTM_NEWLINK, ethernet), true},
		"tunnel":               {link(unix.RTM_NEWLINK, tunnel), false},
		"address of a tunnel":  {link(unix.RTM_NEWADDR, tunnel), false},
		"route":                {route(unix.RTPROT_STATIC, ethernet), true},
		"route over a tunnel":  {route(unix.RTPROT_KERNEL, tunnel), false},
		"learned route":        {route(unix.RTPROT_BGP, ethernet), false},
		"rule":                 {message(unix.RTM_NEWRULE, make([]byte, 12)), true},
		"something cut off":    {message(unix.RTM_NEWROUTE, nil), true},
		"something else short": {message(unix.RTM_NEWADDR, nil), true},
	} {
		if got := r.concerns(tt.m); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestResolver: what is found is handed over, with the error of a name that is not.
func TestResolver(t *testing.T) {
	events := make(chan ike.Event, 1)
	learnt := 0
	r := newResolver(func(ev ike.Event) { events <- ev }, func() { learnt++ })
	none := errors.New("no such host")
	r.lookup = func(_ context.Context, _, host string) ([]netip.Addr, error) {
		if host == "gw.example" {
			return []netip.Addr{netip.MustParseAddr("::ffff:192.0.2.1")}, nil
		}
		return nil, none
	}
	ask := ike.Resolve{Connection: "hq", Names: []string{"gw.example", "nosuch.example"}}
	r.start(t.Context(), ask)
	got := (<-events).(ike.Resolved)
	r.start(t.Context(), ask)
	<-events
	if known := r.addresses(); learnt != 1 || len(known) != 1 || known[0] != netip.MustParseAddr("192.0.2.1") {
		t.Errorf("learnt %d times: %v", learnt, known)
	}
	if len(got.Addrs) != 1 || len(got.Addrs["gw.example"]) != 1 || got.Addrs["gw.example"][0] != netip.MustParseAddr("192.0.2.1") || got.Err != none || got.Connection != "hq" {
		t.Errorf("%+v", got)
	}
}
