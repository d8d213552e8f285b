package main

import (
	"crypto/x509"
	"encoding/pem"
	"io"
	"time"

	"github.com/strongswan/govici/vici"

	"github.com/ipsecd/ipsecd/cmd/internal/certtext"
	"github.com/ipsecd/ipsecd/cmd/internal/viciclient"
)

// certKind is a type of certificates, and a flag of X.509 certificates.
type certKind struct {
	title string // over those that follow one another
	block string // of PEM; empty: there is none
	write func(w *certtext.Writer, der []byte, m *vici.Message) error
}

const typeX509 = "X509"

var (
	certKinds = map[string]certKind{
		"PUBKEY":        {"List of Raw Public Keys", "PUBLIC KEY", writePublicKey},
		"X509_CRL":      {"List of X.509 CRLs", "X509 CRL", writeCRL},
		"OCSP_RESPONSE": {"List of OCSP Responses", "", writeOCSP},
	}
	x509Kinds = map[string]certKind{
		"NONE": {"List of X.509 End Entity Certificates", "CERTIFICATE", writeX509},
		"CA":   {"List of X.509 CA Certificates", "CERTIFICATE", writeX509},
		"OCSP": {"List of X.509 OCSP Signer Certificates", "CERTIFICATE", writeX509},
		"AA":   {"List of X.509 AA Certificates", "CERTIFICATE", writeX509},
	}
)

func listCerts(s *session) error {
	w := &certtext.Writer{W: s.out, Now: time.Now(), Detailed: !s.has("short"), UTC: s.has("utc")}
	title := ""
	return s.list("list-certs", "list-cert", "list-cert", "certificates", s.request("type", "flag", "subject"), func(m *vici.Message) {
		if k, ok := s.certKind(m); ok {
			title = s.writeCert(w, k, m, title)
		}
	})
}

// certKind finds the kind of a certificate, and complains if there is none.
func (s *session) certKind(m *vici.Message) (k certKind, ok bool) {
	kind, flag := text(m, "type"), text(m, "flag")
	switch {
	case !has(m, "data"):
		s.complain("received incomplete certificate data")
		return k, false
	case kind != typeX509:
		if k, ok = certKinds[kind]; !ok {
			s.complain("unsupported certificate type '%s'", kind)
		}
		return k, ok
	case flag == "":
		flag = "ANY"
	}
	if k, ok = x509Kinds[flag]; !ok {
		s.complain("unsupported certificate flag '%s'", flag)
	}
	return k, ok
}

// writeCert writes a certificate, below its title if that is not the last one, and returns the title.
func (s *session) writeCert(w *certtext.Writer, k certKind, m *vici.Message, last string) string {
	der := []byte(viciclient.Text(m, "data"))
	if s.has("pem") {
		if k.block == "" {
			s.complain("PEM encoding certificate failed")
			return last
		}
		_ = pem.Encode(s.out, &pem.Block{Type: k.block, Bytes: der})
		return last
	}
	check := &certtext.Writer{W: io.Discard}
	if err := k.write(check, der, m); err != nil {
		s.complain("parsing certificate failed: %v", err)
		return last
	}
	if k.title != last {
		s.printf("\n%s\n", k.title)
	}
	_ = k.write(w, der, m)
	return k.title
}

func hasKey(m *vici.Message) bool { return text(m, "has_privkey") == "yes" }

func writeX509(w *certtext.Writer, der []byte, m *vici.Message) error {
	cert, err := x509.ParseCertificate(der)
	if err == nil {
		w.Certificate(cert, hasKey(m))
	}
	return err
}

func writePublicKey(w *certtext.Writer, der []byte, m *vici.Message) error {
	return w.PublicKey(der, text(m, "subject"), hasKey(m))
}

func writeCRL(w *certtext.Writer, der []byte, _ *vici.Message) error {
	l, err := x509.ParseRevocationList(der)
	if err == nil {
		w.CRL(l)
	}
	return err
}

func writeOCSP(w *certtext.Writer, der []byte, _ *vici.Message) error { return w.OCSP(der) }
