package auth

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/ipsecd/ipsecd/ike/suite"
)

func id(t *testing.T, s string) Identity {
	t.Helper()
	i, err := Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		in   string
		want Identity
		text string
	}{
		{"192.0.2.1", Identity{IDIPv4, "\xc0\x00\x02\x01"}, "192.0.2.1"},
		{"2001:db8::1", FromAddr(netip.MustParseAddr("2001:db8::1")), "2001:db8::1"},
		{"ipv4:192.0.2.1", Identity{IDIPv4, "\xc0\x00\x02\x01"}, "192.0.2.1"},
		{"gw.example", Identity{IDFQDN, "gw.example"}, "gw.example"},
		{"@gw.example", Identity{IDFQDN, "gw.example"}, "gw.example"},
		{"admin@gw.example", Identity{IDRFC822, "admin@gw.example"}, "admin@gw.example"},
		{"@@admin@gw.example", Identity{IDRFC822, "admin@gw.example"}, "admin@gw.example"},
		{"@#0a0b", Identity{IDKeyID, "\x0a\x0b"}, "0a:0b"},
		{"keyid:site", Identity{IDKeyID, "site"}, "site"},
		{"%any", Identity{}, "%any"},
		{"", Identity{}, "%any"},
		{"*", Identity{}, "%any"},
		{"0.0.0.0", Identity{}, "%any"},
		{"::", Identity{}, "%any"},
		{"*.example", Identity{IDFQDN, "*.example"}, "*.example"},
		{"*@example", Identity{IDRFC822, "*@example"}, "*@example"},
		{"ipv6:2001:db8::1", FromAddr(netip.MustParseAddr("2001:db8::1")), "2001:db8::1"},
		{"ipv4:#c0000201", Identity{IDIPv4, "\xc0\x00\x02\x01"}, "192.0.2.1"},
		{"fqdn:a@b", Identity{IDFQDN, "a@b"}, "a@b"},
		{"dns:192.0.2.1", Identity{IDFQDN, "192.0.2.1"}, "192.0.2.1"},
		{"email:#61", Identity{IDRFC822, "a"}, "a"},
		{"userfqdn:gw", Identity{IDRFC822, "gw"}, "gw"},
		{"keyid:#00ff", Identity{IDKeyID, "\x00\xff"}, "00:ff"},
		{"keyid:a=b", Identity{IDKeyID, "a=b"}, "a=b"},
		{"{11}:site", Identity{IDKeyID, "site"}, "site"},
		{"{2}:#6777", Identity{IDFQDN, "gw"}, "gw"},
		{"some:thing", Identity{IDKeyID, "some:thing"}, "some:thing"},
		{"CN=a@b:c", Identity{IDASN1DN, "0\x101\x0e0\x0c\x06\x03U\x04\x03\x0c\x05a@b:c"}, "CN=a@b:c"},
		{"asn1dn:CN=gw", Identity{IDASN1DN, "0\r1\v0\t\x06\x03U\x04\x03\x13\x02gw"}, "CN=gw"},
		{"asn1dn:#300d310b300906035504031302" + "6777", Identity{IDASN1DN, "0\r1\v0\t\x06\x03U\x04\x03\x13\x02gw"}, "CN=gw"},
	} {
		got, err := Parse(c.in)
		if err != nil || got != c.want || got.String() != c.text {
			t.Errorf("Parse(%q) = %#v (%v), %v; want %#v (%s)", c.in, got, got, err, c.want, c.text)
		}
	}
	for _, bad := range []string{
		"@#0g", "@#", "keyid:#xyz", "asn1dn:#3000ff", "asn1dn:gw", "ipv4:2001:db8::1", "ipv6:192.0.2.1", "ipv4:#c00002",
		"ipv4net:10.0.0.0/8", "xmppaddr:gw@example",
	} {
		if got, err := Parse(bad); err == nil {
			t.Errorf("Parse(%q) = %v without an error", bad, got)
		}
	}
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		config, peer string
		want         bool
	}{
		{"%any", "gw.example", true},
		{"gw.example", "GW.Example", true},
		{"gw.example", "other.example", false},
		{"gw.example", "gw@example", false},
		{"192.0.2.1", "192.0.2.1", true},
		{"192.0.2.1", "192.0.2.2", false},
	} {
		if got := id(t, c.config).Matches(id(t, c.peer)); got != c.want {
			t.Errorf("%s matches %s: %v", c.config, c.peer, got)
		}
	}
	if (Identity{IDKeyID, "Site"}).Matches(Identity{IDKeyID, "site"}) {
		t.Error("key IDs are octets: case counts")
	}
}

// TestLookup has one secret per way to own one; the best comes first.
func TestLookup(t *testing.T) {
	us, them := id(t, "us.example"), id(t, "them.example")
	all := map[string]Secret{
		"everybody": {},
		"any":       {Owners: []Identity{{}}},
		"us":        {Owners: []Identity{us}},
		"them":      {Owners: []Identity{them}},
		"both":      {Owners: []Identity{us, them}},
		"pattern":   {Owners: []Identity{us, id(t, "*.example")}},
		"others":    {Owners: []Identity{id(t, "x.example"), id(t, "y.example")}},
	}
	for _, c := range []struct{ have, want []string }{
		{[]string{"everybody", "us", "them", "both", "others"}, []string{"both", "them", "everybody", "us"}},
		{[]string{"them", "both"}, []string{"both", "them"}},
		{[]string{"any", "everybody"}, []string{"any", "everybody"}},
		{[]string{"pattern", "both", "us"}, []string{"both", "pattern", "us"}},
		{[]string{"others"}, []string{}},
	} {
		var secrets []Secret
		for _, name := range c.have {
			s := all[name]
			s.Name = name
			secrets = append(secrets, s)
		}
		got := []string{}
		for _, s := range Lookup(secrets, us, them) {
			got = append(got, s.Name)
		}
		if strings.Join(got, " ") != strings.Join(c.want, " ") {
			t.Errorf("of %v: %v, want %v", c.have, got, c.want)
		}
	}
}

func TestSecretIsNotPrinted(t *testing.T) {
	s := Secret{Name: "ike-1", Key: suite.NewKey([]byte("canary-5b1f"))}
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%x"} {
		if out := fmt.Sprintf(format, s); strings.Contains(out, "canary") || strings.Contains(out, "63616e617279") {
			t.Errorf("%s prints %q", format, out)
		}
	}
}
