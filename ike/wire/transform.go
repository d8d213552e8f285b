package wire

import (
	"encoding/binary"

	"golang.org/x/crypto/cryptobyte"
)

// TransformType is a transform type of RFC 7296 section 3.3.2.
type TransformType uint8

// Transform types. The additional key exchanges are those of RFC 9370.
const (
	TransformENCR   TransformType = 1
	TransformPRF    TransformType = 2
	TransformINTEG  TransformType = 3
	TransformKE     TransformType = 4 // formerly D-H
	TransformSN     TransformType = 5 // sequence numbers, formerly ESN
	TransformADDKE1 TransformType = 6
	TransformADDKE2 TransformType = 7
	TransformADDKE3 TransformType = 8
	TransformADDKE4 TransformType = 9
	TransformADDKE5 TransformType = 10
	TransformADDKE6 TransformType = 11
	TransformADDKE7 TransformType = 12
)

// String returns the abbreviation that the RFCs use, such as "ENCR".
func (t TransformType) String() string {
	switch {
	case t == TransformENCR:
		return "ENCR"
	case t == TransformPRF:
		return "PRF"
	case t == TransformINTEG:
		return "INTEG"
	case t == TransformKE:
		return "KE"
	case t == TransformSN:
		return "SN"
	case t >= TransformADDKE1 && t <= TransformADDKE7:
		return "ADDKE" + string('1'+rune(t-TransformADDKE1))
	}
	return numbered("TRANSFORM", int(t))
}

// attributeKeyLength is the only transform attribute there is (RFC 7296 section 3.3.5).
const attributeKeyLength = 14

// Transform is one algorithm of a proposal (RFC 7296 section 3.3.2). The
// meaning of ID depends on Type; package suite knows it.
type Transform struct {
	Type TransformType
	ID   uint16
	// KeyLength is the Key Length attribute in bits, 0 if there is none.
	KeyLength uint16
	// Unknown holds all other attributes. A transform that has any must not
	// be chosen (RFC 7296 section 3.3.6).
	Unknown []TransformAttribute
}

// TransformAttribute is an attribute that is not understood: of unknown type,
// or a Key Length that is repeated, zero or in the wrong format. It
// is kept so that what was received can be shown and re-encoded.
type TransformAttribute struct {
	Type  uint16 // without the format bit
	Short bool   // type/value format: Value has two octets
	Value []byte
}

const (
	transformHeaderLen = 8 // to the transform ID
	shortFormat        = 0x8000
)

// append appends the transform (RFC 7296 section 3.3.2).
func (t *Transform) append(dst []byte, more byte) ([]byte, error) {
	start := len(dst)
	out := append(dst, more, 0, 0, 0, byte(t.Type), 0)
	out = binary.BigEndian.AppendUint16(out, t.ID)
	if t.KeyLength != 0 {
		out = binary.BigEndian.AppendUint16(out, shortFormat|attributeKeyLength)
		out = binary.BigEndian.AppendUint16(out, t.KeyLength)
	}
	for _, a := range t.Unknown {
		if a.Type >= shortFormat || len(a.Value) > 0xffff || a.Short && len(a.Value) != 2 {
			return dst, ErrTooLong
		}
		if a.Short {
			out = binary.BigEndian.AppendUint16(out, shortFormat|a.Type)
		} else {
			out = binary.BigEndian.AppendUint16(out, a.Type)
			out = binary.BigEndian.AppendUint16(out, uint16(len(a.Value)))
		}
		out = append(out, a.Value...)
	}
	n := len(out) - start
	if n > 0xffff {
		return dst, ErrTooLong
	}
	binary.BigEndian.PutUint16(out[start+2:], uint16(n))
	return out, nil
}

// parse decodes what follows the length of a transform.
func (t *Transform) parse(s cryptobyte.String, limits *Limits) error {
	if !s.ReadUint8((*uint8)(&t.Type)) || !s.Skip(1) || !s.ReadUint16(&t.ID) {
		return malformed("shorter than its header of %d octets", transformHeaderLen)
	}
	for n := 0; !s.Empty(); n++ {
		if n == limits.MaxAttributes {
			return &LimitError{What: "attributes in a transform", Limit: limits.MaxAttributes}
		}
		a, ok := readAttribute(&s)
		if !ok {
			return malformed("attribute %d is cut off", n+1)
		}
		// RFC 7296 section 3.3.5: Key Length has the short format and occurs once.
		if a.Type == attributeKeyLength && a.Short && t.KeyLength == 0 {
			if bits := binary.BigEndian.Uint16(a.Value); bits != 0 {
				t.KeyLength = bits
				continue
			}
		}
		t.Unknown = append(t.Unknown, a)
	}
	return nil
}

// readAttribute takes one attribute from s (RFC 7296 section 3.3.5).
func readAttribute(s *cryptobyte.String) (a TransformAttribute, ok bool) {
	if !s.ReadUint16(&a.Type) {
		return a, false
	}
	if a.Type&shortFormat != 0 {
		a.Type &^= shortFormat
		a.Short = true
		return a, s.ReadBytes(&a.Value, 2)
	}
	var value cryptobyte.String
	ok = s.ReadUint16LengthPrefixed(&value)
	a.Value = value
	return a, ok
}
