package suite

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"
)

// unhex decodes hexadecimal with spaces and line breaks, as RFCs print it.
func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func key(t testing.TB, s string) Key {
	t.Helper()
	return NewKey(unhex(t, s))
}

func wantBytes(t testing.TB, what string, got, want []byte) {
	t.Helper()
	if !bytes.Equal(got, want) {
		t.Errorf("%s\n got %x\nwant %x", what, got, want)
	}
}

// mustPRF returns a PRF that is known to exist.
func mustPRF(t testing.TB, id uint16) PRFunc {
	t.Helper()
	f, err := NewPRF(id)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// tr returns the transform of a keyword.
func tr(t testing.TB, word string) Transform {
	t.Helper()
	a, ok := algByWord[word]
	if !ok {
		t.Fatalf("no keyword %q", word)
	}
	return a.t
}
