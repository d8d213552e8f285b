package xfrmtest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ipsecd/ipsecd/xfrm"
)

// String returns the state in sorted lines like those of ip-xfrm(8) and
// ip-link(8), one per object, without keys, indices and counters.
func (k *Kernel) String() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	var lines []string
	for _, sa := range k.sas {
		lines = append(lines, saLine(&sa.SA))
	}
	for _, p := range k.policies {
		lines = append(lines, policyLine(&p.Policy))
	}
	for _, l := range k.links {
		lines = append(lines, linkLine(&l.Interface))
	}
	if k.defaults != (xfrm.Defaults{}) {
		lines = append(lines, defaultLine(k.defaults))
	}
	slices.Sort(lines)
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

// line collects words.
type line struct{ strings.Builder }

func (l *line) addf(format string, args ...any) {
	if l.Len() > 0 {
		l.WriteByte(' ')
	}
	_, _ = fmt.Fprintf(l, format, args...)
}

func saLine(sa *xfrm.SA) string {
	var l line
	l.addf("state src %v dst %v proto %v spi %v reqid %d mode %v", sa.Src, sa.Dst, sa.Proto, sa.SPI, sa.ReqID, sa.Mode)
	l.addf("replay-window %d", sa.ReplayWindow)
	if sa.ESN {
		l.addf("flag esn")
	}
	if a := sa.AEAD; a != nil {
		l.addf("aead %s %d", a.Name, a.ICVBits)
	}
	if a := sa.Auth; a != nil {
		l.addf("auth-trunc %s %d", a.Name, a.TruncBits)
	}
	if a := sa.Crypt; a != nil {
		l.addf("enc %s", a.Name)
	}
	if e := sa.Encap; e != nil {
		l.addf("encap type espinudp sport %d dport %d", e.SrcPort, e.DstPort)
	}
	if !sa.Mark.IsZero() {
		l.addf("mark %v", sa.Mark)
	}
	if !sa.OutputMark.IsZero() {
		l.addf("output-mark %v", sa.OutputMark)
	}
	if sa.IfID != 0 {
		l.addf("if_id %#x", sa.IfID)
	}
	if sa.Selector != (xfrm.Selector{}) {
		l.addf("sel %v", sa.Selector)
	}
	if sa.Dir != 0 {
		l.addf("dir %v", sa.Dir)
	}
	if sa.CPU.Bound {
		l.addf("pcpu-num %d", sa.CPU.Number)
	}
	return l.String()
}

func policyLine(p *xfrm.Policy) string {
	var l line
	l.addf("policy %v dir %v", p.Selector, p.Dir)
	if p.Action == xfrm.Block {
		l.addf("action block")
	}
	l.addf("priority %d", p.Priority)
	if p.PerCPU {
		l.addf("flag cpu_acquire")
	}
	if !p.Mark.IsZero() {
		l.addf("mark %v", p.Mark)
	}
	for _, t := range p.Templates {
		l.addf("tmpl")
		if t.Src.IsValid() || t.Dst.IsValid() {
			l.addf("src %v dst %v", t.Src, t.Dst)
		}
		l.addf("proto %v reqid %d mode %v", t.Proto, t.ReqID, t.Mode)
		if t.SPI != 0 {
			l.addf("spi %v", t.SPI)
		}
		if t.Optional {
			l.addf("level use")
		}
	}
	if p.IfID != 0 {
		l.addf("if_id %#x", p.IfID)
	}
	return l.String()
}

func linkLine(i *xfrm.Interface) string {
	var l line
	state := "down"
	if i.Up {
		state = "up"
	}
	l.addf("link %s mtu %d state %s", i.Name, i.MTU, state)
	if i.Alias != "" {
		l.addf("alias %s", i.Alias)
	}
	l.addf("xfrm if_id %#x", i.IfID)
	if i.Parent != "" {
		l.addf("dev %s", i.Parent)
	}
	for _, a := range i.Addresses {
		l.addf("addr %v", a.Prefix)
		if a.Peer.IsValid() {
			l.addf("peer %v", a.Peer)
		}
	}
	return l.String()
}

func defaultLine(d xfrm.Defaults) string {
	word := func(block bool) string {
		if block {
			return "block"
		}
		return "accept"
	}
	return fmt.Sprintf("default in %s fwd %s out %s", word(d.BlockIn), word(d.BlockFwd), word(d.BlockOut))
}
