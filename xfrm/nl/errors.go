package nl

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/mdlayher/netlink"
	vnl "github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/ipsecd/ipsecd/xfrm"
)

// isAnswer reports whether an error is the kernel's answer to a request, in
// contrast to a failure of the socket.
func isAnswer(err error) bool {
	var op *netlink.OpError
	return errors.As(err, &op) && op.Sequence != 0
}

// kernelError says what was refused, and why as far as the kernel tells.
func kernelError(op, object string, err error) error {
	if err == nil {
		return nil
	}
	var text string
	var nlErr *netlink.OpError
	if errors.As(err, &nlErr) {
		text = nlErr.Message
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return &xfrm.Error{Op: op, Object: object, Errno: errno, Text: text}
	}
	var missing vnl.LinkNotFoundError
	if errors.As(err, &missing) {
		return &xfrm.Error{Op: op, Object: object, Errno: unix.ENODEV, Text: missing.Error()}
	}
	return fmt.Errorf("xfrm: %s %s: %w", op, object, err)
}
