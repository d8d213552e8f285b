package wire

import (
	"bytes"
	"testing"
)

// capturedSAInit is an IKE_SA_INIT request from a live peer, published with the
// tests of github.com/rusticata/ipsec-parser (MIT or Apache-2.0).
const capturedSAInit = `
	01f8c3d4bb773f2f000000000000000021202208000000000000014822000030
	0000002c010100040300000c01000014800e0080030000080300000c03000008
	02000005000000080400001e28000088001e00008fe6f36e887b189b5ecef256
	f98d76aacb07b3b958ee73ea7b73b1047ea42a4e441fb93ef9a9ab0c545aa746
	2e583c06b2ed918d11ca67db216bb8adbf573fba5aa67d49834ba9936f4ce966
	cd575cba0742fa0be8b9d025c4b9df29d7e46ed65478aa9502bf255571fa9ecb
	05ea8f7b140e1ddfb4035f2d2166586e4272320329000024e33b52aa6f6d6287
	16d7abc645a6cc9707433d8583deab97dbbf08ce0fad59712900001c00004004
	ccc0645c1eebc21d092bf07fca34c3e62b20ec8f2900001c0000400515397577
	f55487a38fd8af70b09c209cff4a37d1290000100000402f0001000200030004
	0000000800004016
`

func TestCapturedSAInit(t *testing.T) {
	data := unhex(t, capturedSAInit)
	m, err := ParseMessage(data, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if h, err := ParseHeader(data); err != nil || h != m.Header {
		t.Errorf("ParseHeader gives %+v, %v; ParseMessage %+v", h, err, m.Header)
	}
	wantHeader := Header{InitiatorSPI: 0x01f8c3d4bb773f2f, Exchange: ExchangeSAInit, Flags: FlagInitiator}
	if m.Header != wantHeader {
		t.Errorf("header %+v, want %+v", m.Header, wantHeader)
	}
	want := []Payload{
		&SA{Proposals: []Proposal{{Number: 1, Protocol: ProtocolIKE, Transforms: []Transform{
			{Type: TransformENCR, ID: 20, KeyLength: 128}, // AES-GCM with a 16-octet ICV
			{Type: TransformINTEG, ID: 12},                // HMAC-SHA2-256-128
			{Type: TransformPRF, ID: 5},                   // HMAC-SHA2-256
			{Type: TransformKE, ID: 30},                   // brainpoolP512r1
		}}}},
		&KeyExchange{Method: 30, Data: data[0x54:0xd4]},
		&Nonce{Data: data[0xd8:0xf8]},
		&Notify{NotifyType: NotifyNATDetectionSourceIP, Data: data[0x100:0x114]},
		&Notify{NotifyType: NotifyNATDetectionDestinationIP, Data: data[0x11c:0x130]},
		&Notify{NotifyType: NotifySignatureHashAlgorithms, Data: []byte{0, 1, 0, 2, 0, 3, 0, 4}},
		&Notify{NotifyType: 16406}, // REDIRECT_SUPPORTED
	}
	if d := diff(want, m.Payloads); d != "" {
		t.Errorf("payloads (-want +got):\n%s", d)
	}

	again, err := AppendMessage(nil, m.Header, m.Payloads...)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again, data) {
		t.Errorf("built again %x\ncaptured    %x", again, data)
	}
}

func BenchmarkParseMessage(b *testing.B) {
	data := unhex(b, capturedSAInit)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseMessage(data, Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendMessage(b *testing.B) {
	data := unhex(b, capturedSAInit)
	m, err := ParseMessage(data, Limits{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if data, err = AppendMessage(data[:0], m.Header, m.Payloads...); err != nil {
			b.Fatal(err)
		}
	}
}
