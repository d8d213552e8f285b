package daemon

import (
	"errors"
	"net/netip"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/ipsecd/ipsecd/cmd/internal/config"
	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/routing/vaddr"
)

// linkAddrs is a kernel with two links; an address of ours is on one of them.
type linkAddrs struct{ ours map[vaddr.Address]bool }

func (*linkAddrs) LinkOf(a netip.Addr) (int, error) {
	if a.String() == "192.0.2.1" {
		return 1, nil
	}
	return 0, errors.New("nowhere")
}
func (*linkAddrs) LinkNamed(string) (int, error) { return 2, nil }
func (k *linkAddrs) Ours() (list []vaddr.Address, err error) {
	for a := range k.ours {
		list = append(list, a)
	}
	return list, nil
}
func (k *linkAddrs) Add(a vaddr.Address) (bool, error) { k.ours[a] = true; return true, nil }
func (k *linkAddrs) Delete(a vaddr.Address) error      { delete(k.ours, a); return nil }

// An address stays while one of two IKE SAs has it, moves with the configuration, and is gone after the end, also where an
// earlier run has left it.
func TestVirtualAddresses(t *testing.T) {
	vip := netip.MustParseAddr("10.3.0.1")
	on1, on2 := vaddr.Address{Addr: vip, Link: 1}, vaddr.Address{Addr: vip, Link: 2}
	k := &linkAddrs{ours: map[vaddr.Address]bool{{Addr: netip.MustParseAddr("10.3.0.9"), Link: 1}: true}}
	r := newRig(t)
	r.virtual.kernel = k
	only := func(when string, want ...vaddr.Address) {
		t.Helper()
		if len(k.ours) != len(want) || len(want) > 0 && !k.ours[want[0]] {
			t.Errorf("%s: %v, expected %v", when, k.ours, want)
		}
	}
	set := func(id uint32, addrs ...netip.Addr) {
		r.perform(ike.VirtualAddrs{IKEID: id, Local: netip.MustParseAddr("192.0.2.1"), Addrs: addrs})
	}
	configure := func(c config.VirtualIPs) {
		t.Helper()
		if err := r.virtual.configure(c); err != nil {
			t.Fatal(err)
		}
	}
	configure(config.VirtualIPs{Install: true})
	only("at start")
	set(1, vip)
	only("assigned", on1)
	set(2, vip)
	set(1)
	only("on another IKE SA", on1)
	configure(config.VirtualIPs{Install: true, Interface: "dummy"})
	only("install_virtual_ip_on", on2)
	configure(config.VirtualIPs{})
	only("install_virtual_ip = no")
	configure(config.VirtualIPs{Install: true})
	clear(k.ours)
	if err := r.virtual.audit(); err != nil {
		t.Fatal(err)
	}
	only("after somebody took it away", on1)
	set(2)
	only("after the last IKE SA")
	set(3, vip)
	if err := r.clear(); err != nil {
		t.Fatal(err)
	}
	set(3, vip)
	only("after a stop")
}

// IKE does not speak from a virtual address, though a route says so.
func TestOwnAddress(t *testing.T) {
	addr := func(s string, flags int) netlink.Addr {
		a, err := netlink.ParseAddr(s)
		if err != nil {
			t.Fatal(err)
		}
		a.Flags = flags
		return *a
	}
	list := []netlink.Addr{addr("10.3.0.1/32", unix.IFA_F_DEPRECATED), addr("2001:db8::1/64", 0), addr("192.0.2.1/24", 0), addr("192.0.2.2/24", 0)}
	for from, want := range map[string]string{"10.3.0.1": "192.0.2.1", "192.0.2.2": "192.0.2.2", "198.51.100.1": "198.51.100.1"} {
		if got := ownAddress(netip.MustParseAddr(from), list); got.String() != want {
			t.Errorf("in the place of %s: %v, expected %s", from, got, want)
		}
	}
}
