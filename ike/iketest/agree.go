package iketest

import (
	"errors"
	"fmt"

	"github.com/ipsecd/ipsecd/ike"
)

// Agree says why the two hosts are not at rest with exactly one IKE SA and, for each
// configured child, one CHILD_SA, the same ones at both ends and in both kernels.
func (p *Pair) Agree() error { return p.agree(1) }

// agree is Agree with a number of CHILD_SAs for each configured child.
func (p *Pair) agree(each int) error {
	a, errA := p.A.atRest(each)
	b, errB := p.B.atRest(each)
	if err := errors.Join(errA, errB); err != nil {
		return err
	}
	if a.SPIi != b.SPIi || a.SPIr != b.SPIr {
		return fmt.Errorf("the hosts have different IKE SAs: %x_i %x_r and %x_i %x_r", a.SPIi, a.SPIr, b.SPIi, b.SPIr)
	}
	if a.Initiator == b.Initiator {
		return fmt.Errorf("both hosts or none are the initiator: %v", a.Initiator)
	}
	bySPI := map[uint32]*ike.ChildSA{}
	for _, c := range b.Children {
		bySPI[c.SA.SPIIn] = c.SA
	}
	for _, c := range a.Children {
		if o := bySPI[c.SA.SPIOut]; o == nil || o.SPIOut != c.SA.SPIIn {
			return fmt.Errorf("the peer of A's %s is not among B's CHILD_SAs", childText{c.SA})
		}
	}
	for _, h := range p.hosts {
		for _, id := range h.Kernel.ids() {
			c := h.Kernel.children[id]
			if _, _, err := p.path(h, c); err != nil {
				return fmt.Errorf("what %s sends on %s is lost: %w", h.Name, childText{c.sa}, err)
			}
		}
	}
	return nil
}

// atRest returns the only IKE SA, or says why the host is not at rest.
func (h *Host) atRest(each int) (ike.IKESAInfo, error) {
	s := h.Snapshot()
	if len(s.IKESAs) != 1 {
		return ike.IKESAInfo{}, fmt.Errorf("%s has %d IKE SAs: %s", h.Name, len(s.IKESAs), h.Describe())
	}
	sa := s.IKESAs[0]
	if sa.State != ike.IKEEstablished || len(sa.TasksActive) > 0 || len(sa.TasksQueued) > 0 {
		return sa, fmt.Errorf("%s is not at rest: %s", h.Name, h.Describe())
	}
	count := map[childName]int{}
	for _, c := range sa.Children {
		k := h.Kernel.children[c.SA.ID]
		if c.State != ike.ChildInstalled || k == nil || k.outbound == 0 {
			return sa, fmt.Errorf("%s has %s in state %v, in the kernel: %v", h.Name, childText{c.SA}, c.State, k != nil)
		}
		count[childName{c.SA.Connection, c.SA.Config.Name}]++
	}
	for _, conn := range h.config.Connections {
		for _, c := range conn.Children {
			if n := count[childName{conn.Name, c.Name}]; n != each {
				return sa, fmt.Errorf("%s has %d CHILD_SAs of %s: %s", h.Name, n, c.Name, h.Describe())
			}
			if up := h.Up(conn.Name, c.Name); up != (each > 0) {
				return sa, fmt.Errorf("%s has reported %s up: %v", h.Name, c.Name, up)
			}
		}
	}
	if len(sa.Children) != h.Kernel.Children() {
		return sa, fmt.Errorf("%s: engine and kernel differ: %s", h.Name, h.Describe())
	}
	return sa, nil
}

// Describe writes the SAs of a host in one line each.
func (h *Host) Describe() string {
	text := fmt.Sprintf("kernel %d", h.Kernel.Children())
	for _, sa := range h.Snapshot().IKESAs {
		text += fmt.Sprintf("\n  %s IKE SA %d %v %x_i %x_r initiator=%v active=%v queued=%v", h.Name, sa.ID, sa.State, sa.SPIi, sa.SPIr, sa.Initiator, sa.TasksActive, sa.TasksQueued)
		for _, c := range sa.Children {
			text += fmt.Sprintf("\n    %s %v", childText{c.SA}, c.State)
			if k := h.Kernel.children[c.SA.ID]; k == nil {
				text += ", not in the kernel"
			} else if k.outbound == 0 {
				text += ", no outbound SA"
			}
		}
	}
	return text
}

// Empty says what is left at a host that ought to hold nothing: no SA, no key, no timer.
func (h *Host) Empty() error {
	if n := len(h.Snapshot().IKESAs); n > 0 || h.Kernel.Children() > 0 {
		return fmt.Errorf("%s has SAs left: %s", h.Name, h.Describe())
	}
	if !h.engine.Idle() {
		return fmt.Errorf("%s has no IKE SAs, but is not idle", h.Name)
	}
	if n := len(h.virtual); n > 0 {
		return fmt.Errorf("%s still has the virtual addresses of %d IKE SAs", h.Name, n)
	}
	for c, up := range h.up {
		if up {
			return fmt.Errorf("%s has not reported %s/%s down", h.Name, c.connection, c.child)
		}
	}
	if t, ok := h.engine.NextTimeout(); ok {
		return fmt.Errorf("%s has a timer left, due in %v", h.Name, t.Sub(h.net.now))
	}
	return leftovers(h.engine)
}
