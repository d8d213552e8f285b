package show

import (
	"fmt"

	"github.com/ipsecd/ipsecd/cmd/internal/status"
	"github.com/ipsecd/ipsecd/ike"
)

// NewReport builds the report of a status.
func NewReport(st *status.Status) *Report {
	r := &Report{
		Version:  ReportVersion,
		Taken:    st.Engine.Taken,
		Started:  st.Started,
		Software: st.Version,
		Reload:   Reload{At: st.Reload.At, OK: st.Reload.OK, Error: st.Reload.Err},
		Tunnels:  Tunnels(st),
		SAs:      make([]SA, 0, len(st.Engine.IKESAs)),
		Policies: policies(st.Kernel.Policies),
		BGP:      []Peer{},
		Routes:   []Route{},
		Pools:    pools(st.Engine.Pools),
	}
	for i := range st.Engine.IKESAs {
		r.SAs = append(r.SAs, ikeSA(st, &st.Engine.IKESAs[i]))
	}
	if st.Router != nil {
		addRouter(r, st.Router, st.RouterRestarts)
	}
	return r
}

func ikeSA(st *status.Status, s *ike.IKESAInfo) SA {
	out := SA{
		ID:           s.ID,
		Connection:   s.Connection,
		State:        s.State.String(),
		Initiator:    s.Initiator,
		SPIInitiator: fmt.Sprintf("%016x", s.SPIi),
		SPIResponder: fmt.Sprintf("%016x", s.SPIr),
		Local:        s.Local.String(),
		Remote:       s.Remote.String(),
		LocalID:      s.LocalID.String(),
		RemoteID:     s.RemoteID.String(),
		LocalVIPs:    addrStrings(s.LocalVIPs),
		RemoteVIPs:   addrStrings(s.RemoteVIPs),
		DNS:          addrStrings(s.DNS),
		NATLocal:     s.NATLocal,
		NATRemote:    s.NATRemote,
		Proposal:     s.Proposal.String(),
		Established:  s.Established,
		RekeyAt:      s.RekeyAt,
		ExpireAt:     s.ExpireAt,
		LastInbound:  s.LastInbound,
		Children:     make([]ChildSA, 0, len(s.Children)),
	}
	for i := range s.Children {
		out.Children = append(out.Children, childSA(st, &s.Children[i]))
	}
	return out
}

func childSA(st *status.Status, c *ike.ChildInfo) ChildSA {
	out := ChildSA{
		ID:        c.SA.ID,
		Child:     c.SA.Config.Name,
		State:     c.State.String(),
		ReqID:     c.SA.ReqID,
		Mode:      c.SA.Mode.String(),
		Encap:     c.SA.Encap,
		Local:     c.SA.Local,
		Remote:    c.SA.Remote,
		SPIIn:     fmt.Sprintf("%08x", c.SA.SPIIn),
		SPIOut:    fmt.Sprintf("%08x", c.SA.SPIOut),
		IfIDIn:    c.SA.IfIDIn,
		IfIDOut:   c.SA.IfIDOut,
		Proposal:  c.Proposal.String(),
		LocalTS:   Selectors(c.SA.LocalTS),
		RemoteTS:  Selectors(c.SA.RemoteTS),
		Installed: c.Installed,
		RekeyAt:   c.RekeyAt,
		ExpireAt:  c.ExpireAt,
		Traffic:   Traffic(st.Traffic[c.SA.ID]),
	}
	if cpu := c.SA.CPU; cpu.Bound {
		out.CPU = &cpu.Number
	}
	return out
}
