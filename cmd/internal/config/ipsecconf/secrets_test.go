package ipsecconf

import (
	"fmt"
	"strings"
	"testing"
)

func TestParseSecrets(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`192.168.14.2 192.168.14.1 : PSK "abc"`, "1 [192.168.14.2 192.168.14.1] PSK  abc"},
		{`: PSK abc`, "1 [] PSK  abc"},
		{"\t@a.example\t:\tPSK\tabc\r", "1 [@a.example] PSK  abc"},
		{`%any : PSK "a b"`, "1 [%any] PSK  a b"},
		{`"C=CH, O=x : y" : PSK 'it is "x"'`, `1 [C=CH, O=x : y] PSK  it is "x"`},
		{`2001:db8::1 : PSK "a"`, "1 [2001:db8::1] PSK  a"},
		{`: PSK 0x6162`, "1 [] PSK  ab"},
		{`: PSK 0sYWI=`, "1 [] PSK  ab"},
		{`: PSK 0sYWI`, "1 [] PSK  ab"},
		{`: PSK "0x6162"`, "1 [] PSK  0x6162"},
		{`: PSK "a" # comment`, "1 [] PSK  a"},
		{"# no\n\n: PSK b", "3 [] PSK  b"},
		{`: RSA key.pem`, "1 [] RSA key.pem "},
		{`: RSA key.pem # comment`, "1 [] RSA key.pem "},
		{`@a : ECDSA "my key.pem" "pass phrase"`, "1 [@a] ECDSA my key.pem pass phrase"},
		{`: PKCS8 key.der 0x6162`, "1 [] PKCS8 key.der ab"},
		{`: P12 me.p12 "x"`, "1 [] P12 me.p12 x"},
		{`: RSA key.pem %prompt`, "1 [] RSA key.pem  prompt"},
		{`carol : EAP "x"`, "1 [carol] EAP  x"},
	} {
		s, err := ParseSecrets(files("f", c.text), "/f")
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		var got string
		for _, e := range s.Entries {
			got += fmt.Sprintf("%d %v %s %s %s", e.Line, e.IDs, e.Kind, e.File, e.Secret)
			if e.Prompt {
				got += " prompt"
			}
		}
		if got != c.want || len(s.Warnings) > 0 {
			t.Errorf("%s:\ngot  %s\nwant %s\n%v", c.text, got, c.want, s.Warnings)
		}
	}
}

func TestParseSecretsErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"192.0.2.1 PSK \"s3cret\"", `/f:1: found no ' : ' between the identities and the kind of secret, expected a line such as 192.0.2.1 192.0.2.2 : PSK "…"`},
		{"a: PSK s3cret", `/f:1: found no ' : ' between the identities and the kind of secret, expected a line such as 192.0.2.1 192.0.2.2 : PSK "…"`},
		{"\n:\n", `/f:2: found nothing after ':', expected one of PSK, RSA, ECDSA, PKCS8, P12, EAP, XAUTH, NTLM, PIN, BLISS`},
		{": KEY s3cret", `/f:1: found something else after ':' than one of PSK, RSA, ECDSA, PKCS8, P12, EAP, XAUTH, NTLM, PIN, BLISS`},
		{": PSK", `/f:1: found nothing after PSK, expected the secret in quotes, or after 0x or 0s`},
		{": RSA", `/f:1: found nothing after RSA, expected the name of a file`},
		{": RSA {", `/f:1: found a key that is written out, expected the name of a file in ipsec.d/private`},
		{": PSK \"s3cret", `/f:1: the string that begins here has no closing quote`},
		{": PSK 0xs3cret", `/f:1: after 0x an even number of hexadecimal digits is expected`},
		{": PSK 0ss3cret!", `/f:1: after 0s base64 is expected`},
		{": PSK \"\"", `/f:1: the secret is empty`},
	} {
		_, err := ParseSecrets(files("f", c.text), "/f")
		if err == nil || err.Error() != c.want {
			t.Errorf("%q:\ngot  %v\nwant %s", c.text, err, c.want)
		}
	}
}

func TestSecretsInclude(t *testing.T) {
	s, err := ParseSecrets(files(
		"etc/ipsec.secrets", "include /var/lib/none\ninclude ipsec.d/*.secrets\n: PSK two words\n",
		"etc/ipsec.d/a.secrets", ": PSK a\n",
	), "/etc/ipsec.secrets")
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Entries) != 2 || string(s.Entries[0].Secret) != "a" || s.Entries[0].File != "" || s.Entries[0].Position.String() != "/etc/ipsec.d/a.secrets:1" {
		t.Errorf("%+v", s.Entries)
	}
	var w []string
	for _, e := range s.Warnings {
		w = append(w, e.Error())
	}
	if got := strings.Join(w, "\n"); got != "/etc/ipsec.secrets:1: include /var/lib/none: there is no such file\n"+
		"/etc/ipsec.secrets:3: the secret ends at the first blank; put it in quotes if what follows belongs to it" {
		t.Error(got)
	}
}
