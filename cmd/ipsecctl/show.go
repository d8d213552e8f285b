package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ipsecd/ipsecd/cmd/internal/show"
)

// view is one way to look at the report.
type view struct {
	keys  []string // of the report's JSON; none stands for all
	write func(io.Writer, *show.Report, show.Style) error
}

var (
	tunnelView = view{nil, show.WriteTunnels}
	saView     = view{[]string{"sas"}, show.WriteSAs}
	policyView = view{[]string{"policies"}, func(w io.Writer, r *show.Report, _ show.Style) error { return show.WritePolicies(w, r) }}
	routeView  = view{[]string{"routes", "router"}, func(w io.Writer, r *show.Report, _ show.Style) error { return show.WriteRoutes(w, r) }}
	poolView   = view{[]string{"pools"}, func(w io.Writer, r *show.Report, _ show.Style) error { return show.WritePools(w, r) }}
	bgpView    = view{[]string{"bgp", "router"}, show.WriteBGP}
)

func (c *commands) show() *cli.Command {
	return &cli.Command{
		Name:   "show",
		Usage:  "tunnels with their state, traffic, BGP sessions and routes",
		Action: func(ctx *cli.Context) error { return c.view(ctx, tunnelView) },
		Subcommands: []*cli.Command{
			{Name: "sa", Usage: "IKE SAs and CHILD_SAs", Action: func(ctx *cli.Context) error { return c.view(ctx, saView) }},
			{Name: "policy", Aliases: []string{"flow"}, Usage: "the kernel's policies", Action: func(ctx *cli.Context) error { return c.view(ctx, policyView) }},
			{Name: "routes", Aliases: []string{"route"}, Usage: "learned routes and guards", Action: func(ctx *cli.Context) error { return c.view(ctx, routeView) }},
			{Name: "pools", Aliases: []string{"pool"}, Usage: "pools of virtual addresses, and who has them", Action: func(ctx *cli.Context) error { return c.view(ctx, poolView) }},
			{Name: "bgp", Usage: "BGP sessions", Action: func(ctx *cli.Context) error { return c.view(ctx, bgpView) }},
		},
	}
}

func (c *commands) view(ctx *cli.Context, v view) error {
	if ctx.Args().Present() {
		if ctx.Command != nil && len(ctx.Command.Subcommands) > 0 {
			return unknownCommand(ctx)
		}
		return noArguments(ctx)
	}
	return c.withReport(ctx, v.keys, func(r *show.Report) error { return v.write(c.env.stdout, r, c.style(ctx)) })
}

// openBSD is -s.
func (c *commands) openBSD(ctx *cli.Context, what string) error {
	keys := map[string][]string{"sa": {"sas"}, "flow": {"policies"}, "all": {"policies", "sas"}}[what]
	if keys == nil {
		return usagef("-s %s: sa, flow or all is expected", what)
	}
	return c.withReport(ctx, keys, func(r *show.Report) error { return show.OpenBSD(c.env.stdout, r, what) })
}

// withReport fetches the report and writes it as text or, with --json, the parts
// of it under keys.
func (c *commands) withReport(ctx *cli.Context, keys []string, write func(*show.Report) error) error {
	d, err := dial(c.uri(ctx))
	if err != nil {
		return err
	}
	defer d.Close()
	data, r, err := d.report(ctx.Context)
	if err != nil {
		return err
	}
	if !c.json(ctx) {
		return write(r)
	}
	part, err := pick(data, keys)
	if err != nil {
		return err
	}
	return c.printJSON(part)
}

// pick takes some keys of the report, as the daemon wrote them, and those that
// every part has.
func pick(report []byte, keys []string) (json.RawMessage, error) {
	if len(keys) == 0 {
		return report, nil
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(report, &all); err != nil {
		return nil, err
	}
	var b strings.Builder
	b.WriteByte('{')
	for _, k := range append([]string{"version", "taken"}, keys...) {
		if all[k] == nil {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%s", k, all[k])
	}
	b.WriteByte('}')
	return json.RawMessage(b.String()), nil
}
