package routing

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// leg is a Nexthop that at least one set names.
type leg struct {
	Nexthop
	id   uint32 // of its object, ours for as long as the leg lives
	refs int    // sets
	err  error  // the kernel refused it; tried again after the next change of a leg
}

// set is a distinct set of legs, shared by all routes over them.
type set struct {
	key  string
	legs []Leg   // sorted
	refs int     // routes
	id   uint32  // of its group; 0 for a single leg, whose object serves
	now  outcome // after the last pass
	err  error   // the kernel refused the group; tried again after the next change of a leg
}

// ipv6 reports whether IPv6 routes can use s.
func (s *set) ipv6() bool {
	return !slices.ContainsFunc(s.legs, func(l Leg) bool { return !l.Gateway.Is6() })
}

// outcome is what a set's legs amount to.
type outcome struct {
	target target
	dead   bool // no leg usable: its routes must go
	broken bool // legs usable, but the group is missing: leave its routes alone
}

func (o outcome) equal(p outcome) bool {
	return o.dead == p.dead && o.broken == p.broken && o.target.equal(p.target)
}

// sortLegs returns the canonical form of legs: a sorted copy with explicit
// weights. The weight of a single leg says nothing; it becomes 1.
func sortLegs(legs []Leg) []Leg {
	legs = slices.Clone(legs)
	for i := range legs {
		legs[i].Gateway = legs[i].Gateway.WithZone("")
		if legs[i].Weight == 0 || len(legs) == 1 {
			legs[i].Weight = 1
		}
	}
	slices.SortFunc(legs, func(a, b Leg) int { return compareNexthop(a.Nexthop, b.Nexthop) })
	return legs
}

func compareNexthop(a, b Nexthop) int {
	if c := cmp.Compare(a.Interface, b.Interface); c != 0 {
		return c
	}
	return a.Gateway.Compare(b.Gateway)
}

func setKey(legs []Leg) string {
	var b []byte
	for _, l := range legs {
		b = append(b, l.Interface...)
		b = append(b, 0) // cannot be in an interface name
		b = append(b, byte(l.Gateway.BitLen()))
		b = append(b, l.Gateway.AsSlice()...)
		b = append(b, l.Weight)
	}
	return string(b)
}

// acquire returns the set of legs (sorted), with one more reference.
func (m *Manager) acquire(legs []Leg) *set {
	key := setKey(legs)
	s := m.sets[key]
	if s == nil {
		s = &set{key: key, legs: legs, now: outcome{dead: true}}
		for _, l := range legs {
			m.acquireLeg(l.Nexthop)
		}
		if m.objects && len(legs) > 1 {
			s.id = m.takeID(MinGroupID, groupKey(m.members(s)))
		}
		m.sets[key] = s
	}
	s.refs++
	return s
}

func (m *Manager) release(s *set) {
	if s == nil {
		return
	}
	if s.refs--; s.refs > 0 {
		return
	}
	delete(m.sets, s.key)
	m.giveID(s.id)
	for _, l := range s.legs {
		lg := m.legs[l.Nexthop]
		if lg.refs--; lg.refs == 0 {
			delete(m.legs, l.Nexthop)
			m.giveID(lg.id)
		}
	}
}

func (m *Manager) acquireLeg(n Nexthop) {
	lg := m.legs[n]
	if lg == nil {
		lg = &leg{Nexthop: n}
		if m.objects {
			lg.id = m.takeID(MinNexthopID, objectKey(m.legObject(lg)))
		}
		m.legs[n] = lg
	}
	lg.refs++
}

// takeID returns an ID for a new leg or group: that of an object in the
// kernel that has exactly this content and no owner (left by a previous run
// or by a withdrawn set), else a free one.
func (m *Manager) takeID(base uint32, key string) uint32 {
	if id, ok := m.orphans[key]; ok {
		delete(m.orphans, key)
		if objectKey(m.kern.nexthops[id]) == key {
			m.owned[id] = true
			return id
		}
	}
	next, end := &m.nextLeg, uint32(MinGroupID-1)
	if base == MinGroupID {
		next, end = &m.nextGroup, MaxNexthopID
	}
	for {
		id := *next
		if *next++; *next > end {
			*next = base
		}
		if _, used := m.kern.nexthops[id]; !used && !m.kern.taken[id] && !m.owned[id] {
			m.owned[id] = true
			return id
		}
	}
}

func (m *Manager) giveID(id uint32) {
	if id == 0 {
		return
	}
	delete(m.owned, id)
	if o, ok := m.kern.nexthops[id]; ok {
		m.orphans[objectKey(o)] = id
	}
}

// objectKey is the content of a nexthop object; two with the same key are
// interchangeable.
func objectKey(o NexthopObject) string {
	if o.Group != nil {
		return groupKey(o.Group)
	}
	b := binary.NativeEndian.AppendUint64([]byte{'l'}, uint64(o.Index))
	return string(append(b, o.Gateway.AsSlice()...))
}

func groupKey(group []GroupEntry) string {
	b := []byte{'g'}
	for _, e := range group {
		b = binary.NativeEndian.AppendUint32(b, e.ID)
		b = append(b, e.Weight)
	}
	return string(b)
}

// legObject is the object that lg should have.
func (m *Manager) legObject(lg *leg) NexthopObject {
	return NexthopObject{ID: lg.id, Protocol: Protocol, Index: m.links[lg.Interface].Index, Gateway: lg.Gateway}
}

// active reports whether a leg may be used as far as its link and its owner
// are concerned.
func (m *Manager) active(n Nexthop) bool { return m.links[n.Interface].Up && !m.held[n] }

// usable reports whether a leg can be used now.
func (m *Manager) usable(n Nexthop) bool {
	if !m.active(n) {
		return false
	}
	if !m.objects {
		return true
	}
	lg := m.legs[n]
	return sameObject(m.kern.nexthops[lg.id], m.legObject(lg))
}

func sameObject(a, b NexthopObject) bool {
	return a.ID == b.ID && a.Index == b.Index && a.Gateway == b.Gateway && !a.Other &&
		slices.Equal(a.Group, b.Group)
}

// members are the entries that the group of s should have, sorted by ID.
func (m *Manager) members(s *set) []GroupEntry {
	group := []GroupEntry{}
	for _, l := range s.legs {
		if m.usable(l.Nexthop) {
			group = append(group, GroupEntry{ID: m.legs[l.Nexthop].id, Weight: l.Weight})
		}
	}
	slices.SortFunc(group, func(a, b GroupEntry) int { return cmp.Compare(a.ID, b.ID) })
	return group
}

// outcome says where routes over s should lead now.
func (m *Manager) outcome(s *set) outcome {
	if m.objects {
		return m.objectOutcome(s)
	}
	var hops []Hop
	for _, l := range s.legs {
		if m.usable(l.Nexthop) {
			hops = append(hops, Hop{Index: m.links[l.Interface].Index, Gateway: l.Gateway, Weight: l.Weight})
		}
	}
	return outcome{target: target{hops: sortHops(hops)}, dead: len(hops) == 0}
}

func (m *Manager) objectOutcome(s *set) outcome {
	group := m.members(s)
	switch {
	case len(group) == 0:
		return outcome{dead: true}
	case s.id == 0:
		return outcome{target: target{nhid: group[0].ID}}
	}
	_, ok := m.kern.nexthops[s.id]
	return outcome{target: target{nhid: s.id}, broken: !ok}
}
