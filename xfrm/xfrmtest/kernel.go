package xfrmtest

import (
	"fmt"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ipsecd/ipsecd/xfrm"
)

// Kernel is a fake kernel; make one with New. Its methods are safe for concurrent
// use.
type Kernel struct {
	mu       sync.Mutex
	now      time.Time
	features xfrm.Features
	defaults xfrm.Defaults

	sas      map[xfrm.SAID]*xfrm.SAInfo
	expired  map[xfrm.SAID]bool // soft limit already reported
	policies []*xfrm.PolicyInfo // in order of installation
	nextIdx  uint32
	links    map[string]*xfrm.InterfaceInfo
	devices  map[string]int // devices that are not XFRM interfaces
	nextLink int

	subscribers []*subscriber
	calls       []string
	failures    []func(call string) error
}

var _ xfrm.Kernel = (*Kernel)(nil)

// AllFeatures is what New's kernel can do.
var AllFeatures = xfrm.NewFeatures(xfrm.SADirection, xfrm.PerCPUSAs, xfrm.NATKeepalive,
	xfrm.MappingThreshold, xfrm.DefaultPolicy, xfrm.XFRMInterfaces)

// New returns an empty fake kernel with every feature and two devices, "lo" and
// "eth0". Its clock stands at the start of 2026 until Advance moves it.
func New() *Kernel { return NewWith(AllFeatures) }

// NewWith returns a fake kernel with some features only.
func NewWith(f xfrm.Features) *Kernel {
	return &Kernel{
		now:      time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		features: f,
		sas:      map[xfrm.SAID]*xfrm.SAInfo{},
		expired:  map[xfrm.SAID]bool{},
		links:    map[string]*xfrm.InterfaceInfo{},
		devices:  map[string]int{"lo": 1, "eth0": 2},
		nextLink: 3,
	}
}

// Features returns what the fake can do.
func (k *Kernel) Features() xfrm.Features { return k.features }

// SetDefaults says what happens to packets without a policy.
func (k *Kernel) SetDefaults(d xfrm.Defaults) error {
	return k.call("set default policy", fmt.Sprintf("%+v", d), func() error {
		if err := k.features.Require(xfrm.DefaultPolicy); err != nil {
			return err
		}
		k.defaults = d
		return nil
	})
}

// call runs one mutating operation: records it, lets it fail where it shall, and
// otherwise does it. An errno becomes an xfrm.Error as the real kernel's would.
func (k *Kernel) call(op, object string, do func() error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	call := op + " " + object
	k.calls = append(k.calls, call)
	for _, f := range k.failures {
		if err := f(call); err != nil {
			return wrap(op, object, err)
		}
	}
	return wrap(op, object, do())
}

func wrap(op, object string, err error) error {
	if errno, ok := err.(syscall.Errno); ok {
		return &xfrm.Error{Op: op, Object: object, Errno: errno}
	}
	if e, ok := err.(refusal); ok {
		return &xfrm.Error{Op: op, Object: object, Errno: unix.EINVAL, Text: string(e)}
	}
	return err
}

// refusal is EINVAL with the kernel's explanation.
type refusal string

func (r refusal) Error() string { return string(r) }
