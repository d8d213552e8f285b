package show

import (
	"fmt"
	"io"
	"net/netip"
	"strings"
	"time"
)

// WriteTunnels writes the table of all tunnels; under those that are not up, the
// reason and the next try. Columns that say nothing on this host are left out.
func WriteTunnels(w io.Writer, r *Report, s Style) error {
	if len(r.Tunnels) == 0 {
		_, err := fmt.Fprintln(w, "no connections are configured")
		return err
	}
	t := table{header: []string{"CONNECTION", "CHILD", "STATE", "SINCE", "IN/OUT", "LAST", "REKEY", "REMOTE"}}
	interfaces, bgp := false, len(r.BGP) > 0
	for _, tn := range r.Tunnels {
		interfaces = interfaces || tn.Interface != ""
	}
	if interfaces {
		t.header = append(t.header, "INTERFACE")
	}
	if bgp {
		t.header = append(t.header, "BGP", "ROUTES")
	}
	for i := range r.Tunnels {
		tn := &r.Tunnels[i]
		row := tunnelCells(r.Taken, tn, s)
		if interfaces {
			row = append(row, dash(tn.Interface))
		}
		if bgp {
			row = append(row, bgpCells(tn, s)...)
		}
		t.add(row...)
		if why := whyDown(r.Taken, tn); why != "" {
			t.note("  └ " + why)
		}
	}
	if err := t.write(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s\n%s", summary(r), standing(r, s))
	return err
}

func tunnelCells(now time.Time, tn *Tunnel, s Style) []string {
	remote, traffic := tn.Remote, "-"
	if tn.NAT {
		remote += " (NAT-T)"
	}
	remote += virtualText(append(tn.LocalVIPs[:len(tn.LocalVIPs):len(tn.LocalVIPs)], tn.RemoteVIPs...))
	if tn.State == StateUp {
		traffic = Bytes(tn.Traffic.BytesIn) + "/" + Bytes(tn.Traffic.BytesOut)
	}
	last := tn.Traffic.LastIn
	if tn.Traffic.LastOut.After(last) {
		last = tn.Traffic.LastOut
	}
	return []string{
		tn.Connection, dash(tn.Child), s.tunnelState(tn.State), since(now, tn.Since), traffic,
		since(now, last), until(now, tn.SA.RekeyAt), remote,
	}
}

func bgpCells(tn *Tunnel, s Style) []string {
	if tn.BGP == "" {
		return []string{"-", "-"}
	}
	return []string{s.sessionState(tn.BGP), fmt.Sprint(tn.Routes)}
}

// whyDown is the line below a tunnel that is not up; empty if there is nothing to say.
func whyDown(now time.Time, tn *Tunnel) string {
	var parts []string
	if tn.Reason != "" {
		parts = append(parts, tn.Reason)
	}
	if tn.Tries > 1 {
		parts = append(parts, fmt.Sprintf("%d attempts", tn.Tries))
	}
	if !tn.NextTry.IsZero() {
		parts = append(parts, "next try in "+until(now, tn.NextTry))
	}
	switch {
	case tn.State == StateUp:
		return ""
	case tn.State == StateDown && len(parts) == 0:
		return idle(tn)
	}
	return strings.Join(parts, "; ")
}

// idle says what a tunnel waits for that nobody is setting up.
func idle(tn *Tunnel) string {
	if _, err := netip.ParseAddr(tn.Remote); err != nil {
		return "waiting for the peer"
	}
	return "no attempt is planned; 'ipsecctl sa up " + tn.Connection + "' starts it"
}

// summary counts what the table lists.
func summary(r *Report) string {
	up, sessions := 0, 0
	for _, tn := range r.Tunnels {
		if tn.State == StateUp {
			up++
		}
	}
	for _, p := range r.BGP {
		if p.State == stateEstablished {
			sessions++
		}
	}
	text := fmt.Sprintf("%d of %d tunnels up", up, len(r.Tunnels))
	if len(r.BGP) > 0 {
		text += fmt.Sprintf(", %d of %d BGP sessions established", sessions, len(r.BGP))
	}
	if r.Router != nil {
		text += fmt.Sprintf(", %d routes installed", r.Router.RoutesInstalled)
	}
	return text
}

// standing lists what the operator must know besides: failed reloads, problems
// of the router, and the last failover.
func standing(r *Report, s Style) string {
	var b strings.Builder
	alarm := func(text string) { fmt.Fprintf(&b, "%s %s\n", s.paint(red, "!"), Clean(text)) }
	switch {
	case r.Reload.Error == "":
	case r.Reload.At.Equal(r.Started):
		alarm("connections with mistakes are left out: " + r.Reload.Error)
	default:
		alarm("the last reload failed, the old configuration stays in force: " + r.Reload.Error)
	}
	if r.Router == nil {
		return b.String()
	}
	for _, p := range r.Router.Problems {
		alarm(p)
	}
	if f := r.Router.Failover; f != nil {
		fmt.Fprintf(&b, "last failover: %s, %s ago; routes moved: %d, groups updated: %d, time: %.1f ms\n",
			f.Interface, since(r.Taken, f.At), f.Routes, f.Groups, f.Seconds*1000)
	}
	return b.String()
}
