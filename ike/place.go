package ike

import (
	"fmt"
	"strings"

	"github.com/ipsecd/ipsecd/ike/auth"
)

// Lines says where the keys of a configured section are written: "file:line" by the key's path
// inside of the section, such as "proposals" or "remote.id", and by the names of the sections in it. It
// serves messages only, and changes nothing if it is missing or differs.
type Lines map[string]string

// find returns the place of a key, or else of the section that it would be in, or else source.
func (l Lines) find(key, source string) string {
	for key != "" {
		if at, ok := l[key]; ok {
			return at
		}
		key = key[:max(0, strings.LastIndexByte(key, '.'))]
	}
	return source
}

// at names a key of a connection and where it is written:
// "(connections.gw.remote.id, swanctl.conf:12)". No key stands for the connection.
func (c *Connection) at(key string) string {
	return place("connections."+c.Name, key, c.Lines.find(key, c.Source))
}

// at does the same for a key of a child.
func (c *ChildConfig) at(conn *Connection, key string) string {
	return place("connections."+conn.Name+".children."+c.Name, key, c.Lines.find(key, c.Source))
}

func place(path, key, at string) string {
	if key != "" {
		path += "." + key
	}
	return fmt.Sprintf("(%s, %s)", path, at)
}

// secretNames names secrets and where they are written, the first few.
func secretNames(list []auth.Secret) string {
	var names []string
	for i, s := range list {
		if i == maxExplained {
			names = append(names, fmt.Sprintf("%d more", len(list)-i))
			break
		}
		name := "secrets." + s.Name
		if s.Source != "" {
			name += " at " + s.Source
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}
