package wire

import (
	"encoding/binary"
	"fmt"
	"slices"

	"golang.org/x/crypto/cryptobyte"
)

// SA is a Security Association payload (RFC 7296 section 3.3): an offer of one
// or more proposals, most preferred first, or the one that was chosen.
type SA struct {
	Proposals []Proposal
}

// Proposal is one proposal for one protocol (RFC 7296 section 3.3.1). Its SPI is
// empty in the initial IKE negotiation, 8 octets when an IKE SA is rekeyed, and 4
// octets for ESP and AH.
type Proposal struct {
	Number     uint8
	Protocol   ProtocolID
	SPI        []byte
	Transforms []Transform
}

// IKESPI returns the SPI of a proposal for a new IKE SA. It is false if the
// proposal is for another protocol or carries no SPI.
func (p *Proposal) IKESPI() (SPI, bool) {
	if p.Protocol != ProtocolIKE {
		return 0, false
	}
	return parseIKESPI(p.SPI)
}

// ChildSPI returns the SPI of a proposal for an ESP or AH SA.
func (p *Proposal) ChildSPI() (ChildSPI, bool) {
	if p.Protocol != ProtocolESP && p.Protocol != ProtocolAH {
		return 0, false
	}
	return parseChildSPI(p.SPI)
}

// Type returns PayloadSA.
func (p *SA) Type() PayloadType { return PayloadSA }

// The "last substructure" octet says whether another one follows (RFC 7296
// sections 3.3.1 and 3.3.2).
const (
	lastSubstructure = 0
	moreProposals    = 2
	moreTransforms   = 3
)

// proposalHeaderLen covers the fixed part of a proposal, to the number of transforms.
const proposalHeaderLen = 8

func (p *SA) appendBody(dst []byte) ([]byte, error) {
	if len(p.Proposals) == 0 {
		return dst, fmt.Errorf("no proposal")
	}
	out := dst
	for i := range p.Proposals {
		more := byte(moreProposals)
		if i == len(p.Proposals)-1 {
			more = lastSubstructure
		}
		var err error
		if out, err = p.Proposals[i].append(out, more); err != nil {
			return dst, fmt.Errorf("proposal %d: %w", i+1, err)
		}
	}
	return out, nil
}

// append appends the proposal (RFC 7296 section 3.3.1).
func (p *Proposal) append(dst []byte, more byte) ([]byte, error) {
	if err := p.checkSPI(); err != nil {
		return dst, err
	}
	if n := len(p.Transforms); n < 1 || n > 0xff {
		return dst, fmt.Errorf("%d transforms, want 1 to 255", n)
	}
	start := len(dst)
	out := append(dst, more, 0, 0, 0, p.Number, byte(p.Protocol), byte(len(p.SPI)), byte(len(p.Transforms)))
	out = append(out, p.SPI...)
	for i := range p.Transforms {
		more := byte(moreTransforms)
		if i == len(p.Transforms)-1 {
			more = lastSubstructure
		}
		var err error
		if out, err = p.Transforms[i].append(out, more); err != nil {
			return dst, fmt.Errorf("transform %d: %w", i+1, err)
		}
	}
	n := len(out) - start
	if n > 0xffff {
		return dst, ErrTooLong
	}
	binary.BigEndian.PutUint16(out[start+2:], uint16(n))
	return out, nil
}

// checkSPI verifies the size of the SPI (RFC 7296 section 3.3.1). Of protocols
// that are not known every size is possible.
func (p *Proposal) checkSPI() error {
	n := len(p.SPI)
	switch p.Protocol {
	case ProtocolIKE:
		if n != 0 && n != ikeSPISize {
			return fmt.Errorf("SPI of %d octets for IKE, want 0 or %d", n, ikeSPISize)
		}
	case ProtocolESP, ProtocolAH:
		if n != childSPISize {
			return fmt.Errorf("SPI of %d octets for %v, want %d", n, p.Protocol, childSPISize)
		}
	default:
		if n > 0xff {
			return ErrTooLong
		}
	}
	return nil
}

func parseSA(s cryptobyte.String, limits *Limits) (*SA, error) {
	p := new(SA)
	for more := uint8(moreProposals); more != lastSubstructure; {
		if len(p.Proposals) == limits.MaxProposals {
			return nil, &LimitError{What: "proposals", Limit: limits.MaxProposals}
		}
		var body cryptobyte.String
		var err error
		if more, body, err = readSubstructure(&s, moreProposals); err != nil {
			return nil, malformed("proposal %d: %v", len(p.Proposals)+1, err)
		}
		proposal, err := parseProposal(body, limits)
		if err != nil {
			return nil, inside(err, "proposal %d: ", len(p.Proposals)+1)
		}
		p.Proposals = append(p.Proposals, proposal)
	}
	if !s.Empty() {
		return nil, malformed("%d octets follow the last proposal", len(s))
	}
	return p, nil
}

// parseProposal decodes what follows the length of a proposal.
func parseProposal(s cryptobyte.String, limits *Limits) (p Proposal, err error) {
	var spiSize, count uint8
	if !s.ReadUint8(&p.Number) || !s.ReadUint8((*uint8)(&p.Protocol)) || !s.ReadUint8(&spiSize) || !s.ReadUint8(&count) {
		return p, malformed("shorter than its header of %d octets", proposalHeaderLen)
	}
	if !s.ReadBytes(&p.SPI, int(spiSize)) {
		return p, malformed("SPI of %d octets, %d left", spiSize, len(s))
	}
	p.SPI = slices.Clip(p.SPI)
	if err := p.checkSPI(); err != nil {
		return p, malformed("%v", err)
	}
	if count == 0 {
		return p, malformed("no transform")
	}
	if int(count) > limits.MaxTransforms {
		return p, &LimitError{What: "transforms in a proposal", Limit: limits.MaxTransforms}
	}
	if len(s) < int(count)*transformHeaderLen {
		return p, malformed("%d transforms in %d octets", count, len(s))
	}
	p.Transforms = make([]Transform, count)
	for i := range p.Transforms {
		more, body, err := readSubstructure(&s, moreTransforms)
		if err != nil {
			return p, malformed("transform %d: %v", i+1, err)
		}
		if last := i == len(p.Transforms)-1; last != (more == lastSubstructure) {
			return p, malformed("transform %d: last-transform mark and number of transforms, %d, disagree", i+1, count)
		}
		if err := p.Transforms[i].parse(body, limits); err != nil {
			return p, inside(err, "transform %d: ", i+1)
		}
	}
	if !s.Empty() {
		return p, malformed("%d octets follow the last transform", len(s))
	}
	return p, nil
}

// readSubstructure takes one proposal or transform, which both begin with the
// last-substructure mark, a reserved octet and a length.
func readSubstructure(s *cryptobyte.String, moreMark uint8) (more uint8, body cryptobyte.String, err error) {
	const headerLen = 4
	var length uint16
	if !s.ReadUint8(&more) || !s.Skip(1) || !s.ReadUint16(&length) {
		return 0, nil, fmt.Errorf("is cut off")
	}
	if more != lastSubstructure && more != moreMark {
		return 0, nil, fmt.Errorf("last-substructure mark is %d, want %d or %d", more, lastSubstructure, moreMark)
	}
	if length < headerLen || !s.ReadBytes((*[]byte)(&body), int(length)-headerLen) {
		return 0, nil, fmt.Errorf("length %d does not fit, %d octets left", length, len(*s)+headerLen)
	}
	return more, body, nil
}
