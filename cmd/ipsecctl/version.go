package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/ipsecd/ipsecd/cmd/internal/viciclient"
)

func (c *commands) version() *cli.Command {
	return &cli.Command{Name: "version", Usage: "versions of ipsecctl and of the running daemon", Action: c.doVersion}
}

// doVersion writes its own version even where no daemon answers.
func (c *commands) doVersion(ctx *cli.Context) error {
	if err := noArguments(ctx); err != nil {
		return err
	}
	if !c.json(ctx) {
		fmt.Fprintf(c.env.stdout, "ipsecctl %s\n", buildVersion())
	}
	d, err := dial(c.uri(ctx))
	if err != nil {
		return err
	}
	defer d.Close()
	m, err := d.call(ctx.Context, viciclient.CallTime, "version")
	if err != nil {
		return err
	}
	get := func(key string) string { s, _ := m.Get(key).(string); return s }
	if c.json(ctx) {
		return c.printJSON(map[string]string{
			"ipsecctl": buildVersion(), "daemon": get("daemon"), "version": get("version"),
			"sysname": get("sysname"), "release": get("release"), "machine": get("machine"),
		})
	}
	_, err = fmt.Fprintf(c.env.stdout, "%s %s (%s %s, %s)\n", get("daemon"), get("version"), get("sysname"), get("release"), get("machine"))
	return err
}
