package iketest

import (
	"testing"

	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/suite"
)

// TestVolumes: what is configured less what is left to chance; and whatever is configured, an SA whose sequence numbers have
// 32 bits is rekeyed before they end (RFC 4303 section 3.3.3).
func TestVolumes(t *testing.T) {
	for _, c := range []struct {
		proposal    string
		rekey, rand uint64
		least, most uint64
	}{
		{"aes128gcm16", 0, 0, 1 << 31, 1<<32 - 1<<29},
		{"aes128gcm16", 1 << 40, 0, 1 << 31, 1<<32 - 1<<29},
		{"aes128gcm16", 1000, 100, 901, 1000},
		{"aes128gcm16", 1000, 5000, 501, 1000},
		{"aes128gcm16-esn", 0, 0, 0, 0},
		{"aes128gcm16-esn", 1 << 40, 0, 1 << 40, 1 << 40},
	} {
		p := established(t, 1, func(a, b *ike.Config) {
			for _, cfg := range []*ike.Config{a, b} {
				child := cfg.Connections[0].Children[0]
				child.Proposals = Proposals(suite.ESP, c.proposal)
				child.RekeyPackets, child.RandPackets = c.rekey, c.rand
				child.RekeyBytes, child.RandBytes = 10*c.rekey, 10*c.rand
			}
		})
		for _, h := range p.Hosts() {
			sa := only(t, h).Children[0].SA
			if got := sa.RekeyPackets; got < c.least || got > c.most {
				t.Errorf("%s, rekey_packets %d, rand_packets %d: the limit is %d, want %d to %d", c.proposal, c.rekey, c.rand, got, c.least, c.most)
			}
			if got := sa.RekeyBytes; got > 10*c.rekey || got < 10*c.rekey-min(10*c.rand, 5*c.rekey) {
				t.Errorf("rekey_bytes %d, rand_bytes %d: the limit is %d", 10*c.rekey, 10*c.rand, got)
			}
		}
	}
}
