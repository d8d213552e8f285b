package xfrmtest

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/ipsecd/ipsecd/xfrm"
)

// Advance moves the clock and lets SAs expire by time.
func (k *Kernel) Advance(d time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.now = k.now.Add(d)
	for _, sa := range k.sortedSAs() {
		k.expire(sa.ID())
	}
}

// Traffic counts packets through an SA and lets it expire by volume. It fails with
// ESRCH if there is no such SA, as the packets would.
func (k *Kernel) Traffic(id xfrm.SAID, bytes, packets uint64) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	sa := k.sas[id]
	if sa == nil {
		return wrap("use SA", id.String(), unix.ESRCH)
	}
	sa.Bytes += bytes
	sa.Packets += packets
	if sa.Dir == xfrm.DirOut {
		sa.Replay.OutSeq += packets
	} else {
		sa.Replay.InSeq += packets
	}
	if sa.Used.IsZero() {
		sa.Used = k.now
	}
	sa.LastUsed = k.now
	k.expire(id)
	return nil
}

// expire reports reached limits: soft ones once, hard ones with the SA's removal.
func (k *Kernel) expire(id xfrm.SAID) {
	sa := k.sas[id]
	l := sa.Limits
	age, used := k.now.Sub(sa.Added), time.Duration(0)
	if !sa.Used.IsZero() {
		used = k.now.Sub(sa.Used)
	}
	hard := reached(sa.Bytes, l.HardBytes) || reached(sa.Packets, l.HardPackets) ||
		reached(age, l.HardAdd) || reached(used, l.HardUse)
	soft := reached(sa.Bytes, l.SoftBytes) || reached(sa.Packets, l.SoftPackets) ||
		reached(age, l.SoftAdd) || reached(used, l.SoftUse)
	if !hard && (!soft || k.expired[id]) {
		return
	}
	info := cloneInfo(sa)
	info.AEAD, info.Crypt, info.Auth = nil, nil, nil
	if hard {
		k.remove(id)
	} else {
		k.expired[id] = true
	}
	k.emit(xfrm.ExpireEvent{SA: info, Hard: hard})
}

func reached[T uint64 | time.Duration](value, limit T) bool { return limit != 0 && value >= limit }

// Expire makes the kernel report a limit of an SA, whatever its limits are.
func (k *Kernel) Expire(id xfrm.SAID, hard bool) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	sa := k.sas[id]
	if sa == nil {
		return wrap("expire SA", id.String(), unix.ESRCH)
	}
	info := cloneInfo(sa)
	info.AEAD, info.Crypt, info.Auth = nil, nil, nil
	if hard {
		k.remove(id)
	}
	k.emit(xfrm.ExpireEvent{SA: info, Hard: hard})
	return nil
}
