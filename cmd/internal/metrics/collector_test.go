package metrics

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/ipsecd/ipsecd/cmd/internal/show"
	"github.com/ipsecd/ipsecd/cmd/internal/status"
	"github.com/ipsecd/ipsecd/cmd/internal/status/statustest"
	"github.com/ipsecd/ipsecd/ike"
)

// series collects a status and returns its samples, sorted, as Prometheus'
// text format has them.
func series(t testing.TB, st *status.Status) []string {
	t.Helper()
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(NewCollector(statustest.NewControl(st)))
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
			}
			name := f.GetName()
			if len(labels) > 0 {
				name += "{" + strings.Join(labels, ",") + "}"
			}
			value := m.GetGauge().GetValue()
			if m.GetCounter() != nil {
				value = m.GetCounter().GetValue()
			}
			out = append(out, fmt.Sprintf("%s %.10g", name, value))
		}
	}
	slices.Sort(out)
	return out
}

func with(list []string, prefix string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return !strings.HasPrefix(s, prefix) })
}

// The numbers are those of statustest.New, whose time is 1772600767 s after 1970.
func TestSeries(t *testing.T) {
	if statustest.Now.Unix() != 1772600767 {
		t.Fatalf("the status is of another time, %d", statustest.Now.Unix())
	}
	got := series(t, statustest.New())
	want := strings.Split(strings.TrimSpace(strings.ReplaceAll(wantSeries, "GOVERSION", runtime.Version())), "\n")
	slices.Sort(want)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

const wantSeries = `
ipsec_bgp_peer_flaps_total{neighbor="branch2"} 3
ipsec_bgp_peer_flaps_total{neighbor="circuit"} 0
ipsec_bgp_peer_flaps_total{neighbor="hq"} 0
ipsec_bgp_peer_up{neighbor="branch2"} 0
ipsec_bgp_peer_up{neighbor="circuit"} 0
ipsec_bgp_peer_up{neighbor="hq"} 1
ipsec_bgp_prefixes{direction="in",neighbor="branch2"} 0
ipsec_bgp_prefixes{direction="in",neighbor="circuit"} 0
ipsec_bgp_prefixes{direction="in",neighbor="hq"} 212
ipsec_bgp_prefixes{direction="out",neighbor="branch2"} 0
ipsec_bgp_prefixes{direction="out",neighbor="circuit"} 0
ipsec_bgp_prefixes{direction="out",neighbor="hq"} 1
ipsec_build_info{goversion="GOVERSION",version="1.2.3"} 1
ipsec_child_bytes_total{child="a",connection="lab",direction="in"} 0
ipsec_child_bytes_total{child="a",connection="lab",direction="out"} 0
ipsec_child_bytes_total{child="b",connection="lab",direction="in"} 0
ipsec_child_bytes_total{child="b",connection="lab",direction="out"} 0
ipsec_child_bytes_total{child="net",connection="branch2",direction="in"} 42
ipsec_child_bytes_total{child="net",connection="branch2",direction="out"} 0
ipsec_child_bytes_total{child="net",connection="hq",direction="in"} 1234567890
ipsec_child_bytes_total{child="net",connection="hq",direction="out"} 829500000
ipsec_child_established_timestamp_seconds{child="a",connection="lab"} 1772600167
ipsec_child_established_timestamp_seconds{child="net",connection="hq"} 1772600707
ipsec_child_expiry_timestamp_seconds{child="a",connection="lab"} 1772604127
ipsec_child_expiry_timestamp_seconds{child="net",connection="hq"} 1772604667
ipsec_child_info{child="a",connection="lab",dh_group="MODP_2048",encryption="AES_CBC_128",interface="",local_ts="10.1.0.0/16",nat="no",remote="192.0.2.77",remote_ts="10.2.0.0/16"} 1
ipsec_child_info{child="net",connection="hq",dh_group="MODP_2048",encryption="AES_CBC_128",interface="hq",local_ts="0.0.0.0/0",nat="yes",remote="203.0.113.7",remote_ts="0.0.0.0/0"} 1
ipsec_child_last_traffic_timestamp_seconds{child="net",connection="branch2",direction="in"} 1772600527
ipsec_child_last_traffic_timestamp_seconds{child="net",connection="hq",direction="in"} 1772600766
ipsec_child_last_traffic_timestamp_seconds{child="net",connection="hq",direction="out"} 1772600765
ipsec_child_packets_total{child="a",connection="lab",direction="in"} 0
ipsec_child_packets_total{child="a",connection="lab",direction="out"} 0
ipsec_child_packets_total{child="b",connection="lab",direction="in"} 0
ipsec_child_packets_total{child="b",connection="lab",direction="out"} 0
ipsec_child_packets_total{child="net",connection="branch2",direction="in"} 1
ipsec_child_packets_total{child="net",connection="branch2",direction="out"} 0
ipsec_child_packets_total{child="net",connection="hq",direction="in"} 1000000
ipsec_child_packets_total{child="net",connection="hq",direction="out"} 900000
ipsec_child_rekey_timestamp_seconds{child="a",connection="lab"} 1772603767
ipsec_child_rekey_timestamp_seconds{child="net",connection="hq"} 1772602627
ipsec_child_tries{child="a",connection="lab"} 0
ipsec_child_tries{child="b",connection="lab"} 0
ipsec_child_tries{child="net",connection="branch2"} 5
ipsec_child_tries{child="net",connection="hq"} 0
ipsec_child_up{child="a",connection="lab"} 1
ipsec_child_up{child="b",connection="lab"} 0
ipsec_child_up{child="net",connection="branch2"} 0
ipsec_child_up{child="net",connection="hq"} 1
ipsec_config_last_reload_success_timestamp_seconds 1772597167
ipsec_config_last_reload_successful 1
ipsec_dpd_timeouts_total 1
ipsec_failovers_total 3
ipsec_guards_installed 1
ipsec_ike_cookies_sent_total 0
ipsec_ike_duplicate_requests_total 1
ipsec_ike_established_timestamp_seconds{connection="hq"} 1772589967
ipsec_ike_established_timestamp_seconds{connection="lab"} 1772589967
ipsec_ike_expiry_timestamp_seconds{connection="hq"} 1772605807
ipsec_ike_expiry_timestamp_seconds{connection="lab"} 1772605807
ipsec_ike_half_open 1
ipsec_ike_invalid_messages_total{reason="integrity"} 6
ipsec_ike_invalid_messages_total{reason="unknown SPI"} 2
ipsec_ike_messages_total{direction="in",exchange="CREATE_CHILD_SA"} 0
ipsec_ike_messages_total{direction="in",exchange="IKE_AUTH"} 0
ipsec_ike_messages_total{direction="in",exchange="IKE_SA_INIT"} 2
ipsec_ike_messages_total{direction="in",exchange="INFORMATIONAL"} 7
ipsec_ike_messages_total{direction="out",exchange="CREATE_CHILD_SA"} 0
ipsec_ike_messages_total{direction="out",exchange="IKE_AUTH"} 0
ipsec_ike_messages_total{direction="out",exchange="IKE_SA_INIT"} 10
ipsec_ike_messages_total{direction="out",exchange="INFORMATIONAL"} 0
ipsec_ike_negotiations_total{result="failure",role="initiator"} 5
ipsec_ike_negotiations_total{result="failure",role="responder"} 0
ipsec_ike_negotiations_total{result="success",role="initiator"} 2
ipsec_ike_negotiations_total{result="success",role="responder"} 0
ipsec_ike_rekey_timestamp_seconds{connection="hq"} 1772604367
ipsec_ike_rekey_timestamp_seconds{connection="lab"} 1772604367
ipsec_ike_retransmits_total 5
ipsec_ike_sas{state="connecting"} 1
ipsec_ike_sas{state="deleting"} 0
ipsec_ike_sas{state="established"} 2
ipsec_ike_sas{state="rekeyed"} 0
ipsec_ike_sas{state="rekeying"} 0
ipsec_ike_socket_drops_total 9
ipsec_last_failover_duration_seconds 0.001234
ipsec_last_failover_timestamp_seconds 1772600527
ipsec_rekey_collisions_total 1
ipsec_rekeys_total{kind="child",result="failure"} 0
ipsec_rekeys_total{kind="child",result="success"} 42
ipsec_rekeys_total{kind="ike",result="failure"} 0
ipsec_rekeys_total{kind="ike",result="success"} 3
ipsec_route_errors_total 0
ipsec_route_nexthops 1
ipsec_router_restarts_total 1
ipsec_router_up 1
ipsec_routes_installed 212
ipsec_start_timestamp_seconds 1772409967
ipsec_xfrm_drift 1
ipsec_xfrm_errors_total{error="XfrmInNoStates"} 2
ipsec_xfrm_errors_total{error="XfrmOutNoStates"} 0
ipsec_xfrm_policies 7
ipsec_xfrm_states 5
`

// A rekey must show neither as an outage nor as a counter that fell.
func TestRekeyIsNoOutage(t *testing.T) {
	for _, states := range [][2]ike.ChildState{
		{ike.ChildRekeying, ike.ChildInstalling}, {ike.ChildRekeyed, ike.ChildInstalling}, {ike.ChildRekeyed, ike.ChildInstalled},
	} {
		st := statustest.New()
		st.Engine.IKESAs[0].Children[0].State, st.Engine.IKESAs[0].Children[1].State = states[0], states[1]
		got := series(t, st)
		for _, want := range []string{
			`ipsec_child_up{child="net",connection="hq"} 1`,
			`ipsec_child_bytes_total{child="net",connection="hq",direction="in"} 1234567890`,
		} {
			if !slices.Contains(got, want) {
				t.Errorf("CHILD_SAs %v: no sample %s among %v", states, want, with(got, "ipsec_child_"))
			}
		}
	}
}

// The metrics and "ipsecctl show --json" never disagree.
func TestCountersAreThoseOfShow(t *testing.T) {
	st := statustest.New()
	got := series(t, st)
	for _, tn := range show.NewReport(st).Tunnels {
		if tn.Child == "" {
			continue
		}
		want := fmt.Sprintf("ipsec_child_bytes_total{child=%q,connection=%q,direction=\"out\"} %d", tn.Child, tn.Connection, tn.Traffic.BytesOut)
		if !slices.Contains(got, want) {
			t.Errorf("no sample %s", want)
		}
	}
}

// A daemon that has just started, or that has no router, is collected too.
func TestEmptyStatus(t *testing.T) {
	got := series(t, &status.Status{Engine: &ike.Snapshot{}})
	for _, want := range []string{"ipsec_router_up 0", "ipsec_config_last_reload_successful 0"} {
		if !slices.Contains(got, want) {
			t.Errorf("no sample %s among %v", want, got)
		}
	}
	if bgp := with(got, "ipsec_bgp"); len(bgp) != 0 {
		t.Errorf("BGP without a router: %v", bgp)
	}
}

// A name that is no UTF-8 must not cost a scrape, still less the process.
func TestNameThatIsNoUTF8(t *testing.T) {
	st := statustest.New()
	st.Engine.Connections[0].Config.Children[0].Name = "n\xff"
	if got := with(series(t, st), `ipsec_child_up{child="n?"`); len(got) != 1 {
		t.Errorf("samples %v", got)
	}
}

func BenchmarkCollect10000(b *testing.B) {
	st := statustest.New()
	one, sa := st.Engine.Connections[0], st.Engine.IKESAs[0]
	st.Engine.Connections, st.Engine.IKESAs = nil, nil
	for i := range 10000 {
		c := *one.Config
		c.Name = fmt.Sprintf("site%d", i)
		x := sa
		x.Connection = c.Name
		st.Engine.Connections = append(st.Engine.Connections, ike.ConnectionInfo{Config: &c})
		st.Engine.IKESAs = append(st.Engine.IKESAs, x)
	}
	reg := prometheus.NewRegistry()
	reg.MustRegister(NewCollector(statustest.NewControl(st)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := reg.Gather(); err != nil {
			b.Fatal(err)
		}
	}
}
