package bgp

import (
	"cmp"
	"context"
	"net/netip"
	"slices"
	"time"
)

// peer is what is remembered about a neighbour. Server.mu guards it.
type peer struct {
	neighbor Neighbor
	up       bool
	since    time.Time // last change of up
	flaps    uint64
	eor      bool
	reason   string                    // why the session is down
	refused  map[netip.Prefix]struct{} // at most MaxRefused
	hidden   int                       // refused beyond those, since the session came up
	unwatch  context.CancelFunc        // nil without a watcher of refused prefixes
}

func (p *peer) stopWatch() {
	if p.unwatch != nil {
		p.unwatch()
		p.unwatch = nil
	}
}

// refuse remembers that prefix was announced and is not accepted, and says
// whether it is the first one.
func (p *peer) refuse(prefix netip.Prefix) (first bool) {
	if _, ok := p.refused[prefix]; ok {
		return false
	}
	if len(p.refused) >= MaxRefused {
		p.hidden++
		return false
	}
	if p.refused == nil {
		p.refused = make(map[netip.Prefix]struct{})
	}
	p.refused[prefix] = struct{}{}
	return len(p.refused) == 1
}

func (p *peer) sessionUp(now time.Time) {
	// The refused prefixes stay: they may have arrived before this event.
	p.up, p.since, p.eor, p.reason = true, now, false, ""
}

func (p *peer) sessionDown(now time.Time) {
	p.up, p.since, p.eor = false, now, false
	p.flaps++
	p.refused, p.hidden = nil, 0
}

func (p *peer) status() PeerStatus {
	st := PeerStatus{
		Name: p.neighbor.Name, Address: p.neighbor.Address, AS: p.neighbor.AS,
		State: StateIdle, Since: p.since, EndOfRIB: p.eor, Flaps: p.flaps, LastError: p.reason,
		RefusedCount: len(p.refused) + p.hidden,
	}
	for prefix := range p.refused {
		st.Refused = append(st.Refused, prefix)
	}
	slices.SortFunc(st.Refused, comparePrefix)
	return st
}

func comparePrefix(a, b netip.Prefix) int {
	return cmp.Or(a.Addr().Compare(b.Addr()), cmp.Compare(a.Bits(), b.Bits()))
}
