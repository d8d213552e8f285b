package iketest

import (
	"bytes"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/ipsecd/ipsecd/ike"
)

// flow is the traffic that one host sends for a reqid.
type flow struct {
	host  *Host
	reqid uint32
}

// Traffic in the background.
const (
	pingEvery = 100 * time.Millisecond // much shorter than the delayed removal of an inbound SA
	pollEvery = time.Second            // of the kernels' counters
	calm      = 20 * time.Second       // after the last IKE message, both become rarer
	calmPing  = 2 * time.Second        // still shorter than that delay
	calmPoll  = 5 * time.Second
)

// pause returns how long to wait for the next background event of a kind.
func (n *Net) pause(busy, quiet time.Duration) time.Duration {
	if n.now.Sub(n.lastSent) > calm {
		return quiet
	}
	return busy
}

// GuardTraffic makes it a violation, from now on, that one of the CHILD_SAs that are now in
// use would send what its peer cannot decrypt, or has nothing to send with. Packets
// go to and fro in the background, and the engines are told of the kernels' counters,
// unless the Net is Silent.
func (n *Net) GuardTraffic() {
	n.tracef("traffic must flow from now on")
	for _, h := range n.hosts {
		for _, c := range h.Kernel.children {
			if c.outbound != 0 {
				n.guard[flow{h, c.sa.ReqID}] = true
			}
		}
	}
	n.guarded = n.flows()
	if !n.pinging && !n.Silent {
		n.pinging = true
		n.background(pingEvery, n.ping)
		n.background(pollEvery, n.poll)
	}
}

// UnguardTraffic ends what GuardTraffic began.
func (n *Net) UnguardTraffic() {
	n.tracef("traffic need not flow any more")
	clear(n.guard)
	n.guarded = nil
	n.pinging = false
}

// flows lists what is guarded, in a fixed order.
func (n *Net) flows() []flow {
	var all []flow
	for f := range n.guard {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b flow) int {
		if a.host != b.host {
			return slices.Index(n.hosts, a.host) - slices.Index(n.hosts, b.host)
		}
		return int(a.reqid) - int(b.reqid)
	})
	return all
}

// checkFlows checks that at this instant everything guarded would get through.
func (n *Net) checkFlows() {
	for _, f := range n.guarded {
		if !f.host.running() {
			continue
		}
		out := f.host.Kernel.newest(f.reqid)
		if out == nil {
			n.violate("%s has no outbound SA for reqid %d", f.host.Name, f.reqid)
			return
		}
		if _, _, err := n.path(f.host, out); err != nil {
			n.violate("what %s sends on %s would be lost: %v", f.host.Name, childText{out.sa}, err)
			return
		}
	}
}

// ping sends a packet of every guarded flow. It must be decrypted when it arrives, too.
func (n *Net) ping() {
	if !n.pinging {
		return
	}
	for _, f := range n.guarded {
		out := f.host.Kernel.newest(f.reqid)
		if out == nil {
			continue // checkFlows has told
		}
		out.out++
		sent := *out
		n.background(n.Faults.Delay+n.upTo(n.Faults.Jitter), func() {
			if !n.guard[f] {
				return
			}
			_, in, err := n.path(f.host, &sent)
			if err != nil {
				n.violate("a packet that %s sent on %s is lost: %v", f.host.Name, childText{sent.sa}, err)
				return
			}
			in.in++
		})
	}
	n.background(n.pause(pingEvery, calmPing), n.ping)
}

// poll tells the engines what the kernels have counted.
func (n *Net) poll() {
	if !n.pinging {
		return
	}
	for _, h := range n.hosts {
		for _, id := range h.Kernel.ids() {
			// What one event leads to may remove the next one's CHILD_SA.
			if c := h.Kernel.children[id]; c != nil && h.running() {
				ev := ike.Traffic{ChildID: id, InPackets: c.in, OutPackets: c.out, InBytes: 64 * c.in, OutBytes: 64 * c.out}
				h.step(func(now time.Time) { h.engine.HandleEvent(now, ev) })
			}
		}
	}
	n.background(n.pause(pollEvery, calmPoll), n.poll)
}

func (k *Kernel) ids() []uint32 {
	var ids []uint32
	for id := range k.children {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// path finds the inbound SA that an outbound one leads to, and says why there is none that
// could decrypt.
func (n *Net) path(from *Host, out *installed) (*Host, *installed, error) {
	src, dst := netip.AddrPortFrom(out.sa.Local, out.sa.LocalPort), netip.AddrPortFrom(out.sa.Remote, out.sa.RemotePort)
	if !slices.Contains(from.addrs, src.Addr()) {
		return nil, nil, fmt.Errorf("its source %v is not an address of %s", src.Addr(), from.Name)
	}
	if !out.sa.Encap && (from.nat != nil || n.nats[dst.Addr()] != nil) {
		return nil, nil, fmt.Errorf("it is not in UDP, and there is a NAT on the way to %v", dst.Addr())
	}
	in, ok := n.inside(from, dst)
	if !ok {
		return nil, nil, fmt.Errorf("no NAT lets in what goes to %v", dst)
	}
	to := n.byAddr[in.Addr()]
	if to == nil {
		return nil, nil, fmt.Errorf("nobody is at %v", dst)
	}
	c := to.Kernel.inbound[out.sa.SPIOut]
	switch {
	case c == nil:
		return nil, nil, fmt.Errorf("%s has no inbound SA with SPI %08x", to.Name, out.sa.SPIOut)
	case c.sa.Local != in.Addr():
		return nil, nil, fmt.Errorf("the inbound SA %s of %s is for %v, and the packet goes to %v", childText{c.sa}, to.Name, c.sa.Local, in.Addr())
	}
	return to, c, fits(out, c)
}

// fits says why an inbound SA cannot decrypt what an outbound one encrypts.
func fits(out, in *installed) error {
	switch {
	case out.keys.encr != in.keys.encr || out.keys.integ != in.keys.integ || out.keys.esn != in.keys.esn:
		return fmt.Errorf("the algorithms differ: %v %v esn=%v and %v %v esn=%v", out.keys.encr, out.keys.integ, out.keys.esn, in.keys.encr, in.keys.integ, in.keys.esn)
	case !bytes.Equal(out.keys.encrOut, in.keys.encrIn):
		return fmt.Errorf("the encryption keys differ")
	case !bytes.Equal(out.keys.integOut, in.keys.integIn):
		return fmt.Errorf("the integrity keys differ")
	case out.sa.Encap != in.sa.Encap:
		return fmt.Errorf("one end uses UDP encapsulation, the other does not")
	case out.sa.Mode != in.sa.Mode:
		return fmt.Errorf("one end uses %v mode, the other %v", out.sa.Mode, in.sa.Mode)
	case out.sa.Mode == ike.ModeTransport:
		return fitsTransport(out.sa, in.sa)
	case !slices.Equal(out.sa.LocalTS, in.sa.RemoteTS) || !slices.Equal(out.sa.RemoteTS, in.sa.LocalTS):
		return fmt.Errorf("the traffic selectors differ: %v === %v and %v === %v", out.sa.LocalTS, out.sa.RemoteTS, in.sa.RemoteTS, in.sa.LocalTS)
	}
	return nil
}

// fitsTransport says why selectors of transport mode do not fit: those of each end have the addresses that its
// packets have there, which a NAT changes under way (RFC 7296 section 2.23.1); all else is equal.
func fitsTransport(out, in *ike.ChildSA) error {
	for _, sa := range []*ike.ChildSA{out, in} {
		for _, t := range sa.LocalTS {
			if t.Start != sa.Local || t.End != sa.Local {
				return fmt.Errorf("%s has the selector %v, and its packets the address %v", childText{sa}, t, sa.Local)
			}
		}
		for _, t := range sa.RemoteTS {
			if t.Start != sa.Remote || t.End != sa.Remote {
				return fmt.Errorf("%s has the selector %v, and its peer the address %v", childText{sa}, t, sa.Remote)
			}
		}
	}
	if !slices.EqualFunc(out.LocalTS, in.RemoteTS, sameButAddress) || !slices.EqualFunc(out.RemoteTS, in.LocalTS, sameButAddress) {
		return fmt.Errorf("the traffic selectors differ: %v === %v and %v === %v", out.LocalTS, out.RemoteTS, in.RemoteTS, in.LocalTS)
	}
	return nil
}

func sameButAddress(a, b ike.TrafficSelector) bool {
	a.Start, a.End = b.Start, b.End
	return a == b
}
