package routingtest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ipsecd/ipsecd/routing"
)

// String returns the kernel's state as Format does.
func (k *Kernel) String() string {
	var p printer
	p.links = k.links
	for _, o := range k.nexthops {
		p.nexthop(o)
	}
	for _, r := range k.routes {
		p.route(r)
	}
	return p.String()
}

// protocolKernel is RTPROT_KERNEL.
const protocolKernel = 2

// Format returns the state of any kernel as sorted lines in the form of
// `ip nexthop` and `ip route`, without the routes that the kernel itself made.
// Objects whose protocol is ours come without naming it.
func Format(k routing.Kernel) (string, error) {
	p := printer{links: map[int]routing.Link{}}
	links, err := k.Links()
	if err != nil {
		return "", err
	}
	nexthops, err := k.Nexthops()
	if err != nil {
		return "", err
	}
	routes, err := k.Routes()
	if err != nil {
		return "", err
	}
	for _, l := range links {
		p.links[l.Index] = l
	}
	for _, o := range nexthops {
		p.nexthop(o)
	}
	for _, r := range routes {
		if r.Protocol != protocolKernel {
			p.route(r)
		}
	}
	return p.String(), nil
}

type printer struct {
	links map[int]routing.Link
	lines []string
}

func (p *printer) String() string {
	slices.Sort(p.lines)
	return strings.Join(p.lines, "\n")
}

func (p *printer) nexthop(o routing.NexthopObject) {
	if o.Group == nil {
		p.add("nexthop id %d via %s dev %s%s", o.ID, o.Gateway, p.links[o.Index].Name, proto(o.Protocol))
		return
	}
	var members []string
	for _, e := range o.Group {
		members = append(members, fmt.Sprint(e.ID)+suffix(",%d", e.Weight))
	}
	p.add("nexthop id %d group %s%s", o.ID, strings.Join(members, "/"), proto(o.Protocol))
}

func (p *printer) route(r routing.RouteEntry) {
	kinds := map[routing.RouteKind]string{
		routing.Blackhole:   "blackhole ",
		routing.Unreachable: "unreachable ",
		routing.OtherKind:   "other ",
	}
	s := "route " + kinds[r.Kind] + r.Prefix.String()
	if r.NexthopID != 0 {
		s += fmt.Sprintf(" nhid %d", r.NexthopID)
	}
	if r.Kind == routing.Unicast {
		for _, h := range r.Hops {
			s += fmt.Sprintf(" via %s dev %s%s", h.Gateway, p.links[h.Index].Name, suffix(" weight %d", h.Weight))
		}
	}
	if r.Table != routing.DefaultTable {
		s += fmt.Sprintf(" table %d", r.Table)
	}
	p.add("%s%s metric %d", s, proto(r.Protocol), r.Metric)
}

func (p *printer) add(format string, args ...any) {
	p.lines = append(p.lines, fmt.Sprintf(format, args...))
}

func suffix(format string, weight uint8) string {
	if weight == 1 {
		return ""
	}
	return fmt.Sprintf(format, weight)
}

func proto(p uint8) string {
	switch p {
	case routing.Protocol:
		return ""
	case 4:
		return " proto static"
	}
	return fmt.Sprintf(" proto %d", p)
}
