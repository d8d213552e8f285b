package ike

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"testing"

	"github.com/ipsecd/ipsecd/ike/suite"
	"github.com/ipsecd/ipsecd/ike/wire"
)

// opened puts the protected messages of a pair together as both ends read them.
type opened struct {
	t       *testing.T
	p       *pair
	first   wire.PayloadType
	content []byte // of the fragments so far
}

// take returns the content of the message that k ends, or false.
func (o *opened) take(from *host, k Packet) (m wire.Message, content []byte, ok bool) {
	m, err := wire.ParseMessage(bytes.Clone(k.Data), wireLimits)
	if err != nil {
		o.t.Fatal(err)
	}
	if m.Encrypted == nil {
		return m, nil, false
	}
	to := o.p.a
	if from == o.p.a {
		to = o.p.b
	}
	plain, err := wire.Open(nil, m.Encrypted, to.e.sorted()[0].open)
	if err != nil {
		o.t.Fatal(err)
	}
	if m.Encrypted.Fragment <= 1 {
		o.first, o.content = m.Encrypted.First, nil
	}
	o.content = append(o.content, plain...)
	return m, o.content, m.Encrypted.Fragment == m.Encrypted.Total
}

// TestIntAuth computes the keys and AUTH after two IKE_INTERMEDIATE exchanges, the first one in fragments, as RFC 9370 section 2.2.2 and RFC 9242
// section 3.3.2 write them down.
func TestIntAuth(t *testing.T) {
	ca, cb := testConfigs(t)
	for _, c := range []*Config{ca, cb} {
		c.FragmentSize4 = 600
		c.Connections[0].Proposals = proposals(t, suite.IKE, "aes128gcm16-prfsha256-x25519-ke1_mlkem768-ke2_ecp256")
	}
	p := newPair(t, ca, cb)
	var (
		init, ni, nr []byte      // of IKE_SA_INIT, as sent
		signed       [2][][]byte // requests and responses, as RFC 9242 wants them authenticated
		fragments    int
		secrets      []suite.Key
		used         []suite.Key // SK_d before the last exchange
		got, rest    []byte      // AUTH, and the identity that it covers
		spiI, spiR   wire.SPI
		after        suite.Keys
	)
	message := &opened{t: t, p: p}
	p.lose = func(from *host, k Packet) bool {
		m, content, whole := message.take(from, k)
		switch {
		case m.Exchange == wire.ExchangeSAInit:
			nonce, _ := wire.First[*wire.Nonce](m.Payloads)
			if from == p.a {
				init, ni = bytes.Clone(k.Data), nonce.Data
			} else {
				nr, spiI, spiR = nonce.Data, m.InitiatorSPI, m.ResponderSPI
			}
		case m.Exchange == wire.ExchangeIntermediate:
			fragments++
			used = append(used, p.a.e.sorted()[0].keys.SKd)
			if whole {
				i := 0
				if from == p.b {
					i = 1
				}
				signed[i] = append(signed[i], wholeMessage(k.Data, message.first, content))
			}
		case m.Exchange == wire.ExchangeAuth && from == p.a && whole:
			payloads, err := wire.ParsePayloads(message.first, content, wireLimits)
			if err != nil {
				t.Fatal(err)
			}
			proof, _ := wire.First[*wire.Auth](payloads)
			id, _ := wire.First[*wire.Identification](payloads)
			got, rest, after = proof.Data, id.AppendRest(nil), p.a.e.sorted()[0].keys
		}
		return false
	}
	p.a.holdKE = true
	for range 6 { // a key pair and a shared secret for each exchange
		p.settle()
		secrets = append(secrets, p.a.compute(t)...)
	}
	if len(secrets) != 3 || len(signed[0]) != 2 || len(signed[1]) != 2 || fragments <= 4 || got == nil {
		t.Fatalf("%d secrets, %d and %d messages in %d fragments\n%s", len(secrets), len(signed[0]), len(signed[1]), fragments, p.history())
	}

	s := ca.Connections[0].Proposals[0].Suite()
	f, err := suite.NewPRF(suite.PRFHMACSHA256)
	if err != nil {
		t.Fatal(err)
	}
	in := suite.IKEInput{PRF: f, Encr: s.Encr, Ni: ni, Nr: nr, SPIi: uint64(spiI), SPIr: uint64(spiR), Shared: secrets[0]}
	keys, err := suite.DeriveIKE(in)
	if err != nil {
		t.Fatal(err)
	}
	prf := func(key []byte, parts ...[]byte) []byte {
		h := hmac.New(sha256.New, key)
		for _, p := range parts {
			h.Write(p)
		}
		return h.Sum(nil)
	}
	var i, r []byte
	for n, secret := range secrets[1:] {
		i, r = prf(keys.SKpi.Bytes(), i, signed[0][n]), prf(keys.SKpr.Bytes(), r, signed[1][n])
		in.Shared = secret
		if keys, err = suite.DeriveIKEUpdate(keys.SKd, in); err != nil {
			t.Fatal(err)
		}
	}
	pad := prf([]byte("a pre-shared key"), []byte("Key Pad for IKEv2"))
	if want := prf(pad, init, nr, prf(keys.SKpi.Bytes(), rest), i, r, []byte{0, 0, 0, 3}); !bytes.Equal(got, want) {
		t.Errorf("AUTH is %x, want %x", got, want)
	}
	sameKeys(t, secretsOf(after), secretsOf(keys))
	for _, k := range used {
		if k.Len() != 0 {
			t.Error("keys of an earlier exchange are kept")
		}
	}
	p.settle()
	p.wantUp(t)
}

// wholeMessage writes a message down as RFC 9242 section 3.3.2 authenticates it: neither encrypted nor in fragments.
func wholeMessage(data []byte, first wire.PayloadType, content []byte) []byte {
	out := bytes.Clone(data[:wire.HeaderLen])
	out[16] = byte(wire.PayloadEncrypted)
	binary.BigEndian.PutUint32(out[24:], uint32(wire.HeaderLen+4+len(content)))
	out = append(out, byte(first), 0)
	out = binary.BigEndian.AppendUint16(out, uint16(4+len(content)))
	return append(out, content...)
}

// TestIntermediateOutOfTurn: an initiator that leaves an additional key exchange out, uses another method or does one more is refused: else
// the keys would depend on less than was agreed (RFC 9242 section 3.2, RFC 9370 section 2.2.2).
func TestIntermediateOutOfTurn(t *testing.T) {
	for name, c := range map[string]struct {
		until wire.ExchangeType // this request is replaced
		next  []uint16          // by what begins these key exchanges, or IKE_AUTH
	}{
		"left out":       {wire.ExchangeIntermediate, nil},
		"another method": {wire.ExchangeIntermediate, []uint16{suite.KEECP384}},
		"one more":       {wire.ExchangeAuth, []uint16{suite.KEECP384}},
	} {
		ca, cb := testConfigs(t)
		for _, cfg := range []*Config{ca, cb} {
			cfg.Connections[0].Proposals = proposals(t, suite.IKE, "aes128gcm16-prfsha256-x25519-ke1_ecp256")
		}
		p := newPair(t, ca, cb)
		p.lose = func(from *host, k Packet) bool { return from == p.a && exchangeOf(k) == byte(c.until) }
		p.settle()
		a, b := p.a.e.sorted()[0], p.b.e.sorted()[0]
		p.lose = nil
		p.a.e.settle(a)
		a.out.next--
		a.setup.additional = c.next
		p.a.e.nextKeyExchange(a)
		p.a.drain()
		p.settle()
		if !b.gone || len(p.b.kernel) != 0 {
			t.Errorf("%s: the responder goes on\n%s", name, p.history())
		}
		noPanics(t, p)
	}
}
