package main

import (
	"fmt"
	"io"
)

const banner = "swanctl of ipsecd, with the command line of strongSwan " + version + "\n"

// usage lists the commands.
func usage(w io.Writer) {
	fmt.Fprint(w, banner+"usage: swanctl COMMAND [options]\ncommands:\n")
	for _, c := range commands {
		fmt.Fprintf(w, "  --%-16s (-%c)  %s\n", c.name, c.letter, c.about)
	}
	fmt.Fprintf(w, "  --%-16s (-h)  %s\n", "help", "show this list; after a command, its options")
}

// usage lists the options of a command.
func (c *command) usage(w io.Writer) {
	fmt.Fprintf(w, "%susage: swanctl --%s [options]: %s\noptions:\n", banner, c.name, c.about)
	for _, o := range append(append([]option{{"help", 'h', "", "show this list"}}, c.options...), common...) {
		name := o.name
		if o.takes != "" {
			name += " <" + o.takes + ">"
		}
		fmt.Fprintf(w, "  --%-26s (-%c)  %s\n", name, o.letter, o.about)
	}
}
