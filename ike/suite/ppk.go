package suite

// MixPPK mixes a post-quantum pre-shared key into keys of IKE_SA_INIT (RFC 8784, 3). What authenticates and what keys are derived from
// depends on it afterwards; what encrypts the IKE SA does not. k stays valid; only SKd, SKpi and SKpr of the result are new.
func MixPPK(f PRFunc, ppk Key, k Keys) (Keys, error) {
	// RFC 8784, 3: SK_d = prf+(PPK, SK_d'), and so on
	for _, key := range []*Key{&k.SKd, &k.SKpi, &k.SKpr} {
		mixed, err := f.Plus(ppk, key.Bytes(), key.Len())
		if err != nil {
			return Keys{}, err
		}
		*key = NewKey(mixed)
	}
	return k, nil
}
