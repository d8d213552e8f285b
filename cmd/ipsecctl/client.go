package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/strongswan/govici/vici"

	"github.com/ipsecd/ipsecd/cmd/internal/show"
	"github.com/ipsecd/ipsecd/cmd/internal/viciclient"
)

// client is a connection to the daemon.
type client struct{ *viciclient.Client }

func dial(uri string) (*client, error) {
	c, err := viciclient.Dial(uri)
	if err != nil {
		return nil, classify(err)
	}
	return &client{c}, nil
}

// call runs a command. What the daemon refuses is an error in its own words.
func (c *client) call(ctx context.Context, limit time.Duration, command string, keyValues ...string) (*vici.Message, error) {
	m, err := c.Do(ctx, limit, command, keyValues...)
	return m, classify(err)
}

// classify gives an error of the client its exit status and, where the daemon
// cannot be reached, a hint.
func classify(err error) error {
	var u *viciclient.Unreachable
	switch {
	case err == nil:
		return nil
	case errors.Is(err, viciclient.ErrURI):
		return usagef("%w", err)
	case !errors.As(err, &u):
		return errors.New(cleanLines(err.Error()))
	case u.Command != "":
		return &exitError{exitUnreachable, err}
	}
	hint := "is it running? (systemctl status ipsecd)"
	if errors.Is(err, fs.ErrPermission) {
		hint = "run ipsecctl as root, or as a member of the socket's group"
	}
	return &exitError{exitUnreachable, fmt.Errorf("%w; %s", err, hint)}
}

// cleanLines is show.Clean for a text of several lines.
func cleanLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = show.Clean(lines[i])
	}
	return strings.Join(lines, "\n")
}

// report fetches the daemon's report: its JSON, and what this version knows of it.
func (c *client) report(ctx context.Context) ([]byte, *show.Report, error) {
	data, err := c.rawReport(ctx)
	if err != nil {
		return nil, nil, c.wrongDaemon(ctx, err)
	}
	var r show.Report
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, nil, fmt.Errorf("the daemon's report cannot be read: %w", err)
	}
	if r.Version > show.ReportVersion {
		return nil, nil, fmt.Errorf("ipsecd %s writes reports of version %d, this ipsecctl reads up to %d: update it", r.Software, r.Version, show.ReportVersion)
	}
	return data, &r, nil
}

// rawReport puts the pieces of the report together.
func (c *client) rawReport(ctx context.Context) ([]byte, error) {
	var data []byte
	more := ""
	for {
		m, err := c.call(ctx, viciclient.CallTime, "ipsecd-show", "continue", more)
		if err != nil {
			return nil, err
		}
		pieces, _ := m.Get("json").([]string)
		for _, p := range pieces {
			data = append(data, p...)
		}
		if m.Get("more") == nil {
			return data, nil
		}
		more = "yes"
	}
}

// wrongDaemon explains err if the socket is another daemon's.
func (c *client) wrongDaemon(ctx context.Context, err error) error {
	m, verr := c.call(ctx, viciclient.CallTime, "version")
	if verr != nil {
		return err
	}
	if daemon, _ := m.Get("daemon").(string); daemon != "ipsecd" {
		return &exitError{exitUnreachable, fmt.Errorf("%s answers at %s, not ipsecd: stop it, or name ipsecd's socket with --uri", daemon, c.URI)}
	}
	return err
}
