package handover

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// The test binary is the process that takes over, too.
const roleVariable = "HANDOVER_TEST_ROLE"

var secret = bytes.Repeat([]byte("a key \x00"), 20000) // more than a pipe holds

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "first":
		fmt.Println(first())
		os.Exit(1)
	case "second":
		if err := second(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// first opens a socket, sends itself a datagram, and has the second process take over.
func first() error {
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return err
	}
	if _, err := conn.WriteToUDP([]byte("in between"), conn.LocalAddr().(*net.UDPAddr)); err != nil {
		return err
	}
	b := &Bundle{State: bytes.Clone(secret)}
	if err := b.Add("ike-4", conn); err != nil {
		return err
	}
	os.Setenv(roleVariable, "second")
	os.Setenv("FIRST_PID", fmt.Sprint(os.Getpid()))
	conn.Close()
	return b.Exec("/proc/self/exe", os.Args)
}

func second() error {
	b, err := Inherited()
	if err != nil || b == nil {
		return fmt.Errorf("nothing inherited: %v", err)
	}
	if pid := fmt.Sprint(os.Getpid()); pid != os.Getenv("FIRST_PID") {
		return fmt.Errorf("another process ID: %s", pid)
	}
	if !bytes.Equal(b.State, secret) {
		return fmt.Errorf("another state, of %d octets", len(b.State))
	}
	if v, there := os.LookupEnv(variable); there {
		return fmt.Errorf("the next process would see %s=%s", variable, v)
	}
	flags, err := unix.FcntlInt(uintptr(b.Sockets["ike-4"]), unix.F_GETFD, 0)
	if err != nil || flags&unix.FD_CLOEXEC == 0 {
		return fmt.Errorf("the socket would leak to other processes: %#x, %v", flags, err)
	}
	file := b.Take("ike-4")
	conn, err := net.FilePacketConn(file)
	file.Close()
	if err != nil {
		return err
	}
	buf := make([]byte, 100)
	n, _, err := conn.ReadFrom(buf)
	if err != nil || string(buf[:n]) != "in between" {
		return fmt.Errorf("the datagram that came in between is lost: %q, %v", buf[:n], err)
	}
	if b.Take("ike-4") != nil || b.Take("ike-6") != nil {
		return fmt.Errorf("a socket is there that was not handed over")
	}
	return nil
}

// TestExec: state and sockets reach the next process, with what arrived in between.
func TestExec(t *testing.T) {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), roleVariable+"=first")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// TestInheritedRefuses: only sealed memory is believed.
func TestInheritedRefuses(t *testing.T) {
	t.Setenv(variable, "")
	os.Unsetenv(variable)
	if b, err := Inherited(); b != nil || err != nil {
		t.Errorf("something inherited from nobody: %v, %v", b, err)
	}
	file, err := os.CreateTemp(t.TempDir(), "state")
	if err != nil {
		t.Fatal(err)
	}
	unsealed, err := unix.MemfdCreate("open", unix.MFD_ALLOW_SEALING)
	if err != nil {
		t.Fatal(err)
	}
	copied, err := unix.Dup(int(file.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"state":                           "expected",
		"state=1":                         "expected",
		fmt.Sprintf("state=%d", copied):   "no sealed memory",
		fmt.Sprintf("state=%d", unsealed): "no sealed memory",
	} {
		t.Setenv(variable, text)
		if b, err := Inherited(); b != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v; want an error with %q", text, b, err, want)
		}
	}
}
