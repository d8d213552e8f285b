package suite

import "encoding/binary"

// IKEInput is what the keys of an IKE SA are made from (RFC 7296, 2.14). Nonces are without payload headers.
type IKEInput struct {
	PRF         PRFunc
	Encr, Integ Transform // Integ is zero or NONE with an AEAD
	Ni, Nr      []byte
	SPIi, SPIr  uint64
	Shared      Key   // g^ir
	More        []Key // of additional key exchanges, when an IKE SA is replaced (RFC 9370, 2.2.4)
}

// Keys are the keys of an IKE SA (RFC 7296, 2.14). SK_e include the salt of counter modes (RFC 5282, 7.1; RFC 5930); SK_a are
// empty with an AEAD.
type Keys struct {
	SKd, SKai, SKar, SKei, SKer, SKpi, SKpr Key
}

// Wipe wipes all keys.
func (k Keys) Wipe() {
	for _, key := range []Key{k.SKd, k.SKai, k.SKar, k.SKei, k.SKer, k.SKpi, k.SKpr} {
		key.Wipe()
	}
}

// DeriveIKE derives the keys of an IKE SA after IKE_SA_INIT. The error says which algorithm does not fit.
func DeriveIKE(in IKEInput) (Keys, error) {
	// RFC 7296, 2.14: SKEYSEED = prf(Ni | Nr, g^ir)
	nonces := NewKey(join(in.Ni, in.Nr))
	return expandIKE(NewKey(in.PRF.Sum(nonces, in.Shared.Bytes())), in)
}

// DeriveIKERekey derives the keys of an IKE SA that replaces one with SK_d oldSKd and PRF old (RFC 7296, 2.18).
func DeriveIKERekey(old PRFunc, oldSKd Key, in IKEInput) (Keys, error) {
	// RFC 7296, 2.18: SKEYSEED = prf(SK_d (old), g^ir (new) | Ni | Nr), with the old SA's PRF;
	// RFC 9370, 2.2.4: SKEYSEED = prf(SK_d, SK(0) | Ni | Nr | SK(1) | ... | SK(n))
	return expandIKE(NewKey(old.Sum(oldSKd, append([][]byte{in.Shared.Bytes(), in.Ni, in.Nr}, octets(in.More)...)...)), in)
}

// DeriveIKEUpdate derives the keys of an IKE SA after one more key exchange of its set-up, in IKE_INTERMEDIATE. in has the nonces
// and SPIs of IKE_SA_INIT, and in Shared the secret of this exchange; skd is SK_d as it was before.
func DeriveIKEUpdate(skd Key, in IKEInput) (Keys, error) {
	// RFC 9370, 2.2.2: SKEYSEED(n) = prf(SK_d(n-1), SK(n) | Ni | Nr)
	return expandIKE(NewKey(in.PRF.Sum(skd, in.Shared.Bytes(), in.Ni, in.Nr)), in)
}

func expandIKE(skeyseed Key, in IKEInput) (Keys, error) {
	defer skeyseed.Wipe()
	encrAlg, encr, err := lookupEncr(in.Encr)
	if err != nil {
		return Keys{}, err
	}
	integ, err := lookupInteg(encrAlg, in.Integ)
	if err != nil {
		return Keys{}, err
	}
	// RFC 7296, 2.14: {SK_d | SK_ai | SK_ar | SK_ei | SK_er | SK_pi | SK_pr} = prf+ (SKEYSEED, Ni | Nr | SPIi | SPIr)
	seed := join(in.Ni, in.Nr)
	seed = binary.BigEndian.AppendUint64(seed, in.SPIi)
	seed = binary.BigEndian.AppendUint64(seed, in.SPIr)
	prf := in.PRF.Size()
	var k Keys
	err = splitPlus(in.PRF, skeyseed, seed, []part{
		{&k.SKd, prf},
		{&k.SKai, integ.key}, {&k.SKar, integ.key},
		{&k.SKei, encr}, {&k.SKer, encr},
		{&k.SKpi, prf}, {&k.SKpr, prf},
	})
	return k, err
}

// part is a key and the octets that it takes from the key stream.
type part struct {
	key *Key
	n   int
}

// splitPlus fills the parts from prf+(key, seed), in order.
func splitPlus(f PRFunc, key Key, seed []byte, parts []part) error {
	total := 0
	for _, p := range parts {
		total += p.n
	}
	stream, err := f.Plus(key, seed, total)
	if err != nil {
		return err
	}
	defer clear(stream)
	rest := stream
	for _, p := range parts {
		*p.key = NewKey(append([]byte(nil), rest[:p.n]...))
		rest = rest[p.n:]
	}
	return nil
}

func octets(keys []Key) [][]byte {
	out := make([][]byte, len(keys))
	for i, k := range keys {
		out[i] = k.Bytes()
	}
	return out
}

func join(parts ...[]byte) []byte {
	var all []byte
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}
