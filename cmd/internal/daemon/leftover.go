package daemon

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ipsecd/ipsecd/cmd/internal/status"
	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/xfrm"
)

// What a process that died has left in the kernel goes on carrying traffic while the tunnels are set up anew.
const (
	leftoverTime   = time.Minute     // at most; without IKE nobody sees whether the peer is still there
	leftoverLinger = 5 * time.Second // of an inbound SA, for packets under way, when there is a new tunnel
)

// leftUser stands in the policy table for the SAs of a dead process.
const leftUser = ^uint32(0)

// leftover is a pair, or one half, of SAs that a dead process has left: same peer, same reqid.
type leftover struct {
	in, out  []xfrm.SA // without keys
	policies []xfrm.Policy
	ifID     uint32
	due      time.Time // when it goes
}

// leftoverKey tells the tunnels of a dead process apart, as far as the kernel knows them.
type leftoverKey struct {
	peer  addr
	reqid uint32
}

func (k leftoverKey) name() status.ChildName {
	return status.ChildName{Child: fmt.Sprintf("left over %v %#x", k.peer, k.reqid)}
}

// inherits reports whether the kernel has policies of ours, or does not say.
func (in *installer) inherits() bool {
	policies, err := in.kernel.Policies()
	return err != nil || slices.ContainsFunc(policies, func(p xfrm.PolicyInfo) bool { return in.owner.OwnsPolicy(&p.Policy) })
}

// keepLeftovers looks for tunnels of a dead process: SAs with the reqid of a child that is configured still, in both directions.
// They stay, with their policies, and their interfaces stay up, until the child has a CHILD_SA again, leftoverTime at most. Keys
// and sequence numbers are the kernel's, and no other process sends with them.
func (in *installer) keepLeftovers(configured func(reqid uint32) bool) error {
	sas, err := in.kernel.SAs()
	if err != nil {
		return fmt.Errorf("reading SAs: %w", err)
	}
	policies, err := in.kernel.Policies()
	if err != nil {
		return fmt.Errorf("reading policies: %w", err)
	}
	local := map[addr]bool{}
	for i := range policies {
		for _, t := range policies[i].Templates {
			if policies[i].Dir == xfrm.DirOut && in.owner.OwnsReqID(t.ReqID) && t.Src.IsValid() {
				local[t.Src] = true
			}
		}
	}
	for i := range sas {
		sa := withoutKeys(sas[i].SA)
		wipe(&sas[i].SA)
		if _, adopted := in.bySPI[sa.ID()]; adopted || sa.SPI == 0 || !in.owner.OwnsSA(&sa) || !configured(sa.ReqID) {
			continue
		}
		in.keepLeftover(sa, local[sa.Dst] && !local[sa.Src])
	}
	for key, l := range in.leftovers {
		if len(l.in) == 0 || len(l.out) == 0 {
			delete(in.leftovers, key) // half a tunnel: Sweep takes it out
			continue
		}
		for _, p := range policies {
			if in.owner.OwnsPolicy(&p.Policy) && key.uses(&p.Policy) {
				l.policies = append(l.policies, p.Policy)
			}
		}
		in.policies.use(leftUser, l.policies)
		in.links.use(l.ifID, key.name())
	}
	return nil
}

func (in *installer) keepLeftover(sa xfrm.SA, inbound bool) {
	key := leftoverKey{sa.Dst, sa.ReqID}
	if inbound {
		key.peer = sa.Src
	}
	l := in.leftovers[key]
	if l == nil {
		l = &leftover{due: in.now().Add(leftoverTime)}
		in.leftovers[key] = l
	}
	if inbound {
		sa.Dir = xfrm.DirIn
		l.in = append(l.in, sa)
		return
	}
	sa.Dir = xfrm.DirOut
	l.out, l.ifID = append(l.out, sa), sa.IfID
}

// uses reports whether a policy is one of the tunnel's.
func (k leftoverKey) uses(p *xfrm.Policy) bool {
	for _, t := range p.Templates {
		if t.ReqID == k.reqid && (t.Src == k.peer || t.Dst == k.peer) {
			return true
		}
	}
	return false
}

// leftNumbers returns the marks and if_ids that what a dead process has left still has: another SA must not get the same ones.
func (in *installer) leftNumbers() (marks []ike.Mark, ifIDs []uint32) {
	for _, l := range in.leftovers {
		for _, sa := range slices.Concat(l.in, l.out) {
			marks, ifIDs = append(marks, ike.Mark(sa.Mark)), append(ifIDs, sa.IfID)
		}
		for _, p := range l.policies { // the inbound mark is theirs alone
			marks, ifIDs = append(marks, ike.Mark(p.Mark)), append(ifIDs, p.IfID)
		}
	}
	return marks, ifIDs
}

// supersede begins to take out what a dead process has left of the tunnel that the CHILD_SA is for: what it sends at once,
// what it receives when packets under way have come.
func (in *installer) supersede(sa *ike.ChildSA) {
	l := in.leftovers[leftoverKey{sa.Remote, sa.ReqID}]
	if l == nil || len(l.out) == 0 {
		return
	}
	l.due = in.now().Add(leftoverLinger)
	in.report("what an earlier run has left", in.deleteSAs(&l.out))
}

func (in *installer) deleteSAs(list *[]xfrm.SA) error {
	var errs []error
	for i := range *list {
		errs = append(errs, gone(in.kernel.DelSA((*list)[i].ID())))
	}
	*list = nil
	return errors.Join(errs...)
}

// dropLeftovers takes out those that are due.
func (in *installer) dropLeftovers() {
	for key, l := range in.leftovers {
		if in.now().Before(l.due) {
			continue
		}
		delete(in.leftovers, key)
		before := in.policies.current(l.policies)
		in.policies.drop(leftUser, l.policies)
		_, err := xfrm.Apply(in.kernel, xfrm.Diff(in.policies.current(l.policies), before, in.owner))
		in.followPolicies()
		in.report("what an earlier run has left", errors.Join(err, in.links.down(key.name()), in.deleteSAs(&l.out), in.deleteSAs(&l.in)))
	}
}

// leftSAs returns the SAs that Sweep shall keep.
func (in *installer) leftSAs() []xfrm.SA {
	var list []xfrm.SA
	for _, l := range in.leftovers {
		list = append(append(list, l.in...), l.out...)
	}
	return list
}
