package wire

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"
)

// Inputs that crashed other IKE daemons, and their relatives. Each must be a
// SyntaxError that names the payload and says what is wrong.
func TestMalformedPayloads(t *testing.T) {
	for _, c := range []struct {
		name    string
		typ     PayloadType
		body    string
		problem string
	}{
		{"SA without proposals", PayloadSA, ``, "proposal 1: is cut off"},
		{"proposal shorter than its header", PayloadSA, `00 00 0007 01 01 00`, "shorter than its header"},
		{"proposal of length 0", PayloadSA, `00 00 0000 01 01 00 01`, "length 0 does not fit"},
		{"proposal longer than the payload", PayloadSA, `00 00 0020 01 01 00 01 00000008 04 00 001f`, "does not fit"},
		// 8 + SPI size exceeds the proposal length.
		{"SPI longer than the proposal", PayloadSA, `00 00 0010 01 03 ff 01 00000008 04 00 001f`, "SPI of 255 octets, 8 left"},
		{"SPI takes the place of the transforms", PayloadSA, `00 00 000c 01 03 04 01 c0010203`, "1 transforms in 0 octets"},
		{"proposal without transforms", PayloadSA, `00 00 000c 01 03 04 00 c0010203`, "no transform"},
		{"255 transforms announced", PayloadSA, `00 00 0010 01 01 00 ff 00000008 04 00 001f`, "more than the permitted 128 transforms"},
		{"more transforms announced than there are", PayloadSA, `00 00 0010 01 01 00 02 00000008 04 00 001f`, "2 transforms in 8 octets"},
		{"fewer transforms announced than there are", PayloadSA, `00 00 0018 01 01 00 01 03000008 04 00 001f 00000008 04 00 001f`, "disagree"},
		{"octets after the last transform", PayloadSA, `00 00 0011 01 01 00 01 00000008 04 00 001f 00`, "1 octets follow the last transform"},
		{"octets after the last proposal", PayloadSA, `00 00 0010 01 01 00 01 00000008 04 00 001f 00`, "1 octets follow the last proposal"},
		{"last proposal says that more follow", PayloadSA, `02 00 0010 01 01 00 01 00000008 04 00 001f`, "proposal 2: is cut off"},
		{"proposal mark of a transform", PayloadSA, `03 00 0010 01 01 00 01 00000008 04 00 001f`, "mark is 3, want 0 or 2"},
		{"transform of length 4", PayloadSA, `00 00 0010 01 01 00 01 00000004 04 00 001f`, "transform 1: shorter than its header"},
		{"transform of length 0", PayloadSA, `00 00 0010 01 01 00 01 00000000 04 00 001f`, "length 0 does not fit"},
		{"attribute longer than the transform", PayloadSA, `00 00 0014 01 01 00 01 0000000c 01 00 000c 000e ffff`, "attribute 1 is cut off"},
		{"half an attribute", PayloadSA, `00 00 0012 01 01 00 01 0000000a 01 00 000c 800e`, "attribute 1 is cut off"},
		{"SPI of 4 octets for IKE", PayloadSA, `00 00 0014 01 01 04 01 c0010203 00000008 04 00 001f`, "SPI of 4 octets for IKE, want 0 or 8"},
		{"no SPI for ESP", PayloadSA, `00 00 0010 01 03 00 01 00000008 05 00 0000`, "SPI of 0 octets for ESP, want 4"},
		{"KE without a method", PayloadKeyExchange, `00`, "key exchange method"},
		{"empty ID", PayloadIDi, ``, "identity type"},
		{"empty CERT", PayloadCertificate, ``, "certificate encoding"},
		{"empty CERTREQ", PayloadCertificateRequest, ``, "certificate encoding"},
		{"AUTH of 3 octets", PayloadAuth, `020000`, "authentication method"},
		{"empty nonce", PayloadNonce, ``, "nonce of 0 octets"},
		{"nonce of 7 octets", PayloadNonce, `00010203040506`, "nonce of 7 octets, want 16 to 256"},
		{"nonce of 257 octets", PayloadNonce, strings.Repeat("00", 257), "nonce of 257 octets"},
		{"notify SPI longer than the payload", PayloadNotify, `03 ff 4009 01020304`, "SPI of 255 octets, 4 left"},
		{"delete with a huge count", PayloadDelete, `03 04 ffff 01020304`, "65535 SPIs of 4 octets in 4 octets"},
		{"delete with too small a count", PayloadDelete, `03 04 0000 01020304`, "0 SPIs of 4 octets in 4 octets"},
		{"delete of ESP with SPI size 0", PayloadDelete, `03 00 ffff`, "SPI size 0 for ESP, want 4"},
		{"delete of ESP with SPI size 255", PayloadDelete, `03 ff 0001 01020304`, "SPI size 255 for ESP, want 4"},
		{"delete of IKE with an SPI", PayloadDelete, `01 08 0001 0102030405060708`, "SPI size 8 for IKE, want 0"},
		{"no traffic selector", PayloadTSi, `00 000000`, "no traffic selector"},
		{"255 traffic selectors announced", PayloadTSi, `ff 000000 07 00 0010 0000ffff 00000000 ffffffff`, "255 traffic selectors in 16 octets"},
		{"more traffic selectors than announced", PayloadTSr, `01 000000 0700 0010 0000ffff 00000000 ffffffff 0700 0010 0000ffff 00000000 ffffffff`, "16 octets follow"},
		{"IPv4 selector with the length of IPv6", PayloadTSi, `01 000000 07 00 0028 0000ffff` + strings.Repeat("00", 32), "length field says 40 octets, want 16"},
		{"IPv6 selector with the length of IPv4", PayloadTSi, `01 000000 08 00 0010 0000ffff 00000000 ffffffff`, "length field says 16 octets, want 40"},
		{"selector of length 0", PayloadTSi, `01 000000 07 00 0000 0000ffff 00000000 ffffffff`, "traffic selector 1: length does not fit"},
		{"selector longer than the payload", PayloadTSi, `01 000000 07 00 ffff 0000ffff 00000000 ffffffff`, "traffic selector 1: length does not fit"},
		{"range that ends before it starts", PayloadTSi, `01 000000 07 00 0010 0000ffff 0a000002 0a000001`, "ends before it starts"},
		{"CP without a type", PayloadConfiguration, `010000`, "CFG type"},
		{"CP attribute longer than the payload", PayloadConfiguration, `01 000000 0001 ffff 00`, "attribute 1 is cut off"},
		{"CP attribute without a length", PayloadConfiguration, `01 000000 0001 0000 0001 00`, "attribute 2 is cut off"},
		{"empty EAP", PayloadEAP, ``, "shorter than its header"},
		{"EAP of 3 octets", PayloadEAP, `010100`, "shorter than its header"},
		{"EAP request of 4 octets", PayloadEAP, `01 01 0004`, "has no type"},
		{"EAP response of 4 octets", PayloadEAP, `02 01 0004`, "has no type"},
		{"EAP length exceeds the payload", PayloadEAP, `01 01 0100 01`, "length field says 256 octets, the packet has 5"},
		{"EAP length below the payload", PayloadEAP, `01 01 0004 01`, "length field says 4 octets, the packet has 5"},
		{"EAP length 0", PayloadEAP, `03 01 0000`, "length field says 0 octets"},
		{"SKF without numbers", PayloadEncryptedFragment, `0001`, "no room for the fragment number"},
		{"fragment 0", PayloadEncryptedFragment, `0000 0001`, "fragment 0 of 1"},
		{"fragment of none", PayloadEncryptedFragment, `0001 0000`, "fragment 1 of 0"},
		{"fragment after the last", PayloadEncryptedFragment, `0003 0002`, "fragment 3 of 2"},
		{"65535 fragments", PayloadEncryptedFragment, `0001 ffff`, "more than the permitted 255 fragments"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := ParseMessage(inMessage(c.typ, unhex(t, c.body)), Limits{})
			var limit *LimitError
			if errors.As(err, &limit) {
				if !strings.Contains(err.Error(), c.problem) {
					t.Fatalf("error %q, want it to say %q", err, c.problem)
				}
				return
			}
			var syntax *SyntaxError
			if !errors.As(err, &syntax) {
				t.Fatalf("error %v, want a SyntaxError", err)
			}
			if syntax.Payload != c.typ || syntax.Offset != HeaderLen {
				t.Errorf("located in %v at %d, want %v at %d", syntax.Payload, syntax.Offset, c.typ, HeaderLen)
			}
			if !strings.Contains(syntax.Problem, c.problem) {
				t.Errorf("problem %q, want it to say %q", syntax.Problem, c.problem)
			}
			if m.InitiatorSPI != 1 {
				t.Error("the header is not accessible")
			}
		})
	}
}

func TestMalformedChains(t *testing.T) {
	header := func(first PayloadType, rest string) []byte {
		m := append(appendHeader(nil, Header{InitiatorSPI: 1}, first), unhex(t, rest)...)
		setLength(m, len(m))
		return m
	}
	for _, c := range []struct {
		name    string
		data    []byte
		problem string
	}{
		{"empty", nil, "0 octets, shorter than the header of 28"},
		{"27 octets", make([]byte, 27), "27 octets, shorter than the header of 28"},
		{"header that announces a payload", header(PayloadSA, ``), "0 octets left, the payload header has 4"},
		{"octets after no payload", header(PayloadNone, `00`), "1 octets follow the last payload"},
		{"octets after the last payload", header(PayloadVendorID, `00 00 0004 00000000`), "4 octets follow the last payload"},
		{"payload of length 0", header(PayloadVendorID, `00 00 0000`), "length field says 0 octets"},
		{"payload of length 3", header(PayloadVendorID, `00 00 0003`), "length field says 3 octets"},
		{"payload longer than the message", header(PayloadVendorID, `00 00 ffff 00`), "length field says 65535 octets, the message has 5 left"},
		{"second payload missing", header(PayloadVendorID, `2b 00 0004`), "0 octets left"},
		{"SK that is not the last", header(PayloadEncrypted, `2b 00 0008 00000000 00 00 0004`), "4 octets follow the payload, which must be the last"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParseMessage(c.data, Limits{})
			var syntax *SyntaxError
			if !errors.As(err, &syntax) || !strings.Contains(err.Error(), c.problem) {
				t.Errorf("error %v, want a SyntaxError that says %q", err, c.problem)
			}
		})
	}
}

func TestLengthFieldMustEqualTheMessage(t *testing.T) {
	data := unhex(t, capturedSAInit)
	for _, length := range []uint32{0, HeaderLen, uint32(len(data)) - 1, uint32(len(data)) + 1, 1<<31 - 1, 1 << 31, 1<<32 - 1} {
		binary.BigEndian.PutUint32(data[24:], length)
		if _, err := ParseMessage(data, Limits{}); err == nil {
			t.Errorf("length field %d accepted for %d octets", length, len(data))
		}
	}
}

// A message of a header alone is well-formed: whether it is legal is for the engine.
func TestHeaderOnly(t *testing.T) {
	data, err := AppendMessage(nil, Header{InitiatorSPI: 1, ResponderSPI: 2, Exchange: ExchangeInformational, Flags: FlagResponse, MessageID: 7})
	if err != nil || len(data) != HeaderLen {
		t.Fatalf("%d octets, error %v", len(data), err)
	}
	m, err := ParseMessage(data, Limits{})
	if err != nil || len(m.Payloads) != 0 || m.Encrypted != nil || m.MessageID != 7 || !m.IsResponse() || m.FromInitiator() {
		t.Errorf("parsed %+v, error %v", m, err)
	}
}

func TestEncryptedInsideEncrypted(t *testing.T) {
	for _, typ := range []PayloadType{PayloadEncrypted, PayloadEncryptedFragment} {
		_, err := ParsePayloads(typ, unhex(t, `00 00 0010 0001 0001 0000000000000000`), Limits{})
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || syntax.Payload != typ {
			t.Errorf("%v inside SK: error %v, want a SyntaxError", typ, err)
		}
	}
}

func TestLimits(t *testing.T) {
	selector := `0700 0010 0000ffff 00000000 ffffffff`
	for _, c := range []struct {
		what   string
		limits Limits
		typ    PayloadType
		body   string
	}{
		{"proposals", Limits{MaxProposals: 1}, PayloadSA, `02 00 0010 01 01 00 01 00000008 04 00 001f 00 00 0010 02 01 00 01 00000008 04 00 001f`},
		{"transforms in a proposal", Limits{MaxTransforms: 1}, PayloadSA, `00 00 0018 01 01 00 02 03000008 04 00 001f 00000008 04 00 0013`},
		{"attributes in a transform", Limits{MaxAttributes: 1}, PayloadSA, `00 00 0018 01 01 00 01 00000010 01 00 000c 800e0080 800e0100`},
		{"configuration attributes", Limits{MaxAttributes: 1}, PayloadConfiguration, `01 000000 0001 0000 0003 0000`},
		{"traffic selectors", Limits{MaxSelectors: 1}, PayloadTSi, `02 000000` + selector + selector},
		{"fragments", Limits{MaxFragments: 1}, PayloadEncryptedFragment, `0001 0002`},
	} {
		data := inMessage(c.typ, unhex(t, c.body))
		if _, err := ParseMessage(data, Limits{}); err != nil {
			t.Errorf("%s: default limits: %v", c.what, err)
		}
		_, err := ParseMessage(data, c.limits)
		var limit *LimitError
		if !errors.As(err, &limit) || limit.What != c.what || limit.Limit != 1 {
			t.Errorf("%s: error %v, want a LimitError of 1", c.what, err)
		}
	}

	// As many empty Vendor ID payloads as a datagram holds.
	var many []Payload
	for range DefaultMaxPayloads + 1 {
		many = append(many, &VendorID{})
	}
	data, err := AppendMessage(nil, Header{}, many[1:]...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ParseMessage(data, Limits{}); err != nil {
		t.Errorf("%d payloads: %v", DefaultMaxPayloads, err)
	}
	data, _ = AppendMessage(nil, Header{}, many...)
	var limit *LimitError
	if _, err := ParseMessage(data, Limits{}); !errors.As(err, &limit) || limit.What != "payloads" {
		t.Errorf("%d payloads: error %v, want a LimitError", len(many), err)
	}
}
