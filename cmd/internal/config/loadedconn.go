package config

import (
	"maps"

	"github.com/ipsecd/ipsecd/cmd/internal/config/settings"
	"github.com/ipsecd/ipsecd/ike"
)

// readConnection is a connection of a client as it was read, and what else came of it. It is remembered: loading one more
// does not read a thousand others again, and they stay the very same.
type readConnection struct {
	connection  *ike.Connection
	warnings    []Warning
	files       []Credential // that it names
	credentials bool         // it needs those of the folders
}

// loadedConnections adds the connections that clients have loaded.
func (f *Files) loadedConnections(l *loader, list []*settings.Section) {
	for _, s := range list {
		c, ok := f.known[s]
		if !ok {
			part := f.read.blank()
			c = readConnection{part.connection(s), part.config.Warnings, part.config.Credentials, part.creds.used}
			for _, e := range part.unsupported {
				part.errs = append(part.errs, e)
			}
			if len(part.errs) > 0 {
				l.errs = append(l.errs, part.errs...)
				continue
			}
			f.known[s] = c
		}
		l.config.IKE.Connections = append(l.config.IKE.Connections, c.connection)
		l.config.Warnings = append(l.config.Warnings, c.warnings...)
		l.config.Credentials = union(l.config.Credentials, c.files)
		l.creds.used = l.creds.used || c.credentials
	}
	f.forget(list)
}

// forget drops what is known of connections that are no longer loaded, once it is most of it.
func (f *Files) forget(list []*settings.Section) {
	if len(f.known) <= 2*len(list) {
		return
	}
	loaded := make(map[*settings.Section]bool, len(list))
	for _, s := range list {
		loaded[s] = true
	}
	maps.DeleteFunc(f.known, func(s *settings.Section, _ readConnection) bool { return !loaded[s] })
}
