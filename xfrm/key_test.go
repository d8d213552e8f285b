package xfrm_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/ipsecd/ipsecd/xfrm"
	"github.com/ipsecd/ipsecd/xfrm/xfrmtest"
)

// Whatever prints an SA, its key must not be in it: not as text, hex, decimal
// bytes or base64.
func TestKeysAreNeverPrinted(t *testing.T) {
	canary := xfrm.Key("canary-canary-canary-canary-canary!!")
	sa := childIn(1)
	sa.AEAD.Key = canary
	sa.AEAD.Name, sa.AEAD.ICVBits = "rfc4106(gcm(aes))", 128
	k := xfrmtest.New()
	if err := k.AddSA(sa); err != nil {
		t.Fatal(err)
	}
	info, err := k.GetSA(sa.ID())
	if err != nil || !bytes.Equal(info.AEAD.Key, canary) {
		t.Fatalf("the test needs the key in the SA: %v", err)
	}

	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "sa", sa, "aead", sa.AEAD, "key", canary)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "sa", sa, "aead", sa.AEAD, "key", canary)
	js, err := json.Marshal(info)
	if err != nil {
		t.Fatal(err)
	}
	change := xfrm.Change{Op: xfrm.OpAddSA, NewSA: &sa}
	outputs := map[string]string{"slog": log.String(), "json": string(js), "change": change.String(), "fake": k.String()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%X", "%q", "%d", "%t", "%c", "%e"} {
		crypt, auth := &xfrm.Crypt{Key: canary}, &xfrm.Auth{Key: canary}
		for _, v := range []any{canary, &canary, *sa.AEAD, sa.AEAD, crypt, *crypt, auth, *auth, sa, &sa, info, &info, change} {
			outputs[verb] += fmt.Sprintf(verb, v)
		}
	}
	for how, out := range outputs {
		low := strings.ToLower(out)
		for _, secret := range []string{"canary", hex.EncodeToString([]byte("canary")), "99 97 110 97", "Y2FuYXJ5"} {
			if strings.Contains(low, strings.ToLower(secret)) {
				t.Errorf("%s prints the key: %s", how, out)
			}
		}
	}
}

func TestClearedKeyIsGone(t *testing.T) {
	k := xfrm.Key{1, 2, 3}
	k.Clear()
	if !bytes.Equal(k, make([]byte, 3)) {
		t.Error("the key is still there")
	}
}
