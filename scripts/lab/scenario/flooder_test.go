//go:build lab

package scenario

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"

	"golang.org/x/net/ipv4"

	ikesuite "github.com/ipsecd/ipsecd/ike/suite"
	"github.com/ipsecd/ipsecd/ike/wire"
	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// A flood of IKE_SA_INIT requests is as many from one address for so many from forged
// ones, each of which sends one.
const (
	floodForged  = 100_000
	floodOne     = 10_000
	floodBatch   = floodForged / floodOne // forged ones for each of the other
	floodNet     = "10.128.0.0/15"        // has the forged addresses
	floodAddress = "10.54.0.1"            // has the other one
)

// flooder sends IKE_SA_INIT requests, each with another SPI and nonce. It returns the
// cookies that are demanded from the one address that is its own.
type flooder struct {
	to       *net.UDPAddr
	payloads []wire.Payload   // behind the nonce
	forged   *ipv4.PacketConn // nobody reads it: who is flooded answers to strangers
	own      net.PacketConn
	sent     atomic.Int64
	cookies  atomic.Int64 // returned
	answers  atomic.Int64 // that were no cookies: half-open SAs, for the most part
}

// newFlooder joins a namespace to transit that has the addresses.
func newFlooder(t *testing.T, s *sites, to string) *flooder {
	t.Helper()
	n := labtest.NewNetns(t, "flood")
	labtest.Link(t,
		labtest.End{Netns: n, Device: "out", Addresses: []string{floodAddress + "/24"}},
		labtest.End{Netns: s.transit, Device: "flood", Addresses: []string{"10.54.0.254/24"}})
	n.IP(t, "route add default via 10.54.0.254", "route add local "+floodNet+" dev lo")
	s.transit.IP(t, "route add "+floodNet+" via "+floodAddress)
	f := &flooder{to: net.UDPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(to), 500))}
	f.forged = ipv4.NewPacketConn(labtest.ListenUDP(t, n, "0.0.0.0:5000"))
	f.own = labtest.ListenUDP(t, n, floodAddress+":500")

	offer, err := ikesuite.ParseProposal(ikesuite.IKE, "aes128gcm16-prfsha256-x25519")
	if err != nil {
		t.Fatal(err)
	}
	proposal := wire.Proposal{Number: 1, Protocol: wire.ProtocolIKE}
	for _, tr := range offer.Transforms {
		proposal.Transforms = append(proposal.Transforms, wire.Transform{Type: wire.TransformType(tr.Type), ID: tr.ID, KeyLength: tr.KeyBits})
	}
	f.payloads = []wire.Payload{
		&wire.SA{Proposals: []wire.Proposal{proposal}},
		&wire.KeyExchange{Method: offer.Suite().KE.ID, Data: append([]byte{9}, make([]byte, 31)...)}, // the base point
	}
	return f
}

// request with an SPI, and a nonce of it.
func (f *flooder) request(spi wire.SPI, cookie []byte) ([]byte, error) {
	var payloads []wire.Payload
	if cookie != nil {
		payloads = append(payloads, &wire.Notify{NotifyType: wire.NotifyCookie, Data: cookie})
	}
	payloads = append(payloads, f.payloads...)
	payloads = append(payloads, &wire.Nonce{Data: binary.BigEndian.AppendUint64(make([]byte, 24, 32), uint64(spi))})
	return wire.AppendMessage(nil, wire.Header{InitiatorSPI: spi, Exchange: wire.ExchangeSAInit, Flags: wire.FlagInitiator}, payloads...)
}

// run sends the whole flood, and goes on with it until ctx ends.
func (f *flooder) run(ctx context.Context) error {
	first := netip.MustParsePrefix(floodNet).Addr().As4()
	for n := uint32(0); n < floodOne || ctx.Err() == nil; n++ {
		batch := make([]ipv4.Message, floodBatch)
		for i := range batch {
			k := n*floodBatch + uint32(i) + 1
			data, err := f.request(wire.SPI(1<<32+uint64(k)), nil)
			if err != nil {
				return err
			}
			src := binary.BigEndian.AppendUint32(nil, binary.BigEndian.Uint32(first[:])+k%floodForged+1)
			batch[i] = ipv4.Message{Buffers: [][]byte{data}, OOB: (&ipv4.ControlMessage{Src: src}).Marshal(), Addr: f.to}
		}
		for sent := 0; sent < len(batch); {
			k, err := f.forged.WriteBatch(batch[sent:], 0)
			if err != nil {
				return fmt.Errorf("from a forged address: %w", err)
			}
			sent += k
		}
		data, err := f.request(wire.SPI(n+1), nil)
		if err == nil {
			_, err = f.own.WriteTo(data, f.to)
		}
		if err != nil {
			return fmt.Errorf("from %s: %w", floodAddress, err)
		}
		f.sent.Add(floodBatch + 1)
	}
	return nil
}

// returnCookies until the socket is closed.
func (f *flooder) returnCookies() {
	buf := make([]byte, 2000)
	for {
		n, _, err := f.own.ReadFrom(buf)
		if err != nil {
			return
		}
		msg, err := wire.ParseMessage(buf[:n], wire.Limits{})
		if err != nil {
			continue
		}
		cookie := wire.FirstNotify(msg.Payloads, wire.NotifyCookie)
		if cookie == nil {
			f.answers.Add(1)
			continue
		}
		data, err := f.request(msg.InitiatorSPI, cookie.Data)
		if err != nil {
			continue
		}
		if _, err := f.own.WriteTo(data, f.to); err == nil {
			f.cookies.Add(1)
		}
	}
}
