package metrics

import (
	"strings"

	"github.com/ipsecd/ipsecd/cmd/internal/show"
	"github.com/ipsecd/ipsecd/cmd/internal/status"
)

var (
	childUp = gauge("child_up", "1 if the configured child has a CHILD_SA, also in the course of a rekey; 0 if it has none.",
		"connection", "child")
	childInfo = gauge("child_info", "1, labelled with what was negotiated for the CHILD_SA in use.",
		"connection", "child", "interface", "remote", "local_ts", "remote_ts", "encryption", "dh_group", "nat")
	childBytes = counter("child_bytes_total", "Octets of inner packets over all CHILD_SAs of the child since the start.",
		"connection", "child", "direction")
	childPackets = counter("child_packets_total", "Inner packets over all CHILD_SAs of the child since the start.",
		"connection", "child", "direction")
	childLast = gauge("child_last_traffic_timestamp_seconds", "When the child last carried a packet.",
		"connection", "child", "direction")
	childTries = gauge("child_tries", "Failed attempts since the child was last up.",
		"connection", "child")

	ikeEstablished = gauge("ike_established_timestamp_seconds", "When the connection's IKE SA was set up.", "connection")
	ikeRekey       = gauge("ike_rekey_timestamp_seconds", "When the connection's IKE SA will be rekeyed.", "connection")
	ikeExpiry      = gauge("ike_expiry_timestamp_seconds", "When the connection's IKE SA ends if it is not rekeyed.", "connection")

	childEstablished = gauge("child_established_timestamp_seconds", "When the child's CHILD_SA in use was installed.", "connection", "child")
	childRekey       = gauge("child_rekey_timestamp_seconds", "When the child's CHILD_SA in use will be rekeyed.", "connection", "child")
	childExpiry      = gauge("child_expiry_timestamp_seconds", "When the child's CHILD_SA in use ends if it is not rekeyed.", "connection", "child")
)

func collectTunnels(s sink, st *status.Status) {
	seen := map[string]bool{}
	tunnels := show.Tunnels(st)
	for i := range tunnels {
		t := &tunnels[i]
		if !seen[t.Connection] {
			seen[t.Connection] = true
			s.at(ikeEstablished, t.IKE.Established, t.Connection)
			s.at(ikeRekey, t.IKE.RekeyAt, t.Connection)
			s.at(ikeExpiry, t.IKE.ExpireAt, t.Connection)
		}
		if t.Child != "" {
			collectChild(s, t)
		}
	}
}

func collectChild(s sink, t *show.Tunnel) {
	up := t.State == show.StateUp
	s.flag(childUp, up, t.Connection, t.Child)
	s.put(childTries, float64(t.Tries), t.Connection, t.Child)
	s.put(childBytes, float64(t.Traffic.BytesIn), t.Connection, t.Child, "in")
	s.put(childBytes, float64(t.Traffic.BytesOut), t.Connection, t.Child, "out")
	s.put(childPackets, float64(t.Traffic.PacketsIn), t.Connection, t.Child, "in")
	s.put(childPackets, float64(t.Traffic.PacketsOut), t.Connection, t.Child, "out")
	s.at(childLast, t.Traffic.LastIn, t.Connection, t.Child, "in")
	s.at(childLast, t.Traffic.LastOut, t.Connection, t.Child, "out")
	if !up {
		return
	}
	s.at(childEstablished, t.SA.Established, t.Connection, t.Child)
	s.at(childRekey, t.SA.RekeyAt, t.Connection, t.Child)
	s.at(childExpiry, t.SA.ExpireAt, t.Connection, t.Child)
	s.put(childInfo, 1, t.Connection, t.Child, t.Interface, t.Remote,
		strings.Join(t.LocalTS, " "), strings.Join(t.RemoteTS, " "), t.Encryption, t.DHGroup, yesNo(t.NAT))
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
