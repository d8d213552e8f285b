package xfrmtest

import (
	"cmp"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/ipsecd/ipsecd/xfrm"
)

// defaultMTU is an XFRM interface's without a parent, in bytes.
const defaultMTU = 1500

// AddDevice adds a network device that is not an XFRM interface.
func (k *Kernel) AddDevice(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.devices[name] = k.nextLink
	k.nextLink++
}

// exists reports whether a device exists; no name is no device to look for.
func (k *Kernel) exists(name string) bool {
	return name == "" || k.devices[name] != 0 || k.links[name] != nil
}

// AddInterface creates an interface, down.
func (k *Kernel) AddInterface(i xfrm.Interface) error {
	return k.call("add interface", i.Name, func() error {
		if err := k.features.Require(xfrm.XFRMInterfaces); err != nil {
			return err
		}
		switch {
		case len(i.Name) == 0 || len(i.Name) >= unix.IFNAMSIZ:
			return unix.EINVAL
		case i.IfID == 0:
			return refusal("if_id must be non zero")
		case k.exists(i.Name):
			return unix.EEXIST
		case !k.exists(i.Parent):
			return unix.ENODEV
		}
		for _, o := range k.links {
			if o.IfID == i.IfID {
				return unix.EEXIST
			}
		}
		i.Up = false
		if i.MTU == 0 {
			i.MTU = defaultMTU
		}
		i.MSS = 0 // not the kernel's
		i.Addresses = slices.Clone(i.Addresses)
		k.links[i.Name] = &xfrm.InterfaceInfo{Interface: i, Index: k.nextLink}
		k.nextLink++
		k.linkEvent(i.Name)
		return nil
	})
}

// UpdateInterface changes MTU and addresses.
func (k *Kernel) UpdateInterface(i xfrm.Interface) error {
	return k.call("update interface", i.Name, func() error {
		l := k.links[i.Name]
		if l == nil {
			return unix.ENODEV
		}
		if i.MTU != 0 {
			l.MTU = i.MTU
		}
		add, del := xfrm.DiffAddresses(i.Addresses, l.Addresses)
		if i.Alias == "" {
			del = nil
		}
		l.Addresses = slices.DeleteFunc(append(l.Addresses, add...), func(a xfrm.Address) bool { return slices.Contains(del, a) })
		k.linkEvent(i.Name)
		return nil
	})
}

// SetInterfaceUp raises or lowers an interface.
func (k *Kernel) SetInterfaceUp(name string, up bool) error {
	op := "lower interface"
	if up {
		op = "raise interface"
	}
	return k.call(op, name, func() error {
		l := k.links[name]
		if l == nil {
			return unix.ENODEV
		}
		l.Up = up
		k.linkEvent(name)
		return nil
	})
}

// DelInterface removes an interface.
func (k *Kernel) DelInterface(name string) error {
	return k.call("delete interface", name, func() error {
		l := k.links[name]
		if l == nil {
			return unix.ENODEV
		}
		delete(k.links, name)
		k.emit(xfrm.LinkEvent{Index: l.Index, Name: name, Deleted: true})
		return nil
	})
}

// Interfaces returns every XFRM interface by name.
func (k *Kernel) Interfaces() ([]xfrm.InterfaceInfo, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.sortedLinks(), nil
}

func (k *Kernel) sortedLinks() []xfrm.InterfaceInfo {
	out := make([]xfrm.InterfaceInfo, 0, len(k.links))
	for _, l := range k.links {
		c := *l
		c.Addresses = slices.Clone(l.Addresses)
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b xfrm.InterfaceInfo) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

func (k *Kernel) linkEvent(name string) {
	l := k.links[name]
	k.emit(xfrm.LinkEvent{Index: l.Index, Name: name, Up: l.Up, Running: l.Up})
}
