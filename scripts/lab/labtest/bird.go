package labtest

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// Bird is a BIRD instance in a namespace.
type Bird struct {
	*Process
	socket string
}

// StartBird starts BIRD and waits until it answers.
func StartBird(t testing.TB, n *Netns, conf string) *Bird {
	t.Helper()
	dir := RunDir(t)
	b := &Bird{socket: filepath.Join(dir, "ctl")}
	file := WriteFile(t, filepath.Join(dir, "bird.conf"), conf)
	b.Process = startDaemon(t, n, "bird-"+n.Role, nil, "bird", "-f", "-c", file, "-s", b.socket)
	WaitFor(t, startTimeout, "bird's socket in "+n.Role, b.ready(t, func() error {
		_, err := b.Ctl("show", "status")
		return err
	}))
	return b
}

// Ctl runs a birdc command.
func (b *Bird) Ctl(args ...string) (string, error) {
	return run("", "birdc", append([]string{"-s", b.socket}, args...)...)
}

// Established returns the names of the BGP sessions that are up.
func (b *Bird) Established(t testing.TB) []string {
	t.Helper()
	out, err := b.Ctl("show", "protocols")
	if err != nil {
		t.Fatal(err)
	}
	return birdEstablished(out)
}

// birdEstablished reads 'show protocols': name, protocol, table, state, since, info.
func birdEstablished(out string) []string {
	var up []string
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) >= 6 && f[1] == "BGP" && f[len(f)-1] == "Established" {
			up = append(up, f[0])
		}
	}
	return up
}

// WantEstablished is a condition for WaitFor: n sessions are up.
func (b *Bird) WantEstablished(t testing.TB, n int) func() error {
	return b.ready(t, func() error {
		if up := b.Established(t); len(up) != n {
			return fmt.Errorf("%d BGP sessions are up %v, want %d", len(up), up, n)
		}
		return nil
	})
}
