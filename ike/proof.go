package ike

import (
	"bytes"
	"fmt"

	"github.com/ipsecd/ipsecd/ike/auth"
	"github.com/ipsecd/ipsecd/ike/suite"
	"github.com/ipsecd/ipsecd/ike/wire"
)

// proof is what we prove our identity with (RFC 7296 section 2.15): a
// pre-shared key, or a credential and how to sign with it.
type proof struct {
	id         auth.Identity
	secret     suite.Key
	credential *auth.Credential // nil: by the pre-shared key
	signature  auth.Signature
	ocsp       [][]byte // responses about its certificates, for a peer that asks
}

// String names the proof in charon's words.
func (p *proof) String() string {
	if p.credential == nil {
		return "pre-shared key"
	}
	return p.signature.String()
}

// ourProof chooses who we are and how we prove it to the peer. asked is who the
// peer wants us to be, which counts if the configuration leaves it open.
func (e *Engine) ourProof(sa *ikeSA, asked, peer auth.Identity) (*proof, error) {
	c := sa.conn.cfg
	id := c.Local.ID
	if id.IsAny() {
		id = asked
	}
	if c.Local.Method == AuthPubkey {
		return e.ourSignature(sa, id)
	}
	if id.IsAny() {
		id = auth.FromAddr(sa.local.Addr())
	}
	secrets := e.secrets(sa, id, peer)
	if len(secrets) == 0 {
		return nil, fmt.Errorf("no pre-shared key for %v - %v: add one to secrets", id, peer)
	}
	return &proof{id: id, secret: secrets[0].Key}, nil
}

func (e *Engine) ourSignature(sa *ikeSA, id auth.Identity) (*proof, error) {
	terms, s := &sa.conn.cfg.Local.Terms, sa.setup
	credential, err := e.cfg.Credentials.Credential(terms, id, s.authorities, e.now)
	if err != nil {
		return nil, err
	}
	if sa.conn.cfg.Local.ID.IsAny() && !credential.Confirmed() {
		credential.UseSubject() // the peer asks for somebody else
	}
	if problem := credential.Problem(e.now); problem != nil {
		e.note(sa, LevelWarn, "CFG", "the peer will refuse us: %v", problem)
	}
	how, err := auth.ChooseSignature(credential.Key.Public(), s.hashes, s.announced, terms.Rule)
	if err != nil {
		return nil, err
	}
	return &proof{id: credential.ID, credential: credential, signature: how}, nil
}

// signResult is what a computed signature returns.
type signResult struct {
	data []byte
	err  error
}

// makeAuth makes our AUTH payload for our identification payload and hands it to done: at once with
// a pre-shared key, else when a worker has signed.
func (e *Engine) makeAuth(sa *ikeSA, p *proof, id *wire.Identification, done func(*wire.Auth, error)) {
	if p.credential == nil {
		done(&wire.Auth{Method: wire.AuthSharedKey, Data: sa.ourAuth(p.secret, id)}, nil)
		return
	}
	octets, seed := sa.signedOctets(id, sa.initiator), e.keySeed()
	e.compute(sa, func() any {
		defer clear(seed)
		data, err := p.credential.Key.Sign(bytes.NewReader(seed), p.signature, octets)
		return signResult{data, err}
	}, func(result any) {
		r, ok := result.(signResult)
		if !ok {
			r.err = result.(keyResult).err
		}
		done(&wire.Auth{Method: wire.AuthMethod(p.signature.Method), Data: r.data}, r.err)
	})
}

// certificates returns the CERT payloads that go with our proof, our own
// certificate first (RFC 7296 section 3.6).
func (sa *ikeSA) certificates(p *proof) []wire.Payload {
	s, when := sa.setup, sa.conn.cfg.SendCert
	if p.credential == nil || when == SendCertNever {
		return nil
	}
	var out []wire.Payload
	if when == SendCertAlways || s.asked {
		for _, c := range p.credential.Path {
			out = append(out, &wire.Certificate{Encoding: wire.CertX509Signature, Data: c.Raw})
		}
	}
	for _, r := range p.ocsp {
		out = append(out, &wire.Certificate{Encoding: wire.CertOCSP, Data: r})
	}
	if raw := p.credential.RawKey; raw != nil && (when == SendCertAlways || s.askedRaw) {
		out = append(out, &wire.Certificate{Encoding: wire.CertRawPublicKey, Data: raw})
	}
	return out
}

// asksForCertificates notes the peer's CERTREQ payloads (RFC 7296 section 3.7).
func (s *setup) asksForCertificates(m *message) {
	s.asked, s.askedRaw, s.askedOCSP, s.authorities = false, false, false, nil
	for r := range wire.All[*wire.CertificateRequest](m.payloads) {
		switch r.Encoding {
		case wire.CertX509Signature:
			s.asked = true
			s.authorities = append(s.authorities, r.Authority...)
		case wire.CertRawPublicKey:
			s.askedRaw = true
		case wire.CertOCSP:
			s.askedOCSP = true
		}
	}
}

// staple goes on when OCSP responses about our certificates are at hand, if the peer wants to see some (RFC 4806).
func (e *Engine) staple(sa *ikeSA, p *proof, goOn func()) {
	store, now := e.cfg.Credentials, e.now
	if !sa.setup.askedOCSP || !sa.conn.cfg.OCSP.replies() || !store.Staples(p.credential) {
		goOn()
		return
	}
	var got [][]byte
	e.fetch(sa, func() { got = store.Staple(p.credential, now) }, func() {
		p.ocsp = got
		goOn()
	})
}

// requestCertificates returns the CERTREQ payloads for the peer, if any of the connections
// wants certificates of it, and OCSP responses about them.
func (e *Engine) requestCertificates(list ...*connection) []wire.Payload {
	var terms []*auth.Terms
	ocsp := false
	for _, c := range list {
		if c.cfg.Remote.Method == AuthPubkey && c.cfg.SendCertReq {
			terms = append(terms, &c.cfg.Remote.Terms)
			ocsp = ocsp || c.cfg.OCSP.requests()
		}
	}
	authorities := e.cfg.Credentials.Request(terms)
	if len(authorities) == 0 {
		return nil
	}
	requests := []wire.Payload{&wire.CertificateRequest{Encoding: wire.CertX509Signature, Authority: authorities}}
	if ocsp {
		requests = append(requests, &wire.CertificateRequest{Encoding: wire.CertOCSP, Authority: e.cfg.Credentials.Responders()})
	}
	return requests
}

// signatureHashes returns the notification that RFC 7427 section 4 wants in IKE_SA_INIT, if
// a connection uses public keys.
func (e *Engine) signatureHashes(list ...*connection) []wire.Payload {
	for _, c := range list {
		if e.cfg.OldSignatures {
			return nil
		}
		if c.cfg.Local.Method == AuthPubkey || c.cfg.Remote.Method == AuthPubkey {
			return []wire.Payload{notification(wire.NotifySignatureHashAlgorithms, auth.OurHashes.Notification())}
		}
	}
	return nil
}

// learnHashes notes which hashes the peer announces. Signatures of RFC 7427 need
// that both do.
func (s *setup) learnHashes(m *message, ours bool) error {
	s.hashes, s.announced = 0, false
	n := m.notify(wire.NotifySignatureHashAlgorithms)
	if n == nil || !ours {
		return nil
	}
	var err error
	s.hashes, err = auth.ParseHashes(n.Data)
	s.announced = err == nil
	return err
}

// peerProof collects what the peer sent to prove its identity by a signature.
func (sa *ikeSA) peerProof(m *message, id *wire.Identification, a *wire.Auth) *auth.Peer {
	p := &auth.Peer{
		ID: identity(id), Method: uint8(a.Method), Data: a.Data,
		Octets: sa.signedOctets(id, !sa.initiator), Announced: sa.setup.announced,
	}
	for c := range wire.All[*wire.Certificate](m.payloads) {
		switch c.Encoding {
		case wire.CertX509Signature:
			p.Certs = append(p.Certs, c.Data)
		case wire.CertRawPublicKey:
			p.RawKeys = append(p.RawKeys, c.Data)
		case wire.CertCRL:
			p.CRLs = append(p.CRLs, c.Data)
		case wire.CertOCSP:
			p.OCSP = append(p.OCSP, c.Data)
		}
	}
	return p
}

// isSignature reports whether an AUTH method is a signature that we know.
func isSignature(m wire.AuthMethod) bool {
	switch m {
	case wire.AuthRSASignature, wire.AuthECDSAP256, wire.AuthECDSAP384, wire.AuthECDSAP521, wire.AuthDigitalSignature:
		return true
	}
	return false
}

// expects reports whether a remote section allows an AUTH method.
func (a *AuthConfig) expects(m wire.AuthMethod) bool {
	if a.Method == AuthPubkey {
		return isSignature(m)
	}
	return m == wire.AuthSharedKey
}

// String names what is expected of the peer, for messages.
func (m AuthMethod) String() string {
	if m == AuthPubkey {
		return "a signature"
	}
	return "a pre-shared key"
}
