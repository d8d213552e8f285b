package xfrmtest

import (
	"slices"

	"golang.org/x/sys/unix"

	"github.com/ipsecd/ipsecd/xfrm"
)

// AddPolicy installs a policy.
func (k *Kernel) AddPolicy(p xfrm.Policy) error {
	return k.call("add policy", p.ID().String(), func() error { return k.putPolicy(p, true) })
}

// UpdatePolicy installs or replaces a policy. Like the kernel, it keeps the index
// of the one it replaces.
func (k *Kernel) UpdatePolicy(p xfrm.Policy) error {
	return k.call("update policy", p.ID().String(), func() error { return k.putPolicy(p, false) })
}

func (k *Kernel) putPolicy(p xfrm.Policy, exclusive bool) error {
	if err := p.Check(); err != nil {
		return err
	}
	if !k.exists(p.Selector.Interface) {
		return unix.ENODEV
	}
	p.Templates = slices.Clone(p.Templates)
	if i := k.findPolicy(p.ID()); i >= 0 {
		if exclusive {
			return unix.EEXIST
		}
		p.Index = k.policies[i].Index
		k.policies[i] = &xfrm.PolicyInfo{Policy: p}
		return nil
	}
	taken := slices.ContainsFunc(k.policies, func(o *xfrm.PolicyInfo) bool { return o.Index == p.Index })
	if p.Index == 0 || taken {
		k.nextIdx += 8
		p.Index = k.nextIdx | uint32(p.Dir-1)
	}
	k.policies = append(k.policies, &xfrm.PolicyInfo{Policy: p})
	return nil
}

func (k *Kernel) findPolicy(id xfrm.PolicyID) int {
	return slices.IndexFunc(k.policies, func(p *xfrm.PolicyInfo) bool { return p.ID() == id })
}

// DelPolicy removes a policy.
func (k *Kernel) DelPolicy(id xfrm.PolicyID) error {
	return k.call("delete policy", id.String(), func() error {
		i := k.findPolicy(id)
		if i < 0 {
			return unix.ENOENT
		}
		k.policies = slices.Delete(k.policies, i, i+1)
		return nil
	})
}

// Policies returns every policy in order of installation.
func (k *Kernel) Policies() ([]xfrm.PolicyInfo, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	out := make([]xfrm.PolicyInfo, 0, len(k.policies))
	for _, p := range k.policies {
		c := *p
		c.Templates = slices.Clone(p.Templates)
		out = append(out, c)
	}
	return out, nil
}
