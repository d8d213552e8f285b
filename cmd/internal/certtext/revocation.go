package certtext

import (
	"crypto/x509"
	"encoding/asn1"
	"fmt"
	"math/big"
	"time"

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
