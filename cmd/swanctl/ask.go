package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// ask reads a passphrase from the terminal without showing it, or from standard input if there is no terminal.
func ask(prompt string) ([]byte, error) {
	in, out := os.Stdin, os.Stderr
	if tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0); err == nil {
		defer tty.Close()
		in, out = tty, tty
	}
	fmt.Fprint(out, prompt)
	if fd := int(in.Fd()); term.IsTerminal(fd) {
		defer fmt.Fprintln(out)
		return term.ReadPassword(fd)
	}
	return readLine(in)
}

// readLine reads a line and nothing beyond it: the next question has the next line.
func readLine(r io.Reader) (line []byte, err error) {
	var b [1]byte
	for {
		_, err := io.ReadFull(r, b[:])
		switch {
		case errors.Is(err, io.EOF) && len(line) > 0, err == nil && b[0] == '\n':
			return line, nil
		case err != nil:
			return nil, err
		}
		line = append(line, b[0])
	}
}
