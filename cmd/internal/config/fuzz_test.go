package config

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// Whatever the file says, the answer is a Config or an error that names a line.
func FuzzLoad(f *testing.F) {
	f.Add(fmt.Sprintf(minimal, "local_addrs = 10.0.0.1-10.0.0.9, %any", "local_ts = dynamic[udp/1-2], ::/0\nmark_in = %unique\nlife_time = 1h"))
	f.Add(everySection + "protect = 10.0.0.0/8, ::/0\n")
	f.Add(bgpWith("interface = a\naddress = 169.254.21.4"))
	f.Add("secrets { ike { secret = 0x00 } eap { } }\nt { }\nconnections { a : t { } b : connections.a { } }")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := LoadFS(etc(text), DefaultPath)
		if (c == nil) == (err == nil) {
			t.Fatalf("%v, %v", c, err)
		}
		if err != nil && !strings.HasPrefix(err.Error(), DefaultPath+":") {
			t.Errorf("error without a place: %v", err)
		}
		if err == nil && !Diff(c, c).Empty() {
			t.Errorf("a configuration differs from itself: %v", Diff(c, c))
		}
	})
}

// Keys and passwords are in no print of a Config, and in no plan.
func TestSecretsAreNotPrinted(t *testing.T) {
	text := at("", "") + bgpWith("address = 10.0.0.9\npassword_file = pw")
	c := load(t, text, "pw", "pa55word")
	other := load(t, strings.Replace(text, "s3cret", "0thers3cret", 1), "pw", "0therpa55word")
	if c.BGP.Neighbors[0].Password != "pa55word" {
		t.Fatal("the password was not read")
	}
	asJSON, err := json.Marshal([]any{c.IKE.Secrets, c.IKE.Connections, c.BGP})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{fmt.Sprintf("%v", *c), fmt.Sprintf("%+v", *c), fmt.Sprintf("%#v", c.BGP.Neighbors), fmt.Sprintf("%#v", c.IKE.Secrets), string(asJSON), Diff(c, other).String()} {
		if strings.Contains(s, "s3cret") || strings.Contains(s, "pa55word") {
			t.Errorf("a secret is in %s", s)
		}
	}
}

// Whatever ipsec.conf says, the same holds of it.
func FuzzIpsecConf(f *testing.F) {
	f.Add(pfSense, pfSenseSecrets)
	f.Add("conn a\n auto=route\n right=192.0.2.1\n authby=psk\n mark=%unique\n type=pass\n leftsubnet=0.0.0.0/0,::/0[tcp/1-2]\n", ": PSK 0x00\n: RSA x\n")
	f.Fuzz(func(t *testing.T, conf, secrets string) {
		c, err := loadHost(host("etc/ipsec.conf", conf, "etc/ipsec.secrets", secrets))
		if (c == nil) == (err == nil) {
			t.Fatalf("%v, %v", c, err)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "/etc/ipsec.") {
			t.Errorf("error without a place: %v", err)
		}
		if err == nil && !Diff(c, c).Empty() {
			t.Errorf("a configuration differs from itself: %v", Diff(c, c))
		}
	})
}
