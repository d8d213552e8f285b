package bgp

import (
	"context"
	"fmt"
	"net/netip"

	api "github.com/osrg/gobgp/v3/api"
)

// GoBGP evaluates the global policy for each path: on import before selection,
// on export for each neighbour.

const globalTable = "global"

// exportPolicy announces our own networks and nothing else: a default of
// reject also halves the work per received path.
func (s *Server) exportPolicy(ctx context.Context) error {
	policy := &api.Policy{Name: "export", Statements: []*api.Statement{{
		Name:       "export-networks",
		Conditions: &api.Conditions{RouteType: api.Conditions_ROUTE_TYPE_LOCAL},
		Actions:    &api.Actions{RouteAction: api.RouteAction_ACCEPT},
	}}}
	if err := s.gobgp.AddPolicy(ctx, &api.AddPolicyRequest{Policy: policy}); err != nil {
		return fmt.Errorf("bgp: export policy: %w", err)
	}
	return s.assign(ctx, api.PolicyDirection_EXPORT, policy, api.RouteAction_REJECT)
}

// importPolicy replaces the import policy by that of the neighbours ns. It says
// nothing about paths already received: see softReset.
func (s *Server) importPolicy(ctx context.Context, ns []Neighbor) error {
	old := s.policy
	s.generation++
	p := newPolicy(fmt.Sprintf("import-%d", s.generation), ns)
	for _, set := range p.sets {
		if err := s.gobgp.AddDefinedSet(ctx, &api.AddDefinedSetRequest{DefinedSet: set}); err != nil {
			return fmt.Errorf("bgp: import policy: %w", err)
		}
	}
	if err := s.gobgp.AddPolicy(ctx, &api.AddPolicyRequest{Policy: p.policy}); err != nil {
		return fmt.Errorf("bgp: import policy: %w", err)
	}
	if err := s.assign(ctx, api.PolicyDirection_IMPORT, p.policy, api.RouteAction_ACCEPT); err != nil {
		return err
	}
	s.policy = p
	if old == nil {
		return nil
	}
	// What is left of the old one costs memory only.
	_ = s.gobgp.DeletePolicy(ctx, &api.DeletePolicyRequest{Policy: old.policy, All: true})
	for _, set := range old.sets {
		_ = s.gobgp.DeleteDefinedSet(ctx, &api.DeleteDefinedSetRequest{DefinedSet: set, All: true})
	}
	return nil
}

func (s *Server) assign(ctx context.Context, dir api.PolicyDirection, p *api.Policy, def api.RouteAction) error {
	err := s.gobgp.SetPolicyAssignment(ctx, &api.SetPolicyAssignmentRequest{Assignment: &api.PolicyAssignment{
		Name: globalTable, Direction: dir, Policies: []*api.Policy{p}, DefaultAction: def,
	}})
	if err != nil {
		return fmt.Errorf("bgp: assign policy %s: %w", p.Name, err)
	}
	return nil
}

// policy is an import policy with the sets it refers to.
type policy struct {
	sets   []*api.DefinedSet
	policy *api.Policy
}

// newPolicy has, for each neighbour that filters: refuse what Refuse lists;
// accept what Import lists; refuse the rest, if Import lists anything.
func newPolicy(name string, ns []Neighbor) *policy {
	p := &policy{policy: &api.Policy{Name: name}}
	for i := range ns {
		n := &ns[i]
		if len(n.Import) == 0 && len(n.Refuse) == 0 {
			continue
		}
		id := fmt.Sprintf("%s-%d", name, i)
		neighbor := &api.DefinedSet{
			DefinedType: api.DefinedType_NEIGHBOR, Name: id,
			List: []string{hostPrefix(n.Address).String()},
		}
		p.sets = append(p.sets, neighbor)
		p.statement(id+"-refuse", neighbor, refusedPrefixes(n.Refuse, n.family()), api.RouteAction_REJECT)
		if len(n.Import) > 0 {
			p.statement(id+"-import", neighbor, acceptedPrefixes(n.Import, n.family()), api.RouteAction_ACCEPT)
			p.add(id+"-rest", &api.Conditions{NeighborSet: matchAny(neighbor)}, api.RouteAction_REJECT)
		}
	}
	return p
}

// statement applies the action to the neighbour's paths with these prefixes. No
// prefixes: no statement, since an empty set would match all.
func (p *policy) statement(name string, neighbor *api.DefinedSet, prefixes []*api.Prefix, action api.RouteAction) {
	if len(prefixes) == 0 {
		return
	}
	set := &api.DefinedSet{DefinedType: api.DefinedType_PREFIX, Name: name, Prefixes: prefixes}
	p.sets = append(p.sets, set)
	p.add(name, &api.Conditions{NeighborSet: matchAny(neighbor), PrefixSet: matchAny(set)}, action)
}

func (p *policy) add(name string, c *api.Conditions, action api.RouteAction) {
	p.policy.Statements = append(p.policy.Statements, &api.Statement{
		Name: name, Conditions: c, Actions: &api.Actions{RouteAction: action},
	})
}

func matchAny(set *api.DefinedSet) *api.MatchSet {
	return &api.MatchSet{Type: api.MatchSet_ANY, Name: set.Name}
}

// acceptedPrefixes matches the prefixes of list and all inside them.
func acceptedPrefixes(list []netip.Prefix, f Family) (out []*api.Prefix) {
	for _, p := range list {
		if familyOf(p.Addr()) == f {
			out = append(out, &api.Prefix{
				IpPrefix:      p.String(),
				MaskLengthMin: uint32(p.Bits()), MaskLengthMax: uint32(p.Addr().BitLen()),
			})
		}
	}
	return out
}

// refusedPrefixes matches what Refuses(list, …) does. GoBGP looks only at the
// entries of the longest matching prefix of a set, so no entry may hide a wider
// one with a larger range: outermost leaves none that could.
func refusedPrefixes(list []netip.Prefix, f Family) []*api.Prefix {
	outer := outermost(list)
	out := acceptedPrefixes(outer, f)
	seen := make(map[netip.Prefix]bool)
	for _, p := range outer {
		if familyOf(p.Addr()) != f {
			continue
		}
		for bits := p.Bits() - 1; bits > 0; bits-- {
			cover := netip.PrefixFrom(p.Addr(), bits).Masked()
			if seen[cover] {
				break // so are all that cover it
			}
			seen[cover] = true
			out = append(out, &api.Prefix{
				IpPrefix: cover.String(), MaskLengthMin: uint32(bits), MaskLengthMax: uint32(bits),
			})
		}
	}
	return out
}

// Refuses says whether p equals, lies inside or covers one of list: what
// Neighbor.Refuse keeps out. A default route may always come, since whatever
// list protects has a longer prefix.
func Refuses(list []netip.Prefix, p netip.Prefix) bool {
	if p.Bits() == 0 {
		for _, l := range list {
			if l == p {
				return true
			}
		}
		return false
	}
	for _, l := range list {
		if l.Overlaps(p) {
			return true
		}
	}
	return false
}

// outermost drops the prefixes that lie inside another one, and duplicates.
func outermost(list []netip.Prefix) (out []netip.Prefix) {
next:
	for i, p := range list {
		for j, q := range list {
			inside := q.Bits() < p.Bits() && q.Contains(p.Addr())
			if inside || p == q && j < i {
				continue next
			}
		}
		out = append(out, p)
	}
	return out
}

func hostPrefix(a netip.Addr) netip.Prefix {
	a = a.WithZone("").Unmap()
	return netip.PrefixFrom(a, a.BitLen())
}
