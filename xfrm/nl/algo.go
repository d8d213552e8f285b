package nl

import (
	"bytes"
	"fmt"

	"github.com/ipsecd/ipsecd/xfrm"
)

// algo returns an xfrm_algo, or with extra an xfrm_algo_auth or xfrm_algo_aead,
// whose third field is the length of the ICV in bits.
func algo(name string, key xfrm.Key, extra ...uint32) []byte {
	b := make([]byte, sizeAlgoName, sizeAlgoAuth+len(key))
	copy(b[:sizeAlgoName-1], name)
	b = ne.AppendUint32(b, uint32(8*len(key)))
	for _, v := range extra {
		b = ne.AppendUint32(b, v)
	}
	return append(b, key...)
}

// parseAlgo reads what algo writes; header is the size of the fixed part.
func parseAlgo(b []byte, header int) (name string, key xfrm.Key, bits int, err error) {
	n, _, ended := bytes.Cut(b[:sizeAlgoName], []byte{0})
	if !ended {
		return "", nil, 0, fmt.Errorf("xfrm: the name of algorithm %q does not end", n)
	}
	keyLen := (uint64(ne.Uint32(b[sizeAlgoName:])) + 7) / 8
	if keyLen > uint64(len(b)-header) {
		return "", nil, 0, fmt.Errorf("xfrm: algorithm %q has %d bytes of key, expected %d", n, len(b)-header, keyLen)
	}
	if header == sizeAlgoAuth {
		bits = int(ne.Uint32(b[sizeAlgo:]))
	}
	return string(n), bytes.Clone(b[header : header+int(keyLen)]), bits, nil
}

// algorithms appends the SA's algorithms.
func (w *builder) algorithms(sa *xfrm.SA) {
	if a := sa.AEAD; a != nil {
		w.secret(attrAlgAEAD, algo(a.Name, a.Key, uint32(a.ICVBits)))
	}
	if a := sa.Auth; a != nil {
		w.secret(attrAlgAuthTrunc, algo(a.Name, a.Key, uint32(a.TruncBits)))
	}
	if a := sa.Crypt; a != nil {
		w.secret(attrAlgCrypt, algo(a.Name, a.Key))
	}
}

// secret appends an attribute and wipes the copy it was made from.
func (w *builder) secret(typ uint16, data []byte) {
	w.attr(typ, data)
	clear(data)
}

func parseAlgorithm(sa *xfrm.SA, typ uint16, data []byte) error {
	header := sizeAlgoAuth
	if typ == attrAlgCrypt || typ == attrAlgAuth {
		header = sizeAlgo
	}
	name, key, bits, err := parseAlgo(data, header)
	if err != nil {
		return err
	}
	switch typ {
	case attrAlgAEAD:
		sa.AEAD = &xfrm.AEAD{Name: name, Key: key, ICVBits: bits}
	case attrAlgCrypt:
		sa.Crypt = &xfrm.Crypt{Name: name, Key: key}
	case attrAlgAuthTrunc:
		sa.Auth = &xfrm.Auth{Name: name, Key: key, TruncBits: bits}
	case attrAlgAuth:
		// Old form, dumped beside the new one: without a truncation length.
		if sa.Auth == nil {
			sa.Auth = &xfrm.Auth{Name: name, Key: key}
		}
	}
	return nil
}
