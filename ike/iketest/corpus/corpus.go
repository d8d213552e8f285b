// Package corpus holds messages that broke IKE daemons, or are of the kind that does, for the tests of
// this module and of others. README.md lists them; each file says what it is. The package imports nothing of this module.
package corpus

import (
	"embed"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

//go:embed *.hex
var files embed.FS

// The stages at which an input is sent.
const (
	Clear       = "clear"       // a whole datagram, from somebody without keys
	HalfOpen    = "half-open"   // by an initiator after IKE_SA_INIT, in place of its IKE_AUTH
	Established = "established" // by an authenticated peer
)

// Input is one file of the corpus.
type Input struct {
	Name     string
	What     string // one sentence
	Fault    string // where it is published
	Stage    string
	Exchange string
	// First is the type of the first payload in Data, where that is not a whole datagram.
	First uint8
	// Expect is the answer: "silence", "accepted" or the name of the only error notification in it.
	Expect string
	// SA is what becomes of the IKE SA that a protected input arrives on: "kept" or "gone".
	SA string
	// Error is a part of what our decoder says about it; empty if it decodes.
	Error string
	// Data is a datagram without non-ESP marker in the stage Clear, else the payloads inside of an
	// encrypted payload, without padding.
	Data []byte
}

// All returns the corpus in the order of its names.
func All() []Input {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // it is compiled in
	}
	var all []Input
	for _, e := range entries {
		text, err := files.ReadFile(e.Name())
		if err != nil {
			panic(err)
		}
		in, err := parse(strings.TrimSuffix(e.Name(), ".hex"), string(text))
		if err != nil {
			panic(err)
		}
		all = append(all, in)
	}
	return all
}

// parse reads a file: lines "# key: value" after a first "# sentence", then hexadecimal digits.
func parse(name, text string) (Input, error) {
	in := Input{Name: name}
	fields := map[string]*string{
		"fault": &in.Fault, "stage": &in.Stage, "exchange": &in.Exchange, "expect": &in.Expect, "sa": &in.SA, "error": &in.Error,
	}
	var digits strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		comment, isComment := strings.CutPrefix(line, "# ")
		key, value, _ := strings.Cut(comment, ": ")
		switch {
		case !isComment:
			digits.WriteString(line)
		case in.What == "":
			in.What = comment
		case key == "first":
			n, err := strconv.ParseUint(value, 10, 8)
			if err != nil {
				return in, fmt.Errorf("%s.hex: first: %w", name, err)
			}
			in.First = uint8(n)
		case fields[key] != nil:
			*fields[key] = value
		default:
			return in, fmt.Errorf("%s.hex: unknown key %q", name, key)
		}
	}
	var err error
	if in.Data, err = hex.DecodeString(digits.String()); err != nil {
		return in, fmt.Errorf("%s.hex: %w", name, err)
	}
	return in, nil
}
