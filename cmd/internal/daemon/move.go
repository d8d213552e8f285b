package daemon

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/xfrm"
)

// moveGap is what an outbound SA skips of its sequence numbers when it moves: more than could be sent between
// the moment when they are read and the deletion of the SA. The numbers are part of the nonce of AES-GCM, which must
// never be used twice.
const moveGap = 1 << 16

// move gives a CHILD_SA new outer addresses or ports. The policies come first: from then on they drop what would be
// sent, until the outbound SA has been moved, too. Nothing leaks.
func (in *installer) move(to *ike.ChildSA) error {
	c := in.children[to.ID]
	if c == nil {
		return fmt.Errorf("CHILD_SA %d is not installed", to.ID)
	}
	old := *c
	c.sa, c.policies = to, policies(to)
	touched := slices.Concat(old.policies, c.policies)
	before := in.policies.current(touched)
	in.policies.drop(to.ID, old.policies)
	in.policies.use(to.ID, c.policies)
	_, perr := xfrm.Apply(in.kernel, xfrm.Diff(in.policies.current(touched), before, in.owner))
	in.followPolicies()
	if d := c.deferred; d != nil {
		moveSA(d, to, to.Local, to.Remote, to.LocalPort, to.RemotePort)
	}
	return errors.Join(perr,
		in.moveHalf(c, &c.in, to.Remote, to.Local, to.RemotePort, to.LocalPort),
		in.moveHalf(c, &c.out, to.Local, to.Remote, to.LocalPort, to.RemotePort),
	)
}

// skip moves the sequence number on, where there is room.
func skip(sa *xfrm.SA) {
	if r := sa.Replay; r != nil && sa.Dir == xfrm.DirOut && (sa.ESN || r.OutSeq+moveGap < 1<<32) {
		r.OutSeq += moveGap
	}
}

func moveSA(sa *xfrm.SA, to *ike.ChildSA, src, dst addr, srcPort, dstPort uint16) {
	sa.Src, sa.Dst, sa.Encap = src, dst, nil
	if to.Encap {
		sa.Encap = &xfrm.UDPEncap{SrcPort: srcPort, DstPort: dstPort}
	}
	switch {
	case to.Mode != ike.ModeTransport:
	case sa.Dir == xfrm.DirIn:
		sa.Selector = transportSelector(to.RemoteTS, to.LocalTS)
	default:
		sa.Selector = transportSelector(to.LocalTS, to.RemoteTS)
	}
}

// moveHalf reads the SA back with its keys and sequence numbers, deletes it
// and adds it in its new place.
func (in *installer) moveHalf(c *installed, h **half, src, dst addr, srcPort, dstPort uint16) error {
	if *h == nil {
		return nil
	}
	oldID := (*h).sa.ID()
	info, err := in.kernel.GetSA(oldID)
	if err != nil {
		return err
	}
	in.count(c, *h, info)
	sa := info.SA
	defer wipe(&sa)
	sa.Dir = (*h).sa.Dir
	skip(&sa)
	moveSA(&sa, c.sa, src, dst, srcPort, dstPort)
	if err := gone(in.kernel.DelSA(oldID)); err != nil {
		return err
	}
	delete(in.bySPI, oldID)
	if err := in.kernel.AddSA(sa); err != nil {
		*h = nil
		in.emit(ike.Expire{SPI: uint32(sa.SPI), Dst: sa.Dst, Hard: true})
		return err
	}
	moved := in.track(c.sa.ID, sa)
	moved.status = (*h).status
	*h = moved
	return nil
}
