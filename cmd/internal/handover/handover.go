// Package handover carries what one process of the daemon leaves to the next, which takes its place under the same
// process ID: a state that holds keys, in sealed memory that no file system has, and open sockets, which go on receiving in between.
package handover

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// variable names the file descriptors to the next process: "state=7,ike-4=8".
const variable = "IPSECD_HANDOVER"

const (
	stateName = "state"
	stateSeal = unix.F_SEAL_SEAL | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE
	maxState  = 1 << 30 // octets
)

// Bundle is what is handed over.
type Bundle struct {
	State   []byte
	Sockets map[string]int // file descriptors by name; their owner is the Bundle
}

// Close closes the sockets and wipes the state.
func (b *Bundle) Close() {
	for _, fd := range b.Sockets {
		unix.Close(fd)
	}
	b.Sockets = nil
	clear(b.State)
	b.State = nil
}

// Add adds a copy of an open socket.
func (b *Bundle) Add(name string, conn syscall.Conn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var fd int
	cerr := raw.Control(func(p uintptr) { fd, err = unix.FcntlInt(p, unix.F_DUPFD_CLOEXEC, 0) })
	if err = errors.Join(cerr, err); err != nil {
		return fmt.Errorf("copying socket %s: %w", name, err)
	}
	if b.Sockets == nil {
		b.Sockets = map[string]int{}
	}
	b.Sockets[name] = fd
	return nil
}

// Take gives a socket out, as a file of the caller's; nil if there is none of that name.
func (b *Bundle) Take(name string) *os.File {
	if b == nil {
		return nil
	}
	fd, ok := b.Sockets[name]
	if !ok {
		return nil
	}
	delete(b.Sockets, name)
	return os.NewFile(uintptr(fd), name)
}

// Exec replaces this process by the program, which finds the bundle with Inherited. It returns only if that fails.
func (b *Bundle) Exec(program string, args []string) error {
	memory, err := seal(b.State)
	if err != nil {
		return err
	}
	clear(b.State)
	names := []string{fmt.Sprintf("%s=%d", stateName, memory)}
	for name, fd := range b.Sockets {
		names = append(names, fmt.Sprintf("%s=%d", name, fd))
	}
	sort.Strings(names)
	for _, fd := range append([]int{memory}, values(b.Sockets)...) {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0); err != nil { // it stays open
			return fmt.Errorf("handover: %w", err)
		}
	}
	env := append(without(os.Environ()), variable+"="+strings.Join(names, ","))
	if err := syscall.Exec(program, args, env); err != nil {
		return fmt.Errorf("starting %s in our place: %w", program, err)
	}
	return nil
}

func values(m map[string]int) []int {
	var out []int
	for _, fd := range m {
		out = append(out, fd)
	}
	return out
}

func without(env []string) []string {
	var out []string
	for _, e := range env {
		if !strings.HasPrefix(e, variable+"=") {
			out = append(out, e)
		}
	}
	return out
}

// seal puts the state into memory that nobody can change any more.
func seal(state []byte) (int, error) {
	const flags = unix.MFD_CLOEXEC | unix.MFD_ALLOW_SEALING
	fd, err := unix.MemfdCreate("ipsecd-handover", flags|unix.MFD_NOEXEC_SEAL)
	if errors.Is(err, unix.EINVAL) { // before Linux 6.3
		fd, err = unix.MemfdCreate("ipsecd-handover", flags)
	}
	if err != nil {
		return 0, fmt.Errorf("memory for a handover: %w", err)
	}
	for rest := state; len(rest) > 0; {
		n, err := unix.Write(fd, rest)
		if err != nil {
			unix.Close(fd)
			return 0, fmt.Errorf("memory for a handover: %w", err)
		}
		rest = rest[n:]
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, stateSeal); err != nil {
		unix.Close(fd)
		return 0, fmt.Errorf("sealing the memory of a handover: %w", err)
	}
	return fd, nil
}

// Inherited returns what the process before this one has left, nil if there was none. It is called once, at the start:
// processes that this one starts get nothing of it.
func Inherited() (*Bundle, error) {
	list, there := os.LookupEnv(variable)
	if !there {
		return nil, nil
	}
	os.Unsetenv(variable)
	b := &Bundle{Sockets: map[string]int{}}
	for _, entry := range strings.Split(list, ",") {
		name, number, _ := strings.Cut(entry, "=")
		fd, err := strconv.Atoi(number)
		if err != nil || fd <= 2 {
			b.Close()
			return nil, fmt.Errorf("%s=%q: NAME=FD,... is expected", variable, list)
		}
		unix.CloseOnExec(fd)
		b.Sockets[name] = fd
	}
	memory := b.Take(stateName)
	if memory == nil {
		b.Close()
		return nil, fmt.Errorf("%s=%q has no state", variable, list)
	}
	defer memory.Close()
	var err error
	if b.State, err = read(memory); err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// read reads sealed memory: what can still be changed is not of our making.
func read(memory *os.File) ([]byte, error) {
	if seals, err := unix.FcntlInt(memory.Fd(), unix.F_GET_SEALS, 0); err != nil || seals&stateSeal != stateSeal {
		return nil, fmt.Errorf("the state that was handed over is no sealed memory (seals %#x): %v", seals, err)
	}
	info, err := memory.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > maxState {
		return nil, fmt.Errorf("the state that was handed over has %d octets", info.Size())
	}
	state := make([]byte, info.Size())
	if _, err := io.ReadFull(io.NewSectionReader(memory, 0, info.Size()), state); err != nil {
		return nil, fmt.Errorf("reading the state that was handed over: %w", err)
	}
	return state, nil
}
