package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// options are the options of a command line with the last argument of each, or yes if it takes none.
type options map[string]string

func (o options) has(name string) bool     { _, ok := o[name]; return ok }
func (o options) value(name string) string { return o[name] }

// badOption is an option that is not one, in the words of getopt_long(3).
type badOption struct{ summary, text string }

func (e *badOption) Error() string { return e.text }

var errOperation = errors.New("invalid operation")

// choose finds the command that a command line asks for and returns what follows it: no command stands for the help.
func choose(args []string) (*command, []string, error) {
	var table []option
	for _, c := range commands {
		table = append(table, option{name: c.name, letter: c.letter})
	}
	table = append(table, option{name: "help", letter: 'h'})
	for i, arg := range args[1:] {
		if arg == "--" {
			break
		}
		if len(arg) < 2 || arg[0] != '-' {
			continue
		}
		p := parser{table: table, summary: errOperation.Error(), found: options{}}
		rest := args[i+2:]
		switch {
		case arg[1] == '-':
			if err := p.long(arg[2:], &rest); err != nil {
				return nil, nil, err
			}
		default:
			if err := p.short(arg[1:2], &rest); err != nil {
				return nil, nil, err
			}
			if more := arg[2:]; more != "" {
				rest = append([]string{"-" + more}, rest...)
			}
		}
		for _, c := range commands {
			if p.found.has(c.name) {
				return c, rest, nil
			}
		}
		return nil, nil, nil
	}
	if len(args) > 1 {
		return nil, nil, errOperation
	}
	return nil, nil, nil
}

// parse reads the options of a command. As getopt does, it takes the beginning of a long name for the whole, and passes over what is no option.
func (c *command) parse(args []string) (options, error) {
	table := append([]option{{name: "help", letter: 'h'}}, c.options...)
	p := parser{table: append(table, common...), summary: "invalid options", found: options{}}
	err := p.all(args)
	return p.found, err
}

type parser struct {
	table   []option
	summary string
	found   options
	depth   int // of files with options
}

func (p *parser) all(args []string) error {
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		var err error
		switch {
		case arg == "--":
			return nil
		case strings.HasPrefix(arg, "--"):
			err = p.long(arg[2:], &args)
		case len(arg) > 1 && arg[0] == '-':
			err = p.short(arg[1:], &args)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) bad(format string, args ...any) error {
	return &badOption{p.summary, fmt.Sprintf(format, args...)}
}

// long reads an option without its dashes; its argument may be the next one of rest.
func (p *parser) long(arg string, rest *[]string) error {
	name, value, hasValue := strings.Cut(arg, "=")
	o, err := p.byName(name)
	if err != nil {
		return err
	}
	switch {
	case o.takes == "" && hasValue:
		return p.bad("option '--%s' doesn't allow an argument", o.name)
	case o.takes == "" || hasValue:
	case len(*rest) == 0:
		return p.bad("option '--%s' requires an argument", o.name)
	default:
		value, *rest = (*rest)[0], (*rest)[1:]
	}
	return p.set(o, value)
}

func (p *parser) byName(name string) (*option, error) {
	var candidates []*option
	for i := range p.table {
		o := &p.table[i]
		if o.name == name {
			return o, nil
		}
		if strings.HasPrefix(o.name, name) {
			candidates = append(candidates, o)
		}
	}
	switch len(candidates) {
	case 0:
		return nil, p.bad("unrecognized option '--%s'", name)
	case 1:
		return candidates[0], nil
	}
	text := fmt.Sprintf("option '--%s' is ambiguous; possibilities:", name)
	for _, o := range candidates {
		text += " '--" + o.name + "'"
	}
	return nil, p.bad("%s", text)
}

// short reads letters, of which the last may have an argument: what follows it, or the next one of rest.
func (p *parser) short(letters string, rest *[]string) error {
	for letters != "" {
		letter := letters[0]
		letters = letters[1:]
		o := p.byLetter(letter)
		if o == nil {
			return p.bad("invalid option -- '%c'", letter)
		}
		value := ""
		if o.takes != "" {
			if value, letters = letters, ""; value == "" {
				if len(*rest) == 0 {
					return p.bad("option requires an argument -- '%c'", letter)
				}
				value, *rest = (*rest)[0], (*rest)[1:]
			}
		}
		if err := p.set(o, value); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) byLetter(letter byte) *option {
	for i := range p.table {
		if p.table[i].letter == letter {
			return &p.table[i]
		}
	}
	return nil
}

// maxOptionFiles is how deep files with options may name others.
const maxOptionFiles = 16

// set notes an option. Those of a file count as if they stood in its place.
func (p *parser) set(o *option, value string) error {
	switch {
	case o.takes == "":
		p.found[o.name] = "yes"
		return nil
	case o.name != "options":
		p.found[o.name] = value
		return nil
	}
	if p.depth++; p.depth > maxOptionFiles {
		return fmt.Errorf("--options %s: the files name one another", value)
	}
	defer func() { p.depth-- }()
	text, err := os.ReadFile(value)
	if err != nil {
		return err
	}
	args, err := words(string(text))
	if err != nil {
		return fmt.Errorf("--options %s: %w", value, err)
	}
	return p.all(args)
}

// words parts a text at spaces outside of quotes; # begins a comment.
func words(text string) (list []string, err error) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for line != "" && line[0] != '#' {
			end := strings.IndexAny(line, " \t")
			if quote := line[0]; quote == '"' || quote == '\'' {
				if end = strings.IndexByte(line[1:], quote); end < 0 {
					return nil, fmt.Errorf("a quotation has no end: %s", line)
				}
				list = append(list, line[1:end+1])
				line = strings.TrimSpace(line[end+2:])
				continue
			}
			if end < 0 {
				end = len(line)
			}
			list = append(list, line[:end])
			line = strings.TrimSpace(line[end:])
		}
	}
	return list, nil
}
