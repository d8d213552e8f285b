package config

import (
	"errors"
	"math"
)

// charonRoutes reads where source routes go.
func (l *loader) charonRoutes(r *reader) {
	c := &l.config.Routing.SourceRoutes
	read(r, "install_routes", &c.Install, parseBool)
	read(r, "routing_table", &c.Table, parseSourceTable)
	c.Priority = c.Table
	read(r, "routing_table_prio", &c.Priority, number[uint32](1, 32765))
	netlink := l.section(r.sec.Section("plugins").Section("kernel-netlink"), "charon.plugins.kernel-netlink", "charon.plugins.kernel-netlink")
	read(netlink, "install_routes_xfrmi", &c.Interfaces, parseBool)
}

// parseSourceTable reads the number of a routing table that is nobody else's.
func parseSourceTable(s string) (uint32, error) {
	n, err := number[uint32](1, math.MaxInt32)(s)
	if err != nil || n >= 253 && n <= 255 {
		return 0, errors.New("expected the number of a routing table other than 253 to 255")
	}
	return n, nil
}
