package wire

import (
	"encoding/binary"
	"strings"

	"golang.org/x/crypto/cryptobyte"
)

// HeaderLen is the length of the IKE header in octets (RFC 7296 section 3.1).
const HeaderLen = 28

// majorVersion is the only major version this package reads and writes.
const majorVersion = 2

// Flags are the flags of the IKE header (RFC 7296 section 3.1).
type Flags uint8

// Header flags. The other bits are reserved: cleared when sent, ignored when received.
const (
	FlagInitiator Flags = 0x08 // sent by the original initiator of the IKE SA
	FlagVersion   Flags = 0x10 // the sender can speak a higher major version
	FlagResponse  Flags = 0x20 // response to the request with the same message ID

	knownFlags = FlagInitiator | FlagVersion | FlagResponse
)

// String returns the flags' names joined by "|".
func (f Flags) String() string {
	var names []string
	for _, n := range []struct {
		bit  Flags
		name string
	}{{FlagInitiator, "initiator"}, {FlagVersion, "version"}, {FlagResponse, "response"}} {
		if f&n.bit != 0 {
			names = append(names, n.name)
		}
	}
	return strings.Join(names, "|")
}

// Header is what an IKE header says. The version, the total length and the
// type of the first payload are checked when parsing and computed when appending.
type Header struct {
	InitiatorSPI SPI
	ResponderSPI SPI
	Exchange     ExchangeType
	Flags        Flags
	MessageID    uint32
}

// FromInitiator reports whether the original initiator of the IKE SA sent the message.
func (h Header) FromInitiator() bool { return h.Flags&FlagInitiator != 0 }

// IsResponse reports whether the message is a response.
func (h Header) IsResponse() bool { return h.Flags&FlagResponse != 0 }

// ParseHeader reads the header of a message without looking at its payloads,
// for demultiplexing. It verifies the major version and that the length
// field equals len(data). After an *UnsupportedVersionError the Header is
// valid nevertheless, for the INVALID_MAJOR_VERSION answer (RFC 7296 section 2.5).
func ParseHeader(data []byte) (Header, error) {
	h, _, err := parseHeader(data)
	return h, err
}

// parseHeader also returns the type of the first payload.
func parseHeader(data []byte) (h Header, first PayloadType, err error) {
	var (
		initiator, responder    uint64
		next, version, exchange uint8
		flags                   uint8
		id, length              uint32
	)
	s := cryptobyte.String(data)
	if !s.ReadUint64(&initiator) || !s.ReadUint64(&responder) ||
		!s.ReadUint8(&next) || !s.ReadUint8(&version) || !s.ReadUint8(&exchange) || !s.ReadUint8(&flags) ||
		!s.ReadUint32(&id) || !s.ReadUint32(&length) {
		return Header{}, PayloadNone, malformed("%d octets, shorter than the header of %d", len(data), HeaderLen)
	}
	h = Header{
		InitiatorSPI: SPI(initiator),
		ResponderSPI: SPI(responder),
		Exchange:     ExchangeType(exchange),
		Flags:        Flags(flags) & knownFlags,
		MessageID:    id,
	}
	// RFC 7296 section 2.5: the minor version is ignored. A future major version
	// may give the fields after it another meaning, so it is checked first.
	if major := version >> 4; major != majorVersion {
		return h, PayloadNone, &UnsupportedVersionError{Major: major, Minor: version & 0x0f}
	}
	if uint64(length) != uint64(len(data)) {
		return h, PayloadNone, malformed("length field says %d octets, the message has %d", length, len(data))
	}
	return h, PayloadType(next), nil
}

// appendHeader appends the header of a message with a length of zero, for setLength.
func appendHeader(dst []byte, h Header, first PayloadType) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(h.InitiatorSPI))
	dst = binary.BigEndian.AppendUint64(dst, uint64(h.ResponderSPI))
	dst = append(dst, byte(first), majorVersion<<4, byte(h.Exchange), byte(h.Flags&knownFlags))
	dst = binary.BigEndian.AppendUint32(dst, h.MessageID)
	return binary.BigEndian.AppendUint32(dst, 0)
}

// setLength enters the length of message, which starts with its header.
func setLength(message []byte, length int) {
	binary.BigEndian.PutUint32(message[HeaderLen-4:HeaderLen], uint32(length))
}
