package source

import "fmt"

// Position is a place in a file.
type Position struct {
	File string
	Line int
}

// String returns "file:line".
func (p Position) String() string { return fmt.Sprintf("%s:%d", p.File, p.Line) }

// Error is what is wrong at a place.
type Error struct {
	Position
	Text string
}

// Error returns "file:line: text".
func (e *Error) Error() string { return e.Position.String() + ": " + e.Text }

// Errorf makes an Error.
func (p Position) Errorf(format string, args ...any) *Error {
	return &Error{p, fmt.Sprintf(format, args...)}
}
