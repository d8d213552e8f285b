package ike

import "github.com/ipsecd/ipsecd/ike/suite"

const (
	// sequencePackets is after how many packets an SA without extended sequence numbers is rekeyed
	// at the latest: three quarters of those that there are. The kernel sends nothing after the last
	// one (RFC 4303 section 3.3.3).
	sequencePackets = 3 << 30
	// sequenceSpread is left to chance, so that SAs do not end together.
	sequenceSpread = 1 << 28
)

// packetLimit returns after how many packets the kernel asks for a rekey; 0: never.
func (e *Engine) packetLimit(a agreed) uint64 {
	cfg := a.want.cfg
	limit := cfg.RekeyPackets - e.below(min(cfg.RandPackets, cfg.RekeyPackets/2))
	if a.proposal.Suite().ESN.ID != suite.ESNYes && (limit == 0 || limit > sequencePackets) {
		return sequencePackets - e.below(sequenceSpread)
	}
	return limit
}
