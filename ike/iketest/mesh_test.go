package iketest

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"github.com/ipsecd/ipsecd/ike"
)

// meshHost is one of the hosts of mesh.
func meshHost(i int) netip.Addr { return netip.AddrFrom4([4]byte{192, 0, 2, byte(10 + i)}) }

// mesh returns hosts that each trap traffic to any other, in transport mode, as strongSwan's ikev2/trap-any does; they are
// known by their addresses. edit, which may be nil, changes their configurations.
func mesh(seed uint64, hosts int, edit func(i int, c *ike.Connection)) (n *Net, list []*Host) {
	n = NewNet(seed)
	for i := range hosts {
		end := End{ID: meshHost(i).String(), Addr: meshHost(i), Net: EndA.Net}
		cfg := Connect(end, EndB)
		c := cfg.Connections[0]
		c.LocalAddrs, c.RemoteAddrs, c.Remote.ID = nil, nil, Identity("%any")
		c.Children[0].Mode, c.Children[0].StartAction = ike.ModeTransport, ike.ActionTrap
		c.Children[0].LocalTS = []ike.TrafficSelector{{Dynamic: true, EndPort: 65535}}
		c.Children[0].RemoteTS = c.Children[0].LocalTS
		if edit != nil {
			edit(i, c)
		}
		list = append(list, n.AddHost(fmt.Sprintf("host%d", i), cfg, end.Addr))
		list[i].Do(ike.AddressChanged{Addrs: []netip.Addr{end.Addr}})
	}
	return n, list
}

// pings asks a host for the CHILD_SA of an echo request, as its kernel does.
func (h *Host) pings(dst netip.Addr) {
	h.Do(ike.Acquire{
		ReqID: h.Engine().ReqID(ConnectionName, ChildName), Protocol: 1,
		Src: netip.AddrPortFrom(h.addrs[0], 8), Dst: netip.AddrPortFrom(dst, 0),
	})
}

// peers lists where a host has IKE SAs with a CHILD_SA, each once for each, and fails unless the selectors are those of the two hosts.
func peers(t *testing.T, n *Net, h *Host) (list []string) {
	t.Helper()
	noViolation(t, n)
	for _, sa := range h.Snapshot().IKESAs {
		for _, c := range sa.Children {
			if c.State != ike.ChildInstalled {
				continue
			}
			peer := sa.Remote.Addr().String()
			list = append(list, peer)
			if got, want := fmt.Sprint(c.SA.LocalTS, c.SA.RemoteTS), fmt.Sprintf("[%v/32] [%s/32]", h.addrs[0], peer); got != want {
				failRun(t, n, "%s has %s, want %s", h.Name, got, want)
			}
		}
	}
	slices.Sort(list)
	return list
}

func wantPeers(t *testing.T, n *Net, h *Host, want ...netip.Addr) {
	t.Helper()
	text := []string{}
	for _, a := range want {
		text = append(text, a.String())
	}
	slices.Sort(text)
	if got := peers(t, n, h); !slices.Equal(got, text) {
		failRun(t, n, "%s has %v, want %v", h.Name, got, text)
	}
}
