package daemon

import (
	"slices"

	"github.com/ipsecd/ipsecd/xfrm"
)

// policyTable has, for each policy in the kernel, all that want one of that identity there. The kernel can
// hold but one: that of the lowest priority number, as it would choose itself; of equal ones the
// last, which after a rekey is the new CHILD_SA's.
type policyTable map[xfrm.PolicyID][]policyUser

// fixedUser stands for all users that are no CHILD_SA: guards, shunts and traps.
const fixedUser = 0

type policyUser struct {
	child  uint32 // ike.ChildSA.ID, or fixedUser
	policy xfrm.Policy
}

// use adds a CHILD_SA's policies.
func (t policyTable) use(child uint32, list []xfrm.Policy) {
	for _, p := range list {
		t[p.ID()] = append(t[p.ID()], policyUser{child, p.Tagged()})
	}
}

// fix adds policies that no CHILD_SA brings, before those of equal priority.
func (t policyTable) fix(list []xfrm.Policy) {
	for _, p := range list {
		t[p.ID()] = append([]policyUser{{fixedUser, p.Tagged()}}, t[p.ID()]...)
	}
}

// drop takes one user's policies out. Of fixed ones, each takes one that is equal to it.
func (t policyTable) drop(child uint32, list []xfrm.Policy) {
	for i := range list {
		id := list[i].ID()
		at := slices.IndexFunc(t[id], func(u policyUser) bool {
			return u.child == child && (child != fixedUser || xfrm.SamePolicy(&u.policy, &list[i]))
		})
		if at < 0 {
			continue
		}
		if t[id] = slices.Delete(t[id], at, at+1); len(t[id]) == 0 {
			delete(t, id)
		}
	}
}

// current returns, of the identities of list that have users, the policies that the kernel shall have.
func (t policyTable) current(list []xfrm.Policy) xfrm.State {
	var s xfrm.State
	for i := range list {
		if users := t[list[i].ID()]; len(users) > 0 {
			s.Policies = append(s.Policies, best(users))
		}
	}
	return s
}

// all returns what the kernel shall have.
func (t policyTable) all() []xfrm.Policy {
	var out []xfrm.Policy
	for _, users := range t {
		out = append(out, best(users))
	}
	return out
}

func best(users []policyUser) xfrm.Policy {
	b := users[0].policy
	for _, u := range users[1:] {
		if u.policy.Priority <= b.Priority {
			b = u.policy
		}
	}
	return b
}

// setFixed replaces fixed policies in the table and in the kernel.
func (in *installer) setFixed(have, want []xfrm.Policy) error {
	touched := slices.Concat(have, want)
	before := in.policies.current(touched)
	in.policies.drop(fixedUser, have)
	in.policies.fix(want)
	_, err := xfrm.Apply(in.kernel, xfrm.Diff(in.policies.current(touched), before, in.owner))
	in.followPolicies()
	return err
}
