package config

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/ipsecd/ipsecd/ike"
)

// The words for numbers that each SA gets by itself.
var numberingWords = map[string]ike.Numbering{"%unique": ike.NumberEach, "%unique-dir": ike.NumberEachDir}

// ifID reads the if_id of an xfrm interface, or who chooses it.
func (r *reader) ifID(key string, id *uint32, by *ike.Numbering) {
	read(r, key, id, func(s string) (uint32, error) {
		var known bool
		if *by, known = numberingWords[s]; known {
			return 0, nil
		}
		n, err := parseUint32(s)
		if err != nil {
			err = fmt.Errorf("%w, %%unique or %%unique-dir", err)
		}
		return n, err
	})
}

// mark reads the mark of policies, or who chooses its value.
func (r *childReader) mark(key string, m *ike.Mark, by *ike.Numbering) {
	read(r.reader, key, m, func(s string) (ike.Mark, error) {
		value, rest := s, "/0xffffffff"
		if i := strings.IndexByte(s, '/'); i >= 0 {
			value, rest = s[:i], s[i:]
		}
		var known bool
		if *by, known = numberingWords[strings.TrimSpace(value)]; !known {
			return parseMark(s)
		}
		got, err := parseMark("0" + rest)
		if err == nil && got.Mask == 0 {
			err = errors.New("the mask 0 leaves no room for a mark")
		}
		return got, err
	})
}

// setMark reads a mark to set. "%same" has the value of the policies' mark, whoever chooses that.
func (r *childReader) setMark(key string, m *ike.Mark, same *bool, policy ike.Mark, by ike.Numbering) {
	read(r.reader, key, m, func(s string) (ike.Mark, error) {
		rest, isSame := strings.CutPrefix(s, "%same")
		switch {
		case !isSame:
			return parseMark(s)
		case policy == ike.Mark{}:
			return ike.Mark{}, errors.New("%same needs mark_in or mark_out")
		case by == ike.NumberConfigured:
			return parseMark(fmt.Sprint(policy.Value, rest))
		}
		*same = true
		return parseMark("0" + cmp.Or(rest, "/0xffffffff"))
	})
}

// parseMark reads a netfilter mark: a value, and a mask after a slash.
func parseMark(s string) (ike.Mark, error) {
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

// checkNumbers points out where numbers that come with an SA cannot serve.
func (r *childReader) checkNumbers(c *ike.ChildConfig, conn *ike.Connection) {
	if c.Mode.Shunt() {
		for _, n := range []struct {
			key string
			by  ike.Numbering
		}{{"mark_in", c.MarkInBy}, {"mark_out", c.MarkOutBy}, {"if_id_in", c.IfIDInBy}, {"if_id_out", c.IfIDOutBy}} {
			if n.by != ike.NumberConfigured {
				r.fail(r.at(n.key), "%s.%s: a shunt has no SA that could get a number of its own; expected a number", r.path, n.key)
			}
		}
		return
	}
	for _, a := range []struct {
		key    string
		action ike.ChildAction
	}{{"start_action", c.StartAction}, {"close_action", c.CloseAction}, {"dpd_action", c.DPDAction}} {
		if a.action.Traps() && !c.Trappable(conn) {
			r.warn(r.at(a.key), "%s.%s = trap is without effect: packets must have a number that only a CHILD_SA gets (%%unique in mark_out or if_id_out); expected start", r.path, a.key)
		}
	}
}
