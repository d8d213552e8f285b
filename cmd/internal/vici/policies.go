package vici

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ipsecd/ipsecd/cmd/internal/config"
	"github.com/ipsecd/ipsecd/cmd/internal/status"
	"github.com/ipsecd/ipsecd/ike"
)

// listPolicies streams the policies that are in the kernel without an SA: of the request's keys, whose values do not
// matter, trap asks for those that wait for traffic, pass and drop for shunts.
func (c *call) listPolicies() error {
	sel := selection{ikeName: c.req.Keys["ike"], childName: c.req.Keys["child"]}
	st := c.ctl.Status()
	if _, wanted := c.req.Keys["trap"]; wanted {
		for _, t := range st.Traps {
			if sel.names(t.ChildName) && !c.streamPolicy(t) {
				return nil
			}
		}
	}
	for _, s := range shunts(st.Config) {
		_, wanted := c.req.Keys[strings.ToLower(s.Mode.String())]
		if wanted && sel.names(s.ChildName) && !c.streamPolicy(s) {
			return nil
		}
	}
	return nil
}

// shunts returns the children with mode = pass or drop whose policies are installed.
func shunts(c *config.Config) (list []status.Trap) {
	for _, conn := range c.IKE.Connections {
		for _, ch := range conn.Children {
			if ch.Mode.Shunt() && ch.StartAction != ike.ActionClear {
				name := status.ChildName{Connection: conn.Name, Child: ch.Name}
				list = append(list, status.Trap{ChildName: name, Mode: ch.Mode, LocalTS: ch.LocalTS, RemoteTS: ch.RemoteTS})
			}
		}
	}
	return list
}

func (c *call) streamPolicy(p status.Trap) bool {
	return c.stream("list-policy", func(b *Builder) {
		b.Section(p.Connection+"/"+p.Child, func() {
			b.Key("child", p.Child)
			if p.ReqID != 0 {
				b.Keyf("reqid", "%d", p.ReqID)
			}
			b.Key("ike", p.Connection)
			b.Key("mode", p.Mode.String())
			b.List("local-ts", selectors(sorted(p.LocalTS)))
			b.List("remote-ts", selectors(sorted(p.RemoteTS)))
		})
	})
}

// sorted returns the selectors in charon's order: by family, addresses, protocol and ports.
func sorted(list []ike.TrafficSelector) []ike.TrafficSelector {
	return slices.SortedFunc(slices.Values(list), func(a, b ike.TrafficSelector) int {
		return cmp.Or(a.Start.Compare(b.Start), a.End.Compare(b.End), cmp.Compare(a.Protocol, b.Protocol),
			cmp.Compare(a.StartPort, b.StartPort), cmp.Compare(a.EndPort, b.EndPort))
	})
}

// install installs the trap of a child, or its shunt.
func (c *call) install() error {
	sel, err := c.childName()
	if err != nil {
		return err
	}
	name, found := findChildName(c.ctl.Status(), sel)
	if !found {
		return errors.New("configuration name not found")
	}
	err = c.noTrap(name)
	if err == nil {
		err = c.setPolicy(name, true)
	}
	if err != nil {
		return fmt.Errorf("installing policy %s failed: %w", single(name.Child), err)
	}
	return c.ok()
}

// noTrap says why there cannot be a trap of a child.
func (c *call) noTrap(name status.ChildName) error {
	for _, conn := range c.ctl.Status().Config.IKE.Connections {
		for _, child := range conn.Children {
			if conn.Name != name.Connection || child.Name != name.Child {
				continue
			}
			if why := config.NoTrap(conn, child); why != "" {
				return errors.New(why)
			}
		}
	}
	return nil
}

// uninstall takes away the trap of a child, also that which a lost CHILD_SA has left, or its shunt.
func (c *call) uninstall() error {
	sel, err := c.childName()
	if err != nil {
		return err
	}
	st := c.ctl.Status()
	all := slices.Concat(st.Traps, shunts(st.Config))
	i := slices.IndexFunc(all, func(t status.Trap) bool { return sel.names(t.ChildName) })
	if i < 0 {
		return fmt.Errorf("policy %s not found", single(sel.childName))
	}
	name := all[i].ChildName
	if err := c.setPolicy(name, false); err != nil {
		return err
	}
	if err := c.ctl.Do(c.conn.ctx, ike.Disarm{Connection: name.Connection, Child: name.Child}); err != nil {
		return err
	}
	return c.ok()
}

func (c *call) setPolicy(name status.ChildName, on bool) error {
	return c.ctl.Edit(c.conn.ctx, func(l *config.Loaded) (*config.Loaded, error) {
		return l.WithPolicy(c.ctl.Status().Config, name.Connection, name.Child, on), nil
	})
}

// childName reads the keys child and ike.
func (c *call) childName() (selection, error) {
	sel := selection{ikeName: c.req.Keys["ike"], childName: c.req.Keys["child"]}
	if sel.childName == "" {
		return sel, errors.New("missing configuration name")
	}
	return sel, nil
}

func findChildName(st *status.Status, sel selection) (status.ChildName, bool) {
	for _, conn := range st.Config.IKE.Connections {
		for _, ch := range conn.Children {
			if name := (status.ChildName{Connection: conn.Name, Child: ch.Name}); sel.names(name) {
				return name, true
			}
		}
	}
	return status.ChildName{}, false
}
