package suite

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ParseProposal reads one proposal in strongSwan's grammar: keywords joined by dashes, in any order across types.
// Where strongSwan completes a proposal it is completed the same way: PRFs follow from the integrity algorithms, integrity
// algorithms beside AEAD ciphers are dropped, ESP and AH without an ESN keyword mean noesn.
// Its errors name the keyword or the missing kind of algorithm and say what to write instead.
func ParseProposal(proto Protocol, s string) (Proposal, error) {
	p := Proposal{Protocol: proto}
	complete, ok := map[Protocol]func(Proposal) (Proposal, error){IKE: completeIKE, ESP: completeESP, AH: completeAH}[proto]
	if !ok {
		return Proposal{}, fmt.Errorf("%s proposal %q: %s has no proposals", proto, s, proto)
	}
	for word := range strings.SplitSeq(strings.TrimSpace(s), "-") {
		t, err := parseWord(proto, word)
		if err != nil {
			return Proposal{}, fmt.Errorf("%s proposal %q: %w", proto, s, err)
		}
		if !slices.Contains(p.Transforms, t) {
			p.Transforms = append(p.Transforms, t)
		}
	}
	p, err := complete(p)
	if err == nil {
		err = checkAdditional(p)
	}
	if err != nil {
		return Proposal{}, fmt.Errorf("%s proposal %q: %w", proto, s, err)
	}
	return p.inOrder(), nil
}

// ParseProposals reads a list of proposals; the word "default" stands for DefaultProposals(proto).
func ParseProposals(proto Protocol, list []string) ([]Proposal, error) {
	var ps []Proposal
	for _, s := range list {
		if strings.TrimSpace(s) == "default" {
			ps = append(ps, DefaultProposals(proto)...)
			continue
		}
		p, err := ParseProposal(proto, s)
		if err != nil {
			return nil, err
		}
		ps = append(ps, p)
	}
	return ps, nil
}

func parseWord(proto Protocol, word string) (Transform, error) {
	if word == "" {
		return Transform{}, errors.New("empty keyword; expected algorithms joined by single dashes")
	}
	// strongSwan's keywords for RFC 9370: ke1_ to ke7_ before that of a key exchange.
	if n, method, ok := additionalWord(word); ok {
		a, known := algByWord[method]
		if !known || a.t.Type != KE {
			return Transform{}, fmt.Errorf("%s: %q is no key exchange; expected one such as ke1_mlkem768, or ke1_none", word, method)
		}
		return Transform{Type: AddKE1 + n - 1, ID: a.t.ID}, nil
	}
	a, ok := algByWord[word]
	if !ok {
		if why := whyRefused(word); why != "" {
			return Transform{}, fmt.Errorf("%s %s", word, why)
		}
		return Transform{}, fmt.Errorf("unknown algorithm %q", word)
	}
	if !a.protos.has(proto) {
		return Transform{}, fmt.Errorf("%s has no meaning in %s proposals; remove it", word, proto)
	}
	return a.t, nil
}

// additionalWord splits a keyword such as ke1_mlkem768.
func additionalWord(word string) (n TransformType, method string, ok bool) {
	rest, ok := strings.CutPrefix(word, "ke")
	if !ok || len(rest) < 2 || rest[0] < '1' || rest[0] > '7' || rest[1] != '_' {
		return 0, "", false
	}
	return TransformType(rest[0] - '0'), rest[2:], true
}

// checkAdditional sees to it that additional key exchanges follow a first one, and that a choice without repetition is possible.
func checkAdditional(p Proposal) error {
	if !p.HasAdditional() {
		return nil
	}
	if first := p.Of(KE); len(first) == 0 || slices.ContainsFunc(first, Transform.IsNone) {
		return errors.New("additional key exchanges need a first one; add a group such as x25519, and write a proposal of its own for none")
	}
	if len(chooseKEs(p, p, Options{})) == 0 {
		return errors.New("the same key exchange cannot be used twice (RFC 9370); give each of them a method of its own")
	}
	return nil
}

func completeIKE(p Proposal) (Proposal, error) {
	if len(p.Of(PRF)) == 0 {
		for _, t := range p.Of(INTEG) {
			p.Transforms = append(p.Transforms, Transform{Type: PRF, ID: integAlgs[t.ID].prf})
		}
	}
	p, err := checkEncryption(p)
	if err != nil {
		return p, err
	}
	if len(p.Of(PRF)) == 0 {
		return p, errors.New("no PRF, which an AEAD cipher does not imply; add one such as prfsha256")
	}
	if len(p.Of(KE)) == 0 {
		return p, errors.New("no DH group; add one such as ecp256, x25519 or modp2048")
	}
	return p, nil
}

func completeESP(p Proposal) (Proposal, error) {
	p, err := checkEncryption(p)
	return withESN(p), err
}

func completeAH(p Proposal) (Proposal, error) {
	if len(p.Of(INTEG)) == 0 {
		return p, errors.New("no integrity algorithm; add one such as sha256")
	}
	return withESN(p), nil
}

// checkEncryption keeps AEAD and classic ciphers apart (RFC 7296, 2.7) and sees to it that nothing is encrypted without
// integrity protection (RFC 8221, 4).
func checkEncryption(p Proposal) (Proposal, error) {
	encr := p.Of(ENCR)
	if len(encr) == 0 {
		return p, errors.New("no encryption algorithm; add one such as aes128gcm16 or aes128")
	}
	for _, t := range encr[1:] {
		if t.IsAEAD() != encr[0].IsAEAD() {
			return p, fmt.Errorf("%s and %s cannot share a proposal, since one brings its own integrity and the other needs an integrity algorithm; write two proposals separated by a comma",
				encr[0].Keyword(), t.Keyword())
		}
	}
	if encr[0].IsAEAD() {
		return p.without(INTEG), nil
	}
	if len(p.Of(INTEG)) == 0 {
		return p, fmt.Errorf("%s needs an integrity algorithm; add one such as sha256", encr[0].Keyword())
	}
	return p, nil
}

func withESN(p Proposal) Proposal {
	if len(p.Of(ESN)) == 0 {
		p.Transforms = append(p.Transforms, Transform{Type: ESN, ID: ESNNo})
	}
	return p
}
