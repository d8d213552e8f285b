package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ipsecd/ipsecd/cmd/internal/config"
	"github.com/ipsecd/ipsecd/cmd/internal/viciclient"
)

// environment is what a run of the command sees of the world.
type environment struct {
	stdout, stderr io.Writer
	tty            bool // stdout is a terminal
	getenv         func(string) string
}

// run runs the command line and returns the exit status.
func run(ctx context.Context, args []string, env environment) int {
	app := newApp(env)
	err := app.RunContext(ctx, reorder(app, args))
	if err == nil {
		return exitOK
	}
	fmt.Fprintln(env.stderr, "ipsecctl:", err)
	var e *exitError
	if errors.As(err, &e) {
		return e.status
	}
	return exitFailed
}

func newApp(env environment) *cli.App {
	c := &commands{env}
	app := &cli.App{
		Name:            "ipsecctl",
		Usage:           "show and control ipsecd",
		UsageText:       "ipsecctl [options] command [arguments]",
		HideVersion:     true,
		HideHelpCommand: true,
		Writer:          env.stdout,
		ErrWriter:       env.stderr,
		ExitErrHandler:  func(*cli.Context, error) {}, // run prints and returns
		Flags: append(common(),
			&cli.StringFlag{Name: "s", Usage: "show as OpenBSD's ipsecctl does: `WHAT` is sa, flow or all"}),
		Action:   c.root,
		Commands: []*cli.Command{c.show(), c.sa(), c.reload(), c.checkConfig(), c.version()},
	}
	app.OnUsageError = usageError
	for _, cmd := range app.Commands {
		prepare(cmd)
	}
	return app
}

// common are the options that every command takes.
func common() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "uri", Aliases: []string{"vici"}, Usage: "`URI` of the daemon's VICI socket (default: $" + viciclient.URIVariable + ", or " + config.DefaultVICI + ")"},
		&cli.BoolFlag{Name: "json", Usage: "write JSON"},
		&cli.BoolFlag{Name: "no-color", Aliases: []string{"no-colour"}, Usage: "write no colours, as without a terminal"},
	}
}

// prepare adds to a command and those below it what all have.
func prepare(cmd *cli.Command) {
	cmd.Flags = append(cmd.Flags, common()...)
	cmd.OnUsageError = usageError
	cmd.HideHelpCommand = true
	for _, sub := range cmd.Subcommands {
		prepare(sub)
	}
}

func usageError(_ *cli.Context, err error, _ bool) error {
	return usagef("%w; see ipsecctl --help", err)
}

// commands are the actions of the commands.
type commands struct{ env environment }

// root is ipsecctl without a command: -s, or help.
func (c *commands) root(ctx *cli.Context) error {
	if what := ctx.String("s"); what != "" {
		return c.openBSD(ctx, what)
	}
	if ctx.Args().Present() {
		return unknownCommand(ctx)
	}
	return cli.ShowAppHelp(ctx)
}

// unknownCommand names the commands that there are.
func unknownCommand(ctx *cli.Context) error {
	var names []string
	list := ctx.App.Commands
	if ctx.Command != nil && len(ctx.Command.Subcommands) > 0 {
		list = ctx.Command.Subcommands
	}
	for _, cmd := range list {
		names = append(names, cmd.Name)
	}
	return usagef("unknown command %q: one of %s is expected", ctx.Args().First(), strings.Join(names, ", "))
}

// noArguments refuses arguments that a command does not take.
func noArguments(ctx *cli.Context) error {
	if ctx.Args().Present() {
		return usagef("unexpected argument %q", ctx.Args().First())
	}
	return nil
}

func buildVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "devel"
}
