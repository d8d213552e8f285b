package certtext

import (
	"crypto/x509"
	"encoding/asn1"
	"fmt"
	"math/big"
	"time"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"
	"golang.org/x/crypto/ocsp"

	"github.com/ipsecd/ipsecd/ike/auth"
)

var oidDeltaCRL = asn1.ObjectIdentifier{2, 5, 29, 27}

// reasons are those of RFC 5280 section 5.3.1.
var reasons = map[int]string{
	0: "unspecified", 1: "key compromise", 2: "CA compromise", 3: "affiliation changed", 4: "superseded", 5: "cessation of operation",
	6: "certificate hold", 8: "remove from CRL", 9: "privilege withdrawn", 10: "aa compromise",
}

// CRL writes a certificate revocation list.
func (w *Writer) CRL(l *x509.RevocationList) {
	fmt.Fprintf(w.W, "\n  issuer:   \"%v\"\n", auth.Identity{Type: auth.IDASN1DN, Data: string(l.RawIssuer)})
	w.updates(l.ThisUpdate, l.NextUpdate)
	w.line("serial:", "%s", serial(l.Number))
	base := new(big.Int)
	if delta := extension(l.Extensions, oidDeltaCRL); delta.ReadASN1Integer(base) {
		w.line("delta CRL:", "for serial %s", serial(base))
	}
	if len(l.AuthorityKeyId) > 0 {
		w.line("authKeyId:", "%s", pairs(l.AuthorityKeyId))
	}
	w.list("freshest:", cleanAll(auth.FreshestCRLs(l)))
	n, plural, colon := len(l.RevokedCertificateEntries), "s", ""
	if n == 1 {
		plural = ""
	}
	if n > 0 && w.Detailed {
		colon = ":"
	}
	fmt.Fprintf(w.W, "  %d revoked certificate%s%s\n", n, plural, colon)
	if !w.Detailed {
		return
	}
	for _, e := range l.RevokedCertificateEntries {
		fmt.Fprintf(w.W, "    %s: %s, %s\n", serial(e.SerialNumber), w.time(e.RevocationTime), reasons[e.ReasonCode])
	}
}

func (w *Writer) updates(this, next time.Time) {
	w.line("update:", "this on %s", w.began(this))
	if !next.IsZero() {
		w.line("", "next on %s", w.ends(next))
	}
}

// OCSP writes an OCSP response (RFC 6960) with all that it answers.
func (w *Writer) OCSP(der []byte) error {
	r, err := ocsp.ParseResponse(der, nil)
	if err != nil {
		return err
	}
	fmt.Fprintf(w.W, "\n  issuer:   \"%s\"\n", responder(r))
	w.updates(r.ThisUpdate, r.NextUpdate)
	if w.Detailed {
		name := "responses:"
		for _, a := range answers(r) {
			w.line(name, "%s", a.text(w))
			name = ""
		}
	}
	return nil
}

// responder is the signer, by name or by the hash of its key.
func responder(r *ocsp.Response) string {
	if len(r.RawResponderName) > 0 {
		return auth.Identity{Type: auth.IDASN1DN, Data: string(r.RawResponderName)}.String()
	}
	return pairs(r.ResponderKeyHash)
}

// answer is what was answered about one certificate.
type answer struct {
	serial  *big.Int
	status  string
	revoked time.Time
	reason  int
}

func (a *answer) text(w *Writer) string {
	s := serial(a.serial) + ": " + a.status
	if a.status == "revoked" {
		s += fmt.Sprintf(" on %s, %s", w.time(a.revoked), reasons[a.reason])
	}
	return s
}

// answers reads the single responses of a ResponseData (RFC 6960 section 4.2.1), of which package ocsp gives the first.
func answers(r *ocsp.Response) (all []answer) {
	s := cryptobyte.String(r.TBSResponseData)
	var data, skipped, list cryptobyte.String
	var tag cbasn1.Tag
	if !s.ReadASN1(&data, cbasn1.SEQUENCE) || !data.SkipOptionalASN1(cbasn1.Tag(0).ContextSpecific().Constructed()) ||
		!data.ReadAnyASN1(&skipped, &tag) || !data.SkipASN1(cbasn1.GeneralizedTime) || !data.ReadASN1(&list, cbasn1.SEQUENCE) {
		return nil
	}
	for !list.Empty() {
		var single, id, status cryptobyte.String
		a := answer{serial: new(big.Int)}
		if !list.ReadASN1(&single, cbasn1.SEQUENCE) || !single.ReadASN1(&id, cbasn1.SEQUENCE) || !id.SkipASN1(cbasn1.SEQUENCE) ||
			!id.SkipASN1(cbasn1.OCTET_STRING) || !id.SkipASN1(cbasn1.OCTET_STRING) || !id.ReadASN1Integer(a.serial) || !single.ReadAnyASN1(&status, &tag) {
			return all
		}
		switch tag {
		case cbasn1.Tag(0).ContextSpecific():
			a.status = "good"
		case cbasn1.Tag(1).ContextSpecific().Constructed():
			a.status = "revoked"
			a.readRevoked(status)
		default:
			a.status = "unknown"
		}
		all = append(all, a)
	}
	return all
}

// readRevoked reads when and why a certificate was revoked.
func (a *answer) readRevoked(s cryptobyte.String) {
	var why cryptobyte.String
	var present bool
	if !s.ReadASN1GeneralizedTime(&a.revoked) || !s.ReadOptionalASN1(&why, &present, cbasn1.Tag(0).ContextSpecific().Constructed()) || !present {
		return
	}
	why.ReadASN1Enum(&a.reason)
}
