package bgp

import (
	"log/slog"
	"net/netip"
	"time"
)

// Config describes the speaker. Validate says whether it makes sense.
type Config struct {
	// AS is ours.
	AS uint32
	// RouterID is the BGP identifier, an IPv4 address.
	RouterID netip.Addr
	// Networks are announced to every neighbour of their address family; nothing
	// else is announced to anyone.
	Networks []netip.Prefix
	// ListenPort accepts neighbours' connections; 0 means that only we connect.
	ListenPort uint16
	// ListenAddresses default to the neighbours' local addresses.
	ListenAddresses []netip.Addr
	Neighbors       []Neighbor
	// MaxPaths bounds the paths of one Update; 0 means no bound.
	MaxPaths int
	// Restarting says that routes of an earlier process are still in the
	// kernel: it sets the Restart State bit (RFC 4724 section 3) and holds
	// announcements until the neighbours have sent their End-of-RIB.
	Restarting bool
}

// Neighbor describes one session. GoBGP knows its neighbours by Address alone:
// LocalAddress and Interface may be shared, Address may not.
type Neighbor struct {
	// Name is unique and appears in logs and in every Path.
	Name string
	// Address is the neighbour's; a link-local one carries its zone.
	Address netip.Addr
	// LocalAddress is ours, and the next hop that is announced. The zero value
	// lets the kernel choose.
	LocalAddress netip.Addr
	// AS is the neighbour's; equal to Config.AS for an internal session.
	AS uint32
	// Interface is the device the session is bound to (SO_BINDTODEVICE), or "".
	Interface string
	// RemotePort is 179 when 0.
	RemotePort uint16
	// HoldTime, Keepalive and ConnectRetry are whole seconds. Keepalive defaults
	// to a third of HoldTime.
	HoldTime, Keepalive, ConnectRetry time.Duration
	// Passive waits for the neighbour to connect.
	Passive bool
	// MultihopTTL allows an external neighbour that many hops away; 0 means 1.
	MultihopTTL uint8
	// TTLSecurity drops packets that arrive with a smaller TTL (RFC 5082); 0
	// means no check. It excludes MultihopTTL.
	TTLSecurity uint8
	// Password is the TCP MD5 key (RFC 2385), or "".
	Password Secret
	// Import accepts these prefixes and all that lie inside them; none means
	// everything.
	Import []netip.Prefix
	// Refuse takes precedence over Import: no prefix that equals one of these,
	// lies inside one or covers one is accepted, except for a default route.
	// What is refused is reported in PeerStatus.
	Refuse []netip.Prefix
	// ImportMax closes the session when more prefixes arrive.
	ImportMax uint32
	// NoGracefulRestart switches RFC 4724 off, and with it, with many
	// implementations, the End-of-RIB marker.
	NoGracefulRestart bool
	// RestartTime is asked of the neighbour (RFC 4724 section 3).
	RestartTime time.Duration
}

const redactedText = "[redacted]"

// Secret is a password. It prints, marshals and logs as "[redacted]".
type Secret string

// String says only that there is a secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return redactedText
}

// GoString is String.
func (s Secret) GoString() string { return s.String() }

// MarshalText is String.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue is String.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
