package auth

import (
	"crypto/x509/pkix"
	"encoding/asn1"
	"strings"
	"testing"
)

func TestParseDN(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"C=CH, O=strongSwan, CN=moon", ""},
		{"C=CH,O=strongSwan,CN=moon", "C=CH, O=strongSwan, CN=moon"},
		{"/C=CH/O=strongSwan/CN=moon.example", "C=CH, O=strongSwan, CN=moon.example"},
		{"c = CH, o = Two Words , cn=moon", "C=CH, O=Two Words, CN=moon"},
		{`O="Acme, Inc.", CN=gw`, `O="Acme, Inc.", CN=gw`},
		{`O=Acme\, Inc., CN=gw`, `O="Acme, Inc.", CN=gw`},
		{"CN=gw, E=admin@example.org, emailAddress=a@b", "CN=gw, E=admin@example.org, E=a@b"},
		{"DC=org, DC=example, UID=gw", ""},
		{"CN=gw+UID=17, O=A+B", `CN=gw+UID=17, O="A+B"`},
		{"O=Müller", "O=Müller"},
		{"1.2.3.4=x", "1.2.3.4=x"},
		{"CN=#0c0141", "CN=A"},
		{"C=CH, CN=*", "C=CH, CN=*"},
		{"asn1dn:#300d310b3009060355040613024348", "C=CH"},
	} {
		id, err := Parse(c.in)
		if c.want == "" {
			c.want = c.in
		}
		if err != nil || id.Type != IDASN1DN || id.String() != c.want {
			t.Errorf("%q: type %d, %v, %v; want %s", c.in, id.Type, id, err, c.want)
		}
	}
	for _, bad := range []string{"CN=", "=x", "XX=1", "CN=a,", "CN=a, ,O=b", `CN="a`, "CN=#zz", "CN=#0c", "asn1dn:#3000ff", "asn1dn:#zz", "asn1dn:", "1=x", "1.999=x", "CN=a, b",
		"CN=" + strings.Repeat("x", maxDN), strings.Repeat("CN=x,", maxRDNs) + "CN=x"} {
		if id, err := Parse(bad); err == nil && id.Type == IDASN1DN {
			t.Errorf("%.40q is taken as %.60v", bad, id)
		}
	}
}

// The octets are those of package pkix, which certificates are made with.
func TestEncodeDNAsInCertificates(t *testing.T) {
	name := pkix.Name{Country: []string{"CH"}, Organization: []string{"strongSwan"}, CommonName: "moon"}
	want, err := asn1.Marshal(name.ToRDNSequence())
	if err != nil {
		t.Fatal(err)
	}
	if got := parsed(t, "C=CH, O=strongSwan, CN=moon").Data; got != string(want) {
		t.Errorf("got %x, want %x", got, want)
	}
}

func TestMatchDN(t *testing.T) {
	utf8 := Identity{IDASN1DN, string(unhex(t, "301d310b30090603550406130243483 10e300c06035504030c056d6f6f6e20"))} // C=CH, CN="moon " in UTF8String
	for _, c := range []struct {
		config string
		peer   Identity
		want   bool
	}{
		{"C=CH, CN=moon", parsed(t, "C=CH, CN=moon"), true},
		{"C=CH, CN=moon", parsed(t, "C=ch, CN=MOON"), true},
		{"C=CH, CN=moon", utf8, true},
		{"C=CH, CN=*", utf8, true},
		{"C=*, CN=*", utf8, true},
		{"C=CH, CN=moon", parsed(t, "CN=moon, C=CH"), false},
		{"C=CH, CN=moon", parsed(t, "C=CH, O=x, CN=moon"), false},
		{"C=CH, CN=*", parsed(t, "C=CH, O=moon"), false},
		{"C=CH, CN=*", parsed(t, "C=DE, CN=moon"), false},
		{"C=CH, CN=*", parsed(t, "C=CH"), false},
		{"CN=moon", parsed(t, "C=CH, CN=moon"), false},
		{"CN=a+UID=b", parsed(t, "CN=a, UID=b"), false},
		{"CN=moon", Identity{IDFQDN, "moon"}, false},
		{"CN=moon", Identity{IDASN1DN, "junk"}, false},
		// The wildcard is the configuration's, not the peer's.
		{"C=CH, CN=moon", parsed(t, "C=CH, CN=*"), false},
		{"*.example.org", Identity{IDFQDN, "gw.Example.org"}, true},
		{"*.example.org", Identity{IDFQDN, "example.org"}, false},
		{"*.example.org", Identity{IDRFC822, "a@gw.example.org"}, false},
		{"*@example.org", Identity{IDRFC822, "admin@EXAMPLE.org"}, true},
		{"*@example.org", Identity{IDRFC822, "admin@sub.example.org"}, false},
		{"gw.example.org", Identity{IDFQDN, "*.example.org"}, false},
	} {
		if got := parsed(t, c.config).Matches(c.peer); got != c.want {
			t.Errorf("%s matches %v: %v", c.config, c.peer, got)
		}
	}
	if parsed(t, "C=CH, CN=*").Same(parsed(t, "C=CH, CN=moon")) || !parsed(t, "CN=A").Same(parsed(t, "cn=a")) {
		t.Error("Same knows no wildcards and no case")
	}
}

// A peer's name cannot forge a line of the log, nor look like another name.
func TestDNIsPrintedSafely(t *testing.T) {
	der, err := asn1.Marshal(pkix.Name{Organization: []string{"x, CN=admin"}, CommonName: "a\n\x1b[31mERROR\u202e\""}.ToRDNSequence())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := (Identity{IDASN1DN, string(der)}).String(), `O="x, CN=admin", CN="a??[31mERROR?\""`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func FuzzParseDN(f *testing.F) {
	for _, s := range []string{"C=CH, O=strongSwan, CN=moon", "CN=gw+UID=17", "1.2.3.4=x"} {
		f.Add([]byte(parsed(f, s).Data))
	}
	f.Add([]byte("\x30\x80"))
	f.Fuzz(func(t *testing.T, der []byte) {
		if _, err := parseDN(string(der)); err != nil {
			return
		}
		id := Identity{IDASN1DN, string(der)}
		if !id.Matches(id) || !id.Same(id) || id.String() == "" && len(der) > 2 {
			t.Errorf("%x is not itself: %v", der, id)
		}
		if strings.ContainsAny(id.String(), "\n\r\x1b") {
			t.Errorf("%q does not print", id)
		}
	})
}

func FuzzEncodeDN(f *testing.F) {
	for _, s := range []string{"C=CH, O=strongSwan, CN=moon", `O="a, b"`, `/C=CH/CN=a\/b`, "CN=a+UID=b, O=c+d", "CN=#0c0141", "C=#0c00", "2.5.4.3=x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		der, err := encodeDN(s)
		if err != nil {
			return
		}
		text, ok := dnString(der)
		if !ok {
			t.Fatalf("%q becomes %x, which is no name", s, der)
		}
		if strings.Contains(text, "?") { // something did not print
			return
		}
		again, err := encodeDN(text)
		if err != nil || !matchDN(again, der, false) {
			t.Errorf("%q prints as %s, which reads as %x (%v), not %x", s, text, again, err, der)
		}
	})
}
