package wire

import (
	"bytes"
	"errors"
	"testing"
)

// RFC 7296 section 2.5: reserved fields and the minor version are ignored.
func TestReservedBitsAreIgnored(t *testing.T) {
	clean := unhex(t, capturedSAInit)
	want, err := ParseMessage(clean, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for offset, bits := range map[int]byte{
		0x11: 0x0f, // minor version
		0x13: 0xc7, // header flags
		0x1d: 0x7f, // SA payload
		0x21: 0xff, // proposal
		0x29: 0xff, // first transform, before its length
		0x2d: 0xff, // first transform, after its type
		0x4d: 0x7f, // KE payload
		0x52: 0xff, // KE, after the method
		0x53: 0xff,
	} {
		dirty := bytes.Clone(clean)
		dirty[offset] |= bits
		got, err := ParseMessage(dirty, Limits{})
		if err != nil {
			t.Errorf("octet %#x: %v", offset, err)
			continue
		}
		if d := diff(want, got); d != "" {
			t.Errorf("octet %#x changes the meaning (-want +got):\n%s", offset, d)
		}
	}
}

func TestReservedFieldsInOtherPayloads(t *testing.T) {
	for _, c := range []struct {
		typ          PayloadType
		clean, dirty string
	}{
		{PayloadAuth, `02 000000 dead`, `02 ffffff dead`},
		{PayloadTSi, `01 000000 07 00 0010 0000ffff 00000000 ffffffff`, `01 ffffff 07 00 0010 0000ffff 00000000 ffffffff`},
		{PayloadConfiguration, `01 000000 0001 0000`, `01 ffffff 8001 0000`},
	} {
		want, err := ParseMessage(inMessage(c.typ, unhex(t, c.clean)), Limits{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := ParseMessage(inMessage(c.typ, unhex(t, c.dirty)), Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if d := diff(want, got); d != "" {
			t.Errorf("%v (-clean +dirty):\n%s", c.typ, d)
		}
	}
}

// RFC 7296 section 2.15: AUTH covers the reserved octets of the ID payload as received.
func TestReservedOctetsOfIdentityAreSigned(t *testing.T) {
	body := unhex(t, `02 a1b2c3 6777`)
	m, err := ParseMessage(inMessage(PayloadIDr, body), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	id, ok := First[*Identification](m.Payloads)
	if !ok || id.IDType != IDFQDN || string(id.Data) != "gw" {
		t.Fatalf("identity %+v", id)
	}
	if got := id.AppendRest(nil); !bytes.Equal(got, body) {
		t.Errorf("octets under AUTH %x, want %x", got, body)
	}
}

// RFC 7296 section 3.11: the number of SPIs of an IKE SA says nothing.
func TestDeleteOfIKECountIsIgnored(t *testing.T) {
	m, err := ParseMessage(inMessage(PayloadDelete, unhex(t, `01 00 ffff`)), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if d := diff([]Payload{&Delete{Protocol: ProtocolIKE}}, m.Payloads); d != "" {
		t.Error(d)
	}
}

// RFC 7296 section 3.3.6: a transform with an attribute that is not understood
// must not be chosen, so the attribute must show.
func TestUnknownTransformAttributes(t *testing.T) {
	for name, c := range map[string]struct {
		attributes string
		want       Transform
	}{
		"other type, short":       {`800f 0001`, Transform{Unknown: []TransformAttribute{{Type: 15, Short: true, Value: []byte{0, 1}}}}},
		"other type, long":        {`000f 0003 010203`, Transform{Unknown: []TransformAttribute{{Type: 15, Value: []byte{1, 2, 3}}}}},
		"key length, long format": {`000e 0002 0080`, Transform{Unknown: []TransformAttribute{{Type: 14, Value: []byte{0, 128}}}}},
		"key length 0":            {`800e 0000`, Transform{Unknown: []TransformAttribute{{Type: 14, Short: true, Value: []byte{0, 0}}}}},
		"key length twice":        {`800e 0080 800e 0100`, Transform{KeyLength: 128, Unknown: []TransformAttribute{{Type: 14, Short: true, Value: []byte{1, 0}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			attributes := unhex(t, c.attributes)
			body := append(unhex(t, `00 00 0000 01 01 00 01 00 00 0000 01 00 000c`), attributes...)
			body[3], body[11] = byte(len(body)), byte(8+len(attributes))
			c.want.Type, c.want.ID = TransformENCR, 12
			want := []Payload{&SA{Proposals: []Proposal{{Number: 1, Protocol: ProtocolIKE, Transforms: []Transform{c.want}}}}}

			data := inMessage(PayloadSA, body)
			m, err := ParseMessage(data, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if d := diff(want, m.Payloads); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
			if again, err := AppendMessage(nil, m.Header, m.Payloads...); err != nil || !bytes.Equal(again, data) {
				t.Errorf("built again %x, error %v, want %x", again, err, data)
			}
		})
	}
}

func TestCriticalBit(t *testing.T) {
	build := func(typ PayloadType, flags byte, body []byte) []byte {
		data := inMessage(typ, body)
		data[HeaderLen+1] = flags
		return data
	}
	nonce := bytes.Repeat([]byte{1}, 16)

	// RFC 7296 section 2.5: known types never cause the error.
	if _, err := ParseMessage(build(PayloadNonce, 0x80, nonce), Limits{}); err != nil {
		t.Errorf("critical Nonce: %v", err)
	}
	m, err := ParseMessage(build(99, 0x7f, nonce), Limits{})
	if err != nil {
		t.Errorf("unknown payload, not critical: %v", err)
	}
	if d := diff([]Payload{&Unknown{PayloadType: 99, Body: nonce}}, m.Payloads); d != "" {
		t.Error(d)
	}

	m, err = ParseMessage(build(99, 0x80, nonce), Limits{})
	var critical *UnsupportedCriticalError
	if !errors.As(err, &critical) || critical.Type != 99 {
		t.Errorf("unknown critical payload: error %v", err)
	}
	if m.InitiatorSPI != 1 || m.Exchange != ExchangeSAInit {
		t.Errorf("header %+v is not accessible", m.Header)
	}
	if d := diff([]Payload{&Unknown{PayloadType: 99, Critical: true, Body: nonce}}, m.Payloads); d != "" {
		t.Error(d)
	}
}

// The first of several is reported, and a malformed payload behind it is not overlooked.
func TestCriticalBitInsideEncrypted(t *testing.T) {
	body := unhex(t, `64 80 0004  28 80 0004  00 00 0014 000102030405060708090a0b0c0d0e0f`)
	payloads, err := ParsePayloads(99, body, Limits{})
	var critical *UnsupportedCriticalError
	if !errors.As(err, &critical) || critical.Type != 99 || len(payloads) != 3 {
		t.Errorf("%d payloads, error %v", len(payloads), err)
	}
	var syntax *SyntaxError
	if _, err := ParsePayloads(99, body[:len(body)-1], Limits{}); !errors.As(err, &syntax) {
		t.Errorf("truncated: error %v", err)
	}
}

func TestMajorVersion(t *testing.T) {
	data := unhex(t, capturedSAInit)
	for _, version := range []byte{0x00, 0x10, 0x30, 0xf1} {
		data[0x11] = version
		m, err := ParseMessage(data, Limits{})
		var unsupported *UnsupportedVersionError
		if !errors.As(err, &unsupported) || unsupported.Major != version>>4 || unsupported.Minor != version&15 {
			t.Errorf("version %#x: error %v", version, err)
		}
		if m.InitiatorSPI != 0x01f8c3d4bb773f2f || m.Exchange != ExchangeSAInit {
			t.Errorf("version %#x: header %+v", version, m.Header)
		}
	}
}

// What ParseMessage returns aliases its input, but appending to it must not write there.
func TestAppendingToParsedSlicesDoesNotOverwrite(t *testing.T) {
	data, err := AppendMessage(nil, Header{},
		&SA{Proposals: []Proposal{{Number: 1, Protocol: ProtocolESP, SPI: []byte{1, 2, 3, 4}, Transforms: []Transform{{Type: TransformSN}}}}},
		&Notify{Protocol: ProtocolESP, SPI: []byte{1, 2, 3, 4}, NotifyType: NotifyRekeySA, Data: []byte{5}},
		&VendorID{Data: []byte{6}}, &VendorID{Data: []byte{7}})
	if err != nil {
		t.Fatal(err)
	}
	before := bytes.Clone(data)
	m, err := ParseMessage(data, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range m.Payloads {
		switch p := p.(type) {
		case *SA:
			_ = append(p.Proposals[0].SPI, 0xff)
		case *Notify:
			_ = append(p.SPI, 0xff)
			_ = append(p.Data, 0xff)
		case *VendorID:
			_ = append(p.Data, 0xff)
		}
	}
	if !bytes.Equal(data, before) {
		t.Errorf("message changed\nfrom %x\nto   %x", before, data)
	}
}
