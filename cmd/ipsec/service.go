package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// unit is the service that start, stop and restart are about.
const unit = "ipsecd.service"

// service has systemd start, stop or restart the daemon.
func service(action, text string) func(context.Context, environment, []string) error {
	return func(ctx context.Context, env environment, _ []string) error {
		fmt.Fprintln(env.stdout, text)
		err := env.exec(ctx, env, "systemctl", action, unit)
		if errors.Is(err, exec.ErrNotFound) {
			err = fmt.Errorf("%w; without it, run ipsecd itself", err)
		}
		return err
	}
}

// execute runs a program with our output.
func execute(ctx context.Context, env environment, name string, args ...string) error {
	path, err := exec.LookPath(name)
	if err != nil {
		return fmt.Errorf("%s is not installed: %w", name, err)
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, env.stdout, env.stderr
	return cmd.Run()
}
