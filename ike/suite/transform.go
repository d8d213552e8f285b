package suite

import (
	"fmt"
	"strings"
)

// TransformType is the kind of algorithm a transform names (RFC 7296, 3.3.2).
type TransformType uint8

// The transform types of RFC 7296, 3.3.2; KE was called D-H before RFC 9370, which added AddKE1 to AddKE7.
const (
	ENCR  TransformType = 1
	PRF   TransformType = 2
	INTEG TransformType = 3
	KE    TransformType = 4
	ESN   TransformType = 5

	AddKE1 TransformType = 6
	AddKE7 TransformType = 12
)

// additional is how many additional key exchanges there can be (RFC 9370, 2.2.1).
const additional = int(AddKE7-AddKE1) + 1

// IsAddKE reports whether t is one of the additional key exchanges, whose transform IDs are those of KE.
func (t TransformType) IsAddKE() bool { return t >= AddKE1 && t <= AddKE7 }

// isKE reports whether t is a key exchange, the first or an additional one.
func (t TransformType) isKE() bool { return t == KE || t.IsAddKE() }

// Protocol is a security protocol identifier (RFC 7296, 3.3.1).
type Protocol uint8

// The protocols a proposal can be for.
const (
	IKE Protocol = 1
	AH  Protocol = 2
	ESP Protocol = 3
)

// String returns IKE, ESP or AH.
func (p Protocol) String() string {
	switch p {
	case IKE:
		return "IKE"
	case AH:
		return "AH"
	case ESP:
		return "ESP"
	}
	return fmt.Sprintf("protocol %d", uint8(p))
}

// String returns the name used in messages to people.
func (t TransformType) String() string {
	switch t {
	case ENCR:
		return "encryption algorithm"
	case PRF:
		return "PRF"
	case INTEG:
		return "integrity algorithm"
	case KE:
		return "DH group"
	case ESN:
		return "ESN mode"
	}
	if t.IsAddKE() {
		return fmt.Sprintf("additional key exchange %d", t-AddKE1+1)
	}
	return fmt.Sprintf("transform of type %d", uint8(t))
}

// Encryption transform IDs.
const (
	EncrNull             uint16 = 11
	EncrAESCBC           uint16 = 12
	EncrAESCTR           uint16 = 13
	EncrAESCCM8          uint16 = 14
	EncrAESCCM12         uint16 = 15
	EncrAESCCM16         uint16 = 16
	EncrAESGCM8          uint16 = 18
	EncrAESGCM12         uint16 = 19
	EncrAESGCM16         uint16 = 20
	EncrAESGMAC          uint16 = 21
	EncrChaCha20Poly1305 uint16 = 28
)

// PRF transform IDs.
const (
	PRFHMACSHA1   uint16 = 2
	PRFHMACSHA256 uint16 = 5
	PRFHMACSHA384 uint16 = 6
	PRFHMACSHA512 uint16 = 7
)

// Integrity transform IDs. IntegNone beside an AEAD cipher means the same as no integrity transform (RFC 7296, 3.3.3).
const (
	IntegNone       uint16 = 0
	IntegSHA1_96    uint16 = 2
	IntegSHA256_128 uint16 = 12
	IntegSHA384_192 uint16 = 13
	IntegSHA512_256 uint16 = 14
)

// Key exchange groups. KENone in an ESP or AH proposal says that a CHILD_SA without PFS is acceptable.
const (
	KENone     uint16 = 0
	KEMODP1024 uint16 = 2
	KEMODP1536 uint16 = 5
	KEMODP2048 uint16 = 14
	KEMODP3072 uint16 = 15
	KEMODP4096 uint16 = 16
	KEMODP6144 uint16 = 17
	KEMODP8192 uint16 = 18
	KEECP256   uint16 = 19
	KEECP384   uint16 = 20
	KEECP521   uint16 = 21
	KEX25519   uint16 = 31
	KEX448     uint16 = 32

	KEMLKEM512  uint16 = 35
	KEMLKEM768  uint16 = 36
	KEMLKEM1024 uint16 = 37
)

// Extended sequence number transform IDs.
const (
	ESNNo  uint16 = 0
	ESNYes uint16 = 1
)

// Transform is one algorithm of a proposal. KeyBits is the Key Length attribute in bits; 0 means that the attribute is
// absent, as it must be for algorithms with one fixed key size. Transforms compare with ==.
type Transform struct {
	Type    TransformType
	ID      uint16
	KeyBits uint16
}

// IsNone reports whether t is the NONE of its type, or the zero Transform: both stand for an algorithm that is not there.
func (t Transform) IsNone() bool {
	return t == Transform{} || (t.Type == INTEG || t.Type.isKE()) && t.ID == 0
}

// IsAEAD reports whether t is a cipher that brings its own integrity, so that no integrity transform goes with it.
func (t Transform) IsAEAD() bool {
	a, ok := encrAlgs[t.ID]
	return t.Type == ENCR && ok && a.aead
}

// String returns the name charon logs, key size included: AES_GCM_16_256, PRF_HMAC_SHA2_384, ECP_384, KE1_ML_KEM_768.
// Transforms unknown here are named by their numbers, as in ENCR_99_128.
func (t Transform) String() string {
	if t.Type.IsAddKE() {
		return fmt.Sprintf("KE%d_%s", t.Type-AddKE1+1, strings.TrimPrefix(t.Name(), "KE_"))
	}
	if t.KeyBits == 0 {
		return t.Name()
	}
	return fmt.Sprintf("%s_%d", t.Name(), t.KeyBits)
}

// Name returns charon's name without the key size, as VICI's encr-alg has it: AES_GCM_16.
func (t Transform) Name() string {
	if t.Type.IsAddKE() {
		t.Type = KE
	}
	if a, ok := algByTransform[t]; ok {
		return a.name
	}
	prefix := map[TransformType]string{ENCR: "ENCR", PRF: "PRF", INTEG: "INTEG", KE: "KE", ESN: "ESN"}[t.Type]
	if prefix == "" {
		prefix = fmt.Sprintf("TYPE_%d", uint8(t.Type))
	}
	return fmt.Sprintf("%s_%d", prefix, t.ID)
}

// Keyword returns the word swanctl.conf has for t: aes256gcm16, prfsha384, ecp384. Transforms unknown here have none;
// for those it returns what String returns.
func (t Transform) Keyword() string {
	if t.Type.IsAddKE() {
		ke := Transform{Type: KE, ID: t.ID, KeyBits: t.KeyBits}
		return fmt.Sprintf("ke%d_%s", t.Type-AddKE1+1, ke.Keyword())
	}
	if a, ok := algByTransform[t]; ok {
		return a.words[0]
	}
	return t.String()
}
