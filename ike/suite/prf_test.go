package suite

import (
	"bytes"
	"strings"
	"testing"
)

// RFC 2202 section 3 (SHA-1) and RFC 4231 section 4 (SHA-2).
func TestPRFVectors(t *testing.T) {
	longKey := strings.Repeat("aa", 131)
	for _, v := range []struct {
		name   string
		id     uint16
		key    string
		data   string
		digest string
	}{
		{"RFC 2202 case 1", PRFHMACSHA1, strings.Repeat("0b", 20), "Hi There", "b617318655057264e28bc0b6fb378c8ef146be00"},
		{"RFC 2202 case 2", PRFHMACSHA1, "4a656665", "what do ya want for nothing?", "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"},
		{"RFC 4231 case 1", PRFHMACSHA256, strings.Repeat("0b", 20), "Hi There",
			"b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
		{"RFC 4231 case 1", PRFHMACSHA384, strings.Repeat("0b", 20), "Hi There",
			"afd03944d84895626b0825f4ab46907f15f9dadbe4101ec682aa034c7cebc59cfaea9ea9076ede7f4af152e8b2fa9cb6"},
		{"RFC 4231 case 1", PRFHMACSHA512, strings.Repeat("0b", 20), "Hi There",
			"87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cdedaa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854"},
		{"RFC 4231 case 2", PRFHMACSHA256, "4a656665", "what do ya want for nothing?",
			"5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
		{"RFC 4231 case 2", PRFHMACSHA384, "4a656665", "what do ya want for nothing?",
			"af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e8e2240ca5e69e2c78b3239ecfab21649"},
		{"RFC 4231 case 2", PRFHMACSHA512, "4a656665", "what do ya want for nothing?",
			"164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737"},
		{"RFC 4231 case 6", PRFHMACSHA256, longKey, "Test Using Larger Than Block-Size Key - Hash Key First",
			"60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
	} {
		got := mustPRF(t, v.id).Sum(key(t, v.key), []byte(v.data))
		wantBytes(t, v.name, got, unhex(t, v.digest))
	}
}

// Splitting the data must not change the result: callers pass the parts of a concatenation.
func TestPRFConcatenates(t *testing.T) {
	f := mustPRF(t, PRFHMACSHA256)
	k := NewKey([]byte("key"))
	wantBytes(t, "prf(k, a|b)", f.Sum(k, []byte("ab"), nil, []byte("c")), f.Sum(k, []byte("abc")))
}

func TestPRFPlusEndsAt255Blocks(t *testing.T) {
	f := mustPRF(t, PRFHMACSHA1)
	k := NewKey([]byte("key"))
	all, err := f.Plus(k, []byte("seed"), 255*20)
	if err != nil {
		t.Fatal(err)
	}
	short, err := f.Plus(k, []byte("seed"), 33)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(all, short) {
		t.Error("a shorter prf+ is not the beginning of a longer one")
	}
	if _, err := f.Plus(k, []byte("seed"), 255*20+1); err == nil {
		t.Error("prf+ went on after block 255, where its counter wraps")
	}
}

func TestUnknownPRFNamesItself(t *testing.T) {
	if _, err := NewPRF(4); err == nil || !strings.Contains(err.Error(), "PRF_4") {
		t.Errorf("NewPRF(4): %v", err)
	}
}
