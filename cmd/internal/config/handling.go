package config

import (
	"errors"
	"math"

	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/suite"
)

// handling reads what the kernel does with the packets of a child.
func (r *childReader) handling(c *ike.ChildConfig) {
	r.mark("mark_in", &c.MarkIn, &c.MarkInBy)
	read(r.reader, "mark_in_sa", &c.MarkInSA, parseBool)
	r.mark("mark_out", &c.MarkOut, &c.MarkOutBy)
	r.setMark("set_mark_in", &c.SetMarkIn, &c.SetMarkInSame, c.MarkIn, c.MarkInBy)
	r.setMark("set_mark_out", &c.SetMarkOut, &c.SetMarkOutSame, c.MarkOut, c.MarkOutBy)
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

// perCPU reads per_cpu_sas. With encap, charon gives each SA a UDP port of its own.
func (r *childReader) perCPU(c *ike.ChildConfig) {
	read(r.reader, "per_cpu_sas", &c.PerCPU, func(s string) (bool, error) {
		if s == "encap" {
			return true, nil
		}
		b, err := parseBool(s)
		if err != nil {
			return false, errors.New("expected yes, no or encap")
		}
		return b, nil
	})
	if v, ok := r.sec.Value("per_cpu_sas"); ok && v.Text == "encap" {
		r.warn(v.Position, "%s.per_cpu_sas = encap is taken for yes: the SAs for the CPUs share the UDP port of the IKE SA", r.path)
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
