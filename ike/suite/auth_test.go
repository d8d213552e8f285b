package suite

import (
	"crypto/hmac"
	"crypto/sha256"
	"testing"
)

// RFC 7296, 2.15: AUTH = prf(prf(Shared Secret, "Key Pad for IKEv2"), <SignedOctets>), where <InitiatorSignedOctets> =
// RealMessage1 | NonceRData | MACedIDForI. No vectors are published, so the formula is written out once more here.
func TestPSKAuthFollowsTheFormula(t *testing.T) {
	mac := func(key, data []byte) []byte {
		h := hmac.New(sha256.New, key)
		h.Write(data)
		return h.Sum(nil)
	}
	psk, skp := []byte("s3cret"), []byte("0123456789abcdef0123456789abcdef")
	message, nonce, id := []byte("IKE_SA_INIT"), []byte("nonce of the other"), []byte{2, 0, 0, 0, 'g', 'w'}
	octets := append(append(append([]byte{}, message...), nonce...), mac(skp, id)...)
	want := mac(mac(psk, []byte("Key Pad for IKEv2")), octets)

	f := mustPRF(t, PRFHMACSHA256)
	got := PSKAuth(f, NewKey(psk), SignedOctets(f, NewKey(skp), message, nonce, id))
	wantBytes(t, "AUTH", got, want)
}
