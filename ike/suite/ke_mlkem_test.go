package suite

import (
	"bytes"
	"crypto/mlkem"
	"crypto/mlkem/mlkemtest"
	"crypto/rand"
	"encoding/json"
	"os"
	"testing"
)

// mlkemVector is a case of Project Wycheproof; see testdata/README.md.
type mlkemVector struct {
	Set, ID                                  int
	Kind, Comment                            string
	Seed, Random, Public, Ciphertext, Shared string
	Valid                                    bool
}

var mlkemSets = map[int]uint16{512: KEMLKEM512, 768: KEMLKEM768, 1024: KEMLKEM1024}

func mlkemVectors(t *testing.T, kind string) []mlkemVector {
	t.Helper()
	data, err := os.ReadFile("testdata/mlkem.json")
	if err != nil {
		t.Fatal(err)
	}
	var all, some []mlkemVector
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	for _, v := range all {
		if v.Kind == kind {
			some = append(some, v)
		}
	}
	if len(some) < 15 {
		t.Fatalf("only %d cases", len(some))
	}
	return some
}

// The initiator's side: key generation from a seed, decapsulation with implicit rejection, ciphertexts of wrong length.
func TestMLKEMDecapsulationVectors(t *testing.T) {
	for _, v := range mlkemVectors(t, "decapsulate") {
		ke, err := NewKE(mlkemSets[v.Set], bytes.NewReader(unhex(t, v.Seed)))
		if err != nil {
			t.Fatal(err)
		}
		if v.Public != "" {
			wantBytes(t, v.Comment+": encapsulation key", ke.Public(), unhex(t, v.Public))
		}
		shared, err := ke.Shared(unhex(t, v.Ciphertext))
		if (err == nil) != v.Valid {
			t.Errorf("%d %d %s: error %v", v.Set, v.ID, v.Comment, err)
		}
		wantBytes(t, v.Comment+": shared secret", shared.Bytes(), unhex(t, v.Shared))
	}
}

// The responder's side: the encapsulation key is checked (FIPS 203, 7.2); what goes out for given randomness.
func TestMLKEMEncapsulationVectors(t *testing.T) {
	for _, v := range mlkemVectors(t, "encapsulate") {
		public, group := unhex(t, v.Public), mlkemSets[v.Set]
		answer, shared, err := AnswerKE(group, bytes.NewReader(unhex(t, v.Random)), public)
		if (err == nil) != v.Valid {
			t.Errorf("%d %d %s: error %v", v.Set, v.ID, v.Comment, err)
		}
		if !v.Valid {
			continue
		}
		got, ciphertext := shared.Bytes(), answer.Public()
		switch group { // crypto/mlkem takes fixed randomness in tests only
		case KEMLKEM768:
			k, _ := mlkem.NewEncapsulationKey768(public)
			got, ciphertext, err = mlkemtest.Encapsulate768(k, unhex(t, v.Random))
		case KEMLKEM1024:
			k, _ := mlkem.NewEncapsulationKey1024(public)
			got, ciphertext, err = mlkemtest.Encapsulate1024(k, unhex(t, v.Random))
		}
		if err != nil {
			t.Fatal(err)
		}
		wantBytes(t, v.Comment+": ciphertext", ciphertext, unhex(t, v.Ciphertext))
		wantBytes(t, v.Comment+": shared secret", got, unhex(t, v.Shared))
	}
}

// A ciphertext that was changed on the way yields another secret, and no error that would tell an attacker anything.
func TestMLKEMRejectsImplicitly(t *testing.T) {
	for _, group := range mlkemSets {
		ke, err := NewKE(group, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		answer, theirs, err := AnswerKE(group, rand.Reader, ke.Public())
		if err != nil {
			t.Fatal(err)
		}
		changed := bytes.Clone(answer.Public())
		changed[len(changed)/2] ^= 1
		ours, err := ke.Shared(changed)
		if err != nil || ours.Len() != theirs.Len() || bytes.Equal(ours.Bytes(), theirs.Bytes()) {
			t.Errorf("group %d: %d octets, error %v", group, ours.Len(), err)
		}
	}
}
