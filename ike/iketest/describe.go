package iketest

import (
	"fmt"

	"github.com/ipsecd/ipsecd/ike"
)

// eventText is an event in the words of the trace.
type eventText struct{ ev ike.Event }

// String writes it.
func (t eventText) String() string {
	switch ev := t.ev.(type) {
	case ike.Reconfigure:
		return "Reconfigure"
	case ike.Initiate, ike.Terminate, ike.Rekey, ike.Expire, ike.Acquire, ike.Shutdown, ike.PeerMoved, ike.AddressChanged:
		return fmt.Sprintf("%T%+v", ev, ev)
	}
	return fmt.Sprintf("%T", t.ev)
}

// childText is a CHILD_SA in the words of the trace.
type childText struct{ *ike.ChildSA }

// String writes it.
func (c childText) String() string {
	name := c.Config.Name
	if c.CPU.Bound {
		name += fmt.Sprintf(" (CPU %d)", c.CPU.Number)
	}
	return fmt.Sprintf("%s{%d} in %08x out %08x", name, c.ID, c.SPIIn, c.SPIOut)
}
