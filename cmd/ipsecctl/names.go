package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ipsecd/ipsecd/cmd/internal/show"
)

// target is what NAME stands for: a connection, or one child of it.
type target struct{ connection, child string }

func (t target) String() string {
	if t.child == "" {
		return t.connection
	}
	return t.connection + "/" + t.child
}

// resolve finds the connection, child or connection/child that name is. A
// child's own name will do if only one connection has such a child.
func resolve(r *show.Report, name string) (target, error) {
	var connections []string
	var children []target
	for _, t := range r.Tunnels {
		full := target{t.Connection, t.Child}
		switch {
		case t.Connection == name:
			return target{connection: name}, nil
		case t.Child == name:
			children = append(children, full)
		case t.Child != "" && full.String() == name:
			return full, nil
		}
		if !slices.Contains(connections, t.Connection) {
			connections = append(connections, t.Connection)
		}
	}
	switch len(children) {
	case 0:
		return target{}, fmt.Errorf("no connection or child is named %s; there are %s", name, strings.Join(connections, ", "))
	case 1:
		return children[0], nil
	}
	var names []string
	for _, t := range children {
		names = append(names, t.String())
	}
	return target{}, fmt.Errorf("%s is a child of several connections: say which, as in %s", name, strings.Join(names, ", "))
}

// childrenOf lists what has to be brought up for a target.
func childrenOf(r *show.Report, t target) []target {
	if t.child != "" {
		return []target{t}
	}
	var list []target
	for _, tn := range r.Tunnels {
		if tn.Connection == t.connection {
			list = append(list, target{tn.Connection, tn.Child})
		}
	}
	return list
}
