package xfrm

import (
	"fmt"
)

// Op is what a Change does.
type Op uint8

// The operations, one per mutating method of [Kernel].
const (
	OpAddSA Op = iota + 1
	OpUpdateSA
	OpDelSA
	OpAddPolicy
	OpUpdatePolicy
	OpDelPolicy
	OpAddInterface
	OpUpdateInterface
	OpInterfaceUp
	OpInterfaceDown
	OpDelInterface
)

// Change is one step from one State to another. The fields its Op names are set:
// New of an add, update or up, Old of an update, delete or down, so that it can
// be undone.
type Change struct {
	Op                         Op
	NewSA, OldSA               *SA
	NewPolicy, OldPolicy       *Policy
	NewInterface, OldInterface *Interface
}

// String describes the change in one line, without keys.
func (c Change) String() string {
	switch c.Op {
	case OpAddSA:
		return "add SA " + describeSA(c.NewSA)
	case OpUpdateSA:
		return "update SA " + describeSA(c.NewSA)
	case OpDelSA:
		return "delete SA " + describeSA(c.OldSA)
	case OpAddPolicy:
		return "add policy " + describePolicy(c.NewPolicy)
	case OpUpdatePolicy:
		return "update policy " + describePolicy(c.NewPolicy)
	case OpDelPolicy:
		return "delete policy " + describePolicy(c.OldPolicy)
	case OpAddInterface:
		return fmt.Sprintf("add interface %s if_id %#x", c.NewInterface.Name, c.NewInterface.IfID)
	case OpUpdateInterface:
		return "update interface " + c.NewInterface.Name
	case OpInterfaceUp:
		return "raise interface " + c.NewInterface.Name
	case OpInterfaceDown:
		return "lower interface " + c.OldInterface.Name
	case OpDelInterface:
		return "delete interface " + c.OldInterface.Name
	}
	return fmt.Sprintf("op %d", c.Op)
}

func describeSA(sa *SA) string {
	return fmt.Sprintf("%v->%v %v spi %v reqid %d", sa.Src, sa.Dst, sa.Proto, sa.SPI, sa.ReqID)
}

func describePolicy(p *Policy) string {
	return fmt.Sprintf("%v %v priority %d", p.ID(), p.Action, p.Priority)
}

// inverse returns the change that takes c back.
func (c Change) inverse() Change {
	inv := Change{
		NewSA: c.OldSA, OldSA: c.NewSA,
		NewPolicy: c.OldPolicy, OldPolicy: c.NewPolicy,
		NewInterface: c.OldInterface, OldInterface: c.NewInterface,
	}
	switch c.Op {
	case OpAddSA:
		inv.Op = OpDelSA
	case OpDelSA:
		inv.Op = OpAddSA
	case OpAddPolicy:
		inv.Op = OpDelPolicy
	case OpDelPolicy:
		inv.Op = OpAddPolicy
	case OpAddInterface:
		inv.Op = OpDelInterface
	case OpDelInterface:
		inv.Op = OpAddInterface
	case OpInterfaceUp:
		inv.Op = OpInterfaceDown
	case OpInterfaceDown:
		inv.Op = OpInterfaceUp
	default:
		inv.Op = c.Op
	}
	return inv
}

// Undo returns the changes that take back applied ones, last first. An interface
// that was deleted while up is raised in the end.
func Undo(applied []Change) []Change {
	out := make([]Change, 0, len(applied))
	var raise []Change
	lowered := map[string]bool{}
	for _, c := range applied {
		switch {
		case c.Op == OpInterfaceDown:
			lowered[c.OldInterface.Name] = true
		case c.Op == OpDelInterface && c.OldInterface.Up && !lowered[c.OldInterface.Name]:
			raise = append(raise, Change{Op: OpInterfaceUp, NewInterface: c.OldInterface})
		}
	}
	for i := len(applied) - 1; i >= 0; i-- {
		out = append(out, applied[i].inverse())
	}
	return append(out, raise...)
}
