package vici

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ipsecd/ipsecd/cmd/internal/status/statustest"
	"github.com/ipsecd/ipsecd/ike"
)

// swanctl runs the stock swanctl on a server.
func swanctl(t *testing.T, ctl *statustest.Control, args ...string) (string, error) {
	t.Helper()
	path, err := exec.LookPath("swanctl")
	if err != nil {
		t.Fatal("swanctl is not installed: apt-get install strongswan-swanctl ('make test' does)")
	}
	out, err := exec.Command(path, append(args, "--uri", "unix://"+listenOn(t, ctl))...).CombinedOutput()
	return regexp.MustCompile("(?m)^plugin '.*\n").ReplaceAllString(string(out), ""), err // of plugins it does not need
}

func compareLines(t *testing.T, want, got string) {
	t.Helper()
	if d := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// The layout is swanctl's own; what is checked is that it finds every value.
func TestSwanctlLists(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"--list-sas", "--ike", "hq"}, swanctlSAs},
		{[]string{"--list-conns"}, swanctlConns},
		{[]string{"--list-pols"}, "lab/a, TUNNEL\n  local:  10.1.0.0/16\n  remote: 10.2.0.0/16\nlab/b, TUNNEL\n  local:  10.1.0.0/16\n  remote: 10.3.0.0/16\n"},
		{[]string{"--list-certs"}, ""},
		{[]string{"--list-pools"}, ""},
		{[]string{"--list-authorities"}, ""},
	} {
		st := statustest.New()
		st.Config.IKE.Connections = st.Config.IKE.Connections[2:]
		got, err := swanctl(t, statustest.NewControl(st), tt.args...)
		if err != nil {
			t.Errorf("%v: %v", tt.args, err)
		}
		compareLines(t, tt.want, got)
	}
}

const swanctlSAs = `hq: #1, ESTABLISHED, IKEv2, 00000000000000a1_i* 00000000000000b1_r
  local  '192.0.2.1' @ 192.0.2.1[4500]
  remote '203.0.113.7' @ 203.0.113.7[4500]
  AES_GCM_16-256/PRF_HMAC_SHA2_384/ECP_384
  established 10800s ago, rekeying in 3600s
  net: #7, reqid 1, REKEYED, TUNNEL-in-UDP, ESP:AES_CBC-128/HMAC_SHA2_256_128/MODP_2048
    installed 1740s ago, rekeying in 1860s, expires in 2220s
    in  c0ffee07 (-|0x00000001),    600 bytes,     6 packets,    30s ago
    out decade07 (-|0x00000001),    400 bytes,     4 packets,    30s ago
    local  0.0.0.0/0
    remote 0.0.0.0/0
  net: #8, reqid 1, INSTALLED, TUNNEL-in-UDP, ESP:AES_CBC-128/HMAC_SHA2_256_128/MODP_2048
    installed 60s ago, rekeying in 1860s, expires in 3900s
    in  c0ffee08 (-|0x00000001),   1500 bytes,    15 packets,     1s ago
    out decade08 (-|0x00000001),    840 bytes,    10 packets,     2s ago
    local  0.0.0.0/0
    remote 0.0.0.0/0
`

const swanctlConns = `lab: IKEv2, no reauthentication, rekeying every 14400s, dpd delay 10s
  local:  192.0.2.1
  remote: 192.0.2.77
  local pre-shared key authentication:
    id: 192.0.2.1
  remote pre-shared key authentication:
    id: 192.0.2.77
  a: TUNNEL, rekeying every 3600s, dpd action is none
    local:  10.1.0.0/16
    remote: 10.2.0.0/16
  b: TUNNEL, rekeying every 3600s, dpd action is none
    local:  10.1.0.0/16
    remote: 10.3.0.0/16
new: IKEv2, no reauthentication, rekeying every 14400s, dpd delay 10s
  local:  192.0.2.1
  remote: 192.0.2.99
  local pre-shared key authentication:
    id: 192.0.2.1
  remote pre-shared key authentication:
    id: 192.0.2.99
`

// Commands that control report as charon's do, and by their exit status.
func TestSwanctlControls(t *testing.T) {
	for _, tt := range []struct {
		args []string
		ok   bool
		want string
	}{
		{[]string{"--initiate", "--child", "a"}, true, "initiate completed successfully\n"},
		{[]string{"--initiate", "--child", "nosuch"}, false, "initiate failed: CHILD_SA config 'nosuch' not found\n"},
		{[]string{"--terminate", "--ike", "lab"}, true, "terminate completed successfully\n"},
		{[]string{"--terminate", "--ike", "nosuch"}, false, "terminate failed: no matching SAs to terminate found\n"},
		{[]string{"--rekey", "--ike", "lab"}, true, "rekey completed successfully\n"},
		{[]string{"--reload-settings"}, true, ""},
	} {
		ctl := statustest.NewControl(statustest.New())
		ctl.OnDo = func(ev ike.Event) {
			if _, ok := ev.(ike.Terminate); ok {
				st := statustest.New()
				st.Engine.IKESAs = nil
				ctl.Set(st)
			}
		}
		got, err := swanctl(t, ctl, tt.args...)
		if (err == nil) != tt.ok || got != tt.want {
			t.Errorf("%v: error %v, output %q, want %q", tt.args, err, got, tt.want)
		}
	}
}
