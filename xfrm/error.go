package xfrm

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// Error is a refusal by the kernel. It unwraps to the errno.
type Error struct {
	// Op is what was tried, such as "add SA"; Object names what it was tried on.
	Op, Object string
	Errno      syscall.Errno
	// Text is the kernel's own explanation (extended acknowledgement), if it gave one.
	Text string
}

// Error says what failed, on what, why, and what to do where that is known.
func (e *Error) Error() string {
	s := fmt.Sprintf("xfrm: %s %s: %s", e.Op, e.Object, errnoName(e.Errno))
	if e.Text != "" {
		return s + ": " + e.Text
	}
	if h := hint(e.Errno); h != "" {
		return s + ": " + h
	}
	return s + ": " + e.Errno.Error()
}

func errnoName(errno syscall.Errno) string {
	if errno == unix.EOPNOTSUPP {
		return "EOPNOTSUPP" // not its other name, ENOTSUP
	}
	if name := unix.ErrnoName(errno); name != "" {
		return name
	}
	return errno.Error()
}

// Unwrap returns the errno.
func (e *Error) Unwrap() error { return e.Errno }

// hint explains an errno that the kernel left bare.
func hint(errno syscall.Errno) string {
	switch errno {
	case unix.EEXIST:
		return "it is installed already"
	case unix.ESRCH, unix.ENOENT:
		return "the kernel has no such object or algorithm"
	case unix.EPERM:
		return "CAP_NET_ADMIN is needed"
	case unix.EPROTONOSUPPORT:
		return "the kernel lacks the protocol (modules esp4, esp6, ah4, ah6, xfrm_user)"
	case unix.ENOSYS:
		return "the kernel lacks an algorithm of this SA"
	case unix.EOPNOTSUPP:
		return "the kernel does not support this (for interfaces: module xfrm_interface, Linux 4.19)"
	}
	return ""
}
