package config

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/ipsecd/ipsecd/cmd/internal/config/settings"
)

// bgp reads the section of that name.
func (l *loader) bgp(sec *settings.Section) {
	r := l.section(sec, "bgp", "bgp")
	b := &BGP{Position: sec.Position, Listen: true}
	l.required(r, "as", "our AS number", read(r, "as", &b.AS, parseAS))
	l.required(r, "router_id", "an IPv4 address of ours", read(r, "router_id", &b.RouterID, parseRouterID))
	read(r, "networks", &b.Networks, list(parseNetwork))
	read(r, "listen", &b.Listen, parseBool)
	r.known["neighbors"] = true
	neighbors := sec.Section("neighbors")
	for _, k := range neighbors.Keys() {
		l.fail(k.Value.Position, "found the key %s, expected neighbours: sections with the keys of one each", k.Name)
	}
	for _, s := range neighbors.Sections() {
		b.Neighbors = append(b.Neighbors, l.neighbor(s))
	}
	r.finish()
	l.config.BGP = b
	l.checkNeighbors(b.Neighbors)
}

// required reports a key that is not set.
func (l *loader) required(r *reader, key, expected string, ok bool) {
	if _, set := r.sec.Value(key); !ok && !set {
		l.fail(r.sec.Position, "%s has no %s; expected %s", r.path, key, expected)
	}
}

func (l *loader) neighbor(sec *settings.Section) Neighbor {
	r := l.section(sec, "bgp.neighbors.*", "bgp.neighbors."+sec.Name)
	n := Neighbor{Position: sec.Position, Name: sec.Name}
	l.required(r, "address", "the neighbour's address", read(r, "address", &n.Address, parseAddr))
	l.required(r, "as", "the neighbour's AS number", read(r, "as", &n.AS, parseAS))
	read(r, "interface", &n.Interface, parseInterfaceName)
	read(r, "local_address", &n.LocalAddress, parseAddr)
	read(r, "passive", &n.Passive, parseBool)
	read(r, "hold_time", &n.HoldTime, bgpTimer)
	read(r, "keepalive", &n.Keepalive, bgpTimer)
	read(r, "connect_retry", &n.ConnectRetry, bgpTimer)
	read(r, "max_prefixes", &n.MaxPrefixes, number[uint32](1, math.MaxUint32))
	read(r, "import", &n.Import, list(parseNetwork))
	if v, ok := r.value("password_file"); ok {
		n.Password = l.password(r, v)
	}
	r.finish()
	l.checkTimers(r, n)
	l.localAddress(r, &n)
	return n
}

func (l *loader) password(r *reader, v settings.Value) Secret {
	s, err := l.secretFile(v)
	if err == nil && (s == "" || len(s) > maxMD5Password) {
		err = fmt.Errorf("expected a password of 1 to %d octets in the file", maxMD5Password)
	}
	if err != nil {
		l.fail(v.Position, "%s.password_file = %q: %v", r.path, v.Text, err)
		return ""
	}
	return Secret(s)
}

func (l *loader) checkTimers(r *reader, n Neighbor) {
	if n.HoldTime != 0 && n.HoldTime < minHoldTime {
		l.fail(r.at("hold_time"), "%s.hold_time = %v: expected at least %v", r.path, n.HoldTime, minHoldTime)
	}
	if n.HoldTime != 0 && n.Keepalive >= n.HoldTime {
		l.fail(r.at("keepalive"), "%s.keepalive = %v: expected less than hold_time (%v)", r.path, n.Keepalive, n.HoldTime)
	}
}

// localAddress finds our address of the session among those of the interface:
// the one in whose subnet the neighbour is.
func (l *loader) localAddress(r *reader, n *Neighbor) {
	if n.LocalAddress.IsValid() && n.LocalAddress == n.Address {
		l.fail(r.at("address"), "%s.address = %v is our own address", r.path, n.Address)
		return
	}
	i := l.config.find(n.Interface)
	if i == nil || !n.Address.IsValid() || len(i.Addresses) == 0 {
		return // a plain link: the kernel chooses
	}
	var have []string
	for _, a := range i.Addresses {
		have = append(have, a.String())
		if a.Addr() == n.Address {
			l.fail(r.at("address"), "%s.address = %v is our own address on interface %s", r.path, n.Address, i.Name)
			return
		}
		if n.LocalAddress == a.Addr() {
			return
		}
		if !n.LocalAddress.IsValid() && a.Contains(n.Address) {
			n.LocalAddress = a.Addr()
			return
		}
	}
	if n.LocalAddress.IsValid() {
		l.fail(r.at("local_address"), "%s.local_address = %v is not an address of interface %s, which has %s", r.path, n.LocalAddress, i.Name, strings.Join(have, ", "))
		return
	}
	l.fail(r.at("address"), "%s.address = %v is in no subnet of interface %s, which has %s; correct one of them, or set local_address", r.path, n.Address, i.Name, strings.Join(have, ", "))
}

// checkNeighbors refuses two neighbours with one address: BGP sessions are told
// apart by it.
func (l *loader) checkNeighbors(list []Neighbor) {
	first := map[netip.Addr]Neighbor{}
	for _, n := range list {
		if !n.Address.IsValid() {
			continue
		}
		if other, ok := first[n.Address]; ok {
			l.fail(n.Position, "bgp.neighbors.%s.address = %v is that of neighbour %s too (%s); sessions are told apart by the neighbour's address, so give each far end one of its own", n.Name, n.Address, other.Name, other.Position)
			continue
		}
		first[n.Address] = n
	}
}

// parseAS reads an AS number, also as two numbers with a dot (RFC 5396).
func parseAS(s string) (uint32, error) {
	var n uint64
	high, low, dotted := strings.Cut(s, ".")
	h, err := strconv.ParseUint(high, 10, 32)
	n = h
	if dotted && err == nil {
		var lo uint64
		lo, err = strconv.ParseUint(low, 10, 16)
		n = h<<16 | lo
		if h > math.MaxUint16 {
			err = strconv.ErrRange
		}
	}
	switch {
	case err != nil:
		return 0, errors.New("expected an AS number from 1 to 4294967294")
	case n == 0 || n == math.MaxUint16 || n == math.MaxUint32 || n == asTrans:
		return 0, errors.New("this AS number is reserved (RFC 7607, RFC 7300, RFC 6793)")
	}
	return uint32(n), nil
}

// asTrans stands for a four-octet AS number where only two octets fit (RFC 6793).
const asTrans = 23456

func parseRouterID(s string) (netip.Addr, error) {
	a, err := netip.ParseAddr(s)
	if err != nil || !a.Is4() || a.IsUnspecified() {
		return a, errors.New("expected an IPv4 address such as 10.0.0.1")
	}
	return a, nil
}

func bgpTimer(s string) (time.Duration, error) {
	d, err := parseDuration(s)
	if err == nil && (d == 0 || d > maxBGPTimer) {
		err = errors.New("expected a time from 1s to 65535s")
	}
	return d, err
}
