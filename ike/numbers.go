package ike

import (
	"cmp"
	"math/bits"
	"slices"
)

// Numbering is who chooses a mark or an if_id.
type Numbering uint8

// The choosers.
const (
	NumberConfigured Numbering = iota
	NumberEach                 // %unique: each SA has a number of its own, in both directions
	NumberEachDir              // %unique-dir: and so has each direction
)

// mostNumbers is how many numbers are looked at before one is taken that is in use.
const mostNumbers = 1 << 16

// generate returns the numbers of both directions that are not configured, from those that next counts.
func generate(in, out Numbering, next func() uint32) (nIn, nOut uint32) {
	switch {
	case in == NumberConfigured && out == NumberConfigured:
		return 0, 0
	case in == NumberEachDir || out == NumberEachDir:
		if in != NumberConfigured {
			nIn = next()
		}
		if out != NumberConfigured {
			nOut = next()
		}
		return nIn, nOut
	}
	n := next()
	return n, n
}

// numberIKE gives an IKE SA the if_ids that its CHILD_SAs inherit, unless it has those of the one that it replaces.
func (e *Engine) numberIKE(sa *ikeSA) {
	if sa.ifIDIn != 0 || sa.ifIDOut != 0 {
		return
	}
	c := sa.conn.cfg
	in, out := generate(c.IfIDInBy, c.IfIDOutBy, e.nextIfID)
	sa.ifIDIn, sa.ifIDOut = chosen(c.IfIDInBy, c.IfIDIn, in), chosen(c.IfIDOutBy, c.IfIDOut, out)
}

// numberChild gives a CHILD_SA that replaces none its if_ids and marks.
func (e *Engine) numberChild(sa *ikeSA, info *ChildSA) {
	c := info.Config
	in, out := generate(c.IfIDInBy, c.IfIDOutBy, e.nextIfID)
	info.IfIDIn = cmp.Or(chosen(c.IfIDInBy, c.IfIDIn, in), sa.ifIDIn)
	info.IfIDOut = cmp.Or(chosen(c.IfIDOutBy, c.IfIDOut, out), sa.ifIDOut)
	in, out = generate(c.MarkInBy, c.MarkOutBy, func() uint32 { return e.nextMark(sa, c) })
	info.MarkIn, info.MarkOut = Mark{fit(in, c.MarkIn.Mask), c.MarkIn.Mask}, Mark{fit(out, c.MarkOut.Mask), c.MarkOut.Mask}
	info.fixedMarks()
}

func chosen(by Numbering, configured, generated uint32) uint32 {
	if by == NumberConfigured {
		return configured
	}
	return generated
}

// fixedMarks gives a CHILD_SA the marks that are configured.
func (c *ChildSA) fixedMarks() {
	if c.Config.MarkInBy == NumberConfigured {
		c.MarkIn = c.Config.MarkIn
	}
	if c.Config.MarkOutBy == NumberConfigured {
		c.MarkOut = c.Config.MarkOut
	}
}

// SetMarks returns the marks that packets get when they were decrypted, and when they were encrypted.
func (c *ChildSA) SetMarks() (in, out Mark) {
	in, out = c.Config.SetMarkIn, c.Config.SetMarkOut
	if c.Config.SetMarkInSame {
		in.Value = c.MarkIn.Value & in.Mask
	}
	if c.Config.SetMarkOutSame {
		out.Value = c.MarkOut.Value & out.Mask
	}
	return in, out
}

// HasInterface reports whether packets come to a child's CHILD_SAs over an interface of their if_id.
func (c *ChildConfig) HasInterface(conn *Connection) bool {
	return c.IfIDOut != 0 || conn.IfIDOut != 0 || c.IfIDOutBy != NumberConfigured || conn.IfIDOutBy != NumberConfigured
}

// Trappable reports whether a trap of the child can ever meet a packet: not where the number that packets must have is
// only known with the CHILD_SA.
func (c *ChildConfig) Trappable(conn *Connection) bool {
	return c.MarkOutBy == NumberConfigured && c.IfIDOutBy == NumberConfigured && (c.IfIDOut != 0 || conn.IfIDOutBy == NumberConfigured)
}

// TrapsInbound reports the same of packets that come in.
func (c *ChildConfig) TrapsInbound(conn *Connection) bool {
	return c.MarkInBy == NumberConfigured && c.IfIDInBy == NumberConfigured && (c.IfIDIn != 0 || conn.IfIDInBy == NumberConfigured)
}

// NumberAbove has the numbers of %unique and %unique-dir begin above those that SAs of an earlier run still have in the kernel.
// It is for before the first SA. Numbers that are configured are not among those that are counted.
func (e *Engine) NumberAbove(marks []Mark, ifIDs []uint32) {
	for _, m := range marks {
		if m != (Mark{}) && !e.markTaken(m) {
			e.ids.mark = max(e.ids.mark, m.Value>>(bits.TrailingZeros32(m.Mask)&31))
		}
	}
	for _, n := range ifIDs {
		if !e.ifIDTaken(n) {
			e.ids.ifID = max(e.ids.ifID, n)
		}
	}
}

// nextIfID counts if_ids, without those that are configured or in use.
func (e *Engine) nextIfID() uint32 {
	for range mostNumbers {
		if e.ids.ifID++; e.ids.ifID != 0 && !e.ifIDTaken(e.ids.ifID) {
			break
		}
	}
	return e.ids.ifID
}

func (e *Engine) ifIDTaken(n uint32) bool {
	if slices.Contains(e.cfg.InterfaceIDs, n) {
		return true
	}
	for _, c := range e.connections {
		if c.cfg.IfIDIn == n || c.cfg.IfIDOut == n {
			return true
		}
		for _, w := range c.wants {
			if w.cfg.IfIDIn == n || w.cfg.IfIDOut == n {
				return true
			}
		}
	}
	for _, sa := range e.sas {
		if sa.ifIDIn == n || sa.ifIDOut == n {
			return true
		}
	}
	for _, c := range e.children {
		if c.info.IfIDIn == n || c.info.IfIDOut == n {
			return true
		}
	}
	return false
}

// nextMark counts marks for a child, without those that packets of others may have.
func (e *Engine) nextMark(sa *ikeSA, cfg *ChildConfig) uint32 {
	var masks []uint32
	if cfg.MarkInBy != NumberConfigured {
		masks = append(masks, cfg.MarkIn.Mask)
	}
	if cfg.MarkOutBy != NumberConfigured {
		masks = append(masks, cfg.MarkOut.Mask)
	}
	free := func(mask uint32) bool {
		m := Mark{fit(e.ids.mark, mask), mask}
		return m.Value != 0 && !e.markTaken(m)
	}
	tries := mostNumbers
	for _, mask := range masks {
		tries = min(tries, 1<<bits.OnesCount32(mask))
	}
	for range tries {
		e.ids.mark++
		if !slices.ContainsFunc(masks, func(mask uint32) bool { return !free(mask) }) {
			return e.ids.mark
		}
	}
	e.note(sa, LevelWarn, "CHD", "no mark is left under the mask of CHILD_SA %s: one that is in use serves twice; widen the mask", cfg.Name)
	return e.ids.mark
}

// fit puts a number into the bits of a mask.
func fit(n, mask uint32) uint32 { return n << (bits.TrailingZeros32(mask) & 31) & mask }

// meets reports whether a packet can have both marks. One that is not set meets none.
func (m Mark) meets(o Mark) bool {
	return m != (Mark{}) && o != (Mark{}) && (m.Value^o.Value)&m.Mask&o.Mask == 0
}

func (e *Engine) markTaken(m Mark) bool {
	for _, c := range e.connections {
		for _, w := range c.wants {
			if w.cfg.marks(m) {
				return true
			}
		}
	}
	for _, c := range e.children {
		if c.info.MarkIn.meets(m) || c.info.MarkOut.meets(m) {
			return true
		}
	}
	return false
}

// marks reports whether the child's packets may have a mark by configuration.
func (c *ChildConfig) marks(m Mark) bool {
	return c.MarkInBy == NumberConfigured && c.MarkIn.meets(m) || c.MarkOutBy == NumberConfigured && c.MarkOut.meets(m) ||
		!c.SetMarkInSame && c.SetMarkIn.meets(m) || !c.SetMarkOutSame && c.SetMarkOut.meets(m)
}
