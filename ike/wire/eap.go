package wire

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/crypto/cryptobyte"
)

// EAP is an EAP payload (RFC 7296 section 3.16): one EAP packet (RFC 3748
// section 4). Its length field has been checked against the payload's length.
type EAP struct {
	Message []byte
}

// Type returns PayloadEAP.
func (p *EAP) Type() PayloadType { return PayloadEAP }

func (p *EAP) appendBody(dst []byte) ([]byte, error) {
	if err := checkEAP(p.Message); err != nil {
		return dst, err
	}
	return append(dst, p.Message...), nil
}

func parseEAP(s cryptobyte.String) (*EAP, error) {
	if err := checkEAP(s); err != nil {
		return nil, malformed("%v", err)
	}
	return &EAP{Message: s}, nil
}

// EAP codes whose packets have a type after the header (RFC 3748 section 4).
const (
	eapRequest   = 1
	eapResponse  = 2
	eapHeaderLen = 4 // code, identifier, length
)

// checkEAP verifies what every EAP method relies on.
func checkEAP(packet []byte) error {
	if len(packet) < eapHeaderLen {
		return fmt.Errorf("EAP packet of %d octets, shorter than its header", len(packet))
	}
	if n := int(binary.BigEndian.Uint16(packet[2:])); n != len(packet) {
		return fmt.Errorf("EAP length field says %d octets, the packet has %d", n, len(packet))
	}
	// RFC 3748 section 4.1: a Request or Response has at least a type.
	if code := packet[0]; (code == eapRequest || code == eapResponse) && len(packet) == eapHeaderLen {
		return fmt.Errorf("EAP packet with code %d has no type", code)
	}
	return nil
}
