package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/strongswan/govici/vici"

	"github.com/ipsecd/ipsecd/cmd/internal/viciclient"
	"github.com/ipsecd/ipsecd/ike/auth"
)

// headings are those of the lists, by the flag of the certificates.
var headings = map[string]string{
	"NONE": "List of X.509 End Entity Certificates", "CA": "List of X.509 CA Certificates",
	"AA": "List of X.509 AA Certificates", "OCSP": "List of X.509 OCSP Signer Certificates",
}

// listCerts writes the certificates of a flag.
func listCerts(flag string) verb {
	return verb{"[--utc]", 0, 1, func(ctx context.Context, env environment, args []string) error {
		return withDaemon(env, func(d *viciclient.Client) error { return writeCerts(ctx, env, d, flag, utc(args)) })
	}}
}

func utc(args []string) bool { return len(args) == 1 && args[0] == "--utc" }

func writeCerts(ctx context.Context, env environment, d *viciclient.Client, flag string, inUTC bool) error {
	list, err := d.Stream(ctx, "list-certs", "list-cert", "type", "X509", "flag", flag)
	if err != nil || len(list) == 0 {
		return err
	}
	fmt.Fprintf(env.stdout, "\n%s\n", headings[flag])
	for _, m := range list {
		if err := writeCert(env, m, inUTC); err != nil {
			return err
		}
	}
	return nil
}

func writeCert(env environment, m *vici.Message, inUTC bool) error {
	cert, err := x509.ParseCertificate([]byte(text(m, "data")))
	if err != nil {
		return fmt.Errorf("a certificate of the daemon cannot be read: %w", err)
	}
	zone := time.Local
	if inUTC {
		zone = time.UTC
	}
	line := func(name, format string, args ...any) {
		fmt.Fprintf(env.stdout, "  %-10s %s\n", name, fmt.Sprintf(format, args...))
	}
	fmt.Fprintln(env.stdout)
	line("subject:", "\"%v\"", auth.Subject(cert))
	line("issuer:", "\"%v\"", auth.Issuer(cert))
	now := time.Now()
	line("validity:", "not before %s, %s", cert.NotBefore.In(zone).Format(certTime), began(cert, now))
	line("", "not after  %s, %s", cert.NotAfter.In(zone).Format(certTime), ends(cert, now))
	line("serial:", "%s", pairs(cert.SerialNumber.Bytes()))
	if names := altNames(cert); names != "" {
		line("altNames:", "%s", names)
	}
	if len(cert.AuthorityKeyId) > 0 {
		line("authkeyId:", "%s", pairs(cert.AuthorityKeyId))
	}
	if len(cert.SubjectKeyId) > 0 {
		line("subjkeyId:", "%s", pairs(cert.SubjectKeyId))
	}
	has := ""
	if text(m, "has_privkey") == "yes" {
		has = ", has private key"
	}
	line("pubkey:", "%s%s", keyName(cert), has)
	sum := sha1.Sum(cert.RawSubjectPublicKeyInfo)
	line("keyid:", "%s", pairs(sum[:]))
	return nil
}

// certTime is how strongSwan writes the times of certificates.
const certTime = "Jan 02 15:04:05 2006"

func began(cert *x509.Certificate, now time.Time) string {
	if now.Before(cert.NotBefore) {
		return fmt.Sprintf("not valid yet (valid in %s)", span(seconds(cert.NotBefore.Sub(now))))
	}
	return "ok"
}

func ends(cert *x509.Certificate, now time.Time) string {
	if now.After(cert.NotAfter) {
		return fmt.Sprintf("expired (%s ago)", span(seconds(now.Sub(cert.NotAfter))))
	}
	return fmt.Sprintf("ok (expires in %s)", span(seconds(cert.NotAfter.Sub(now))))
}

func seconds(d time.Duration) string { return fmt.Sprint(int64(d / time.Second)) }

// pairs writes octets as pairs of hexadecimal digits between colons.
func pairs(b []byte) string {
	out := make([]string, len(b))
	for i := range b {
		out[i] = hex.EncodeToString(b[i : i+1])
	}
	return strings.Join(out, ":")
}

func altNames(cert *x509.Certificate) string {
	names := append([]string{}, cert.DNSNames...)
	names = append(names, cert.EmailAddresses...)
	for _, ip := range cert.IPAddresses {
		names = append(names, ip.String())
	}
	return strings.Join(names, ", ")
}

func keyName(cert *x509.Certificate) string {
	switch k := cert.PublicKey.(type) {
	case *rsa.PublicKey:
		return fmt.Sprintf("RSA %d bits", k.N.BitLen())
	case *ecdsa.PublicKey:
		return fmt.Sprintf("ECDSA %d bits", k.Curve.Params().BitSize)
	case ed25519.PublicKey:
		return "ED25519 256 bits"
	}
	return cert.PublicKeyAlgorithm.String()
}

// listAlgorithms writes what can be negotiated.
func listAlgorithms(ctx context.Context, env environment, _ []string) error {
	return withDaemon(env, func(d *viciclient.Client) error { return writeAlgorithms(ctx, env, d) })
}

func writeAlgorithms(ctx context.Context, env environment, d *viciclient.Client) error {
	m, err := d.Do(ctx, viciclient.CallTime, "get-algorithms")
	if err != nil {
		return err
	}
	fmt.Fprintf(env.stdout, "\nList of registered IKE algorithms:\n\n")
	for _, kind := range m.Keys() {
		fmt.Fprintf(env.stdout, "  %-11s", kind+":")
		s := section(m, kind)
		for _, name := range s.Keys() {
			fmt.Fprintf(env.stdout, " %s[%s]", name, text(s, name))
		}
		fmt.Fprintln(env.stdout)
	}
	return nil
}

// listAll writes everything that there is a list of.
func listAll(ctx context.Context, env environment, args []string) error {
	return withDaemon(env, func(d *viciclient.Client) error {
		for _, flag := range []string{"NONE", "CA", "OCSP", "AA"} {
			if err := writeCerts(ctx, env, d, flag, utc(args)); err != nil {
				return err
			}
		}
		return writeAlgorithms(ctx, env, d)
	})
}
