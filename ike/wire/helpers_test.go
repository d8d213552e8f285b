package wire

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// unhex decodes hexadecimal digits with white space and "# comments" between them.
func unhex(tb testing.TB, s string) []byte {
	tb.Helper()
	var digits strings.Builder
	for line := range strings.Lines(s) {
		line, _, _ = strings.Cut(line, "#")
		digits.WriteString(strings.Join(strings.Fields(line), ""))
	}
	b, err := hex.DecodeString(digits.String())
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// diff compares decoded values; nil and empty slices are the same on the wire.
func diff(want, got any) string {
	octets := cmp.FilterValues(func(x, y []byte) bool { return len(x)+len(y) > 0 }, cmp.Comparer(bytes.Equal))
	return cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.EquateComparable(netip.Addr{}), octets)
}

// inMessage puts a payload body into a message in the clear.
func inMessage(typ PayloadType, body []byte) []byte {
	m := appendHeader(nil, Header{InitiatorSPI: 1, Exchange: ExchangeSAInit, Flags: FlagInitiator}, typ)
	m = append(m, 0, 0)
	m = binary.BigEndian.AppendUint16(m, uint16(genericHeaderLen+len(body)))
	m = append(m, body...)
	setLength(m, len(m))
	return m
}

// gcm is AES-GCM with a 16-octet ICV as RFC 5282 section 4 has it.
type gcm struct {
	aead    cipher.AEAD
	salt    []byte
	counter uint64
}

func newGCM(tb testing.TB) *gcm {
	block, err := aes.NewCipher(bytes.Repeat([]byte{0x5a}, 16))
	if err != nil {
		tb.Fatal(err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		tb.Fatal(err)
	}
	return &gcm{aead: aead, salt: []byte{1, 2, 3, 4}}
}

func (g *gcm) IVLen() int    { return 8 }
func (g *gcm) ICVLen() int   { return 16 }
func (g *gcm) BlockLen() int { return 1 }

func (g *gcm) NextIV(io.Reader) ([]byte, error) {
	g.counter++
	return binary.BigEndian.AppendUint64(nil, g.counter), nil
}

func (g *gcm) Seal(dst, iv, plaintext, aad []byte) []byte {
	return g.aead.Seal(dst, slices.Concat(g.salt, iv), plaintext, aad)
}

func (g *gcm) Open(dst, iv, ciphertext, aad []byte) ([]byte, error) {
	return g.aead.Open(dst, slices.Concat(g.salt, iv), ciphertext, aad)
}

// cbc is AES-CBC with HMAC-SHA2-256-128, encrypt-then-MAC (RFC 7296 section 3.14).
type cbc struct {
	block  cipher.Block
	macKey []byte
}

func newCBC(tb testing.TB) *cbc {
	block, err := aes.NewCipher(bytes.Repeat([]byte{0x6b}, 32))
	if err != nil {
		tb.Fatal(err)
	}
	return &cbc{block: block, macKey: bytes.Repeat([]byte{0x7c}, 32)}
}

func (c *cbc) IVLen() int    { return 16 }
func (c *cbc) ICVLen() int   { return 16 }
func (c *cbc) BlockLen() int { return 16 }

func (c *cbc) NextIV(rand io.Reader) ([]byte, error) {
	iv := make([]byte, c.IVLen())
	_, err := io.ReadFull(rand, iv)
	return iv, err
}

func (c *cbc) mac(parts ...[]byte) []byte {
	h := hmac.New(sha256.New, c.macKey)
	for _, p := range parts {
		h.Write(p)
	}
	return h.Sum(nil)[:c.ICVLen()]
}

func (c *cbc) Seal(dst, iv, plaintext, aad []byte) []byte {
	ciphertext := make([]byte, len(plaintext))
	cipher.NewCBCEncrypter(c.block, iv).CryptBlocks(ciphertext, plaintext)
	return append(append(dst, ciphertext...), c.mac(aad, iv, ciphertext)...)
}

func (c *cbc) Open(dst, iv, ciphertext, aad []byte) ([]byte, error) {
	n := len(ciphertext) - c.ICVLen()
	if !hmac.Equal(ciphertext[n:], c.mac(aad, iv, ciphertext[:n])) {
		return nil, errors.New("wrong MAC")
	}
	plaintext := make([]byte, n)
	cipher.NewCBCDecrypter(c.block, iv).CryptBlocks(plaintext, ciphertext[:n])
	return append(dst, plaintext...), nil
}

// ciphers are one of each kind.
func ciphers(tb testing.TB) map[string]AEAD {
	return map[string]AEAD{"AEAD": newGCM(tb), "encrypt-then-MAC": newCBC(tb)}
}

// testRand stands in for a random source where only the length matters.
type testRand struct{}

func (testRand) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(i)
	}
	return len(p), nil
}
