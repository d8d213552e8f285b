package suite

import (
	"crypto/mlkem"
	"errors"
	"io"

	"github.com/cloudflare/circl/kem/mlkem/mlkem512"
)

// kem is a parameter set of ML-KEM (FIPS 203). Lengths are in octets. IKE's KEi carries the encapsulation key and KEr the
// ciphertext (draft-ietf-ipsecme-ikev2-mlkem, 2.2).
type kem struct {
	public, ciphertext int
	// generate makes a key pair from a seed d | z (FIPS 203, 7.1).
	generate func(seed []byte) (decapsulator, []byte, error)
	// encapsulate draws a shared secret for the holder of an encapsulation key, which it checks (FIPS 203, 7.2).
	encapsulate func(public []byte, rand io.Reader) (shared, ciphertext []byte, err error)
}

// decapsulator is the private half. A ciphertext of the right length always yields a secret: one that was tampered with
// yields a secret that nobody else has (FIPS 203, 7.3), so that the peers' next messages do not verify.
type decapsulator interface {
	Decapsulate(ciphertext []byte) (shared []byte, err error)
}

const mlkemSeedLen = mlkem.SeedSize

var kems = map[uint16]kem{
	KEMLKEM512: {mlkem512.PublicKeySize, mlkem512.CiphertextSize, generate512, encapsulate512},
	KEMLKEM768: {
		mlkem.EncapsulationKeySize768, mlkem.CiphertextSize768,
		func(seed []byte) (decapsulator, []byte, error) {
			k, err := mlkem.NewDecapsulationKey768(seed)
			if err != nil {
				return nil, nil, err
			}
			return k, k.EncapsulationKey().Bytes(), nil
		},
		// crypto/mlkem takes the randomness of encapsulation from the system, not from rand.
		func(public []byte, _ io.Reader) (shared, ciphertext []byte, err error) {
			k, err := mlkem.NewEncapsulationKey768(public)
			if err != nil {
				return nil, nil, err
			}
			shared, ciphertext = k.Encapsulate()
			return shared, ciphertext, nil
		},
	},
	KEMLKEM1024: {
		mlkem.EncapsulationKeySize1024, mlkem.CiphertextSize1024,
		func(seed []byte) (decapsulator, []byte, error) {
			k, err := mlkem.NewDecapsulationKey1024(seed)
			if err != nil {
				return nil, nil, err
			}
			return k, k.EncapsulationKey().Bytes(), nil
		},
		func(public []byte, _ io.Reader) (shared, ciphertext []byte, err error) {
			k, err := mlkem.NewEncapsulationKey1024(public)
			if err != nil {
				return nil, nil, err
			}
			shared, ciphertext = k.Encapsulate()
			return shared, ciphertext, nil
		},
	},
}

// key512 is the decapsulation key of ML-KEM-512, which crypto/mlkem does not have.
type key512 struct{ key *mlkem512.PrivateKey }

func generate512(seed []byte) (decapsulator, []byte, error) {
	public, private := mlkem512.NewKeyFromSeed(seed)
	packed := make([]byte, mlkem512.PublicKeySize)
	public.Pack(packed)
	return key512{private}, packed, nil
}

func (k key512) Decapsulate(ciphertext []byte) ([]byte, error) {
	if len(ciphertext) != mlkem512.CiphertextSize {
		return nil, errors.New("wrong ciphertext length")
	}
	shared := make([]byte, mlkem512.SharedKeySize)
	k.key.DecapsulateTo(shared, ciphertext)
	return shared, nil
}

func encapsulate512(public []byte, rand io.Reader) (shared, ciphertext []byte, err error) {
	var k mlkem512.PublicKey
	if err := k.Unpack(public); err != nil {
		return nil, nil, err
	}
	seed := make([]byte, mlkem512.EncapsulationSeedSize)
	defer clear(seed)
	if _, err := io.ReadFull(rand, seed); err != nil {
		return nil, nil, err
	}
	shared, ciphertext = make([]byte, mlkem512.SharedKeySize), make([]byte, mlkem512.CiphertextSize)
	k.EncapsulateTo(ciphertext, shared, seed)
	return shared, ciphertext, nil
}

// kemExchange is the initiator's side: it made the key pair.
type kemExchange struct {
	group  uint16
	key    decapsulator
	public []byte
}

func newKEM(group uint16, rand io.Reader) (KeyExchange, error) {
	seed := make([]byte, mlkemSeedLen)
	defer clear(seed)
	if _, err := io.ReadFull(rand, seed); err != nil {
		return nil, err
	}
	key, public, err := kems[group].generate(seed)
	if err != nil {
		return nil, err
	}
	return &kemExchange{group, key, public}, nil
}

func (e *kemExchange) Group() uint16  { return e.group }
func (e *kemExchange) Public() []byte { return e.public }

func (e *kemExchange) Shared(peer []byte) (Key, error) {
	if err := checkLen(e.group, peer, kems[e.group].ciphertext); err != nil {
		return Key{}, err
	}
	shared, err := e.key.Decapsulate(peer)
	if err != nil {
		return Key{}, unusable(e.group, err.Error())
	}
	return NewKey(shared), nil
}

// kemAnswer is the responder's side, which is done when it has made the ciphertext.
type kemAnswer struct {
	group      uint16
	ciphertext []byte
}

func answerKEM(group uint16, rand io.Reader, peer []byte) (KeyExchange, Key, error) {
	k := kems[group]
	if err := checkLen(group, peer, k.public); err != nil {
		return nil, Key{}, err
	}
	shared, ciphertext, err := k.encapsulate(peer, rand)
	if err != nil {
		return nil, Key{}, unusable(group, "not an encapsulation key: "+err.Error())
	}
	return kemAnswer{group, ciphertext}, NewKey(shared), nil
}

func (a kemAnswer) Group() uint16  { return a.group }
func (a kemAnswer) Public() []byte { return a.ciphertext }

func (a kemAnswer) Shared([]byte) (Key, error) {
	return Key{}, errors.New("the responder of a key encapsulation has its secret already")
}
