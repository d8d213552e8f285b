package ike

import (
	"reflect"
	"slices"
)

// childKey names a configured child.
type childKey struct{ connection, child string }

// configure takes a configuration over. What did not change is not touched.
func (e *Engine) configure(cfg *Config) {
	e.cfg = cfg
	if e.reqids == nil {
		e.reqids = map[childKey]uint32{}
		e.ids.reqid = cfg.ReqIDBase
	}
	before := e.byName
	e.byName = map[string]*connection{}
	e.connections = nil
	for _, cc := range cfg.Connections {
		c := before[cc.Name]
		switch {
		case c == nil:
			c = e.newConnection(cc)
		case c.cfg == cc: // the very same
		case !sameIKE(c.cfg, cc):
			e.closeConnection(c)
			c = e.newConnection(cc)
		default:
			e.mergeChildren(c, cc)
		}
		delete(before, cc.Name)
		e.connections = append(e.connections, c)
		e.byName[cc.Name] = c
	}
	for _, c := range sortedConnections(before) {
		e.closeConnection(c)
	}
	e.directory = newDirectory(e.connections)
	e.configurePools(cfg.Pools)
	e.assignReqids()
}

// sortedConnections makes the order of what is closed repeatable.
func sortedConnections(m map[string]*connection) []*connection {
	var all []*connection
	for _, c := range m {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *connection) int {
		if a.cfg.Name < b.cfg.Name {
			return -1
		}
		return 1
	})
	return all
}

func (e *Engine) newConnection(cfg *Connection) *connection {
	c := &connection{cfg: cfg}
	for _, cc := range cfg.Children {
		c.wants = append(c.wants, &want{conn: c, cfg: cc})
	}
	return c
}

// closeConnection ends a connection that is gone or changed, with its SAs.
func (e *Engine) closeConnection(c *connection) {
	c.removed = true
	e.timers.stop(&c.retry)
	for _, w := range c.wants {
		e.timers.stop(&w.retry)
		e.untrap(w)
	}
	for _, sa := range slices.Clone(c.sas) {
		e.deleteIKE(sa, "the configuration changed")
	}
	for _, p := range c.peers {
		e.closeConnection(p)
	}
	e.mayForget(c)
}

// sameIKE reports whether the IKE part of a connection is unchanged. Where
// it stands in the files does not matter, and our certificates, which are renewed from time to
// time, count at the next authentication.
func sameIKE(a, b *Connection) bool {
	x, y := *a, *b
	x.Source, y.Source = "", ""
	x.Lines, y.Lines = nil, nil
	x.Children, y.Children = nil, nil
	for _, c := range []*Connection{&x, &y} {
		c.Local.Terms.Certs, c.Local.Terms.Pubkeys = nil, nil
	}
	return reflect.DeepEqual(x, y)
}

// sameChild reports whether a child is unchanged. A trap comes and goes beside the CHILD_SAs.
func sameChild(a, b *ChildConfig) bool {
	x, y := *a, *b
	x.StartAction, y.StartAction = x.StartAction.WithTrap(false), y.StartAction.WithTrap(false)
	x.Source, y.Source = "", ""
	x.Lines, y.Lines = nil, nil
	return reflect.DeepEqual(x, y)
}

// mergeChildren replaces the children that changed and leaves the others.
func (e *Engine) mergeChildren(c *connection, cfg *Connection) {
	c.cfg = cfg
	before := c.wants
	c.wants = nil
	for _, cc := range cfg.Children {
		i := slices.IndexFunc(before, func(w *want) bool { return w.cfg == cc || w.cfg.Name == cc.Name && sameChild(w.cfg, cc) })
		if i < 0 {
			c.wants = append(c.wants, &want{conn: c, cfg: cc})
			continue
		}
		before[i].cfg = cc
		c.wants = append(c.wants, before[i])
		before = slices.Delete(before, i, i+1)
	}
	for _, w := range before { // gone or changed
		e.timers.stop(&w.retry)
		w.stopped, w.asked, w.gone = true, notAsked, true
		e.untrap(w)
		for _, child := range slices.Clone(w.children) {
			e.deleteChild(child)
		}
	}
	for _, p := range c.peers {
		e.mergeChildren(p, cfg)
		p.relate()
	}
	e.mayForget(c)
}

// assignReqids gives each configured child its reqid: as configured, as it had before, or
// the next free one above ReqIDBase.
func (e *Engine) assignReqids() {
	var taken map[uint32]bool // made when it is needed
	for _, c := range e.connections {
		for _, w := range c.wants {
			key := childKey{c.cfg.Name, w.cfg.Name}
			switch {
			case w.cfg.ReqID != 0:
				w.reqid = w.cfg.ReqID
			case e.reqids[key] != 0:
				w.reqid = e.reqids[key]
			default:
				if taken == nil {
					taken = e.takenReqids()
				}
				w.reqid = e.newReqid(taken)
				e.reqids[key], taken[w.reqid] = w.reqid, true
			}
		}
	}
}

// ReqID returns the reqid of a configured child, 0 if there is none of that name. Traps
// use it, so that an Acquire finds its child.
func (e *Engine) ReqID(connection, child string) uint32 {
	if c := e.byName[connection]; c != nil {
		if w := c.want(child); w != nil {
			return w.reqid
		}
	}
	return 0
}

// ifID returns the interface ID of a child's inbound SAs.
func (w *want) ifID() uint32 {
	if w.cfg.IfIDIn != 0 {
		return w.cfg.IfIDIn
	}
	return w.conn.cfg.IfIDIn
}

// unbind takes sa from its connection.
func (e *Engine) unbind(sa *ikeSA) {
	if sa.conn != nil {
		e.mayForget(sa.conn)
		sa.conn.sas = slices.DeleteFunc(sa.conn.sas, func(o *ikeSA) bool { return o == sa })
	}
}
