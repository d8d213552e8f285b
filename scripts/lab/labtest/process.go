package labtest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	// stopTimeout is how long a process may take to end after SIGTERM.
	stopTimeout = 30 * time.Second
	// logTail is how many lines of a log a failed test shows.
	logTail = 8
)

// Process is a daemon or a long-running tool in a namespace.
type Process struct {
	Name    string
	LogPath string
	cmd     *exec.Cmd
	done    chan struct{} // closed when it has ended
	start   int64         // length of the log when it began
	err     error         // how it ended; read it after done
}

// Start runs a program in the namespace until it is stopped, at the latest when
// t ends. Its output goes to NAME.log among t's artifacts. A second process of the same name adds to the same log.
func Start(t testing.TB, n *Netns, name string, env []string, program string, args ...string) *Process {
	t.Helper()
	p := &Process{
		Name:    name,
		LogPath: filepath.Join(Artifacts(t), name+".log"),
		cmd:     n.Command(program, args...),
		done:    make(chan struct{}),
	}
	log, err := os.OpenFile(p.LogPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if p.start, err = log.Seek(0, io.SeekEnd); err != nil {
		t.Fatal(err)
	}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if err := p.cmd.Start(); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	t.Cleanup(func() {
		p.Stop(t)
	})
	return p
}

// PID of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Signal sends sig; a process that has ended already is no fault.
func (p *Process) Signal(t testing.TB, sig syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("%s: signal %v: %v", p.Name, sig, err)
	}
}

// Stop asks the process to end, and waits; it kills one that does not.
func (p *Process) Stop(t testing.TB) {
	t.Helper()
	p.Signal(t, syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(stopTimeout):
		t.Errorf("%s: did not end within %v of SIGTERM", p.Name, stopTimeout)
		p.Kill(t)
	}
}

// Kill ends the process without its knowledge (SIGKILL), and waits.
func (p *Process) Kill(t testing.TB) {
	t.Helper()
	p.Signal(t, syscall.SIGKILL)
	<-p.done
}

// Running says whether the process has not ended.
func (p *Process) Running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// Wait waits for the process to end by itself, and returns how it did.
func (p *Process) Wait(t testing.TB, deadline time.Duration) error {
	t.Helper()
	select {
	case <-p.done:
		return p.err
	case <-time.After(deadline):
		t.Fatalf("%s: still running after %v", p.Name, deadline)
		return nil
	}
}

// Log returns what the process has printed.
func (p *Process) Log() string {
	b, err := os.ReadFile(p.LogPath)
	if err != nil {
		return err.Error()
	}
	return string(b[min(p.start, int64(len(b))):])
}

// ready is a condition for WaitFor: cond holds. It gives up at once when the
// process has ended.
func (p *Process) ready(t testing.TB, cond func() error) func() error {
	return func() error {
		if !p.Running() {
			t.Fatalf("%s ended: %v\n%s", p.Name, p.err, tail(p.Log(), logTail))
		}
		return cond()
	}
}

// WaitLog waits for text in the process's log.
func (p *Process) WaitLog(t testing.TB, deadline time.Duration, text string) {
	t.Helper()
	WaitFor(t, deadline, fmt.Sprintf("%q in the log of %s", text, p.Name), p.ready(t, func() error {
		if !strings.Contains(p.Log(), text) {
			return errors.New("not there")
		}
		return nil
	}))
}

func tail(s string, lines int) string {
	l := strings.Split(strings.TrimRight(s, "\n"), "\n")
	return strings.Join(l[max(0, len(l)-lines):], "\n")
}

// startDaemon is Start of something whose log explains a failure: t shows the
// end of it.
func startDaemon(t testing.TB, n *Netns, name string, env []string, program string, args ...string) *Process {
	t.Helper()
	// Cleanups run last to first: this one sees what the process said when it was stopped.
	var p *Process
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("end of %s:\n%s", p.LogPath, tail(p.Log(), logTail))
		}
	})
	p = Start(t, n, name, env, program, args...)
	return p
}
