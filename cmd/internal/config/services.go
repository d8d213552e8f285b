package config

import (
	"errors"
	"math"
	"net"
	"net/netip"
	"net/url"
	"path"
	"strconv"

	"github.com/ipsecd/ipsecd/cmd/internal/config/settings"
)

// routing reads the section of that name.
func (l *loader) routing(sec *settings.Section) {
	r := l.section(sec, "routing", "routing")
	c := &l.config.Routing
	read(r, "metric", &c.Metric, number[uint32](1, math.MaxUint32))
	read(r, "guard_metric", &c.GuardMetric, number[uint32](1, math.MaxUint32))
	read(r, "max_paths", &c.MaxPaths, number[int](1, maxPaths))
	read(r, "table", &c.Table, parseTable)
	read(r, "sysctls", &c.Sysctls, parseBool)
	r.finish()
	if c.GuardMetric <= c.Metric {
		l.fail(r.at("guard_metric"), "routing.guard_metric = %d: expected more than metric (%d), or the guard routes would hide the learned ones", c.GuardMetric, c.Metric)
	}
}

func parseTable(s string) (uint32, error) {
	if s == "main" {
		return DefaultTable, nil
	}
	n, err := number[uint32](1, math.MaxUint32)(s)
	if err != nil || n == 255 { // the kernel's own
		return 0, errors.New("expected main, or the number of a routing table other than 255")
	}
	return n, nil
}

// protect reads the list of that name, which stands outside of sections.
func (l *loader) protect(r *reader) {
	var ps []netip.Prefix
	read(r, "protect", &ps, list(parseNetwork))
	l.config.Protect, l.config.protectAt = ps, r.at("protect")
}

// metrics reads the section of that name.
func (l *loader) metrics(sec *settings.Section) {
	r := l.section(sec, "metrics", "metrics")
	read(r, "listen", &l.config.Metrics.Listen, parseListen)
	r.finish()
}

// control reads the section of that name.
func (l *loader) control(sec *settings.Section) {
	r := l.section(sec, "control", "control")
	read(r, "vici", &l.config.Control.VICI, parseVICI)
	r.finish()
}

// ports reads the section of that name.
func (l *loader) ports(sec *settings.Section) {
	r := l.section(sec, "ports", "ports")
	read(r, "ike", &l.config.Ports.IKE, parsePort)
	read(r, "nat_t", &l.config.Ports.NATT, parsePort)
	r.finish()
	if l.config.Ports.IKE == l.config.Ports.NATT {
		l.fail(r.sec.Position, "ports.ike and ports.nat_t are both %d; expected two ports", l.config.Ports.IKE)
	}
}

func parseListen(s string) (string, error) {
	_, port, err := net.SplitHostPort(s)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return "", errors.New("expected an address and a port such as 127.0.0.1:9814")
	}
	return s, nil
}

func parseVICI(s string) (string, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil:
	case u.Scheme == "unix" && u.Host == "" && path.IsAbs(u.Path):
		return s, nil
	case u.Scheme == "tcp" && u.Port() != "" && u.Path == "":
		return s, nil
	}
	return "", errors.New("expected unix:///run/charon.vici, or tcp:// with an address and port")
}
