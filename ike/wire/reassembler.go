package wire

import "slices"

// Reassembler collects the fragments of one message (RFC 7383 section 2.6).
// Its zero value is ready for use with the default limits. A Reassembler takes
// the first message it is given and refuses fragments of any other one until Reset.
//
//	if r.Wants(m) {
//		plain, err := wire.Open(nil, m.Encrypted, aead)
//		if err == nil {
//			done, err := r.Add(m, plain)
//		}
//	}
type Reassembler struct {
	Limits Limits

	header Header      // of the message being collected; its fragments share it
	first  PayloadType // from fragment 1
	aad    []byte      // of fragment 1
	pieces [][]byte    // by fragment number less 1, nil: missing; empty: idle
	have   int         // pieces that are not nil
	size   int         // octets in pieces
}

// Wants reports whether m is a fragment that would help. It is asked before
// Open, so that duplicates and obsolete fragments cost no decryption. It
// changes no state, since m is not verified yet.
func (r *Reassembler) Wants(m *Message) bool {
	e := m.Encrypted
	if e == nil || e.Fragment == 0 || e.Fragment > e.Total || int(e.Total) > r.Limits.withDefaults().MaxFragments {
		return false
	}
	total := len(r.pieces)
	switch {
	case total == 0:
		return true
	case m.Header != r.header || r.have == total:
		return false
	case int(e.Total) > total:
		return true
	}
	return int(e.Total) == total && r.pieces[e.Fragment-1] == nil
}

// Add takes the plaintext of a fragment that Open has verified, and copies it.
// It reports whether the message is complete. A fragment with a larger total
// than before starts the message anew: the peer has chosen a smaller fragment
// size. Fragments for which Wants is false are ignored. A *LimitError means
// that the message is too large; what was collected is dropped.
func (r *Reassembler) Add(m *Message, plaintext []byte) (done bool, err error) {
	if !r.Wants(m) {
		return false, nil
	}
	e := m.Encrypted
	if int(e.Total) != len(r.pieces) {
		r.Reset()
		r.header = m.Header
		r.pieces = make([][]byte, e.Total)
	}
	if limit := r.Limits.withDefaults().MaxReassembled; r.size+len(plaintext) > limit {
		r.Reset()
		return false, &LimitError{What: "octets in a fragmented message", Limit: limit}
	}
	if e.Fragment == 1 {
		r.first = e.First
		r.aad = append([]byte(nil), e.AAD...)
	}
	r.pieces[e.Fragment-1] = append(make([]byte, 0, len(plaintext)), plaintext...)
	r.have++
	r.size += len(plaintext)
	return r.have == len(r.pieces), nil
}

// Payload returns the type of the first payload and the plaintext of a
// complete message, as ParsePayloads takes them. The plaintext is a new slice.
func (r *Reassembler) Payload() (first PayloadType, plaintext []byte, ok bool) {
	if len(r.pieces) == 0 || r.have != len(r.pieces) {
		return PayloadNone, nil, false
	}
	return r.first, slices.Concat(r.pieces...), true
}

// AAD returns that of the first fragment, which Unencrypted takes.
func (r *Reassembler) AAD() []byte { return r.aad }

// Reset forgets everything but the limits.
func (r *Reassembler) Reset() {
	*r = Reassembler{Limits: r.Limits}
}
