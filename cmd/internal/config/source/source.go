// Package source opens configuration files and those that they include, within
// bounds, for the parsers of both grammars.
package source

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Limits of what is read, so that a damaged file ends in an error and not in
// the memory of the host.
const (
	MaxIncludeDepth = 16       // files within files
	MaxFiles        = 4096     // files in all
	MaxFileSize     = 16 << 20 // octets of one file
	MaxTotalSize    = 64 << 20 // octets in all
)

// Reader opens files for one parser.
type Reader struct {
	FS       fs.FS    // its root is "/"
	Names    []string // every file read, in order
	Warnings []*Error // what was read and has no effect; parsers add theirs

	open []string // the files that are being read, outermost first
	size int
}

// File reads the file at an absolute path and hands its text to body; from is the
// place that asks for it, without a line for the first. Its error is an *Error,
// wraps that of the file system, or is body's.
func (r *Reader) File(name string, from Position, body func(name, text string) error) error {
	switch {
	case slices.Contains(r.open, name):
		return from.Errorf("%s includes itself", name)
	case len(r.open) >= MaxIncludeDepth:
		return from.Errorf("includes are nested more than %d deep", MaxIncludeDepth)
	case len(r.Names) >= MaxFiles:
		return from.Errorf("more than %d files are included", MaxFiles)
	}
	text, err := r.read(name, from)
	if err != nil {
		return err
	}
	r.Names = append(r.Names, name)
	r.open = append(r.open, name)
	err = body(name, text)
	r.open = r.open[:len(r.open)-1]
	return err
}

func (r *Reader) read(name string, from Position) (string, error) {
	f, err := r.FS.Open(strings.TrimPrefix(name, "/"))
	if err != nil {
		return "", &readError{name, from, err}
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, MaxFileSize+1))
	if err != nil {
		return "", &readError{name, from, err}
	}
	r.size += len(b)
	if len(b) > MaxFileSize || r.size > MaxTotalSize {
		return "", from.Errorf("%s: too long: at most %d octets in one file and %d in all", name, MaxFileSize, MaxTotalSize)
	}
	return string(b), nil
}

// Include calls file for each file that a pattern names, in the order of their
// names. The pattern is relative to the directory of the file that has it. A file
// that is not there is pointed out.
func (r *Reader) Include(pattern string, at Position, file func(name string) error) error {
	name := pattern
	if !path.IsAbs(name) {
		name = path.Join(path.Dir(at.File), name)
	}
	name = path.Clean(name)
	if !strings.ContainsAny(pattern, "*?[") {
		err := file(name)
		if errors.Is(err, fs.ErrNotExist) {
			r.Warnings = append(r.Warnings, at.Errorf("include %s: there is no such file", pattern))
			return nil
		}
		return err
	}
	names, err := fs.Glob(r.FS, strings.TrimPrefix(name, "/"))
	if err != nil {
		return at.Errorf("include %s: %v", pattern, err)
	}
	for _, n := range names {
		if err := file("/" + n); err != nil {
			return err
		}
	}
	return nil
}

// readError keeps the cause, so that callers can ask for fs.ErrNotExist.
type readError struct {
	name string
	from Position
	err  error
}

func (e *readError) Error() string {
	cause := e.err
	var p *fs.PathError
	if errors.As(cause, &p) {
		cause = p.Err
	}
	if e.from.Line == 0 { // the first file: nothing asks for it
		return e.name + ": " + cause.Error()
	}
	return e.from.String() + ": include: " + e.name + ": " + cause.Error()
}

func (e *readError) Unwrap() error { return e.err }
