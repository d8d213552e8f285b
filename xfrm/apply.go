package xfrm

import (
	"errors"
	"syscall"
)

// Apply makes the changes in order. It returns those that took effect, whatever
// happened, and stops at the first add or update that fails: what follows may
// depend on it. A delete of what is already gone counts as applied; a delete that
// fails otherwise does not stop the ones after it.
func Apply(k Kernel, changes []Change) (applied []Change, err error) {
	var errs []error
	for _, c := range changes {
		err := c.apply(k)
		if c.removes() && isGone(err) {
			err = nil
		}
		if err != nil {
			errs = append(errs, err)
			if !c.removes() {
				break
			}
			continue
		}
		applied = append(applied, c)
	}
	return applied, errors.Join(errs...)
}

// Sweep makes the kernel have what want says and nothing else of ours: at start it
// removes what an earlier run left, later it is the audit that repairs what others
// broke. Foreign objects are left alone. It returns what it changed, whatever
// happened.
func Sweep(k Kernel, want State, own Owner) ([]Change, error) {
	have, err := Dump(k)
	if err != nil {
		return nil, err
	}
	return Apply(k, Diff(want, have, own))
}

func (c Change) apply(k Kernel) error {
	switch c.Op {
	case OpAddSA:
		return k.AddSA(*c.NewSA)
	case OpUpdateSA:
		return k.UpdateSA(*c.NewSA)
	case OpDelSA:
		return k.DelSA(c.OldSA.ID())
	case OpAddPolicy:
		return k.AddPolicy(*c.NewPolicy)
	case OpUpdatePolicy:
		return k.UpdatePolicy(*c.NewPolicy)
	case OpDelPolicy:
		return k.DelPolicy(c.OldPolicy.ID())
	case OpAddInterface:
		return k.AddInterface(*c.NewInterface)
	case OpUpdateInterface:
		return k.UpdateInterface(*c.NewInterface)
	case OpInterfaceUp:
		return k.SetInterfaceUp(c.NewInterface.Name, true)
	case OpInterfaceDown:
		return k.SetInterfaceUp(c.OldInterface.Name, false)
	case OpDelInterface:
		return k.DelInterface(c.OldInterface.Name)
	}
	return errors.New("xfrm: change without an operation")
}

// removes reports whether the change takes something away.
func (c Change) removes() bool {
	switch c.Op {
	case OpDelSA, OpDelPolicy, OpDelInterface, OpInterfaceDown:
		return true
	}
	return false
}

// isGone reports whether the error says that the object does not exist.
func isGone(err error) bool {
	return errors.Is(err, syscall.ESRCH) || errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ENODEV)
}
