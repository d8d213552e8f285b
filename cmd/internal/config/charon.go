package config

import (
	"fmt"
	"math"
	"strings"

	"github.com/ipsecd/ipsecd/cmd/internal/config/settings"
)

// charon reads the section of that name of strongswan.conf: the options that
// have a counterpart here. The others are named once in a warning.
func (l *loader) charon(sec *settings.Section) {
	r := l.section(sec, "charon", "charon")
	limits, timing := &l.config.IKE.Limits, &l.config.IKE.Timing
	read(r, "retransmit_timeout", &timing.RetransmitTimeout, positive(parseSeconds))
	read(r, "retransmit_base", &timing.RetransmitBase, parseBase)
	read(r, "retransmit_tries", &timing.RetransmitTries, parseTries)
	read(r, "retransmit_jitter", &timing.RetransmitJitter, parsePercent)
	read(r, "retransmit_limit", &timing.RetransmitLimit, parseSeconds)
	read(r, "keep_alive", &timing.KeepAlive, parseDuration)
	read(r, "half_open_timeout", &timing.HalfOpenTimeout, parseDuration)
	read(r, "delete_rekeyed_delay", &timing.DeleteDelay, parseDuration)
	read(r, "cookie_threshold", &limits.CookieThreshold, parseThreshold)
	read(r, "cookie_threshold_ip", &limits.CookiePerIP, parseThreshold)
	read(r, "block_threshold", &limits.HalfOpenPerIP, parseThreshold)
	read(r, "init_limit_half_open", &limits.HalfOpenTotal, parseThreshold)
	l.fragmentSizes(r)
	makeBeforeBreak := true
	read(r, "make_before_break", &makeBeforeBreak, parseBool)
	l.config.IKE.BreakBeforeMake = !makeBeforeBreak
	follow := true
	read(r, "follow_redirects", &follow, parseBool)
	l.config.IKE.IgnoreRedirects = !follow
	read(r, "prefer_best_path", &l.config.IKE.PreferBestPath, parseBool)
	announce := true
	read(r, "signature_authentication", &announce, parseBool)
	l.config.IKE.OldSignatures = !announce
	read(r, "port", &l.config.Ports.IKE, parsePort)
	read(r, "port_nat_t", &l.config.Ports.NATT, parsePort)
	read(r, "replay_window", &l.child.ReplayWindow, number[uint32](0, maxReplayWindow))
	l.charonRoutes(r)
	l.virtualIPs(r)
	l.charonWays(r)
	r.known["filelog"], r.known["syslog"], r.known["journal"] = true, true, true
	l.charonLogs(sec)
	r.known["plugins"] = true
	l.revocation(sec.Section("plugins").Section("revocation"))
	updown := l.section(sec.Section("plugins").Section("updown"), "charon.plugins.updown", "charon.plugins.updown")
	read(updown, "dns_handler", &l.config.Updown.DNS, parseBool)
	vici := l.section(sec.Section("plugins").Section("vici"), "charon.plugins.vici", "charon.plugins.vici")
	read(vici, "socket", &l.config.Control.VICI, parseVICI)

	if others := l.otherOptions(r); len(others) > 0 {
		l.warn(sec.Position, "charon: without effect here: %s", strings.Join(others, ", "))
	}
}

// The least that IPv4 and IPv6 hosts must take is strongSwan's meaning of a fragment size of 0.
const (
	leastFragment4, leastFragment6 = 576, 1280
	minFragmentSize                = 256 // leaves room for content with every cipher
)

// fragmentSizes reads how long fragments of IKE messages may be.
func (l *loader) fragmentSizes(r *reader) {
	parse := func(s string) (int, error) {
		n, err := number[int](0, math.MaxUint16)(s)
		if err != nil || n != 0 && n < minFragmentSize {
			return 0, fmt.Errorf("expected 0, or a number from %d to %d", minFragmentSize, math.MaxUint16)
		}
		return n, nil
	}
	both := -1
	read(r, "fragment_size", &both, parse)
	for _, f := range []struct {
		key   string
		least int
		size  *int
	}{{"fragment_size_v4", leastFragment4, &l.config.IKE.FragmentSize4}, {"fragment_size_v6", leastFragment6, &l.config.IKE.FragmentSize6}} {
		size := both
		read(r, f.key, &size, parse)
		if size == 0 {
			size = f.least
		}
		if size > 0 {
			*f.size = size
		}
	}
}

// harmlessOptions say how charon is put together; there is nothing to do about them.
var harmlessOptions = map[string]bool{"load": true, "load_modular": true}

// otherOptions lists the options that nobody asked for, those of plug-ins too.
func (l *loader) otherOptions(r *reader) []string {
	var out []string
	add := func(sec *settings.Section, known map[string]bool, path string) {
		for _, k := range sec.Keys() {
			if !known[k.Name] && !harmlessOptions[k.Name] {
				out = append(out, path+k.Name)
			}
		}
		for _, s := range sec.Sections() {
			if !known[s.Name] && !empty(s) {
				out = append(out, path+s.Name)
			}
		}
	}
	add(r.sec, r.known, "")
	for _, p := range r.sec.Section("plugins").Sections() {
		known := l.schema["charon.plugins."+p.Name]
		if p.Name == "stroke" {
			known = map[string]bool{"allow_swap": true, "secrets_file": true}
		}
		add(p, known, "plugins."+p.Name+".")
	}
	return out
}

// empty reports whether nothing is set in a section, as in the files that a
// package brings along.
func empty(s *settings.Section) bool {
	if len(s.Keys()) > 0 {
		return false
	}
	for _, sub := range s.Sections() {
		if !empty(sub) {
			return false
		}
	}
	return true
}

// revocation reads the section of that plug-in.
func (l *loader) revocation(sec *settings.Section) {
	r := l.section(sec, "charon.plugins.revocation", "charon.plugins.revocation")
	read(r, "enable_ocsp", &l.config.Revocation.OCSP, parseBool)
	read(r, "enable_crl", &l.config.Revocation.CRL, parseBool)
	read(r, "timeout", &l.config.Revocation.Timeout, positive(parseSeconds))
}

// parseThreshold reads a number of half-open IKE SAs; strongSwan's 0 is no
// threshold.
func parseThreshold(s string) (int, error) {
	n, err := parseCount(s)
	if err == nil && n == 0 {
		n = math.MaxInt32
	}
	return n, err
}
