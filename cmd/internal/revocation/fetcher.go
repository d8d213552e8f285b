package revocation

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/ipsecd/ipsecd/ike/auth"
)

// Options are what may be fetched: charon.plugins.revocation of strongswan.conf.
type Options struct {
	OCSP    bool                // enable_ocsp
	CRL     bool                // enable_crl
	Timeout time.Duration       // for everything about one certificate
	Signers []*x509.Certificate // OCSP responders that are trusted for every CA
}

// DefaultOptions fetch everything.
func DefaultOptions() Options { return Options{OCSP: true, CRL: true, Timeout: DefaultTimeout} }

// Fetcher is an auth.Fetcher over HTTP. It may be used by several goroutines at once.
type Fetcher struct {
	ctx     context.Context
	client  *http.Client
	flights singleflight.Group

	mu      sync.Mutex
	options Options
	known   store
	failed  map[string]failure // by URI, or by URI and what was asked for
	reasons map[certID]string  // why nothing is known
}

var _ auth.Fetcher = (*Fetcher)(nil)

// failure is when a server, or one question to it, failed, and how.
type failure struct {
	at  time.Time
	err error
}

// New returns a Fetcher that works until ctx ends.
func New(ctx context.Context, o Options) *Fetcher {
	return &Fetcher{
		ctx: ctx, client: newClient(), options: o, known: newStore(),
		failed: map[string]failure{}, reasons: map[certID]string{},
	}
}

// Configure changes the options. What is known stays known.
func (f *Fetcher) Configure(o Options) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.options = o
}

// Known returns what is kept, in DER.
func (f *Fetcher) Known() (crls, ocsp [][]byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.known.der()
}

// Flush drops what is kept, and what is known of servers that failed: it is fetched anew when it is needed.
func (f *Fetcher) Flush(crls, ocsp bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if crls {
		f.known.lists, f.known.count, f.known.size = map[issuerID]map[string]list{}, 0, 0
	}
	if ocsp {
		f.known.responses = map[certID][]byte{}
	}
	if crls || ocsp {
		clear(f.failed)
		clear(f.reasons)
	}
}

// Check answers from what has been fetched. A certificate is not good by a CRL alone before the delta CRLs are there that this
// names, if they can be had.
func (f *Fetcher) Check(cert, issuer *x509.Certificate, now time.Time) (auth.Status, string) {
	id := idOf(cert, issuer)
	f.mu.Lock()
	data, reason, o := f.known.about(id), f.reasons[id], f.options
	f.mu.Unlock()
	data.Signers = o.Signers
	status, why := data.Check(cert, issuer, now)
	switch {
	case status == auth.StatusUnknown && reason != "":
		return status, reason
	case status == auth.StatusGood && o.CRL && len(f.missing(id.issuer, now)) > 0:
		data.CRLs = nil
		if byOCSP, _ := data.Check(cert, issuer, now); byOCSP != auth.StatusGood {
			return auth.StatusUnknown, "the delta CRL of its issuer is not at hand"
		}
	}
	return status, why
}

// atHand reports whether anything at hand tells the status, be there newer delta CRLs or not.
func (f *Fetcher) atHand(q auth.Query, now time.Time) bool {
	f.mu.Lock()
	data := f.known.about(idOf(q.Cert, q.Issuer))
	data.Signers = f.options.Signers
	f.mu.Unlock()
	status, _ := data.Check(q.Cert, q.Issuer, now)
	return status != auth.StatusUnknown
}

// Fetch asks about each certificate, all at once.
func (f *Fetcher) Fetch(list []auth.Query, now time.Time) {
	f.mu.Lock()
	o := f.options
	f.mu.Unlock()
	ctx, cancel := context.WithTimeout(f.ctx, o.Timeout)
	defer cancel()
	var wg sync.WaitGroup
	for _, q := range list {
		wg.Go(func() { f.ask(ctx, o, q, now) })
	}
	wg.Wait()
}

// ask asks the OCSP responders, then reads the CRLs, until the status is known. Who asks
// for the same while that is under way waits for the same answer.
func (f *Fetcher) ask(ctx context.Context, o Options, q auth.Query, now time.Time) {
	id := idOf(q.Cert, q.Issuer)
	var problems []string
	try := func(uri string, about any, fetch func(context.Context) error) bool {
		if f.atHand(q, now) {
			return true
		}
		if err := f.once(ctx, o, uri, about, fetch); err != nil {
			problems = append(problems, fmt.Sprintf("%s: %v", uri, err))
		}
		return false
	}
	if o.OCSP {
		for _, uri := range q.OCSP[:min(len(q.OCSP), maxURIs)] {
			if try(uri, id, func(ctx context.Context) error { return f.fetchOCSP(ctx, o, uri, q, now) }) {
				break
			}
		}
	}
	if o.CRL {
		for _, uri := range q.CRLs[:min(len(q.CRLs), maxURIs)] {
			if try(uri, id.issuer, func(ctx context.Context) error { return f.fetchCRL(ctx, uri, q, now) }) {
				break
			}
		}
	}
	if status, _ := f.Check(q.Cert, q.Issuer, now); o.CRL && status == auth.StatusUnknown {
		problems = append(problems, f.fetchDeltas(ctx, o, q, now)...)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.reasons) >= maxResponses {
		clear(f.reasons)
	}
	delete(f.reasons, id)
	if len(problems) > 0 {
		f.reasons[id] = strings.Join(problems, "; ")
	}
}

// once runs one fetch at a time for a question, and does not repeat at once what has just failed.
func (f *Fetcher) once(ctx context.Context, o Options, uri string, id any, fetch func(context.Context) error) error {
	what := question(uri, id)
	if err := f.failedLately(uri, what); err != nil {
		return err
	}
	done := f.flights.DoChan(what, func() (any, error) {
		own, cancel := context.WithTimeout(f.ctx, time.Duration(float64(o.Timeout)*oneRequest))
		defer cancel()
		err := fetch(own)
		f.remember(uri, what, err)
		return nil, err
	})
	select {
	case r := <-done:
		return r.Err
	case <-ctx.Done():
		return errors.New("no answer in time")
	}
}

// question names what is asked of a server.
func question(uri string, about any) string { return fmt.Sprintf("%s %x", uri, about) }

func (f *Fetcher) failedLately(keys ...string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, k := range keys {
		if last, ok := f.failed[k]; ok && time.Since(last.at) < retryAfter {
			return last.err
		}
	}
	return nil
}

func (f *Fetcher) remember(uri, question string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.failed, uri)
	delete(f.failed, question)
	if err == nil {
		return
	}
	if len(f.failed) >= maxResponses {
		clear(f.failed)
	}
	key := question
	if errors.As(err, new(serverError)) {
		key = uri
	}
	f.failed[key] = failure{time.Now(), err}
}

func (f *Fetcher) fetchOCSP(ctx context.Context, o Options, uri string, q auth.Query, now time.Time) error {
	request, nonce, err := newRequest(q.Cert, q.Issuer)
	if err != nil {
		return err
	}
	response, err := f.post(ctx, uri, request)
	if err == nil {
		err = checkNonce(response, q.Cert, nonce)
	}
	if err != nil {
		return err
	}
	data := auth.RevocationData{OCSP: [][]byte{response}, Signers: o.Signers}
	if status, why := data.Check(q.Cert, q.Issuer, now); status == auth.StatusUnknown {
		return errors.New(why)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.known.addOCSP(idOf(q.Cert, q.Issuer), response)
	return nil
}

func (f *Fetcher) fetchCRL(ctx context.Context, uri string, q auth.Query, now time.Time) error {
	list, size, err := f.getList(ctx, uri)
	if err != nil {
		return err
	}
	data := auth.RevocationData{CRLs: []*x509.RevocationList{list}}
	if status, why := data.Check(q.Cert, q.Issuer, now); status == auth.StatusUnknown {
		return errors.New(why)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.known.addCRL(issuerOf(q.Issuer), uri, list, size)
	return nil
}

// issuerID names a CA, by its whole certificate.
type issuerID [sha256.Size]byte

// certID names a certificate by its issuer and serial number.
type certID struct {
	issuer issuerID
	serial string
}

func issuerOf(ca *x509.Certificate) issuerID { return sha256.Sum256(ca.Raw) }

func idOf(cert, issuer *x509.Certificate) certID {
	return certID{issuerOf(issuer), string(cert.SerialNumber.Bytes())}
}
