package iketest

import (
	"math/rand/v2"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/wire"
)

// attacker is somebody on the path who has no keys.
var attacker = netip.MustParseAddrPort("203.0.113.66:500")

// TestForgedMessages: what nobody has authenticated changes nothing of an established tunnel: copies of everything that was
// ever sent with one bit flipped, cut short, or for the other end, and unprotected
// notifications and Deletes (RFC 7296 sections 1.5 and 2.4).
func TestForgedMessages(t *testing.T) {
	p := NewPair(1, nil)
	p.Record()
	establish(t, p)
	p.A.Do(rekeyChild)
	p.RunFor(time.Minute)
	p.B.Do(rekeyIKE)
	p.RunFor(settleTime)
	agree(t, p)
	r := rand.New(rand.NewPCG(1, 1))
	for _, m := range p.Recorded() {
		if m.Header().Exchange == wire.ExchangeSAInit {
			continue
		}
		for range 50 {
			flipped := append([]byte(nil), m.Data...)
			flipped[r.IntN(len(flipped))] ^= 1 << r.IntN(8)
			unmoved(t, p, flipped)
			unmoved(t, p, m.Data[:r.IntN(len(m.Data))])
		}
	}
	for _, data := range unprotected(only(t, p.A)) {
		unmoved(t, p, data)
	}
	p.GuardTraffic()
	p.RunFor(settleTime)
	agree(t, p)
}

// unmoved sends data to both hosts and fails the test if one of them changes.
func unmoved(t *testing.T, p *Pair, data []byte) {
	t.Helper()
	for _, h := range p.Hosts() {
		before := settled(h)
		actions := h.Spoof(attacker, 500, data)
		noViolation(t, p.Net)
		if after := settled(h); !reflect.DeepEqual(before, after) {
			failRun(t, p.Net, "a forged message of %d octets changed %s from %+v to %+v", len(data), h.Name, before, after)
		}
		for _, a := range actions {
			switch a.(type) {
			case ike.Note, ike.Send, ike.Compute:
			default:
				failRun(t, p.Net, "a forged message made %s do %T", h.Name, a)
			}
		}
	}
}

// settled returns what a forged message must not touch: all IKE SAs but those that are being set up.
func settled(h *Host) []ike.IKESAInfo {
	var sas []ike.IKESAInfo
	for _, sa := range h.Snapshot().IKESAs {
		if sa.State != ike.IKEConnecting {
			sas = append(sas, sa)
		}
	}
	return sas
}

// unprotected returns messages in the clear that would harm if they were believed.
func unprotected(sa ike.IKESAInfo) [][]byte {
	var all [][]byte
	bodies := [][]wire.Payload{
		{&wire.Notify{NotifyType: wire.NotifyInvalidIKESPI}},
		{&wire.Notify{NotifyType: wire.NotifyInvalidSPI, Data: []byte{1, 2, 3, 4}}},
		{&wire.Notify{NotifyType: wire.NotifyAuthenticationFailed}},
		{&wire.Notify{NotifyType: wire.NotifyInitialContact}},
		{&wire.Delete{Protocol: wire.ProtocolIKE}},
		{&wire.Delete{Protocol: wire.ProtocolESP, SPIs: []wire.ChildSPI{wire.ChildSPI(sa.Children[0].SA.SPIIn), wire.ChildSPI(sa.Children[0].SA.SPIOut)}}},
	}
	for _, body := range bodies {
		for _, exchange := range []wire.ExchangeType{wire.ExchangeInformational, wire.ExchangeAuth, wire.ExchangeCreateChildSA, wire.ExchangeSAInit} {
			for flags := range wire.Flags(4) {
				for id := range uint32(4) {
					h := wire.Header{
						InitiatorSPI: wire.SPI(sa.SPIi), ResponderSPI: wire.SPI(sa.SPIr), Exchange: exchange,
						Flags: flags&1*wire.FlagInitiator | flags>>1*wire.FlagResponse, MessageID: id,
					}
					data, err := wire.AppendMessage(nil, h, body...)
					if err != nil {
						panic(err)
					}
					all = append(all, data)
				}
			}
		}
	}
	return all
}

// TestForgedInitResponses: errors and redirections that anybody who sees IKE_SA_INIT can send do not end the attempt
// (RFC 7296 section 2.21.1). With a forged cookie the responder answers two different requests, and one of the answers
// fits (section 2.4).
func TestForgedInitResponses(t *testing.T) {
	forged := []wire.Payload{
		&wire.Notify{NotifyType: wire.NotifyNoProposalChosen},
		&wire.Notify{NotifyType: wire.NotifyInvalidSyntax},
		&wire.Notify{NotifyType: wire.NotifyInvalidKEPayload, Data: []byte{0, 14}},
		&wire.Notify{NotifyType: wire.NotifyInvalidKEPayload, Data: []byte{0, 31}},
		&wire.Notify{NotifyType: wire.NotifyCookie, Data: []byte("a cookie that nobody baked")},
		&wire.Notify{NotifyType: wire.NotifyCookie},
		&wire.Delete{Protocol: wire.ProtocolIKE},
	}
	for _, f := range forged {
		p := NewPair(1, persist)
		p.Record()
		p.A.Initiate()
		p.RunFor(time.Millisecond)
		request := p.Recorded()[0].Header()
		data, err := wire.AppendMessage(nil, wire.Header{InitiatorSPI: request.InitiatorSPI, Exchange: request.Exchange, Flags: wire.FlagResponse}, f)
		if err != nil {
			t.Fatal(err)
		}
		p.A.Spoof(netip.AddrPortFrom(EndB.Addr, 500), 500, data)
		p.RunFor(settleTime)
		if err := p.Agree(); err != nil || p.Err() != nil {
			failRun(t, p.Net, "after a forged %+v: %v %v", f, p.Err(), err)
		}
		if n := len(p.A.Failures()); n > 0 {
			failRun(t, p.Net, "after a forged %+v the first attempt failed", f)
		}
	}
}
