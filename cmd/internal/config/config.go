// Package config reads strongSwan's files and our own into one Config, checks
// it, and compares two of them.
package config

import (
	"crypto/x509"
	"log/slog"
	"net/netip"
	"time"

	"github.com/ipsecd/ipsecd/cmd/internal/charonlog"
	"github.com/ipsecd/ipsecd/cmd/internal/config/settings"
	"github.com/ipsecd/ipsecd/ike"
)

// Config is the whole configuration of a daemon. It is never changed after Load.
type Config struct {
	Files      []string // every file read, in order
	Warnings   []Warning
	IKE        ike.Config
	Interfaces []Interface
	BGP        *BGP // nil: no BGP
	Routing    Routing
	Protect    []netip.Prefix // must never be reached in the clear
	Metrics    Metrics
	Control    Control
	Updown     Updown
	CharonLogs []charonlog.Config // beside the daemon's own log
	Ports      Ports

	Authorities []Authority
	Revocation  Revocation
	AACerts     []*x509.Certificate // of attribute authorities: they are listed, and nothing is trusted for their sake

	// Credentials are the files of certificates, keys and CRLs that were read.
	Credentials []Credential

	protectAt Position
}

// Position is a place in a file.
type Position = settings.Position

// Warning is something that was read and will not be honoured.
type Warning struct {
	Position
	Text   string
	leaves leftOut
}

// String returns "file:line: text".
func (w Warning) String() string { return w.Position.String() + ": " + w.Text }

// Interface is one entry of the interfaces section: an xfrm interface that the
// daemon creates, and removes when the entry is gone.
type Interface struct {
	Position
	Name      string
	IfID      uint32
	Link      string         // parent link; empty: lo
	Addresses []netip.Prefix // host bits kept
	MTU       int            // never 0
}

// BGP is the bgp section.
type BGP struct {
	Position
	AS        uint32
	RouterID  netip.Addr
	Networks  []netip.Prefix // announced to every neighbour
	Listen    bool           // accept sessions on port 179 of the local addresses
	Neighbors []Neighbor
}

// Neighbor is one entry of the bgp.neighbors section.
type Neighbor struct {
	Position
	Name         string
	Interface    string // entry of interfaces, or a plain link
	Address      netip.Addr
	LocalAddress netip.Addr // invalid: the interface's address in the neighbour's subnet
	AS           uint32
	Passive      bool
	HoldTime     time.Duration // these three 0: the router's defaults
	Keepalive    time.Duration
	ConnectRetry time.Duration
	Password     Secret // TCP MD5 (RFC 2385), read from password_file
	MaxPrefixes  uint32
	Import       []netip.Prefix // accepted: these and what is inside them; empty: all
}

// Routing is the routing section.
type Routing struct {
	Metric      uint32
	GuardMetric uint32 // of the blackhole routes of protect
	MaxPaths    int
	Table       uint32
	Sysctls     bool // set the sysctls that multipath routing wants

	VirtualIPs   VirtualIPs   // that peers assign to us; options of strongswan.conf
	SourceRoutes SourceRoutes // of policy-based tunnels; options of strongswan.conf
	Ways         Ways         // to peers; options of strongswan.conf
}

// Ways says over which links and by which routing tables IKE reaches peers.
type Ways struct {
	UseLinks     []string // the only ones; if set, IgnoreLinks says nothing
	IgnoreLinks  []string
	IgnoreTables []uint32
}

// Metrics is the metrics section.
type Metrics struct {
	Listen string // host:port; empty: no metrics
}

// Control is the control section.
type Control struct {
	VICI string // URI of the VICI socket, unix:///… or tcp://…
}

// Revocation is what is fetched about revoked certificates: the section
// charon.plugins.revocation.
type Revocation struct {
	OCSP    bool
	CRL     bool
	Timeout time.Duration       // for everything about one certificate
	Signers []*x509.Certificate // OCSP responders that are trusted for every CA: the folder x509ocsp
}

// Updown is how updown scripts are run.
type Updown struct {
	Timeout time.Duration // then a script is killed
	DNS     bool          // name servers are told to it: an option of strongswan.conf
}

// Ports are the UDP ports of IKE.
type Ports struct {
	IKE, NATT uint16
}

// SourceRoutes says whether and where there are routes that give the traffic of
// policy-based tunnels a source address of the local network.
type SourceRoutes struct {
	Install    bool
	Table      uint32
	Priority   uint32 // of the rule that consults the table
	Interfaces bool   // for children with an if_id too
}

// Secret is a password. It prints, marshals and logs as "[redacted]".
type Secret string

// String says only whether there is a secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "[redacted]"
}

// GoString is String.
func (s Secret) GoString() string { return s.String() }

// MarshalText is String.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue is String.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
