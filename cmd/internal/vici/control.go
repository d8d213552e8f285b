package vici

import (
	"errors"
	"fmt"

	"github.com/ipsecd/ipsecd/ike"
)

// initiate starts a connection or a child and, unless the timeout is -1, waits
// until it is up or has failed, streaming the log meanwhile.
func (c *call) initiate() error {
	ev := ike.Initiate{Connection: c.req.Keys["ike"], Child: c.req.Keys["child"]}
	conn, err := c.findConnection(ev.Connection, ev.Child)
	if err != nil {
		return err
	}
	ev.Connection = conn.Name
	wait, err := c.timeout()
	if err != nil {
		return err
	}
	what := fmt.Sprintf("CHILD_SA '%s'", ev.Child)
	if ev.Child == "" {
		what = fmt.Sprintf("IKE_SA '%s'", ev.Connection)
	}
	return c.await(waiting{
		event: ev, timeout: wait, connection: ev.Connection,
		failed: "establishing " + what + " failed",
		late:   what + " not established",
		done: func(n *ike.Note) (bool, error) {
			if n != nil && n.Kind == ike.NoteFailure && n.Connection == ev.Connection && (n.Child == "" || ev.Child == "" || n.Child == ev.Child) {
				return true, errors.New(n.Text)
			}
			return c.isUp(ev), nil
		},
	})
}

// findConnection resolves names as charon does: a child may be named alone.
func (c *call) findConnection(conn, child string) (*ike.Connection, error) {
	if conn == "" && child == "" {
		return nil, errors.New("missing configuration name")
	}
	for _, k := range c.ctl.Status().Config.IKE.Connections {
		if conn != "" && k.Name != conn {
			continue
		}
		if child == "" {
			return k, nil
		}
		for _, ch := range k.Children {
			if ch.Name == child {
				return k, nil
			}
		}
	}
	if child != "" {
		return nil, fmt.Errorf("CHILD_SA config '%s' not found", cut(child))
	}
	return nil, fmt.Errorf("IKE_SA config '%s' not found", cut(conn))
}

func (c *call) isUp(ev ike.Initiate) bool {
	for _, sa := range c.ctl.Status().Engine.IKESAs {
		if sa.Connection != ev.Connection || sa.State != ike.IKEEstablished && sa.State != ike.IKERekeying {
			continue
		}
		if ev.Child == "" {
			return true
		}
		for _, ch := range sa.Children {
			if ch.SA.Config.Name == ev.Child && (ch.State == ike.ChildInstalled || ch.State == ike.ChildRekeying) {
				return true
			}
		}
	}
	return false
}

// terminate deletes the matching SAs and, unless the timeout is -1, waits until
// they are gone.
func (c *call) terminate() error {
	sel, err := c.selection()
	if err != nil {
		return err
	}
	wait, err := c.timeout()
	if err != nil {
		return err
	}
	if sel == (selection{}) {
		return errors.New("missing terminate selector")
	}
	c.current() // an SA that has just come up counts
	matches := c.matching(sel)
	c.failure = func(b *Builder) {
		b.Keyf("matches", "%d", len(matches))
		b.Keyf("terminated", "%d", len(matches)-c.left(sel, matches))
	}
	if len(matches) == 0 {
		return errors.New("no matching SAs to terminate found")
	}
	ev := ike.Terminate{Connection: sel.ikeName, Child: sel.childName, IKEID: sel.ikeID, ChildID: sel.childID, Force: c.flag("force")}
	err = c.await(waiting{
		event: ev, timeout: wait, connection: sel.ikeName,
		failed: "terminating failed",
		late:   "SAs not terminated",
		done: func(*ike.Note) (bool, error) {
			return c.left(sel, matches) == 0, nil
		},
	})
	if err != nil {
		return err
	}
	c.reply.Keyf("matches", "%d", len(matches))
	c.reply.Keyf("terminated", "%d", len(matches))
	return nil
}

// left counts those of the SAs that are still there.
func (c *call) left(sel selection, ids map[uint32]bool) (n int) {
	for id := range c.matching(sel) {
		if ids[id] {
			n++
		}
	}
	return n
}

// matching returns the ids of the SAs that a selection names, as the status has
// them.
func (c *call) matching(sel selection) map[uint32]bool {
	ids := map[uint32]bool{}
	sas := c.ctl.Status().Engine.IKESAs
	for i := range sas {
		sa := &sas[i]
		if !sel.ike(sa) {
			continue
		}
		if !sel.children() {
			ids[sa.ID] = true
			continue
		}
		for j := range sa.Children {
			if sel.child(&sa.Children[j]) {
				ids[sa.Children[j].SA.ID] = true
			}
		}
	}
	return ids
}

// rekey asks for the rekeying of the matching SAs and does not wait for it.
func (c *call) rekey() error {
	sel, err := c.selection()
	if err != nil {
		return err
	}
	if sel == (selection{}) {
		return errors.New("missing rekey selector")
	}
	c.current() // an SA that has just come up counts
	n := len(c.matching(sel))
	c.counts(n)
	if n == 0 {
		return errors.New("no matching SAs to rekey found")
	}
	ev := ike.Rekey{Connection: sel.ikeName, Child: sel.childName, IKEID: sel.ikeID, ChildID: sel.childID, Reauth: c.flag("reauth")}
	if err := c.ctl.Do(c.conn.ctx, ev); err != nil {
		return err
	}
	c.reply.Key("success", "yes")
	c.reply.Keyf("matches", "%d", n)
	return nil
}

// reloadSettings reads the configuration again, as SIGHUP does.
func (c *call) reloadSettings() error {
	if _, err := c.ctl.Reload(c.conn.ctx, false); err != nil {
		return err
	}
	return c.ok()
}

// reload is ipsecctl's: it answers the plan, and with dry-run does not carry it out.
func (c *call) reload() error {
	plan, err := c.ctl.Reload(c.conn.ctx, c.flag("dry-run"))
	if err != nil {
		return err
	}
	c.reply.Key("plan", plan)
	return c.ok()
}
