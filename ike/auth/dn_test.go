package auth

import (
	"crypto/x509/pkix"
	"encoding/asn1"
	"strings"
	"testing"
)

// TestParseDN: what strongSwan 5.9.8 makes of a name is what was observed of its library; "=": it prints as it is written.
func TestParseDN(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"C=CH, O=strongSwan, CN=moon", "="},
		{"C=CH,O=strongSwan,CN=moon", "C=CH, O=strongSwan, CN=moon"},
		{"/C=CH/O=strongSwan/CN=moon.example", "C=CH, O=strongSwan, CN=moon.example"},
		{"/C=CH/O=Acme, Inc./CN=gw/", "C=CH, O=Acme, Inc., CN=gw"},
		{"  /CN=a /O=b", "CN=a, O=b"},
		{"c = CH, o = Two  Words , Cn=moon", "C=CH, O=Two  Words, CN=moon"},
		{`CN="a", O=b"c, L='d'`, `=`},
		{`CN=a\\b, O=\"b\", L=\ c`, `=`},
		{"CN=a+O=b", "="},
		{"CN=a/O=b", "="},
		{"CN=#0c0141", "="},
		{"CN==a", "CN=a"},
		{"CN= = a =b", "CN=a =b"},
		{"CN=", "="},
		{"CN=, O=b", "="},
		{"CN=a, O=", "="},
		{"CN=a, O=b, ", "CN=a, O=b"},
		{"/CN=a,", "CN=a,"},
		{"CN=a:b", "="},
		{"O=M\u00fcller", "O=M??ller"},
		{"C=CH, CN=*", "="},
		{"SN=surname, serialNumber=5", "="},
		{"CN=gw, E=admin@example.org, emailAddress=a@b, EMAIL=c", "CN=gw, E=admin@example.org, E=a@b, E=c"},
		{"DC=org, DC=example, UID=gw, UN=a, unstructuredName=b, UA=c, unstructuredAddress=d, EN=1, TCGID=x, ND=y",
			"DC=org, DC=example, UID=gw, unstructuredName=a, unstructuredName=b, unstructuredAddress=c, unstructuredAddress=d, employeeNumber=1, TCGID=x, ND=y"},
		{"ST=a, L=b, Street=c, T=d, D=e, N=f, G=g, I=h, ID=i, dnqualifier=j, dmdname=k, pseudonym=l, postalcode=1, postaladdress=m, OU=n",
			"ST=a, L=b, STREET=c, T=d, D=e, N=f, G=g, I=h, ID=i, dnQualifier=j, dmdName=k, pseudonym=l, postalCode=1, postalAddress=m, OU=n"},
		{"asn1dn:#300d310b3009060355040613024348", "C=CH"},
		// Attributes without a name are ours alone.
		{"1.2.3.4=x, 55:04:61=y", "2a:03:04=x, 55:04:61=y"},
	} {
		id, err := Parse(c.in)
		if c.want == "=" {
			c.want = c.in
		}
		if fault := NameFault(c.in, id); err != nil || fault != nil || id.Type != IDASN1DN || id.String() != c.want {
			t.Errorf("%q: type %d, %v, %v, %v; want %s", c.in, id.Type, id, err, fault, c.want)
		}
	}
	for _, keyID := range []string{"=x", "XX=1", "CN=a, b", "CN=a, ,O=b", "CN=a,, O=b", "CN=a , , ", "/CN=a//", `CN="a, b"`, `CN=a\, b`, "C=CH, CN", "//CN=a", "S=a", "givenName=a",
		"abc==", "a@b=c", "@x=y", "1=x", "1.999=x", "CN=" + strings.Repeat("x", maxDN), strings.Repeat("CN=x,", maxRDNs) + "CN=x"} {
		if id, err := Parse(keyID); err != nil || id != (Identity{IDKeyID, strings.TrimSpace(keyID)}) || NameFault(keyID, id) == nil {
			t.Errorf("%.40q is taken as %.60v, %v", keyID, id, err)
		}
	}
	for _, bad := range []string{"asn1dn:#3000ff", "asn1dn:#zz", "asn1dn:", "asn1dn:XX=1"} {
		if id, err := Parse(bad); err == nil {
			t.Errorf("%q is taken as %v", bad, id)
		}
	}
	if err := NameFault("keyid:a=b", parsed(t, "keyid:a=b")); err != nil {
		t.Errorf("a key ID that says so: %v", err)
	}
}

// TestKeyIDsArePrinted as strongSwan 5.9.8 does: 20 octets are the hash of a key to it.
func TestKeyIDsArePrinted(t *testing.T) {
	for data, want := range map[string]string{
		"abc": "abc", "\x01\x02\xff": "01:02:ff", "\xff": "ff", "C=CH, localityName=v": "43:3d:43:48:2c:20:6c:6f:63:61:6c:69:74:79:4e:61:6d:65:3d:76",
	} {
		if got := (Identity{IDKeyID, data}).String(); got != want {
			t.Errorf("%q: got %s, want %s", data, got, want)
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
		{"asn1dn:#301d311b30080603550403130161300f060a0992268993f22c640101130162", parsed(t, "CN=a, UID=b"), false},
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

// A peer's name cannot forge a line of the log. It can look like another name, as with strongSwan: names are never compared as text.
func TestDNIsPrintedSafely(t *testing.T) {
	der, err := asn1.Marshal(pkix.Name{Organization: []string{"x, CN=admin"}, CommonName: "a\n\x1b[31mERROR\u202e\""}.ToRDNSequence())
	if err != nil {
		t.Fatal(err)
	}
	id := Identity{IDASN1DN, string(der)}
	if got, want := id.String(), `O=x, CN=admin, CN=a??[31mERROR???"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if other := parsed(t, "O=x, CN=admin, CN=a"); other.Matches(id) || other.Same(id) {
		t.Error("a name is taken for another one")
	}
}

func FuzzParseDN(f *testing.F) {
	for _, s := range []string{"C=CH, O=strongSwan, CN=moon", "asn1dn:#301d311b30080603550403130161300f060a0992268993f22c640101130162", "1.2.3.4=x"} {
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
	for _, s := range []string{"C=CH, O=strongSwan, CN=moon", `O="a, b"`, "/C=CH/CN=a, b/", "CN=a+UID=b, O=c+d", "CN=#0c0141", "2.5.4.3=x", "55:04:61=x"} {
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
		if strings.ContainsAny(text, "?") || strings.HasPrefix(strings.TrimLeft(s, " "), "/") { // something does not print, or has commas
			return
		}
		again, err := encodeDN(text)
		if err != nil || !matchDN(again, der, false) {
			t.Errorf("%q prints as %s, which reads as %x (%v), not %x", s, text, again, err, der)
		}
	})
}
