package wire

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
)

// Seal appends to dst a message whose payloads are all inside an SK payload
// (RFC 7296 section 3.14). rand is passed on to a.NextIV. On error it returns dst.
func Seal(dst []byte, h Header, a AEAD, rand io.Reader, payloads ...Payload) ([]byte, error) {
	plaintext, err := AppendPayloads(nil, payloads...)
	if err != nil {
		return dst, err
	}
	e := Encrypted{First: FirstType(payloads)}
	return seal(dst, h, &e, plaintext, a, rand)
}

// SealFragments is Seal for a peer that supports IKE fragmentation: if the
// message would exceed maxMessage octets, it is split into several messages
// with an SKF payload each, none of them longer than maxMessage (RFC 7383
// section 2.5). That limit counts from the IKE header to the ICV: it is the path
// MTU less the IP and UDP headers and any non-ESP marker.
func SealFragments(h Header, a AEAD, rand io.Reader, maxMessage int, payloads ...Payload) ([][]byte, error) {
	plaintext, err := AppendPayloads(nil, payloads...)
	if err != nil {
		return nil, err
	}
	first := FirstType(payloads)
	whole := Encrypted{First: first}
	if sealedLen(&whole, len(plaintext), a) <= maxMessage {
		message, err := seal(nil, h, &whole, plaintext, a, rand)
		if err != nil {
			return nil, err
		}
		return [][]byte{message}, nil
	}

	size := fragmentCapacity(maxMessage, a)
	if size < 1 {
		return nil, fmt.Errorf("fragments of %d octets leave no room for content", maxMessage)
	}
	total := (len(plaintext) + size - 1) / size
	if total > 0xffff {
		return nil, fmt.Errorf("message of %d octets needs %d fragments, at most 65535 are possible", len(plaintext), total)
	}
	messages := make([][]byte, 0, total)
	for piece := range slices.Chunk(plaintext, size) {
		e := Encrypted{First: first, Fragment: uint16(len(messages) + 1), Total: uint16(total)}
		message, err := seal(nil, h, &e, piece, a, rand)
		if err != nil {
			return nil, err
		}
		messages = append(messages, message)
		first = PayloadNone
	}
	return messages, nil
}

// seal appends the message with e's payload header and plaintext as its content.
func seal(dst []byte, h Header, e *Encrypted, plaintext []byte, a AEAD, rand io.Reader) ([]byte, error) {
	total := sealedLen(e, len(plaintext), a)
	if total-HeaderLen > maxPayloadLen {
		return dst, fmt.Errorf("encrypted payload of %d octets: %w", total-HeaderLen, ErrTooLong)
	}
	out := slices.Grow(dst, total)
	start := len(dst)
	out = appendHeader(out, h, e.payloadType())
	setLength(out[start:], total)
	out = append(out, byte(e.First), 0)
	out = binary.BigEndian.AppendUint16(out, uint16(total-HeaderLen))
	if e.IsFragment() {
		out = binary.BigEndian.AppendUint16(out, e.Fragment)
		out = binary.BigEndian.AppendUint16(out, e.Total)
	}
	aad := slices.Clip(out[start:])
	iv, err := a.NextIV(rand)
	if err != nil {
		return dst, fmt.Errorf("no IV for the message: %w", err)
	}
	out = append(out, iv...)
	out = a.Seal(out, iv, pad(plaintext, a.BlockLen()), aad)
	if len(out)-start != total {
		return dst, fmt.Errorf("cipher produced a message of %d octets, expected %d", len(out)-start, total)
	}
	return out, nil
}

// pad returns a copy of plaintext with the least padding that blockLen
// permits, and the pad length (RFC 7296 section 3.14).
func pad(plaintext []byte, blockLen int) []byte {
	n := paddedLen(len(plaintext), blockLen)
	padded := make([]byte, n)
	copy(padded, plaintext)
	padded[n-1] = byte(n - 1 - len(plaintext))
	return padded
}

// paddedLen is the length of n octets with padding and pad length.
func paddedLen(n, blockLen int) int {
	return (n + 1 + blockLen - 1) / blockLen * blockLen
}

// sealedLen is the length of a message whose encrypted content has n octets.
func sealedLen(e *Encrypted, n int, a AEAD) int {
	return HeaderLen + e.headerLen() + a.IVLen() + paddedLen(n, a.BlockLen()) + a.ICVLen()
}

// fragmentCapacity is how many octets of content a fragment of at most
// maxMessage octets can have; below 1 means none.
func fragmentCapacity(maxMessage int, a AEAD) int {
	fixed := HeaderLen + genericHeaderLen + fragmentHeaderLen + a.IVLen() + a.ICVLen()
	blocks := (maxMessage - fixed) / a.BlockLen()
	return blocks*a.BlockLen() - 1
}
