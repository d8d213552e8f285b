package ike

import (
	"container/list"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"net/netip"
	"time"

	"github.com/ipsecd/ipsecd/ike/wire"
)

// halfOpenSAs are the IKE SAs that peers have begun and not authenticated.
type halfOpenSAs struct {
	total int
	order list.List // of *ikeSA, the oldest first
	perIP map[netip.Addr]*list.List
	jobs  map[netip.Addr]int // their key exchanges under way, by address
	busy  int                // the sum of jobs
}

// halfOpenPlace is where one stands in them.
type halfOpenPlace struct {
	ip        netip.Addr // it is counted under this address; invalid: it is not in there
	all, same *list.Element
}

func (c *halfOpenSAs) init() {
	c.perIP = map[netip.Addr]*list.List{}
	c.jobs = map[netip.Addr]int{}
}

// addJob and endJob count the key exchanges of an address.
func (c *halfOpenSAs) addJob(ip netip.Addr) {
	c.jobs[ip]++
	c.busy++
}

func (c *halfOpenSAs) endJob(ip netip.Addr) {
	c.busy--
	if c.jobs[ip]--; c.jobs[ip] == 0 {
		delete(c.jobs, ip)
	}
}

// of returns how many there are from an address.
func (c *halfOpenSAs) of(ip netip.Addr) int {
	if l := c.perIP[ip]; l != nil {
		return l.Len()
	}
	return 0
}

// addHalfOpen begins to count an SA as half open, until it is established or
// half-open time is over.
func (e *Engine) addHalfOpen(sa *ikeSA) {
	h, ip := &e.halfOpen, sa.remote.Addr()
	if h.perIP[ip] == nil {
		h.perIP[ip] = list.New()
	}
	h.total++
	sa.halfOpen = halfOpenPlace{ip, h.order.PushBack(sa), h.perIP[ip].PushBack(sa)}
	e.setSATimer(sa, timerHalfOpen, e.now.Add(e.cfg.Timing.HalfOpenTimeout))
}

// forgetHalfOpen is its end.
func (e *Engine) forgetHalfOpen(sa *ikeSA) {
	h, place := &e.halfOpen, sa.halfOpen
	if !place.ip.IsValid() {
		return
	}
	h.total--
	h.order.Remove(place.all)
	h.perIP[place.ip].Remove(place.same)
	if h.of(place.ip) == 0 {
		delete(h.perIP, place.ip)
	}
	sa.halfOpen = halfOpenPlace{}
	e.timers.stop(&sa.timers[timerHalfOpen])
}

// halfOpenTimeout ends an SA whose initiator went silent. Nothing is known
// about that peer, so no connection is blamed.
func (e *Engine) halfOpenTimeout(sa *ikeSA) {
	e.strangerAlert(sa, AlertHalfOpenTimeout)
	e.strangerNote(sa, "deleting half open IKE_SA with %v after timeout", sa.remote)
	e.counters.Negotiations[NegotiationKey{Initiator: false, OK: false}]++
	e.destroySA(sa, "half open for too long")
}

// cookieNeeded reports whether a new IKE_SA_INIT request must come with a cookie: from the thresholds on, and
// wherever another half-open SA would have to go for it.
func (e *Engine) cookieNeeded(ip netip.Addr) bool {
	l, h := e.cfg.Limits, &e.halfOpen
	return h.total >= l.HalfOpenTotal || h.of(ip) >= l.HalfOpenPerIP ||
		l.CookieThreshold > 0 && h.total >= l.CookieThreshold ||
		l.CookiePerIP > 0 && h.of(ip) >= l.CookiePerIP
}

// makeRoom applies the limits on half-open SAs. The oldest goes for a new one, of the same address where that
// has too many: whoever floods has long filled the table with SAs that never get on, and an honest peer needs its place for
// one round trip only. It reports whether there is room.
func (e *Engine) makeRoom(ip netip.Addr) bool {
	l, h := e.cfg.Limits, &e.halfOpen
	switch {
	case h.busy >= maxInitJobs || h.jobs[ip] >= maxInitJobs/2:
		return false
	case h.of(ip) >= l.HalfOpenPerIP && !e.evictHalfOpen(h.perIP[ip]):
		return false
	case h.total >= l.HalfOpenTotal && !e.evictHalfOpen(&h.order):
		return false
	}
	return true
}

// evictHalfOpen ends the oldest SA of a list, but none whose peer has shown that it has the keys.
func (e *Engine) evictHalfOpen(order *list.List) bool {
	if order == nil {
		return false
	}
	for el := order.Front(); el != nil; el = el.Next() {
		if sa := el.Value.(*ikeSA); !sa.in.answering || sa.open == nil {
			e.drop("half-open for newer ones")
			e.counters.Negotiations[NegotiationKey{Initiator: false, OK: false}]++
			e.destroySA(sa, "its place was needed")
			return true
		}
	}
	return false
}

// cookieJar makes and checks cookies without remembering whom they went to
// (RFC 7296 section 2.6). Two secrets are valid: that of now and the one before.
type cookieJar struct {
	secrets [2][32]byte
	version uint32
	since   time.Time
}

const cookieLen = 4 + sha256.Size

// cookie returns <version> | HMAC(<secret>, Ni | IPi | SPIi).
func (e *Engine) cookie(version uint32, ip netip.Addr, spi wire.SPI, ni []byte) []byte {
	mac := hmac.New(sha256.New, e.cookies.secrets[version%2][:])
	mac.Write(ni)
	mac.Write(ip.AsSlice())
	mac.Write(spi.Bytes())
	return mac.Sum(binary.BigEndian.AppendUint32(nil, version))
}

// newCookie returns the cookie to demand, with a new secret where the old one
// has served its time.
func (e *Engine) newCookie(ip netip.Addr, spi wire.SPI, ni []byte) []byte {
	j := &e.cookies
	if j.version == 0 || e.now.Sub(j.since) >= e.cfg.Timing.CookieLifetime {
		if j.version == 0 {
			e.random(j.secrets[0][:])
		}
		j.version++
		j.since = e.now
		e.random(j.secrets[j.version%2][:])
	}
	return e.cookie(j.version, ip, spi, ni)
}

// cookieValid checks a returned cookie.
func (e *Engine) cookieValid(got []byte, ip netip.Addr, spi wire.SPI, ni []byte) bool {
	j := &e.cookies
	if len(got) != cookieLen || j.version == 0 {
		return false
	}
	version := binary.BigEndian.Uint32(got)
	if version != j.version && version != j.version-1 || e.now.Sub(j.since) >= 2*e.cfg.Timing.CookieLifetime {
		return false
	}
	return hmac.Equal(got, e.cookie(version, ip, spi, ni))
}
