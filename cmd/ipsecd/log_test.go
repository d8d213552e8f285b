package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// A log that nobody reads blocks nobody; afterwards it says what is missing.
func TestLogNeverBlocks(t *testing.T) {
	r, w := io.Pipe()
	l := newLineLog(w)
	const written = 2 * logLines
	for i := range written {
		fmt.Fprintf(l, "line %d\n", i)
	}
	var got bytes.Buffer
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(&got, r)
	}()
	l.close()
	w.Close()
	<-read
	lines := strings.Count(got.String(), "line ")
	lost := 0
	for line := range strings.Lines(got.String()) {
		if _, n, ok := strings.Cut(line, "lines="); ok {
			var count int
			fmt.Sscan(n, &count)
			lost += count
		}
	}
	if lines+lost != written || lines < logLines {
		t.Errorf("%d lines written, %d reported lost, of %d", lines, lost, written)
	}
}

// full fails as a full disk does, until there is room.
type full struct {
	bytes.Buffer
	room bool
}

func (f *full) Write(b []byte) (int, error) {
	if !f.room {
		f.room = true
		return 0, errors.New("no space left on device")
	}
	return f.Buffer.Write(b)
}

func TestLogSurvivesAFullDisk(t *testing.T) {
	var f full
	l := newLineLog(&f)
	fmt.Fprintln(l, "one")
	fmt.Fprintln(l, "two")
	l.close()
	if got := f.String(); !strings.HasPrefix(got, "two\n") || !strings.Contains(got, "lines=1") {
		t.Errorf("log: %q", got)
	}
}
