package ike

import (
	"fmt"
	"slices"

	"github.com/ipsecd/ipsecd/ike/suite"
	"github.com/ipsecd/ipsecd/ike/wire"
)

// offerSA builds the SA payload that offers proposals, numbered from 1
// (RFC 7296 section 3.3.1), each with the same SPI.
func offerSA(proposals []suite.Proposal, spi []byte) *wire.SA {
	sa := &wire.SA{}
	for i, p := range proposals {
		sa.Proposals = append(sa.Proposals, toWire(p, uint8(i+1), spi))
	}
	return sa
}

// chosenSA builds the SA payload of a response.
func chosenSA(p suite.Proposal, number uint8, spi []byte) *wire.SA {
	return &wire.SA{Proposals: []wire.Proposal{toWire(p, number, spi)}}
}

func toWire(p suite.Proposal, number uint8, spi []byte) wire.Proposal {
	w := wire.Proposal{Number: number, Protocol: wire.ProtocolID(p.Protocol), SPI: spi}
	for _, t := range p.Transforms {
		w.Transforms = append(w.Transforms, wire.Transform{Type: wire.TransformType(t.Type), ID: t.ID, KeyLength: t.KeyBits})
	}
	return w
}

// unusable is a key length that no transform of ours has.
const unusable = 1<<16 - 1

// fromWire makes transforms with attributes that nobody understands unusable (RFC 7296 section 3.3.6). They are
// not left out: an offer of nothing else of their type would become one without that type.
func fromWire(w wire.Proposal) suite.Proposal {
	p := suite.Proposal{Protocol: suite.Protocol(w.Protocol)}
	for _, t := range w.Transforms {
		bits := t.KeyLength
		if len(t.Unknown) > 0 {
			bits = unusable
		}
		p.Transforms = append(p.Transforms, suite.Transform{Type: suite.TransformType(t.Type), ID: t.ID, KeyBits: bits})
	}
	return p
}

func fromWireAll(sa *wire.SA) []suite.Proposal {
	var all []suite.Proposal
	for _, w := range sa.Proposals {
		all = append(all, fromWire(w))
	}
	return all
}

// choose negotiates as responder and returns the chosen proposal and the
// peer's one it came from.
func choose(ours []suite.Proposal, sa *wire.SA, o suite.Options) (suite.Proposal, *wire.Proposal, error) {
	p, i, err := suite.Negotiate(ours, fromWireAll(sa), o)
	if err != nil {
		return suite.Proposal{}, nil, err
	}
	return p, &sa.Proposals[i], nil
}

// verifyChoice checks, as initiator, the responder's answer to our offer
// (RFC 7296 section 3.3.6).
func verifyChoice(offer []suite.Proposal, sa *wire.SA) (suite.Proposal, *wire.Proposal, error) {
	if len(sa.Proposals) != 1 {
		return suite.Proposal{}, nil, fmt.Errorf("the answer has %d proposals instead of one", len(sa.Proposals))
	}
	w := &sa.Proposals[0]
	if w.Number < 1 || int(w.Number) > len(offer) {
		return suite.Proposal{}, nil, fmt.Errorf("the answer is to proposal %d, and we offered %d", w.Number, len(offer))
	}
	for _, t := range w.Transforms {
		if len(t.Unknown) > 0 {
			return suite.Proposal{}, nil, fmt.Errorf("the answer has an attribute that we did not offer")
		}
	}
	p, err := suite.Verify(offer[w.Number-1], fromWire(*w))
	return p, w, err
}

// groupsOf returns the key exchange groups of proposals in order of
// preference, KENone included.
func groupsOf(proposals []suite.Proposal) []uint16 {
	var groups []uint16
	for _, p := range proposals {
		for _, t := range p.Of(suite.KE) {
			if !slices.Contains(groups, t.ID) {
				groups = append(groups, t.ID)
			}
		}
	}
	return groups
}

// groupName returns the word of swanctl.conf for a group.
func groupName(group uint16) string {
	return suite.Transform{Type: suite.KE, ID: group}.Keyword()
}

// allows reports whether a proposal of ours has every algorithm of chosen.
func allows(proposals []suite.Proposal, chosen suite.Proposal) bool {
	return slices.ContainsFunc(proposals, func(p suite.Proposal) bool {
		for _, t := range chosen.Transforms {
			if !t.IsNone() && !slices.Contains(p.Transforms, t) {
				return false
			}
		}
		return true
	})
}

func withoutKE(proposals []suite.Proposal) []suite.Proposal {
	out := make([]suite.Proposal, len(proposals))
	for i, p := range proposals {
		out[i] = p.WithoutKE()
	}
	return out
}
