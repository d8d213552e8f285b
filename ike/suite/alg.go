package suite

// protoSet says in proposals of which protocols an algorithm may stand.
type protoSet uint8

const (
	inIKE protoSet = 1 << iota
	inESP
	inAH

	inAny   = inIKE | inESP | inAH
	inChild = inESP | inAH
)

func (s protoSet) has(p Protocol) bool {
	switch p {
	case IKE:
		return s&inIKE != 0
	case ESP:
		return s&inESP != 0
	case AH:
		return s&inAH != 0
	}
	return false
}

// alg ties a transform to its names.
type alg struct {
	t      Transform
	name   string   // charon's, without key size
	words  []string // swanctl's, the usual one first
	protos protoSet
}

// algs is every algorithm that can be configured. The order has no meaning.
var algs = []alg{
	{Transform{ENCR, EncrAESGCM16, 128}, "AES_GCM_16", []string{"aes128gcm16", "aes128gcm128", "aes128gcm"}, inIKE | inESP},
	{Transform{ENCR, EncrAESGCM16, 192}, "AES_GCM_16", []string{"aes192gcm16", "aes192gcm128", "aes192gcm"}, inIKE | inESP},
	{Transform{ENCR, EncrAESGCM16, 256}, "AES_GCM_16", []string{"aes256gcm16", "aes256gcm128", "aes256gcm"}, inIKE | inESP},
	{Transform{ENCR, EncrAESGCM12, 128}, "AES_GCM_12", []string{"aes128gcm12", "aes128gcm96"}, inIKE | inESP},
	{Transform{ENCR, EncrAESGCM12, 192}, "AES_GCM_12", []string{"aes192gcm12", "aes192gcm96"}, inIKE | inESP},
	{Transform{ENCR, EncrAESGCM12, 256}, "AES_GCM_12", []string{"aes256gcm12", "aes256gcm96"}, inIKE | inESP},
	{Transform{ENCR, EncrAESGCM8, 128}, "AES_GCM_8", []string{"aes128gcm8", "aes128gcm64"}, inIKE | inESP},
	{Transform{ENCR, EncrAESGCM8, 192}, "AES_GCM_8", []string{"aes192gcm8", "aes192gcm64"}, inIKE | inESP},
	{Transform{ENCR, EncrAESGCM8, 256}, "AES_GCM_8", []string{"aes256gcm8", "aes256gcm64"}, inIKE | inESP},
	{Transform{ENCR, EncrAESCCM16, 128}, "AES_CCM_16", []string{"aes128ccm16", "aes128ccm128", "aes128ccm"}, inIKE | inESP},
	{Transform{ENCR, EncrAESCCM16, 192}, "AES_CCM_16", []string{"aes192ccm16", "aes192ccm128", "aes192ccm"}, inIKE | inESP},
	{Transform{ENCR, EncrAESCCM16, 256}, "AES_CCM_16", []string{"aes256ccm16", "aes256ccm128", "aes256ccm"}, inIKE | inESP},
	{Transform{ENCR, EncrAESCCM12, 128}, "AES_CCM_12", []string{"aes128ccm12", "aes128ccm96"}, inIKE | inESP},
	{Transform{ENCR, EncrAESCCM12, 192}, "AES_CCM_12", []string{"aes192ccm12", "aes192ccm96"}, inIKE | inESP},
	{Transform{ENCR, EncrAESCCM12, 256}, "AES_CCM_12", []string{"aes256ccm12", "aes256ccm96"}, inIKE | inESP},
	{Transform{ENCR, EncrAESCCM8, 128}, "AES_CCM_8", []string{"aes128ccm8", "aes128ccm64"}, inIKE | inESP},
	{Transform{ENCR, EncrAESCCM8, 192}, "AES_CCM_8", []string{"aes192ccm8", "aes192ccm64"}, inIKE | inESP},
	{Transform{ENCR, EncrAESCCM8, 256}, "AES_CCM_8", []string{"aes256ccm8", "aes256ccm64"}, inIKE | inESP},
	{Transform{ENCR, EncrChaCha20Poly1305, 0}, "CHACHA20_POLY1305", []string{"chacha20poly1305"}, inIKE | inESP},
	{Transform{ENCR, EncrAESCBC, 128}, "AES_CBC", []string{"aes128", "aes"}, inIKE | inESP},
	{Transform{ENCR, EncrAESCBC, 192}, "AES_CBC", []string{"aes192"}, inIKE | inESP},
	{Transform{ENCR, EncrAESCBC, 256}, "AES_CBC", []string{"aes256"}, inIKE | inESP},
	{Transform{ENCR, EncrAESCTR, 128}, "AES_CTR", []string{"aes128ctr"}, inIKE | inESP},
	{Transform{ENCR, EncrAESCTR, 192}, "AES_CTR", []string{"aes192ctr"}, inIKE | inESP},
	{Transform{ENCR, EncrAESCTR, 256}, "AES_CTR", []string{"aes256ctr"}, inIKE | inESP},
	{Transform{ENCR, EncrAESGMAC, 128}, "NULL_AES_GMAC", []string{"aes128gmac"}, inESP},
	{Transform{ENCR, EncrAESGMAC, 192}, "NULL_AES_GMAC", []string{"aes192gmac"}, inESP},
	{Transform{ENCR, EncrAESGMAC, 256}, "NULL_AES_GMAC", []string{"aes256gmac"}, inESP},
	{Transform{ENCR, EncrNull, 0}, "NULL", []string{"null"}, inESP},

	{Transform{INTEG, IntegSHA1_96, 0}, "HMAC_SHA1_96", []string{"sha1", "sha"}, inAny},
	{Transform{INTEG, IntegSHA256_128, 0}, "HMAC_SHA2_256_128", []string{"sha256", "sha2_256"}, inAny},
	{Transform{INTEG, IntegSHA384_192, 0}, "HMAC_SHA2_384_192", []string{"sha384", "sha2_384"}, inAny},
	{Transform{INTEG, IntegSHA512_256, 0}, "HMAC_SHA2_512_256", []string{"sha512", "sha2_512"}, inAny},

	{Transform{PRF, PRFHMACSHA1, 0}, "PRF_HMAC_SHA1", []string{"prfsha1"}, inIKE},
	{Transform{PRF, PRFHMACSHA256, 0}, "PRF_HMAC_SHA2_256", []string{"prfsha256"}, inIKE},
	{Transform{PRF, PRFHMACSHA384, 0}, "PRF_HMAC_SHA2_384", []string{"prfsha384"}, inIKE},
	{Transform{PRF, PRFHMACSHA512, 0}, "PRF_HMAC_SHA2_512", []string{"prfsha512"}, inIKE},

	{Transform{KE, KENone, 0}, "KE_NONE", []string{"none", "modpnone"}, inChild},
	{Transform{KE, KEMODP1024, 0}, "MODP_1024", []string{"modp1024"}, inAny},
	{Transform{KE, KEMODP1536, 0}, "MODP_1536", []string{"modp1536"}, inAny},
	{Transform{KE, KEMODP2048, 0}, "MODP_2048", []string{"modp2048"}, inAny},
	{Transform{KE, KEMODP3072, 0}, "MODP_3072", []string{"modp3072"}, inAny},
	{Transform{KE, KEMODP4096, 0}, "MODP_4096", []string{"modp4096"}, inAny},
	{Transform{KE, KEMODP6144, 0}, "MODP_6144", []string{"modp6144"}, inAny},
	{Transform{KE, KEMODP8192, 0}, "MODP_8192", []string{"modp8192"}, inAny},
	{Transform{KE, KEECP256, 0}, "ECP_256", []string{"ecp256"}, inAny},
	{Transform{KE, KEECP384, 0}, "ECP_384", []string{"ecp384"}, inAny},
	{Transform{KE, KEECP521, 0}, "ECP_521", []string{"ecp521"}, inAny},
	{Transform{KE, KEX25519, 0}, "CURVE_25519", []string{"x25519", "curve25519"}, inAny},
	{Transform{KE, KEX448, 0}, "CURVE_448", []string{"x448", "curve448"}, inAny},
	{Transform{KE, KEMLKEM512, 0}, "ML_KEM_512", []string{"mlkem512"}, inAny},
	{Transform{KE, KEMLKEM768, 0}, "ML_KEM_768", []string{"mlkem768"}, inAny},
	{Transform{KE, KEMLKEM1024, 0}, "ML_KEM_1024", []string{"mlkem1024"}, inAny},

	{Transform{ESN, ESNYes, 0}, "EXT_SEQ", []string{"esn"}, inChild},
	{Transform{ESN, ESNNo, 0}, "NO_EXT_SEQ", []string{"noesn"}, inChild},
}

var (
	algByTransform = map[Transform]*alg{}
	algByWord      = map[string]*alg{}
)

func init() {
	for i := range algs {
		a := &algs[i]
		algByTransform[a.t] = a
		for _, w := range a.words {
			algByWord[w] = a
		}
	}
}
