package revocation

import (
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/ocsp"

	"github.com/ipsecd/ipsecd/ike/auth"
)

// server answers on loopback and counts who asks.
type server struct {
	*httptest.Server
	hits atomic.Int64
}

func serve(t *testing.T, f http.HandlerFunc) *server {
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.hits.Add(1)
		f(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func answer(content []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.Write(content) }
}

// responder answers as the OCSP responder of an issuer, with the nonce of the request.
func responder(t *testing.T, issuer, about *entity, status int, nonce func([]byte) []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		der, err := io.ReadAll(r.Body)
		if err != nil || r.Header.Get("Content-Type") != "application/ocsp-request" {
			t.Errorf("%v, Content-Type %q", err, r.Header.Get("Content-Type"))
		}
		request, err := ocsp.ParseRequest(der)
		if err != nil || request.SerialNumber.Cmp(about.cert.SerialNumber) != 0 {
			t.Errorf("the request is about %v (%v)", request, err)
		}
		w.Write(response(t, issuer, about, status, nonce(der[len(der)-nonceLen:])))
	}
}

func same(n []byte) []byte    { return n }
func without(n []byte) []byte { return nil }
func another(n []byte) []byte { return make([]byte, nonceLen) }

// slowly hangs until the client gives up.
func slowly(_ http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body) // or the server does not notice
	<-r.Context().Done()
}

func TestFetch(t *testing.T) {
	root, other := issue(t, nil, "Root", nil), issue(t, nil, "Other", nil)
	gw := issue(t, root, "gw", nil)
	good, revoked := answer(crl(t, root)), answer(crl(t, root, gw))
	var loop *server
	loop = serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, loop.URL, http.StatusFound) })
	crls := func(f ...http.HandlerFunc) (q auth.Query) {
		for _, h := range f {
			q.CRLs = append(q.CRLs, serve(t, h).URL)
		}
		return q
	}
	ocsps := func(f http.HandlerFunc) auth.Query { return auth.Query{OCSP: []string{serve(t, f).URL}} }
	both := func(o http.HandlerFunc, c http.HandlerFunc) auth.Query {
		return auth.Query{OCSP: []string{serve(t, o).URL}, CRLs: []string{serve(t, c).URL}}
	}
	for _, c := range []struct {
		name  string
		q     auth.Query
		known auth.Status
		why   string
	}{
		{"CRL", crls(good), auth.StatusGood, "not in the CRL"},
		{"in the CRL", crls(revoked), auth.StatusRevoked, "by the CRL"},
		{"CRL in PEM", crls(answer(pem.EncodeToMemory(&pem.Block{Type: "X509 CRL", Bytes: crl(t, root, gw)}))), auth.StatusRevoked, ""},
		{"the second point", crls(http.NotFound, good), auth.StatusGood, ""},
		{"CRL of another CA", crls(answer(crl(t, other))), auth.StatusUnknown, "no CRL or OCSP response of its issuer"},
		{"junk", crls(answer([]byte("junk"))), auth.StatusUnknown, "the answer is no CRL"},
		{"nothing there", crls(http.NotFound), auth.StatusUnknown, ": the server answers 404 Not Found"},
		{"too long", crls(answer(make([]byte, maxCRL+1))), auth.StatusUnknown, "the answer is longer than 16777216 octets"},
		{"server hangs", crls(slowly), auth.StatusUnknown, ": no answer in time"},
		{"first server hangs", crls(slowly, good), auth.StatusGood, ""},
		{"redirect", crls(http.RedirectHandler(serve(t, good).URL, http.StatusFound).ServeHTTP), auth.StatusGood, ""},
		{"redirects without end", auth.Query{CRLs: []string{loop.URL}}, auth.StatusUnknown, "more than 3 redirects"},
		{"redirect to a file", crls(http.RedirectHandler("file:///etc/passwd", http.StatusFound).ServeHTTP), auth.StatusUnknown, "file is not supported, expected http://"},
		{"another scheme", auth.Query{CRLs: []string{"ldap://ldap.example/cn=Root"}}, auth.StatusUnknown, "ldap is not supported, expected http://"},
		{"nobody listens", auth.Query{CRLs: []string{"http://127.0.0.1:1/"}}, auth.StatusUnknown, "connection refused"},

		{"OCSP", ocsps(responder(t, root, gw, ocsp.Good, same)), auth.StatusGood, "good in the OCSP response"},
		{"OCSP revoked", ocsps(responder(t, root, gw, ocsp.Revoked, same)), auth.StatusRevoked, "by an OCSP response"},
		{"OCSP without nonce", ocsps(responder(t, root, gw, ocsp.Good, without)), auth.StatusGood, ""},
		{"OCSP with another nonce", ocsps(responder(t, root, gw, ocsp.Good, another)), auth.StatusUnknown, "its nonce is not ours"},
		{"OCSP of another CA", ocsps(responder(t, other, gw, ocsp.Good, same)), auth.StatusUnknown, ""},
		{"OCSP refuses", ocsps(answer(ocsp.UnauthorizedErrorResponse)), auth.StatusUnknown, "the responder answers unauthorized"},
		{"OCSP before CRL", both(responder(t, root, gw, ocsp.Good, same), revoked), auth.StatusGood, ""},
		{"CRL where OCSP does not know", both(responder(t, root, gw, ocsp.Unknown, same), revoked), auth.StatusRevoked, ""},
		{"CRL where OCSP hangs", both(slowly, revoked), auth.StatusRevoked, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			patience := time.Hour // a loaded machine is slow
			if strings.Contains(c.name, "hangs") {
				patience = 10 * time.Second
			}
			f := New(t.Context(), Options{OCSP: true, CRL: true, Timeout: patience})
			c.q.Cert, c.q.Issuer = gw.cert, root.cert
			f.Fetch([]auth.Query{c.q}, time.Now())
			known, why := f.Check(gw.cert, root.cert, time.Now())
			if known != c.known || !strings.Contains(why, c.why) {
				t.Errorf("status %d, %q; want %d, %q", known, why, c.known, c.why)
			}
		})
	}
}

// What is known is not fetched again, nor is what has just failed.
func TestFetchOnce(t *testing.T) {
	root := issue(t, nil, "Root", nil)
	a, b := issue(t, root, "a", nil), issue(t, root, "b", nil)
	list, bad := serve(t, answer(crl(t, root, b))), serve(t, http.NotFound)
	f := New(t.Context(), DefaultOptions())
	queries := []auth.Query{
		{Cert: a.cert, Issuer: root.cert, OCSP: []string{bad.URL}, CRLs: []string{list.URL}},
		{Cert: b.cert, Issuer: root.cert, OCSP: []string{bad.URL}, CRLs: []string{list.URL}},
	}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() { f.Fetch(queries[:1], time.Now()) })
	}
	wg.Wait()
	f.Fetch(queries, time.Now())
	if n := list.hits.Load(); n != 1 {
		t.Errorf("the CRL was fetched %d times", n)
	}
	if n := bad.hits.Load(); n < 1 || n > 20 {
		t.Errorf("a responder that fails was asked %d times", n)
	}
	if known, why := f.Check(b.cert, root.cert, time.Now()); known != auth.StatusRevoked {
		t.Errorf("b: %d %s", known, why)
	}
	// Its time over, the CRL is fetched again.
	f.Fetch(queries[:1], time.Now().Add(2*time.Hour))
	if n := list.hits.Load(); n != 2 {
		t.Errorf("the CRL that has had its time: fetched %d times", n)
	}
	f.Fetch(queries[:1], time.Now().Add(2*time.Hour))
	if n := list.hits.Load(); n != 2 {
		t.Errorf("the server has the same old CRL: fetched %d times", n)
	}
}

// A server that hangs delays only those who ask for something that is there alone.
func TestHangingServerDelaysNobodyElse(t *testing.T) {
	root, other := issue(t, nil, "Root", nil), issue(t, nil, "Other", nil)
	a, b := issue(t, root, "a", nil), issue(t, other, "b", nil)
	f := New(t.Context(), Options{OCSP: true, CRL: true, Timeout: time.Hour})
	asked, release := make(chan struct{}), make(chan struct{})
	hanging := serve(t, func(w http.ResponseWriter, r *http.Request) {
		close(asked)
		<-release
	})
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.Fetch([]auth.Query{{Cert: a.cert, Issuer: root.cert, CRLs: []string{hanging.URL}}}, time.Now())
	}()
	<-asked
	f.Fetch([]auth.Query{{Cert: b.cert, Issuer: other.cert, CRLs: []string{serve(t, answer(crl(t, other))).URL}}}, time.Now())
	if known, why := f.Check(b.cert, other.cert, time.Now()); known != auth.StatusGood {
		t.Errorf("b: %d %s", known, why)
	}
	select {
	case <-done:
		t.Error("the server does not hang")
	default:
	}
	close(release)
	<-done
}

// What is kept is bounded.
func TestStoreIsBounded(t *testing.T) {
	s := newStore()
	for i := range maxResponses + 10 {
		s.addOCSP(certID{serial: fmt.Sprint(i)}, nil)
	}
	for i := range maxLists + 10 {
		s.addCRL(issuerID{byte(i), byte(i >> 8)}, "http://crl.example/", nil, 1)
	}
	if len(s.responses) != maxResponses || s.count != maxLists || s.size != maxLists || len(s.lists) != maxLists {
		t.Errorf("%d responses, %d lists (%d issuers) of %d octets", len(s.responses), s.count, len(s.lists), s.size)
	}
	s.addCRL(issuerID{}, "http://crl.example/big", nil, maxListsSize)
	if s.count != 1 || s.size != maxListsSize || len(s.lists) != 1 {
		t.Errorf("%d lists (%d issuers) of %d octets beside a big one", s.count, len(s.lists), s.size)
	}
	s.addCRL(issuerID{}, "http://crl.example/big", nil, 7)
	if s.count != 1 || s.size != 7 {
		t.Errorf("%d lists of %d octets, replaced by a small one", s.count, s.size)
	}
}

func FuzzResponseNonce(f *testing.F) {
	root := issue(f, nil, "Root", nil)
	r, err := ocsp.ParseResponse(response(f, root, root, ocsp.Good, []byte("0123456789abcdef0123456789abcdef")), root.cert)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(r.TBSResponseData)
	f.Add([]byte{0x30, 0x00})
	f.Fuzz(func(t *testing.T, tbs []byte) {
		if n, err := responseNonce(tbs); err != nil && n != nil {
			t.Errorf("both a nonce and %v", err)
		}
	})
}
