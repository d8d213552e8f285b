package show

import (
	"strings"
	"unicode"
)

// Style says how text may look.
type Style struct{ Colour bool }

// The colours, as parameters of the terminal's SGR sequence.
const (
	red    = "31;1"
	green  = "32"
	yellow = "33"
)

func (s Style) paint(colour, text string) string {
	if !s.Colour {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// tunnelState writes what is well in small letters, so that what is not stands out
// without colour too.
func (s Style) tunnelState(state string) string {
	switch state {
	case StateUp:
		return s.paint(green, "up")
	case StateConnecting:
		return s.paint(yellow, "connecting")
	}
	return s.paint(red, state)
}

// sessionState shortens RFC 4271's states.
func (s Style) sessionState(state string) string {
	if state == stateEstablished {
		return s.paint(green, "up")
	}
	return s.paint(yellow, strings.ToLower(state))
}

func (s Style) saState(state string) string {
	switch state {
	case "ESTABLISHED", "INSTALLED":
		return s.paint(green, state)
	}
	return s.paint(yellow, state)
}

// Clean takes out of text what a peer may have written into it to speak to the terminal.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, text)
}
