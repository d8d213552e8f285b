//go:build lab

package scenario

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// smallPipe is the least that a pipe holds: a few lines of the log.
const smallPipe = 4096

// TestFaultLog has ipsecd write its log into a pipe that nobody reads, and that is gone
// later: tunnels are set up and rekeyed as ever.
func TestFaultLog(t *testing.T) {
	needIpsecd(t)
	s := newSites(t)
	l := s.link("tunnel", 1, true)
	ours, theirs := s.conf([]*link{l})
	them := labtest.StartCharon(t, s.them)
	them.Load(t, theirs)
	us := labtest.NewIpsecd(t, s.us, "include swanctl.conf\n", map[string]string{"swanctl.conf": ours})

	pipe := filepath.Join(us.Dir, "log")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	reader, err := os.OpenFile(pipe, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if _, err := unix.FcntlInt(reader.Fd(), unix.F_SETPIPE_SZ, smallPipe); err != nil {
		t.Fatal(err)
	}
	us.Process = labtest.Start(t, s.us, "ipsecd-mute", nil, "sh", "-c", `exec "$0" --config "$1" --vici "unix://$2" --log-level debug 2>"$3"`,
		labtest.ProgramPath(t, "ipsecd"), filepath.Join(us.Dir, "ipsecd.conf"), us.Path, pipe)
	labtest.WaitFor(t, faultTime, "ipsecd", func() error {
		_, err := us.Call("version")
		return err
	})

	us.Initiate(t, l.name)
	r := rekeyer{conn: l.name, us: us.Vici, them: them.Vici, ping: func(t *testing.T) { awaitPing(t, l) }}
	for range 4 {
		r.once(t, func(v labtest.Vici) error { return v.RekeyChild(l.name) }, []labtest.Vici{us.Vici}, r.childSPI)
	}
	if n, err := unix.IoctlGetInt(int(reader.Fd()), unix.TIOCINQ); err != nil || n < smallPipe*3/4 {
		t.Errorf("the pipe holds %d octets: it was never full (%v)", n, err)
	}
	// Without a reader, writing is an error, and by default a deadly signal.
	reader.Close()
	r.once(t, func(v labtest.Vici) error { return v.RekeyIKE(l.name) }, []labtest.Vici{us.Vici}, r.ikeID)
	if !us.Running() {
		t.Error("ipsecd ended")
	}
}
