package main

import (
	"crypto/rand"
	"crypto/x509"
	"encoding/asn1"
	"math/big"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/ipsecd/ipsecd/cmd/internal/vici"
)

// part is one attribute of a name; with, the next one is in the same relative name.
type part struct {
	id    asn1.ObjectIdentifier
	kind  cbasn1.Tag
	value string
	with  bool
}

// name encodes a distinguished name.
func name(t *testing.T, parts ...part) []byte {
	t.Helper()
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		for i := 0; i < len(parts); i++ {
			b.AddASN1(cbasn1.SET, func(b *cryptobyte.Builder) {
				for {
					p := parts[i]
					b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
						b.AddASN1ObjectIdentifier(p.id)
						b.AddASN1(p.kind, func(b *cryptobyte.Builder) { b.AddBytes([]byte(p.value)) })
					})
					if !p.with {
						return
					}
					i++
				}
			})
		}
	})
	der, err := b.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// TestNamesLikeStock writes distinguished names as the stock swanctl does, whatever is in them.
func TestNamesLikeStock(t *testing.T) {
	const utf8, printable, ia5, t61, bmp = cbasn1.UTF8String, cbasn1.PrintableString, cbasn1.IA5String, cbasn1.T61String, cbasn1.Tag(30)
	cn, o := asn1.ObjectIdentifier{2, 5, 4, 3}, asn1.ObjectIdentifier{2, 5, 4, 10}
	names := [][]byte{
		name(t, part{cn, utf8, `a, b+c="d" \ #;<>/e`, false}, part{o, utf8, " spaces  around ", false}),
		name(t, part{cn, utf8, "", false}, part{o, printable, "", false}),
		name(t, part{cn, utf8, "Müller €", false}, part{o, t61, "M\xfcller", false}, part{o, bmp, "\x00M\x00\xfc\x20\xac", false}),
		name(t, part{cn, utf8, "a\x1b[31m\n\t\x7fb", false}, part{o, utf8, "100%s", false}),
		name(t, part{cn, printable, "a", true}, part{o, printable, "b", false}, part{o, printable, "c", false}),
	}
	attributes := []asn1.ObjectIdentifier{
		{1, 2, 840, 113549, 1, 9, 1}, {1, 2, 840, 113549, 1, 9, 2}, {1, 2, 840, 113549, 1, 9, 7}, {1, 2, 840, 113549, 1, 9, 8}, {0, 9, 2342, 19200300, 100, 1, 1},
		{0, 9, 2342, 19200300, 100, 1, 25}, {2, 16, 840, 1, 113730, 3, 1, 3}, {1, 3, 6, 1, 4, 1, 1201, 1, 1, 2, 2, 75}, {0, 2, 262, 1, 10, 7, 20}, {1, 3, 6, 1, 4, 1, 311, 60, 2, 1, 3},
	}
	for i := range 120 {
		attributes = append(attributes, asn1.ObjectIdentifier{2, 5, 4, i})
	}
	for len(attributes) > 0 { // the stock one writes twenty and no more
		n := min(15, len(attributes))
		var parts []part
		for _, id := range attributes[:n] {
			parts = append(parts, part{id, ia5, "v", false})
		}
		names, attributes = append(names, name(t, parts...)), attributes[n:]
	}

	key := rsaKey(t)
	var events []func(*vici.Builder)
	for i, subject := range names {
		der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: big.NewInt(int64(i + 1)), RawSubject: subject, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(80 * time.Hour)},
			&x509.Certificate{RawSubject: names[0]}, key.Public(), key)
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, func(b *vici.Builder) { keys(b, "type", "X509", "flag", "NONE", "data", string(der)) })
	}
	_, uri := serveScript(t, script{"list-certs": {"list-cert", events, nil}})
	w := world{uri: uri}
	stock := w.stock(t, "--list-certs")
	if strings.Count(stock.Stdout, "subject:") != len(names) {
		t.Fatalf("the stock swanctl wrote %+v", stock)
	}
	compare(t, "--list-certs", stock, w.ours(t, "--list-certs"))
}
