package daemon

import (
	"math"
	"net/netip"

	"github.com/ipsecd/ipsecd/cmd/internal/config"
	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/xfrm"
)

// shuntsOf returns the policies of the children with mode = pass or drop that start_action installs. They
// need no peer.
func shuntsOf(c *config.Config) []xfrm.Policy {
	var out []xfrm.Policy
	for _, conn := range c.IKE.Connections {
		for _, ch := range conn.Children {
			if ch.Mode.Shunt() && ch.StartAction != ike.ActionClear {
				out = append(out, shuntPolicies(conn, ch)...)
			}
		}
	}
	return out
}

func shuntPolicies(conn *ike.Connection, ch *ike.ChildConfig) []xfrm.Policy {
	action, class := xfrm.Allow, xfrm.ClassPass
	if ch.Mode == ike.ModeDrop {
		action, class = xfrm.Block, xfrm.ClassFallback
	}
	var out []xfrm.Policy
	for _, s := range selectors(shuntSide(ch.LocalTS, conn.LocalAddrs), shuntSide(ch.RemoteTS, conn.RemoteAddrs)) {
		s.Interface = ch.PolicyInterface
		prio := ch.Priority
		if prio == 0 {
			prio = xfrm.Priority(class, s)
		}
		outward := xfrm.Policy{Dir: xfrm.DirOut, Selector: s, IfID: ch.IfIDOut, Mark: xfrm.Mark(ch.MarkOut), Priority: prio, Action: action}
		inward := xfrm.Policy{Dir: xfrm.DirIn, Selector: reverse(s), IfID: ch.IfIDIn, Mark: xfrm.Mark(ch.MarkIn), Priority: prio, Action: action}
		forward := inward
		forward.Dir = xfrm.DirFwd
		out = append(out, outward, inward, forward)
	}
	return out
}

// shuntSide resolves dynamic selectors: there is no IKE SA whose address they could stand for but the
// configured one; without one they are for any address.
func shuntSide(list []ike.TrafficSelector, addrs []ike.AddrMatch) []ike.TrafficSelector {
	host, known := single(addrs)
	var out []ike.TrafficSelector
	for _, ts := range list {
		switch {
		case !ts.Dynamic:
			out = append(out, ts)
		case known:
			out = append(out, resolve([]ike.TrafficSelector{ts}, host)...)
		default:
			for _, all := range []string{"0.0.0.0/0", "::/0"} {
				any := ike.PrefixSelector(netip.MustParsePrefix(all))
				any.Protocol, any.StartPort, any.EndPort = ts.Protocol, ts.StartPort, ts.EndPort
				out = append(out, any)
			}
		}
	}
	if len(out) == 0 {
		return shuntSide([]ike.TrafficSelector{{Dynamic: true, EndPort: math.MaxUint16}}, addrs)
	}
	return out
}

// fixtureOf returns what a configuration wants of the kernel beside CHILD_SAs.
func fixtureOf(c *config.Config) fixture {
	return fixture{guards: guardedByPolicy(c), shunts: shuntsOf(c), interfaces: c.Interfaces}
}
