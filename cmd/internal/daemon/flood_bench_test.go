package daemon

import (
	"crypto/rand"
	"encoding/binary"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/ipv4"

	ikesuite "github.com/ipsecd/ipsecd/ike/suite"
	"github.com/ipsecd/ipsecd/ike/wire"
	"github.com/ipsecd/ipsecd/xfrm/xfrmtest"
)

// BenchmarkNewPeerAfterFlood is how long a new peer takes to be up when it begins right behind 100,000 requests for IKE SAs, which come
// from as many addresses as fast as they can be sent.
func BenchmarkNewPeerAfterFlood(b *testing.B) {
	const requests, batch = 100_000, 50
	var flooding time.Duration
	for b.Loop() {
		b.StopTimer()
		us := startForAnybody(b)
		them := startPeer(b, true, "none", canary)
		begun := time.Now()
		flood(b, uint16(testPorts().second+1), requests, batch)
		flooding += time.Since(begun)
		b.StartTimer()
		if _, err := them.call(b, "initiate", "child", "net"); err != nil {
			b.Fatal(err)
		}
		for !us.up() || !them.up() {
			time.Sleep(100 * time.Microsecond)
		}
		b.StopTimer()
		for _, p := range []*peer{us, them} {
			if err := p.stop(); err != nil {
				b.Fatal(err)
			}
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(requests*b.N)/flooding.Seconds(), "requests/s")
}

// startForAnybody starts the second peer, which takes whoever comes.
func startForAnybody(b *testing.B) *peer {
	b.Helper()
	dir := b.TempDir()
	p := &peer{kernel: xfrmtest.New(), file: filepath.Join(dir, "ipsecd.conf"), socket: filepath.Join(dir, "vici"), log: &logBuffer{}}
	writePeerConfig(b, p.file, false, "none", canary)
	text, err := os.ReadFile(p.file)
	if err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(p.file, []byte(strings.Replace(string(text), "remote_addrs = 127.0.0.1", "remote_addrs = %any", 1)), 0o600); err != nil {
		b.Fatal(err)
	}
	p.start(b, nil)
	return p
}

// flood sends requests for IKE SAs to a NAT-T port of the loopback interface, each from another address of it.
func flood(b *testing.B, port uint16, requests, batch int) {
	b.Helper()
	offer, err := ikesuite.ParseProposal(ikesuite.IKE, "aes256gcm16-prfsha384-ecp384")
	if err != nil {
		b.Fatal(err)
	}
	ke, err := ikesuite.NewKE(offer.Suite().KE.ID, rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	proposal := wire.Proposal{Number: 1, Protocol: wire.ProtocolIKE}
	for _, tr := range offer.Transforms {
		proposal.Transforms = append(proposal.Transforms, wire.Transform{Type: wire.TransformType(tr.Type), ID: tr.ID, KeyLength: tr.KeyBits})
	}
	raw, err := net.ListenPacket("udp4", "0.0.0.0:0")
	if err != nil {
		b.Fatal(err)
	}
	defer raw.Close()
	conn, to := ipv4.NewPacketConn(raw), &net.UDPAddr{IP: net.IPv4(127, 0, 0, 2), Port: int(port)}
	for n := 0; n < requests; n += batch {
		list := make([]ipv4.Message, batch)
		for i := range list {
			id := uint32(n + i + 1)
			data, err := wire.AppendMessage(nonESPMarker[:], wire.Header{InitiatorSPI: wire.SPI(id), Exchange: wire.ExchangeSAInit, Flags: wire.FlagInitiator},
				&wire.SA{Proposals: []wire.Proposal{proposal}}, &wire.KeyExchange{Method: ke.Group(), Data: ke.Public()},
				&wire.Nonce{Data: binary.BigEndian.AppendUint32(make([]byte, 28, 32), id)})
			if err != nil {
				b.Fatal(err)
			}
			src := netip.AddrFrom4([4]byte{127, byte(1 + id>>16), byte(id >> 8), byte(id)})
			list[i] = ipv4.Message{Buffers: [][]byte{data}, OOB: (&ipv4.ControlMessage{Src: src.AsSlice()}).Marshal(), Addr: to}
		}
		for sent := 0; sent < len(list); {
			k, err := conn.WriteBatch(list[sent:], 0)
			if err != nil {
				b.Fatal(err)
			}
			sent += k
		}
	}
}
