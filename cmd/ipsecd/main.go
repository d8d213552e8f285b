// Command ipsecd is an IPsec gateway: IKEv2 keying, kernel XFRM state, and BGP
// routes over the tunnels.
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/mdlayher/sdnotify"
	"github.com/urfave/cli/v2"

	"github.com/ipsecd/ipsecd/cmd/internal/config"
	"github.com/ipsecd/ipsecd/cmd/internal/daemon"
	"github.com/ipsecd/ipsecd/cmd/internal/handover"
	"github.com/ipsecd/ipsecd/cmd/internal/router"
	"github.com/ipsecd/ipsecd/cmd/internal/routerproto"
	"github.com/ipsecd/ipsecd/routing/srcroute"
	"github.com/ipsecd/ipsecd/routing/vaddr"
	"github.com/ipsecd/ipsecd/xfrm/nl"
)

func main() {
	if err := app().Run(os.Args); err != nil {
		fmt.Fprintln(os.Stderr, "ipsecd:", err)
		os.Exit(1)
	}
}

func app() *cli.App {
	return &cli.App{
		Name:            "ipsecd",
		Usage:           "IKEv2 gateway with kernel IPsec and BGP routing",
		Version:         version(),
		HideHelpCommand: true,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "config", Aliases: []string{"c"}, Usage: "configuration `FILE` (default: those of " + strings.Join(config.InstalledFiles, ", ") + " that are there)"},
			&cli.StringFlag{Name: "vici", Usage: "`URI` of the control socket, instead of the configuration's"},
			logLevelFlag,
		},
		Action: serve,
		Commands: []*cli.Command{
			{Name: daemon.RouterCommand, Usage: "the BGP and routing process; started by ipsecd itself", Hidden: true, Flags: []cli.Flag{logLevelFlag}, Action: route},
		},
	}
}

var logLevelFlag = &cli.StringFlag{Name: "log-level", Value: "info", Usage: "debug, info, warn or error"}

func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "devel"
}

func logger(c *cli.Context, w io.Writer) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.String("log-level"))); err != nil {
		return nil, fmt.Errorf("--log-level %q: debug, info, warn or error is expected", c.String("log-level"))
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level})), nil
}

// serve is the keying process, until another one takes its place.
func serve(c *cli.Context) error {
	program, err := os.Executable() // before an upgrade has another one there
	if err != nil {
		return err
	}
	next, err := keep(c, program)
	if err != nil || next == nil {
		return err
	}
	return next.Exec(program, os.Args)
}

// keep runs the daemon until it ends, or until it hands over.
func keep(c *cli.Context, program string) (*handover.Bundle, error) {
	// Who reads our log may go away and come back.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(c.Context, syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	hangup, upgrade := signals(ctx, syscall.SIGHUP), signals(ctx, syscall.SIGUSR2)
	lines := newLineLog(os.Stderr)
	defer lines.close()
	log, err := logger(c, lines)
	if err != nil {
		return nil, err
	}
	inherited, err := handover.Inherited()
	if err != nil {
		log.Error("nothing is taken over from the process before", "err", err)
	}
	kernel, err := nl.Open()
	if err != nil {
		return nil, err
	}
	return daemon.Run(ctx, daemon.Options{
		ConfigFile: c.String("config"),
		VICI:       c.String("vici"),
		Version:    version(),
		Program:    program,
		LogLevel:   c.String("log-level"),
		Log:        log,
		Kernel:     kernel,
		Routes:     srcroute.Linux,
		VirtualIPs: vaddr.Linux(),
		Sysctl:     nl.Sysctl{Root: "/proc/sys"},
		Rand:       rand.Reader,
		Notify:     notifier(),
		Hangup:     hangup,
		Upgrade:    upgrade,
		Inherited:  inherited,
	})
}

// route is the router process. Signals that stop the gateway reach it through
// the keying process: it ends when its socket does.
func route(c *cli.Context) error {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.String("log-level"))); err != nil {
		return err
	}
	conn, err := routerproto.Inherited()
	if err != nil {
		return err
	}
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	return router.Run(c.Context, conn, router.Options{LogLevel: level})
}

// notifier returns a function that tells systemd our state, if it asked.
func notifier() func(state ...string) {
	n, err := sdnotify.New()
	if err != nil {
		return func(...string) {}
	}
	return func(state ...string) { _ = n.Notify(state...) }
}

// signals delivers a value for each such signal until ctx ends.
func signals(ctx context.Context, sig os.Signal) <-chan os.Signal {
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, sig)
	context.AfterFunc(ctx, func() { signal.Stop(ch) })
	return ch
}
