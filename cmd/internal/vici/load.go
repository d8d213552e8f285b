package vici

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ipsecd/ipsecd/cmd/internal/config"
	"github.com/ipsecd/ipsecd/cmd/internal/config/settings"
)

// edit changes what clients have loaded, and answers success.
func (c *call) edit(change func(*config.Loaded) (*config.Loaded, error)) error {
	if err := c.ctl.Edit(c.conn.ctx, change); err != nil {
		return err
	}
	return c.ok()
}

// loadConn adds or replaces the connection that the one section of the request describes in the
// words of swanctl.conf.
func (c *call) loadConn() error {
	s, err := c.only("connection")
	if err != nil {
		return err
	}
	return c.edit(func(l *config.Loaded) (*config.Loaded, error) { return l.WithConnection(s), nil })
}

// unloadConn takes a connection away; its SAs go.
func (c *call) unloadConn() error {
	name := c.req.Keys["name"]
	if name == "" {
		return errors.New("unload: missing connection name")
	}
	if _, err := c.findConnection(name, ""); err != nil {
		return fmt.Errorf("unload: connection %s not found", single(name))
	}
	return c.edit(func(l *config.Loaded) (*config.Loaded, error) { return l.WithoutConnection(name), nil })
}

// getConns answers the names of the connections that swanctl's files or clients have
// brought: swanctl unloads those that its file has no more.
func (c *call) getConns() error {
	var names []string
	for _, conn := range c.ctl.Status().Config.IKE.Connections {
		if config.Swanctl(conn) {
			names = append(names, conn.Name)
		}
	}
	c.reply.List("conns", names)
	return nil
}

func (c *call) loadAuthority() error {
	s, err := c.only("authority")
	if err != nil {
		return err
	}
	return c.edit(func(l *config.Loaded) (*config.Loaded, error) { return l.WithAuthority(s), nil })
}

func (c *call) unloadAuthority() error {
	name := c.req.Keys["name"]
	if name == "" {
		return errors.New("unload: missing authority name")
	}
	if !slices.Contains(c.ctl.Status().Loaded.Authorities(), name) {
		return fmt.Errorf("unload: authority %s not found among those that clients have loaded", single(name))
	}
	return c.edit(func(l *config.Loaded) (*config.Loaded, error) { return l.WithoutAuthority(name), nil })
}

func (c *call) getAuthorities() error {
	c.reply.List("authorities", c.ctl.Status().Loaded.Authorities())
	return nil
}

// only returns the one section of the request as settings.
func (c *call) only(what string) (*settings.Section, error) {
	if len(c.req.Order) != 1 {
		return nil, fmt.Errorf("one section with a %s is expected, not %d", what, len(c.req.Order))
	}
	name := c.req.Order[0]
	if name == "" {
		return nil, fmt.Errorf("the %s has no name", what)
	}
	t := settings.NewTree(name, loadedAt)
	fill(t, c.req.Sections[name])
	return t.Section(), nil
}

// loadedAt is the place that messages name.
var loadedAt = settings.Position{File: config.LoadedFile, Line: 1}

// blobs are the keys whose values are credentials themselves, and not names of files.
var blobs = map[string]bool{"certs": true, "cert": true, "cacerts": true, "cacert": true, "pubkeys": true}

// fill turns a section of a message into settings: the items of a list are
// parted by commas.
func fill(t *settings.Tree, s *Section) {
	for _, key := range slices.Sorted(maps.Keys(s.Keys)) {
		t.Set(key, value(key, []string{s.Keys[key]}))
	}
	for _, key := range slices.Sorted(maps.Keys(s.Lists)) {
		t.Set(key, value(key, s.Lists[key]))
	}
	for _, name := range s.Order {
		fill(t.Sub(name, loadedAt), s.Sections[name])
	}
}

func value(key string, items []string) settings.Value {
	if blobs[key] {
		items = slices.Clone(items)
		for i := range items {
			items[i] = "0s" + base64.StdEncoding.EncodeToString([]byte(items[i]))
		}
	}
	return settings.Value{Position: loadedAt, Text: strings.Join(items, ", "), Quoted: true}
}
