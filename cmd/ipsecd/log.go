package main

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

const (
	// logLines is how many lines wait for a slow reader of the log; more are lost.
	logLines = 4096
	// logFlush is how long the end waits for that reader.
	logFlush = time.Second
)

// lineLog writes lines, one a call, without ever waiting for who reads them: a full
// disk or a blocked pipe stops no exchange. Lost lines are counted, and the log says
// how many when it moves again.
type lineLog struct {
	lines chan []byte
	lost  atomic.Uint64
	quit  chan struct{} // closed at the end
	done  chan struct{} // closed when all is written
}

func newLineLog(w io.Writer) *lineLog {
	l := &lineLog{lines: make(chan []byte, logLines), quit: make(chan struct{}), done: make(chan struct{})}
	go l.run(w)
	return l
}

// Write takes one line. It fails never: there is nobody to tell.
func (l *lineLog) Write(line []byte) (int, error) {
	select {
	case l.lines <- append([]byte(nil), line...):
	default:
		l.lost.Add(1)
	}
	return len(line), nil
}

func (l *lineLog) run(w io.Writer) {
	defer close(l.done)
	for {
		select {
		case line := <-l.lines:
			l.put(w, line)
			continue
		case <-l.quit:
		}
		select {
		case line := <-l.lines:
			l.put(w, line)
		default:
			return
		}
	}
}

func (l *lineLog) put(w io.Writer, line []byte) {
	if _, err := w.Write(line); err != nil {
		l.lost.Add(1)
		return
	}
	n := l.lost.Swap(0)
	if n == 0 {
		return
	}
	if _, err := fmt.Fprintf(w, "level=WARN msg=\"the log could not be written; lines are missing\" lines=%d\n", n); err != nil {
		l.lost.Add(n)
	}
}

// close writes what waits, as far as the reader takes it in time.
func (l *lineLog) close() {
	close(l.quit)
	select {
	case <-l.done:
	case <-time.After(logFlush):
	}
}
