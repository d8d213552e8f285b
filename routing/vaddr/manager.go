package vaddr

import (
	"errors"
	"fmt"
	"net/netip"
)

// Address is a virtual address on a link.
type Address struct {
	Addr netip.Addr
	Link int // index
}

// Kernel is the kernel's addresses in one network namespace.
type Kernel interface {
	// LinkOf returns the link that has an address, and LinkNamed the one of a name.
	LinkOf(netip.Addr) (int, error)
	LinkNamed(string) (int, error)
	// Ours lists the addresses with our protocol number.
	Ours() ([]Address, error)
	// Add adds an address. It reports whether the address was not there before.
	Add(Address) (added bool, err error)
	// Delete removes an address; one that is gone is no error.
	Delete(Address) error
}

// Want is a virtual address, and the outer address on whose link it belongs.
type Want struct{ Addr, Local netip.Addr }

// Manager keeps the addresses equal to what is wanted. It belongs to one goroutine.
type Manager struct {
	kernel Kernel
	on     string           // the link for all; empty: each by its outer address
	have   map[Address]bool // that we have added
	taken  bool             // those of an earlier run are among them
}

// New makes a Manager that puts everything on the link of that name, or without a name on the links of the outer addresses. It
// touches nothing yet.
func New(k Kernel, on string) *Manager {
	return &Manager{kernel: k, on: on, have: map[Address]bool{}}
}

// Set makes the addresses those wanted; new ones come first.
func (m *Manager) Set(wants []Want) error {
	var errs []error
	if !m.taken {
		old, err := m.kernel.Ours()
		for _, a := range old {
			m.have[a] = true
		}
		m.taken = err == nil
		errs = append(errs, err)
	}
	want := map[Address]bool{}
	for _, w := range wants {
		link, err := m.link(w.Local)
		if err != nil {
			errs = append(errs, fmt.Errorf("virtual address %v: %w", w.Addr, err))
			continue
		}
		a := Address{w.Addr, link}
		want[a] = true
		if m.have[a] {
			continue
		}
		added, err := m.kernel.Add(a)
		if err != nil {
			errs = append(errs, fmt.Errorf("virtual address %v: %w", w.Addr, err))
		} else if added {
			m.have[a] = true
		}
	}
	for a := range m.have {
		if !want[a] {
			errs = append(errs, m.kernel.Delete(a))
			delete(m.have, a)
		}
	}
	return errors.Join(errs...)
}

// Refresh is Set that also puts back what somebody has taken away.
func (m *Manager) Refresh(wants []Want) error {
	err := m.Set(wants)
	for a := range m.have {
		if _, again := m.kernel.Add(a); again != nil {
			err = errors.Join(err, fmt.Errorf("virtual address %v: %w", a.Addr, again))
		}
	}
	return err
}

func (m *Manager) link(local netip.Addr) (int, error) {
	if m.on != "" {
		return m.kernel.LinkNamed(m.on)
	}
	return m.kernel.LinkOf(local)
}
