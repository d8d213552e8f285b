package vici

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/strongswan/govici/vici"

	"github.com/ipsecd/ipsecd/cmd/internal/status"
	"github.com/ipsecd/ipsecd/cmd/internal/status/statustest"
	"github.com/ipsecd/ipsecd/ike"
)

func stream(t *testing.T, st *status.Status, command, event string, keyValues ...string) []string {
	t.Helper()
	c := dial(t, listenOn(t, statustest.NewControl(st)))
	c.register(event)
	events, _ := c.call(command, keyValues...)
	return events
}

// The order of the keys is charon's: swanctl prints an IKE_SA on reaching
// child-sas, and scripts match over several keys.
func TestListSAs(t *testing.T) {
	want := []string{
		"hq {uniqueid=1 version=2 state=ESTABLISHED local-host=192.0.2.1 local-port=4500 local-id=192.0.2.1" +
			" remote-host=203.0.113.7 remote-port=4500 remote-id=203.0.113.7 initiator=yes" +
			" initiator-spi=00000000000000a1 responder-spi=00000000000000b1 nat-remote=yes nat-any=yes" +
			" encr-alg=AES_GCM_16 encr-keysize=256 prf-alg=PRF_HMAC_SHA2_384 dh-group=ECP_384" +
			" established=10800 rekey-time=3600 child-sas {" +
			"net-8 {name=net uniqueid=8 reqid=1 state=INSTALLED mode=TUNNEL protocol=ESP encap=yes" +
			" spi-in=c0ffee08 spi-out=decade08 if-id-in=00000001 if-id-out=00000001" +
			" encr-alg=AES_CBC encr-keysize=128 integ-alg=HMAC_SHA2_256_128 dh-group=MODP_2048" +
			" bytes-in=1500 packets-in=15 use-in=1 bytes-out=840 packets-out=10 use-out=2" +
			" rekey-time=1860 life-time=3900 install-time=60 local-ts=[0.0.0.0/0] remote-ts=[0.0.0.0/0]}}}",
	}
	got := stream(t, statustest.New(), "list-sas", "list-sa", "ike", "hq", "child-id", "8")
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// Of CHILD_SAs with others beside them, charon 6 says so, and for which CPU each is.
func TestListSAsPerCPU(t *testing.T) {
	for cpu, want := range map[ike.CPU]string{
		{}: " per-cpu-sas=yes encr-alg=", {Bound: true}: " per-cpu-sas=yes cpu=0 encr-alg=", {Bound: true, Number: 3}: " per-cpu-sas=yes cpu=3 encr-alg=",
	} {
		st := statustest.New()
		for i := range st.Engine.IKESAs {
			for j := range st.Engine.IKESAs[i].Children {
				sa := *st.Engine.IKESAs[i].Children[j].SA
				sa.PerCPU, sa.CPU = true, cpu
				st.Engine.IKESAs[i].Children[j].SA = &sa
			}
		}
		if got := stream(t, st, "list-sas", "list-sa", "ike", "hq", "child-id", "8"); len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("got %q, want %q in it", got, want)
		}
	}
}

// child chooses among the CHILD_SAs only, as charon's does.
func TestListSAsWithoutChild(t *testing.T) {
	got := stream(t, statustest.New(), "list-sas", "list-sa", "child", "nosuch")
	if len(got) != 3 || strings.Count(strings.Join(got, ""), "child-sas {}") != 3 {
		t.Errorf("%d IKE SAs: %v", len(got), got)
	}
}

// An IKE_SA without children has an empty section of them, without which
// swanctl would not print it.
func TestListConnectingSA(t *testing.T) {
	want := []string{"new {uniqueid=3 version=2 state=CONNECTING local-host=192.0.2.1 local-port=500 local-id=%any" +
		" remote-host=192.0.2.99 remote-port=500 remote-id=%any initiator=yes" +
		" initiator-spi=00000000000000cc responder-spi=0000000000000000 child-sas {}}"}
	if d := cmp.Diff(want, stream(t, statustest.New(), "list-sas", "list-sa", "ike-id", "3")); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestListConns(t *testing.T) {
	want := []string{"hq {local_addrs=[192.0.2.1] remote_addrs=[203.0.113.7] version=IKEv2 reauth_time=0 rekey_time=14400" +
		" unique=UNIQUE_NO dpd_delay=10 local-1 {id=192.0.2.1 class=pre-shared key groups=[] cert_policy=[] certs=[] cacerts=[]} remote-1 {id=203.0.113.7 class=pre-shared key groups=[] cert_policy=[] certs=[] cacerts=[]}" +
		" children {net {mode=TUNNEL rekey_time=3600 rekey_bytes=0 rekey_packets=0 dpd_action=none close_action=none" +
		" local-ts=[0.0.0.0/0] remote-ts=[0.0.0.0/0]}}}"}
	if d := cmp.Diff(want, stream(t, statustest.New(), "list-conns", "list-conn", "ike", "hq")); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if got := stream(t, statustest.New(), "list-conns", "list-conn"); len(got) != 4 || !strings.HasPrefix(got[1], "branch2 {") {
		t.Errorf("all connections, in the configuration's order: %v", got)
	}
}

// Of traps and shunts, those are listed that are asked for, whatever the value of the key.
func TestListPolicies(t *testing.T) {
	want := []string{"lab/b {child=b reqid=3 ike=lab mode=TUNNEL local-ts=[10.1.0.0/16] remote-ts=[10.3.0.0/16]}"}
	if d := cmp.Diff(want, stream(t, statustest.New(), "list-policies", "list-policy", "trap", "no", "child", "b")); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if got := stream(t, statustest.New(), "list-policies", "list-policy", "drop", "yes"); len(got) != 0 {
		t.Errorf("shunts: %v", got)
	}
}

// Monitoring expects all of charon's counters, whatever happened so far.
func TestGetCounters(t *testing.T) {
	_, got := dial(t, listenOn(t, statustest.NewControl(statustest.New()))).call("get-counters")
	want := "counters { {ike-rekey-init=0 ike-rekey-resp=3 child-rekey=42 invalid=6 invalid-spi=2" +
		" ike-init-in-req=0 ike-init-in-resp=2 ike-init-out-req=10 ike-init-out-resp=0" +
		" ike-auth-in-req=0 ike-auth-in-resp=0 ike-auth-out-req=0 ike-auth-out-resp=0" +
		" create-child-in-req=0 create-child-in-resp=0 create-child-out-req=0 create-child-out-resp=0" +
		" info-in-req=4 info-in-resp=3 info-out-req=0 info-out-resp=0}} success=yes"
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// Each connection of which something was counted has counters of its own, which are reset alone.
func TestConnectionCounters(t *testing.T) {
	c := dial(t, listenOn(t, statustest.NewControl(statustest.New())))
	call := func(want, command string, keyValues ...string) {
		t.Helper()
		if _, got := c.call(command, keyValues...); got != want {
			t.Errorf("%s %v: %s\nwant %s", command, keyValues, got, want)
		}
	}
	const rest = " ike-auth-in-req=0 ike-auth-in-resp=0 ike-auth-out-req=0 ike-auth-out-resp=0 create-child-in-req=0 create-child-in-resp=0 create-child-out-req=0 create-child-out-resp=0"
	hq := "hq {ike-rekey-init=0 ike-rekey-resp=0 child-rekey=42 invalid=0 invalid-spi=0 ike-init-in-req=0 ike-init-in-resp=1 ike-init-out-req=1 ike-init-out-resp=0" +
		rest + " info-in-req=3 info-in-resp=0 info-out-req=0 info-out-resp=3}"
	lab := "lab {ike-rekey-init=1 ike-rekey-resp=0 child-rekey=0 invalid=0 invalid-spi=0 ike-init-in-req=0 ike-init-in-resp=0 ike-init-out-req=0 ike-init-out-resp=0" +
		rest + " info-in-req=0 info-in-resp=0 info-out-req=0 info-out-resp=0}"
	call("counters {"+hq+"} success=yes", "get-counters", "name", "hq")
	call("counters {"+hq+" "+lab+"} success=yes", "get-counters", "all", "yes")
	call("counters {} success=no errmsg=no counters found for this connection", "get-counters", "name", "new")
	call("success=yes", "reset-counters", "name", "hq")
	call("counters {} success=no errmsg=no counters found for this connection", "get-counters", "name", "hq")
	call("counters {"+lab+"} success=yes", "get-counters", "all", "yes")
	call("success=yes", "reset-counters", "all", "yes")
	call("counters {} success=yes", "get-counters", "all", "yes")
	if _, got := c.call("get-counters"); !strings.Contains(got, "child-rekey=42") {
		t.Errorf("the global counters were reset, too: %s", got)
	}
}

// sergeymakinen's exporter parses since with this layout and fails otherwise.
func TestStats(t *testing.T) {
	_, s := serve(t, statustest.New())
	m, err := s.Call(testContext(t), "stats", nil)
	if err != nil {
		t.Fatal(err)
	}
	up := m.Get("uptime").(*vici.Message)
	if got := up.Get("since"); got != "Mar 02 00:06:07 2026" {
		t.Errorf("since %v", got)
	}
	if got := up.Get("running").(string); !strings.HasSuffix(got, " days") {
		t.Errorf("running %v", got)
	}
	if got := m.Get("ikesas").(*vici.Message).Get("total"); got != "3" {
		t.Errorf("ikesas.total %v", got)
	}
}

// A report that does not fit into one reply arrives whole.
func TestShowInPieces(t *testing.T) {
	st := statustest.New()
	for range 2000 {
		st.Engine.IKESAs = append(st.Engine.IKESAs, st.Engine.IKESAs[0])
	}
	_, s := serve(t, st)
	var report strings.Builder
	args := message(t)
	for replies := 1; ; replies++ {
		m, err := s.Call(testContext(t), "ipsecd-show", args)
		if err != nil {
			t.Fatal(err)
		}
		for _, piece := range m.Get("json").([]string) {
			report.WriteString(piece)
		}
		if m.Get("more") == nil {
			if replies < 2 {
				t.Error("one reply: nothing was tested")
			}
			break
		}
		args = message(t, "continue", "yes")
	}
	if n := strings.Count(report.String(), `"spi_initiator"`); n != 2003 || !strings.HasSuffix(report.String(), "}") {
		t.Errorf("%d IKE SAs of 2003, ending in %q", n, report.String()[report.Len()-10:])
	}
}

// No command shows the secrets that the status' configuration holds.
func TestNoSecretIsSent(t *testing.T) {
	c := dial(t, listenOn(t, statustest.NewControl(statustest.New())))
	var all []string
	for _, event := range []string{"list-sa", "list-conn", "list-policy", "list-cert", "list-authority"} {
		c.register(event)
	}
	for command := range commands {
		events, reply := c.call(command, "trap", "yes", "ike", "hq", "timeout", "-1")
		all = append(append(all, events...), reply)
	}
	out := strings.Join(all, "\n")
	if strings.Contains(out, statustest.Canary) || strings.Contains(out, "Y2FuYXJ5LXBzay") { // the same in base64
		t.Error("a reply holds the secret")
	}
	if !strings.Contains(out, "203.0.113.7") {
		t.Error("the replies hold nothing: nothing was tested")
	}
}
