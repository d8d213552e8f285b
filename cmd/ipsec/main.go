// Command ipsec answers the verbs of strongSwan's command of that name from a
// running ipsecd, in its formats and with its exit statuses.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/ipsecd/ipsecd/cmd/internal/viciclient"
)

// The exit statuses, as the LSB has them for service scripts.
const (
	exitOK      = 0
	exitFailed  = 1
	exitUsage   = 2
	exitStopped = 3 // status: the daemon does not run
	exitNotUp   = 7 // other verbs: the daemon does not run
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], environment{stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv, exec: execute}))
}

// environment is what a run of the command sees of the world.
type environment struct {
	stdout, stderr io.Writer
	getenv         func(string) string
	exec           func(ctx context.Context, env environment, name string, args ...string) error
}

// defaultURI is where the daemon's VICI socket is, as with strongSwan.
const defaultURI = "unix:///var/run/charon.vici"

func (e environment) uri() string {
	if u := e.getenv(viciclient.URIVariable); u != "" {
		return u
	}
	return defaultURI
}

// verb is one of the command's.
type verb struct {
	args string // what it takes, for the usage
	min  int
	max  int
	run  func(ctx context.Context, env environment, args []string) error
}

// errUsage says that the command line was not understood.
var errUsage = errors.New("see ipsec --help")

func run(ctx context.Context, args []string, env environment) int {
	if len(args) == 0 {
		usage(env.stderr)
		return exitUsage
	}
	v, ok := verbs()[args[0]]
	if !ok || len(args)-1 < v.min || len(args)-1 > v.max {
		if ok {
			fmt.Fprintf(env.stderr, "ipsec %s: expected: ipsec %s %s\n", args[0], args[0], v.args)
		} else {
			fmt.Fprintf(env.stderr, "ipsec: unknown command %q; %v\n", args[0], errUsage)
		}
		return exitUsage
	}
	err := v.run(ctx, env, args[1:])
	if err == nil {
		return exitOK
	}
	return report(env, args[0], err)
}

// report writes an error and returns the exit status for it.
func report(env environment, verb string, err error) int {
	var down *viciclient.Unreachable
	var said *toldError
	switch {
	case errors.As(err, &said):
		return said.status
	case errors.As(err, &down):
		fmt.Fprintf(env.stderr, "ipsec %s: %v\n", verb, err)
		if verb == "status" || verb == "statusall" {
			return exitStopped
		}
		return exitNotUp
	}
	fmt.Fprintf(env.stderr, "ipsec %s: %v\n", verb, err)
	return exitFailed
}

// toldError is a failure of which the output has told already.
type toldError struct{ status int }

func (e *toldError) Error() string { return "failed" }

// withDaemon runs f on a connection to the daemon.
func withDaemon(env environment, f func(*viciclient.Client) error) error {
	d, err := viciclient.Dial(env.uri())
	if err != nil {
		return err
	}
	defer d.Close()
	return f(d)
}
