//go:build lab

package scenario

import (
	"fmt"
	"strings"
)

// connection is one tunnel as one of its ends is configured. Its text is
// swanctl.conf's, and means the same to both daemons.
type connection struct {
	name          string // of the connection and of its only child
	local, remote string // outer addresses
	localID       string
	remoteID      string
	ike, esp      string // proposals
	localTS       string
	remoteTS      string
	ifID          int
	psk           string
	start         bool
	options       string // further keys of the connection
	childOptions  string // further keys of the child
	children      string // further children
}

// reversed is the other end's view; it waits to be called.
func (c connection) reversed() connection {
	c.local, c.remote = c.remote, c.local
	c.localID, c.remoteID = c.remoteID, c.localID
	c.localTS, c.remoteTS = c.remoteTS, c.localTS
	c.start = false
	return c
}

func reversed(conns []connection) []connection {
	var out []connection
	for _, c := range conns {
		out = append(out, c.reversed())
	}
	return out
}

// swanctlConf writes the connections and their secrets.
func swanctlConf(conns []connection) string {
	return connectionsConf(conns) + secretsConf(conns)
}

func connectionsConf(conns []connection) string {
	var b strings.Builder
	b.WriteString("connections {\n")
	for _, c := range conns {
		start := "none"
		if c.start {
			start = "start"
		}
		fmt.Fprintf(&b, `    %s {
        version = 2
        mobike = no
        local_addrs = %s
        remote_addrs = %s
        proposals = %s
        %s
        local {
            auth = psk
            id = %s
        }
        remote {
            auth = psk
            id = %s
        }
        children {
            %s {
                local_ts = %s
                remote_ts = %s
                esp_proposals = %s
                if_id_in = %d
                if_id_out = %d
                start_action = %s
                %s
            }
            %s
        }
    }
`, c.name, c.local, c.remote, c.ike, c.options, c.localID, c.remoteID,
			c.name, c.localTS, c.remoteTS, c.esp, c.ifID, c.ifID, start, c.childOptions, c.children)
	}
	b.WriteString("}\n")
	return b.String()
}

func secretsConf(conns []connection) string {
	var b strings.Builder
	b.WriteString("secrets {\n")
	for _, c := range conns {
		fmt.Fprintf(&b, `    ike-%s {
        id-local = %s
        id-remote = %s
        secret = "%s"
    }
`, c.name, c.localID, c.remoteID, c.psk)
	}
	b.WriteString("}\n")
	return b.String()
}
