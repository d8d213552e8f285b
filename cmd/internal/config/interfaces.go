package config

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"strings"

	"github.com/ipsecd/ipsecd/cmd/internal/config/settings"
	"github.com/ipsecd/ipsecd/cmd/internal/config/suggest"
	"github.com/ipsecd/ipsecd/ike"
)

// interfaces reads the section of that name.
func (l *loader) interfaces(sec *settings.Section) {
	for _, k := range sec.Keys() {
		l.fail(k.Value.Position, "found the key %s, expected interfaces: sections with the keys of one each", k.Name)
	}
	for _, s := range sec.Sections() {
		i := l.oneInterface(s)
		l.config.Interfaces = append(l.config.Interfaces, i)
		l.config.IKE.InterfaceIDs = append(l.config.IKE.InterfaceIDs, i.IfID)
	}
}

func (l *loader) oneInterface(sec *settings.Section) Interface {
	r := l.section(sec, "interfaces.*", "interfaces."+sec.Name)
	i := Interface{Position: sec.Position, Name: sec.Name, MTU: DefaultMTU}
	if _, err := parseInterfaceName(sec.Name); err != nil {
		l.fail(sec.Position, "%s: %v", r.path, err)
	}
	if !read(r, "if_id", &i.IfID, number[uint32](1, math.MaxUint32)) {
		if _, set := sec.Value("if_id"); !set {
			l.fail(sec.Position, "%s has no if_id; expected a number that no other interface has", r.path)
		}
	}
	read(r, "link", &i.Link, parseInterfaceName)
	read(r, "addresses", &i.Addresses, list(parseInterfaceAddress))
	read(r, "mtu", &i.MTU, number[int](minMTU, maxMTU))
	l.checkAddresses(r, i)
	r.finish()
	for _, other := range l.config.Interfaces {
		if other.IfID == i.IfID && i.IfID != 0 {
			l.fail(r.at("if_id"), "%s.if_id = %d is that of interfaces.%s too (%s); an if_id belongs to one interface", r.path, i.IfID, other.Name, other.Position)
		}
	}
	return i
}

func (l *loader) checkAddresses(r *reader, i Interface) {
	seen := map[netip.Prefix]bool{}
	for _, a := range i.Addresses {
		switch {
		case seen[a]:
			l.fail(r.at("addresses"), "%s.addresses names %v twice", r.path, a)
		case a.Addr().Is6() && i.MTU < minMTUv6:
			l.fail(r.at("mtu"), "%s.mtu = %d is too small for the IPv6 address %v; expected at least %d", r.path, i.MTU, a, minMTUv6)
		}
		seen[a] = true
	}
}

// parseInterfaceName accepts what the kernel accepts.
func parseInterfaceName(s string) (string, error) {
	if s == "" || s == "." || s == ".." || len(s) > maxInterfaceName || strings.ContainsAny(s, "/: \t") {
		return "", fmt.Errorf("expected the name of an interface: 1 to %d characters, no space, slash or colon", maxInterfaceName)
	}
	return s, nil
}

// find returns the interface of that name, or nil.
func (c *Config) find(name string) *Interface {
	for i := range c.Interfaces {
		if c.Interfaces[i].Name == name {
			return &c.Interfaces[i]
		}
	}
	return nil
}

// findIfID returns the interface with that if_id, or nil.
func (c *Config) findIfID(id uint32) *Interface {
	for i := range c.Interfaces {
		if c.Interfaces[i].IfID == id && id != 0 {
			return &c.Interfaces[i]
		}
	}
	return nil
}

// bind gives a child that names an interface its if_id, and one with an if_id the
// name of its interface.
func (r *childReader) bind(c *ike.ChildConfig) {
	if c.Interface != "" {
		r.bindByName(c)
		return
	}
	id := c.IfIDOut
	if i := r.config.findIfID(id); i != nil && c.IfIDIn == id {
		c.Interface = i.Name
	} else if id != 0 && i == nil && len(r.config.Interfaces) > 0 {
		r.warn(r.sec.Position, "%s has if_id_out = %d, but no entry of interfaces has this if_id", r.path, id)
	}
}

func (r *childReader) bindByName(c *ike.ChildConfig) {
	at := r.at("interface")
	i := r.config.find(c.Interface)
	if i == nil {
		if len(r.config.Interfaces) == 0 {
			c.Interface, c.PolicyInterface = "", c.Interface
			return
		}
		var names []string
		for _, i := range r.config.Interfaces {
			names = append(names, i.Name)
		}
		r.fail(at, "%s.interface = %q: no such entry of interfaces%s", r.path, c.Interface, suggest.DidYouMean(c.Interface, names))
		return
	}
	if err := bindIfID(&c.IfIDIn, c.IfIDInBy, i); err != nil {
		r.fail(at, "%s.if_id_in: %v", r.path, err)
	}
	if err := bindIfID(&c.IfIDOut, c.IfIDOutBy, i); err != nil {
		r.fail(at, "%s.if_id_out: %v", r.path, err)
	}
}

func bindIfID(id *uint32, by ike.Numbering, i *Interface) error {
	if by != ike.NumberConfigured {
		return errors.New(fmt.Sprint("generated, but interface ", i.Name, " has the if_id ", i.IfID, " (", i.Position, "); remove one of the two"))
	}
	if *id != 0 && *id != i.IfID {
		return errors.New(fmt.Sprint(*id, ", but interface ", i.Name, " has the if_id ", i.IfID, " (", i.Position, "); remove one of the two"))
	}
	*id = i.IfID
	return nil
}
