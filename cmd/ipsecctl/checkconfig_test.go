package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ipsecd/ipsecd/cmd/internal/status/statustest"
)

// writeFile writes a file that only its owner may read.
func writeFile(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCheckConfig(t *testing.T) {
	write := func(text string) string { return writeFile(t, t.TempDir(), "ipsecd.conf", text) }
	good := write("connections {\n  hq {\n    remote_addrs = 192.0.2.7\n    local { auth = psk }\n    remote { auth = psk }\n    children { net { } }\n  }\n}\nsecrets { ike-hq { secret = " + statustest.Canary + " } }\n")
	compare(t, result{exitOK, good + ": ok (connections: 1, interfaces: 0, BGP neighbors: 0)\n", ""}, ctl(t, nil, "check-config", good))

	bad := write("bgp {\n  as = many\n}\nrouting {\n  metrik = 3\n}\n")
	got := ctl(t, nil, "check-config", bad)
	if got.status != exitFailed || !strings.Contains(got.stdout, bad+":2: ") || !strings.Contains(got.stdout, bad+":5: ") {
		t.Errorf("%+v", got)
	}
	got = ctl(t, nil, "check-config", filepath.Join(t.TempDir(), "none.conf"))
	if got.status != exitFailed || !strings.Contains(got.stdout, "none.conf") {
		t.Errorf("a file that is not there: %+v", got)
	}
}

// Each of strongSwan's files is told by what it is, and checked; an ipsec.conf with
// the secrets beside it.
func TestCheckConfigOfStrongSwan(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string { return writeFile(t, dir, name, text) }
	conn := "conn hq\n keyexchange=ikev2\n authby=psk\n left=192.0.2.1\n right=192.0.2.7\n ike=%s\n reauth=no\n auto=start\n"
	conf := write("site.conf", strings.Replace(conn, "%s", "aes256-sha256-modp2048", 1))
	secrets := write("ipsec.secrets", "192.0.2.1 192.0.2.7 : PSK \""+statustest.Canary+"\"\n")
	strongswan := write("strongswan.conf", "charon {\n retransmit_tries = 3\n}\n")
	want := conf + ": ok (connections: 1, interfaces: 0, BGP neighbors: 0)\n" +
		secrets + ": ok (connections: 0, interfaces: 0, BGP neighbors: 0)\n" +
		strongswan + ": ok (connections: 0, interfaces: 0, BGP neighbors: 0)\n"
	compare(t, result{exitOK, want, ""}, ctl(t, nil, "check-config", conf, secrets, strongswan))

	write("site.conf", strings.Replace(conn, "%s", "aes256-sha257-modp2048", 1))
	write("ipsec.secrets", "192.0.2.1 192.0.2.7 : PSK \"x\"\n")
	got := ctl(t, nil, "check-config", conf, strongswan)
	line := conf + `:6: conn hq: ike = "aes256-sha257-modp2048,default": IKE proposal "aes256-sha257-modp2048": unknown algorithm "sha257"`
	if got.status != exitFailed || !strings.HasPrefix(got.stdout, line) || got.stderr != "ipsecctl: "+conf+": not usable (errors: 1)\n" {
		t.Errorf("%+v", got)
	}
	var results []struct {
		OK     bool
		Errors []string
		Files  []string
	}
	got = ctl(t, nil, "check-config", "--json", conf, strongswan)
	if err := json.Unmarshal([]byte(got.stdout), &results); err != nil || len(results) != 2 || results[0].OK || !results[1].OK || len(results[0].Errors) != 1 {
		t.Errorf("%v: %s", err, got.stdout)
	}
	write("ipsec.secrets", "192.0.2.1 : PKS \"x\"\n")
	if got = ctl(t, nil, "check-config", secrets); got.status != exitFailed || !strings.HasPrefix(got.stdout, secrets+":1: found something else after ':' than one of PSK, ") {
		t.Errorf("%+v", got)
	}
}
