package suite

import (
	"slices"
	"strings"
)

// Proposal is a set of algorithms acceptable together; of each type one is to be chosen. The order within a type is the
// order of preference. The zero Proposal is empty and valid for nothing.
type Proposal struct {
	Protocol   Protocol
	Transforms []Transform
}

// Suite is a proposal after negotiation: at most one transform of each type. An absent one is the zero Transform;
// absent and NONE are the same thing here.
type Suite struct {
	Encr, Integ, PRF, KE, ESN Transform
	AddKE                     [additional]Transform // those of RFC 9370, by their number less 1
}

// Additional returns the methods of the additional key exchanges, in the order in which they take place (RFC 9370, 2.2.2).
func (s Suite) Additional() []uint16 {
	var methods []uint16
	for _, t := range s.AddKE {
		if !t.IsNone() {
			methods = append(methods, t.ID)
		}
	}
	return methods
}

// typeOrder is the order in which proposals are written, on the wire and in strings.
var typeOrder = slices.Concat([]TransformType{ENCR, INTEG, PRF}, exchanges, []TransformType{ESN})

// Of returns the transforms of one type in order of preference, NONE included.
func (p Proposal) Of(t TransformType) []Transform {
	var of []Transform
	for _, tr := range p.Transforms {
		if tr.Type == t {
			of = append(of, tr)
		}
	}
	return of
}

// Suite returns the first transform of each type, for a proposal that Negotiate or Verify returned.
func (p Proposal) Suite() Suite {
	first := func(t TransformType) Transform {
		if of := p.Of(t); len(of) > 0 && !of[0].IsNone() {
			return of[0]
		}
		return Transform{}
	}
	s := Suite{Encr: first(ENCR), Integ: first(INTEG), PRF: first(PRF), KE: first(KE), ESN: first(ESN)}
	for i := range s.AddKE {
		s.AddKE[i] = first(AddKE1 + TransformType(i))
	}
	return s
}

// WithoutKE returns p without key exchange transforms, as IKE_AUTH offers it for the first CHILD_SA, whose keys come from
// the IKE SA's own exchange (RFC 7296, 1.2).
func (p Proposal) WithoutKE() Proposal {
	keep := slices.DeleteFunc(slices.Clone(p.Transforms), func(tr Transform) bool { return tr.Type.isKE() })
	return Proposal{p.Protocol, keep}
}

// HasAdditional reports whether p offers additional key exchanges (RFC 9370).
func (p Proposal) HasAdditional() bool {
	return slices.ContainsFunc(p.Transforms, func(t Transform) bool { return t.Type.IsAddKE() })
}

// WithoutAdditional returns p as it is for a peer that cannot do additional key exchanges, and whether p allows that: each
// of them must be NONE (RFC 9370, 2.2.1).
func (p Proposal) WithoutAdditional() (Proposal, bool) {
	for _, t := range p.Transforms {
		if t.Type.IsAddKE() && !slices.Contains(p.Transforms, Transform{Type: t.Type}) {
			return p, false
		}
	}
	keep := slices.DeleteFunc(slices.Clone(p.Transforms), func(t Transform) bool { return t.Type.IsAddKE() && !t.IsNone() })
	return Proposal{p.Protocol, keep}, true
}

func (p Proposal) without(t TransformType) Proposal {
	keep := slices.DeleteFunc(slices.Clone(p.Transforms), func(tr Transform) bool { return tr.Type == t })
	return Proposal{p.Protocol, keep}
}

// inOrder returns p with its types in the usual order; the order within a type stays.
func (p Proposal) inOrder() Proposal {
	sorted := slices.Clone(p.Transforms)
	slices.SortStableFunc(sorted, func(a, b Transform) int {
		return slices.Index(typeOrder, a.Type) - slices.Index(typeOrder, b.Type)
	})
	return Proposal{p.Protocol, sorted}
}

// String returns p in the words of swanctl.conf, such as aes256gcm16-prfsha384-ecp384. A lone noesn is left out, as nobody
// writes it. ParseProposal reads the result back.
func (p Proposal) String() string {
	esn := p.Of(ESN)
	if len(esn) == 1 && esn[0].ID == ESNNo {
		p = p.without(ESN)
	}
	return joinKeywords(p.Transforms, "-")
}

func joinKeywords(ts []Transform, sep string) string {
	words := make([]string, len(ts))
	for i, t := range ts {
		words[i] = t.Keyword()
	}
	return strings.Join(words, sep)
}

// Names returns p as charon logs it, without the protocol: AES_GCM_16_256/PRF_HMAC_SHA2_384/ECP_384.
func (p Proposal) Names() string {
	names := make([]string, len(p.Transforms))
	for i, t := range p.Transforms {
		names[i] = t.String()
	}
	return strings.Join(names, "/")
}
