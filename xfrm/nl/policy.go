package nl

import (
	"github.com/ipsecd/ipsecd/xfrm"
)

// dirToKernel and dirFromKernel translate directions of policies.
var (
	dirToKernel   = map[xfrm.Dir]uint8{xfrm.DirIn: 0, xfrm.DirOut: 1, xfrm.DirFwd: 2}
	dirFromKernel = [3]xfrm.Dir{xfrm.DirIn, xfrm.DirOut, xfrm.DirFwd}
)

// appendPolicy returns the body of XFRM_MSG_NEWPOLICY and UPDPOLICY: an
// xfrm_userpolicy_info and attributes.
func appendPolicy(p *xfrm.Policy, ifindex int) []byte {
	w := builder{b: make([]byte, sizePolicyInfo, 512)}
	b := w.b
	putSelector(b[0:], p.Selector, ifindex)
	putLimits(b[56:], xfrm.Limits{})
	ne.PutUint32(b[152:], p.Priority)
	ne.PutUint32(b[156:], p.Index)
	b[160] = dirToKernel[p.Dir]
	b[161] = uint8(p.Action)
	if p.ICMP {
		b[162] |= policyFlagICMP
	}
	if p.PerCPU {
		b[162] |= policyFlagPerCPU
	}
	if len(p.Templates) > 0 {
		t := make([]byte, sizeTmpl*len(p.Templates))
		for i := range p.Templates {
			putTmpl(t[sizeTmpl*i:], &p.Templates[i], family(p.Selector.Dst.Addr()))
		}
		w.attr(attrTmpl, t)
	}
	w.mark(p.Mark)
	w.ifID(p.IfID)
	return w.b
}

// putTmpl writes an xfrm_user_tmpl of 64 bytes. Its family is that of its
// addresses; without any it is inner, the selector's.
func putTmpl(b []byte, t *xfrm.Template, inner uint16) {
	fam := family(t.Dst)
	if fam == 0 {
		fam = family(t.Src)
	}
	if fam == 0 {
		fam = inner
	}
	putID(b, t.Dst, t.SPI, t.Proto)
	ne.PutUint16(b[24:], fam)
	putAddr(b[28:], t.Src)
	ne.PutUint32(b[44:], t.ReqID)
	b[48] = uint8(t.Mode)
	if t.Optional {
		b[50] = 1
	}
	// Any algorithm: what protects the traffic was negotiated.
	for off := 52; off < sizeTmpl; off += 4 {
		ne.PutUint32(b[off:], ^uint32(0))
	}
}

func getTmpl(b []byte) xfrm.Template {
	fam := ne.Uint16(b[24:])
	return xfrm.Template{
		Dst:      getAddrOrAny(b, fam),
		SPI:      xfrm.SPI(be.Uint32(b[16:])),
		Proto:    xfrm.Proto(b[20]),
		Src:      getAddrOrAny(b[28:], fam),
		ReqID:    ne.Uint32(b[44:]),
		Mode:     xfrm.Mode(b[48]),
		Optional: b[50] != 0,
	}
}

// appendPolicyID returns the body of XFRM_MSG_GETPOLICY and DELPOLICY.
func appendPolicyID(id xfrm.PolicyID, ifindex int) []byte {
	w := builder{b: make([]byte, sizePolicyID, 96)}
	putSelector(w.b[0:], id.Selector, ifindex)
	w.b[60] = dirToKernel[id.Dir]
	w.mark(id.Mark)
	w.ifID(id.IfID)
	return w.b
}

// parsePolicy reads an xfrm_userpolicy_info and its attributes. ok is false for
// policies of sockets and of the sub type, which are not ours to see.
func parsePolicy(b []byte) (p xfrm.PolicyInfo, ifindex int, ok bool, err error) {
	if len(b) < sizePolicyInfo {
		return xfrm.PolicyInfo{}, 0, false, short("policy", b, sizePolicyInfo)
	}
	p, ifindex, ok = parsePolicyInfo(b)
	err = attrs(b[sizePolicyInfo:], func(typ uint16, d []byte) error {
		if typ == attrPolicyType && d[0] != policyTypeMain {
			ok = false
		}
		return parsePolicyAttr(&p, typ, d)
	})
	if err != nil || !ok {
		return xfrm.PolicyInfo{}, 0, false, err
	}
	return p, ifindex, true, nil
}

// parsePolicyInfo reads the fixed structure, of full length.
func parsePolicyInfo(b []byte) (p xfrm.PolicyInfo, ifindex int, ok bool) {
	p.Selector, ifindex = getSelector(b)
	p.Counters = getCounters(b[120:])
	p.Priority = ne.Uint32(b[152:])
	p.Index = ne.Uint32(b[156:])
	if int(b[160]) >= len(dirFromKernel) {
		return p, ifindex, false
	}
	p.Dir = dirFromKernel[b[160]]
	p.Action = xfrm.Action(b[161])
	p.ICMP, p.PerCPU = b[162]&policyFlagICMP != 0, b[162]&policyFlagPerCPU != 0
	return p, ifindex, true
}

func parsePolicyAttr(p *xfrm.PolicyInfo, typ uint16, d []byte) error {
	switch typ {
	case attrTmpl:
		if len(d)%sizeTmpl != 0 || len(d) > sizeTmpl*xfrm.MaxTemplates {
			return short("policy templates", d, (len(d)/sizeTmpl+1)*sizeTmpl)
		}
		for ; len(d) > 0; d = d[sizeTmpl:] {
			p.Templates = append(p.Templates, getTmpl(d))
		}
	case attrOffloadDev:
		p.Offload = parseOffload(d)
	case attrMark:
		p.Mark = getMark(d)
	case attrIfID:
		p.IfID = ne.Uint32(d)
	}
	return nil
}
