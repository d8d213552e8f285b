package wire

import (
	"bytes"
	"net/netip"
	"testing"
)

// Octets written down from the diagrams of the RFCs, field by field, so that an
// error made alike in decoder and encoder shows.
var vectors = []struct {
	name    string
	payload Payload
	body    string
}{
	{"SA, two ESP proposals (RFC 7296 section 3.3)", &SA{Proposals: []Proposal{
		{Number: 1, Protocol: ProtocolESP, SPI: []byte{0xc0, 1, 2, 3}, Transforms: []Transform{
			{Type: TransformENCR, ID: 20, KeyLength: 256},
			{Type: TransformSN, ID: 1},
		}},
		{Number: 2, Protocol: ProtocolESP, SPI: []byte{0xc0, 1, 2, 3}, Transforms: []Transform{
			{Type: TransformENCR, ID: 12, KeyLength: 128},
			{Type: TransformINTEG, ID: 12},
			{Type: TransformSN, ID: 0},
		}},
	}}, `
		02 00 0020 01 03 04 02  c0010203    # more, length 32, number 1, ESP, SPI size 4, 2 transforms
		  03 00 000c 01 00 0014  800e 0100  # ENCR 20, Key Length 256
		  00 00 0008 05 00 0001             # ESN
		00 00 0028 02 03 04 03  c0010203    # last, length 40
		  03 00 000c 01 00 000c  800e 0080
		  03 00 0008 03 00 000c
		  00 00 0008 05 00 0000`},
	{"SA, rekey of an IKE SA (section 1.3.2)", &SA{Proposals: []Proposal{
		{Number: 1, Protocol: ProtocolIKE, SPI: SPI(0x1122334455667788).Bytes(), Transforms: []Transform{{Type: TransformKE, ID: 31}}},
	}}, `00 00 0018 01 01 08 01 1122334455667788  00 00 0008 04 00 001f`},
	{"KE (section 3.4)", &KeyExchange{Method: 31, Data: []byte{0xaa, 0xbb}}, `001f 0000 aabb`},
	{"IDi (section 3.5)", &Identification{PayloadType: PayloadIDi, IDType: IDFQDN, Data: []byte("gw.example")}, `02 000000 67772e6578616d706c65`},
	{"IDr (section 3.5)", &Identification{PayloadType: PayloadIDr, IDType: IDIPv4Addr, Data: []byte{192, 0, 2, 1}}, `01 000000 c0000201`},
	{"CERT (section 3.6)", &Certificate{Encoding: CertX509Signature, Data: []byte{0x30, 0}}, `04 3000`},
	{"CERTREQ (section 3.7)", &CertificateRequest{Encoding: CertX509Signature, Authority: []byte{1, 2, 3}}, `04 010203`},
	{"AUTH (section 3.8)", &Auth{Method: AuthSharedKey, Data: []byte{0xde, 0xad}}, `02 000000 dead`},
	{"Nonce (section 3.9)", &Nonce{Data: []byte("0123456789abcdef")}, `30313233343536373839616263646566`},
	{"N(COOKIE) (section 3.10)", &Notify{NotifyType: NotifyCookie, Data: []byte{1}}, `00 00 4006 01`},
	{"N(REKEY_SA) (section 3.10)", &Notify{Protocol: ProtocolESP, SPI: []byte{1, 2, 3, 4}, NotifyType: NotifyRekeySA}, `03 04 4009 01020304`},
	{"D of an IKE SA (section 3.11)", &Delete{Protocol: ProtocolIKE}, `01 00 0000`},
	{"D of two ESP SAs (section 3.11)", &Delete{Protocol: ProtocolESP, SPIs: []ChildSPI{0x01020304, 0xfffffffe}}, `03 04 0002 01020304 fffffffe`},
	{"V (section 3.12)", &VendorID{Data: []byte{7}}, `07`},
	{"TSi (section 3.13)", &TrafficSelectors{PayloadType: PayloadTSi, Selectors: []TrafficSelector{
		{TSType: TSIPv4AddrRange, Protocol: 6, StartPort: 80, EndPort: 443, First: netip.MustParseAddr("198.51.100.0"), Last: netip.MustParseAddr("198.51.100.255")},
		{TSType: TSIPv6AddrRange, EndPort: 65535, First: netip.MustParseAddr("::"), Last: netip.MustParseAddr("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")},
	}}, `
		02 000000
		07 06 0010 0050 01bb c6336400 c63364ff
		08 00 0028 0000 ffff 00000000000000000000000000000000 ffffffffffffffffffffffffffffffff`},
	{"TSr with a security label (RFC 9478)", &TrafficSelectors{PayloadType: PayloadTSr, Selectors: []TrafficSelector{
		{TSType: 10, Unknown: []byte("label")},
	}}, `01 000000  0a 00 0009 6c6162656c`},
	{"CP (section 3.15)", &Configuration{CFGType: CFGRequest, Attributes: []ConfigAttribute{
		{Type: ConfigInternalIP4Address}, {Type: ConfigInternalIP4DNS, Value: []byte{9, 9, 9, 9}},
	}}, `01 000000  0001 0000  0003 0004 09090909`},
	{"EAP (section 3.16)", &EAP{Message: []byte{1, 7, 0, 5, 1}}, `01 07 0005 01`},
	{"unknown", &Unknown{PayloadType: 200, Body: []byte{1, 2}}, `0102`},
}

func TestVectors(t *testing.T) {
	for _, v := range vectors {
		t.Run(v.name, func(t *testing.T) {
			body := unhex(t, v.body)
			want := inMessage(v.payload.Type(), body)

			got, err := AppendMessage(nil, Header{InitiatorSPI: 1, Exchange: ExchangeSAInit, Flags: FlagInitiator}, v.payload)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("built    %x\nexpected %x", got, want)
			}
			m, err := ParseMessage(want, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if d := diff([]Payload{v.payload}, m.Payloads); d != "" {
				t.Errorf("parsed (-want +got):\n%s", d)
			}
		})
	}
}

// Each payload that knows its own inner lengths must notice that its body ends
// early. The others end in a field that may have any length: for them it is enough
// that the fixed part is complete.
func TestNoProperPrefixOfABodyParses(t *testing.T) {
	shortest := map[PayloadType]int{ // body octets from which a prefix is valid
		PayloadKeyExchange:        4,
		PayloadIDi:                4,
		PayloadIDr:                4,
		PayloadCertificate:        1,
		PayloadCertificateRequest: 1,
		PayloadAuth:               4,
		PayloadVendorID:           0,
		200:                       0,
	}
	for _, v := range vectors {
		body := unhex(t, v.body)
		end := len(body)
		if n, ok := shortest[v.payload.Type()]; ok {
			end = n
		}
		for n := range end {
			switch {
			case v.payload.Type() == PayloadConfiguration && (n == 4 || n == 8):
				continue // a whole number of attributes
			case v.payload.Type() == PayloadNotify && n >= 4+len(v.payload.(*Notify).SPI):
				continue // the data have any length
			}
			if _, err := ParseMessage(inMessage(v.payload.Type(), body[:n]), Limits{}); err == nil {
				t.Errorf("%s: the first %d of %d octets parse", v.name, n, len(body))
			}
		}
	}
}

func TestNoProperPrefixOfAMessageParses(t *testing.T) {
	var all []Payload
	for _, v := range vectors {
		all = append(all, v.payload)
	}
	message, err := AppendMessage(nil, Header{InitiatorSPI: 1, ResponderSPI: 2, Exchange: ExchangeAuth, MessageID: 1}, all...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ParseMessage(message, Limits{}); err != nil {
		t.Fatal(err)
	}
	for n := range message {
		prefix := bytes.Clone(message[:n])
		if _, err := ParseMessage(prefix, Limits{}); err == nil {
			t.Fatalf("the first %d of %d octets parse", n, len(message))
		}
		// The same with a length field that agrees.
		if n < HeaderLen {
			continue
		}
		setLength(prefix, n)
		if _, err := ParseMessage(prefix, Limits{}); err == nil {
			t.Fatalf("the first %d of %d octets parse with an adapted length", n, len(message))
		}
	}
}
