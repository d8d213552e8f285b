package config

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/ipsecd/ipsecd/cmd/internal/config/settings"
	"github.com/ipsecd/ipsecd/ike"
)

// maxPoolBits bounds the addresses of a pool, as charon does.
const maxPoolBits = 31

// poolAttributes are the attributes of a pool by their keys, with the types for the two address families (RFC 7296
// section 3.15.1, RFC 7651 for p_cscf; the others are vendors').
var poolAttributes = map[string]struct{ v4, v6 uint16 }{
	"address": {1, 8}, "dns": {3, 10}, "nbns": {4, 11}, "dhcp": {6, 12}, "netmask": {2, 9},
	"server": {23456, 23457}, "subnet": {13, 15}, "p_cscf": {20, 21},
	"split_include": {28676, 28676}, "split_exclude": {28678, 28678},
}

// pools reads the section of that name: the virtual addresses of peers.
func (l *loader) pools(sec *settings.Section) {
	for _, k := range sec.Keys() {
		l.fail(k.Value.Position, "found the key %s, expected sections such as rw { addrs = 10.3.0.0/24 }", k.Name)
	}
	for _, s := range sec.Sections() {
		l.pool(s)
	}
}

func (l *loader) pool(s *settings.Section) {
	r := l.section(s, "pools.*", "pools."+s.Name)
	p := &ike.Pool{Name: s.Name, Source: s.Position.String()}
	if _, ok := r.value("addrs"); !ok {
		r.fail(s.Position, "%s has no addrs; expected a network such as addrs = 10.3.0.0/24, or a range", r.path)
	}
	read(r, "addrs", p, func(text string) (ike.Pool, error) {
		base, size, err := poolRange(text)
		p.Base, p.Size = base, size
		return *p, err
	})
	for key := range poolAttributes {
		r.known[key] = true
	}
	for _, k := range s.Keys() {
		types, known := poolAttributes[k.Name]
		if !known {
			n, err := strconv.ParseUint(k.Name, 10, 15)
			if err != nil || n == 0 {
				continue // finish says so
			}
			r.known[k.Name] = true
			types.v4, types.v6 = uint16(n), uint16(n)
		}
		for _, item := range split(k.Value.Text) {
			a, err := poolAttribute(item, types.v4, types.v6, !known)
			if err != nil {
				r.fail(k.Value.Position, "%s = %q: %v", r.key(k.Name), item, err)
				continue
			}
			p.Attributes = append(p.Attributes, a)
		}
	}
	r.finish()
	l.config.IKE.Pools = append(l.config.IKE.Pools, p)
}

// SameAddresses reports whether a section describes a pool of the addresses that p has. One in error does not: it is
// for who reads it to say so.
func SameAddresses(p *ike.Pool, s *settings.Section) bool {
	v, _ := s.Value("addrs")
	base, size, err := poolRange(v.Text)
	return err == nil && base == p.Base && size == p.Size
}

// poolRange reads addrs: a network, of which the first and the last address are left out, or less of it from an
// address in it on; a range; or one address. "%config" leaves the choice to the peer.
func poolRange(s string) (base netip.Addr, size uint32, err error) {
	if s == "%config" {
		return netip.Addr{}, 0, nil
	}
	if first, last, ok := parseRange(s); ok {
		return addressRange(first, last)
	}
	if a, err := netip.ParseAddr(s); err == nil && a.Zone() == "" {
		return a.Unmap(), 1, nil
	}
	p, err := netip.ParsePrefix(s)
	if err != nil {
		return base, 0, errors.New("expected a network such as 10.3.0.0/24, or a range such as 10.3.0.10-10.3.0.20")
	}
	base = p.Addr()
	bits := min(base.BitLen()-p.Bits(), maxPoolBits)
	b := base.AsSlice()
	host := binary.BigEndian.Uint32(b[len(b)-4:]) & (1<<bits - 1)
	size = 1<<bits - host
	if bits > 1 {
		if host == 0 {
			base, size = base.Next(), size-1
		}
		size--
	}
	if size == 0 {
		return base, 0, errors.New("there is no address for a peer in it")
	}
	return base, size, nil
}

func addressRange(first, last netip.Addr) (netip.Addr, uint32, error) {
	if err := checkRange(first, last); err != nil {
		return first, 0, err
	}
	a, b := first.AsSlice(), last.AsSlice()
	n := len(a) - 4
	size := uint64(binary.BigEndian.Uint32(b[n:])) - uint64(binary.BigEndian.Uint32(a[n:])) + 1
	if !slices.Equal(a[:n], b[:n]) || size > math.MaxInt32 {
		return first, 0, errors.New("the range is too large")
	}
	return first, uint32(size), nil
}

// poolAttribute encodes an address, or a network as strongSwan does: with a netmask or a prefix length. Attributes that are
// numbered may be anything.
func poolAttribute(s string, v4, v6 uint16, raw bool) (ike.PoolAttribute, error) {
	p, err := netip.ParsePrefix(s)
	if err != nil {
		a, err := netip.ParseAddr(s)
		switch {
		case err == nil && a.Unmap().Is4():
			return ike.PoolAttribute{Type: v4, Value: string(a.Unmap().AsSlice())}, nil
		case err == nil && a.Zone() == "":
			return ike.PoolAttribute{Type: v6, Value: string(a.AsSlice())}, nil
		case !raw:
			return ike.PoolAttribute{}, errors.New("expected an address or a network")
		}
		if octets, ok := blob(s); ok {
			s = string(octets)
		}
		return ike.PoolAttribute{Type: v4, Value: s}, nil
	}
	if p.Addr().Is4() {
		return ike.PoolAttribute{Type: v4, Value: string(append(p.Addr().AsSlice(), net.CIDRMask(p.Bits(), 32)...))}, nil
	}
	return ike.PoolAttribute{Type: v6, Value: string(append(p.Addr().AsSlice(), byte(p.Bits())))}, nil
}

// parseVIP reads an address to ask the peer for.
func parseVIP(s string) (netip.Addr, error) {
	switch s {
	case "%any", "%any4":
		return netip.IPv4Unspecified(), nil
	case "%any6":
		return netip.IPv6Unspecified(), nil
	}
	a, err := netip.ParseAddr(s)
	if err != nil || a.Zone() != "" {
		return a, errors.New("expected an address, or 0.0.0.0 or :: for any")
	}
	return a.Unmap(), nil
}

// checkPools points out pools that give the same addresses, and connections that name what is none.
func (l *loader) checkPools() {
	pools := l.config.IKE.Pools
	for i, p := range pools {
		for _, o := range pools[:i] {
			if p.Overlaps(o) {
				l.warn(positionOf(p.Source), "pools.%s and pools.%s have addresses in common; expected pools of their own addresses", p.Name, o.Name)
			}
		}
	}
	for _, c := range l.config.IKE.Connections {
		for _, name := range c.Pools {
			if !slices.ContainsFunc(pools, func(p *ike.Pool) bool { return p.Name == name }) {
				l.warn(place(c), "connections.%s: there is no pool %s; peers get no address from it", c.Name, name)
			}
		}
	}
}

// VirtualIPs says what is done with the virtual addresses that peers assign to us: options of strongswan.conf.
type VirtualIPs struct {
	Install   bool
	Interface string // empty: the one of the IKE SA's address
}

func (l *loader) virtualIPs(r *reader) {
	read(r, "install_virtual_ip", &l.config.Routing.VirtualIPs.Install, parseBool)
	read(r, "install_virtual_ip_on", &l.config.Routing.VirtualIPs.Interface, func(s string) (string, error) {
		if s == "" || len(s) > 15 || strings.ContainsAny(s, "/ ") {
			return "", fmt.Errorf("expected the name of an interface")
		}
		return s, nil
	})
}
