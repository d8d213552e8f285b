package iketest

import "net/netip"

// firstNATPort is the outside port of a NAT's first mapping.
const firstNATPort = 20000

// NAT translates the addresses and ports of the hosts behind it to its outside
// address, a port for each inside address and port. It lets in what comes to a mapped port.
type NAT struct {
	net     *Net
	outside netip.Addr
	next    uint16
	out     map[netip.AddrPort]netip.AddrPort // inside to outside
	in      map[netip.AddrPort]netip.AddrPort // outside to inside
}

// AddNAT puts the hosts behind a NAT with an outside address.
func (n *Net) AddNAT(outside netip.Addr, hosts ...*Host) *NAT {
	t := &NAT{net: n, outside: outside, next: firstNATPort}
	t.clear()
	n.nats[outside] = t
	for _, h := range hosts {
		h.nat = t
	}
	return t
}

func (t *NAT) clear() {
	t.out = map[netip.AddrPort]netip.AddrPort{}
	t.in = map[netip.AddrPort]netip.AddrPort{}
}

// Rebind forgets all mappings, as a restarted NAT does; the next packet from inside gets
// another port.
func (t *NAT) Rebind() {
	t.clear()
	t.net.tracef("NAT %v forgets its mappings", t.outside)
}

// Forward maps an outside port to a host behind the NAT, as port forwarding does.
func (t *NAT) Forward(port uint16, inside netip.AddrPort) {
	t.bind(inside, netip.AddrPortFrom(t.outside, port))
}

func (t *NAT) bind(inside, outside netip.AddrPort) {
	t.out[inside], t.in[outside] = outside, inside
}

// outbound returns the source address that the outside sees.
func (t *NAT) outbound(src netip.AddrPort) netip.AddrPort {
	if o, ok := t.out[src]; ok {
		return o
	}
	o := netip.AddrPortFrom(t.outside, t.next)
	t.next++
	t.bind(src, o)
	return o
}

// inside returns where a packet of a host to dst goes; false: the NAT has no mapping, or dst is the inside
// address of a host behind one.
func (n *Net) inside(from *Host, dst netip.AddrPort) (netip.AddrPort, bool) {
	if t := n.nats[dst.Addr()]; t != nil {
		in, ok := t.in[dst]
		return in, ok
	}
	h := n.byAddr[dst.Addr()]
	return dst, h == nil || h.nat == nil || h.nat == from.nat
}
