package daemon

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"

	"github.com/ipsecd/ipsecd/cmd/internal/config"
	"github.com/ipsecd/ipsecd/cmd/internal/status"
	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/xfrm"
)

// trap is a child whose policies are installed without an SA: its first packet asks
// for one, and waits in the kernel.
type trap struct {
	of       *ike.Connection // whose child it is; nil: the engine's wish
	sa       *ike.ChildSA    // without SPIs and keys
	policies []xfrm.Policy
}

func newTrap(of *ike.Connection, sa *ike.ChildSA) trap { return trap{of, sa, trapPolicies(sa)} }

// trapsOf returns the traps of a configuration. reqid is the engine's number of
// a child, by which an acquire finds it. Those of before whose connections are the very same stay.
func trapsOf(c *config.Config, reqid func(connection, child string) uint32, source func(netip.Addr) netip.Addr, before []trap) []trap {
	known := make(map[*ike.ChildConfig]trap, len(before))
	for _, t := range before {
		known[t.sa.Config] = t
	}
	var out []trap
	for _, conn := range c.IKE.Connections {
		for _, ch := range conn.Children {
			if !ch.StartAction.Traps() || ch.Mode.Shunt() || !ch.Trappable(conn) {
				continue
			}
			if t, ok := known[ch]; ok && t.of == conn {
				out = append(out, t)
			} else if sa, ok := trapSA(conn, ch, source); ok {
				sa.ReqID = reqid(conn.Name, ch.Name)
				t := newTrap(conn, sa)
				if !ch.TrapsInbound(conn) {
					t.policies = slices.DeleteFunc(t.policies, func(p xfrm.Policy) bool { return p.Dir != xfrm.DirOut })
				}
				out = append(out, t)
			}
		}
	}
	return out
}

// trapSA is the CHILD_SA that the trap stands for, without SPIs. Without a single address of the peer it has
// none either, and there is one only where any peer can be asked.
func trapSA(conn *ike.Connection, ch *ike.ChildConfig, source func(netip.Addr) netip.Addr) (*ike.ChildSA, bool) {
	sa := &ike.ChildSA{
		Connection: conn.Name, Config: ch, Mode: ch.Mode,
		IfIDIn: ch.IfIDIn, IfIDOut: ch.IfIDOut, MarkIn: ch.MarkIn, MarkOut: ch.MarkOut,
	}
	if sa.IfIDIn == 0 {
		sa.IfIDIn = conn.IfIDIn
	}
	if sa.IfIDOut == 0 {
		sa.IfIDOut = conn.IfIDOut
	}
	var ok bool
	if sa.LocalTS, sa.RemoteTS, ok = conn.AnyPeerTrap(ch); ok {
		return sa, true
	}
	remote, ok := single(conn.RemoteAddrs)
	if !ok {
		return nil, false
	}
	local, ok := single(conn.LocalAddrs)
	if !ok {
		local = source(remote)
	}
	sa.Local, sa.Remote = local, remote
	sa.LocalTS, sa.RemoteTS = resolve(ch.LocalTS, local), resolve(ch.RemoteTS, remote)
	// Without an address yet, the kernel takes that of the route when there is one; a selector cannot wait.
	return sa, local.IsValid() || !slices.ContainsFunc(ch.LocalTS, func(t ike.TrafficSelector) bool { return t.Dynamic })
}

func single(list []ike.AddrMatch) (netip.Addr, bool) {
	for _, m := range list {
		if a, ok := m.Single(); ok {
			return a, true
		}
	}
	return netip.Addr{}, false
}

// resolve puts the address of its side into dynamic selectors.
func resolve(list []ike.TrafficSelector, a netip.Addr) []ike.TrafficSelector {
	out := make([]ike.TrafficSelector, len(list))
	for i, ts := range list {
		if ts.Dynamic {
			ts.Dynamic, ts.Start, ts.End = false, a, a
		}
		out[i] = ts
	}
	return out
}

func trapPolicies(sa *ike.ChildSA) []xfrm.Policy {
	list := policies(sa)
	for i := range list {
		if sa.Config.Priority == 0 {
			list[i].Priority = xfrm.Priority(xfrm.ClassRouted, list[i].Selector)
		}
	}
	return list
}

// setTraps makes the traps of start_action those given. Policies that CHILD_SAs use stay in
// their form.
func (in *installer) setTraps(traps []trap) error {
	gone, added := others(in.traps, traps), others(traps, in.traps)
	in.traps = traps
	if len(gone)+len(added) == 0 {
		return nil
	}
	defer in.publishTraps()
	return in.setFixed(flat(gone), flat(added))
}

// others returns those of list that are not among known.
func others(list, known []trap) (out []trap) {
	in := make(map[*ike.ChildSA]bool, len(known))
	for _, t := range known {
		in[t.sa] = true
	}
	for _, t := range list {
		if !in[t.sa] {
			out = append(out, t)
		}
	}
	return out
}

// publishTraps tells the status which traps there are.
func (in *installer) publishTraps() {
	if in.trapsSet == nil {
		return
	}
	names := map[status.ChildName]bool{}
	var list []status.Trap
	add := func(t trap) {
		name := status.ChildName{Connection: t.sa.Connection, Child: t.sa.Config.Name}
		if !names[name] {
			names[name] = true
			list = append(list, status.Trap{ChildName: name, ReqID: t.sa.ReqID, Mode: t.sa.Mode, LocalTS: t.sa.LocalTS, RemoteTS: t.sa.RemoteTS})
		}
	}
	for _, t := range in.traps {
		add(t)
	}
	armed := slices.SortedFunc(maps.Keys(in.armed), func(a, b status.ChildName) int {
		return cmp.Or(cmp.Compare(a.Connection, b.Connection), cmp.Compare(a.Child, b.Child))
	})
	for _, name := range armed {
		add(in.armed[name])
	}
	in.trapsSet(list)
}

func flat(traps []trap) []xfrm.Policy {
	var out []xfrm.Policy
	for _, t := range traps {
		out = append(out, t.policies...)
	}
	return out
}

// arm sets a trap by the engine's wish (dpd_action or close_action = trap).
func (in *installer) arm(sa *ike.ChildSA) error {
	name := status.ChildName{Connection: sa.Connection, Child: sa.Config.Name}
	old, t := in.armed[name], newTrap(nil, sa)
	in.armed[name] = t
	defer in.publishTraps()
	return in.setFixed(old.policies, t.policies)
}

// disarm takes it back.
func (in *installer) disarm(name status.ChildName) error {
	t := in.armed[name]
	delete(in.armed, name)
	defer in.publishTraps()
	return in.setFixed(t.policies, nil)
}
