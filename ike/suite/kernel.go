package suite

// KernelAlg says how the Linux kernel (ip xfrm) names the algorithms of an ESP or AH SA. Either AEAD is set, or Encr, Integ
// or both.
type KernelAlg struct {
	AEAD  string // rfc4106(gcm(aes)); its ICV length is ICVBits
	Encr  string // cbc(aes)
	Integ string // hmac(sha256), truncated to ICVBits

	ICVBits      int
	EncrKeyBits  int // AEAD or Encr key, salt included
	IntegKeyBits int
}

// ESPKernelAlg returns the kernel's names for a negotiated pair; integ is zero or NONE with an AEAD, encr is zero for AH. The
// error names an algorithm for which there is none.
func ESPKernelAlg(encr, integ Transform) (KernelAlg, error) {
	if encr == (Transform{}) {
		return withKernelInteg(KernelAlg{}, encrAlg{}, integ)
	}
	e, keyLen, err := lookupEncr(encr)
	if err != nil {
		return KernelAlg{}, err
	}
	k := KernelAlg{EncrKeyBits: 8 * keyLen}
	if e.aead {
		k.AEAD, k.ICVBits = e.kernel, 8*e.icv
	} else {
		k.Encr = e.kernel
	}
	return withKernelInteg(k, e, integ)
}

func withKernelInteg(k KernelAlg, e encrAlg, integ Transform) (KernelAlg, error) {
	i, err := lookupInteg(e, integ)
	if err != nil {
		return KernelAlg{}, err
	}
	if !e.aead {
		k.Integ, k.ICVBits, k.IntegKeyBits = i.kernel, 8*i.icv, 8*i.key
	}
	return k, nil
}
