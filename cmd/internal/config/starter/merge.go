package starter

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ipsecd/ipsecd/cmd/internal/config/settings"
)

// written is a connection that was written, and what it says but for its children.
type written struct {
	name string
	text string
}

// add writes a connection. If an earlier one differs in nothing but its child, the
// child becomes one of that: between the same two peers there is one IKE SA.
func (t *translator) add(c *conn) {
	text := flat(c.ike.Section())
	conns := t.root.Sub("connections", c.sec.Position)
	name := c.sec.Name
	if i := slices.IndexFunc(t.conns, func(w written) bool { return w.text == text && !c.shunt }); i >= 0 {
		name = t.conns[i].name
	} else {
		t.conns = append(t.conns, written{name, text})
		graft(conns.Sub(name, c.sec.Position), c.ike.Section())
		return
	}
	child := c.child.Section()
	graft(conns.Sub(name, c.sec.Position).Sub("children", c.sec.Position).Sub(c.sec.Name, c.sec.Position), child)
}

// flat writes the keys of a section and of those inside, but for children.
func flat(s *settings.Section) string {
	var lines []string
	for _, k := range s.Keys() {
		lines = append(lines, fmt.Sprintf("%s=%q", k.Name, k.Value.Text))
	}
	for _, sub := range s.Sections() {
		if sub.Name != "children" {
			lines = append(lines, sub.Name+"{"+flat(sub)+"}")
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// graft copies what is in a section.
func graft(t *settings.Tree, s *settings.Section) {
	for _, k := range s.Keys() {
		t.Set(k.Name, k.Value)
	}
	for _, sub := range s.Sections() {
		graft(t.Sub(sub.Name, sub.Position), sub)
	}
}
