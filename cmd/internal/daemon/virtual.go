package daemon

import (
	"cmp"
	"slices"

	"github.com/ipsecd/ipsecd/cmd/internal/config"
	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/routing/vaddr"
)

// virtualAddrs are the virtual addresses that peers have assigned to us, by IKE SA.
type virtualAddrs struct {
	kernel  vaddr.Kernel // nil: never any
	conf    config.VirtualIPs
	manager *vaddr.Manager
	wants   map[uint32]ike.VirtualAddrs
}

// configure says whether and where the addresses are installed.
func (v *virtualAddrs) configure(c config.VirtualIPs) error {
	if v.kernel == nil || v.manager != nil && c == v.conf {
		return nil
	}
	var err error
	if v.manager != nil {
		err = v.manager.Set(nil)
	}
	v.conf, v.manager = c, vaddr.New(v.kernel, c.Interface)
	return cmp.Or(err, v.apply())
}

// set takes an action of the engine.
func (v *virtualAddrs) set(a ike.VirtualAddrs) error {
	if v.wants == nil {
		v.wants = map[uint32]ike.VirtualAddrs{}
	}
	if v.wants[a.IKEID] = a; len(a.Addrs) == 0 {
		delete(v.wants, a.IKEID)
	}
	return v.apply()
}

// list returns what is to be installed, in a fixed order.
func (v *virtualAddrs) list() []vaddr.Want {
	var list []vaddr.Want
	if !v.conf.Install {
		return nil
	}
	for _, a := range v.wants {
		for _, addr := range a.Addrs {
			list = append(list, vaddr.Want{Addr: addr, Local: a.Local})
		}
	}
	slices.SortFunc(list, func(a, b vaddr.Want) int { return cmp.Or(a.Addr.Compare(b.Addr), a.Local.Compare(b.Local)) })
	return list
}

func (v *virtualAddrs) apply() error {
	if v.manager == nil {
		return nil
	}
	return v.manager.Set(v.list())
}

// audit puts back what somebody has taken away.
func (v *virtualAddrs) audit() error {
	if v.manager == nil {
		return nil
	}
	return v.manager.Refresh(v.list())
}

// clear takes them away. Nothing puts them back.
func (v *virtualAddrs) clear() error {
	m := v.manager
	if m == nil {
		return nil
	}
	v.manager, v.kernel = nil, nil
	return m.Set(nil)
}
