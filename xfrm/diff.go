package xfrm

import (
	"cmp"
	"slices"
	"strings"
)

// Phases of a transition, in order. Adds come before deletes, and within a CHILD_SA
// the order loses no packet of the peer and sends none that it cannot read yet.
const (
	phaseInterface = iota // create, replace, update
	phaseInSA
	phaseInPolicy
	phaseOutSA
	phaseOutPolicy
	phaseUp

	phaseDown
	phaseDelOutPolicy
	phaseDelOutSA
	phaseDelInPolicy
	phaseDelInSA
	phaseDelInterface

	numPhases
)

// plan collects changes by phase. Each entry is a run of changes that must stay
// together.
type plan [numPhases][][]Change

func (p *plan) add(phase int, run ...Change) { p[phase] = append(p[phase], run) }

// list returns the changes in order; runs of one phase are sorted, so that the
// result does not depend on the order of the States.
func (p *plan) list() []Change {
	var out []Change
	for _, runs := range p {
		slices.SortStableFunc(runs, func(a, b []Change) int {
			return cmp.Compare(runKey(a), runKey(b))
		})
		for _, run := range runs {
			out = append(out, run...)
		}
	}
	return out
}

func runKey(run []Change) string {
	var b strings.Builder
	for _, c := range run {
		b.WriteString(c.String())
	}
	return b.String()
}

// Diff returns the changes that turn have into want, in the order that loses and
// leaks no packet: interfaces, inbound SAs, inbound and forward policies, outbound
// SAs, outbound policies, interfaces up; then the reverse for what goes.
//
// have is what [Dump] found, or what was applied before: Diff of one CHILD_SA's
// State and the empty State installs it, and the other way round removes it.
// Objects of have that own does not own are left alone; where one stands in the
// way of a wanted object, the add fails with EEXIST.
//
// Where several wanted policies have the same ID, the one of the lowest priority
// number is installed: a guard may share its selector with a tunnel's policy and
// takes its place when the tunnel goes.
func Diff(want, have State, own Owner) []Change {
	var p plan
	diffInterfaces(&p, want.Interfaces, have.Interfaces, own)
	diffSAs(&p, want.SAs, have.SAs, own)
	diffPolicies(&p, want.Policies, have.Policies, own)
	return p.list()
}

func diffSAs(p *plan, want, have []SA, own Owner) {
	old := make(map[SAID]*SA, len(have))
	for i := range have {
		if own.OwnsSA(&have[i]) {
			old[have[i].ID()] = &have[i]
		}
	}
	for i := range want {
		w := &want[i]
		phase := phaseInSA
		if w.Dir == DirOut {
			phase = phaseOutSA
		}
		h := old[w.ID()]
		delete(old, w.ID())
		switch {
		case h == nil:
			p.add(phase, Change{Op: OpAddSA, NewSA: w})
		case SameSA(w, h):
		case updatable(w, h):
			p.add(phase, Change{Op: OpUpdateSA, NewSA: w, OldSA: h})
		default:
			p.add(phase, Change{Op: OpDelSA, OldSA: h}, Change{Op: OpAddSA, NewSA: w})
		}
	}
	for _, h := range old {
		phase := phaseDelInSA
		if h.Dir == DirOut {
			phase = phaseDelOutSA
		}
		p.add(phase, Change{Op: OpDelSA, OldSA: h})
	}
}

func diffPolicies(p *plan, want, have []Policy, own Owner) {
	old := make(map[PolicyID]*Policy, len(have))
	for i := range have {
		if own.OwnsPolicy(&have[i]) {
			old[have[i].ID()] = &have[i]
		}
	}
	var added []*Policy
	for id, w := range effective(want) {
		h := old[id]
		delete(old, id)
		switch {
		case h == nil:
			added = append(added, w)
		case !SamePolicy(w, h):
			p.add(phaseOfPolicy(id), Change{Op: OpUpdatePolicy, NewPolicy: w, OldPolicy: h})
		}
	}
	byIndex := make(map[uint32]*Policy, len(old))
	for _, h := range old {
		byIndex[h.Index] = h
	}
	for _, w := range added {
		add := Change{Op: OpAddPolicy, NewPolicy: w}
		if h := byIndex[w.Index]; h != nil && w.Index != 0 {
			// The kernel gives an index once. The old policy is that of an interface
			// which is no more, and whose name another one has taken.
			delete(old, h.ID())
			p.add(phaseOfPolicy(w.ID()), Change{Op: OpDelPolicy, OldPolicy: h}, add)
			continue
		}
		p.add(phaseOfPolicy(w.ID()), add)
	}
	for id, h := range old {
		phase := phaseDelInPolicy
		if id.Dir == DirOut {
			phase = phaseDelOutPolicy
		}
		p.add(phase, Change{Op: OpDelPolicy, OldPolicy: h})
	}
}

func phaseOfPolicy(id PolicyID) int {
	if id.Dir == DirOut {
		return phaseOutPolicy
	}
	return phaseInPolicy
}

// effective returns, for each identity, the wanted policy that wins, with the
// index that marks it as ours. Of equal priorities the blocking one wins.
func effective(want []Policy) map[PolicyID]*Policy {
	out := make(map[PolicyID]*Policy, len(want))
	for i := range want {
		w := want[i]
		id := w.ID()
		if o := out[id]; o != nil && (o.Priority < w.Priority || o.Priority == w.Priority && w.Action != Block) {
			continue
		}
		w = w.Tagged()
		out[id] = &w
	}
	return out
}

func diffInterfaces(p *plan, want, have []Interface, own Owner) {
	old := make(map[string]*Interface, len(have))
	for i := range have {
		old[have[i].Name] = &have[i]
	}
	for i := range want {
		w := want[i]
		w.Alias = own.Alias
		h := old[w.Name]
		delete(old, w.Name)
		up := h != nil && h.Up
		switch {
		case h == nil:
			p.add(phaseInterface, Change{Op: OpAddInterface, NewInterface: &w})
		case h.IfID == w.IfID && h.Parent == w.Parent:
			// A foreign interface that fits is used, never deleted.
			w.Alias = h.Alias
			if !sameLink(&w, h) {
				p.add(phaseInterface, Change{Op: OpUpdateInterface, NewInterface: &w, OldInterface: h})
			}
		case own.OwnsInterface(h):
			p.add(phaseInterface, Change{Op: OpDelInterface, OldInterface: h}, Change{Op: OpAddInterface, NewInterface: &w})
			up = false
		default:
			p.add(phaseInterface, Change{Op: OpAddInterface, NewInterface: &w})
		}
		if w.Up && !up {
			p.add(phaseUp, Change{Op: OpInterfaceUp, NewInterface: &w, OldInterface: h})
		}
		if !w.Up && up {
			p.add(phaseDown, Change{Op: OpInterfaceDown, NewInterface: &w, OldInterface: h})
		}
	}
	for _, h := range old {
		if !own.OwnsInterface(h) {
			continue
		}
		if h.Up {
			p.add(phaseDown, Change{Op: OpInterfaceDown, OldInterface: h})
		}
		p.add(phaseDelInterface, Change{Op: OpDelInterface, OldInterface: h})
	}
}
