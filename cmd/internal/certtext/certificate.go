package certtext

import (
	"bytes"
	"crypto/x509"
	"encoding/asn1"
	"fmt"
	"slices"
	"strings"

	"github.com/ipsecd/ipsecd/ike/auth"
)

// Certificate writes an X.509 certificate.
func (w *Writer) Certificate(cert *x509.Certificate, hasKey bool) {
	fmt.Fprintf(w.W, "\n  subject:  \"%v\"\n  issuer:   \"%v\"\n", auth.Subject(cert), auth.Issuer(cert))
	w.line("validity:", "not before %s", w.began(cert.NotBefore))
	w.line("", "not after  %s", w.ends(cert.NotAfter))
	w.line("serial:", "%s", serial(cert.SerialNumber))
	if names := altNames(extension(cert.Extensions, oidAltName)); len(names) > 0 {
		w.line("altNames:", "%s", strings.Join(names, ", "))
	}
	if w.Detailed {
		w.details(cert)
	}
	if len(cert.AuthorityKeyId) > 0 {
		w.line("authkeyId:", "%s", pairs(cert.AuthorityKeyId))
	}
	w.line("subjkeyId:", "%s", subjectKeyID(cert))
	w.key(cert.RawSubjectPublicKeyInfo, hasKey)
}

// subjectKeyID is the one of the certificate, or that which RFC 5280 section 4.2.1.2 makes of the key.
func subjectKeyID(cert *x509.Certificate) string {
	if len(cert.SubjectKeyId) > 0 {
		return pairs(cert.SubjectKeyId)
	}
	return keyHash(cert.RawSubjectPublicKeyInfo)
}

func (w *Writer) details(cert *x509.Certificate) {
	fmt.Fprintf(w.W, "  flags:     %s\n", flags(cert))
	w.list("CRL URIs:", cleanAll(cert.CRLDistributionPoints))
	w.list("OCSP URIs:", cleanAll(cert.OCSPServer))
	if cert.MaxPathLen > 0 || cert.MaxPathLenZero {
		w.line("pathlen:", "%d", cert.MaxPathLen)
	}
	permitted, excluded := constraints(extension(cert.Extensions, oidNameConstraints))
	w.block("permitted nameConstraints", permitted)
	w.block("excluded nameConstraints", excluded)
	if list := policies(extension(cert.Extensions, oidPolicies)); len(list) > 0 {
		fmt.Fprintln(w.W, "  certificatePolicies:")
		for _, p := range list {
			fmt.Fprintf(w.W, "             %s\n", p)
		}
	}
	var mappings []string
	for _, m := range cert.PolicyMappings {
		mappings = append(mappings, fmt.Sprintf("%v => %v", m.IssuerDomainPolicy, m.SubjectDomainPolicy))
	}
	w.block("policyMappings", mappings)
	if cert.InhibitAnyPolicy > 0 || cert.InhibitAnyPolicyZero {
		w.block("policyConstraints", []string{fmt.Sprintf("inhibitAnyPolicy: %d", cert.InhibitAnyPolicy)})
	}
}

// block writes values below their name.
func (w *Writer) block(name string, values []string) {
	if len(values) == 0 {
		return
	}
	fmt.Fprintf(w.W, "  %s:\n", name)
	for _, v := range values {
		w.below(v)
	}
}

func cleanAll(list []string) []string {
	out := slices.Clone(list)
	for i := range out {
		out[i] = clean(out[i])
	}
	return out
}

// The purposes of keys that crypto/x509 does not name (RFC 4945 section 5.1.3.12).
var oidIKEIntermediate = asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 8, 2, 2}

// flags names what a certificate may be used for, each with a space behind it.
func flags(cert *x509.Certificate) string {
	use := func(u x509.ExtKeyUsage) bool { return slices.Contains(cert.ExtKeyUsage, u) }
	var b strings.Builder
	for _, f := range []struct {
		set  bool
		name string
	}{
		{cert.IsCA, "CA"},
		{cert.KeyUsage&x509.KeyUsageCRLSign != 0, "CRLSign"},
		{use(x509.ExtKeyUsageOCSPSigning), "ocspSigning"},
		{use(x509.ExtKeyUsageServerAuth), "serverAuth"},
		{use(x509.ExtKeyUsageClientAuth), "clientAuth"},
		{slices.ContainsFunc(cert.UnknownExtKeyUsage, oidIKEIntermediate.Equal), "ikeIntermediate"},
		{selfSigned(cert), "self-signed"},
	} {
		if f.set {
			b.WriteString(f.name + " ")
		}
	}
	return b.String()
}

func selfSigned(cert *x509.Certificate) bool {
	return bytes.Equal(cert.RawSubject, cert.RawIssuer) && cert.CheckSignature(cert.SignatureAlgorithm, cert.RawTBSCertificate, cert.Signature) == nil
}
