package suite

import "testing"

// RFC 8784, 3 says what prf+ comes to for the PRFs there are: prf(PPK, SK' | 0x01).
func TestMixPPK(t *testing.T) {
	f := mustPRF(t, PRFHMACSHA256)
	ppk := NewKey([]byte("a post-quantum pre-shared key"))
	k, err := DeriveIKE(scheduleVectors[1].input(t, nistGir))
	if err != nil {
		t.Fatal(err)
	}
	mixed, err := MixPPK(f, ppk, k)
	if err != nil {
		t.Fatal(err)
	}
	for name, pair := range map[string][2]Key{"SK_d": {mixed.SKd, k.SKd}, "SK_pi": {mixed.SKpi, k.SKpi}, "SK_pr": {mixed.SKpr, k.SKpr}} {
		wantBytes(t, name, pair[0].Bytes(), f.Sum(ppk, pair[1].Bytes(), []byte{1}))
	}
	wantBytes(t, "SK_ei", mixed.SKei.Bytes(), k.SKei.Bytes())
}
