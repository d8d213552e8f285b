package wire

import "golang.org/x/crypto/cryptobyte"

// IDType is the type of an identity (RFC 7296 section 3.5).
type IDType uint8

// Identity types.
const (
	IDIPv4Addr  IDType = 1
	IDFQDN      IDType = 2
	IDRFC822    IDType = 3
	IDIPv6Addr  IDType = 5
	IDDERASN1DN IDType = 9
	IDDERASN1GN IDType = 10
	IDKeyID     IDType = 11
	IDFCName    IDType = 12 // RFC 4595
	IDNull      IDType = 13 // RFC 7619
)

// String returns the name that the RFCs use, such as "ID_FQDN".
func (t IDType) String() string {
	switch t {
	case IDIPv4Addr:
		return "ID_IPV4_ADDR"
	case IDFQDN:
		return "ID_FQDN"
	case IDRFC822:
		return "ID_RFC822_ADDR"
	case IDIPv6Addr:
		return "ID_IPV6_ADDR"
	case IDDERASN1DN:
		return "ID_DER_ASN1_DN"
	case IDDERASN1GN:
		return "ID_DER_ASN1_GN"
	case IDKeyID:
		return "ID_KEY_ID"
	case IDFCName:
		return "ID_FC_NAME"
	case IDNull:
		return "ID_NULL"
	}
	return numbered("ID", int(t))
}

// Identification is an IDi or IDr payload (RFC 7296 section 3.5). Data is the
// peer's word, unchecked: it need not fit IDType.
type Identification struct {
	PayloadType PayloadType // PayloadIDi or PayloadIDr
	IDType      IDType
	Reserved    [3]byte // ignored, but part of what AUTH signs; zero when sent
	Data        []byte
}

// Type returns p.PayloadType.
func (p *Identification) Type() PayloadType { return p.PayloadType }

// AppendRest appends RestOfInitIDPayload or RestOfRespIDPayload, the octets
// that AUTH covers (RFC 7296 section 2.15).
func (p *Identification) AppendRest(dst []byte) []byte {
	dst = append(dst, byte(p.IDType))
	dst = append(dst, p.Reserved[:]...)
	return append(dst, p.Data...)
}

func (p *Identification) appendBody(dst []byte) ([]byte, error) {
	if p.PayloadType != PayloadIDi && p.PayloadType != PayloadIDr {
		return dst, errType
	}
	return p.AppendRest(dst), nil
}

func parseIdentification(typ PayloadType, s cryptobyte.String) (*Identification, error) {
	p := &Identification{PayloadType: typ}
	if !s.ReadUint8((*uint8)(&p.IDType)) || !s.CopyBytes(p.Reserved[:]) {
		return nil, malformed("no room for the identity type")
	}
	p.Data = s
	return p, nil
}
