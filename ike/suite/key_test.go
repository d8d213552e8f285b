package suite

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

// holder has keys where fmt asks for methods and where it does not.
type holder struct {
	Public  Key
	private Key
	list    []Key
	any     any
}

// leak returns the form in which the secret appears in out, or "".
func leak(out string, secret []byte) string {
	decimal := strings.Trim(fmt.Sprint(secret), "[]")
	hexadecimal := hex.EncodeToString(secret)
	for _, form := range []string{
		string(secret), hexadecimal, strings.ToUpper(hexadecimal), decimal, strings.ReplaceAll(decimal, " ", ", "),
		strings.Trim(fmt.Sprintf("%#v", secret), "[]byte{}"),
	} {
		if strings.Contains(out, form) {
			return form
		}
	}
	return ""
}

func TestKeyIsNeverPrinted(t *testing.T) {
	secret := []byte("topsecret")
	k := NewKey(bytes.Clone(secret))
	h := holder{k, k, []Key{k}, k}
	values := []any{k, &k, h, &h, []Key{k}, map[string]Key{"k": k}, Keys{SKd: k}, ChildKeys{EncrI: k}, IKEInput{Shared: k}, any(k)}
	for _, v := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%o", "%b", "%c", "%U"} {
			out := fmt.Sprintf(verb, v)
			if form := leak(out, secret); form != "" {
				t.Errorf("%s of %T shows %q: %s", verb, v, form, out)
			}
		}
		if out, err := json.Marshal(v); err == nil {
			if form := leak(string(out), secret); form != "" {
				t.Errorf("JSON of %T shows %q: %s", v, form, out)
			}
		}
		var log bytes.Buffer
		slog.New(slog.NewTextHandler(&log, nil)).Info("msg", "v", v)
		slog.New(slog.NewJSONHandler(&log, nil)).Info("msg", "v", v)
		if form := leak(log.String(), secret); form != "" {
			t.Errorf("slog of %T shows %q: %s", v, form, log.String())
		}
	}
	if got := k.String() + k.GoString() + fmt.Sprintf("%x", k); got != strings.Repeat(redacted, 3) {
		t.Errorf("got %s", got)
	}
}

func TestWipeReachesCopies(t *testing.T) {
	octets := []byte{1, 2, 3}
	k := NewKey(octets)
	copied := k
	k.Wipe()
	wantBytes(t, "octets", octets, []byte{0, 0, 0})
	if copied.Len() != 0 || copied.Bytes() != nil {
		t.Error("the copy still has octets")
	}
	Key{}.Wipe() // the zero Key has nothing to wipe and must not panic
}

func TestWipeAllKeys(t *testing.T) {
	in := scheduleVectors[0].input(t, nistGir)
	k, err := DeriveIKE(in)
	if err != nil {
		t.Fatal(err)
	}
	k.Wipe()
	if len(ikeStream(k)) != 0 {
		t.Error("keys are left after Wipe")
	}
	c, err := DeriveChild(ChildInput{PRF: in.PRF, SKd: NewKey(make([]byte, 20)), Encr: in.Encr, Integ: in.Integ})
	if err != nil {
		t.Fatal(err)
	}
	c.Wipe()
	if c.EncrI.Len()+c.EncrR.Len()+c.IntegI.Len()+c.IntegR.Len() != 0 {
		t.Error("child keys are left after Wipe")
	}
}
