package iketest

import (
	"net/netip"

	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/auth"
	"github.com/ipsecd/ipsecd/ike/suite"
)

// End is one end of a site-to-site tunnel.
type End struct {
	ID   string
	Addr netip.Addr
	Net  netip.Prefix // behind it
}

// Names that the configurations of Connect use.
const (
	ConnectionName = "site"
	ChildName      = "net"
)

// psk is the secret of every configuration of Connect.
const psk = "a secret of the simulator, not of anybody"

// Connect returns the configuration of the end local of a tunnel to remote: one connection
// with one child, pre-shared keys, fast algorithms with forward secrecy, started by nobody, and
// no timers that rekey or check for life. The caller owns it and changes what it tests.
func Connect(local, remote End) *ike.Config {
	child := ike.DefaultChild()
	child.Name, child.Source = ChildName, "simulated.conf:20"
	child.Proposals = Proposals(suite.ESP, "aes128gcm16-x25519")
	child.LocalTS, child.RemoteTS = Selectors(local.Net), Selectors(remote.Net)
	child.RekeyTime, child.LifeTime, child.RandTime = 0, 0, 0

	conn := ike.DefaultConnection()
	conn.Name, conn.Source = ConnectionName, "simulated.conf:10"
	conn.LocalAddrs, conn.RemoteAddrs = Addrs(local.Addr), Addrs(remote.Addr)
	conn.Proposals = Proposals(suite.IKE, "aes128gcm16-prfsha256-x25519")
	conn.Local = ike.AuthConfig{Method: ike.AuthPSK, ID: Identity(local.ID)}
	conn.Remote = ike.AuthConfig{Method: ike.AuthPSK, ID: Identity(remote.ID)}
	conn.RekeyTime, conn.OverTime, conn.RandTime = 0, 0, 0
	conn.Children = []*ike.ChildConfig{&child}

	return &ike.Config{
		Connections: []*ike.Connection{&conn},
		Secrets:     []auth.Secret{{Name: "simulated.conf:30", Key: suite.NewKey([]byte(psk))}},
		Limits:      ike.DefaultLimits(),
		Timing:      ike.DefaultTiming(),
	}
}

// Proposals parses proposals; it panics if they are wrong.
func Proposals(proto suite.Protocol, list ...string) []suite.Proposal {
	ps, err := suite.ParseProposals(proto, list)
	if err != nil {
		panic(err)
	}
	return ps
}

// Identity parses an identity; it panics if that is wrong.
func Identity(s string) auth.Identity {
	id, err := auth.Parse(s)
	if err != nil {
		panic(err)
	}
	return id
}

// Addrs returns matches of single addresses.
func Addrs(addrs ...netip.Addr) []ike.AddrMatch {
	var ms []ike.AddrMatch
	for _, a := range addrs {
		ms = append(ms, ike.AddrMatch{Prefix: netip.PrefixFrom(a, a.BitLen())})
	}
	return ms
}

// Selectors returns selectors for all protocols and ports of networks.
func Selectors(nets ...netip.Prefix) []ike.TrafficSelector {
	var ts []ike.TrafficSelector
	for _, p := range nets {
		ts = append(ts, ike.TrafficSelector{Start: p.Masked().Addr(), End: lastAddr(p), EndPort: 65535})
	}
	return ts
}

func lastAddr(p netip.Prefix) netip.Addr {
	b := p.Masked().Addr().AsSlice()
	for bit := p.Bits(); bit < 8*len(b); bit++ {
		b[bit/8] |= 0x80 >> (bit % 8)
	}
	last, _ := netip.AddrFromSlice(b)
	return last
}
