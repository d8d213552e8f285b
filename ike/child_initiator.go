package ike

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/ipsecd/ipsecd/ike/suite"
	"github.com/ipsecd/ipsecd/ike/wire"
)

// offer is what we propose for a CHILD_SA in IKE_AUTH or CREATE_CHILD_SA.
type offer struct {
	want              *want
	proposals         []suite.Proposal
	spi               uint32
	localTS, remoteTS []TrafficSelector
	mode              Mode
	ni                []byte
	nr                []byte            // in IKE_AUTH, where there is none of its own
	ke                suite.KeyExchange // nil: no key exchange of its own
	replaces          *childSA          // that is rekeyed
	cpuShare
}

// newOffer makes the offer for a child, or for what replaces old. In IKE_AUTH the CHILD_SA
// has no nonces and no key exchange of its own (RFC 7296 sections 1.2 and 2.17).
func (e *Engine) newOffer(sa *ikeSA, w *want, old *childSA) *offer {
	o := &offer{want: w, proposals: w.cfg.Proposals, spi: e.newChildSPI(), mode: w.cfg.Mode, replaces: old}
	e.childSPI[o.spi] = nil // taken
	if s := sa.setup; s != nil {
		o.proposals = withoutKE(o.proposals)
		o.ni, o.nr = slices.Clone(s.ni), slices.Clone(s.nr)
	} else {
		o.ni = e.newNonce()
	}
	o.perCPU = e.perCPU(w.cfg)
	if old != nil {
		o.perCPU, o.cpu = old.info.PerCPU, old.info.CPU
		// RFC 7296 section 2.9.2: what is in use must not be narrowed.
		o.localTS, o.remoteTS = old.info.LocalTS, old.info.RemoteTS
		return o
	}
	o.localTS = resolve(w.cfg.LocalTS, sa.offeredHosts()...)
	o.remoteTS = resolve(w.cfg.RemoteTS, sa.remoteHosts()...)
	w.packet.first(o)
	return o
}

// payloads returns SA, the nonce, the key exchange and the selectors, after what a
// rekey begins with.
func (o *offer) payloads(first []wire.Payload) []wire.Payload {
	p := append(first, offerSA(o.proposals, wire.ChildSPI(o.spi).Bytes()))
	if o.nr == nil {
		p = append(p, &wire.Nonce{Data: o.ni})
	}
	if o.ke != nil {
		p = append(p, &wire.KeyExchange{Method: o.ke.Group(), Data: o.ke.Public()})
	}
	p = append(p, tsPayload(wire.PayloadTSi, o.localTS), tsPayload(wire.PayloadTSr, o.remoteTS))
	if o.mode == ModeTransport {
		p = append(p, notification(wire.NotifyUseTransportMode, nil))
	}
	if o.perCPU {
		p = append(p, notification(wire.NotifySAResourceInfo, o.cpu.resource()))
	}
	return p
}

// dropOffer gives back what an offer has reserved.
func (e *Engine) dropOffer(o *offer) {
	if o != nil && e.childSPI[o.spi] == nil {
		delete(e.childSPI, o.spi)
	}
}

// childError is a failure to create a CHILD_SA, with the notification that told us, if any.
type childError struct {
	notify wire.NotifyType // 0: our own finding
	text   string
	tell   bool   // the peer believes that it exists: delete it there
	spiOut uint32 // the peer's
}

func (err *childError) Error() string { return err.text }

// childResponse takes the responder's answer to the offer in IKE_AUTH.
func (e *Engine) childResponse(sa *ikeSA, o *offer, m *message) {
	a, err := e.readChildResponse(sa, o, m)
	if err == nil {
		_, err = e.completeChild(sa, o, a)
	}
	if err != nil {
		e.childRefused(sa, o, err)
	}
}

// readChildResponse checks the responder's choice against the offer
// (RFC 7296 sections 2.7 and 2.9).
func (e *Engine) readChildResponse(sa *ikeSA, o *offer, m *message) (agreed, error) {
	if n := m.error(); n != nil {
		e.alertChild(sa, n.NotifyType)
		return agreed{}, &childError{notify: n.NotifyType, text: e.explainChild(sa, o, n)}
	}
	saPayload, tsi, tsr := find[*wire.SA](m), m.selectors(wire.PayloadTSi), m.selectors(wire.PayloadTSr)
	if saPayload == nil || tsi == nil || tsr == nil {
		return agreed{}, &childError{text: "peer's answer has no SA, TSi or TSr payload"}
	}
	chosen, w, err := verifyChoice(o.proposals, saPayload)
	if err != nil {
		return agreed{}, &childError{text: fmt.Sprintf("peer's answer does not fit our ESP proposals: %v %s", err, o.want.cfg.at(sa.conn.cfg, "esp_proposals"))}
	}
	spi, ok := w.ChildSPI()
	if !ok || spi < minESPSPI {
		return agreed{}, &childError{text: "peer's answer has no valid SPI"}
	}
	refuse := func(format string, args ...any) (agreed, error) {
		return agreed{}, &childError{text: fmt.Sprintf(format, args...), tell: true, spiOut: uint32(spi)}
	}
	a := agreed{
		want: o.want, proposal: chosen, spiIn: o.spi, spiOut: uint32(spi), initiator: true, replaces: o.replaces,
		localTS: fromTSPayload(tsi), remoteTS: fromTSPayload(tsr), ni: o.ni, nr: o.nr, mode: ModeTunnel,
		noTFC: m.notify(wire.NotifyESPTFCPaddingNotSupported) != nil, cpuShare: o.cpuShare,
	}
	if o.replaces == nil && o.beside == nil {
		a.perCPU = o.perCPU && m.notify(wire.NotifySAResourceInfo) != nil
	}
	if nonce := find[*wire.Nonce](m); o.nr == nil && nonce != nil {
		a.nr = slices.Clone(nonce.Data)
	}
	if m.notify(wire.NotifyUseTransportMode) != nil {
		a.mode = ModeTransport
		a.localTS, a.remoteTS = sa.behindNAT(a.localTS, a.remoteTS)
	}
	if len(a.localTS) == 0 || len(a.remoteTS) == 0 || !covered(o.localTS, a.localTS) || !covered(o.remoteTS, a.remoteTS) {
		return refuse("peer answers with traffic selectors %s === %s, and we offered %s === %s %s",
			tsString(a.localTS), tsString(a.remoteTS), tsString(o.localTS), tsString(o.remoteTS), o.want.cfg.at(sa.conn.cfg, ""))
	}
	a.localTS, a.remoteTS = merged(a.localTS), merged(a.remoteTS)
	if b := o.beside; b != nil && (!slices.Equal(a.localTS, b.info.LocalTS) || !slices.Equal(a.remoteTS, b.info.RemoteTS)) {
		return refuse("peer answers with other traffic selectors than those of %s", b.label())
	}
	if own := narrow(resolve(o.want.cfg.LocalTS, sa.localHosts()...), a.localTS); o.replaces == nil && len(sa.virtual.local) > 0 {
		if len(own) == 0 {
			return refuse("peer answers with the traffic selectors %s for us, which do not fit the virtual addresses %v that it has assigned %s",
				tsString(a.localTS), sa.virtual.local, o.want.cfg.at(sa.conn.cfg, "local_ts"))
		}
		a.localTS = own
	}
	if a.mode != o.mode {
		return refuse("peer uses %v mode, and we want %v %s", a.mode, o.mode, o.want.cfg.at(sa.conn.cfg, "mode"))
	}
	return a, nil
}

// completeChild installs what initiator and responder agreed on.
func (e *Engine) completeChild(sa *ikeSA, o *offer, a agreed) (*childSA, error) {
	c, err := e.addChild(sa, a)
	if err != nil {
		return nil, &childError{text: err.Error(), tell: true, spiOut: a.spiOut}
	}
	return c, nil
}

// childRefused deals with an offer that came to nothing. The IKE SA stays
// (RFC 7296 section 2.21.2).
func (e *Engine) childRefused(sa *ikeSA, o *offer, err error) {
	var ce *childError
	errors.As(err, &ce)
	if ce.tell {
		e.enqueue(sa, &deleteChildTask{spi: o.spi})
	}
	e.dropOffer(o)
	if o.replaces == nil {
		e.childFailed(o.want, sa, ce.text)
	}
}

// wantedGroup returns the group that INVALID_KE_PAYLOAD asks for, if we
// proposed it and have not just used it (RFC 7296 section 1.3).
func wantedGroup(n *wire.Notify, proposals []suite.Proposal, used uint16) (uint16, bool) {
	if n == nil || len(n.Data) != 2 {
		return 0, false
	}
	group := binary.BigEndian.Uint16(n.Data)
	return group, group != used && slices.Contains(groupsOf(proposals), group)
}
