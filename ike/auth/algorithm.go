package auth

import (
	"encoding/asn1"
	"fmt"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"
)

// Object identifiers (RFC 7427 appendix A, RFC 8420 section 2).
var (
	oidPSS    = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 10}
	oidMGF1   = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 8}
	oidHashes = map[Hash]asn1.ObjectIdentifier{
		HashSHA256: {2, 16, 840, 1, 101, 3, 4, 2, 1},
		HashSHA384: {2, 16, 840, 1, 101, 3, 4, 2, 2},
		HashSHA512: {2, 16, 840, 1, 101, 3, 4, 2, 3},
	}
	oidSchemes = map[Scheme]asn1.ObjectIdentifier{
		RSAPKCS1SHA256: {1, 2, 840, 113549, 1, 1, 11},
		RSAPKCS1SHA384: {1, 2, 840, 113549, 1, 1, 12},
		RSAPKCS1SHA512: {1, 2, 840, 113549, 1, 1, 13},
		ECDSASHA256:    {1, 2, 840, 10045, 4, 3, 2},
		ECDSASHA384:    {1, 2, 840, 10045, 4, 3, 3},
		ECDSASHA512:    {1, 2, 840, 10045, 4, 3, 4},
		Ed25519:        {1, 3, 101, 112},
	}
)

// algorithms holds the AlgorithmIdentifier that we send for each scheme, and
// accepted all that we take. There are so few that a peer's is compared, octet
// by octet, and never parsed: lax parsers of it have let forgeries through.
var (
	algorithms = map[Scheme][]byte{}
	accepted   = map[string]Scheme{}
)

func init() {
	for s, oid := range oidSchemes {
		algorithms[s] = buildAlgorithm(oid, s.Kind() == KeyRSA) // RFC 4055 section 5: NULL with RSA, else nothing
	}
	for s := RSAPSSSHA256; s <= RSAPSSSHA512; s++ {
		algorithms[s] = buildPSS(s.Hash(), pssForm{hashNull: true, mgfNull: true})
	}
	for s, der := range algorithms {
		accepted[string(der)] = s
	}
	// RFC 4055 section 2.1: NULL and absent parameters of a hash mean the same.
	// RFC 7427 appendix A.4.3 writes the trailer field, which is the default, out.
	for s := RSAPSSSHA256; s <= RSAPSSSHA512; s++ {
		for i := range 8 {
			accepted[string(buildPSS(s.Hash(), pssForm{i&1 != 0, i&2 != 0, i&4 != 0}))] = s
		}
	}
}

func buildAlgorithm(oid asn1.ObjectIdentifier, null bool) []byte {
	var b cryptobyte.Builder
	addAlgorithm(&b, oid, null)
	return b.BytesOrPanic()
}

func addAlgorithm(b *cryptobyte.Builder, oid asn1.ObjectIdentifier, null bool) {
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1ObjectIdentifier(oid)
		if null {
			b.AddASN1NULL()
		}
	})
}

// pssForm says which of the equivalent encodings of PSS parameters is meant.
type pssForm struct{ hashNull, mgfNull, trailer bool }

// buildPSS encodes RSASSA-PSS with one hash for everything and a salt as long as it
// (RFC 4055 section 3.1).
func buildPSS(h Hash, f pssForm) []byte {
	var b cryptobyte.Builder
	explicit := func(n uint8) cbasn1.Tag { return cbasn1.Tag(n).ContextSpecific().Constructed() }
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1ObjectIdentifier(oidPSS)
		b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
			b.AddASN1(explicit(0), func(b *cryptobyte.Builder) { addAlgorithm(b, oidHashes[h], f.hashNull) })
			b.AddASN1(explicit(1), func(b *cryptobyte.Builder) {
				b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
					b.AddASN1ObjectIdentifier(oidMGF1)
					addAlgorithm(b, oidHashes[h], f.mgfNull)
				})
			})
			b.AddASN1(explicit(2), func(b *cryptobyte.Builder) { b.AddASN1Uint64(uint64(hashes[h].hash.Size())) })
			if f.trailer {
				b.AddASN1(explicit(3), func(b *cryptobyte.Builder) { b.AddASN1Uint64(1) })
			}
		})
	})
	return b.BytesOrPanic()
}

// appendAlgorithm appends the length and the AlgorithmIdentifier with which
// the data of AUTH method 14 begins (RFC 7427 section 3).
func appendAlgorithm(dst []byte, s Scheme) []byte {
	der := algorithms[s]
	return append(append(dst, byte(len(der))), der...)
}

// splitAlgorithm takes the data of AUTH method 14 apart.
func splitAlgorithm(data []byte) (Scheme, []byte, error) {
	s := cryptobyte.String(data)
	var der cryptobyte.String
	if !s.ReadUint8LengthPrefixed(&der) || len(der) == 0 || len(s) == 0 {
		return 0, nil, fmt.Errorf("the AUTH payload ends within its AlgorithmIdentifier")
	}
	scheme, ok := accepted[string(der)]
	if !ok {
		return 0, nil, fmt.Errorf("the AUTH payload is signed with an algorithm that we do not accept (%s)", nameAlgorithm(der))
	}
	return scheme, s, nil
}

// nameAlgorithm describes an AlgorithmIdentifier for a message.
func nameAlgorithm(der cryptobyte.String) string {
	var inner cryptobyte.String
	var oid asn1.ObjectIdentifier
	if !der.ReadASN1(&inner, cbasn1.SEQUENCE) || !inner.ReadASN1ObjectIdentifier(&oid) {
		return "not an AlgorithmIdentifier in DER"
	}
	if oid.Equal(oidPSS) {
		return "RSASSA-PSS with other parameters than one SHA-2 hash and a salt of its length"
	}
	for s, known := range oidSchemes {
		if oid.Equal(known) {
			return s.String() + " with wrong parameters"
		}
	}
	return "object identifier " + oid.String()
}
