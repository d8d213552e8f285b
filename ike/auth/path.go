package auth

import (
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"time"
)

// trust returns the path by which a certificate is trusted: one to a configured CA
// that satisfies what the remote section demands, or none where the certificate itself is configured.
func (s *Store) trust(leaf *x509.Certificate, p *Peer, r *Terms, now time.Time) ([]*x509.Certificate, error) {
	paths, err := s.paths(leaf, p, r, now)
	asIs := len(r.CACerts) == 0 && r.CAID.IsAny() && len(r.Policies) == 0 && (sameCert(r.Certs, leaf) || sameCert(s.certs, leaf))
	if err != nil && asIs {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var first error
	for _, path := range paths {
		err := r.allowsPath(path)
		if err == nil {
			err = s.checkRevocation(path, p, r.Revocation, now)
		}
		var open *Unsettled
		if err == nil || errors.As(err, &open) {
			return path, err
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// checker combines what is known about revoked certificates with what the peer
// sent along, which is verified like everything else.
func (s *Store) checker(p *Peer) RevocationChecker {
	var sent RevocationData
	for _, der := range p.CRLs[:min(len(p.CRLs), maxPeerRevocations)] {
		if l, err := x509.ParseRevocationList(der); err == nil {
			sent.CRLs = append(sent.CRLs, l)
		}
	}
	sent.Signers = s.ocspSigners
	sent.OCSP = p.OCSP[:min(len(p.OCSP), maxPeerRevocations)]
	var all checkers
	if s.revocation != nil {
		all = append(all, s.revocation)
	}
	all = append(all, &sent)
	if s.fetcher != nil {
		all = append(all, s.fetcher) // the last one's reason is told: who was asked, and what went wrong
	}
	return all
}

// paths builds and verifies the paths to configured CAs at a given time:
// signatures, validity, basic constraints, path lengths and name constraints (RFC 5280 section 6).
// No extended key usage is demanded, since no two IKE implementations agree on one.
func (s *Store) paths(leaf *x509.Certificate, p *Peer, r *Terms, now time.Time) ([][]*x509.Certificate, error) {
	roots, between := s.roots, s.between.Clone()
	if len(r.CACerts) > 0 {
		roots = s.roots.Clone()
		for _, ca := range r.CACerts {
			roots.AddCert(ca)
			if !selfIssued(ca) {
				between.AddCert(ca)
			}
		}
	}
	for _, der := range p.Certs[:min(len(p.Certs), maxPeerCerts)] {
		c, err := x509.ParseCertificate(der)
		if err != nil {
			continue
		}
		if _, err := checkKey(c.PublicKey); err == nil { // its key will be computed with
			between.AddCert(c)
		}
	}
	if now.IsZero() {
		return nil, errors.New("the time is not known") // package x509 would read the clock
	}
	paths, err := leaf.Verify(x509.VerifyOptions{
		Roots: roots, Intermediates: between, CurrentTime: now,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny},
	})
	if err != nil {
		return nil, explainPath(leaf, err)
	}
	return paths, nil
}

// explainPath says in an operator's words why there is no path.
func explainPath(leaf *x509.Certificate, err error) error {
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && invalid.Cert != nil:
		return rejected(RejectedExpired, fmt.Errorf("%s is not trusted: %s in its path is valid from %s until %s",
			describe(leaf), describe(invalid.Cert), date(invalid.Cert.NotBefore), date(invalid.Cert.NotAfter)))
	case errors.As(err, &unknown):
		return rejected(RejectedNoIssuer, fmt.Errorf("%s is not trusted: no configured CA has issued it (issuer '%s'); is the CA in the folder x509ca, and does the peer send its intermediate certificates? (%w)",
			describe(leaf), issuer(leaf), err))
	}
	err = fmt.Errorf("%s is not trusted: %w", describe(leaf), err)
	if invalid.Reason == x509.TooManyIntermediates {
		return rejected(RejectedPathLen, err)
	}
	return err
}

// allowsPath applies cacerts, ca_id, cert_policy and the hashes of auth to a verified path.
func (r *Terms) allowsPath(path []*x509.Certificate) error {
	leaf, above := path[0], path[1:]
	if len(r.CACerts) > 0 && !slices.ContainsFunc(above, func(c *x509.Certificate) bool { return sameCert(r.CACerts, c) }) {
		return rejected(RejectedPolicy, fmt.Errorf("%s is not issued under one of the CAs in cacerts, but under '%s'", describe(leaf), subject(path[len(path)-1])))
	}
	if !r.CAID.IsAny() && !slices.ContainsFunc(above, func(c *x509.Certificate) bool { return confirmsMatch(c, r.CAID) }) {
		return rejected(RejectedPolicy, fmt.Errorf("%s is not issued under '%v' as ca_id demands, but under '%s'", describe(leaf), r.CAID, subject(path[len(path)-1])))
	}
	for _, p := range r.Policies {
		if !policyValid(path, p) {
			return rejected(RejectedPolicy, fmt.Errorf("%s is not issued under the policy %v, which cert_policy demands: it and each CA below the root must name it", describe(leaf), p))
		}
	}
	// SHA-1 is a concession to old peers; package x509 takes no certificate signed with it.
	if r.Rule.IKEOnly || r.Rule.Hashes == 0 || r.Rule.Hashes.Has(HashSHA1) {
		return nil
	}
	for _, c := range path[:len(path)-1] {
		if h, ok := certHash[c.SignatureAlgorithm]; ok && !r.Rule.Hashes.Has(h) {
			return fmt.Errorf("%s is signed with %v, and auth = %v does not allow that", describe(c), c.SignatureAlgorithm, r.Rule)
		}
	}
	return nil
}

// confirmsMatch is confirms for a configured identity, which may have wildcards.
func confirmsMatch(c *x509.Certificate, id Identity) bool {
	if id.Type == IDASN1DN {
		return id.Matches(Identity{IDASN1DN, string(c.RawSubject)})
	}
	return confirms(c, id)
}

// certHash are the hashes of the signatures that certificates can have.
var certHash = map[x509.SignatureAlgorithm]Hash{
	x509.SHA1WithRSA: HashSHA1, x509.ECDSAWithSHA1: HashSHA1,
	x509.SHA256WithRSA: HashSHA256, x509.SHA256WithRSAPSS: HashSHA256, x509.ECDSAWithSHA256: HashSHA256,
	x509.SHA384WithRSA: HashSHA384, x509.SHA384WithRSAPSS: HashSHA384, x509.ECDSAWithSHA384: HashSHA384,
	x509.SHA512WithRSA: HashSHA512, x509.SHA512WithRSAPSS: HashSHA512, x509.ECDSAWithSHA512: HashSHA512,
}
