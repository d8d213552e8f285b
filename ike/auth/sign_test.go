package auth

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/big"
	"strings"
	"testing"
)

func must(t *testing.T, s string) Rule {
	t.Helper()
	r, err := ParseRule(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Every way to sign, chosen as for a peer, is accepted with the right key, and
// with nothing else.
func TestSignatures(t *testing.T) {
	keys := map[string]crypto.Signer{
		"rsa": rsaKey(), "p256": ecKey(t, elliptic.P256()), "p384": ecKey(t, elliptic.P384()), "p521": ecKey(t, elliptic.P521()), "ed": edKey(t),
	}
	for _, c := range []struct {
		key, rule string
		peer      HashSet // 0: the peer does not know RFC 7427
		want      string
	}{
		{"rsa", "pubkey", OurHashes, "RSA_EMSA_PKCS1_SHA2_256"},
		{"rsa", "pubkey", Hashes(HashSHA1, HashSHA512), "RSA_EMSA_PKCS1_SHA2_512"},
		{"rsa", "rsa-sha384", OurHashes, "RSA_EMSA_PKCS1_SHA2_384"},
		{"rsa", "rsa/pss", OurHashes, "RSA_EMSA_PSS_SHA2_256_SALT_32"},
		{"rsa", "rsa/pss-sha384", OurHashes, "RSA_EMSA_PSS_SHA2_384_SALT_48"},
		{"rsa", "rsa/pss-sha512", OurHashes, "RSA_EMSA_PSS_SHA2_512_SALT_64"},
		{"rsa", "rsa-sha1", 0, "RSA signature"},
		{"p256", "pubkey", OurHashes, "ECDSA_WITH_SHA256_DER"},
		{"p384", "pubkey", OurHashes, "ECDSA_WITH_SHA384_DER"},
		{"p521", "pubkey", OurHashes, "ECDSA_WITH_SHA512_DER"},
		{"p521", "pubkey", Hashes(HashSHA256), "ECDSA_WITH_SHA256_DER"},
		{"p256", "pubkey", 0, "ECDSA-256 signature"},
		{"p384", "pubkey", 0, "ECDSA-384 signature"},
		{"p521", "pubkey", 0, "ECDSA-521 signature"},
		{"ed", "pubkey", OurHashes, "ED25519"},
		{"ed", "pubkey-sha512", OurHashes, "ED25519"},
	} {
		t.Run(c.key+" "+c.rule+" "+c.peer.String(), func(t *testing.T) {
			rule, announced := must(t, c.rule), c.peer != 0
			how, err := ChooseSignature(keys[c.key].Public(), c.peer, announced, rule)
			if err != nil || how.String() != c.want {
				t.Fatalf("chosen: %v, %v; want %s", how, err, c.want)
			}
			data, err := private(t, keys[c.key]).Sign(rand.Reader, how, octets)
			if err != nil {
				t.Fatal(err)
			}
			got, err := verifySignature(keys[c.key].Public(), how.Method, data, octets, announced, rule)
			if err != nil || got != how {
				t.Fatalf("verified: %v, %v; want %v", got, err, how)
			}
			if _, err := verifySignature(keys[c.key].Public(), how.Method, data, append(octets, 0), announced, rule); err == nil {
				t.Error("signs other octets too")
			}
			for other, key := range keys {
				if _, err := verifySignature(key.Public(), how.Method, data, octets, announced, rule); (err == nil) != (other == c.key) {
					t.Errorf("with the key %s: %v", other, err)
				}
			}
			for i := range data {
				bad := bytes.Clone(data)
				bad[i] ^= 0x10
				if _, err := verifySignature(keys[c.key].Public(), how.Method, bad, octets, announced, rule); err == nil {
					t.Fatalf("octet %d may change", i)
				}
			}
			for _, n := range []int{0, 1, len(data) / 2, len(data) - 1} {
				if _, err := verifySignature(keys[c.key].Public(), how.Method, data[:n], octets, announced, rule); err == nil {
					t.Errorf("%d of %d octets are enough", n, len(data))
				}
			}
			if _, err := verifySignature(keys[c.key].Public(), how.Method, append(bytes.Clone(data), 0), octets, announced, rule); err == nil {
				t.Error("octets may follow")
			}
		})
	}
}

func TestNoSignatureInCommon(t *testing.T) {
	for _, c := range []struct {
		name, rule string
		key        crypto.Signer
		peer       HashSet
		announced  bool
		want       string
	}{
		{"RSA, peer without RFC 7427", "pubkey", rsaKey(), 0, false, "only RSA with SHA-1 is left"},
		{"Ed25519, peer without RFC 7427", "pubkey", edKey(t), 0, false, "does not know RFC 7427"},
		{"Ed25519, peer without RFC 8420", "pubkey", edKey(t), Hashes(HashSHA256), true, "sha256 only"},
		{"RSA, only SHA-1 announced", "pubkey", rsaKey(), Hashes(HashSHA1), true, "sha1 only"},
		{"SHA-1 is for old peers only", "rsa-sha1", rsaKey(), Hashes(HashSHA1), true, "sha1 only"},
		{"PSS, peer without RFC 7427", "rsa/pss", rsaKey(), 0, false, "only RSA with SHA-1"},
		{"nothing announced", "pubkey", rsaKey(), 0, true, "auth = pubkey"},
	} {
		how, err := ChooseSignature(c.key.Public(), c.peer, c.announced, must(t, c.rule))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v; want an error with %q", c.name, how, err, c.want)
		}
	}
}

// A downgrade to the old methods is refused where both sides know better, and
// SHA-1 where nobody asked for it.
func TestOldRSAIsNoWayAround(t *testing.T) {
	key := rsaKey()
	data, err := private(t, key).Sign(rand.Reader, Signature{MethodRSA, RSAPKCS1SHA1}, octets)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, rule string
		announced  bool
		ok         bool
	}{
		{"allowed", "rsa-sha1", false, true},
		{"not allowed", "pubkey", false, false},
		{"allowed, but both know RFC 7427", "rsa-sha1", true, false},
	} {
		if _, err := verifySignature(key.Public(), MethodRSA, data, octets, c.announced, must(t, c.rule)); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	// A peer may use SHA-2 with the old method (RFC 7296 section 3.8).
	data, err = private(t, key).Sign(rand.Reader, Signature{MethodRSA, RSAPKCS1SHA256}, octets)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := verifySignature(key.Public(), MethodRSA, data, octets, false, Rule{}); err != nil || got.Scheme != RSAPKCS1SHA256 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestParseRule(t *testing.T) {
	for in, want := range map[string]string{
		"pubkey": "pubkey", "PUBKEY": "pubkey", "rsa-2048-sha256-sha384": "rsa-2048-sha256-sha384", "rsa/pss-sha512": "rsa/pss-sha512",
		"ike:ecdsa-sha384": "ike:ecdsa-sha384", "ed25519": "ed25519", "rsa-sha1": "rsa-sha1",
	} {
		if got, err := ParseRule(in); err != nil || got.String() != want {
			t.Errorf("%q: %v, %v; want %s", in, got, err, want)
		}
	}
	for _, bad := range []string{"", "psk", "eap", "rsa-", "rsa-md5", "rsa--sha256", "ecdsa-sha1", "pubkey-sha1", "rsa-0", "ike:"} {
		if got, err := ParseRule(bad); err == nil {
			t.Errorf("%q: %v without an error", bad, got)
		}
	}
}

func TestPrivateKeyIsNotPrinted(t *testing.T) {
	key := ecKey(t, elliptic.P256())
	held := struct {
		Key  PrivateKey
		List []PrivateKey
	}{private(t, key), []PrivateKey{private(t, key)}}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("test", "held", held, "key", held.Key)
	text, err := json.Marshal(held)
	if err != nil {
		t.Fatal(err)
	}
	out := log.String() + string(text)
	for _, f := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d"} {
		out += fmt.Sprintf(f, held) + fmt.Sprintf(f, held.Key)
	}
	d, err := key.(*ecdsa.PrivateKey).Bytes()
	if err != nil {
		t.Fatal(err)
	}
	number := new(big.Int).SetBytes(d)
	for _, secret := range []string{fmt.Sprintf("%x", d), fmt.Sprintf("%X", d), number.String(), fmt.Sprint(number.Bits()[0])} {
		if strings.Contains(out, secret) {
			t.Errorf("the key is printed: %s", out)
		}
	}
	if !strings.Contains(out, "private key test") {
		t.Errorf("the name is missing: %s", out)
	}
}
