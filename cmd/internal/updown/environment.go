package updown

import (
	"fmt"
	"net/netip"
	"strconv"

	"github.com/ipsecd/ipsecd/ike"
)

// pair is a pair of selectors for which a script runs.
type pair struct{ local, remote ike.TrafficSelector }

// pairs lists those of a CHILD_SA whose packets can exist.
func pairs(c *ike.ChildSA) []pair {
	var out []pair
	for _, l := range c.LocalTS {
		for _, r := range c.RemoteTS {
			if l.Start.Is4() == r.Start.Is4() && (l.Protocol == r.Protocol || l.Protocol == 0 || r.Protocol == 0) {
				out = append(out, pair{l, r})
			}
		}
	}
	return out
}

// environment writes what a script is told: strongSwan's variables, with their values and in their order.
func environment(ev ike.UpDown, p pair, path, device string, dns bool) []string {
	c, sa := ev.Child, ev.SA
	var env []string
	set := func(name, format string, args ...any) { env = append(env, name+"="+fmt.Sprintf(format, args...)) }
	set("PATH", "%s", path)
	set("PLUTO_VERSION", "1.1")
	set("PLUTO_VERB", "%s", verb(ev.Up, c.Local, p.local))
	set("PLUTO_CONNECTION", "%s", c.Config.Name)
	set("PLUTO_INTERFACE", "%s", device)
	set("PLUTO_REQID", "%d", c.ReqID)
	set("PLUTO_PROTO", "esp")
	set("PLUTO_UNIQUEID", "%d", sa.ID)
	set("PLUTO_ME", "%v", c.Local)
	set("PLUTO_MY_ID", "%v", sa.LocalID)
	set("PLUTO_MY_CLIENT", "%v", network(p.local))
	set("PLUTO_MY_PORT", "%s", port(p, p.local, true))
	set("PLUTO_MY_PROTOCOL", "%d", p.local.Protocol)
	set("PLUTO_PEER", "%v", c.Remote)
	set("PLUTO_PEER_ID", "%v", sa.RemoteID)
	set("PLUTO_PEER_CLIENT", "%v", network(p.remote))
	set("PLUTO_PEER_PORT", "%s", port(p, p.remote, false))
	set("PLUTO_PEER_PROTOCOL", "%d", p.remote.Protocol)
	addresses(set, "PLUTO_MY_SOURCEIP", true, sa.LocalVIPs)
	addresses(set, "PLUTO_PEER_SOURCEIP", true, sa.RemoteVIPs)
	if m := c.MarkIn; m.Value != 0 {
		set("PLUTO_MARK_IN", "%d/0x%08x", m.Value, m.Mask)
	}
	if m := c.MarkOut; m.Value != 0 {
		set("PLUTO_MARK_OUT", "%d/0x%08x", m.Value, m.Mask)
	}
	if c.IfIDIn != 0 {
		set("PLUTO_IF_ID_IN", "%d", c.IfIDIn)
	}
	if c.IfIDOut != 0 {
		set("PLUTO_IF_ID_OUT", "%d", c.IfIDOut)
	}
	if c.Encap {
		set("PLUTO_UDP_ENC", "%d", sa.Remote.Port())
	}
	if dns {
		addresses(set, "PLUTO_DNS", false, sa.DNS)
	}
	if c.Config.HostAccess {
		set("PLUTO_HOST_ACCESS", "1")
	}
	return env
}

// verb says what happens, and whether it is to the host itself or to a network behind it.
func verb(up bool, host netip.Addr, local ike.TrafficSelector) string {
	v := "down"
	if up {
		v = "up"
	}
	if local.Start == host && local.End == host {
		v += "-host"
	} else {
		v += "-client"
	}
	if local.Start.Is6() {
		v += "-v6"
	}
	return v
}

// addresses numbers the addresses of each family; the first one of all has a variable of its own, if whole is set.
func addresses(set func(name, format string, args ...any), name string, whole bool, list []netip.Addr) {
	v4, v6 := 0, 0
	for i, a := range list {
		if i == 0 && whole {
			set(name, "%v", a)
		}
		if a.Is4() {
			v4++
			set(fmt.Sprintf("%s4_%d", name, v4), "%v", a)
		} else {
			v6++
			set(fmt.Sprintf("%s6_%d", name, v6), "%v", a)
		}
	}
}

// network is the selector's range, or the next larger network.
func network(ts ike.TrafficSelector) netip.Prefix {
	bits := ts.Start.BitLen()
	for bits > 0 && !netip.PrefixFrom(ts.Start, bits).Contains(ts.End) {
		bits--
	}
	return netip.PrefixFrom(ts.Start, bits).Masked()
}

// The protocols whose ports are type and code.
const (
	icmp   = 1
	icmpv6 = 58
)

// port writes the ports of one side of a pair: 0 for all, "first:last" for a range; of ICMP the type on our side and the code on
// the other.
func port(p pair, ts ike.TrafficSelector, local bool) string {
	if proto := max(p.local.Protocol, p.remote.Protocol); proto == icmp || proto == icmpv6 {
		n := max(p.local.StartPort, p.remote.StartPort)
		if local {
			return strconv.Itoa(int(n >> 8))
		}
		return strconv.Itoa(int(n & 0xff))
	}
	if ts.StartPort == ts.EndPort || ts.StartPort == 0 && ts.EndPort == 65535 {
		return strconv.Itoa(int(ts.StartPort))
	}
	return fmt.Sprintf("%d:%d", ts.StartPort, ts.EndPort)
}
