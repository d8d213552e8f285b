package revocation

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ipsecd/ipsecd/ike/auth"
)

// missing returns the URIs of delta CRLs that the CRLs of an issuer name and that are not at hand, or have had their time (RFC 5280
// section 5.2.6). One that was asked for in vain lately is not among them: then the CRL has to do.
func (f *Fetcher) missing(id issuerID, now time.Time) []string {
	f.mu.Lock()
	lists := f.known.lists[id]
	var uris []string
	for _, l := range lists {
		for _, uri := range auth.FreshestCRLs(l.crl) {
			if delta, ok := lists[uri]; strings.HasPrefix(uri, "http://") && (!ok || now.After(delta.crl.NextUpdate)) && len(uris) < maxURIs {
				uris = append(uris, uri)
			}
		}
	}
	f.mu.Unlock()
	var out []string
	for _, uri := range uris {
		if f.failedLately(uri, question(uri, id)) == nil {
			out = append(out, uri)
		}
	}
	return out
}

// fetchDeltas fetches the delta CRLs that are missing.
func (f *Fetcher) fetchDeltas(ctx context.Context, o Options, q auth.Query, now time.Time) (problems []string) {
	id := issuerOf(q.Issuer)
	for _, uri := range f.missing(id, now) {
		if err := f.once(ctx, o, uri, id, func(ctx context.Context) error { return f.fetchDelta(ctx, uri, q, now) }); err != nil {
			problems = append(problems, fmt.Sprintf("%s: %v", uri, err))
		}
	}
	return problems
}

func (f *Fetcher) fetchDelta(ctx context.Context, uri string, q auth.Query, now time.Time) error {
	list, size, err := f.getList(ctx, uri)
	switch {
	case err != nil:
		return err
	case !auth.IsDelta(list):
		return errors.New("the answer is no delta CRL")
	case list.CheckSignatureFrom(q.Issuer) != nil:
		return errors.New("the delta CRL is not signed by the issuer")
	case now.After(list.NextUpdate):
		return fmt.Errorf("the delta CRL was due to be replaced on %v", list.NextUpdate)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.known.addCRL(issuerOf(q.Issuer), uri, list, size)
	return nil
}

// getList fetches a CRL, and returns it with its size in octets.
func (f *Fetcher) getList(ctx context.Context, uri string) (*x509.RevocationList, int, error) {
	der, err := f.get(ctx, uri)
	if err != nil {
		return nil, 0, err
	}
	size := len(der)
	if b, _ := pem.Decode(der); b != nil { // RFC 5280 section 4.2.1.13 wants DER
		der = b.Bytes
	}
	list, err := x509.ParseRevocationList(der)
	if err != nil {
		return nil, 0, fmt.Errorf("the answer is no CRL: %w", err)
	}
	return list, size, nil
}
