package show

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ipsecd/ipsecd/cmd/internal/config"
	"github.com/ipsecd/ipsecd/cmd/internal/status"
	"github.com/ipsecd/ipsecd/cmd/internal/status/statustest"
	"github.com/ipsecd/ipsecd/ike"
)

func tunnelNamed(t testing.TB, st *status.Status, conn, child string) Tunnel {
	t.Helper()
	for _, tn := range Tunnels(st) {
		if tn.Connection == conn && tn.Child == child {
			return tn
		}
	}
	t.Fatalf("no tunnel %s/%s", conn, child)
	return Tunnel{}
}

// A tunnel is up from its first CHILD_SA to the last, whatever a rekey makes of
// them meanwhile, and never because of one that has been given up.
func TestTunnelStateThroughRekey(t *testing.T) {
	for _, tt := range []struct {
		states []ike.ChildState
		want   string
	}{
		{nil, StateDown},
		{[]ike.ChildState{ike.ChildInstalling}, StateConnecting},
		{[]ike.ChildState{ike.ChildInstalled}, StateUp},
		{[]ike.ChildState{ike.ChildRekeying}, StateUp},
		{[]ike.ChildState{ike.ChildRekeying, ike.ChildInstalling}, StateUp},
		{[]ike.ChildState{ike.ChildRekeyed, ike.ChildInstalling}, StateUp},
		{[]ike.ChildState{ike.ChildInstalling, ike.ChildRekeyed}, StateUp},
		{[]ike.ChildState{ike.ChildRekeyed, ike.ChildInstalled}, StateUp},
		{[]ike.ChildState{ike.ChildRekeyed}, StateDown},
		{[]ike.ChildState{ike.ChildDeleting}, StateDown},
	} {
		st := statustest.New()
		sa := &st.Engine.IKESAs[0]
		one := sa.Children[0]
		sa.Children = nil
		for _, s := range tt.states {
			one.State = s
			sa.Children = append(sa.Children, one)
		}
		if got := tunnelNamed(t, st, "hq", "net").State; got != tt.want {
			t.Errorf("CHILD_SAs %v: %s, want %s", tt.states, got, tt.want)
		}
	}
}

// After the rekey of an IKE SA the children are on the new one; the old one
// must not hide them.
func TestTunnelFollowsItsChild(t *testing.T) {
	st := statustest.New()
	old := st.Engine.IKESAs[0]
	old.ID, old.State, old.Children, old.Established = 99, ike.IKERekeyed, nil, statustest.Now.Add(-9*time.Hour)
	for name, sas := range map[string][]ike.IKESAInfo{
		"old one last":  {st.Engine.IKESAs[0], old},
		"old one first": {old, st.Engine.IKESAs[0]},
	} {
		st.Engine.IKESAs = sas
		tn := tunnelNamed(t, st, "hq", "net")
		if tn.State != StateUp || !tn.IKE.Established.Equal(statustest.Now.Add(-3*time.Hour)) {
			t.Errorf("%s: %s, IKE SA established %v", name, tn.State, tn.IKE.Established)
		}
	}
}

// Of two sessions over one interface, the one that is not up is shown.
func TestTunnelShowsTheWorseSession(t *testing.T) {
	st := statustest.New()
	v6 := st.Router.Peers[1]
	v6.Interface = "hq"
	st.Router.Peers = append(st.Router.Peers, v6)
	if got := tunnelNamed(t, st, "hq", "net").BGP; got != "Idle" {
		t.Errorf("BGP %s, want Idle", got)
	}
}

// The fields are a contract with programs: one that changes its name or goes
// away needs a new ReportVersion; new ones may be added here.
func TestJSONFields(t *testing.T) {
	data, err := json.Marshal(NewReport(statustest.New()))
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	fields := map[string]bool{}
	collectFields(fields, "", v)
	var got []string
	for f := range fields {
		got = append(got, f)
	}
	slices.Sort(got)
	if d := cmp.Diff(strings.Fields(reportFields), got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func collectFields(out map[string]bool, prefix string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			out[prefix+k] = true
			collectFields(out, prefix+k+".", e)
		}
	case []any:
		for _, e := range v {
			collectFields(out, prefix, e)
		}
	}
}

const reportFields = `
bgp bgp.address bgp.as bgp.flaps bgp.interface bgp.last_error bgp.messages_in bgp.messages_out bgp.name bgp.prefixes_advertised
bgp.prefixes_received bgp.since bgp.state
policies policies.action policies.destination policies.device policies.direction policies.local policies.mode policies.peer
policies.priority policies.reqid policies.source pools
reload reload.at reload.ok
router router.failovers router.last_failover router.last_failover.at router.last_failover.groups router.last_failover.interface
router.last_failover.routes router.last_failover.seconds router.phase router.restarts router.route_nexthops
router.routes_installed router.started
routes routes.group routes.installed routes.kind routes.metric routes.nexthops routes.prefix routes.reason
sas sas.children sas.children.child sas.children.encap sas.children.expire_at sas.children.id sas.children.if_id_in
sas.children.if_id_out sas.children.installed sas.children.local sas.children.local_ts sas.children.mode sas.children.proposal
sas.children.rekey_at sas.children.remote sas.children.remote_ts sas.children.reqid sas.children.spi_in sas.children.spi_out
sas.children.state sas.children.traffic sas.children.traffic.bytes_in sas.children.traffic.bytes_out
sas.children.traffic.last_in sas.children.traffic.last_out sas.children.traffic.packets_in sas.children.traffic.packets_out
sas.connection sas.established sas.expire_at sas.id sas.initiator sas.last_inbound sas.local sas.local_id sas.nat_local
sas.nat_remote sas.proposal sas.rekey_at sas.remote sas.remote_id sas.spi_initiator sas.spi_responder sas.state
software started taken
tunnels tunnels.bgp tunnels.child tunnels.connection tunnels.dh_group tunnels.encryption tunnels.ike tunnels.ike.established tunnels.ike.expire_at
tunnels.ike.rekey_at tunnels.interface tunnels.local_ts tunnels.nat tunnels.next_try tunnels.proposal tunnels.reason
tunnels.remote tunnels.remote_ts tunnels.routes tunnels.sa tunnels.sa.established tunnels.sa.expire_at tunnels.sa.rekey_at
tunnels.since tunnels.state tunnels.traffic tunnels.traffic.bytes_in tunnels.traffic.bytes_out tunnels.traffic.last_in
tunnels.traffic.last_out tunnels.traffic.packets_in tunnels.traffic.packets_out tunnels.tries
version`

// The status holds secrets in its configuration; no output may.
func TestNoSecretIsShown(t *testing.T) {
	st := statustest.New()
	if string(st.Config.IKE.Secrets[0].Key.Bytes()) != statustest.Canary {
		t.Fatal("the status does not hold the secret that this test looks for")
	}
	r := NewReport(st)
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for name, out := range map[string]string{
		"JSON":     string(data),
		"%+v":      fmt.Sprintf("%+v", r),
		"tunnels":  text(t, func(w io.Writer) error { return WriteTunnels(w, r, Style{}) }),
		"SAs":      text(t, func(w io.Writer) error { return WriteSAs(w, r, Style{}) }),
		"policies": text(t, func(w io.Writer) error { return WritePolicies(w, r) }),
		"BGP":      text(t, func(w io.Writer) error { return WriteBGP(w, r, Style{}) }),
		"OpenBSD":  text(t, func(w io.Writer) error { return OpenBSD(w, r, "all") }),
	} {
		if strings.Contains(out, statustest.Canary) || strings.Contains(out, "Y2FuYXJ5LXBzay") { // the same in base64
			t.Errorf("%s holds the secret", name)
		}
	}
}

// large has n tunnels.
func large(n int) *status.Status {
	st := statustest.New()
	conn, sa := st.Engine.Connections[0], st.Engine.IKESAs[0]
	st.Engine.Connections, st.Engine.IKESAs, st.Config.Interfaces = nil, nil, nil
	for i := range n {
		c := *conn.Config
		c.Name = fmt.Sprintf("site%d", i)
		one := sa
		one.ID, one.Connection = uint32(i+1), c.Name
		st.Engine.Connections = append(st.Engine.Connections, ike.ConnectionInfo{Config: &c})
		st.Engine.IKESAs = append(st.Engine.IKESAs, one)
		st.Config.Interfaces = append(st.Config.Interfaces, config.Interface{Name: c.Name, IfID: uint32(i + 1)})
	}
	return st
}

func BenchmarkReport10000SAs(b *testing.B) {
	st := large(10000)
	b.ReportAllocs()
	for b.Loop() {
		data, err := json.Marshal(NewReport(st))
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(data)))
	}
}
