package statustest

import (
	"net/netip"
	"time"

	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/auth"
	"github.com/ipsecd/ipsecd/ike/suite"
	"github.com/ipsecd/ipsecd/xfrm"
)

var gateway = netip.MustParseAddr("192.0.2.1")

func connection(name, remote string, children ...*ike.ChildConfig) *ike.Connection {
	addr := netip.MustParseAddr(remote)
	single := func(a netip.Addr) []ike.AddrMatch { return []ike.AddrMatch{{Prefix: netip.PrefixFrom(a, a.BitLen())}} }
	return &ike.Connection{
		Name:        name,
		LocalAddrs:  single(gateway),
		RemoteAddrs: single(addr),
		Proposals:   []suite.Proposal{proposal(suite.IKE, "aes256gcm16-prfsha384-ecp384")},
		Local:       ike.AuthConfig{Method: ike.AuthPSK, ID: auth.FromAddr(gateway)},
		Remote:      ike.AuthConfig{Method: ike.AuthPSK, ID: auth.FromAddr(addr)},
		RekeyTime:   4 * time.Hour,
		DPDDelay:    10 * time.Second,
		Children:    children,
	}
}

func selector(p string) []ike.TrafficSelector {
	prefix := netip.MustParsePrefix(p)
	end := prefix.Addr().As4()
	for bit := prefix.Bits(); bit < 32; bit++ {
		end[bit/8] |= 0x80 >> (bit % 8)
	}
	return []ike.TrafficSelector{{Start: prefix.Addr(), End: netip.AddrFrom4(end), EndPort: 65535}}
}

func policyChild(name, local, remote string) *ike.ChildConfig {
	return &ike.ChildConfig{Name: name, LocalTS: selector(local), RemoteTS: selector(remote), RekeyTime: time.Hour, StartAction: ike.ActionTrap, Policies: true}
}

func routeBased(name, remote string, ifID uint32) *ike.Connection {
	child := policyChild("net", "0.0.0.0/0", "0.0.0.0/0")
	child.StartAction, child.Interface, child.IfIDIn, child.IfIDOut = ike.ActionStart, name, ifID, ifID
	return connection(name, remote, child)
}

// hqSA has two CHILD_SAs: the old one and the one that replaced it.
func hqSA(conn *ike.Connection) ike.IKESAInfo {
	sa := established(1, conn, "203.0.113.7:4500")
	sa.Local = netip.MustParseAddrPort("192.0.2.1:4500")
	sa.NATRemote = true
	sa.Children = []ike.ChildInfo{
		child(7, &sa, conn.Children[0], ike.ChildRekeyed, 29*time.Minute),
		child(8, &sa, conn.Children[0], ike.ChildInstalled, time.Minute),
	}
	for _, c := range sa.Children {
		c.SA.Encap, c.SA.LocalPort, c.SA.RemotePort = true, 4500, 4500
	}
	sa.Children[1].RekeyAt = Now.Add(31 * time.Minute)
	return sa
}

// labSA has child a; b is asked for.
func labSA(conn *ike.Connection) ike.IKESAInfo {
	sa := established(2, conn, "192.0.2.77:500")
	sa.Initiator = false
	sa.Children = []ike.ChildInfo{child(9, &sa, conn.Children[0], ike.ChildInstalled, 10*time.Minute)}
	sa.TasksActive = []string{"CHILD_CREATE"}
	return sa
}

func newSA() ike.IKESAInfo {
	return ike.IKESAInfo{
		ID: 3, Connection: "new", State: ike.IKEConnecting, Initiator: true, SPIi: 0xcc,
		Local:  netip.MustParseAddrPort("192.0.2.1:500"),
		Remote: netip.MustParseAddrPort("192.0.2.99:500"),
	}
}

func established(id uint32, conn *ike.Connection, remote string) ike.IKESAInfo {
	return ike.IKESAInfo{
		ID: id, Connection: conn.Name, State: ike.IKEEstablished, Initiator: true,
		SPIi: 0xa0 + uint64(id), SPIr: 0xb0 + uint64(id),
		Local:       netip.MustParseAddrPort("192.0.2.1:500"),
		Remote:      netip.MustParseAddrPort(remote),
		LocalID:     conn.Local.ID,
		RemoteID:    conn.Remote.ID,
		Proposal:    proposal(suite.IKE, "aes256gcm16-prfsha384-ecp384"),
		Established: Now.Add(-3 * time.Hour),
		RekeyAt:     Now.Add(time.Hour),
		ExpireAt:    Now.Add(time.Hour + 24*time.Minute),
		LastInbound: Now.Add(-5 * time.Second),
	}
}

func child(id uint32, sa *ike.IKESAInfo, conf *ike.ChildConfig, state ike.ChildState, age time.Duration) ike.ChildInfo {
	return ike.ChildInfo{
		SA: &ike.ChildSA{
			ID: id, IKEID: sa.ID, Connection: sa.Connection, Config: conf, ReqID: sa.ID,
			Local: sa.Local.Addr(), Remote: sa.Remote.Addr(),
			SPIIn: 0xc0ffee00 + id, SPIOut: 0xdecade00 + id,
			LocalTS: conf.LocalTS, RemoteTS: conf.RemoteTS,
			IfIDIn: conf.IfIDIn, IfIDOut: conf.IfIDOut, Initiator: true,
		},
		State:     state,
		Proposal:  proposal(suite.ESP, "aes128-sha256-modp2048"),
		Installed: Now.Add(-age),
		RekeyAt:   Now.Add(time.Hour - age),
		ExpireAt:  Now.Add(66*time.Minute - age),
	}
}

// labPolicies are those of child a.
func labPolicies() []xfrm.Policy {
	ours, theirs := netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("10.2.0.0/16")
	peer := netip.MustParseAddr("192.0.2.77")
	one := func(dir xfrm.Dir, src, dst netip.Prefix, from, to netip.Addr) xfrm.Policy {
		return xfrm.Policy{
			Dir: dir, Selector: xfrm.Selector{Src: src, Dst: dst}, Priority: 1000,
			Templates: []xfrm.Template{{Src: from, Dst: to, Proto: xfrm.ESP, Mode: xfrm.Tunnel, ReqID: 2}},
		}
	}
	return []xfrm.Policy{
		one(xfrm.DirOut, ours, theirs, gateway, peer),
		one(xfrm.DirIn, theirs, ours, peer, gateway),
		one(xfrm.DirFwd, theirs, ours, peer, gateway),
	}
}
