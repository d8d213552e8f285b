package ike

import (
	"encoding/binary"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike/auth"
	"github.com/ipsecd/ipsecd/ike/iketest/corpus"
	"github.com/ipsecd/ipsecd/ike/suite"
	"github.com/ipsecd/ipsecd/ike/wire"
)

// bystander is the connection, beside "gw", that no hostile message may touch.
const bystander = "other"

// twoConnections returns matching configurations with two connections; a starts the bystander alone.
func twoConnections(t *testing.T) (ca, cb *Config) {
	t.Helper()
	ca, cb = testConfigs(t)
	for i, cfg := range []*Config{ca, cb} {
		gw := cfg.Connections[0]
		gw.Proposals = proposals(t, suite.IKE, "aes128gcm16-prfsha256-x25519-ecp256-modp2048")
		gw.Children[0].Proposals = proposals(t, suite.ESP, "aes128gcm16", "aes128-sha256", "null-sha256")
		other, child := *gw, *gw.Children[0]
		other.Name, child.Name = bystander, bystander
		other.Children = []*ChildConfig{&child}
		ids := []string{"other-a.example", "other-b.example"}
		other.Local.ID, _ = auth.Parse(ids[i])
		other.Remote.ID, _ = auth.Parse(ids[1-i])
		gw.Children[0].StartAction = ActionClear
		cfg.Connections = append(cfg.Connections, &other)
	}
	return ca, cb
}

// sas returns what is to be seen of a connection's IKE SAs on a host.
func (h *host) sas(connection string) []IKESAInfo {
	list := h.e.Snapshot(h.pair.now).IKESAs
	return slices.DeleteFunc(list, func(s IKESAInfo) bool { return s.Connection != connection })
}

// only returns the engine's own record of a connection's only IKE SA.
func (h *host) only(t *testing.T, connection string) *ikeSA {
	t.Helper()
	var found []*ikeSA
	for _, sa := range h.e.sorted() {
		if sa.conn != nil && sa.conn.cfg.Name == connection || sa.conn == nil && connection == "" {
			found = append(found, sa)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%s has %d IKE SAs of %q\n%s", h.name, len(found), connection, h.pair.history())
	}
	return found[0]
}

// hostile sends inputs of the corpus to b, each in a world of its own, and checks the answer and that nothing
// else has changed: that a message is refused is not enough.
func hostile(t *testing.T, names ...string) {
	t.Helper()
	all := corpus.All()
	for _, name := range names {
		i := slices.IndexFunc(all, func(in corpus.Input) bool { return in.Name == name })
		if i < 0 {
			t.Errorf("the corpus has no %s", name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			in := all[i]
			p := newPair(t, first(twoConnections(t)), second(twoConnections(t)))
			p.settle()
			p.a.event(Initiate{bystander, bystander})
			p.settle()
			if len(p.b.sas(bystander)) != 1 {
				t.Fatalf("no bystander:\n%s", p.history())
			}
			switch in.Stage {
			case corpus.Clear:
				clearInput(t, p, in)
			case corpus.HalfOpen:
				halfOpenInput(t, p, in)
			case corpus.Established:
				establishedInput(t, p, in)
			}
			noPanics(t, p)
			p.lose = nil
			p.run(time.Minute)
			p.a.event(Rekey{Child: bystander})
			p.run(time.Minute)
			for _, h := range []*host{p.a, p.b} {
				if s := h.sas(bystander); len(s) != 1 || s[0].State != IKEEstablished || len(s[0].Children) != 1 || h.up[bystander] != 1 {
					t.Errorf("%s has lost the bystander:\n%s", h.name, p.history())
				}
			}
			for _, n := range p.b.notes {
				if strings.ContainsAny(strings.TrimRight(n.Text, "\n"), "\n\r\x1b\x00") {
					t.Errorf("the peer's octets are in the log as they are: %q", n.Text)
				}
				if len(n.Text) > 2000 {
					t.Errorf("a line of %d octets is in the log", len(n.Text))
				}
			}
		})
	}
}

// clearInput sends a datagram from the peer's address, as anybody can.
func clearInput(t *testing.T, p *pair, in corpus.Input) {
	_, err := wire.ParseMessage(in.Data, wireLimits)
	decoded(t, in, err)
	var answers []*wire.Message
	p.lose = func(from *host, k Packet) bool {
		m, err := wire.ParseMessage(k.Data, wireLimits)
		if err != nil || len(k.Data) > len(in.Data)+16 && in.Expect != "accepted" {
			t.Errorf("the answer has %d octets, the request %d: %v", len(k.Data), len(in.Data), err)
		}
		answers = append(answers, &m)
		return true
	}
	before, malformed := p.b.e.Snapshot(p.now), p.b.e.counters.Invalid["malformed"]
	from := Packet{Local: p.b.only(t, bystander).local, Remote: p.b.only(t, bystander).remote}
	from.Data = slices.Clone(in.Data)
	p.b.e.HandlePacket(p.now, from)
	p.b.drain()
	p.run(2 * time.Minute) // nothing is sent unasked, and what was half open is forgotten
	after := p.b.e.Snapshot(p.now)
	if !reflect.DeepEqual(before.IKESAs, after.IKESAs) || after.Counters.HalfOpen != 0 || len(p.b.e.inits) > 1 || len(p.b.e.jobs) != 0 {
		t.Errorf("it changes the responder from %+v to %+v, %d requests remembered", before.IKESAs, after.IKESAs, len(p.b.e.inits))
	}
	if in.Error != "" && p.b.e.counters.Invalid["malformed"] != malformed+1 {
		t.Error("it was dropped before it was decoded")
	}
	switch in.Expect {
	case "silence":
		if len(answers) != 0 {
			t.Errorf("answered by %+v", answers[0])
		}
		if in.Error == "" && !strings.Contains(p.b.log(), "key exchange with") {
			t.Error("it was dropped before the key exchange")
		}
		return
	case "accepted":
		if len(answers) != 1 || !answers[0].IsResponse() || answers[0].ResponderSPI == 0 || wire.FirstError(answers[0].Payloads) != nil {
			t.Errorf("%d answers, want one that is no error: %+v", len(answers), answers)
		}
		return
	}
	if len(answers) != 1 || !answers[0].IsResponse() || answers[0].ResponderSPI != 0 || answers[0].MessageID != 0 {
		t.Fatalf("answers %+v, want one without state", answers)
	}
	onlyNotify(t, in, answers[0].Payloads)
}

// decoded checks what our decoder says.
func decoded(t *testing.T, in corpus.Input, err error) {
	t.Helper()
	if (err == nil) != (in.Error == "") || err != nil && !strings.Contains(err.Error(), in.Error) {
		if !strings.Contains(in.Expect, "UNSUPPORTED_CRITICAL_PAYLOAD") && !strings.Contains(in.Expect, "INVALID_MAJOR_VERSION") {
			t.Errorf("decodes with error %v, want %q", err, in.Error)
		}
	}
}

func onlyNotify(t *testing.T, in corpus.Input, payloads []wire.Payload) {
	t.Helper()
	if len(payloads) != 1 {
		t.Fatalf("the answer has %d payloads: %+v", len(payloads), payloads)
	}
	if n, ok := payloads[0].(*wire.Notify); !ok || n.NotifyType.String() != in.Expect {
		t.Errorf("the answer is %+v, want %s", payloads[0], in.Expect)
	}
}

// protect encrypts the payloads of an input as a peer would, at the end of padding octets of padding.
func protect(t testing.TB, sa *ikeSA, h wire.Header, first uint8, plain []byte, padLength byte, padding int) []byte {
	t.Helper()
	data, err := wire.AppendMessage(nil, h)
	if err != nil {
		t.Fatal(err)
	}
	data[16] = byte(wire.PayloadEncrypted)
	body := append(append(slices.Clone(plain), make([]byte, padding)...), padLength)
	total := 4 + sa.seal.IVLen() + len(body) + sa.seal.ICVLen()
	data = append(data, first, 0)
	data = binary.BigEndian.AppendUint16(data, uint16(total))
	binary.BigEndian.PutUint32(data[24:], uint32(28+total))
	iv, err := sa.seal.NextIV(zeros{})
	if err != nil {
		t.Fatal(err)
	}
	aad := slices.Clone(data)
	return sa.seal.Seal(append(data, iv...), iv, body, aad)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// exchangeNamed returns the exchange of an input.
func exchangeNamed(t testing.TB, name string) wire.ExchangeType {
	t.Helper()
	for _, x := range []wire.ExchangeType{wire.ExchangeAuth, wire.ExchangeCreateChildSA, wire.ExchangeInformational} {
		if x.String() == name {
			return x
		}
	}
	t.Fatalf("exchange %q", name)
	return 0
}

// sendProtected has a send an input to b, and returns what is inside of the answer; nil: there is none.
func sendProtected(t *testing.T, p *pair, a, b *ikeSA, in corpus.Input) []wire.Payload {
	t.Helper()
	_, err := wire.ParsePayloads(wire.PayloadType(in.First), in.Data, wireLimits)
	decoded(t, in, err)
	open, remote := a.open, Packet{Local: b.local, Remote: b.remote, NATT: b.natt}
	var answers [][]wire.Payload
	p.lose = func(from *host, k Packet) bool {
		m, err := wire.ParseMessage(k.Data, wireLimits)
		if from != p.b || err != nil || m.Encrypted == nil || m.InitiatorSPI != a.spiI {
			return true
		}
		plain, err := wire.Open(nil, m.Encrypted, open)
		if err != nil || !m.IsResponse() {
			t.Fatalf("%v: %+v", err, m)
		}
		payloads, err := wire.ParsePayloads(m.Encrypted.First, plain, wireLimits)
		if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, append([]wire.Payload{}, payloads...))
		return true
	}
	remote.Data = protect(t, a, a.header(exchangeNamed(t, in.Exchange), b.in.next, false), in.First, in.Data, 0, 0)
	p.b.e.HandlePacket(p.now, remote)
	p.b.drain()
	switch {
	case in.Expect == "silence" && len(answers) != 0:
		t.Errorf("answered by %+v", answers)
	case in.Expect == "silence":
		return nil
	case len(answers) != 1:
		t.Fatalf("%d answers: %+v\n%s", len(answers), answers, p.history())
	}
	return answers[0]
}

// halfOpenInput takes the place of an IKE_AUTH request.
func halfOpenInput(t *testing.T, p *pair, in corpus.Input) {
	p.lose = func(from *host, k Packet) bool { return exchangeOf(k) == byte(wire.ExchangeAuth) }
	p.a.event(Initiate{"gw", "net"})
	p.settle()
	a, b := p.a.only(t, "gw"), p.b.only(t, "")
	answer := sendProtected(t, p, a, b, in)
	if answer != nil {
		onlyNotify(t, in, answer)
	}
	if gone := b.gone; gone != (in.SA == "gone") {
		t.Errorf("the half-open IKE SA is gone: %v, want %s", gone, in.SA)
	}
	if len(p.b.sas("gw")) != 0 || len(p.b.kernel) != 1 || len(p.b.e.childSPI) != 1 {
		t.Errorf("something was set up:\n%s", p.history())
	}
	if in.SA == "kept" { // and the real request is still welcome
		p.lose = nil
		p.run(time.Minute)
		if s := p.b.sas("gw"); len(s) != 1 || s[0].State != IKEEstablished || len(s[0].Children) != 1 {
			t.Errorf("IKE_AUTH is refused afterwards:\n%s", p.history())
		}
	}
}

// establishedInput comes from an authenticated peer.
func establishedInput(t *testing.T, p *pair, in corpus.Input) {
	p.a.event(Initiate{"gw", "net"})
	p.settle()
	a, b := p.a.only(t, "gw"), p.b.only(t, "gw")
	if len(b.children) != 1 {
		t.Fatalf("no child:\n%s", p.history())
	}
	onlyNotify(t, in, sendProtected(t, p, a, b, in))
	if gone := b.gone; gone != (in.SA == "gone") {
		t.Errorf("the IKE SA is gone: %v, want %s", gone, in.SA)
	}
	for spi, c := range p.b.e.childSPI {
		if c == nil {
			t.Errorf("SPI %08x is reserved for nothing", spi)
		}
	}
	if in.SA == "kept" { // and serves on
		p.lose = nil
		a.out.next = b.in.next
		p.a.event(Rekey{Child: "net"})
		p.run(time.Minute)
		if s := p.b.sas("gw"); len(s) != 1 || len(s[0].Children) != 1 || p.b.up["net"] != 1 {
			t.Errorf("the IKE SA does not serve any more:\n%s", p.history())
		}
	}
}
