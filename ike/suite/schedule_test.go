package suite

import (
	"strings"
	"testing"
)

// scheduleVector is one case of NIST's tests for the IKEv2 key derivation of SP 800-135, 4.1.2.
type scheduleVector struct {
	name          string
	prf           uint16
	encr, integ   string // with key lengths that use up the prefix of dkm below
	dkm           string // SK_d | SK_ai | SK_ar | ...
	child         string
	childDH       string
	rekeySkeyseed string
}

// The inputs that both cases share.
const (
	nistNi     = "3651fef5c9c35e93"
	nistNr     = "c09a8b90a3f04d59"
	nistSPIi   = 0x8e5c3ae507221684
	nistSPIr   = 0xb1f201bb155c3acd
	nistGir    = "d084a30166a50fb7325c3960874a839449ef9741c2f4f947d0201dd8c1269273d79509f37e3ca3eb4fa2fe2a28254e289cd3f34dad4eb4df1a07685a4b8a94fa61e2491f7598b3ce65547ff133b3f63d1ac4175eaa695033f3cedb026a6873a36455172a8540b8a5d23a0143bed0390ee49b168269d75fffee9fb62be965993c"
	nistGirNew = "52f00ab174c25d5b7139ae5ff4e8e9eddee5992d2e36adf8a559ffd90dab1442e4fbe429d320c0f33552a17d1557fa41ea70e8fb916c4fa27ed52b5f8ebd8461afa78f1159159a64055ac5f6319e29c28eae58cbc6847770f32c3fed1d04750484f854790f95e9ec01bc5bc461f24966462e359511329305038e94deb6dd42c2"
)

var scheduleVectors = []scheduleVector{
	{ // CAVP, 800-135 test vectors, ikev2.rsp, SHA-1
		name: "NIST CAVP SHA-1", prf: PRFHMACSHA1, encr: "aes128", integ: "sha1",
		dkm:           "6f1b12cad3cbe097b35430356d869d54cddb0198ec859174d53ceb92dddedbe2436db69f60977c58fa63bbb667f8d36920b109baae8f6c61a9ac49feda01843225d080ec5539d5881a25521ffb2a0a91874a9c0a27fcc2d717eb8963a9e3a89c7ab264757284c28cf8c3ca40576f4220b052b1fb8e9ad60ba3c80557323331a8cbb89f20",
		child:         "4727dc0ef94eb326ce131cf282fb652faa638ad0ddae3786a11bcc0309876009f8c485de011ad962c5b1ca8a41ff8145445749079c5686e26ffebbc342f06981f3da745e11ca0976424d1f8caec623d59dc7186deb20a27b411d1dcb70a365440bf7de905088b0692e8addc094e18d1939bdb67e89798ca6b239e2ccb81c2409dac0106c",
		childDH:       "b109c21ad4c0797768c1cec9e63554681e48f224bca7f23c20c4ea7041983451e9aa1d5408656c8a975ff1b9d9a12c75ffeb64bdecb30174664cccb4e14f1c377b7f6d1525af77c7092aac3e47f917ebae8297fb5539d2008ce830823a09cc197361d4a289c72745f6ce9fefe812be5bf55b3200fbb82e41a4a40877d3fe106db909707b",
		rekeySkeyseed: "3b03bce748c96d5e8306918d2ff89b68f0648da3",
	},
	{ // The same inputs with SHA-256, as OpenSSL's self test has them
		name: "SHA-256", prf: PRFHMACSHA256, encr: "aes128", integ: "sha256",
		dkm:           "462B9DD525D4FD71169174272779E704BAF62C6231779AE9EFE8C58B21916B42010164AF2111EBD762F6916CA9A6F0EE05C8B320E4EE27705521DE2589ADEA1878F1A551738AF7C88DC4F0BB0C096A3F7D1F1A670FC79F49F678D60D665BB3710C8657F03BA9F62B9A818D7A228968C506E237AE9502AA6DB395C61EA6A3E79504F86B7368BFB5423DF79E48809BBCCD49FD826D024F63D7C2A5566400A12E736AA034510428F5EA008FE2FC16886FA388274EA6C2B4FCFC6141BF04F8207EF8AFC224EA1059CB220DC0B23AC0E4CCDA495A4E131B1D56E223ABA5A48E8ED1F5",
		child:         "23647677E7D403FA1E3006F19840AEE18AD9FECC4215814C4131BDEBA98433D8B0E31BFBBDDF822ABCCE5E06486AA388022B75E27E1E68AA5983028B65282C730C5D49EF7606770376CFDEC41F7CC435D816029989BC353D3B67B9FD1168DDCB8978850DA9B752AEE6A30D0086D2C4D74EC0E03648A0DAD334FAF5FE88084E67B0F3E8FEE8B5E1BD3850DB540F1FB8CFFE23C9E92CDA209373F354880C246C753E2A0ECA9CB73B9910A8531C4010E6768FA29F909E60AF777FED6E739C3CFDA03467E915D6F03FCE9C41F5F9D578F8912D66A75457E79EE1D5BCC2BE5C2F9BAE",
		childDH:       "6A919387A5FA2835FE8A8237E4A14845BD2B9930DB87EFF7ADF268F62186004902DBA9AA942D0259A0EDC4120B932A503865B57BA8FB88117EF5DF7B26799CD8BA37AA5438108CB1A4FE117907C9D0597B708C3F11151FEFD624D2317202B7C81430600E6FCBB6E1A8DF2B4861EF2363D53DE1BE69057B0CF6634A7E7BFA97B3C2810623E2BD6757738777177036E9C3A39794456954BD41FC444A12507AB9CAC69A0540D13C29DB8510F566A691691BAA2D9569DACC990D56A454BB444BCBBE8751B0550A5278812FC5AB4F28990DD6D608538D7DDDE24DC81BDAACA7751FDE",
		rekeySkeyseed: "90722C42BD849E9B72D240FC254174270FA8295DE6F0338DAFC303A9EC104F12",
	},
}

func (v scheduleVector) input(t *testing.T, shared string) IKEInput {
	return IKEInput{
		PRF: mustPRF(t, v.prf), Encr: tr(t, v.encr), Integ: tr(t, v.integ),
		Ni: unhex(t, nistNi), Nr: unhex(t, nistNr), SPIi: nistSPIi, SPIr: nistSPIr,
		Shared: key(t, shared),
	}
}

func ikeStream(k Keys) []byte {
	return join(k.SKd.Bytes(), k.SKai.Bytes(), k.SKar.Bytes(), k.SKei.Bytes(), k.SKer.Bytes(), k.SKpi.Bytes(), k.SKpr.Bytes())
}

func TestDeriveIKEVectors(t *testing.T) {
	for _, v := range scheduleVectors {
		k, err := DeriveIKE(v.input(t, nistGir))
		if err != nil {
			t.Fatal(err)
		}
		got := ikeStream(k)
		wantBytes(t, v.name, got, unhex(t, v.dkm)[:len(got)])
		if k.SKpr.Len() != mustPRF(t, v.prf).Size() {
			t.Errorf("%s: SK_pr has %d octets", v.name, k.SKpr.Len())
		}
	}
}

func TestDeriveChildVectors(t *testing.T) {
	for _, v := range scheduleVectors {
		f := mustPRF(t, v.prf)
		in := ChildInput{
			PRF: f, SKd: NewKey(unhex(t, v.dkm)[:f.Size()]),
			Encr: tr(t, v.encr), Integ: tr(t, v.integ),
			Ni: unhex(t, nistNi), Nr: unhex(t, nistNr),
		}
		for shared, stream := range map[string]string{"": v.child, nistGirNew: v.childDH} {
			in.Shared = key(t, shared)
			k, err := DeriveChild(in)
			if err != nil {
				t.Fatal(err)
			}
			got := join(k.EncrI.Bytes(), k.IntegI.Bytes(), k.EncrR.Bytes(), k.IntegR.Bytes())
			wantBytes(t, v.name, got, unhex(t, stream)[:len(got)])
		}
	}
}

// The vectors give the rekeyed SKEYSEED alone; the keys that follow from it are expanded as the vectors above prove.
func TestDeriveIKERekeyVectors(t *testing.T) {
	for _, v := range scheduleVectors {
		in := v.input(t, nistGirNew)
		oldSKd := NewKey(unhex(t, v.dkm)[:in.PRF.Size()])
		k, err := DeriveIKERekey(in.PRF, oldSKd, in)
		if err != nil {
			t.Fatal(err)
		}
		want, err := expandIKE(key(t, v.rekeySkeyseed), in)
		if err != nil {
			t.Fatal(err)
		}
		wantBytes(t, v.name, ikeStream(k), ikeStream(want))
	}
}

// RFC 7296, 2.18: SKEYSEED of a rekey is computed with the old PRF, the rest with the new one.
func TestRekeyChangesPRF(t *testing.T) {
	v := scheduleVectors[1]
	in := v.input(t, nistGirNew)
	oldSKd := NewKey(unhex(t, v.dkm)[:in.PRF.Size()])
	old := in.PRF
	in.PRF = mustPRF(t, PRFHMACSHA1)
	k, err := DeriveIKERekey(old, oldSKd, in)
	if err != nil {
		t.Fatal(err)
	}
	want, err := expandIKE(key(t, v.rekeySkeyseed), in)
	if err != nil {
		t.Fatal(err)
	}
	wantBytes(t, "keys", ikeStream(k), ikeStream(want))
	if k.SKd.Len() != 20 {
		t.Errorf("SK_d has %d octets, want the new PRF's 20", k.SKd.Len())
	}
}

func TestKeyLengths(t *testing.T) {
	for _, v := range []struct {
		encr, integ string
		e, a        int
	}{
		{"aes128gcm16", "", 20, 0},      // RFC 4106, 8.1
		{"aes256gcm16", "", 36, 0},      // RFC 4106, 8.1
		{"chacha20poly1305", "", 36, 0}, // RFC 7634, 2
		{"aes192ctr", "sha1", 28, 20},   // RFC 3686, 5.1
		{"aes256", "sha256", 32, 32},    // RFC 4868, 2.1.1
		{"aes128", "sha384", 16, 48},
		{"null", "sha512", 0, 64},
	} {
		in := ChildInput{PRF: mustPRF(t, PRFHMACSHA256), SKd: NewKey(make([]byte, 32)), Encr: tr(t, v.encr)}
		if v.integ != "" {
			in.Integ = tr(t, v.integ)
		}
		k, err := DeriveChild(in)
		if err != nil {
			t.Errorf("%s: %v", v.encr, err)
			continue
		}
		ike, err := DeriveIKE(IKEInput{PRF: in.PRF, Encr: in.Encr, Integ: in.Integ, Ni: []byte{1}, Nr: []byte{2}, Shared: NewKey([]byte{3})})
		if err != nil {
			t.Errorf("%s: %v", v.encr, err)
			continue
		}
		for _, got := range []Key{k.EncrI, k.EncrR, ike.SKei, ike.SKer} {
			if got.Len() != v.e {
				t.Errorf("%s: encryption key of %d octets, want %d", v.encr, got.Len(), v.e)
			}
		}
		for _, got := range []Key{k.IntegI, k.IntegR, ike.SKai, ike.SKar} {
			if got.Len() != v.a {
				t.Errorf("%s: integrity key of %d octets, want %d", v.integ, got.Len(), v.a)
			}
		}
	}
}

func TestScheduleRefusesUnfitAlgorithms(t *testing.T) {
	for _, v := range []struct {
		encr, integ Transform
		say         string
	}{
		{Transform{ENCR, 3, 0}, tr(t, "sha1"), "ENCR_3"},
		{Transform{ENCR, EncrAESCBC, 100}, tr(t, "sha1"), "100 bits"},
		{Transform{ENCR, EncrAESCBC, 0}, tr(t, "sha1"), "0 bits"},
		{tr(t, "aes128"), Transform{}, "integrity"},
		{tr(t, "aes128gcm16"), tr(t, "sha1"), "own integrity"},
		{tr(t, "chacha20poly1305"), tr(t, "sha256"), "own integrity"},
	} {
		in := scheduleVectors[0].input(t, nistGir)
		in.Encr, in.Integ = v.encr, v.integ
		if _, err := DeriveIKE(in); err == nil || !strings.Contains(err.Error(), v.say) {
			t.Errorf("%v with %v: error %v does not say %q", v.encr, v.integ, err, v.say)
		}
	}
}

func TestAEADWithNoneIsAEADAlone(t *testing.T) {
	in := scheduleVectors[0].input(t, nistGir)
	in.Encr, in.Integ = tr(t, "aes128gcm16"), Transform{}
	alone, err := DeriveIKE(in)
	if err != nil {
		t.Fatal(err)
	}
	in.Integ = Transform{Type: INTEG, ID: IntegNone}
	none, err := DeriveIKE(in)
	if err != nil {
		t.Fatal(err)
	}
	wantBytes(t, "keys", ikeStream(none), ikeStream(alone))
}
