package wire

import (
	"errors"
	"net/netip"
	"testing"
)

// What cannot be represented must not be sent in some other form.
func TestAppendRefuses(t *testing.T) {
	v4, v6 := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")
	transforms := []Transform{{Type: TransformSN}}
	esp := func(ts ...Transform) Payload {
		return &SA{Proposals: []Proposal{{Protocol: ProtocolESP, SPI: []byte{1, 2, 3, 4}, Transforms: ts}}}
	}
	ts := func(s ...TrafficSelector) Payload { return &TrafficSelectors{PayloadType: PayloadTSi, Selectors: s} }
	big := make([]byte, 1<<16)
	for name, p := range map[string]Payload{
		"SA without proposals":           &SA{},
		"proposal without transforms":    esp(),
		"256 transforms":                 esp(make([]Transform, 256)...),
		"ESP proposal without SPI":       &SA{Proposals: []Proposal{{Protocol: ProtocolESP, Transforms: transforms}}},
		"IKE proposal with an ESP SPI":   &SA{Proposals: []Proposal{{Protocol: ProtocolIKE, SPI: []byte{1, 2, 3, 4}, Transforms: transforms}}},
		"SPI of 256 octets":              &SA{Proposals: []Proposal{{Protocol: 9, SPI: big[:256], Transforms: transforms}}},
		"attribute type with format bit": esp(Transform{Unknown: []TransformAttribute{{Type: 0x800e}}}),
		"short attribute of 3 octets":    esp(Transform{Unknown: []TransformAttribute{{Short: true, Value: big[:3]}}}),
		"transform of 64 KiB":            esp(Transform{Unknown: []TransformAttribute{{Value: big[:65530]}}}),
		"proposal of 64 KiB":             esp(Transform{Unknown: []TransformAttribute{{Value: big[:40000]}}}, Transform{Unknown: []TransformAttribute{{Value: big[:40000]}}}),
		"KE of 64 KiB":                   &KeyExchange{Data: big},
		"vendor ID of 64 KiB":            &VendorID{Data: big[:65532]},
		"IDi of type Nonce":              &Identification{PayloadType: PayloadNonce},
		"TSi of type IDi":                &TrafficSelectors{PayloadType: PayloadIDi, Selectors: []TrafficSelector{{TSType: TSIPv4AddrRange, First: v4, Last: v4}}},
		"nonce of 15 octets":             &Nonce{Data: big[:15]},
		"nonce of 257 octets":            &Nonce{Data: big[:257]},
		"notify SPI of 256 octets":       &Notify{SPI: big[:256]},
		"delete of IKE with SPIs":        &Delete{Protocol: ProtocolIKE, SPIs: []ChildSPI{1}},
		"65536 SPIs":                     &Delete{Protocol: ProtocolESP, SPIs: make([]ChildSPI, 65536)},
		"no selector":                    ts(),
		"256 selectors":                  ts(make([]TrafficSelector, 256)...),
		"selector without addresses":     ts(TrafficSelector{TSType: TSIPv4AddrRange}),
		"IPv6 in an IPv4 selector":       ts(TrafficSelector{TSType: TSIPv4AddrRange, First: v4, Last: v6}),
		"IPv4 in an IPv6 selector":       ts(TrafficSelector{TSType: TSIPv6AddrRange, First: v4, Last: v4}),
		"inverted range":                 ts(TrafficSelector{TSType: TSIPv4AddrRange, First: v4.Next(), Last: v4}),
		"selector of 64 KiB":             ts(TrafficSelector{TSType: 10, Unknown: big}),
		"CP type with the reserved bit":  &Configuration{Attributes: []ConfigAttribute{{Type: 0x8001}}},
		"CP value of 64 KiB":             &Configuration{Attributes: []ConfigAttribute{{Value: big}}},
		"empty EAP":                      &EAP{},
		"EAP with a wrong length":        &EAP{Message: []byte{1, 1, 0, 6, 1}},
		"SK as a payload":                &Unknown{PayloadType: PayloadEncrypted},
		"SKF as a payload":               &Unknown{PayloadType: PayloadEncryptedFragment},
		"payload of type none":           &Unknown{},
	} {
		dst := []byte("dst")
		out, err := AppendMessage(dst, Header{}, &VendorID{}, p)
		if err == nil || string(out) != "dst" {
			t.Errorf("%s: error %v, %d octets", name, err, len(out))
		}
	}
	if _, err := AppendMessage(nil, Header{}, &KeyExchange{Data: big}); !errors.Is(err, ErrTooLong) {
		t.Errorf("KE of 64 KiB: %v, want ErrTooLong", err)
	}
}

func TestAppendKeepsDst(t *testing.T) {
	out, err := AppendMessage([]byte("dst"), Header{MessageID: 3}, &VendorID{Data: []byte{1}})
	if err != nil {
		t.Fatal(err)
	}
	m, err := ParseMessage(out[3:], Limits{})
	if string(out[:3]) != "dst" || err != nil || m.MessageID != 3 {
		t.Errorf("%x parses to %+v, %v", out, m, err)
	}
}

func TestSPIs(t *testing.T) {
	rekey := Notify{Protocol: ProtocolESP, SPI: ChildSPI(0xc0010203).Bytes(), NotifyType: NotifyRekeySA}
	if spi, ok := rekey.ChildSPI(); !ok || spi != 0xc0010203 || spi.String() != "c0010203" {
		t.Errorf("REKEY_SA: %v %v", spi, ok)
	}
	rekey.SPI = rekey.SPI[:3]
	if spi, ok := rekey.ChildSPI(); ok {
		t.Errorf("three octets: %v", spi)
	}
	ike := Proposal{Protocol: ProtocolIKE, SPI: SPI(0x0102030405060708).Bytes()}
	if spi, ok := ike.IKESPI(); !ok || spi.String() != "0102030405060708" {
		t.Errorf("IKE proposal: %v %v", spi, ok)
	}
	if _, ok := ike.ChildSPI(); ok {
		t.Error("an IKE proposal has a Child SPI")
	}
	if _, ok := (&Proposal{Protocol: ProtocolIKE}).IKESPI(); ok {
		t.Error("an initial IKE proposal has an SPI")
	}
	if spi, ok := (&Proposal{Protocol: ProtocolAH, SPI: []byte{0, 0, 1, 0}}).ChildSPI(); !ok || spi != 256 {
		t.Errorf("AH proposal: %v %v", spi, ok)
	}
}

func TestFind(t *testing.T) {
	payloads := []Payload{
		&Nonce{Data: []byte{1}},
		&Notify{NotifyType: NotifyCookie, Data: []byte{1}},
		&Notify{NotifyType: NotifyNoProposalChosen},
		&Notify{NotifyType: NotifyCookie, Data: []byte{2}},
	}
	if n, ok := First[*Nonce](payloads); !ok || n != payloads[0] {
		t.Error("Nonce not found")
	}
	if _, ok := First[*SA](payloads); ok {
		t.Error("SA found")
	}
	var types []NotifyType
	for n := range All[*Notify](payloads) {
		types = append(types, n.NotifyType)
	}
	if d := diff([]NotifyType{NotifyCookie, NotifyNoProposalChosen, NotifyCookie}, types); d != "" {
		t.Error(d)
	}
	if n := FirstNotify(payloads, NotifyCookie); n != payloads[1] {
		t.Errorf("COOKIE: %+v", n)
	}
	if n := FirstNotify(payloads, NotifyCookie2); n != nil {
		t.Errorf("COOKIE2: %+v", n)
	}
	if n := FirstError(payloads); n != payloads[2] {
		t.Errorf("error: %+v", n)
	}
}

// Names that logs, metrics and scripts of operators rely on.
func TestNames(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{ExchangeSAInit.String(), "IKE_SA_INIT"},
		{ExchangeCreateChildSA.String(), "CREATE_CHILD_SA"},
		{ExchangeType(200).String(), "EXCHANGE(200)"},
		{NotifyNoProposalChosen.String(), "NO_PROPOSAL_CHOSEN"},
		{NotifyFragmentationSupported.String(), "IKEV2_FRAGMENTATION_SUPPORTED"},
		{NotifyType(8192).String(), "ERROR(8192)"},
		{NotifyType(40960).String(), "STATUS(40960)"},
		{PayloadTSi.String(), "TSi"},
		{PayloadType(200).String(), "PAYLOAD(200)"},
		{TransformENCR.String(), "ENCR"},
		{TransformADDKE1.String(), "ADDKE1"},
		{TransformADDKE7.String(), "ADDKE7"},
		{AuthSharedKey.String(), "Shared Key Message Integrity Code"},
		{AuthMethod(200).String(), "AUTH(200)"},
		{IDDERASN1DN.String(), "ID_DER_ASN1_DN"},
		{IDType(200).String(), "ID(200)"},
		{TSIPv6AddrRange.String(), "TS_IPV6_ADDR_RANGE"},
		{TSType(10).String(), "TS(10)"},
		{ProtocolID(9).String(), "PROTOCOL(9)"},
		{(&SyntaxError{Payload: PayloadSA, Offset: 28, Problem: "no transform"}).Error(), "malformed SA payload at octet 28: no transform"},
		{(&SyntaxError{Offset: 28, Problem: "x"}).Error(), "malformed IKE message at octet 28: x"},
		{(&UnsupportedVersionError{Major: 1}).Error(), "IKE version 1.0 is not supported, only 2.x"},
		{(&UnsupportedCriticalError{Type: 99}).Error(), "payload type 99 is marked critical and not supported"},
		{TransformType(13).String(), "TRANSFORM(13)"},
		{ProtocolESP.String(), "ESP"},
		{(FlagInitiator | FlagResponse).String(), "initiator|response"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
	if !NotifyInvalidSyntax.IsError() || !NotifyType(16383).IsError() || NotifyInitialContact.IsError() {
		t.Error("errors end at 16383")
	}
}
