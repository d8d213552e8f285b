package iketest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike"
)

// TestTrapAnyAtRandom throws all that can happen at three hosts that trap traffic for anybody: packets to each other and to nobody, rekeys,
// operators, crashes, cuts, reloads, moves and other processes that take over. When that ends and each has traffic for each other, each
// pair has one IKE SA with one CHILD_SA; and nothing is left when all are shut down.
func TestTrapAnyAtRandom(t *testing.T) {
	eachSeed(t, "TestTrapAnyAtRandom", runs{20, 20}, trapAnyRun)
}

func trapAnyRun(seed uint64) (*Pair, error) {
	r := rand.New(rand.NewPCG(seed, 7))
	unique, tries := ike.UniquePolicy(r.IntN(4)), r.IntN(3)
	closed, dead := randomAction(r), randomAction(r)
	dpd, rekey := time.Duration(10+r.IntN(30))*time.Second, time.Duration(r.IntN(3)*60)*time.Second
	n, hosts := mesh(seed, 3, func(i int, c *ike.Connection) {
		c.LocalAddrs = Addrs(meshHost(i))
		c.Unique, c.KeyingTries, c.DPDDelay = unique, tries, dpd
		ch := c.Children[0]
		ch.CloseAction, ch.DPDAction, ch.RekeyTime, ch.RandTime = closed, dead, rekey, 5*time.Second
	})
	p := &Pair{Net: n, A: hosts[0], B: hosts[1]}
	for _, h := range hosts {
		h.ComputeTime = time.Duration(r.IntN(50)) * time.Millisecond
		h.InstallTime = time.Duration(r.IntN(50)) * time.Millisecond
		h.Kernel.Refuse = func(*ike.ChildSA) error {
			if n.Faults.Loss > 0 && r.IntN(30) == 0 {
				return errRefused
			}
			return nil
		}
	}
	good := Faults{Delay: time.Duration(1+r.IntN(40)) * time.Millisecond, Jitter: time.Duration(r.IntN(40)) * time.Millisecond}
	n.Faults = badNetwork(r)
	n.Faults.Loss += 0.01
	for range 10 + r.IntN(40) {
		n.After(n.upTo(5*time.Minute), func() { trapAnyEvent(n, r) })
	}
	n.RunFor(6 * time.Minute)
	n.Faults = good
	for i, h := range hosts {
		n.Mend(h, hosts[(i+1)%3])
		if !h.running() {
			h.Start()
		}
	}
	n.RunFor(20 * time.Minute)
	for range 2 { // the first may come while another attempt is waited for
		for _, i := range r.Perm(3) {
			for _, j := range r.Perm(3) {
				if i != j {
					hosts[i].pingsUnless(meshHost(j))
				}
			}
		}
		n.RunFor(10 * time.Minute)
	}
	n.RunUntil(func() bool { return meshAtRest(hosts) == nil }, 2*time.Minute)
	if err := errors.Join(n.Err(), meshAtRest(hosts)); err != nil {
		return p, err
	}
	for _, h := range hosts {
		h.Do(ike.Shutdown{})
	}
	n.RunFor(settleTime)
	err := n.Err()
	for _, h := range hosts {
		err = errors.Join(err, h.Empty())
	}
	return p, err
}

func randomAction(r *rand.Rand) ike.ChildAction {
	return []ike.ChildAction{ike.ActionClear, ike.ActionTrap, ike.ActionStart}[r.IntN(3)]
}

// pingsUnless is pings where no CHILD_SA is for the packet, as a kernel asks.
func (h *Host) pingsUnless(dst netip.Addr) {
	for _, id := range h.Kernel.ids() {
		if c := h.Kernel.children[id]; c.sa.Remote == dst && c.outbound != 0 {
			return
		}
	}
	if h.running() {
		h.pings(dst)
	}
}

// trapAnyEvent lets one thing happen.
func trapAnyEvent(n *Net, r *rand.Rand) {
	i := r.IntN(3)
	h, other := n.hosts[i], n.hosts[(i+1+r.IntN(2))%3]
	var id, child uint32
	if all := h.Snapshot().IKESAs; len(all) > 0 {
		id = all[r.IntN(len(all))].ID
	}
	if ids := h.Kernel.ids(); len(ids) > 0 {
		child = ids[r.IntN(len(ids))]
	}
	switch r.IntN(18) {
	case 0:
		h.Do(ike.Rekey{Connection: ConnectionName, IKEID: id, Reauth: r.IntN(2) == 0})
	case 1:
		h.Do([]ike.Event{rekeyChild, rekeyIKE}[r.IntN(2)])
	case 2:
		if child != 0 {
			h.Do([]ike.Event{ike.Rekey{ChildID: child}, ike.Terminate{ChildID: child, Force: r.IntN(3) == 0}}[r.IntN(2)])
		}
	case 3:
		if id != 0 {
			h.Do(ike.Terminate{IKEID: id, Force: r.IntN(3) == 0})
		}
	case 4:
		h.Do([]ike.Event{deleteChild, deleteIKE, initiate}[r.IntN(3)])
	case 5:
		if h.running() {
			h.Crash()
			n.After(n.upTo(time.Minute), func() {
				if !h.running() {
					h.Start()
				}
			})
		}
	case 6:
		n.Cut(h, other)
		n.After(n.upTo(4*time.Minute), func() { n.Mend(h, other) })
	case 7:
		if h.running() {
			h.HandOver(handoverPatience, nil)
		}
	case 8:
		cfg := *h.config
		h.Do(ike.Reconfigure{Config: &cfg})
	case 9: // a child or a connection that changes, and what does not
		cfg := *h.config
		conn := *cfg.Connections[0]
		ch := *conn.Children[0]
		switch r.IntN(3) {
		case 0:
			ch.Inactivity += time.Hour
		case 1:
			conn.MOBIKE = !conn.MOBIKE
		}
		conn.Children, cfg.Connections = []*ike.ChildConfig{&ch}, []*ike.Connection{&conn}
		h.Do(ike.Reconfigure{Config: &cfg})
	case 10:
		if child != 0 {
			c := h.Kernel.children[child].sa
			h.Do(ike.Expire{SPI: c.SPIIn, Dst: c.Local, Hard: r.IntN(3) == 0})
		}
	case 11:
		h.pingsUnless(netip.AddrFrom4([4]byte{198, 18, 0, byte(r.IntN(4))})) // where nobody is
	default:
		h.pingsUnless(other.addrs[0])
	}
}

// meshAtRest says why hosts do not have one IKE SA with one CHILD_SA with each other.
func meshAtRest(hosts []*Host) error {
	for _, h := range hosts {
		var want, got []string
		for _, o := range hosts {
			if o != h {
				want = append(want, o.addrs[0].String())
			}
		}
		reqids := map[uint32]bool{}
		for _, sa := range h.Snapshot().IKESAs {
			for _, c := range sa.Children {
				if k := h.Kernel.children[c.SA.ID]; c.State == ike.ChildInstalled && k != nil && k.outbound != 0 {
					got = append(got, sa.Remote.Addr().String())
					if _, _, err := h.net.path(h, k); err != nil {
						return fmt.Errorf("what %s sends on %s is lost: %w", h.Name, childText{c.SA}, err)
					}
					if reqids[c.SA.ReqID] {
						return fmt.Errorf("%s uses reqid %d twice: %s", h.Name, c.SA.ReqID, h.Describe())
					}
					reqids[c.SA.ReqID] = true
				}
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(want, got) || len(h.Snapshot().IKESAs) != len(want) {
			return fmt.Errorf("%s has %d IKE SAs and CHILD_SAs with %v, want one with each of %v: %s", h.Name, len(h.Snapshot().IKESAs), got, want, h.Describe())
		}
		if !h.Up(ConnectionName, ChildName) {
			return fmt.Errorf("%s has not reported that it is up", h.Name)
		}
	}
	return nil
}
