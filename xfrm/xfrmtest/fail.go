package xfrmtest

import (
	"slices"
	"strings"
	"syscall"
)

// Calls returns the mutating calls so far, failed ones included, as
// "add SA 10.0.0.1->10.0.0.2 esp spi 0xc0000001".
func (k *Kernel) Calls() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.calls)
}

// ResetCalls forgets the calls so far.
func (k *Kernel) ResetCalls() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.calls = nil
}

// FailOn makes mutating calls fail for which f returns an error. It is asked
// before the call has any effect.
func (k *Kernel) FailOn(f func(call string) error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.failures = append(k.failures, f)
}

// FailCall makes every call fail whose text starts with prefix.
func (k *Kernel) FailCall(prefix string, errno syscall.Errno) {
	k.FailOn(func(call string) error {
		if strings.HasPrefix(call, prefix) {
			return errno
		}
		return nil
	})
}

// FailAt makes the nth mutating call from now fail, counted from 0, once.
func (k *Kernel) FailAt(n int, errno syscall.Errno) {
	k.FailOn(func(string) error {
		n--
		if n == -1 {
			return errno
		}
		return nil
	})
}

// Heal takes back every failure asked for.
func (k *Kernel) Heal() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.failures = nil
}
