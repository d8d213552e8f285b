package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/strongswan/govici/vici"

	"github.com/ipsecd/ipsecd/cmd/internal/viciclient"
)

// controlTime is how long up and down wait: longer than the retransmissions of
// a request last (165 s), so that they end with the cause.
const controlTime = 3 * time.Minute

// up sets up a connection, writing the daemon's log meanwhile.
func up(ctx context.Context, env environment, args []string) error {
	name := args[0]
	return withDaemon(env, func(d *viciclient.Client) error {
		conn, child, err := find(ctx, d, name)
		if err != nil {
			fmt.Fprintln(env.stdout, err)
			return &toldError{exitFailed}
		}
		err = logged(ctx, env, d, "initiate", "ike", conn, "child", child, "timeout", milliseconds())
		if err != nil {
			fmt.Fprintf(env.stdout, "%v\nestablishing connection '%s' failed\n", err, name)
			return &toldError{exitFailed}
		}
		_, err = fmt.Fprintf(env.stdout, "connection '%s' established successfully\n", name)
		return err
	})
}

func milliseconds() string { return fmt.Sprint(controlTime.Milliseconds()) }

// find returns the connection and child that a name stands for: a child's own
// name, or that of a connection, of which the first child is meant.
func find(ctx context.Context, d *viciclient.Client, name string) (conn, child string, err error) {
	list, err := d.Stream(ctx, "list-conns", "list-conn")
	if err != nil {
		return "", "", err
	}
	for _, m := range list {
		for _, c := range m.Keys() {
			children := section(section(m, c), "children")
			if children == nil {
				continue
			}
			for _, k := range children.Keys() {
				if k == name {
					return c, k, nil
				}
			}
			if c == name && len(children.Keys()) > 0 {
				conn, child = c, children.Keys()[0]
			}
		}
	}
	if conn == "" {
		return "", "", fmt.Errorf("no config named '%s'", name)
	}
	return conn, child, nil
}

// logged runs a command and writes the lines of the log that belong to it.
func logged(ctx context.Context, env environment, d *viciclient.Client, command string, keyValues ...string) error {
	args, err := viciclient.Message(keyValues...)
	if err != nil {
		return err
	}
	line := func(m *vici.Message) { fmt.Fprintln(env.stdout, text(m, "msg")) }
	_, err = d.Follow(ctx, controlTime+viciclient.CallTime, "control-log", line, command, args)
	return err
}

// down deletes the SAs that a name, name{id} or name[id] stands for.
func down(ctx context.Context, env environment, args []string) error {
	sel, err := selection(args[0])
	if err != nil {
		return err
	}
	return withDaemon(env, func(d *viciclient.Client) error {
		keyValues := append(sel, "timeout", milliseconds())
		if err := logged(ctx, env, d, "terminate", keyValues...); err != nil {
			fmt.Fprintf(env.stdout, "%v\n", err)
			return &toldError{exitFailed}
		}
		_, err := fmt.Fprintf(env.stdout, "%s closed successfully\n", args[0])
		return err
	})
}

// selection turns starter's way to name SAs into VICI's keys: NAME and NAME[ID]
// are IKE SAs, NAME{ID} are CHILD_SAs; the name or the ID may be missing, and * is any ID.
func selection(s string) ([]string, error) {
	for _, kind := range []struct{ open, end, name, id string }{{"[", "]", "ike", "ike-id"}, {"{", "}", "child", "child-id"}} {
		name, rest, ok := strings.Cut(s, kind.open)
		if !ok {
			continue
		}
		id, end := strings.CutSuffix(rest, kind.end)
		if !end || name == "" && (id == "" || id == "*") {
			return nil, fmt.Errorf("%s: expected NAME, NAME[ID], NAME{ID}, [ID] or {ID}", s)
		}
		if id == "*" {
			id = ""
		}
		return []string{kind.name, name, kind.id, id}, nil
	}
	return []string{"ike", s}, nil
}

// policy installs or uninstalls the policies of a child.
func policy(command, format string) func(context.Context, environment, []string) error {
	return func(ctx context.Context, env environment, args []string) error {
		return withDaemon(env, func(d *viciclient.Client) error {
			conn, child, err := find(ctx, d, args[0])
			if err == nil {
				_, err = d.Do(ctx, viciclient.CallTime, command, "ike", conn, "child", child)
			}
			if err != nil {
				fmt.Fprintln(env.stdout, err)
				return &toldError{exitFailed}
			}
			_, err = fmt.Fprintf(env.stdout, format, args[0])
			return err
		})
	}
}
