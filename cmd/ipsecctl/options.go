package main

import (
	"encoding/json"
	"os"

	"github.com/urfave/cli/v2"
	"golang.org/x/sys/unix"

	"github.com/ipsecd/ipsecd/cmd/internal/config"
	"github.com/ipsecd/ipsecd/cmd/internal/show"
	"github.com/ipsecd/ipsecd/cmd/internal/viciclient"
)

// given returns the context, of this command or one above it, in which an
// option was given; nil if it was not.
func given(ctx *cli.Context, name string) *cli.Context {
	for _, c := range ctx.Lineage() {
		if c.Command != nil && c.IsSet(name) {
			return c
		}
	}
	return nil
}

func (c *commands) uri(ctx *cli.Context) string {
	if at := given(ctx, "uri"); at != nil {
		return at.String("uri")
	}
	if uri := c.env.getenv(viciclient.URIVariable); uri != "" {
		return uri
	}
	return config.DefaultVICI
}

func (c *commands) flag(ctx *cli.Context, name string) bool {
	at := given(ctx, name)
	return at != nil && at.Bool(name)
}

func (c *commands) json(ctx *cli.Context) bool { return c.flag(ctx, "json") }

// style has colour on a terminal only, unless the operator wants none
// (https://no-color.org).
func (c *commands) style(ctx *cli.Context) show.Style {
	return show.Style{Colour: c.env.tty && !c.flag(ctx, "no-color") && c.env.getenv("NO_COLOR") == "" && c.env.getenv("TERM") != "dumb"}
}

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

// printJSON writes v, indented.
func (c *commands) printJSON(v any) error {
	e := json.NewEncoder(c.env.stdout)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
