package suite

import (
	"bytes"
	"math/big"
	"testing"
)

// NIST ACVP sample for safePrimes/keyVer, MODP-2048: y = 2^x mod p. The exponents of IKE here are shorter, but the
// arithmetic is the same.
func TestMODPVector(t *testing.T) {
	x := unhex(t, `71D89A8174536DDF1126659FCF9A26856EDCA94DAD9A4A4C357911E1F0192C278702A95F12444BC3A8645E09A0B79CE2
		242D4CB93C0E910F7A6C0BCA15D0EE99F173EAB06AD6675D24B453D01F5AD34D8C85FFA5EF6871EA125BC0FAECC61298
		EE121F3232BF074002E4C4A7D0535CF4C206E90C424869D69DDAEA690EC0B72E9C379E2FE8E3F5FC425BA3FFB29E8C63
		F5139E983160BFEBA0EAC88E7255B75B5EC67A3A4456341365238D7B75877FC9FCE0DC2A090E4DEF8F002F046B8BE034
		1B2E3129723DC43DA22DC7A146E24AE9DCFC43F6E6C557CDAE59A2C65C2EC90BA1D20A805F5EFB9E124A0E6BBDE688AC
		70C0D9B71BC259C02A7E61F11A36BE62`)
	y := unhex(t, `245B87E54215C32F9110E9FAEF036CC41AA08CD991B08756E8EDC034EA84291B4E3A8A60616FBD6B1CAC9897B799C2CA
		4A75633E090466DBF2CC01BB58F3A045B6B98427B00925F29CE6EA3D1ADBA365FA53F97A35C344F4E4EA6DE82B677543
		C330836330ED28A3293DBA2557DA762EE12231367E8D54D38E7B888CE79B61898E936E3A63779A151F4E79E932296C2B
		80E9C4F4140BA0672372693648AD15BB5989DF1B70427DE4B5627226BA586553E972B66F3ACD241A70DB0800C2C2BED9
		D575EEB816A029339B2D4DFF15F4ECB39D3BC3CA0790A5274CFA517BFB14E4EEEE3ADFE4974F7B13E1C26D62096FCFC6
		36C663F0B48A1D5A0F3D3B36592E3A05`)
	g := modpGroups[KEMODP2048]
	g.exponent = len(x)
	k, err := newMODP(g, bytes.NewReader(x))
	if err != nil {
		t.Fatal(err)
	}
	wantBytes(t, "public value", k.Public(), y)
}

// piBits returns floor(2^bits * pi) by Machin's formula, pi = 16 atan(1/5) - 4 atan(1/239).
func piBits(bits uint) *big.Int {
	const guard = 64 // bits that absorb the rounding of the terms
	atan := func(x int64) *big.Int {
		power := new(big.Int).Lsh(big.NewInt(1), bits+guard)
		power.Quo(power, big.NewInt(x))
		sum := new(big.Int)
		for n := int64(1); power.Sign() != 0; n += 2 {
			term := new(big.Int).Quo(power, big.NewInt(n))
			if n%4 == 1 {
				sum.Add(sum, term)
			} else {
				sum.Sub(sum, term)
			}
			power.Quo(power, big.NewInt(x*x))
		}
		return sum
	}
	pi := atan(5)
	pi.Mul(pi, big.NewInt(16))
	pi.Sub(pi, new(big.Int).Mul(big.NewInt(4), atan(239)))
	return pi.Rsh(pi, guard)
}

func TestMODPPrimes(t *testing.T) {
	// The additive constants of RFC 2409, 6.2 and RFC 3526, 2 to 7.
	ks := map[uint16]int64{
		KEMODP1024: 129093, KEMODP1536: 741804, KEMODP2048: 124476, KEMODP3072: 1690314,
		KEMODP4096: 240904, KEMODP6144: 929484, KEMODP8192: 4743158,
	}
	for id, g := range modpGroups {
		p, ok := new(big.Int).SetString(g.prime, 16)
		if !ok {
			t.Fatalf("%d: no number", id)
		}
		n := uint(4 * len(g.prime))
		// p = 2^n - 2^(n-64) - 1 + 2^64 * (floor(2^(n-130) pi) + k)
		want := new(big.Int).Add(piBits(n-130), big.NewInt(ks[id]))
		want.Lsh(want, 64)
		want.Add(want, new(big.Int).Lsh(big.NewInt(1), n))
		want.Sub(want, new(big.Int).Lsh(big.NewInt(1), n-64))
		want.Sub(want, big.NewInt(1))
		if p.Cmp(want) != 0 {
			t.Errorf("group %d is not the prime of its RFC", id)
		}
		if n > 3072 && testing.Short() {
			continue // seconds each
		}
		// Checking public values is as short as it is because (p-1)/2 is prime too (RFC 6989, 2.1).
		if q := new(big.Int).Rsh(p, 1); !p.ProbablyPrime(0) || !q.ProbablyPrime(0) {
			t.Errorf("group %d is no safe prime", id)
		}
	}
}

// A secret with leading zeros keeps them (RFC 7296, 2.14). With g^x = 2 the secret is 2^x for a small x.
func TestMODPSharedIsPadded(t *testing.T) {
	k := &modpExchange{modpGroups[KEMODP2048], NewKey([]byte{10}), nil}
	peer := make([]byte, 256)
	peer[255] = 2
	shared, err := k.Shared(peer)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]byte, 256)
	want[254] = 4 // 2^10
	wantBytes(t, "2^10", shared.Bytes(), want)
}
