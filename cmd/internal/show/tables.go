package show

import (
	"fmt"
	"io"
)

// WritePolicies writes the kernel's policies that are ours.
func WritePolicies(w io.Writer, r *Report) error {
	if len(r.Policies) == 0 {
		_, err := fmt.Fprintln(w, "no policies")
		return err
	}
	t := table{header: []string{"DIR", "SOURCE", "DESTINATION", "PROTO", "DEVICE", "ACTION", "PRIORITY", "IF_ID", "REQID", "LOCAL", "PEER"}}
	for _, p := range r.Policies {
		proto := "any"
		if p.Protocol != 0 {
			proto = fmt.Sprint(p.Protocol)
		}
		t.add(p.Direction, withPort(p.Source, p.SrcPort), withPort(p.Dest, p.DstPort), proto, dash(p.Device), p.Action,
			fmt.Sprint(p.Priority), number(p.IfID), number(p.ReqID), dash(p.Local), dash(p.Peer))
	}
	return t.write(w)
}

// WriteBGP writes the table of neighbours.
func WriteBGP(w io.Writer, r *Report, s Style) error {
	if len(r.BGP) == 0 {
		_, err := fmt.Fprintln(w, noRouter(r, "no BGP neighbours"))
		return err
	}
	t := table{header: []string{"NEIGHBOR", "ADDRESS", "AS", "INTERFACE", "STATE", "SINCE", "RECEIVED", "ADVERTISED", "MSGS IN/OUT"}}
	for _, p := range r.BGP {
		t.add(p.Name, p.Address, fmt.Sprint(p.AS), dash(p.Interface), s.sessionState(p.State), since(r.Taken, p.Since),
			fmt.Sprint(p.Received), fmt.Sprint(p.Advertised), fmt.Sprintf("%d/%d", p.In, p.Out))
		if p.LastError != "" && p.State != stateEstablished {
			t.note("  └ " + p.LastError)
		}
		if p.Refused > 0 {
			t.note(fmt.Sprintf("  └ %d prefixes refused by the import list or because they cover a tunnel's own end point", p.Refused))
		}
	}
	return t.write(w)
}

// WriteRoutes writes the learned prefixes and the guards, one nexthop a line.
func WriteRoutes(w io.Writer, r *Report) error {
	if len(r.Routes) == 0 {
		_, err := fmt.Fprintln(w, noRouter(r, "no routes"))
		return err
	}
	t := table{header: []string{"PREFIX", "KIND", "INSTALLED", "METRIC", "GROUP", "PATHS", "NEXTHOPS"}}
	for _, rt := range r.Routes {
		installed, first := "no", "blackhole"
		if rt.Installed {
			installed = "yes"
		}
		if rt.Kind != kindGuard {
			first = "-"
		}
		rest := rt.Nexthops
		if len(rest) > 0 {
			first, rest = rest[0], rest[1:]
		}
		t.add(rt.Prefix, rt.Kind, installed, number(rt.Metric), number(rt.Group), number(uint32(len(rt.Nexthops))), first)
		for _, n := range rest {
			t.add("", "", "", "", "", "", n)
		}
		if rt.Reason != "" {
			t.note("  └ " + rt.Reason)
		}
	}
	return t.write(w)
}

// noRouter tells an empty list from one that nobody could give.
func noRouter(r *Report, empty string) string {
	if r.Router == nil {
		return empty + ": no router process is running"
	}
	return empty
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func number(n uint32) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

func withPort(s, port string) string {
	if port == "" {
		return s
	}
	return s + "[" + port + "]"
}
