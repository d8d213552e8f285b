package vici

import (
	"github.com/ipsecd/ipsecd/cmd/internal/status"
	"github.com/ipsecd/ipsecd/ike"
)

// selection are the keys ike, ike-id, child and child-id that several commands
// share. Those left out match everything.
type selection struct {
	ikeName, childName string
	ikeID, childID     uint32
}

func (c *call) selection() (selection, error) {
	s := selection{ikeName: c.req.Keys["ike"], childName: c.req.Keys["child"]}
	var err error
	if s.ikeID, err = c.number("ike-id"); err != nil {
		return s, err
	}
	s.childID, err = c.number("child-id")
	return s, err
}

// ike reports whether the IKE SA matches; if a child is asked for, one of its
// children must.
func (s selection) ike(sa *ike.IKESAInfo) bool {
	if s.ikeName != "" && s.ikeName != sa.Connection || s.ikeID != 0 && s.ikeID != sa.ID {
		return false
	}
	if s.childName == "" && s.childID == 0 {
		return true
	}
	for i := range sa.Children {
		if s.child(&sa.Children[i]) {
			return true
		}
	}
	return false
}

func (s selection) child(ch *ike.ChildInfo) bool {
	return (s.childName == "" || s.childName == ch.SA.Config.Name) && (s.childID == 0 || s.childID == ch.SA.ID)
}

// names reports whether a configured child matches by its names.
func (s selection) names(n status.ChildName) bool {
	return (s.ikeName == "" || s.ikeName == n.Connection) && (s.childName == "" || s.childName == n.Child)
}

// children reports whether the selection names CHILD_SAs rather than IKE SAs.
func (s selection) children() bool { return s.childName != "" || s.childID != 0 }
