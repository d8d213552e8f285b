package config

import (
	"strconv"
	"strings"

	"github.com/ipsecd/ipsecd/cmd/internal/config/settings"
	"github.com/ipsecd/ipsecd/ike"
)

// lines notes where the keys of a connection or a child are written, for what the engine has to say
// about them. Of the sections inside it takes those that have no names of the user's: local
// and remote.
func lines(sec *settings.Section) ike.Lines {
	l := ike.Lines{}
	for _, k := range sec.Keys() {
		l[k.Name] = k.Value.Position.String()
	}
	for _, s := range sec.Sections() {
		if s.Name == "children" {
			continue
		}
		side := s.Name
		for _, known := range []string{"local", "remote"} {
			if len(side) > len(known) && side[:len(known)] == known { // "local-1" is local
				side = known
			}
		}
		l[side] = s.Position.String()
		for _, k := range s.Keys() {
			l[side+"."+k.Name] = k.Value.Position.String()
		}
	}
	return l
}

// place is where a connection is written.
func place(c *ike.Connection) Position { return positionOf(c.Source) }

// positionOf reads what Position.String wrote.
func positionOf(s string) Position {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return Position{File: s}
	}
	n, _ := strconv.Atoi(s[i+1:])
	return Position{File: s[:i], Line: n}
}
