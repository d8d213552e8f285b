package show

import (
	"slices"
	"time"

	"github.com/ipsecd/ipsecd/cmd/internal/status"
	"github.com/ipsecd/ipsecd/ike"
)

// The states of a tunnel.
const (
	StateUp         = "UP"
	StateConnecting = "CONNECTING"
	StateDown       = "DOWN"
)

// Tunnels lists every configured child in the configuration's order, up or
// down, and the connections that have none.
func Tunnels(st *status.Status) []Tunnel {
	x := newIndex(st)
	out := []Tunnel{}
	for i := range st.Engine.Connections {
		info := &st.Engine.Connections[i]
		if len(info.Config.Children) == 0 {
			out = append(out, x.connection(info))
		}
		for _, ch := range info.Config.Children {
			out = append(out, x.tunnel(info, ch))
		}
	}
	return out
}

// connection describes a connection without children: it is up when its IKE SA is.
func (x *index) connection(info *ike.ConnectionInfo) Tunnel {
	t := Tunnel{Connection: info.Config.Name, Remote: configuredRemote(info.Config)}
	sa := x.ike[info.Config.Name]
	addIKE(&t, sa)
	switch {
	case sa == nil:
		t.down(StateDown, info)
	case sa.State == ike.IKEConnecting:
		t.down(StateConnecting, info)
	default:
		t.State, t.Since = StateUp, sa.Established
	}
	return t
}

func (x *index) tunnel(info *ike.ConnectionInfo, ch *ike.ChildConfig) Tunnel {
	name := status.ChildName{Connection: info.Config.Name, Child: ch.Name}
	t := Tunnel{
		Connection: name.Connection,
		Child:      name.Child,
		Remote:     configuredRemote(info.Config),
		Traffic:    Traffic(x.st.Totals[name]),
	}
	x.addInterface(&t, info.Config, ch)
	best, sa := x.child[name], x.ike[name.Connection]
	if best.info != nil {
		sa = best.ike
	}
	addIKE(&t, sa)
	switch {
	case best.up():
		t.State, t.Since = StateUp, x.upSince(name, best)
		addChild(&t, best.info)
	case best.info != nil && best.info.State == ike.ChildInstalling, attempted(sa):
		t.down(StateConnecting, info)
	default:
		t.down(StateDown, info)
	}
	return t
}

// attempted reports whether the child is being set up: with its IKE SA, or by an
// exchange on the one that is there.
func attempted(sa *ike.IKESAInfo) bool {
	return sa != nil && (sa.State == ike.IKEConnecting ||
		slices.Contains(sa.TasksActive, taskChildCreate) || slices.Contains(sa.TasksQueued, taskChildCreate))
}

// taskChildCreate is charon's name of the exchange that makes a CHILD_SA.
const taskChildCreate = "CHILD_CREATE"

// upSince is when the tunnel came up. A daemon that does not say leaves the age
// of the IKE SA, which outlives the CHILD_SAs.
func (x *index) upSince(name status.ChildName, c liveChild) time.Time {
	if t, ok := x.st.UpSince[name]; ok {
		return t
	}
	return c.ike.Established
}

// down says why a tunnel is not up.
func (t *Tunnel) down(state string, info *ike.ConnectionInfo) {
	t.State, t.Reason, t.Since, t.Tries, t.NextTry = state, info.LastError, info.ErrorAt, info.Tries, info.NextTry
}

func addIKE(t *Tunnel, sa *ike.IKESAInfo) {
	if sa == nil {
		return
	}
	t.LocalVIPs, t.RemoteVIPs = addrStrings(sa.LocalVIPs), addrStrings(sa.RemoteVIPs)
	t.Remote, t.NAT = sa.Remote.Addr().String(), sa.NATLocal || sa.NATRemote
	if sa.State != ike.IKEConnecting {
		t.IKE = Lifetimes{Established: sa.Established, RekeyAt: sa.RekeyAt, ExpireAt: sa.ExpireAt}
	}
}

func addChild(t *Tunnel, c *ike.ChildInfo) {
	t.SA = Lifetimes{Established: c.Installed, RekeyAt: c.RekeyAt, ExpireAt: c.ExpireAt}
	t.Proposal = c.Proposal.String()
	alg := c.Proposal.Suite()
	t.Encryption = alg.Encr.String()
	if !alg.KE.IsNone() {
		t.DHGroup = alg.KE.Name()
	}
	t.LocalTS, t.RemoteTS = Selectors(c.SA.LocalTS), Selectors(c.SA.RemoteTS)
}

// addInterface adds what runs over the tunnel's interface. Of several BGP
// sessions over it, one that is not established is told first.
func (x *index) addInterface(t *Tunnel, conn *ike.Connection, ch *ike.ChildConfig) {
	t.Interface = ch.Interface
	if t.Interface == "" {
		ifID := ch.IfIDOut
		if ifID == 0 {
			ifID = conn.IfIDOut
		}
		t.Interface = x.interfaces[ifID]
	}
	if t.Interface == "" {
		return
	}
	for _, p := range x.peers[t.Interface] {
		if t.BGP == "" || t.BGP == stateEstablished {
			t.BGP = p.State
		}
	}
	t.Routes = x.routes[t.Interface]
}

func configuredRemote(c *ike.Connection) string {
	if len(c.RemoteAddrs) == 0 {
		return "%any"
	}
	return c.RemoteAddrs[0].String()
}
