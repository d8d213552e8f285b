package suite

import (
	"crypto/aes"
	"errors"
	"testing"
)

// The length of the ICV is part of what CCM authenticates, so that each needs vectors of its own: Wycheproof,
// testvectors_v1/aes_ccm_test.json, with nonces of 12 octets.
var ccmVectors = []struct {
	id                                      int
	key, nonce, aad, plain, ciphertext, icv string
}{
	{51, "2c9b9ff47d742c4ab224e9ca1ed57c4c", "917962caf3932441c259282f", "72175bdfdb4a23e97fdcbd263baf4316",
		"b542c2f3f81670ddf74f15184ab7de17e057cde9eef92babdb837500774c19",
		"320ae0c11e92d10d5bf5485c854b2d8f6318e33f16b520cffd35ada381c967", "a4866908e664ee140c6ae2b9d2ab8416"},
	{129, "49f33bc3c1a40e1ca3b56a499e4c9137c148d1256155fdb6", "47bc33d91349056838b62474", "449c8cbb9a67adb03f60646e5b904620",
		"a920b4fea908b1771d58d4c108838f3af7b8415497063dd9691a552344d642",
		"67adef99611f341d14ea27e72da9b658c9a79e3b328e79758c9d34db0bed06", "b2a44d0fc94606c4e2b6c39b242b3aca"},
	{207, "f59abcbf4218bd5c7601f080b5fbd3ae088733702c8fbef0c5296a406f563827", "a5eb0e6fe669e68239ace550", "d603491fbf0950d36489abb40dd8d42b",
		"97dcbacd70a678cfaed13c942cf920e851ec3e6fb1f6c6eb95f1c965fb1a13",
		"c0b27edd6533cfba81323ac78d0aeb0371b1d7b89938e04c319148961513fb", "56aabbde47ab2c53db48703033f8ca68"},
	{366, "c08339a6f80b84e201e3d6030cdb3f02", "1cbf2ca31330abe749db588b", "b535a847dfc962012d913a4076f58f9f",
		"4f9fd6ad1656cce99af7469960073a241569ce32dad558111b50306053a0b6",
		"c91d4c8bf7fdba49b87001fc3ec95f455ba32bc05ba336bc3d58f4ad08b5bc", "34d622fe4ba3cac5"},
	{382, "bce599cb75a2271070e6199cb096656b", "f9a8333f4673689e3959c9e0", "f61e1035171c92b022ae559e8657930e",
		"41894acc838d4a8f62e6cc9271f1d65df7f365a38e9a94110f4c8d57b8be18",
		"0eb5c03d69153dbe794c53cb293b25d38cafa13672c9156068a4026db0d708", "d406389ce2228ebbbc400bbf"},
	{414, "7bcccd494460a755cf82eedccae6b141b3c5b8360f09dcfd", "3ab4798ad9c05cc793f5c33d", "9055300f9af44b8c4a7fddbdd8e24972",
		"e1eb07d797f5fe2a31c28c0382b521612cbb0a6fdc6e53e27b2914087882d0",
		"6a7cb67d395897d5ce8c597309d51020149b1feb131361dc1a236ee92b40a8", "1ffc13f74d3c0776"},
	{430, "70bc9c8a60dac5f253ecf32c7d1e6de131eab79faa831e76", "45ebabe2b6a03fbb15978531", "abd09ae3178491ea28982bc839e39721",
		"ee8c1a65e1c2491ee725a285ad1f3a2275c2ec4af82ba32a66cd7e87dbffea",
		"f42c5beb2af7a9715d535cb721badd421d472fabee434c77f42d0e4b163e4c", "b50f8c070e1170b10b9a9932"},
	{462, "110480ea9c9f4c5e6b5be01a2aafc861d1370c243aff9faafd0a92a9d18e5845", "0e5cf683e13204cf91a2d4b6", "c490a5fa19b97c3e3adf20bc4df51140",
		"c92ec3d6a2c2fa19c45be7107a48a9ea0fe46a92978b5dabb3f94b457b5fbd",
		"bb5110dd12bd3d12144c8de55b3b2677fc7084d56afcc6a76a5228fff8dbd3", "e39b0d1174f7609b"},
	{478, "10f9d390d9e89fdd3bded9cbcb6c985f9cfae00749fe7cd40c83a6eb95b4dceb", "21a2286feee97386ec1d2a49", "2dee72e89b039793f6a28c9202d62659",
		"2ca370d14c09a5aba5327b4de30a983f6e5021eaa7b57450891eaf386b7ae9",
		"a751ee9093081807b524075919fc64ca806b3f5a29cab26b0657e163042f96", "743df3e01f34496345735715"},
}

func TestCCM(t *testing.T) {
	sizes := map[int]bool{}
	for _, v := range ccmVectors {
		block, err := aes.NewCipher(unhex(t, v.key))
		if err != nil {
			t.Fatal(err)
		}
		icv := unhex(t, v.icv)
		sizes[len(icv)] = true
		c := ccm{block: block, n: len(unhex(t, v.nonce)), m: len(icv)}
		sealed := c.Seal(nil, unhex(t, v.nonce), unhex(t, v.plain), unhex(t, v.aad))
		wantBytes(t, "sealed", sealed, append(unhex(t, v.ciphertext), icv...))
		opened, err := c.Open(nil, unhex(t, v.nonce), sealed, unhex(t, v.aad))
		if err != nil {
			t.Errorf("%d: %v", v.id, err)
		}
		wantBytes(t, "opened", opened, unhex(t, v.plain))
		sealed[len(sealed)-1] ^= 1
		if _, err := c.Open(nil, unhex(t, v.nonce), sealed, unhex(t, v.aad)); !errors.Is(err, ErrICV) {
			t.Errorf("%d: a changed ICV: %v", v.id, err)
		}
	}
	for _, n := range []int{8, 12, 16} {
		if !sizes[n] {
			t.Errorf("no vector with an ICV of %d octets", n)
		}
	}
}
