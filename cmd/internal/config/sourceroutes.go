package config

import "math"

// charonRoutes reads where source routes go.
func (l *loader) charonRoutes(r *reader) {
	c := &l.config.Routing.SourceRoutes
	read(r, "install_routes", &c.Install, parseBool)
	if n := uint32(0); read(r, "routing_table", &n, number[uint32](0, math.MaxInt32)) {
		l.sourceTable(r, n)
	}
	c.Priority = c.Table
	read(r, "routing_table_prio", &c.Priority, number[uint32](1, 32765))
	netlink := l.section(r.sec.Section("plugins").Section("kernel-netlink"), "charon.plugins.kernel-netlink", "charon.plugins.kernel-netlink")
	read(netlink, "install_routes_xfrmi", &c.Interfaces, parseBool)
}

// sourceTable has source routes go into a table. The tables that every host has are others' too: charon would put its
// routes among theirs. Ours are consulted before those all the same, from a table of their own.
func (l *loader) sourceTable(r *reader, n uint32) {
	c := &l.config.Routing.SourceRoutes
	if n == 0 || n >= 253 && n <= 255 {
		l.warn(r.at("routing_table"), "charon.routing_table = %d is not honoured; it would put source routes among those of the host: they go into table %d, which is consulted before", n, c.Table)
		return
	}
	c.Table = n
}
