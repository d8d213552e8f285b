//go:build lab

package scenario

import (
	"strings"
	"testing"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// suite is a pair of proposals and what the kernel calls the cipher.
type suite struct {
	name      string
	ike       string
	esp       string // without PFS
	group     string // key exchange of a rekey with PFS, as in a proposal
	viciGroup string // and as list-sas says it
	algorithm string // in 'ip xfrm state'
}

// espPFS is the ESP proposal with a key exchange of its own.
func (s suite) espPFS() string { return s.esp + "-" + s.group }

var suites = []suite{
	{"aes128gcm", "aes128gcm16-prfsha256-ecp256", "aes128gcm16", "ecp256", "ECP_256", "rfc4106(gcm(aes))"},
	{"aes256gcm", "aes256gcm16-prfsha384-ecp384", "aes256gcm16", "ecp384", "ECP_384", "rfc4106(gcm(aes))"},
	{"aes256cbc", "aes256-sha256-modp2048", "aes256-sha256", "modp2048", "MODP_2048", "cbc(aes)"},
	{"chacha", "chacha20poly1305-prfsha256-x25519", "chacha20poly1305", "x25519", "CURVE_25519", "rfc7539esp(chacha20,poly1305)"},
}

// checkCarried fails t unless exactly one pair of SAs serves the interface, with
// the algorithm and encapsulation expected, and each carried at least minBytes.
func checkCarried(t *testing.T, n *labtest.Netns, ifID int, algorithm string, encap bool, minBytes uint64) {
	t.Helper()
	count := 0
	for _, s := range labtest.XfrmStates(t, n) {
		if s.IfID != uint32(ifID) || s.Bytes == 0 {
			// An SA without traffic is one that a rekey left for a while.
			continue
		}
		count++
		if s.Algorithm != algorithm || s.Encap != encap {
			t.Errorf("%s: SA %08x has %s, in UDP: %v; want %s, %v", n.Role, s.SPI, s.Algorithm, s.Encap, algorithm, encap)
		}
		if s.Bytes < minBytes {
			t.Errorf("%s: SA %08x carried %d bytes, want at least %d", n.Role, s.SPI, s.Bytes, minBytes)
		}
	}
	if count != 2 {
		t.Errorf("%s: %d SAs of if_id %d carried traffic, want 2", n.Role, count, ifID)
	}
}

// checkAESNI fails t unless the kernel encrypts AES-GCM by the processor's own instructions.
func checkAESNI(t *testing.T) {
	t.Helper()
	if driver := labtest.CryptoDriver(t, "rfc4106(gcm(aes))"); !strings.Contains(driver, "aesni") {
		t.Errorf("the driver of rfc4106(gcm(aes)) is %q, want rfc4106-gcm-aesni", driver)
	}
}
