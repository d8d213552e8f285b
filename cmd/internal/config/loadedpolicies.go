package config

import (
	"slices"

	"github.com/ipsecd/ipsecd/cmd/internal/config/settings"
	"github.com/ipsecd/ipsecd/ike"
)

// WithPolicy has the trap of a child, or its shunt, installed or not, whatever its start_action says. c is the
// configuration in force.
func (l *Loaded) WithPolicy(c *Config, connection, child string, on bool) *Loaded {
	n := l.clone()
	p := loadedPolicy{connection: connection, child: child, on: on}
	if ch := findChild(c, connection, child); ch != nil {
		p.was, p.shunt = ch.StartAction, ch.Mode.Shunt()
	}
	same := func(o loadedPolicy) bool { return o.connection == connection && o.child == child }
	if i := slices.IndexFunc(n.policies, same); i >= 0 && p.was == n.policies[i].action(n.policies[i].was) {
		p.was = n.policies[i].was // it is this wish that made it what it is
	}
	n.policies = append(slices.DeleteFunc(slices.Clone(n.policies), same), p)
	return n
}

func findChild(c *Config, connection, child string) *ike.ChildConfig {
	for _, conn := range c.IKE.Connections {
		for _, ch := range conn.Children {
			if conn.Name == connection && ch.Name == child {
				return ch
			}
		}
	}
	return nil
}

// applyPolicies gives children the actions that clients want of them.
func (l *Loaded) applyPolicies(c *Config) {
	for _, p := range l.policies {
		i := slices.IndexFunc(c.IKE.Connections, func(conn *ike.Connection) bool { return conn.Name == p.connection })
		if i < 0 {
			continue
		}
		conn := *c.IKE.Connections[i] // as it was read, it is not changed
		at := slices.IndexFunc(conn.Children, func(ch *ike.ChildConfig) bool { return ch.Name == p.child })
		if at < 0 || conn.Children[at].StartAction != p.was {
			continue
		}
		ch := *conn.Children[at]
		ch.StartAction = p.action(p.was)
		conn.Children = slices.Clone(conn.Children)
		conn.Children[at] = &ch
		c.IKE.Connections[i] = &conn
	}
}

// action is what the wish makes of an action. A shunt has no other than to be there.
func (p loadedPolicy) action(a ike.ChildAction) ike.ChildAction {
	if p.shunt {
		return ike.ActionClear.WithTrap(p.on)
	}
	return a.WithTrap(p.on)
}

// policiesAfter returns the wishes that still mean something: the child is there, and its start_action is what it was.
func (l *Loaded) policiesAfter(c *Config) (list []loadedPolicy) {
	for _, p := range l.policies {
		loaded := slices.ContainsFunc(l.connections.list, func(s *settings.Section) bool { return s.Name == p.connection })
		if ch := findChild(c, p.connection, p.child); loaded || ch != nil && ch.StartAction == p.was {
			list = append(list, p)
		}
	}
	return list
}
