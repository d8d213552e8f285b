package show

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ipsecd/ipsecd/xfrm"
)

func policies(list []xfrm.Policy) []Policy {
	out := []Policy{}
	for i := range list {
		out = append(out, policy(&list[i]))
	}
	slices.SortFunc(out, func(a, b Policy) int {
		return cmp.Or(cmp.Compare(a.IfID, b.IfID), cmp.Compare(a.ReqID, b.ReqID), cmp.Compare(a.Direction, b.Direction),
			cmp.Compare(a.Source, b.Source), cmp.Compare(a.Dest, b.Dest), cmp.Compare(a.Device, b.Device))
	})
	return out
}

func policy(p *xfrm.Policy) Policy {
	out := Policy{
		Direction: p.Dir.String(),
		Source:    p.Selector.Src.String(),
		Dest:      p.Selector.Dst.String(),
		Protocol:  p.Selector.Proto,
		SrcPort:   port(p.Selector.SrcPort, p.Selector.SrcPortMask),
		DstPort:   port(p.Selector.DstPort, p.Selector.DstPortMask),
		Device:    p.Selector.Interface,
		Action:    p.Action.String(),
		Priority:  p.Priority,
		IfID:      p.IfID,
	}
	if len(p.Templates) == 0 {
		return out
	}
	t := p.Templates[0]
	out.Action, out.ReqID, out.Mode = actionProtect, t.ReqID, t.Mode.String()
	if t.Src.IsValid() {
		out.Local, out.Peer = t.Src.String(), t.Dst.String()
		if p.Dir != xfrm.DirOut {
			out.Local, out.Peer = out.Peer, out.Local
		}
	}
	return out
}

func port(p, mask uint16) string {
	switch mask {
	case 0:
		return ""
	case 0xffff:
		return fmt.Sprint(p)
	}
	return fmt.Sprintf("%d/%#x", p, mask)
}

// actionProtect stands for a policy with a template: packets go through ESP.
const actionProtect = "protect"
