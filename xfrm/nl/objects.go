package nl

import (
	"fmt"

	"github.com/mdlayher/netlink"

	"github.com/ipsecd/ipsecd/xfrm"
)

// AddSA installs an SA.
func (k *Kernel) AddSA(sa xfrm.SA) error { return k.putSA("add SA", msgNewSA, &sa) }

// UpdateSA changes limits, UDP ports and flags of an SA. The kernel wants the keys
// again: an SA without any gets those that are installed.
func (k *Kernel) UpdateSA(sa xfrm.SA) error {
	if keyless(&sa) {
		have, err := k.GetSA(sa.ID())
		if err != nil {
			return err
		}
		sa.AEAD, sa.Crypt, sa.Auth = have.AEAD, have.Crypt, have.Auth
	}
	return k.putSA("update SA", msgUpdSA, &sa)
}

func keyless(sa *xfrm.SA) bool {
	return (sa.AEAD == nil || len(sa.AEAD.Key) == 0) && (sa.Auth == nil || len(sa.Auth.Key) == 0)
}

func (k *Kernel) putSA(op string, typ netlink.HeaderType, sa *xfrm.SA) error {
	if err := sa.Check(); err != nil {
		return err
	}
	if sa.NATKeepalive != 0 {
		if err := k.features.Require(xfrm.NATKeepalive); err != nil {
			return err
		}
	}
	if sa.MappingThreshold != 0 {
		if err := k.features.Require(xfrm.MappingThreshold); err != nil {
			return err
		}
	}
	object := fmt.Sprintf("%v->%v %v spi %v", sa.Src, sa.Dst, sa.Proto, sa.SPI)
	ifindex, err := k.ifindex(sa.Selector.Interface)
	if err != nil {
		return kernelError(op, object, err)
	}
	device, err := k.offloadIndex(sa.Offload)
	if err != nil {
		return kernelError(op, object, err)
	}
	w := builder{b: appendSA(sa, ifindex, k.features)}
	w.offload(sa.Offload, device, sa.Dst, sa.Dir)
	defer clear(w.b)
	return kernelError(op, object, k.conn.do(typ, 0, w.b))
}

// DelSA removes an SA.
func (k *Kernel) DelSA(id xfrm.SAID) error {
	return kernelError("delete SA", id.String(), k.conn.do(msgDelSA, 0, appendSAID(id)))
}

// GetSA reads one SA.
func (k *Kernel) GetSA(id xfrm.SAID) (xfrm.SAInfo, error) {
	body, err := k.conn.get(msgGetSA, appendSAID(id))
	if err != nil {
		return xfrm.SAInfo{}, kernelError("get SA", id.String(), err)
	}
	sa, ifindex, err := parseSA(body)
	if err != nil {
		return xfrm.SAInfo{}, err
	}
	sa.Selector.Interface = k.ifname(ifindex)
	k.nameOffload(sa.Offload)
	return sa, nil
}

// SAs dumps all SAs.
func (k *Kernel) SAs() ([]xfrm.SAInfo, error) {
	msgs, err := k.conn.dump(msgGetSA)
	if err != nil {
		return nil, kernelError("dump", "SAs", err)
	}
	names := nameCache{k: k}
	out := make([]xfrm.SAInfo, 0, len(msgs))
	for _, m := range msgs {
		sa, ifindex, err := parseSA(m.Data)
		if err != nil {
			return nil, err
		}
		if sa.SPI == 0 {
			continue // a placeholder while an acquire is under way
		}
		sa.Selector.Interface = names.get(ifindex)
		k.nameOffload(sa.Offload)
		out = append(out, sa)
	}
	return out, nil
}

// AddPolicy installs a policy.
func (k *Kernel) AddPolicy(p xfrm.Policy) error { return k.putPolicy("add policy", msgNewPolicy, &p) }

// UpdatePolicy installs a policy or replaces the one of the same ID.
func (k *Kernel) UpdatePolicy(p xfrm.Policy) error {
	return k.putPolicy("update policy", msgUpdPolicy, &p)
}

func (k *Kernel) putPolicy(op string, typ netlink.HeaderType, p *xfrm.Policy) error {
	if err := p.Check(); err != nil {
		return err
	}
	ifindex, err := k.ifindex(p.Selector.Interface)
	if err != nil {
		return kernelError(op, p.ID().String(), err)
	}
	device, err := k.offloadIndex(p.Offload)
	if err == nil {
		w := builder{b: appendPolicy(p, ifindex)}
		w.offload(p.Offload, device, p.Selector.Dst.Addr(), p.Dir)
		err = k.conn.do(typ, 0, w.b)
	}
	return kernelError(op, p.ID().String(), err)
}

// DelPolicy removes a policy.
func (k *Kernel) DelPolicy(id xfrm.PolicyID) error {
	ifindex, err := k.ifindex(id.Selector.Interface)
	if err == nil {
		err = k.conn.do(msgDelPolicy, 0, appendPolicyID(id, ifindex))
	}
	return kernelError("delete policy", id.String(), err)
}

// Policies dumps all policies but those of sockets.
func (k *Kernel) Policies() ([]xfrm.PolicyInfo, error) {
	msgs, err := k.conn.dump(msgGetPolicy)
	if err != nil {
		return nil, kernelError("dump", "policies", err)
	}
	names := nameCache{k: k}
	out := make([]xfrm.PolicyInfo, 0, len(msgs))
	for _, m := range msgs {
		p, ifindex, ok, err := parsePolicy(m.Data)
		if err != nil {
			return nil, err
		}
		if ok {
			p.Selector.Interface = names.get(ifindex)
			k.nameOffload(p.Offload)
			out = append(out, p)
		}
	}
	return out, nil
}

// SetDefaults says what happens to packets without a policy.
func (k *Kernel) SetDefaults(d xfrm.Defaults) error {
	if err := k.features.Require(xfrm.DefaultPolicy); err != nil {
		return err
	}
	return kernelError("set", "default policy", k.conn.do(msgSetDefault, 0, appendDefaults(d)))
}

// appendDefaults returns an xfrm_userpolicy_default.
func appendDefaults(d xfrm.Defaults) []byte {
	b := make([]byte, sizePolicyDefault)
	for i, block := range []bool{d.BlockIn, d.BlockFwd, d.BlockOut} {
		b[i] = defaultAccept
		if block {
			b[i] = defaultBlock
		}
	}
	return b
}
