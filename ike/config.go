package ike

import (
	"net/netip"
	"time"

	"github.com/ipsecd/ipsecd/ike/auth"
	"github.com/ipsecd/ipsecd/ike/suite"
)

// Config is everything that an Engine is told about the world. It is handed
// over whole, by New or by a Reconfigure event, and never changed afterwards.
type Config struct {
	Connections []*Connection // in the order of the configuration; the first match wins
	Secrets     []auth.Secret
	PPKs        []auth.Secret // post-quantum pre-shared keys, by their PPK_ID (RFC 8784)
	Credentials *auth.Store   // certificates and keys; nil: none
	Pools       []*Pool       // of virtual addresses for peers
	Limits      Limits
	Timing      Timing

	// FragmentSize4 and FragmentSize6 are the longest IP packets, in octets and with their IP header, that IKE messages are
	// sent in to peers that take fragments (RFC 7383); 0: 1280.
	FragmentSize4, FragmentSize6 int

	// BreakBeforeMake reauthenticates by deleting the old IKE SA before the new one is set up, for
	// peers that cannot have two. Traffic stops meanwhile.
	BreakBeforeMake bool

	// OldSignatures leaves signatures as they were before RFC 7427, for peers that
	// fail over it.
	OldSignatures bool

	// InterfaceIDs are the if_ids of the host's own interfaces: no SA gets one of them by itself.
	InterfaceIDs []uint32

	// CPUs is how many the host has, for SAs that are for one of them; 0: its kernel has no such SAs.
	CPUs int

	// ReqIDBase is the number above which the engine assigns reqids, so that
	// the host can tell its SAs in the kernel from others.
	ReqIDBase uint32

	// Source returns the host's source address towards a peer, for connections
	// without local_addrs; nil, or an invalid result: the socket decides, and
	// the peer will believe that we are behind a NAT.
	Source func(remote netip.Addr) netip.Addr

	// Routed reports whether packets from one of the host's addresses to a peer leave over the link that has this
	// address; nil: always.
	Routed func(local, remote netip.Addr) bool

	// RoutabilityCheck asks a peer that has moved whether it receives at its new address, before
	// traffic is sent there (RFC 4555 section 3.7).
	RoutabilityCheck bool

	// IgnoreRedirects says so to peers that would send us to another gateway (RFC 5685).
	IgnoreRedirects bool

	// PreferBestPath moves IKE SAs with MOBIKE to the address that the host's routes prefer, also when
	// the present one still works.
	PreferBestPath bool
}

// Connection is one entry of the connections section of swanctl.conf.
type Connection struct {
	Name   string
	Source string // file:line of the section, for messages
	Lines  Lines  // of its keys, and those of local and remote

	// LocalAddrs and RemoteAddrs are the addresses that this connection may
	// use; none means any. With no single address in RemoteAddrs only the peers, or
	// traffic to them, bring the connection up.
	LocalAddrs  []AddrMatch
	RemoteAddrs []AddrMatch
	LocalPort   uint16 // 500 unless configured
	RemotePort  uint16 // 500 unless configured

	Proposals     []suite.Proposal // IKE proposals, in order of preference
	Local, Remote AuthConfig

	ForceEncap    bool          // encap: pretend to be behind a NAT
	DPDDelay      time.Duration // 0: no liveness checks of our own
	KeyingTries   int           // attempts to set up; 0: for ever
	Unique        UniquePolicy
	Childless     Childless
	RekeyTime     time.Duration // 0: never
	ReauthTime    time.Duration // 0: never
	OverTime      time.Duration // from RekeyTime or ReauthTime to the hard expiry
	RandTime      time.Duration // at most this is subtracted from RekeyTime and ReauthTime, at random
	IfIDIn        uint32        // inherited by children that name none
	IfIDOut       uint32
	IfIDInBy      Numbering // who chooses IfIDIn
	IfIDOutBy     Numbering
	Children      []*ChildConfig
	Fragmentation bool // announce and use RFC 7383
	MOBIKE        bool // announce and use RFC 4555
	SendCert      SendCert
	SendCertReq   bool // ask for certificates in CERTREQ payloads
	OCSP          OCSPPolicy

	// VIPs are the virtual addresses that we ask the peer for; an unspecified one stands for any of its family. Pools are the names
	// of those from which the peer gets the addresses that it asks for, and it must.
	VIPs  []netip.Addr
	Pools []string

	PPKID       auth.Identity // of the PPK to use; zero: none as initiator, any of PPKs as responder
	PPKRequired bool          // no IKE SA without a PPK
}

// OnlyShunts reports whether the connection has children and all of them are shunts, so
// that it is never set up.
func (c *Connection) OnlyShunts() bool {
	for _, child := range c.Children {
		if !child.Mode.Shunt() {
			return false
		}
	}
	return len(c.Children) > 0
}

// AddrMatch is an address, a range of addresses, or a host name, of local_addrs and
// remote_addrs.
type AddrMatch struct {
	Prefix netip.Prefix
	Part   bool   // of a range that is no prefix: its ends are no addresses to try
	Name   string // then Prefix is invalid; in remote_addrs only
}

// String returns what was configured.
func (m AddrMatch) String() string {
	if m.Prefix.IsValid() && m.Prefix.IsSingleIP() {
		return m.Prefix.Addr().String()
	}
	if m.Name != "" {
		return m.Name
	}
	return m.Prefix.String()
}

// Single returns the address, if the match holds exactly one.
func (m AddrMatch) Single() (netip.Addr, bool) {
	return m.Prefix.Addr(), m.Prefix.IsValid() && m.Prefix.IsSingleIP() && !m.Part
}

// AuthMethod is how one side proves its identity.
type AuthMethod uint8

// The authentication methods.
const (
	AuthPSK AuthMethod = iota + 1
	AuthPubkey
)

// AuthConfig is a local or remote section: who that side is, and how it proves it.
type AuthConfig struct {
	Method AuthMethod
	ID     auth.Identity // zero: any (remote), or the subject of the certificate or the address in use (local)
	Terms  auth.Terms    // with AuthPubkey
}

// SendCert is when we send our certificates.
type SendCert uint8

// The values of send_cert.
const (
	SendCertIfAsked SendCert = iota
	SendCertAlways
	SendCertNever
)

// Childless is when an IKE SA is set up without a CHILD_SA, which comes by CREATE_CHILD_SA with a key exchange of its
// own (RFC 6023).
type Childless uint8

// The values of childless.
const (
	ChildlessAllow  Childless = iota // by peers that want to; by us if there is no child to set up
	ChildlessPrefer                  // by us, too, with peers that announce that they accept it
	ChildlessForce                   // always: nothing else is offered or accepted
	ChildlessNever
)

// OCSPPolicy is what is done about OCSP responses in IKE (RFC 4806).
type OCSPPolicy uint8

// The values of ocsp.
const (
	OCSPReply   OCSPPolicy = iota // show ours to a peer that asks
	OCSPRequest                   // ask for those of the peer
	OCSPBoth
	OCSPNever
)

func (p OCSPPolicy) replies() bool  { return p == OCSPReply || p == OCSPBoth }
func (p OCSPPolicy) requests() bool { return p == OCSPRequest || p == OCSPBoth }

// UniquePolicy is what happens to an older IKE SA between the same identities.
type UniquePolicy uint8

// The uniqueness policies of swanctl.conf.
const (
	UniqueNo UniquePolicy = iota
	UniqueNever
	UniqueKeep
	UniqueReplace
)

// Mode is the IPsec mode of a CHILD_SA, or what a shunt does.
type Mode uint8

// The modes.
const (
	ModeTunnel Mode = iota
	ModeTransport
	ModePass // a shunt: no CHILD_SA, its traffic goes unprotected
	ModeDrop // a shunt: no CHILD_SA, its traffic goes nowhere
)

// String returns the mode in swanctl's upper-case form.
func (m Mode) String() string {
	switch m {
	case ModeTransport:
		return "TRANSPORT"
	case ModePass:
		return "PASS"
	case ModeDrop:
		return "DROP"
	}
	return "TUNNEL"
}

// Shunt reports whether the mode stands for policies only, of which no peer knows.
func (m Mode) Shunt() bool { return m == ModePass || m == ModeDrop }

// ChildAction is what is done at load (start_action), when the peer closes the
// CHILD_SA (close_action) or when it is found dead (dpd_action).
type ChildAction uint8

// The actions. ActionClear is also swanctl's "none".
const (
	ActionClear ChildAction = iota
	ActionTrap
	ActionStart
	ActionTrapStart
)

// Traps reports whether the action has policies wait for traffic.
func (a ChildAction) Traps() bool { return a == ActionTrap || a == ActionTrapStart }

// WithTrap returns the action with a trap, or without one.
func (a ChildAction) WithTrap(on bool) ChildAction {
	switch {
	case a.Starts() && on:
		return ActionTrapStart
	case a.Starts():
		return ActionStart
	case on:
		return ActionTrap
	}
	return ActionClear
}

// Starts reports whether the action brings the child up.
func (a ChildAction) Starts() bool { return a == ActionStart || a == ActionTrapStart }

// ChildConfig is one entry of a connection's children section.
type ChildConfig struct {
	Name   string
	Source string // file:line of the section, for messages
	Lines  Lines  // of its keys

	Proposals []suite.Proposal // ESP proposals, in order of preference
	LocalTS   []TrafficSelector
	RemoteTS  []TrafficSelector
	Mode      Mode

	StartAction ChildAction
	CloseAction ChildAction
	DPDAction   ChildAction

	RekeyTime    time.Duration // 0: never
	LifeTime     time.Duration // hard expiry; 0: never
	RandTime     time.Duration
	RekeyBytes   uint64 // 0: no limit, as the rest of these
	LifeBytes    uint64
	RandBytes    uint64 // at most this is subtracted from RekeyBytes, at random
	RekeyPackets uint64
	LifePackets  uint64
	RandPackets  uint64
	Inactivity   time.Duration // without traffic in either direction it is closed; 0: never

	IfIDIn, IfIDOut uint32 // 0: the connection's
	IfIDInBy        Numbering
	IfIDOutBy       Numbering
	Interface       string // name of our interfaces section entry, if bound to one
	ReqID           uint32 // 0: assigned by the engine
	Priority        uint32 // 0: computed from the selectors
	MarkIn, MarkOut Mark
	MarkInBy        Numbering // who chooses the value of MarkIn
	MarkOutBy       Numbering
	ReplayWindow    uint32 // packets; 0: no replay protection
	Policies        bool   // install policies (default yes)
	HWOffload       string
	Updown          string // command of the shell, run when a CHILD_SA comes up and goes down; empty: none
	HostAccess      bool   // is told to it
	CopyDF          bool
	PerCPU          bool // a CHILD_SA for each CPU that has traffic (RFC 9611), beside one for all

	Handling
}

// Mark is a netfilter mark and its mask.
type Mark struct{ Value, Mask uint32 }

// TrafficSelector is a range of addresses, ports and a protocol (RFC 7296
// section 3.13.1). A dynamic one stands for the address of its side of the
// IKE SA.
type TrafficSelector struct {
	Dynamic            bool
	Start, End         netip.Addr
	Protocol           uint8 // 0: any
	StartPort, EndPort uint16
}

// Limits bound what peers can make the engine do and hold.
type Limits struct {
	HalfOpenTotal    int // half-open IKE SAs as responder; beyond, the oldest goes for one with a cookie
	HalfOpenPerIP    int // the same for one remote address
	CookieThreshold  int // half-open IKE SAs from which cookies are demanded (RFC 7296 section 2.6)
	CookiePerIP      int // the same for one remote address
	ChildrenPerIKE   int
	PerCPUSAs        int // CHILD_SAs for one CPU each beside one for all (RFC 9611)
	IKESAsPerPeer    int // between the same identities
	QueuedExchanges  int // our own exchanges that wait for the window
	HalfOpenDecrypts int // failed integrity checks on a half-open IKE SA
}

// Timing holds the timers of the engine that are not per connection.
type Timing struct {
	RetransmitTimeout time.Duration // strongSwan: 4 s
	RetransmitBase    float64       // strongSwan: 1.8
	RetransmitTries   int           // strongSwan: 5
	RetransmitLimit   time.Duration // longest single wait; 0: none
	RetransmitJitter  int           // percent by which a wait is shortened at random
	HalfOpenTimeout   time.Duration // a responder's half-open IKE SA
	KeepAlive         time.Duration // NAT keepalive (RFC 3948 section 4); 0: none
	DeleteDelay       time.Duration // a rekeyed CHILD_SA's inbound SA is kept so long
	RetryInitial      time.Duration // first wait before a failed connection is tried again
	RetryMax          time.Duration // longest such wait
	CookieLifetime    time.Duration // age at which the cookie secret is replaced
}
