// Command ipsecctl shows and controls a running ipsecd.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args, environment{
		stdout: os.Stdout,
		stderr: os.Stderr,
		tty:    isTerminal(os.Stdout),
		getenv: os.Getenv,
	}))
}
