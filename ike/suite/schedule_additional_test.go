package suite

import "testing"

// RFC 9370, 2.2.2 computes SKEYSEED(n) as RFC 7296, 2.18 does that of a rekey; in NIST's cases the nonces are those of IKE_SA_INIT.
func TestDeriveIKEUpdateVectors(t *testing.T) {
	for _, v := range scheduleVectors {
		in := v.input(t, nistGirNew)
		k, err := DeriveIKEUpdate(NewKey(unhex(t, v.dkm)[:in.PRF.Size()]), in)
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

// RFC 9370, 2.2.4 appends SK(1) to SK(n) to SK(0) | Ni | Nr. The last octets of NIST's Nr stand for them here.
func TestAdditionalSecretsFollowTheNonces(t *testing.T) {
	nr := unhex(t, nistNr)
	more := []Key{NewKey(nr[5:7]), NewKey(nr[7:])}
	for _, v := range scheduleVectors {
		f := mustPRF(t, v.prf)
		skd := NewKey(unhex(t, v.dkm)[:f.Size()])
		k, err := DeriveChild(ChildInput{
			PRF: f, SKd: skd, Encr: tr(t, v.encr), Integ: tr(t, v.integ),
			Ni: unhex(t, nistNi), Nr: nr[:5], Shared: key(t, nistGirNew), More: more,
		})
		if err != nil {
			t.Fatal(err)
		}
		got := join(k.EncrI.Bytes(), k.IntegI.Bytes(), k.EncrR.Bytes(), k.IntegR.Bytes())
		wantBytes(t, v.name+" CHILD_SA", got, unhex(t, v.childDH)[:len(got)])

		// The nonces that SKEYSEED is expanded with are without the secrets.
		in := v.input(t, nistGirNew)
		in.Nr, in.More = nr[:5], more
		rekeyed, err := DeriveIKERekey(f, skd, in)
		if err != nil {
			t.Fatal(err)
		}
		want, err := expandIKE(key(t, v.rekeySkeyseed), in)
		if err != nil {
			t.Fatal(err)
		}
		wantBytes(t, v.name+" IKE_SA", ikeStream(rekeyed), ikeStream(want))
	}
}
