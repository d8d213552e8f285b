package main

import (
	"context"
	"crypto/x509"
	"fmt"
	"time"

	"github.com/strongswan/govici/vici"

	"github.com/ipsecd/ipsecd/cmd/internal/certtext"
	"github.com/ipsecd/ipsecd/cmd/internal/viciclient"
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
	w := certtext.Writer{W: env.stdout, Now: time.Now(), Detailed: true, UTC: inUTC}
	w.Certificate(cert, text(m, "has_privkey") == "yes")
	return nil
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
