package daemon

import (
	"maps"
	"net/netip"
	"time"

	"github.com/ipsecd/ipsecd/cmd/internal/status"
	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/xfrm"
)

type addr = netip.Addr

// halfTraffic is what the kernel last counted for one direction.
type halfTraffic struct {
	bytes, packets uint64
	last           time.Time
}

// count takes in a dump of one half: it adds what is new to the child's totals,
// so that these never fall. It reports whether anything moved. The kernel tells
// no time of last use for ESP: it is that of the poll that saw more packets.
func (in *installer) count(c *installed, h *half, info xfrm.SAInfo) bool {
	bytes, packets := info.Bytes-h.seen.Bytes, info.Packets-h.seen.Packets
	if info.Packets < h.seen.Packets { // the kernel's SA was replaced
		bytes, packets = info.Bytes, info.Packets
	}
	h.seen = info.Counters
	h.status.bytes += bytes
	h.status.packets += packets
	if packets != 0 {
		h.status.last = in.now()
	}
	t := in.total(c)
	if h == c.in {
		t.BytesIn += bytes
		t.PacketsIn += packets
		t.LastIn = later(t.LastIn, h.status.last)
	} else {
		t.BytesOut += bytes
		t.PacketsOut += packets
		t.LastOut = later(t.LastOut, h.status.last)
	}
	return packets != 0
}

func (in *installer) total(c *installed) *status.Totals {
	name := status.ChildName{Connection: c.sa.Connection, Child: c.sa.Config.Name}
	t := in.totals[name]
	if t == nil {
		t = &status.Totals{}
		in.totals[name] = t
	}
	return t
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// poll dumps the SAs, counts them, tells the engine of traffic, and reports to
// it every SA that the kernel no longer has.
func (in *installer) poll() (*kernelStatus, error) {
	sas, err := in.kernel.SAs()
	if err != nil {
		return nil, err
	}
	present := make(map[xfrm.SAID]bool, len(sas))
	moved := map[uint32]bool{}
	for i := range sas {
		id := sas[i].ID()
		present[id] = true
		child, ok := in.bySPI[id]
		if !ok {
			continue
		}
		c := in.children[child]
		for _, h := range []*half{c.in, c.out} {
			if h != nil && h.sa.ID() == id && in.count(c, h, sas[i]) {
				moved[child] = true
			}
		}
		wipe(&sas[i].SA)
	}
	for id := range moved {
		in.emitTraffic(in.children[id])
	}
	in.reportMissing(present)
	return in.status(len(sas)), nil
}

func (in *installer) emitTraffic(c *installed) {
	ev := ike.Traffic{ChildID: c.sa.ID}
	if c.in != nil {
		ev.InPackets, ev.InBytes = c.in.status.packets, c.in.status.bytes
	}
	if c.out != nil {
		ev.OutPackets, ev.OutBytes = c.out.status.packets, c.out.status.bytes
	}
	in.emit(ev)
}

// reportMissing tells the engine of SAs that somebody else deleted: their keys
// are gone, so that only a new CHILD_SA helps. The policies drop meanwhile.
func (in *installer) reportMissing(present map[xfrm.SAID]bool) {
	for id, child := range in.bySPI {
		if present[id] {
			continue
		}
		in.drift++
		in.log.Warn("the kernel lost an SA; asking for a new one", "sa", id.String(), "connection", in.children[child].sa.Connection)
		delete(in.bySPI, id)
		in.emit(ike.Expire{SPI: uint32(id.SPI), Dst: id.Dst, Hard: true})
	}
}

// kernelStatus is the installer's part of status.Status.
type kernelStatus struct {
	taken   time.Time
	traffic map[uint32]status.Traffic
	totals  map[status.ChildName]status.Totals
	upSince map[status.ChildName]time.Time
	kernel  status.Kernel
}

func (in *installer) status(states int) *kernelStatus {
	s := &kernelStatus{
		traffic: make(map[uint32]status.Traffic, len(in.children)),
		totals:  make(map[status.ChildName]status.Totals, len(in.totals)),
		kernel:  status.Kernel{States: states, Drift: in.drift},
	}
	for id, c := range in.children {
		var t status.Traffic
		if c.in != nil {
			t.BytesIn, t.PacketsIn, t.LastIn = c.in.status.bytes, c.in.status.packets, c.in.status.last
		}
		if c.out != nil {
			t.BytesOut, t.PacketsOut, t.LastOut = c.out.status.bytes, c.out.status.packets, c.out.status.last
		}
		s.traffic[id] = t
	}
	s.upSince = maps.Clone(in.upSince)
	for name, t := range in.totals {
		s.totals[name] = *t
	}
	s.kernel.Policies = in.policies.all()
	return s
}
