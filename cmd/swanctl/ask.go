package main

import (
	"fmt"
	"os"

	"golang.org/x/term"
)

// ask reads a passphrase from the terminal without showing it.
func ask(prompt string) ([]byte, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("there is no terminal to ask for it: %w", err)
	}
	defer tty.Close()
	fmt.Fprint(tty, prompt)
	defer fmt.Fprintln(tty)
	return term.ReadPassword(int(tty.Fd()))
}
