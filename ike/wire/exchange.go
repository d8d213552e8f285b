package wire

import "strconv"

// ExchangeType is the exchange type of an IKE header (RFC 7296 section 3.1).
type ExchangeType uint8

// Exchange types of IKEv2 (IANA "IKEv2 Exchange Types").
const (
	ExchangeSAInit        ExchangeType = 34 // IKE_SA_INIT
	ExchangeAuth          ExchangeType = 35 // IKE_AUTH
	ExchangeCreateChildSA ExchangeType = 36 // CREATE_CHILD_SA
	ExchangeInformational ExchangeType = 37 // INFORMATIONAL
	ExchangeSessionResume ExchangeType = 38 // IKE_SESSION_RESUME, RFC 5723
	ExchangeIntermediate  ExchangeType = 43 // IKE_INTERMEDIATE, RFC 9242
	ExchangeFollowupKE    ExchangeType = 44 // IKE_FOLLOWUP_KE, RFC 9370
)

// String returns the name that the RFCs use, such as "CREATE_CHILD_SA".
func (t ExchangeType) String() string {
	switch t {
	case ExchangeSAInit:
		return "IKE_SA_INIT"
	case ExchangeAuth:
		return "IKE_AUTH"
	case ExchangeCreateChildSA:
		return "CREATE_CHILD_SA"
	case ExchangeInformational:
		return "INFORMATIONAL"
	case ExchangeSessionResume:
		return "IKE_SESSION_RESUME"
	case ExchangeIntermediate:
		return "IKE_INTERMEDIATE"
	case ExchangeFollowupKE:
		return "IKE_FOLLOWUP_KE"
	}
	return numbered("EXCHANGE", int(t))
}

// numbered is how every registry of this package prints a value without a name.
func numbered(registry string, n int) string {
	return registry + "(" + strconv.Itoa(n) + ")"
}
