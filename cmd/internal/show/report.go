// Package show is what the daemon tells its operator: a report, which is also
// the documented output of every --json, and the tables made from it.
package show

import (
	"net/netip"
	"time"
)

// ReportVersion is raised when a field changes its meaning or goes away.
const ReportVersion = 1

// Report is the state of the daemon for people and programs. It holds no keys.
// Times that did not happen are left out.
type Report struct {
	Version  int       `json:"version"`
	Taken    time.Time `json:"taken"`
	Started  time.Time `json:"started"`
	Software string    `json:"software"`
	Reload   Reload    `json:"reload"`
	Tunnels  []Tunnel  `json:"tunnels"`
	SAs      []SA      `json:"sas"`
	Policies []Policy  `json:"policies"`
	BGP      []Peer    `json:"bgp"`
	Routes   []Route   `json:"routes"`
	Pools    []Pool    `json:"pools"`
	Router   *Router   `json:"router,omitempty"`
}

// Reload tells of the last reading of the configuration.
type Reload struct {
	At    time.Time `json:"at,omitzero"`
	OK    bool      `json:"ok"`
	Error string    `json:"error,omitempty"`
}

// Tunnel is one configured child with all that belongs to it, up or down.
type Tunnel struct {
	Connection string    `json:"connection"`
	Child      string    `json:"child,omitempty"`
	State      string    `json:"state"` // UP, CONNECTING, DOWN
	Since      time.Time `json:"since,omitzero"`
	Reason     string    `json:"reason,omitempty"`     // why it is not up
	Tries      int       `json:"tries,omitempty"`      // attempts since it was last up
	NextTry    time.Time `json:"next_try,omitzero"`    // none planned if left out
	Remote     string    `json:"remote"`               // the peer's address, or the configured ones
	NAT        bool      `json:"nat"`                  // between us and the peer
	Interface  string    `json:"interface,omitempty"`  // that the tunnel is bound to
	IKE        Lifetimes `json:"ike,omitzero"`         // of the IKE SA in use
	SA         Lifetimes `json:"sa,omitzero"`          // of the CHILD_SA in use
	Proposal   string    `json:"proposal,omitempty"`   // of the CHILD_SA in use, in swanctl.conf's words
	Encryption string    `json:"encryption,omitempty"` // of the CHILD_SA in use, in charon's words
	DHGroup    string    `json:"dh_group,omitempty"`   // the same; left out without a key exchange of its own
	LocalTS    []string  `json:"local_ts,omitempty"`   // as negotiated
	RemoteTS   []string  `json:"remote_ts,omitempty"`
	LocalVIPs  []string  `json:"local_vips,omitempty"`  // virtual addresses of ours
	RemoteVIPs []string  `json:"remote_vips,omitempty"` // and of the peer
	Traffic    Traffic   `json:"traffic"`               // over all CHILD_SAs since the daemon started
	BGP        string    `json:"bgp,omitempty"`         // state of the session over the interface
	Routes     int       `json:"routes"`                // that use the interface
}

// Lifetimes are the times of an SA.
type Lifetimes struct {
	Established time.Time `json:"established,omitzero"`
	RekeyAt     time.Time `json:"rekey_at,omitzero"`
	ExpireAt    time.Time `json:"expire_at,omitzero"`
}

// Traffic counts inner packets, as the kernel does.
type Traffic struct {
	BytesIn    uint64    `json:"bytes_in"`
	PacketsIn  uint64    `json:"packets_in"`
	BytesOut   uint64    `json:"bytes_out"`
	PacketsOut uint64    `json:"packets_out"`
	LastIn     time.Time `json:"last_in,omitzero"`
	LastOut    time.Time `json:"last_out,omitzero"`
}

// SA is one IKE SA with its CHILD_SAs.
type SA struct {
	ID           uint32    `json:"id"`
	Connection   string    `json:"connection"`
	State        string    `json:"state"`
	Initiator    bool      `json:"initiator"`
	SPIInitiator string    `json:"spi_initiator"`
	SPIResponder string    `json:"spi_responder"`
	Local        string    `json:"local"`
	Remote       string    `json:"remote"`
	LocalID      string    `json:"local_id"`
	RemoteID     string    `json:"remote_id"`
	LocalVIPs    []string  `json:"local_vips,omitempty"`  // virtual addresses of ours
	RemoteVIPs   []string  `json:"remote_vips,omitempty"` // and of the peer
	DNS          []string  `json:"dns,omitempty"`         // name servers that the peer told us
	NATLocal     bool      `json:"nat_local"`
	NATRemote    bool      `json:"nat_remote"`
	Proposal     string    `json:"proposal,omitempty"`
	Established  time.Time `json:"established,omitzero"`
	RekeyAt      time.Time `json:"rekey_at,omitzero"`
	ExpireAt     time.Time `json:"expire_at,omitzero"`
	LastInbound  time.Time `json:"last_inbound,omitzero"`
	Children     []ChildSA `json:"children"`
}

// ChildSA is one CHILD_SA. Its traffic is that of this SA alone.
type ChildSA struct {
	ID        uint32     `json:"id"`
	Child     string     `json:"child"`
	State     string     `json:"state"`
	ReqID     uint32     `json:"reqid"`
	Mode      string     `json:"mode"`
	Encap     bool       `json:"encap"`
	Local     netip.Addr `json:"local"`
	Remote    netip.Addr `json:"remote"`
	SPIIn     string     `json:"spi_in"`
	SPIOut    string     `json:"spi_out"`
	IfIDIn    uint32     `json:"if_id_in,omitempty"`
	IfIDOut   uint32     `json:"if_id_out,omitempty"`
	CPU       *uint32    `json:"cpu,omitempty"` // that it is for, of several with the same selectors
	Proposal  string     `json:"proposal"`
	LocalTS   []string   `json:"local_ts"`
	RemoteTS  []string   `json:"remote_ts"`
	Installed time.Time  `json:"installed,omitzero"`
	RekeyAt   time.Time  `json:"rekey_at,omitzero"`
	ExpireAt  time.Time  `json:"expire_at,omitzero"`
	Traffic   Traffic    `json:"traffic"`
}

// Policy is one entry of the kernel's policy database that is ours.
type Policy struct {
	Direction string `json:"direction"`
	Source    string `json:"source"`
	Dest      string `json:"destination"`
	Protocol  uint8  `json:"protocol,omitempty"`
	SrcPort   string `json:"source_port,omitempty"`
	DstPort   string `json:"destination_port,omitempty"`
	Device    string `json:"device,omitempty"` // the only network device it is for
	Action    string `json:"action"`           // protect, block, allow
	Priority  uint32 `json:"priority"`
	IfID      uint32 `json:"if_id,omitempty"`
	ReqID     uint32 `json:"reqid,omitempty"`
	Mode      string `json:"mode,omitempty"`
	Local     string `json:"local,omitempty"` // outer addresses
	Peer      string `json:"peer,omitempty"`
}

// Peer is one BGP neighbour.
type Peer struct {
	Name       string    `json:"name"`
	Address    string    `json:"address"`
	AS         uint32    `json:"as"` // of the neighbour
	Interface  string    `json:"interface,omitempty"`
	State      string    `json:"state"` // RFC 4271's: Idle … Established
	Since      time.Time `json:"since,omitzero"`
	Received   uint64    `json:"prefixes_received"`
	Advertised uint64    `json:"prefixes_advertised"`
	Refused    int       `json:"prefixes_refused,omitempty"`
	In         uint64    `json:"messages_in"`
	Out        uint64    `json:"messages_out"`
	Flaps      uint64    `json:"flaps"`
	LastError  string    `json:"last_error,omitempty"`
}

// Route is one learned prefix and its nexthops, or a guard.
type Route struct {
	Prefix    string   `json:"prefix"`
	Kind      string   `json:"kind"` // bgp, guard
	Metric    uint32   `json:"metric,omitempty"`
	Group     uint32   `json:"group,omitempty"`
	Nexthops  []string `json:"nexthops,omitempty"`
	Installed bool     `json:"installed"`
	Reason    string   `json:"reason,omitempty"`
}

// Router is the state of the router process.
type Router struct {
	Phase           string    `json:"phase"` // hold, reconcile, run
	Started         time.Time `json:"started"`
	Restarts        int       `json:"restarts"`
	RoutesInstalled int       `json:"routes_installed"`
	RouteNexthops   int       `json:"route_nexthops"`
	Failovers       uint64    `json:"failovers"`
	Failover        *Failover `json:"last_failover,omitempty"`
	Problems        []string  `json:"problems,omitempty"` // each with what to do
}

// Failover is the last loss of a tunnel and how long its traffic needed to
// move, from the kernel's event to the last group update.
type Failover struct {
	Interface string    `json:"interface"`
	At        time.Time `json:"at"`
	Seconds   float64   `json:"seconds"`
	Groups    int       `json:"groups"`
	Routes    int       `json:"routes"`
}
