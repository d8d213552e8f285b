package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ipsecd/ipsecd/cmd/internal/config"
)

func (c *commands) checkConfig() *cli.Command {
	return &cli.Command{
		Name:      "check-config",
		Usage:     "read configurations and report their errors, without a daemon",
		ArgsUsage: "[FILE…]",
		Description: "Each FILE is a configuration of its own: ipsecd.conf, swanctl.conf, strongswan.conf, ipsec.conf with its\n" +
			"ipsec.secrets, or an ipsec.secrets alone. Without one, the installed files are read as the daemon does:\n" +
			strings.Join(config.InstalledFiles, ", ") + ".",
		Action: c.doCheckConfig,
	}
}

// checkResult is what check-config writes of one configuration with --json.
type checkResult struct {
	File     string   `json:"file"` // empty: the installed files
	Files    []string `json:"files"`
	OK       bool     `json:"ok"`
	Errors   []string `json:"errors"` // each "file:line: text"
	Warnings []string `json:"warnings"`

	config *config.Config
}

func (c *commands) doCheckConfig(ctx *cli.Context) error {
	names := ctx.Args().Slice()
	if len(names) == 0 {
		names = []string{""} // the installed files
	}
	var results []checkResult
	var bad []string
	for _, name := range names {
		r := check(name)
		results = append(results, r)
		if !r.OK {
			bad = append(bad, fmt.Sprintf("%s: not usable (errors: %d)", r.title(), len(r.Errors)))
		}
	}
	if err := c.writeChecks(ctx, results); err != nil {
		return err
	}
	if len(bad) > 0 {
		return errors.New(strings.Join(bad, "\n"))
	}
	return nil
}

// check reads one configuration.
func check(name string) checkResult {
	conf, err := config.Load(name)
	r := checkResult{File: name, OK: err == nil, Files: []string{}, Errors: each(err), Warnings: []string{}, config: conf}
	if conf != nil {
		r.Files = conf.Files
		for _, w := range conf.Warnings {
			r.Warnings = append(r.Warnings, w.String())
		}
	}
	return r
}

// title names a configuration.
func (r checkResult) title() string {
	switch {
	case r.File != "":
		return r.File
	case len(r.Files) > 0:
		return strings.Join(r.Files, ", ")
	}
	return "the installed files"
}

// each takes joined errors apart.
func each(err error) []string {
	list := []string{}
	var joined interface{ Unwrap() []error }
	switch {
	case err == nil:
	case errors.As(err, &joined):
		for _, e := range joined.Unwrap() {
			list = append(list, e.Error())
		}
	default:
		list = append(list, err.Error())
	}
	return list
}

// writeChecks writes what was found: with --json one object, or a list of them if
// several files were given.
func (c *commands) writeChecks(ctx *cli.Context, results []checkResult) error {
	switch {
	case c.json(ctx) && len(results) == 1:
		return c.printJSON(results[0])
	case c.json(ctx):
		return c.printJSON(results)
	}
	var b strings.Builder
	for _, r := range results {
		r.write(&b)
	}
	_, err := fmt.Fprint(c.env.stdout, b.String())
	return err
}

func (r checkResult) write(b *strings.Builder) {
	for _, e := range r.Errors {
		fmt.Fprintln(b, e)
	}
	for _, w := range r.Warnings {
		fmt.Fprintln(b, "warning:", w)
	}
	if r.config == nil {
		return
	}
	neighbors := 0
	if r.config.BGP != nil {
		neighbors = len(r.config.BGP.Neighbors)
	}
	fmt.Fprintf(b, "%s: ok (connections: %d, interfaces: %d, BGP neighbors: %d)\n", r.title(), len(r.config.IKE.Connections), len(r.config.Interfaces), neighbors)
}
