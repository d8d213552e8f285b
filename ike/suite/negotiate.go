package suite

import (
	"fmt"
	"slices"
)

// Options tune Negotiate.
type Options struct {
	// PreferPeer follows the peer's order of preference instead of ours (charon.prefer_configured_proposals = no).
	PreferPeer bool
	// SkipKE ignores key exchange transforms on both sides and leaves them out of the result: the CHILD_SA of IKE_AUTH.
	SkipKE bool
	// PreferKE is the group of the KE payload that came with the offer, 0 for none. If both sides allow it, it is chosen,
	// which saves the round trip of INVALID_KE_PAYLOAD.
	PreferKE uint16
	// NoAdditional leaves additional key exchanges out, which the peer cannot do in this exchange (RFC 9370, 2.2.1).
	NoAdditional bool
}

// negotiated lists the transform types that a protocol's proposals may have (RFC 7296, 3.3.3).
var negotiated = map[Protocol][]TransformType{
	IKE: slices.Concat([]TransformType{ENCR, INTEG, PRF}, exchanges),
	ESP: slices.Concat([]TransformType{ENCR, INTEG}, exchanges, []TransformType{ESN}),
	AH:  slices.Concat([]TransformType{INTEG}, exchanges, []TransformType{ESN}),
}

// Negotiate chooses, as the responder, from what the peer offers (RFC 7296, 2.7 and 3.3). The result has exactly one
// transform of each type in the chosen offer, and index is that offer's place in theirs. ours must not be empty. The error is a *MismatchError.
func Negotiate(ours, theirs []Proposal, o Options) (chosen Proposal, index int, err error) {
	type pair struct{ our, their int }
	var pairs []pair
	if o.PreferPeer {
		for j := range theirs {
			for i := range ours {
				pairs = append(pairs, pair{i, j})
			}
		}
	} else {
		for i := range ours {
			for j := range theirs {
				pairs = append(pairs, pair{i, j})
			}
		}
	}
	var why *MismatchError
	for _, pr := range pairs {
		our, their := ours[pr.our], theirs[pr.their]
		if our.Protocol != their.Protocol {
			continue
		}
		if o.NoAdditional {
			var ok bool
			if their, ok = their.WithoutAdditional(); !ok {
				continue
			}
		}
		p, misses := choose(our, their, o)
		if len(misses) == 0 {
			return p, pr.their, nil
		}
		why = why.merge(their.Protocol, misses)
	}
	if why == nil {
		why = foreignProtocols(ours, theirs)
	}
	return Proposal{}, 0, why
}

// choose matches one of our proposals with one of the peer's, type by type. Without misses the choice is complete.
func choose(our, their Proposal, o Options) (Proposal, []Mismatch) {
	if o.SkipKE {
		our, their = our.WithoutKE(), their.WithoutKE()
	}
	chosen := Proposal{Protocol: their.Protocol}
	var misses []Mismatch
	chosenKEs := chooseKEs(our, their, o)
	for _, typ := range negotiated[their.Protocol] {
		if o.SkipKE && typ.isKE() {
			continue
		}
		var t Transform
		ok := false
		if typ.isKE() {
			t, ok = chosenKEs[typ]
		} else if fit := common(our.withImplied(typ), their.withImplied(typ), o); len(fit) > 0 {
			t, ok = fit[0], true
		}
		if !ok {
			misses = append(misses, Mismatch{Type: typ, Peer: their.Of(typ), Ours: our.Of(typ)})
			continue
		}
		// One of each type that was offered; an implied one is not echoed.
		if slices.Contains(their.Transforms, t) {
			chosen.Transforms = append(chosen.Transforms, t)
		}
	}
	// RFC 7296, 3.3.6: a proposal with a transform type that is not understood is unacceptable as a whole.
	for _, t := range their.Transforms {
		if !slices.Contains(negotiated[their.Protocol], t.Type) {
			misses = append(misses, Mismatch{Type: t.Type, Peer: their.Of(t.Type)})
			break
		}
	}
	return chosen, misses
}

// common returns what both sides allow of a type, the best first.
func common(ours, theirs []Transform, o Options) []Transform {
	var fit []Transform
	preferred := Transform{Type: KE, ID: o.PreferKE}
	if o.PreferKE != 0 && slices.Contains(ours, preferred) && slices.Contains(theirs, preferred) {
		fit = append(fit, preferred)
	}
	first, second := ours, theirs
	if o.PreferPeer {
		first, second = theirs, ours
	}
	for _, t := range first {
		if slices.Contains(second, t) && !slices.Contains(fit, t) {
			fit = append(fit, t)
		}
	}
	return fit
}

// withImplied returns the transforms of a type, and where there are none the one that their absence stands for: no
// separate integrity, no key exchange (RFC 7296, 3.3.2), no extended sequence numbers.
func (p Proposal) withImplied(typ TransformType) []Transform {
	of := p.Of(typ)
	if len(of) > 0 {
		return of
	}
	if typ.isKE() || typ == INTEG || typ == ESN {
		return []Transform{{Type: typ}}
	}
	return nil
}

// Verify checks, as the initiator, the responder's answer against the offered proposal that the answer names by number
// (RFC 7296, 3.3.6: what was not offered must not be accepted). It returns the answer without NONEs and in the usual order,
// or an error saying which transform was not offered, came twice or is missing.
func Verify(offer, answer Proposal) (Proposal, error) {
	if offer.Protocol != answer.Protocol {
		return Proposal{}, fmt.Errorf("peer answers our %s proposal with one for %s", offer.Protocol, answer.Protocol)
	}
	checked := Proposal{Protocol: answer.Protocol}
	for _, t := range answer.Transforms {
		if len(answer.Of(t.Type)) > 1 {
			return Proposal{}, fmt.Errorf("peer's answer has more than one %s: %s", t.Type, answer.Names())
		}
		if !slices.Contains(offer.withImplied(t.Type), t) {
			return Proposal{}, fmt.Errorf("peer chose the %s %s, which we did not offer; we offered %s", t.Type, t, offer)
		}
		if !t.IsNone() {
			checked.Transforms = append(checked.Transforms, t)
		}
	}
	for _, t := range offer.Transforms {
		absent := Transform{Type: t.Type}
		if len(answer.Of(t.Type)) > 0 {
			continue
		}
		if (t.Type == INTEG || t.Type.isKE() || t.Type == ESN) && slices.Contains(offer.Transforms, absent) {
			continue
		}
		return Proposal{}, fmt.Errorf("peer's answer %s has no %s; we offered %s", answer.Names(), t.Type, joinKeywords(offer.Of(t.Type), ", "))
	}
	if twice, ok := checked.repeated(); ok {
		return Proposal{}, fmt.Errorf("peer chose the key exchange %s twice: %s", twice.Name(), answer.Names())
	}
	return checked.inOrder(), nil
}
