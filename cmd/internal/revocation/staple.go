package revocation

import (
	"context"
	"time"

	"github.com/ipsecd/ipsecd/ike/auth"
)

// Staple returns an OCSP response that says that a certificate of ours is good, the one that is at hand as long as it is,
// or else a new one (RFC 4806).
func (f *Fetcher) Staple(q auth.Query, now time.Time) []byte {
	f.mu.Lock()
	o := f.options
	f.mu.Unlock()
	if r := f.good(q, o, now); r != nil || !o.OCSP {
		return r
	}
	ctx, cancel := context.WithTimeout(f.ctx, o.Timeout)
	defer cancel()
	for _, uri := range q.OCSP[:min(len(q.OCSP), maxURIs)] {
		if f.once(ctx, o, uri, idOf(q.Cert, q.Issuer), func(ctx context.Context) error { return f.fetchOCSP(ctx, o, uri, q, now) }) == nil {
			break
		}
	}
	return f.good(q, o, now)
}

// good returns the OCSP response that is kept, if it still says that the certificate is good.
func (f *Fetcher) good(q auth.Query, o Options, now time.Time) []byte {
	f.mu.Lock()
	der := f.known.responses[idOf(q.Cert, q.Issuer)]
	f.mu.Unlock()
	if der == nil {
		return nil
	}
	data := auth.RevocationData{OCSP: [][]byte{der}, Signers: o.Signers}
	if status, _ := data.Check(q.Cert, q.Issuer, now); status != auth.StatusGood {
		return nil
	}
	return der
}
