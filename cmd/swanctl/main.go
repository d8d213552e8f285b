// Command swanctl is strongSwan's command of that name for a running ipsecd, or charon: the same
// command line, output and exit statuses, over VICI.
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

// version is that of strongSwan whose command line and formats these are.
const version = "5.9.8"

// The exit statuses. While connecting it is the system's number of the error.
const (
	exitOK      = 0
	exitFailed  = 1  // refused by the daemon, or the command line was not understood
	exitRequest = 2  // the daemon did not answer the request
	exitLoad    = 22 // something was not loaded
)

// defaultURI is where the daemon's VICI socket is.
const defaultURI = "unix:///var/run/charon.vici"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args, environment{stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv, ask: ask}))
}

// environment is what a run of the command sees of the world.
type environment struct {
	stdout, stderr io.Writer
	getenv         func(string) string
	ask            func(prompt string) ([]byte, error) // for a passphrase
}

// failure ends a command with a status of its own. Without a text, all has been told.
type failure struct {
	status int
	text   string
}

func (f *failure) Error() string { return f.text }

// run is the command with its name before the arguments, as in os.Args.
func run(ctx context.Context, args []string, env environment) int {
	cmd, rest, err := choose(args)
	if err != nil || cmd == nil {
		if err == nil {
			usage(env.stdout)
			return exitOK
		}
		complain(env, args[0], err)
		usage(env.stderr)
		return exitFailed
	}
	opts, err := cmd.parse(rest)
	switch {
	case err != nil:
		complain(env, args[0], err)
		cmd.usage(env.stderr)
		return exitFailed
	case opts.has("help"):
		cmd.usage(env.stdout)
		return exitOK
	}
	return report(env, connect(ctx, env, cmd, opts))
}

// complain tells what is wrong with the command line.
func complain(env environment, program string, err error) {
	var bad *badOption
	if errors.As(err, &bad) {
		fmt.Fprintf(env.stderr, "%s: %s\n", program, bad.text)
		err = errors.New(bad.summary)
	}
	fmt.Fprintf(env.stderr, "Error: %v\n", err)
}

// connect runs a command on a connection to the daemon.
func connect(ctx context.Context, env environment, cmd *command, opts options) error {
	uri, name := opts.value("uri"), opts.value("uri")
	if uri == "" {
		uri, name = configuredURI(env), "default"
	}
	d, err := viciclient.Dial(uri)
	if err != nil {
		return unconnected(env, uri, name, err)
	}
	defer d.Close()
	s := newSession(ctx, env, d, opts)
	defer s.out.Flush()
	return cmd.run(s)
}

// configuredURI is the one of the environment, as for our other commands, or the default.
func configuredURI(env environment) string {
	if uri := env.getenv(viciclient.URIVariable); uri != "" {
		return uri
	}
	return defaultURI
}

func unconnected(env environment, uri, name string, err error) error {
	var number syscall.Errno
	if !errors.As(err, &number) {
		return &failure{int(syscall.EINVAL), "Error: " + err.Error()}
	}
	cause := sentence(number)
	fmt.Fprintf(env.stderr, "connecting to '%s' failed: %s\n", uri, cause)
	return &failure{int(number), fmt.Sprintf("Error: connecting to '%s' URI failed: %s", name, cause)}
}

// report writes an error and returns the exit status for it.
func report(env environment, err error) int {
	var f *failure
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &f):
		if f.text != "" {
			fmt.Fprintln(env.stderr, f.text)
		}
		return f.status
	}
	fmt.Fprintln(env.stderr, err)
	return exitFailed
}
