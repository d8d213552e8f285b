package vici

import (
	"slices"
	"sync"

	"github.com/ipsecd/ipsecd/ike"
)

// counter is one of charon's counters.
type counter struct {
	name  string
	value uint64
}

// baseline is what the counters were when a client last reset them: the
// engine's own, which metrics read, only ever grow.
type baseline struct {
	mu sync.Mutex
	at map[string]map[string]uint64 // by connection; empty: the global ones
}

func (b *baseline) reset(connection string, list []counter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := map[string]uint64{}
	for _, k := range list {
		at[k.name] = k.value
	}
	if b.at == nil {
		b.at = map[string]map[string]uint64{}
	}
	b.at[connection] = at
}

// since returns the counters from the last reset on.
func (b *baseline) since(connection string, list []counter) []counter {
	b.mu.Lock()
	defer b.mu.Unlock()
	list = slices.Clone(list)
	for i := range list {
		list[i].value -= b.at[connection][list[i].name]
	}
	return list
}

// counters are those that a client sees, of a connection or, without a name, of all of IKE. There are none of a connection
// for which nothing has been counted since the last reset.
func (c *call) counters(connection string) []counter {
	k := &c.ctl.Status().Engine.Counters
	if connection == "" {
		return c.conn.srv.counted.since("", globalCounters(k))
	}
	i := slices.IndexFunc(k.Connections, func(n ike.ConnectionCounters) bool { return n.Connection == connection })
	if i < 0 {
		return nil
	}
	list := c.conn.srv.counted.since(connection, connectionCounters(&k.Connections[i]))
	if !slices.ContainsFunc(list, func(k counter) bool { return k.value != 0 }) {
		return nil
	}
	return list
}

// countedNames are the names for which the keys name and all ask: the empty one, the global counters', without either.
func (c *call) countedNames() (names []string) {
	if !c.flag("all") {
		return []string{c.req.Keys["name"]}
	}
	for _, k := range c.ctl.Status().Engine.Counters.Connections {
		names = append(names, k.Connection)
	}
	return names
}

// getCounters answers a section of counters for the connection name, for each with all, and else that without a name.
func (c *call) getCounters() error {
	c.current() // what has just happened counts
	found := c.flag("all")
	b := c.reply
	b.Section("counters", func() {
		for _, name := range c.countedNames() {
			list := c.counters(name)
			if list == nil {
				continue
			}
			found = true
			b.Section(name, func() {
				for _, k := range list {
					b.Keyf(k.name, "%d", k.value)
				}
			})
		}
	})
	if !found {
		c.reply.Key("success", "no")
		c.reply.Key("errmsg", "no counters found for this connection")
		return nil
	}
	return c.ok()
}

// resetCounters makes counters start from zero again.
func (c *call) resetCounters() error {
	c.current()
	k := &c.ctl.Status().Engine.Counters
	for _, name := range c.countedNames() {
		if name == "" {
			c.conn.srv.counted.reset("", globalCounters(k))
			continue
		}
		for i := range k.Connections {
			if k.Connections[i].Connection == name {
				c.conn.srv.counted.reset(name, connectionCounters(&k.Connections[i]))
			}
		}
	}
	return c.ok()
}

// unknownSPI is the engine's reason for dropping messages that charon counts apart.
const unknownSPI = "unknown SPI"

// globalCounters lists charon's counters in its order.
func globalCounters(k *ike.Counters) []counter {
	var n ike.ConnectionCounters
	for key, count := range k.Rekeys {
		switch {
		case !key.OK:
		case key.Child:
			n.ChildRekeys += count
		case key.Initiator:
			n.IKERekeysInitiated += count
		default:
			n.IKERekeysResponded += count
		}
	}
	exchanges := map[string]*ike.ExchangeCounters{
		"IKE_SA_INIT": &n.SAInit, "IKE_AUTH": &n.Auth, "CREATE_CHILD_SA": &n.CreateChild, "INFORMATIONAL": &n.Informational,
	}
	for key, count := range k.Messages {
		if x := exchanges[key.Exchange]; x != nil {
			*direction(x, key.Inbound, key.Request) += count
		}
	}
	for reason, count := range k.Invalid {
		if reason != unknownSPI {
			n.Malformed += count
		}
	}
	return countersOf(&n, k.Invalid[unknownSPI])
}

func direction(x *ike.ExchangeCounters, inbound, request bool) *uint64 {
	switch {
	case inbound && request:
		return &x.InRequests
	case inbound:
		return &x.InResponses
	case request:
		return &x.OutRequests
	}
	return &x.OutResponses
}

func connectionCounters(n *ike.ConnectionCounters) []counter { return countersOf(n, 0) }

func countersOf(n *ike.ConnectionCounters, invalidSPI uint64) []counter {
	list := []counter{
		{"ike-rekey-init", n.IKERekeysInitiated}, {"ike-rekey-resp", n.IKERekeysResponded}, {"child-rekey", n.ChildRekeys},
		{"invalid", n.Malformed}, {"invalid-spi", invalidSPI},
	}
	for _, x := range []struct {
		name string
		ike.ExchangeCounters
	}{{"ike-init", n.SAInit}, {"ike-auth", n.Auth}, {"create-child", n.CreateChild}, {"info", n.Informational}} {
		list = append(list, counter{x.name + "-in-req", x.InRequests}, counter{x.name + "-in-resp", x.InResponses},
			counter{x.name + "-out-req", x.OutRequests}, counter{x.name + "-out-resp", x.OutResponses})
	}
	return list
}
