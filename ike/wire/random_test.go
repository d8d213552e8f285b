package wire

import (
	"math/rand/v2"
	"net/netip"
	"testing"
)

// Random payloads, as different as the types permit, survive the round trip.
func TestRandomRoundTrip(t *testing.T) {
	random := rand.New(rand.NewPCG(7296, 0))
	for range 500 {
		var want []Payload
		for range random.IntN(8) {
			want = append(want, randomPayload(random))
		}
		h := Header{
			InitiatorSPI: SPI(random.Uint64()), ResponderSPI: SPI(random.Uint64()),
			Exchange: ExchangeType(random.Uint32()), Flags: Flags(random.Uint32()) & knownFlags, MessageID: random.Uint32(),
		}
		data, err := AppendMessage(nil, h, want...)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ParseMessage(data, Limits{})
		if err != nil {
			t.Fatalf("%x: %v", data, err)
		}
		if d := diff(Message{Header: h, Payloads: want}, got); d != "" {
			t.Fatal(d)
		}
	}
}

func randomBytes(r *rand.Rand, least, most int) []byte {
	b := make([]byte, least+r.IntN(most-least+1))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func randomPayload(r *rand.Rand) Payload {
	switch r.IntN(14) {
	case 0:
		p := new(SA)
		for range 1 + r.IntN(4) {
			p.Proposals = append(p.Proposals, randomProposal(r))
		}
		return p
	case 1:
		return &KeyExchange{Method: uint16(r.Uint32()), Data: randomBytes(r, 0, 600)}
	case 2:
		return &Identification{PayloadType: PayloadIDi + PayloadType(r.IntN(2)), IDType: IDType(r.Uint32()), Reserved: [3]byte(randomBytes(r, 3, 3)), Data: randomBytes(r, 0, 40)}
	case 3:
		return &Certificate{Encoding: CertEncoding(r.Uint32()), Data: randomBytes(r, 0, 2000)}
	case 4:
		return &CertificateRequest{Encoding: CertEncoding(r.Uint32()), Authority: randomBytes(r, 0, 60)}
	case 5:
		return &Auth{Method: AuthMethod(r.Uint32()), Data: randomBytes(r, 0, 512)}
	case 6:
		return &Nonce{Data: randomBytes(r, MinNonce, MaxNonce)}
	case 7:
		return &Notify{Protocol: ProtocolID(r.Uint32()), SPI: randomBytes(r, 0, 255), NotifyType: NotifyType(r.Uint32()), Data: randomBytes(r, 0, 100)}
	case 8:
		p := &Delete{Protocol: []ProtocolID{ProtocolIKE, ProtocolAH, ProtocolESP}[r.IntN(3)]}
		if p.Protocol != ProtocolIKE {
			for range r.IntN(5) {
				p.SPIs = append(p.SPIs, ChildSPI(r.Uint32()))
			}
		}
		return p
	case 9:
		return &VendorID{Data: randomBytes(r, 0, 40)}
	case 10:
		p := &TrafficSelectors{PayloadType: PayloadTSi + PayloadType(r.IntN(2))}
		for range 1 + r.IntN(5) {
			p.Selectors = append(p.Selectors, randomSelector(r))
		}
		return p
	case 11:
		p := &Configuration{CFGType: CFGType(r.Uint32())}
		for range r.IntN(6) {
			p.Attributes = append(p.Attributes, ConfigAttribute{Type: ConfigType(r.Uint32()) & maxConfigType, Value: randomBytes(r, 0, 20)})
		}
		return p
	case 12:
		m := randomBytes(r, 5, 100)
		m[2], m[3] = 0, byte(len(m))
		return &EAP{Message: m}
	}
	return &Unknown{PayloadType: 128 + PayloadType(r.IntN(128)), Body: randomBytes(r, 0, 50)}
}

func randomProposal(r *rand.Rand) Proposal {
	p := Proposal{Number: uint8(r.Uint32()), Protocol: ProtocolID(1 + r.IntN(4))}
	switch p.Protocol {
	case ProtocolIKE:
		p.SPI = randomBytes(r, 8, 8)[:8*r.IntN(2)]
	case ProtocolAH, ProtocolESP:
		p.SPI = randomBytes(r, 4, 4)
	default:
		p.SPI = randomBytes(r, 0, 255)
	}
	for range 1 + r.IntN(20) {
		t := Transform{Type: TransformType(r.Uint32()), ID: uint16(r.Uint32()), KeyLength: uint16(r.IntN(2)) * uint16(r.Uint32())}
		for range r.IntN(3) {
			t.Unknown = append(t.Unknown, TransformAttribute{Type: 15 + uint16(r.IntN(100)), Value: randomBytes(r, 0, 9)})
		}
		p.Transforms = append(p.Transforms, t)
	}
	return p
}

func randomSelector(r *rand.Rand) TrafficSelector {
	s := TrafficSelector{Protocol: uint8(r.Uint32()), StartPort: uint16(r.Uint32()), EndPort: uint16(r.Uint32())}
	switch r.IntN(3) {
	case 0:
		s.TSType = TSIPv4AddrRange
		s.First, s.Last = netip.AddrFrom4([4]byte(randomBytes(r, 4, 4))), netip.AddrFrom4([4]byte(randomBytes(r, 4, 4)))
	case 1:
		s.TSType = TSIPv6AddrRange
		s.First, s.Last = netip.AddrFrom16([16]byte(randomBytes(r, 16, 16))), netip.AddrFrom16([16]byte(randomBytes(r, 16, 16)))
	default:
		return TrafficSelector{TSType: 9, Protocol: s.Protocol, Unknown: randomBytes(r, 0, 30)}
	}
	if s.Last.Less(s.First) {
		s.First, s.Last = s.Last, s.First
	}
	return s
}
