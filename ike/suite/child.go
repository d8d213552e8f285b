package suite

// ChildKeys is the keying material of a CHILD_SA by direction: I protects what the initiator of the exchange that created the
// SA sends, R what the responder sends. Encryption keys end with the salt, as the kernel wants them (RFC 4106, RFC 3686, RFC 7634).
type ChildKeys struct {
	EncrI, IntegI, EncrR, IntegR Key
}

// Wipe wipes all keys.
func (k ChildKeys) Wipe() {
	for _, key := range []Key{k.EncrI, k.IntegI, k.EncrR, k.IntegR} {
		key.Wipe()
	}
}

// ChildInput is what the keys of a CHILD_SA are made from (RFC 7296, 2.17).
type ChildInput struct {
	PRF         PRFunc    // the IKE SA's
	SKd         Key       // the IKE SA's
	Encr, Integ Transform // Integ is zero or NONE with an AEAD; Encr is zero for AH
	Ni, Nr      []byte    // of the exchange that creates the SA
	Shared      Key       // of its own key exchange (PFS); zero without one
	More        []Key     // of additional key exchanges (RFC 9370, 2.2.4)
}

// DeriveChild derives the keys of a CHILD_SA. The error says which algorithm does not fit.
func DeriveChild(in ChildInput) (ChildKeys, error) {
	var encrAlg encrAlg
	var encr int
	if in.Encr != (Transform{}) {
		var err error
		if encrAlg, encr, err = lookupEncr(in.Encr); err != nil {
			return ChildKeys{}, err
		}
	}
	integ, err := lookupInteg(encrAlg, in.Integ)
	if err != nil {
		return ChildKeys{}, err
	}
	// RFC 7296, 2.17: KEYMAT = prf+(SK_d, [g^ir (new)] | Ni | Nr). The initiator's direction comes first, and within a
	// direction encryption before integrity.
	// RFC 9370, 2.2.4: KEYMAT = prf+(SK_d, SK(0) | Ni | Nr | SK(1) | ... | SK(n))
	seed := join(append([][]byte{in.Shared.Bytes(), in.Ni, in.Nr}, octets(in.More)...)...)
	defer clear(seed)
	var k ChildKeys
	err = splitPlus(in.PRF, in.SKd, seed, []part{
		{&k.EncrI, encr}, {&k.IntegI, integ.key},
		{&k.EncrR, encr}, {&k.IntegR, integ.key},
	})
	return k, err
}
