// Package srcroute keeps routes that give the traffic of policy-based tunnels its
// source address, as users of strongSwan know them: in a table of their own, which
// one rule consults before the main one. A gateway that has an address in its local
// network then speaks from that address to the remote network, whatever address its
// uplink has.
//
// The table and the rule are ours alone: what else is in the table is removed.
package srcroute

// The table and the preference of its rule, unless the configuration has others.
const (
	DefaultTable    = 220
	DefaultPriority = 220
)
