//go:build lab

package scenario

import (
	"testing"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// rareSuites are those that few configure. SHA-1, NULL and short ICVs count only where they are written out.
var rareSuites = []suite{
	{"ccm16", "aes128gcm16-prfsha256-x25519", "aes128ccm16", "x25519", "CURVE_25519", "rfc4309(ccm(aes))"},
	{"ccm8", "aes128gcm16-prfsha256-x25519", "aes256ccm8", "x25519", "CURVE_25519", "rfc4309(ccm(aes))"},
	{"gmac", "aes128gcm16-prfsha256-x25519", "aes128gmac", "x25519", "CURVE_25519", "rfc4543(gcm(aes))"},
	{"null", "aes128gcm16-prfsha256-x25519", "null-sha256", "x25519", "CURVE_25519", "ecb(cipher_null)"},
	{"gcm-esn", "aes128gcm16-prfsha256-x25519", "aes128gcm16-esn", "x25519", "CURVE_25519", "rfc4106(gcm(aes))"},
	{"cbc-esn", "aes128gcm16-prfsha256-x25519", "aes128-sha384-esn", "x25519", "CURVE_25519", "cbc(aes)"},
}

// TestRareSuites is TestMatrix for them, without rekeying and NAT; and extended sequence numbers are in the
// kernels where they were negotiated, with a window on the inbound SA.
func TestRareSuites(t *testing.T) {
	p := newPair(t)
	var cells []cell
	for i, s := range rareSuites {
		for j, initiator := range []bool{true, false} {
			cells = append(cells, cell{s, variant{name: "rare"}, initiator, 2*i + j + 1})
		}
	}
	us, them := startCells(t, p, cells)
	for _, c := range cells {
		t.Run(c.label(), func(t *testing.T) {
			runCell(t, p, c, us, them)
			esn := c.suite.name == "gcm-esn" || c.suite.name == "cbc-esn"
			checkExtended(t, p, c, esn)
		})
	}
}

func checkExtended(t *testing.T, p *pair, c cell, want bool) {
	t.Helper()
	for _, n := range []*labtest.Netns{p.us, p.them} {
		for _, s := range labtest.XfrmStates(t, n) {
			if s.IfID != uint32(c.n) {
				continue
			}
			if s.ESN != want {
				t.Errorf("%s: SA %08x has extended sequence numbers: %v, want %v", n.Role, s.SPI, s.ESN, want)
			}
			conn := c.connection(p)
			if inbound := n == p.us && s.Dst == conn.local; inbound && s.Window != 32 {
				t.Errorf("%s: SA %08x has a window of %d packets, want 32", n.Role, s.SPI, s.Window)
			}
		}
	}
}
