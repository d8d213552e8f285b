package revocation

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

// newClient returns a client for plain HTTP: what is fetched is signed. TLS would need certificates that are
// to be checked themselves.
func newClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
			MaxIdleConnsPerHost:    1,
			IdleConnTimeout:        10 * time.Second,
			MaxResponseHeaderBytes: 16 << 10,
		},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects {
				return fmt.Errorf("more than %d redirects", maxRedirects)
			}
			return allowed(r.URL)
		},
	}
}

func allowed(u *url.URL) error {
	if u.Scheme != "http" {
		return fmt.Errorf("%s is not supported, expected http://", u.Scheme)
	}
	return nil
}

// get fetches a CRL.
func (f *Fetcher) get(ctx context.Context, uri string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, uri, nil)
	if err != nil {
		return nil, err
	}
	return f.do(r, maxCRL)
}

// post sends an OCSP request (RFC 6960 appendix A.1).
func (f *Fetcher) post(ctx context.Context, uri string, request []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, uri, bytes.NewReader(request))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/ocsp-request")
	r.Header.Set("Accept", "application/ocsp-response")
	return f.do(r, maxOCSP)
}

// serverError is the failure of a server, whatever it was asked for.
type serverError struct{ error }

func (f *Fetcher) do(r *http.Request, most int64) ([]byte, error) {
	if err := allowed(r.URL); err != nil {
		return nil, err
	}
	answer, err := f.client.Do(r)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) { // it repeats the method and the address
			err = u.Err
		}
		if r.Context().Err() != nil {
			err = errors.New("no answer in time")
		}
		return nil, serverError{err}
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, serverError{fmt.Errorf("the server answers %s", answer.Status)}
	}
	b, err := io.ReadAll(io.LimitReader(answer.Body, most+1))
	switch {
	case r.Context().Err() != nil:
		return nil, serverError{errors.New("the answer did not end in time")}
	case err != nil:
		return nil, serverError{err}
	case int64(len(b)) > most:
		return nil, serverError{fmt.Errorf("the answer is longer than %d octets", most)}
	}
	return b, nil
}
