package config

import (
	"errors"
	"strconv"
	"time"

	"github.com/ipsecd/ipsecd/cmd/internal/config/settings"
)

var (
	parsePercent = number[int](0, 100)
	parseTries   = number[int](1, 100)
	parseLimit   = number[int](1, 10_000_000)
)

// parseBase reads the factor by which each wait is longer than the last.
func parseBase(s string) (float64, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(f >= 1 && f <= 10) {
		return 0, errors.New("expected a number from 1 to 10 such as 1.8")
	}
	return f, nil
}

// limits reads the section of that name.
func (l *loader) limits(sec *settings.Section) {
	r := l.section(sec, "limits", "limits")
	c := &l.config.IKE.Limits
	read(r, "half_open_total", &c.HalfOpenTotal, parseLimit)
	read(r, "half_open_per_ip", &c.HalfOpenPerIP, parseLimit)
	read(r, "cookie_threshold", &c.CookieThreshold, parseCount)
	read(r, "cookie_threshold_ip", &c.CookiePerIP, parseCount)
	read(r, "children_per_ike", &c.ChildrenPerIKE, parseLimit)
	read(r, "per_cpu_sas", &c.PerCPUSAs, parseLimit)
	read(r, "ike_sas_per_peer", &c.IKESAsPerPeer, parseLimit)
	read(r, "queued_exchanges", &c.QueuedExchanges, parseLimit)
	read(r, "half_open_decrypts", &c.HalfOpenDecrypts, parseLimit)
	read(r, "routability_check", &l.config.IKE.RoutabilityCheck, parseBool)
	r.finish()
}

// timing reads the section of that name.
func (l *loader) timing(sec *settings.Section) {
	r := l.section(sec, "timing", "timing")
	c := &l.config.IKE.Timing
	read(r, "retransmit_timeout", &c.RetransmitTimeout, positive(parseSeconds))
	read(r, "retransmit_base", &c.RetransmitBase, parseBase)
	read(r, "retransmit_tries", &c.RetransmitTries, parseTries)
	read(r, "retransmit_limit", &c.RetransmitLimit, parseSeconds)
	read(r, "retransmit_jitter", &c.RetransmitJitter, parsePercent)
	read(r, "half_open_timeout", &c.HalfOpenTimeout, positive(parseSeconds))
	read(r, "keep_alive", &c.KeepAlive, parseSeconds)
	read(r, "delete_delay", &c.DeleteDelay, parseSeconds)
	read(r, "retry_initial", &c.RetryInitial, positive(parseSeconds))
	read(r, "retry_max", &c.RetryMax, positive(parseSeconds))
	read(r, "cookie_lifetime", &c.CookieLifetime, positive(parseSeconds))
	read(r, "updown_timeout", &l.config.Updown.Timeout, positive(parseSeconds))
	r.finish()
	if c.RetryMax < c.RetryInitial {
		l.fail(r.at("retry_max"), "timing.retry_max (%v) is less than retry_initial (%v)", c.RetryMax, c.RetryInitial)
	}
}

// positive refuses zero.
func positive(parse func(string) (time.Duration, error)) func(string) (time.Duration, error) {
	return func(s string) (time.Duration, error) {
		d, err := parse(s)
		if err == nil && d <= 0 {
			err = errors.New("expected more than zero")
		}
		return d, err
	}
}
