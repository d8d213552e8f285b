package daemon

import (
	"errors"
	"slices"

	"github.com/ipsecd/ipsecd/cmd/internal/config"
	"github.com/ipsecd/ipsecd/cmd/internal/status"
	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/xfrm"
)

// links are the configured xfrm interfaces. An interface is up exactly while a
// CHILD_SA of its if_id is installed: the router follows that.
type links struct {
	kernel xfrm.Kernel
	want   map[uint32]xfrm.Interface // by if_id
	users  map[uint32]map[status.ChildName]bool
}

func newLinks(k xfrm.Kernel) *links {
	return &links{kernel: k, want: map[uint32]xfrm.Interface{}, users: map[uint32]map[status.ChildName]bool{}}
}

// set replaces the configured interfaces and returns them as they shall be:
// those not in use are down.
func (l *links) set(list []config.Interface) []xfrm.Interface {
	l.want = map[uint32]xfrm.Interface{}
	var want []xfrm.Interface
	for _, c := range list {
		i := wantedInterface(c)
		i.Up = len(l.users[c.IfID]) > 0
		l.want[c.IfID] = i
		want = append(want, i)
	}
	return want
}

// wants says whether the configuration has an interface of that name.
func (l *links) wants(name string) bool {
	for _, i := range l.want {
		if i.Name == name {
			return true
		}
	}
	return false
}

// missing returns the configured interfaces that a dump lacks. Whether the others
// are up is left to whoever set them so.
func (l *links) missing(have []xfrm.InterfaceInfo) []xfrm.Interface {
	var out []xfrm.Interface
	for ifID, i := range l.want {
		there := slices.ContainsFunc(have, func(h xfrm.InterfaceInfo) bool { return h.Name == i.Name })
		if !there {
			i.Up = len(l.users[ifID]) > 0
			out = append(out, i)
		}
	}
	return out
}

func wantedInterface(c config.Interface) xfrm.Interface {
	i := xfrm.Interface{Name: c.Name, IfID: c.IfID, Parent: c.Link, MTU: c.MTU}
	for _, a := range c.Addresses {
		i.Addresses = append(i.Addresses, xfrm.Address{Prefix: a})
	}
	return i
}

// up raises the interface of a CHILD_SA.
func (l *links) up(c *ike.ChildSA) error {
	i, ok := l.want[c.IfIDOut]
	if !ok {
		return nil
	}
	l.use(c.IfIDOut, status.ChildName{Connection: c.Connection, Child: c.Config.Name})
	// The kernel forgets IPv6 addresses of an interface that goes down.
	return errors.Join(l.kernel.SetInterfaceUp(i.Name, true), l.kernel.UpdateInterface(i))
}

// use notes that a child uses the interface of an if_id.
func (l *links) use(ifID uint32, name status.ChildName) {
	if l.users[ifID] == nil {
		l.users[ifID] = map[status.ChildName]bool{}
	}
	l.users[ifID][name] = true
}

// down lowers the interface of a child, unless another child still uses it.
func (l *links) down(name status.ChildName) error {
	var errs []error
	for ifID, users := range l.users {
		if !users[name] {
			continue
		}
		delete(users, name)
		if i, ok := l.want[ifID]; ok && len(users) == 0 {
			errs = append(errs, gone(l.kernel.SetInterfaceUp(i.Name, false)))
		}
	}
	return errors.Join(errs...)
}
