package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// reorder puts options before arguments, where the cli package wants them: an
// operator may write "sa up hq --json".
func reorder(app *cli.App, args []string) []string {
	if len(args) == 0 {
		return args
	}
	out, args := args[:1:1], args[1:]
	flags, subs := app.Flags, app.Commands
	for {
		options, operands, sub := split(args, flags, subs)
		out = append(out, options...)
		if sub == nil {
			return append(out, operands...)
		}
		out = append(out, operands[0])
		args, flags, subs = operands[1:], sub.Flags, sub.Subcommands
	}
}

// split separates the options from the rest, up to the first word that is a
// command.
func split(args []string, flags []cli.Flag, subs []*cli.Command) (options, operands []string, sub *cli.Command) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			// After it the cli package takes everything as an argument.
			return options, append(append([]string{a}, operands...), args[i+1:]...), nil
		case strings.HasPrefix(a, "-") && len(a) > 1:
			options = append(options, a)
			if takesValue(a, flags) && i+1 < len(args) {
				i++
				options = append(options, args[i])
			}
		default:
			if len(operands) == 0 {
				if sub := find(subs, a); sub != nil {
					return options, args[i:], sub
				}
			}
			operands = append(operands, a)
		}
	}
	return options, operands, nil
}

func find(subs []*cli.Command, name string) *cli.Command {
	for _, s := range subs {
		if s.HasName(name) {
			return s
		}
	}
	return nil
}

// takesValue reports whether the next word belongs to the option.
func takesValue(option string, flags []cli.Flag) bool {
	name := strings.TrimLeft(option, "-")
	if strings.Contains(name, "=") {
		return false
	}
	for _, f := range flags {
		if slices.Contains(f.Names(), name) {
			v, ok := f.(cli.DocGenerationFlag)
			return ok && v.TakesValue()
		}
	}
	return false
}
