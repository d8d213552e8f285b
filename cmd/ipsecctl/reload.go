package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ipsecd/ipsecd/cmd/internal/viciclient"
)

func (c *commands) reload() *cli.Command {
	return &cli.Command{
		Name:   "reload",
		Usage:  "have the daemon read its configuration again; what did not change is not touched",
		Flags:  []cli.Flag{&cli.BoolFlag{Name: "dry-run", Aliases: []string{"n"}, Usage: "only say what would change"}},
		Action: c.doReload,
	}
}

func (c *commands) doReload(ctx *cli.Context) error {
	if err := noArguments(ctx); err != nil {
		return err
	}
	d, err := dial(c.uri(ctx))
	if err != nil {
		return err
	}
	defer d.Close()
	dry := ctx.Bool("dry-run")
	m, err := d.call(ctx.Context, viciclient.CallTime, "ipsecd-reload", "dry-run", map[bool]string{true: "yes", false: "no"}[dry])
	var e *exitError
	if err != nil && !errors.As(err, &e) {
		return fmt.Errorf("not reloaded, the old configuration stays in force:\n%w", err)
	}
	if err != nil {
		return err
	}
	plan, _ := m.Get("plan").(string)
	if c.json(ctx) {
		return c.printJSON(struct {
			DryRun bool     `json:"dry_run"`
			Plan   []string `json:"plan"`
		}{dry, strings.Split(strings.TrimSpace(plan), "\n")})
	}
	_, err = fmt.Fprintln(c.env.stdout, strings.TrimSpace(plan))
	return err
}
