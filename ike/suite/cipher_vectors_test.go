package suite

import (
	"bytes"
	"testing"
)

type cipherVector struct {
	name             string
	encr             string
	key              string // with the salt at its end
	iv, aad          string
	plaintext        string
	ciphertext, icv  string
	integ            string
	icvIsNotPrinted  bool // RFC 3602 and RFC 3686 encrypt only
	plaintextIsASCII bool
}

const (
	gcmKey   = "feffe9928665731c6d6a8f9467308308"
	gcmSalt  = "cafebabe"
	gcmIV    = "facedbaddecaf888"
	gcmAAD   = "feedfacedeadbeeffeedfacedeadbeefabaddad2"
	gcmPlain = "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"
)

var cipherVectors = []cipherVector{
	{
		name: "McGrew and Viega, GCM specification, test case 4", encr: "aes128gcm16",
		key: gcmKey + gcmSalt, iv: gcmIV, aad: gcmAAD, plaintext: gcmPlain,
		ciphertext: "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091",
		icv:        "5bc94fbc3221a5db94fae95ae7121a47",
	},
	{
		name: "GCM test case 10", encr: "aes192gcm16",
		key: gcmKey + gcmKey[:16] + gcmSalt, iv: gcmIV, aad: gcmAAD, plaintext: gcmPlain,
		ciphertext: "3980ca0b3c00e841eb06fac4872a2757859e1ceaa6efd984628593b40ca1e19c7d773d00c144c525ac619d18c84a3f4718e2448b2fe324d9ccda2710",
		icv:        "2519498e80f1478f37ba55bd6d27618c",
	},
	{
		name: "GCM test case 16", encr: "aes256gcm16",
		key: gcmKey + gcmKey + gcmSalt, iv: gcmIV, aad: gcmAAD, plaintext: gcmPlain,
		ciphertext: "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662",
		icv:        "76fc6ece0f4e1768cddf8853bb2d551b",
	},
	{
		// A shorter ICV is the beginning of the full one (NIST SP 800-38D, 7.1 step 6).
		name: "GCM test case 4, 12 octets of ICV", encr: "aes128gcm12",
		key: gcmKey + gcmSalt, iv: gcmIV, aad: gcmAAD, plaintext: gcmPlain,
		ciphertext: "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091",
		icv:        "5bc94fbc3221a5db94fae95a",
	},
	{
		name: "GCM test case 4, 8 octets of ICV", encr: "aes128gcm8",
		key: gcmKey + gcmSalt, iv: gcmIV, aad: gcmAAD, plaintext: gcmPlain,
		ciphertext: "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091",
		icv:        "5bc94fbc3221a5db",
	},
	{
		name: "RFC 7634, appendix B: an IKE message", encr: "chacha20poly1305",
		key: "808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f" + "a0a1a2a3", iv: "1011121314151617",
		aad:       "c0c1c2c3c4c5c6c7d0d1d2d3d4d5d6d72e202500000000090000004529000029",
		plaintext: "0000000c000040010000000a00", ciphertext: "610394701f8d017f7c12924889",
		icv: "6b71bfe25236efd7cdc67066906315b2",
	},
	{
		name: "RFC 8439, 2.8.2", encr: "chacha20poly1305",
		key: "808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f" + "07000000", iv: "4041424344454647",
		aad:              "50515253c0c1c2c3c4c5c6c7",
		plaintextIsASCII: true,
		plaintext:        "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it.",
		ciphertext:       "d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d63dbea45e8ca9671282fafb69da92728b1a71de0a9e060b2905d6a5b67ecd3b3692ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc3ff4def08e4b7a9de576d26586cec64b6116",
		icv:              "1ae10b594f09e26a7e902ecbd0600691",
	},
	{
		name: "RFC 3602, 4 case 1", encr: "aes128", integ: "sha256", icvIsNotPrinted: true,
		key: "06a9214036b8a15b512e03d534120006", iv: "3dafba429d9eb430b422da802c9fac41",
		plaintextIsASCII: true, plaintext: "Single block msg", ciphertext: "e353779c1079aeb82708942dbe77181a",
	},
	{
		name: "RFC 3602, 4 case 2", encr: "aes128", integ: "sha1", icvIsNotPrinted: true,
		key: "c286696d887c9aa0611bbb3e2025a45a", iv: "562e17996d093d28ddb3ba695a2e6f58",
		plaintext:  "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
		ciphertext: "d296cd94c2cccf8a3a863028b5e1dc0a7586602d253cfff91b8266bea6d61ab1",
	},
	{
		name: "RFC 3686, 6 vector 1", encr: "aes128ctr", integ: "sha256", icvIsNotPrinted: true,
		key: "ae6852f8121067cc4bf7a5765577f39e" + "00000030", iv: "0000000000000000",
		plaintextIsASCII: true, plaintext: "Single block msg", ciphertext: "e4095d4fb7a7b3792d6175a3261311b8",
	},
	{
		name: "RFC 3686, 6 vector 2", encr: "aes128ctr", integ: "sha384", icvIsNotPrinted: true,
		key: "7e24067817fae0d743d6ce1f32539163" + "006cb6db", iv: "c0543b59da48d90b",
		plaintext:  "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
		ciphertext: "5104a106168a72d9790d41ee8edad388eb2e1efc46da57c8fce630df9141be28",
	},
	{
		name: "Wycheproof aes_ccm_test.json, 262", encr: "aes128ccm16",
		key: "82841ef7fbae35546525fbbebf4718fb" + "b5cd81", iv: "8f73a36ed025b6cf",
		aad: "44f48c2a20456358", plaintext: "8c2c823bb39941b1c6b75bbc82f05ba4",
		ciphertext: "b287c637a7554362c80d6b24d50ddfb3", icv: "3967277da0f856f8f0ad49282894d2bb",
	},
	{
		name: "Wycheproof aes_ccm_test.json, 298", encr: "aes192ccm16",
		key: "0a3bf0a926fb14a3b716bfa021a208da0330e57bed36828a" + "a0ba36", iv: "edc43d935ee94213",
		aad: "3fcd93ccb8e97956", plaintext: "9ab6c109c8069d054ccbb5c33c6e70d0",
		ciphertext: "27d1e353233755a2fe28231637739c46", icv: "b9b74765ed3d53031bf3c7349e74340e",
	},
	{
		name: "Wycheproof aes_ccm_test.json, 334", encr: "aes256ccm16",
		key: "60d6841e9e6218a2c8605a7794e74fb215dcf3a70a0015d497ed16564f2a83a0" + "4c93f5", iv: "91af92f16596554e",
		aad: "7cb0eb9aa21fe859", plaintext: "c0d1e635586b0ef835c01479a32175a3",
		ciphertext: "0c266113544d7a901ce721e1ead6d8f9", icv: "8a149eaa05c8722b2663c345a6a5418c",
	},
}

func (v cipherVector) new(t testing.TB) Cipher {
	t.Helper()
	integ, integKey := Transform{}, Key{}
	if v.integ != "" {
		integ = tr(t, v.integ)
		integKey = NewKey(bytes.Repeat([]byte{7}, integAlgs[integ.ID].key))
	}
	c, err := NewCipher(tr(t, v.encr), integ, key(t, v.key), integKey)
	if err != nil {
		t.Fatalf("%s: %v", v.name, err)
	}
	return c
}

func (v cipherVector) plain(t testing.TB) []byte {
	if v.plaintextIsASCII {
		return []byte(v.plaintext)
	}
	return unhex(t, v.plaintext)
}
