package main

import "fmt"

// The exit statuses, as docs/operations.md lists them.
const (
	exitOK          = 0
	exitFailed      = 1 // the daemon said no, or the configuration has errors
	exitUsage       = 2 // the command line was not understood
	exitUnreachable = 3 // no daemon answers
)

// exitError is an error with its exit status.
type exitError struct {
	status int
	err    error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}
