//go:build lab

package scenario

import (
	"os"
	"testing"
)

// fault is something done to a tunnel that it has to survive.
type fault struct {
	name string
	do   func(t *testing.T, r *faultRig)
	long bool // left out of the ordinary run of the lab, to keep that short: make lab FAULTS=all
}

// TestFaults does to one tunnel what goes wrong in the field (docs/faults.md). After
// each, it is back, once, on both sides, and nothing has left in the clear.
func TestFaults(t *testing.T) {
	r := newFaultRig(t)
	for _, f := range []fault{
		{name: "state-flush", do: stateFlush},
		{name: "interface-deleted", do: interfaceDeleted},
		{name: "overrun", do: overrun},
		{name: "kill-request-lost", do: killAtRekey(sentBy(createChildSA), false)},
		{name: "kill-response-lost", do: killAtRekey(sentTo(createChildSA), false), long: true},
		{name: "kill-delete-lost", do: killAtRekey(sentBy(informational), false), long: true},
		{name: "kill-our-response-lost", do: killAtRekey(sentBy(createChildSA), true)},
		{name: "silent-rekey", do: silentRekey},
		{name: "mtu-drop", do: mtuDrop},
		{name: "junk-auth", do: junkAuth},
		{name: "clock-jump", do: clockJump},
		{name: "peer-reboot", do: peerReboot},
		{name: "address-deleted", do: addressDeleted, long: true},
		{name: "loss", do: loss, long: true},
	} {
		r.suffer(t, f)
	}
	r.checkClear(t)
	r.suffer(t, fault{name: "policy-flush", do: policyFlush}) // which may let something out
}

func (r *faultRig) suffer(t *testing.T, f fault) {
	t.Run(f.name, func(t *testing.T) {
		if f.long && os.Getenv("LAB_FAULTS") != "all" {
			t.Skip("it takes long: make lab FAULTS=all")
		}
		defer r.undo(t)
		f.do(t, r)
		r.awaitUp(t)
	})
}
