package revocation

import (
	"net/http"
	"testing"
	"time"

	"golang.org/x/crypto/ocsp"

	"github.com/ipsecd/ipsecd/ike/auth"
)

// TestStaple: what a peer is shown about our certificate is fetched once as long as it is good, whatever a CRL says that is at hand; a
// revocation, or a response about another certificate, is not shown.
func TestStaple(t *testing.T) {
	root := issue(t, nil, "Root", nil)
	gw, other := issue(t, root, "gw", nil), issue(t, root, "other", nil)
	good := serve(t, responder(t, root, gw, ocsp.Good, same))
	list := serve(t, answer(crl(t, root)))
	now := time.Now()
	for _, c := range []struct {
		name   string
		server *server
		off    bool
		shown  bool
	}{
		{"good", good, false, true},
		{"revoked", serve(t, responder(t, root, gw, ocsp.Revoked, same)), false, false},
		{"another certificate", serve(t, answer(response(t, root, other, ocsp.Good, nil))), false, false},
		{"no answer", serve(t, http.NotFound), false, false},
		{"switched off", good, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := DefaultOptions()
			o.OCSP = !c.off
			f := New(t.Context(), o)
			f.Fetch([]auth.Query{{Cert: gw.cert, Issuer: root.cert, CRLs: []string{list.URL}}}, now)
			q := auth.Query{Cert: gw.cert, Issuer: root.cert, OCSP: []string{c.server.URL}}
			before := c.server.hits.Load()
			for range 3 {
				der := f.Staple(q, now)
				if (der != nil) != c.shown {
					t.Fatalf("%d octets are shown", len(der))
				}
				if der == nil {
					continue
				}
				data := auth.RevocationData{OCSP: [][]byte{der}}
				if status, why := data.Check(gw.cert, root.cert, now); status != auth.StatusGood {
					t.Errorf("the response says %v: %s", status, why)
				}
			}
			if n := c.server.hits.Load() - before; c.shown && n != 1 || c.off && n != 0 {
				t.Errorf("the responder was asked %d times", n)
			}
			if c.shown { // its time over, a new one is asked for
				f.Staple(q, now.Add(2*time.Hour))
				if n := c.server.hits.Load() - before; n != 2 {
					t.Errorf("the responder was asked %d times in two hours", n)
				}
			}
		})
	}
}
