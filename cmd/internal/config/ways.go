package config

import "strings"

// charonWays reads which links and routing tables IKE passes over.
func (l *loader) charonWays(r *reader) {
	w := &l.config.Routing.Ways
	read(r, "interfaces_use", &w.UseLinks, list(parseInterfaceName))
	read(r, "interfaces_ignore", &w.IgnoreLinks, list(parseInterfaceName))
	if len(w.UseLinks) > 0 && len(w.IgnoreLinks) > 0 {
		l.warn(r.at("interfaces_ignore"), "charon.interfaces_ignore is without effect beside interfaces_use")
	}
	read(r, "ignore_routing_tables", &w.IgnoreTables, func(s string) ([]uint32, error) {
		return list(parseTable)(strings.Join(strings.Fields(s), ","))
	})
}
