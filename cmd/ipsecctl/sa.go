package main

import (
	"context"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ipsecd/ipsecd/cmd/internal/show"
	"github.com/ipsecd/ipsecd/cmd/internal/viciclient"
)

// upTime is how long up and down wait by default: longer than the retransmissions of
// a request last (165 s), so that it ends with the cause.
const upTime = 3 * time.Minute

func (c *commands) sa() *cli.Command {
	timeout := func() cli.Flag {
		return &cli.DurationFlag{Name: "timeout", Value: upTime, Usage: "wait at most so `LONG`; 0: do not wait"}
	}
	const name = "NAME is a connection, a child, or connection/child"
	return &cli.Command{
		Name:  "sa",
		Usage: "list, set up, delete and rekey SAs",
		Action: func(ctx *cli.Context) error {
			if ctx.Args().Present() {
				return unknownCommand(ctx)
			}
			return usagef("sa: list, up, down or rekey is expected")
		},
		Subcommands: []*cli.Command{
			{Name: "list", Usage: "IKE SAs and CHILD_SAs", Action: func(ctx *cli.Context) error { return c.view(ctx, saView) }},
			{Name: "up", Usage: "set up a connection's children, showing the progress", ArgsUsage: "NAME", Description: name, Flags: []cli.Flag{timeout()}, Action: c.up},
			{Name: "down", Usage: "delete SAs", ArgsUsage: "NAME", Description: name, Flags: []cli.Flag{timeout()}, Action: c.down},
			{Name: "rekey", Usage: "replace SAs by new ones", ArgsUsage: "NAME", Description: name, Action: c.rekey},
		},
	}
}

// withTarget finds out what the command's argument stands for.
func (c *commands) withTarget(ctx *cli.Context, f func(*client, *show.Report, target) error) error {
	if ctx.NArg() != 1 {
		return usagef("%s: one NAME is expected: a connection, a child, or connection/child", ctx.Command.Name)
	}
	d, err := dial(c.uri(ctx))
	if err != nil {
		return err
	}
	defer d.Close()
	_, r, err := d.report(ctx.Context)
	if err != nil {
		return err
	}
	t, err := resolve(r, ctx.Args().First())
	if err != nil {
		return err
	}
	return f(d, r, t)
}

// milliseconds are the daemon's timeout: 0 of ours is its -1.
func milliseconds(d time.Duration) string {
	if d <= 0 {
		return "-1"
	}
	return fmt.Sprint(d.Milliseconds())
}

func (c *commands) down(ctx *cli.Context) error {
	return c.withTarget(ctx, func(d *client, _ *show.Report, t target) error {
		timeout := ctx.Duration("timeout")
		n, err := d.control(ctx.Context, timeout+viciclient.CallTime, "terminate", "terminated", "ike", t.connection, "child", t.child, "timeout", milliseconds(timeout))
		if err != nil {
			return err
		}
		return c.done(ctx, t, "down", n)
	})
}

func (c *commands) rekey(ctx *cli.Context) error {
	return c.withTarget(ctx, func(d *client, _ *show.Report, t target) error {
		n, err := d.control(ctx.Context, viciclient.CallTime, "rekey", "matches", "ike", t.connection, "child", t.child)
		if err != nil {
			return err
		}
		return c.done(ctx, t, "rekeying", n)
	})
}

// control runs a command on SAs and returns how many it says it concerned.
func (d *client) control(ctx context.Context, limit time.Duration, command, count string, keyValues ...string) (string, error) {
	m, err := d.call(ctx, limit, command, keyValues...)
	if err != nil {
		return "", err
	}
	n, _ := m.Get(count).(string)
	return n, nil
}

func (c *commands) done(ctx *cli.Context, t target, what, n string) error {
	if c.json(ctx) {
		return c.printJSON(struct {
			Name   string `json:"name"`
			Action string `json:"action"`
			SAs    string `json:"sas"`
		}{t.String(), what, n})
	}
	_, err := fmt.Fprintf(c.env.stdout, "%s: %s (SAs: %s)\n", t, what, n)
	return err
}
