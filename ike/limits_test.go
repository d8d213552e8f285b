package ike

import (
	"bytes"
	"testing"

	"github.com/ipsecd/ipsecd/ike/auth"
	"github.com/ipsecd/ipsecd/ike/suite"
	"github.com/ipsecd/ipsecd/ike/wire"
)

// childOffer is a CREATE_CHILD_SA request for another copy of the pair's CHILD_SA, without a key exchange.
func childOffer(t *testing.T, spi []byte) []wire.Payload {
	t.Helper()
	ts := sels(t, "0.0.0.0/0")
	return []wire.Payload{offerSA(proposals(t, suite.ESP, "aes128gcm16"), spi), &wire.Nonce{Data: make([]byte, 32)},
		tsPayload(wire.PayloadTSi, ts), tsPayload(wire.PayloadTSr, ts)}
}

// withoutPFS lets CHILD_SAs do without a key exchange.
func withoutPFS(t *testing.T) func(a, b *Config) {
	return func(a, b *Config) {
		for _, c := range []*Config{a, b} {
			c.Connections[0].Children[0].Proposals = proposals(t, suite.ESP, "aes128gcm16")
		}
	}
}

// TestChildrenPerIKE: a peer that asks for one CHILD_SA more than the limit is told so, and keeps what it has.
func TestChildrenPerIKE(t *testing.T) {
	p := established(t, withoutPFS(t), func(_, b *Config) { b.Limits.ChildrenPerIKE = 1 })
	answer := inject(t, p, wire.ExchangeCreateChildSA, childOffer(t, []byte{7, 7, 7, 7})...)
	if b := p.b.e.sorted()[0]; wire.FirstNotify(answer, wire.NotifyNoAdditionalSAs) == nil || len(b.children) != 1 {
		t.Errorf("answered by %+v, %d CHILD_SAs", answer, len(b.children))
	}
}

// TestReservedSPI: the SPIs up to 255 are reserved (RFC 4303 section 2.1), and the kernel refuses them.
func TestReservedSPI(t *testing.T) {
	p := established(t, withoutPFS(t))
	answer := inject(t, p, wire.ExchangeCreateChildSA, childOffer(t, []byte{0, 0, 0, 255})...)
	if b := p.b.e.sorted()[0]; wire.FirstNotify(answer, wire.NotifyNoProposalChosen) == nil || len(b.children) != 1 {
		t.Errorf("the responder answers %+v, %d CHILD_SAs", answer, len(b.children))
	}

	p.lose = func(*host, Packet) bool { return true }
	p.b.event(Rekey{Child: "net"})
	a, b := p.a.e.sorted()[0], p.b.e.sorted()[0]
	plain, err := wire.AppendPayloads(nil, childOffer(t, []byte{0, 0, 0, 255})...)
	if err != nil {
		t.Fatal(err)
	}
	data := protect(t, a, a.header(wire.ExchangeCreateChildSA, b.out.next-1, true), uint8(wire.PayloadSA), plain, 0, 0)
	p.b.e.HandlePacket(p.now, Packet{Local: b.local, Remote: b.remote, Data: data})
	p.b.drain()
	if len(b.children) != 1 || b.children[0].state != ChildInstalled {
		t.Errorf("the initiator takes it\n%s", p.history())
	}
}

// TestPendingIsLimited: a peer cannot begin any number of key exchanges that it does not finish.
func TestPendingIsLimited(t *testing.T) {
	p := established(t, withFollowup(t))
	b := p.b.e.sorted()[0]
	for range maxPending {
		beginFollowup(t, p)
	}
	reserved := len(p.b.e.childSPI)
	ke, err := suite.NewKE(suite.KEX25519, p.a.e.rand)
	if err != nil {
		t.Fatal(err)
	}
	request := append(childOffer(t, []byte{7, 7, 7, 7}), &wire.KeyExchange{Method: ke.Group(), Data: ke.Public()})
	request[0] = offerSA(proposals(t, suite.ESP, followupProposal), []byte{7, 7, 7, 7})
	answer := inject(t, p, wire.ExchangeCreateChildSA, request...)
	if wire.FirstNotify(answer, wire.NotifyTemporaryFailure) == nil || len(b.pending) != maxPending || len(p.b.e.childSPI) != reserved {
		t.Errorf("answered by %+v, %d exchanges wait", answer, len(b.pending))
	}
}

// TestJunkIsLimited: somebody who has seen IKE_SA_INIT cannot have us decrypt any number of messages.
func TestJunkIsLimited(t *testing.T) {
	p := newPair(t, first(testConfigs(t)), second(testConfigs(t)))
	p.b.e.cfg.Limits.HalfOpenDecrypts = 2
	p.lose = func(from *host, k Packet) bool {
		if from != p.a || exchangeOf(k) != byte(wire.ExchangeAuth) {
			return false
		}
		for range 5 {
			bad := Packet{Local: k.Remote, Remote: k.Local, NATT: k.NATT, Data: bytes.Clone(k.Data)}
			bad.Data[len(bad.Data)-1] ^= 1
			p.b.e.HandlePacket(p.now, bad)
		}
		return true
	}
	p.settle()
	if got := p.b.e.counters.Invalid; got["integrity"] != 2 || got["too much junk"] != 3 {
		t.Errorf("dropped: %v", got)
	}
}

// TestInitJobsAreLimited: key exchanges for strangers do not pile up.
func TestInitJobsAreLimited(t *testing.T) {
	p := newPair(t, first(testConfigs(t)), second(testConfigs(t)))
	p.b.e.halfOpen.busy = maxInitJobs
	p.settle()
	if len(p.b.e.sas) != 0 || p.b.e.counters.Invalid["too many half-open"] != 1 {
		t.Errorf("%d IKE SAs, dropped %v", len(p.b.e.sas), p.b.e.counters.Invalid)
	}
}

// TestInitJobsAreFair: an address that has many key exchanges under way has no more than half of all, and those that it has come
// after everybody else's.
func TestInitJobsAreFair(t *testing.T) {
	for _, test := range []struct {
		before int
		served bool
		class  JobClass
	}{{0, true, JobSetup}, {fairInitJobs - 1, true, JobSetup}, {fairInitJobs, true, JobBulk}, {maxInitJobs / 2, false, 0}} {
		p := newPair(t, first(testConfigs(t)), second(testConfigs(t)))
		busy := p.b.e.halfOpen.jobs
		if test.before > 0 {
			busy[p.a.addr] = test.before
		}
		p.settle()
		got := p.b.worked
		if !test.served {
			if len(got) != 0 || p.b.e.counters.Invalid["too many half-open"] == 0 {
				t.Errorf("%d before: %v, dropped %v", test.before, got, p.b.e.counters.Invalid)
			}
			continue
		}
		if len(got) == 0 || got[0] != test.class || len(p.b.kernel) == 0 {
			t.Errorf("%d before: %v, want first %v\n%s", test.before, got, test.class, p.history())
		}
		if n := busy[p.a.addr]; n != test.before || p.b.e.halfOpen.busy != 0 {
			t.Errorf("%d before, %d afterwards; %d in all", test.before, n, p.b.e.halfOpen.busy)
		}
	}
}

// TestProposalOfAnotherConnection: what one connection allows must not be used for another one of the same addresses, which the peer's
// identity turns out to mean.
func TestProposalOfAnotherConnection(t *testing.T) {
	ca, cb := twoConnections(t)
	cb.Connections[0].Remote.ID, _ = auth.Parse("gw-a.example")
	cb.Connections[1].Proposals = proposals(t, suite.IKE, "aes256gcm16-prfsha384-ecp384")
	p := newPair(t, ca, cb)
	p.settle()
	p.a.event(Initiate{bystander, bystander})
	p.settle()
	if len(p.b.sas(bystander)) != 0 || len(p.b.kernel) != 0 {
		t.Errorf("set up\n%s", p.history())
	}
}

// TestPPKIsNotGivenUp: an initiator that requires a PPK does not go back to the keys without it, though the responder does not say that it
// has used it (RFC 8784 section 3).
func TestPPKIsNotGivenUp(t *testing.T) {
	for _, required := range []bool{true, false} {
		_, cb := testConfigs(t)
		c := cb.Connections[0]
		c.PPKRequired = required
		sa := &ikeSA{conn: &connection{cfg: c}, setup: &setup{}}
		sa.setup.ppk.used = true
		if err := sa.ppkAnswered(&message{}); (err != nil) != required || sa.setup.ppk.used != required {
			t.Errorf("required %v: error %v, used %v", required, err, sa.setup.ppk.used)
		}
	}
}

// TestNATStaysWithoutDetection: a message of an established IKE SA without NAT detection says nothing about NATs.
func TestNATStaysWithoutDetection(t *testing.T) {
	p := established(t)
	b := p.b.e.sorted()[0]
	b.natRemote, b.mobike.natt = true, true
	p.b.e.updateNAT(b, &message{})
	if !b.encap() || !b.mobike.natt {
		t.Error("UDP encapsulation ends")
	}
}
