package ike

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike/suite"
)

func (h *host) alerts() (list []Alert) {
	for _, n := range h.notes {
		if n.Kind == NoteAlert && !slices.Contains(list, n.Alert) {
			list = append(list, n.Alert)
		}
	}
	return list
}

// TestAlerts: what monitoring is told, in charon's words, on the side that can see it.
func TestAlerts(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(p *pair, a, b *Config)
		a, b   []Alert
	}{
		{"all is well", func(*pair, *Config, *Config) {}, nil, nil},
		{"wrong key", func(_ *pair, a, _ *Config) { a.Secrets[0].Key = suite.NewKey([]byte("another")) },
			[]Alert{AlertLocalAuthFailed}, []Alert{AlertPeerAuthFailed}},
		{"IKE proposals", func(_ *pair, _, b *Config) {
			b.Connections[0].Proposals = proposals(t, suite.IKE, "aes256-sha256-modp2048")
		}, []Alert{AlertProposalIKE}, []Alert{AlertProposalIKE}},
		{"ESP proposals", func(_ *pair, _, b *Config) {
			b.Connections[0].Children[0].Proposals = proposals(t, suite.ESP, "aes256-sha256")
		}, []Alert{AlertProposalChild, AlertKeptWithoutChild}, []Alert{AlertProposalChild}},
		{"selectors", func(_ *pair, _, b *Config) {
			b.Connections[0].Children[0].LocalTS = []TrafficSelector{PrefixSelector(netip.MustParsePrefix("2001:db8::/32"))}
		}, []Alert{AlertTSMismatch, AlertKeptWithoutChild}, []Alert{AlertTSMismatch}},
		{"narrowed", func(_ *pair, _, b *Config) {
			b.Connections[0].Children[0].LocalTS = []TrafficSelector{PrefixSelector(netip.MustParsePrefix("10.0.0.0/8"))}
		}, []Alert{AlertTSNarrowed}, nil},
		{"silence", func(p *pair, _, _ *Config) { p.lose = func(*host, Packet) bool { return true } },
			[]Alert{AlertRetransmitSend, AlertRetransmitTimeout, AlertPeerInitUnreachable}, nil},
		{"a lost answer", func(p *pair, _, _ *Config) {
			lost := false
			p.lose = func(from *host, k Packet) bool {
				first := from == p.b && messageID(k) == 1 && !lost
				lost = lost || first
				return first
			}
		}, []Alert{AlertRetransmitSend, AlertRetransmitCleared}, []Alert{AlertRetransmitReceive}},
	} {
		a, b := testConfigs(t)
		p := newPair(t, a, b)
		tt.change(p, a, b)
		p.run(10 * time.Second)
		if tt.name == "silence" {
			p.run(3 * time.Minute)
		}
		if got := p.a.alerts(); !slices.Equal(got, tt.a) {
			t.Errorf("%s: the initiator's alerts are %v, want %v", tt.name, got, tt.a)
		}
		if got := p.b.alerts(); !slices.Equal(got, tt.b) {
			t.Errorf("%s: the responder's alerts are %v, want %v", tt.name, got, tt.b)
		}
	}
}

// TestMovedNote: whoever follows a peer says so once, with the endpoints before and after.
func TestMovedNote(t *testing.T) {
	a, b := testConfigs(t)
	p := newPair(t, a, b)
	a.Connections[0].LocalAddrs = nil
	a.Source = func(netip.Addr) netip.Addr { return p.a.addr }
	p.settle()
	p.wantUp(t)
	moved := func(h *host) (list []Moved) {
		for _, n := range h.notes {
			if n.Kind == NoteIKEMoved {
				list = append(list, *n.Moved)
			}
		}
		return list
	}
	if got := append(moved(p.a), moved(p.b)...); len(got) != 0 {
		t.Fatalf("moved while it was set up: %v", got)
	}
	old := p.a.addr
	p.a.addr = netip.MustParseAddr("198.51.100.9")
	p.a.event(AddressChanged{[]netip.Addr{p.a.addr}})
	p.run(30 * time.Second)
	got := moved(p.b)
	if len(got) != 1 || got[0].OldRemote.Addr() != old || got[0].Remote.Addr() != p.a.addr || got[0].OldLocal != got[0].Local {
		t.Errorf("the peer of the one that moved says %+v\n%s", got, p.history())
	}
}

// TestConnectionCounters: messages count for the connection once it is known, each once.
func TestConnectionCounters(t *testing.T) {
	p := established(t)
	count := func(h *host) ConnectionCounters {
		t.Helper()
		list := h.e.Snapshot(p.now).Counters.Connections
		if len(list) != 1 || list[0].Connection != "gw" {
			t.Fatalf("%s counts %+v", h.name, list)
		}
		return list[0]
	}
	a, b := count(p.a), count(p.b)
	if a.SAInit != (ExchangeCounters{OutRequests: 1, InResponses: 1}) || a.Auth != (ExchangeCounters{OutRequests: 1, InResponses: 1}) {
		t.Errorf("the initiator counts %+v", a)
	}
	if b.SAInit != (ExchangeCounters{}) || b.Auth != (ExchangeCounters{OutResponses: 1}) {
		t.Errorf("the responder, which knows the connection by IKE_AUTH, counts %+v", b)
	}
	p.b.event(Rekey{Connection: "gw", Child: "net"})
	p.run(10 * time.Second)
	p.a.event(Rekey{Connection: "gw"})
	p.run(10 * time.Second)
	a, b = count(p.a), count(p.b)
	if a.IKERekeysInitiated != 1 || a.IKERekeysResponded != 0 || a.ChildRekeys != 1 || b.IKERekeysResponded != 1 || b.ChildRekeys != 1 {
		t.Errorf("after a rekey of each: %+v and %+v", a, b)
	}
	if a.CreateChild != (ExchangeCounters{InRequests: 1, OutResponses: 1, OutRequests: 1, InResponses: 1}) {
		t.Errorf("CREATE_CHILD_SA: %+v", a.CreateChild)
	}
}
