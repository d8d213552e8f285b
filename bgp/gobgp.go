package bgp

import (
	"fmt"
	"net/netip"
	"time"

	api "github.com/osrg/gobgp/v3/api"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
)

// This file turns our types into GoBGP's.

func apiGlobal(c *Config, listen []string) *api.Global {
	g := &api.Global{
		Asn:              c.AS,
		RouterId:         c.RouterID.String(),
		ListenPort:       -1, // 0 would be 179
		UseMultiplePaths: true,
	}
	if len(listen) > 0 {
		g.ListenPort = int32(c.ListenPort)
		g.ListenAddresses = listen
	}
	return g
}

func apiPeer(n *Neighbor, restarting bool) *api.Peer {
	hold := or(n.HoldTime, DefaultHoldTime)
	p := &api.Peer{
		Conf: &api.PeerConf{
			NeighborAddress: n.Address.String(),
			PeerAsn:         n.AS,
			Description:     n.Name,
			AuthPassword:    string(n.Password),
		},
		Timers: &api.Timers{Config: &api.TimersConfig{
			HoldTime:          seconds(hold),
			KeepaliveInterval: seconds(or(n.Keepalive, max(hold/3, time.Second))),
			ConnectRetry:      seconds(or(n.ConnectRetry, DefaultConnectRetry)),
		}},
		Transport: &api.Transport{
			PassiveMode:   n.Passive,
			BindInterface: n.Interface,
			RemotePort:    uint32(or(n.RemotePort, Port)),
		},
		AfiSafis: []*api.AfiSafi{{
			Config: &api.AfiSafiConfig{Family: apiFamily(n.family()), Enabled: true},
			// RFC 4724 section 3: only families that the session has are listed,
			// or the neighbour would wait for an End-of-RIB that never comes.
			MpGracefulRestart: &api.MpGracefulRestart{
				Config: &api.MpGracefulRestartConfig{Enabled: !n.NoGracefulRestart},
			},
			PrefixLimits: &api.PrefixLimit{
				Family:      apiFamily(n.family()),
				MaxPrefixes: or(n.ImportMax, DefaultImportMax),
			},
		}},
	}
	if n.LocalAddress.IsValid() {
		p.Transport.LocalAddress = n.LocalAddress.String()
	}
	if n.MultihopTTL != 0 {
		p.EbgpMultihop = &api.EbgpMultihop{Enabled: true, MultihopTtl: uint32(n.MultihopTTL)}
	}
	if n.TTLSecurity != 0 {
		p.TtlSecurity = &api.TtlSecurity{Enabled: true, TtlMin: uint32(n.TTLSecurity)}
	}
	if !n.NoGracefulRestart {
		p.GracefulRestart = &api.GracefulRestart{
			Enabled:         true,
			RestartTime:     uint32(seconds(or(n.RestartTime, DefaultRestartTime))),
			DeferralTime:    uint32(seconds(DefaultDeferral)),
			LocalRestarting: restarting,
		}
	}
	return p
}

// apiNetwork is a path of our own. The unspecified next hop becomes the local
// address of each session.
func apiNetwork(p netip.Prefix) (*api.Path, error) {
	nlri := &api.IPAddressPrefix{Prefix: p.Addr().String(), PrefixLen: uint32(p.Bits())}
	attrs := []proto.Message{&api.OriginAttribute{Origin: 0}} // IGP
	family := familyOf(p.Addr())
	if family == IPv6 {
		n, err := anypb.New(nlri)
		if err != nil {
			return nil, fmt.Errorf("bgp: network %v: %w", p, err)
		}
		attrs = append(attrs, &api.MpReachNLRIAttribute{
			Family: apiFamily(family), NextHops: []string{"::"}, Nlris: []*anypb.Any{n},
		})
	} else {
		attrs = append(attrs, &api.NextHopAttribute{NextHop: "0.0.0.0"})
	}

	path := &api.Path{Family: apiFamily(family)}
	var err error
	if path.Nlri, err = anypb.New(nlri); err != nil {
		return nil, fmt.Errorf("bgp: network %v: %w", p, err)
	}
	for _, a := range attrs {
		any, err := anypb.New(a)
		if err != nil {
			return nil, fmt.Errorf("bgp: network %v: %w", p, err)
		}
		path.Pattrs = append(path.Pattrs, any)
	}
	return path, nil
}

func apiFamily(f Family) *api.Family {
	if f == IPv6 {
		return &api.Family{Afi: api.Family_AFI_IP6, Safi: api.Family_SAFI_UNICAST}
	}
	return &api.Family{Afi: api.Family_AFI_IP, Safi: api.Family_SAFI_UNICAST}
}

// family is the one family of the session: that of its addresses.
func (n *Neighbor) family() Family { return familyOf(n.Address) }

func familyOf(a netip.Addr) Family {
	if a.Is4() {
		return IPv4
	}
	return IPv6
}

func seconds(d time.Duration) uint64 { return uint64(d / time.Second) }

// or is v, or def when v is zero.
func or[T comparable](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}
