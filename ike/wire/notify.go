package wire

import (
	"encoding/binary"
	"slices"

	"golang.org/x/crypto/cryptobyte"
)

// Notify is a Notify payload (RFC 7296 section 3.10).
type Notify struct {
	Protocol   ProtocolID // ProtocolNone unless SPI is set
	SPI        []byte     // of the SA concerned; empty in most notifications
	NotifyType NotifyType
	Data       []byte
}

// ChildSPI returns the SPI of the ESP or AH SA that the notification concerns,
// as in REKEY_SA and CHILD_SA_NOT_FOUND.
func (p *Notify) ChildSPI() (ChildSPI, bool) {
	if p.Protocol != ProtocolESP && p.Protocol != ProtocolAH {
		return 0, false
	}
	return parseChildSPI(p.SPI)
}

// Type returns PayloadNotify.
func (p *Notify) Type() PayloadType { return PayloadNotify }

func (p *Notify) appendBody(dst []byte) ([]byte, error) {
	if len(p.SPI) > 0xff {
		return dst, ErrTooLong
	}
	dst = append(dst, byte(p.Protocol), byte(len(p.SPI)))
	dst = binary.BigEndian.AppendUint16(dst, uint16(p.NotifyType))
	return append(append(dst, p.SPI...), p.Data...), nil
}

func parseNotify(s cryptobyte.String) (*Notify, error) {
	p := new(Notify)
	var spiSize uint8
	if !s.ReadUint8((*uint8)(&p.Protocol)) || !s.ReadUint8(&spiSize) || !s.ReadUint16((*uint16)(&p.NotifyType)) {
		return nil, malformed("no room for the notify message type")
	}
	if !s.ReadBytes(&p.SPI, int(spiSize)) {
		return nil, malformed("SPI of %d octets, %d left", spiSize, len(s))
	}
	p.SPI = slices.Clip(p.SPI)
	p.Data = s
	return p, nil
}

// FirstNotify returns the first notification of type t, or nil.
func FirstNotify(payloads []Payload, t NotifyType) *Notify {
	for n := range All[*Notify](payloads) {
		if n.NotifyType == t {
			return n
		}
	}
	return nil
}

// FirstError returns the first notification that reports an error, or nil.
func FirstError(payloads []Payload) *Notify {
	for n := range All[*Notify](payloads) {
		if n.NotifyType.IsError() {
			return n
		}
	}
	return nil
}
