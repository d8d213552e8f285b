package iketest

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/auth"
	"github.com/ipsecd/ipsecd/ike/suite"
)

// TestTrapAny: the traffic says who the peer is. Several are up at once, each by one IKE SA and one CHILD_SA with a reqid
// of its own, however often and by whomever it is asked for; and what is done to one is done at its address.
func TestTrapAny(t *testing.T) {
	n, hosts := mesh(1, 3, nil)
	a, b, c := hosts[0], hosts[1], hosts[2]
	for range 3 { // as kernels repeat it
		a.pings(meshHost(1))
		a.pings(meshHost(2))
	}
	n.RunFor(time.Second)
	b.pings(meshHost(0)) // it is there
	b.pings(meshHost(2))
	c.pings(meshHost(1)) // both at once
	n.RunFor(2 * time.Minute)
	everywhere := func() {
		t.Helper()
		wantPeers(t, n, a, meshHost(1), meshHost(2))
		wantPeers(t, n, b, meshHost(0), meshHost(2))
		wantPeers(t, n, c, meshHost(0), meshHost(1))
		for _, h := range hosts {
			reqids := map[uint32]bool{h.Engine().ReqID(ConnectionName, ChildName): true}
			for _, sa := range h.Snapshot().IKESAs {
				for _, ch := range sa.Children {
					if reqids[ch.SA.ReqID] {
						failRun(t, n, "%s: the reqid %d is used twice, or is the trap's", h.Name, ch.SA.ReqID)
					}
					reqids[ch.SA.ReqID] = true
				}
			}
			if s := h.Snapshot(); len(s.Connections) != 1 || s.Connections[0].LastError != "" || len(s.IKESAs) != 2 {
				failRun(t, n, "%s: %d IKE SAs, %+v", h.Name, len(s.IKESAs), s.Connections)
			}
		}
	}
	everywhere()
	n.GuardTraffic()
	for _, ev := range []ike.Event{rekeyChild, rekeyIKE, ike.Rekey{Connection: ConnectionName, Reauth: true}} {
		for _, h := range hosts {
			h.Do(ev)
			n.RunFor(2 * time.Minute)
			everywhere()
		}
	}
	for _, h := range hosts {
		h.HandOver(handoverPatience, func(left int) {
			if left > 0 {
				n.violate("%d IKE SAs were left out", left)
			}
		})
		n.RunFor(time.Minute)
		h.pings(meshHost((slices.Index(hosts, h) + 1) % 3))
		n.RunFor(time.Minute)
		everywhere()
	}
	n.UnguardTraffic()

	b.Do(ike.Terminate{Connection: ConnectionName})
	n.RunFor(time.Minute)
	wantPeers(t, n, b)
	wantPeers(t, n, a, meshHost(2))
	if b.Up(ConnectionName, ChildName) || !a.Up(ConnectionName, ChildName) {
		failRun(t, n, "ChildUp and ChildDown do not follow the last CHILD_SA of all peers")
	}
	a.pings(meshHost(1))
	b.pings(meshHost(2))
	n.RunFor(time.Minute)
	everywhere()
	for _, h := range hosts {
		h.Do(ike.Shutdown{})
	}
	n.RunFor(settleTime)
	empty(t, n)
}

// TestTrapAnyAtOnce: two hosts that ask for each other at the same moment, with the network as it is, end with one IKE SA.
func TestTrapAnyAtOnce(t *testing.T) {
	for seed := range uint64(20) {
		n, hosts := mesh(seed, 2, nil)
		n.Faults.Loss, n.Faults.Jitter = 0.2, 50*time.Millisecond
		hosts[0].pings(meshHost(1))
		hosts[1].pings(meshHost(0))
		n.RunFor(time.Minute)
		n.Faults.Loss = 0
		n.RunFor(5 * time.Minute)
		wantPeers(t, n, hosts[0], meshHost(1))
		wantPeers(t, n, hosts[1], meshHost(0))
	}
}

// TestTrapAnyNobody: for packets that no peer can be asked about nothing is sent, nor for an operator who names none.
func TestTrapAnyNobody(t *testing.T) {
	n, hosts := mesh(1, 2, func(_ int, c *ike.Connection) {
		c.RemoteAddrs = []ike.AddrMatch{{Prefix: netip.MustParsePrefix("192.0.2.0/24")}}
	})
	a := hosts[0]
	for _, dst := range []string{"224.0.0.1", "255.255.255.255", "0.0.0.0", meshHost(0).String(), "203.0.113.1"} {
		a.pings(netip.MustParseAddr(dst))
	}
	reqid := a.Engine().ReqID(ConnectionName, ChildName)
	a.Do(ike.Acquire{ReqID: reqid, Protocol: 1, Src: netip.MustParseAddrPort("10.9.9.9:8"), Dst: netip.AddrPortFrom(meshHost(1), 0)}) // forwarded
	a.Do(ike.Acquire{ReqID: reqid})
	a.Do(initiate)
	n.RunFor(time.Minute)
	noViolation(t, n)
	if n.Sent() > 0 || !strings.Contains(noted(a), "no single address in remote_addrs") {
		failRun(t, n, "%d messages, and %s", n.Sent(), noted(a))
	}
	a.pings(meshHost(1))
	n.RunFor(time.Second)
	wantPeers(t, n, a, meshHost(1))
}

// TestTrapAnyBounded: traffic to addresses where nobody is begins only so much, and the log tells it once; a peer is there for
// who asks for it when they have been given up.
func TestTrapAnyBounded(t *testing.T) {
	for _, tries := range []int{0, 1} {
		n, hosts := mesh(1, 2, func(_ int, c *ike.Connection) { c.KeyingTries = tries })
		a := hosts[0]
		for i := range 2000 {
			a.pings(netip.AddrFrom4([4]byte{198, 18, byte(i >> 8), byte(i)}))
			n.RunFor(time.Millisecond)
		}
		a.pings(meshHost(1))
		n.RunFor(time.Second)
		if trying := len(a.Snapshot().IKESAs); trying == 0 || trying > 256 {
			failRun(t, n, "%d IKE SAs are being set up", trying)
		}
		if told := strings.Count(noted(a), "traffic asks for more peers"); told != 1 {
			failRun(t, n, "the log has it %d times", told)
		}
		n.RunFor(10 * time.Minute)
		if left := len(a.Snapshot().IKESAs); left > 0 {
			failRun(t, n, "%d are still tried", left)
		}
		a.pings(meshHost(1))
		n.RunFor(time.Second)
		wantPeers(t, n, a, meshHost(1))
	}
}

// TestTrapAnyLost: when a peer has gone, has been found dead or has closed what there was, the next packet brings it up again,
// also one that comes at once; what dpd_action and close_action ask for is made with that peer.
func TestTrapAnyLost(t *testing.T) {
	for _, action := range []ike.ChildAction{ike.ActionClear, ike.ActionTrap, ike.ActionStart} {
		for name, lose := range map[string]func(*Net, *Host){
			"closed":     func(_ *Net, h *Host) { h.Do(deleteChild) },
			"IKE closed": func(_ *Net, h *Host) { h.Do(deleteIKE) },
			"dead":       func(n *Net, h *Host) { h.Crash(); n.RunFor(4 * time.Minute); h.Start() },
		} {
			t.Run(fmt.Sprintf("%s, action %d", name, action), func(t *testing.T) {
				n, hosts := mesh(1, 3, func(_ int, c *ike.Connection) {
					c.DPDDelay = 10 * time.Second
					c.Children[0].CloseAction, c.Children[0].DPDAction = action, action
				})
				a, b, c := hosts[0], hosts[1], hosts[2]
				a.pings(meshHost(2))
				b.pings(meshHost(0)) // a is the responder of this one
				n.RunFor(time.Second)
				lose(n, b)
				n.RunFor(time.Second)
				if !action.Starts() {
					wantPeers(t, n, a, meshHost(2))
					a.pings(meshHost(1))
				}
				n.RunFor(time.Minute)
				wantPeers(t, n, a, meshHost(1), meshHost(2))
				wantPeers(t, n, b, meshHost(0))
				wantPeers(t, n, c, meshHost(0))
			})
		}
	}
}

// TestTrapAnyReload: peers live through a reload that changes nothing for them, and go with their connection, or their child.
func TestTrapAnyReload(t *testing.T) {
	for _, what := range []string{"nothing", "trap", "child", "connection", "all"} {
		t.Run(what, func(t *testing.T) {
			n, hosts := mesh(1, 3, nil)
			a := hosts[0]
			a.pings(meshHost(1))
			hosts[2].pings(meshHost(0))
			n.RunFor(time.Second)
			cfg := *a.Config()
			conn := *cfg.Connections[0]
			child := *conn.Children[0]
			conn.Children, cfg.Connections = []*ike.ChildConfig{&child}, []*ike.Connection{&conn}
			stay := false
			switch what {
			case "nothing":
				stay = true
			case "trap":
				child.StartAction, stay = ike.ActionClear, true
			case "child":
				child.Inactivity = time.Hour
			case "connection":
				conn.MOBIKE = false
			case "all":
				cfg.Connections = nil
			}
			a.Do(ike.Reconfigure{Config: &cfg})
			n.RunFor(time.Minute)
			if stay {
				wantPeers(t, n, a, meshHost(1), meshHost(2))
				return
			}
			wantPeers(t, n, a)
			if what != "all" {
				a.pings(meshHost(1))
				n.RunFor(time.Second)
				wantPeers(t, n, a, meshHost(1))
			}
		})
	}
}

// TestTrapAnyHandover: what traffic has asked for goes on in the engine that takes over.
func TestTrapAnyHandover(t *testing.T) {
	n, hosts := mesh(1, 2, nil)
	a := hosts[0]
	n.Cut(a, hosts[1])
	a.pings(meshHost(1))
	n.RunFor(time.Second)
	a.HandOver(0, nil)
	n.RunFor(time.Second)
	n.Mend(a, hosts[1])
	n.RunFor(time.Minute)
	wantPeers(t, n, a, meshHost(1))
}

// TestTrapAnyArmed: dpd_action and close_action = trap set the trap for all peers, which goes with its configuration.
func TestTrapAnyArmed(t *testing.T) {
	n, hosts := mesh(1, 3, func(i int, c *ike.Connection) {
		if i == 0 {
			c.Children[0].StartAction, c.Children[0].CloseAction = ike.ActionClear, ike.ActionTrap
		}
	})
	a := hosts[0]
	hosts[1].pings(meshHost(0))
	hosts[2].pings(meshHost(0))
	n.RunFor(time.Second)
	wantPeers(t, n, a, meshHost(1), meshHost(2))
	hosts[1].Do(deleteIKE)
	hosts[2].Do(deleteIKE)
	n.RunFor(time.Minute)
	if !a.Trapped(ConnectionName, ChildName) {
		failRun(t, n, "there is no trap")
	}
	a.HandOver(0, nil)
	n.RunFor(time.Second)
	a.pings(meshHost(2))
	n.RunFor(time.Second)
	wantPeers(t, n, a, meshHost(2))
	a.Do(ike.Disarm{Connection: ConnectionName, Child: ChildName})
	n.RunFor(time.Second)
	if noViolation(t, n); a.Trapped(ConnectionName, ChildName) {
		failRun(t, n, "the trap outlives its end")
	}
}

// TestTrapAnySecrets: a pre-shared key is found by the address of the peer that traffic tells.
func TestTrapAnySecrets(t *testing.T) {
	secret := func(key string, owners ...string) auth.Secret {
		s := auth.Secret{Name: key, Key: suite.NewKey([]byte(key))}
		for _, o := range owners {
			s.Owners = append(s.Owners, Identity(o))
		}
		return s
	}
	n, hosts := mesh(1, 3, nil)
	for i, h := range hosts {
		cfg := *h.Config()
		cfg.Secrets = nil
		for j := range hosts {
			if i != j {
				lower, upper := min(i, j), max(i, j)
				cfg.Secrets = append(cfg.Secrets, secret(fmt.Sprintf("a secret of %d and %d", lower, upper), meshHost(lower).String(), meshHost(upper).String()))
			}
		}
		h.Do(ike.Reconfigure{Config: &cfg})
	}
	hosts[0].pings(meshHost(1))
	hosts[2].pings(meshHost(0))
	n.RunFor(time.Minute)
	wantPeers(t, n, hosts[0], meshHost(1), meshHost(2))
}

// TestTrapAnyMoves: a peer that moves stays the peer that it was, and traffic to where it is now is for another.
func TestTrapAnyMoves(t *testing.T) {
	n, hosts := mesh(1, 2, func(_ int, c *ike.Connection) {
		c.LocalAddrs = []ike.AddrMatch{{Prefix: netip.MustParsePrefix("192.0.2.0/24")}}
	})
	a, b := hosts[0], hosts[1]
	elsewhere := meshHost(50)
	n.byAddr[elsewhere] = b
	b.pings(meshHost(0))
	n.RunFor(time.Second)
	b.Do(ike.AddressChanged{Addrs: []netip.Addr{elsewhere}})
	n.RunFor(time.Minute)
	noViolation(t, n)
	if sa := only(t, a); sa.Remote.Addr() != elsewhere {
		failRun(t, n, "the IKE SA did not follow to %v: %s", elsewhere, a.Describe())
	}
	a.Do(ike.Rekey{Connection: ConnectionName, Reauth: true})
	n.RunFor(time.Minute)
	if sa := only(t, a); sa.Remote.Addr() != elsewhere {
		failRun(t, n, "after reauthentication: %s", a.Describe())
	}
	a.HandOver(handoverPatience, nil)
	n.RunFor(time.Minute)
	noViolation(t, n)
	a.pings(elsewhere)
	n.RunFor(time.Minute)
	noViolation(t, n)
	if got := len(a.Snapshot().IKESAs); got == 0 || got > 2 {
		failRun(t, n, "%d IKE SAs: %s", got, a.Describe())
	}
}
