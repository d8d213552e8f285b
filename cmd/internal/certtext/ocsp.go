package certtext

import (
	"errors"
	"fmt"
	"math/big"
	"time"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/ipsecd/ipsecd/ike/auth"
)

// OCSP writes an OCSP response (RFC 6960) with all that it answers.
func (w *Writer) OCSP(der []byte) error {
	r, ok := parseOCSP(der)
	if !ok || len(r.answers) == 0 {
		return errors.New("it is no OCSP response with an answer")
	}
	fmt.Fprintf(w.W, "\n  issuer:   \"%s\"\n", r.responder)
	w.updates(r.produced, r.answers[0].next)
	name := "responses:"
	for _, a := range r.answers {
		if w.Detailed {
			w.line(name, "%s", a.text(w))
		}
		name = ""
	}
	return nil
}

// response is what is written of an OCSP response.
type response struct {
	responder string // by its name, or the hash of its key
	produced  time.Time
	answers   []answer
}

// answer is what was answered about one certificate.
type answer struct {
	serial  *big.Int
	status  string
	revoked time.Time
	reason  int
	next    time.Time // zero: newer information is there at any time
}

func (a *answer) text(w *Writer) string {
	s := serial(a.serial) + ": " + a.status
	if a.status == "revoked" {
		s += fmt.Sprintf(" on %s, %s", w.time(a.revoked), reasons[a.reason])
	}
	return s
}

func tagged(n uint8) cbasn1.Tag { return cbasn1.Tag(n).ContextSpecific() }

// parseOCSP reads an OCSPResponse (RFC 6960 section 4.2.1). Package ocsp reads those with one answer only.
func parseOCSP(der cryptobyte.String) (r response, ok bool) {
	var outer, wrapped, typed, octets, basic, data, id, list cryptobyte.String
	var tag cbasn1.Tag
	if !der.ReadASN1(&outer, cbasn1.SEQUENCE) || !outer.SkipASN1(cbasn1.ENUM) || !outer.ReadASN1(&wrapped, tagged(0).Constructed()) ||
		!wrapped.ReadASN1(&typed, cbasn1.SEQUENCE) || !typed.SkipASN1(cbasn1.OBJECT_IDENTIFIER) || !typed.ReadASN1(&octets, cbasn1.OCTET_STRING) ||
		!octets.ReadASN1(&basic, cbasn1.SEQUENCE) || !basic.ReadASN1(&data, cbasn1.SEQUENCE) {
		return r, false
	}
	if !data.SkipOptionalASN1(tagged(0).Constructed()) || !data.ReadAnyASN1(&id, &tag) || !data.ReadASN1GeneralizedTime(&r.produced) || !data.ReadASN1(&list, cbasn1.SEQUENCE) {
		return r, false
	}
	if tag == tagged(1).Constructed() {
		r.responder = auth.Identity{Type: auth.IDASN1DN, Data: string(id)}.String()
	} else if id.ReadASN1(&octets, cbasn1.OCTET_STRING) {
		r.responder = pairs(octets)
	}
	for !list.Empty() {
		a, ok := readAnswer(&list)
		if !ok {
			return r, false
		}
		r.answers = append(r.answers, a)
	}
	return r, true
}

// readAnswer reads a SingleResponse.
func readAnswer(list *cryptobyte.String) (a answer, ok bool) {
	var single, id, status, next cryptobyte.String
	var tag cbasn1.Tag
	var present bool
	a.serial = new(big.Int)
	if !list.ReadASN1(&single, cbasn1.SEQUENCE) || !single.ReadASN1(&id, cbasn1.SEQUENCE) || !id.SkipASN1(cbasn1.SEQUENCE) ||
		!id.SkipASN1(cbasn1.OCTET_STRING) || !id.SkipASN1(cbasn1.OCTET_STRING) || !id.ReadASN1Integer(a.serial) || !single.ReadAnyASN1(&status, &tag) ||
		!single.SkipASN1(cbasn1.GeneralizedTime) || !single.ReadOptionalASN1(&next, &present, tagged(0).Constructed()) {
		return a, false
	}
	if present && !next.ReadASN1GeneralizedTime(&a.next) {
		return a, false
	}
	switch tag {
	case tagged(0):
		a.status = "good"
	case tagged(1).Constructed():
		a.status = "revoked"
		return a, a.readRevoked(status)
	default:
		a.status = "unknown"
	}
	return a, true
}

// readRevoked reads when and why a certificate was revoked.
func (a *answer) readRevoked(s cryptobyte.String) bool {
	var why cryptobyte.String
	var present bool
	if !s.ReadASN1GeneralizedTime(&a.revoked) || !s.ReadOptionalASN1(&why, &present, tagged(0).Constructed()) {
		return false
	}
	return !present || why.ReadASN1Enum(&a.reason)
}
