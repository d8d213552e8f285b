package iketest

import (
	"net/netip"
	"slices"
	"time"

	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/wire"
)

// Record makes the Net keep every IKE message that an engine sends from now on.
func (n *Net) Record() { n.recording = true }

// Recorded returns the messages kept since Record.
func (n *Net) Recorded() []*Message { return n.recorded }

// Spoof delivers data to a host now, as if they came from src; nobody can tell who sent them. It
// returns the actions that the engine asked for.
func (h *Host) Spoof(src netip.AddrPort, dstPort uint16, data []byte) []ike.Action {
	dst := netip.AddrPortFrom(h.addrs[0], dstPort)
	h.net.tracef("%d octets arrive at %s from %v", len(data), h.Name, src)
	if hdr, err := wire.ParseHeader(data); err == nil && hdr.IsResponse() && hdr.Exchange == wire.ExchangeSAInit {
		h.net.wire.spoiled[hdr.InitiatorSPI] = true
	}
	h.net.wire.requestArrives(data)
	p := ike.Packet{Local: dst, Remote: src, NATT: dstPort != 500, Data: slices.Clone(data)}
	h.step(func(now time.Time) { h.engine.HandlePacket(now, p) })
	return slices.Clone(h.last)
}
