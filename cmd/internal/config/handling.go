package config

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/suite"
)

// handling reads what the kernel does with the packets of a child.
func (r *childReader) handling(c *ike.ChildConfig) {
	read(r.reader, "mark_in", &c.MarkIn, parseMark)
	read(r.reader, "mark_in_sa", &c.MarkInSA, parseBool)
	read(r.reader, "mark_out", &c.MarkOut, parseMark)
	read(r.reader, "set_mark_in", &c.SetMarkIn, setMark(c.MarkIn))
	read(r.reader, "set_mark_out", &c.SetMarkOut, setMark(c.MarkOut))
	read(r.reader, "policies_fwd_out", &c.ForwardOut, parseBool)
	read(r.reader, "icmp", &c.ForwardICMP, parseBool)
	read(r.reader, "sha256_96", &c.SHA256Trunc96, parseBool)
	read(r.reader, "copy_ecn", &c.CopyECN, parseBool)
	var dscp dscpCopy
	if read(r.reader, "copy_dscp", &dscp, word(dscpWords)) {
		c.CopyDSCPIn, c.CopyDSCPOut = dscp.in, dscp.out
	}
	read(r.reader, "tfc_padding", &c.TFCPadding, parseTFC)
}

type dscpCopy struct{ in, out bool }

var dscpWords = map[string]dscpCopy{
	"out": {out: true}, "in": {in: true}, "yes": {true, true}, "no": {}, "true": {true, true}, "false": {},
}

// parseTFC reads a number of octets, or "mtu".
func parseTFC(s string) (uint32, error) {
	if s == "mtu" {
		return ike.TFCPadMTU, nil
	}
	n, err := number[uint32](0, math.MaxUint16)(s)
	if err != nil {
		return 0, errors.New("expected a number of octets up to 65535, or mtu")
	}
	return n, nil
}

// parseMark reads a netfilter mark: a value, and a mask after a slash.
func parseMark(s string) (ike.Mark, error) {
	if strings.HasPrefix(s, "%") {
		return ike.Mark{}, errors.New("generated marks are not supported yet; expected a number")
	}
	value, mask, hasMask := strings.Cut(s, "/")
	m := ike.Mark{Mask: math.MaxUint32}
	var err error
	if m.Value, err = parseUint32(strings.TrimSpace(value)); err == nil && hasMask {
		m.Mask, err = parseUint32(strings.TrimSpace(mask))
	}
	switch {
	case err != nil:
		return m, errors.New("expected a mark such as 42 or 0x2a/0xff")
	case m.Value&^m.Mask != 0:
		return m, fmt.Errorf("the mark 0x%x has bits outside of its mask 0x%x", m.Value, m.Mask)
	case m.Value == 0 && !hasMask:
		return ike.Mark{}, nil
	}
	return m, nil
}

// setMark returns a parser of a mark to set, of which "%same" is that of the policy.
func setMark(policy ike.Mark) func(string) (ike.Mark, error) {
	return func(s string) (ike.Mark, error) {
		rest, same := strings.CutPrefix(s, "%same")
		switch {
		case !same:
			return parseMark(s)
		case policy == ike.Mark{}:
			return ike.Mark{}, errors.New("%same needs mark_in or mark_out")
		case rest == "":
			return policy, nil
		}
		return parseMark(fmt.Sprint(policy.Value, rest))
	}
}

// needsWindow refuses extended sequence numbers without replay protection: their upper half is
// only known from the window (RFC 4303 section 3.4.3).
func (r *childReader) needsWindow(c *ike.ChildConfig) {
	if c.ReplayWindow != 0 {
		return
	}
	for _, p := range c.Proposals {
		for _, t := range p.Of(suite.ESN) {
			if t.ID == suite.ESNYes {
				r.fail(r.at("replay_window"), "%s.replay_window = 0: esn in esp_proposals needs a window; write noesn, or a window such as 32", r.path)
				return
			}
		}
	}
}
