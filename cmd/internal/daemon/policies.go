package daemon

import (
	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/xfrm"
)

// policies returns the policies of a CHILD_SA: in, forward and out for every
// pair of selectors.
func policies(c *ike.ChildSA) []xfrm.Policy {
	cfg := c.Config
	if !cfg.Policies {
		return nil
	}
	tmpl := xfrm.Template{Proto: xfrm.ESP, Mode: kernelMode(c.Mode), ReqID: c.ReqID}
	in, out := tmpl, tmpl
	if c.Mode == ike.ModeTunnel {
		in.Src, in.Dst = c.Remote, c.Local
		out.Src, out.Dst = c.Local, c.Remote
	}
	var list []xfrm.Policy
	for _, s := range selectors(c.LocalTS, c.RemoteTS) {
		s.Interface = cfg.PolicyInterface
		prio := cfg.Priority
		if prio == 0 {
			prio = xfrm.Priority(xfrm.ClassDefault, s)
		}
		inward := xfrm.Policy{
			Dir: xfrm.DirIn, Selector: reverse(s), IfID: c.IfIDIn, Mark: xfrm.Mark(c.MarkIn),
			Priority: prio, Templates: []xfrm.Template{in},
		}
		outward := xfrm.Policy{
			Dir: xfrm.DirOut, Selector: s, IfID: c.IfIDOut, Mark: xfrm.Mark(c.MarkOut),
			Priority: prio, Templates: []xfrm.Template{out}, ICMP: cfg.ForwardICMP, PerCPU: c.PerCPU,
		}
		list = append(list, inward, outward)
		if c.Mode != ike.ModeTunnel {
			continue
		}
		inward.Dir = xfrm.DirFwd
		list = append(list, inward)
		if cfg.ForwardOut {
			list = append(list, forwardOut(outward))
		}
	}
	return list
}

// forwardOut lets packets pass that are forwarded into the tunnel, where a policy for forwarded
// packets of the other direction, or one that drops, would match them. Its rank is below that of
// tunnels, so that it takes nothing from them.
func forwardOut(outward xfrm.Policy) xfrm.Policy {
	p := outward
	p.Dir, p.Templates, p.PerCPU = xfrm.DirFwd, nil, false
	if p.Priority = xfrm.Priority(xfrm.ClassRouted, p.Selector); outward.Priority >= p.Priority {
		p.Priority = outward.Priority + 1
	}
	return p
}
