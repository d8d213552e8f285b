package wire

// ProtocolID is an IKEv2 Security Protocol Identifier (RFC 7296 section 3.3.1).
type ProtocolID uint8

// Security protocol identifiers. ProtocolNone stands in Notify payloads that
// concern no SA.
const (
	ProtocolNone ProtocolID = 0
	ProtocolIKE  ProtocolID = 1
	ProtocolAH   ProtocolID = 2
	ProtocolESP  ProtocolID = 3
)

// String returns "IKE", "AH", "ESP" or "none".
func (p ProtocolID) String() string {
	switch p {
	case ProtocolNone:
		return "none"
	case ProtocolIKE:
		return "IKE"
	case ProtocolAH:
		return "AH"
	case ProtocolESP:
		return "ESP"
	}
	return numbered("PROTOCOL", int(p))
}
