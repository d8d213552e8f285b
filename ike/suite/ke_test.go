package suite

import (
	"bytes"
	"crypto/rand"
	"errors"
	"math/big"
	"strings"
	"testing"
	"testing/iotest"
)

type keVector struct {
	name            string
	group           uint16
	private, public string
	peer, shared    string
	peerPrivate     string
}

var keVectors = []keVector{
	{
		name: "RFC 5903, 8.1", group: KEECP256,
		private: "C88F01F5 10D9AC3F 70A292DA A2316DE5 44E9AAB8 AFE84049 C62A9C57 862D1433",
		public: `DAD0B653 94221CF9 B051E1FE CA5787D0 98DFE637 FC90B9EF 945D0C37 72581180
			5271A046 1CDB8252 D61F1C45 6FA3E59A B1F45B33 ACCF5F58 389E0577 B8990BB3`,
		peer: `D12DFB52 89C8D4F8 1208B702 70398C34 2296970A 0BCCB74C 736FC755 4494BF63
			56FBF3CA 366CC23E 8157854C 13C58D6A AC23F046 ADA30F83 53E74F33 039872AB`,
		peerPrivate: "C6EF9C5D 78AE012A 011164AC B397CE20 88685D8F 06BF9BE0 B283AB46 476BEE53",
		shared:      "D6840F6B 42F6EDAF D13116E0 E1256520 2FEF8E9E CE7DCE03 812464D0 4B9442DE",
	},
	{
		name: "RFC 5903, 8.2", group: KEECP384,
		private: `099F3C70 34D4A2C6 99884D73 A375A67F 7624EF7C 6B3C0F16 0647B674 14DCE655
			E35B5380 41E649EE 3FAEF896 783AB194`,
		public: `667842D7 D180AC2C DE6F74F3 7551F557 55C7645C 20EF73E3 1634FE72 B4C55EE6
			DE3AC808 ACB4BDB4 C88732AE E95F41AA 9482ED1F C0EEB9CA FC498462 5CCFC23F
			65032149 E0E144AD A0241815 35A0F38E EB9FCFF3 C2C947DA E69B4C63 4573A81C`,
		peer: `E558DBEF 53EECDE3 D3FCCFC1 AEA08A89 A987475D 12FD950D 83CFA417 32BC509D
			0D1AC43A 0336DEF9 6FDA41D0 774A3571 DCFBEC7A ACF31964 72169E83 8430367F
			66EEBE3C 6E70C416 DD5F0C68 759DD1FF F83FA401 42209DFF 5EAAD96D B9E6386C`,
		peerPrivate: `41CB0779 B4BDB85D 47846725 FBEC3C94 30FAB46C C8DC5060 855CC9BD A0AA2942
			E0308312 916B8ED2 960E4BD5 5A7448FC`,
		shared: `11187331 C279962D 93D60424 3FD592CB 9D0A926F 422E4718 7521287E 7156C5C4
			D6031355 69B9E9D0 9CF5D4A2 70F59746`,
	},
	{
		name: "RFC 5903, 8.3", group: KEECP521,
		private: `0037ADE9 319A89F4 DABDB3EF 411AACCC A5123C61 ACAB57B5 393DCE47 608172A0
			95AA85A3 0FE1C295 2C6771D9 37BA9777 F5957B26 39BAB072 462F68C2 7A57382D 4A52`,
		public: `0015417E 84DBF28C 0AD3C278 713349DC 7DF153C8 97A1891B D98BAB43 57C9ECBE
			E1E3BF42 E00B8E38 0AEAE57C 2D107564 94188594 2AF5A7F4 601723C4 195D176C ED3E
			017CAE20 B6641D2E EB695786 D8C94614 6239D099 E18E1D5A 514C739D 7CB4A10A
			D8A78801 5AC405D7 799DC75E 7B7D5B6C F2261A6A 7F150743 8BF01BEB 6CA3926F 9582`,
		peer: `00D0B397 5AC4B799 F5BEA16D 5E13E9AF 971D5E9B 984C9F39 728B5E57 39735A21
			9B97C356 436ADC6E 95BB0352 F6BE64A6 C2912D4E F2D0433C ED2B6171 640012D9 460F
			015C6822 6383956E 3BD066E7 97B623C2 7CE0EAC2 F551A10C 2C724D98 52077B87
			220B6536 C5C408A1 D2AEBB8E 86D678AE 49CB5709 1F473229 6579AB44 FCD17F0F C56A`,
		peerPrivate: `0145BA99 A847AF43 793FDD0E 872E7CDF A16BE30F DC780F97 BCCC3F07 8380201E
			9C677D60 0B343757 A3BDBF2A 3163E4C2 F869CCA7 458AA4A4 EFFC311F 5CB15168 5EB9`,
		shared: `01144C7D 79AE6956 BC8EDB8E 7C787C45 21CB086F A64407F9 7894E5E6 B2D79B04
			D1427E73 CA4BAA24 0A347868 59810C06 B3C715A3 A8CC3151 F2BEE417 996D19F3 DDEA`,
	},
	{
		name: "RFC 7748, 6.1", group: KEX25519,
		private:     "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a",
		public:      "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a",
		peer:        "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f",
		peerPrivate: "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb",
		shared:      "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742",
	},
	{
		name: "RFC 7748, 6.2", group: KEX448,
		private:     "9a8f4925d1519f5775cf46b04b5800d4ee9ee8bae8bc5565d498c28dd9c9baf574a9419744897391006382a6f127ab1d9ac2d8c0a598726b",
		public:      "9b08f7cc31b7e3e67d22d5aea121074a273bd2b83de09c63faa73d2c22c5d9bbc836647241d953d40c5b12da88120d53177f80e532c41fa0",
		peer:        "3eb7a829b0cd20f5bcfc0b599b6feccf6da4627107bdb0d4f345b43027d8b972fc3e34fb4232a13ca706dcb57aec3dae07bdc1c67bf33609",
		peerPrivate: "1c306a7ac2a0e2e0990b294470cba339e6453772b075811d8fad0d1d6927c120bb5ee8972b0d3e21374c9c921b09d1b0366f10b65173992d",
		shared:      "07fff4181ac6cc95ec1c16a94a0f74d12da232ce40a77552281d282bb60c0b56fd2464c335543936521c24403085d59a449a5037514a879d",
	},
}

func TestKEVectors(t *testing.T) {
	for _, v := range keVectors {
		a, err := NewKE(v.group, bytes.NewReader(unhex(t, v.private)))
		if err != nil {
			t.Fatalf("%s: %v", v.name, err)
		}
		wantBytes(t, v.name+": public value", a.Public(), unhex(t, v.public))
		shared, err := a.Shared(unhex(t, v.peer))
		if err != nil {
			t.Fatalf("%s: %v", v.name, err)
		}
		wantBytes(t, v.name+": shared secret", shared.Bytes(), unhex(t, v.shared))

		b, err := NewKE(v.group, bytes.NewReader(unhex(t, v.peerPrivate)))
		if err != nil {
			t.Fatalf("%s: %v", v.name, err)
		}
		wantBytes(t, v.name+": peer's public value", b.Public(), unhex(t, v.peer))
		shared, err = b.Shared(a.Public())
		if err != nil {
			t.Fatalf("%s: %v", v.name, err)
		}
		wantBytes(t, v.name+": peer's shared secret", shared.Bytes(), unhex(t, v.shared))
	}
}

// Both sides get the same secret of full length, whatever the group.
func TestKEAgrees(t *testing.T) {
	for _, a := range algs {
		if a.t.Type != KE || a.t.IsNone() {
			continue
		}
		if testing.Short() && PublicLen(a.t.ID) > 512 {
			continue
		}
		i, err := NewKE(a.t.ID, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		r, sr, err := AnswerKE(a.t.ID, rand.Reader, i.Public())
		if err != nil {
			t.Fatal(err)
		}
		if i.Group() != a.t.ID || len(i.Public()) != PublicLen(a.t.ID) {
			t.Errorf("%s: group %d, public value of %d octets, want %d", a.name, i.Group(), len(i.Public()), PublicLen(a.t.ID))
		}
		si, err := i.Shared(r.Public())
		if err != nil {
			t.Fatal(err)
		}
		wantBytes(t, a.name, si.Bytes(), sr.Bytes())
	}
}

func TestKERefusesBadPublicValues(t *testing.T) {
	p, _ := new(big.Int).SetString(modp2048, 16)
	modp := func(n *big.Int) []byte { return n.FillBytes(make([]byte, 256)) }
	minusOne := new(big.Int).Sub(p, big.NewInt(1))
	for _, v := range []struct {
		name  string
		group uint16
		peer  []byte
		say   string
	}{
		{"p itself", KEMODP2048, modp(p), "unusable"},
		{"beyond p", KEMODP2048, bytes.Repeat([]byte{0xff}, 256), "unusable"},
		{"p-1", KEMODP2048, modp(minusOne), "unusable"},
		{"1", KEMODP2048, modp(big.NewInt(1)), "unusable"},
		{"0", KEMODP2048, modp(big.NewInt(0)), "unusable"},
		{"leading zeros cut", KEMODP2048, make([]byte, 255), "255 octets instead of 256"},
		{"empty", KEMODP2048, nil, "0 octets"},
		{"off the curve", KEECP256, bytes.Repeat([]byte{0xaa}, 64), "curve"},
		{"infinity", KEECP384, make([]byte, 96), "curve"},
		{"SEC 1 form", KEECP256, append([]byte{4}, make([]byte, 64)...), "65 octets instead of 64"},
		{"zero point", KEX25519, make([]byte, 32), "small order"},
		{"one", KEX25519, append([]byte{1}, make([]byte, 31)...), "small order"},
		{"zero point", KEX448, make([]byte, 56), "small order"},
		{"too short", KEX448, make([]byte, 55), "55 octets"},
	} {
		k, err := NewKE(v.group, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		shared, err := k.Shared(v.peer)
		if err == nil || !strings.Contains(err.Error(), v.say) || shared.Len() != 0 {
			t.Errorf("%s %s: error %v does not say %q", Transform{Type: KE, ID: v.group}, v.name, err, v.say)
		}
	}
}

func TestNewKEReportsFailingRandomness(t *testing.T) {
	broken := errors.New("no entropy")
	for _, group := range []uint16{KEMODP2048, KEECP256, KEX25519, KEX448, KEMLKEM512, KEMLKEM768, KEMLKEM1024} {
		if _, err := NewKE(group, iotest.ErrReader(broken)); !errors.Is(err, broken) {
			t.Errorf("group %d: %v", group, err)
		}
	}
	if _, err := NewKE(KEMODP2048, zeros{}); err == nil {
		t.Error("an all-zero exponent was taken")
	}
	if _, err := NewKE(KEECP256, zeros{}); err == nil {
		t.Error("an all-zero scalar was taken")
	}
	if _, err := NewKE(1, rand.Reader); err == nil || !strings.Contains(err.Error(), "KE_1") {
		t.Errorf("group 1: %v", err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// A P-256 scalar above the order is drawn again (about one in 2^32), and the same randomness gives the same key.
func TestECPDrawsAgain(t *testing.T) {
	good := unhex(t, keVectors[0].private)
	k, err := NewKE(KEECP256, bytes.NewReader(append(bytes.Repeat([]byte{0xff}, 32), good...)))
	if err != nil {
		t.Fatal(err)
	}
	wantBytes(t, "public value", k.Public(), unhex(t, keVectors[0].public))
}

func BenchmarkKE(b *testing.B) {
	for _, word := range []string{"x25519", "ecp256", "ecp384", "ecp521", "modp2048", "modp3072", "modp4096", "mlkem512", "mlkem768", "mlkem1024"} {
		group := algByWord[word].t.ID
		peer, err := NewKE(group, rand.Reader)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(word, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := AnswerKE(group, rand.Reader, peer.Public()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
