package ike

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/ipsecd/ipsecd/ike/wire"
)

// assignAddresses answers the initiator's request for virtual addresses. Where it has asked for none and must, or gets none, the
// answer is a notification, and no CHILD_SA is made (RFC 7296 section 3.15.4).
func (e *Engine) assignAddresses(sa *ikeSA, m *message) (payloads []wire.Payload, refused bool) {
	pools := sa.conn.cfg.Pools
	asked := addresses(m.configuration(wire.CFGRequest), wire.ConfigInternalIP4Address, wire.ConfigInternalIP6Address)
	if len(asked) == 0 {
		if len(pools) == 0 {
			return nil, false
		}
		e.alert(sa, AlertVirtualIP)
		e.refusal(sa.conn, fmt.Sprintf("expected a virtual IP request from '%v', sending FAILED_CP_REQUIRED: the peer must ask for an address, or pools must not be set %s",
			sa.remoteID, sa.conn.cfg.at("pools")))
		return []wire.Payload{notification(wire.NotifyFailedCPRequired, nil)}, true
	}
	e.releaseForgotten(sa, m)
	reply := &wire.Configuration{CFGType: wire.CFGReply}
	sa.virtual.leasedTo = sa.remote
	for _, a := range asked {
		e.note(sa, LevelInfo, "IKE", "peer requested virtual IP %s", orAny(a))
		l := e.acquireAddress(pools, sa.remoteID, a, sa.remote)
		if l == nil {
			e.note(sa, LevelInfo, "IKE", "no virtual IP found for %s requested by '%v'", orAny(a), sa.remoteID)
			continue
		}
		e.note(sa, LevelInfo, "IKE", "assigning virtual IP %v to peer '%v'", l.addr, sa.remoteID)
		sa.virtual.leases = append(sa.virtual.leases, l)
		reply.Attributes = append(reply.Attributes, addressAttribute(l.addr))
	}
	if len(sa.virtual.leases) == 0 {
		e.alert(sa, AlertVirtualIP)
		e.refusal(sa.conn, fmt.Sprintf("no virtual IP found for '%v', sending INTERNAL_ADDRESS_FAILURE: %s %s", sa.remoteID, e.explainPools(pools), sa.conn.cfg.at("pools")))
		return []wire.Payload{notification(wire.NotifyInternalAddressFailure, nil)}, true
	}
	reply.Attributes = append(reply.Attributes, e.poolAttributes(pools, sa.virtual.remote())...)
	return []wire.Payload{reply}, false
}

// orAny writes an address as charon does.
func orAny(a netip.Addr) string {
	if a.IsUnspecified() && a.Is6() {
		return "%any6"
	} else if a.IsUnspecified() {
		return "%any"
	}
	return a.String()
}

// releaseForgotten gives back what the peer has had by IKE SAs that it has forgotten, so that it gets the same again.
func (e *Engine) releaseForgotten(sa *ikeSA, m *message) {
	if m.notify(wire.NotifyInitialContact) == nil || sa.conn.cfg.Unique == UniqueNever {
		return
	}
	for _, o := range e.older(sa) {
		e.releaseAddresses(o)
	}
}

// explainPools says what is wrong with pools that give no address.
func (e *Engine) explainPools(names []string) string {
	if len(names) == 0 {
		return "the connection has no pools"
	}
	text := "no pool has an address of that family"
	for _, name := range names {
		p := e.pools.byName[name]
		if p == nil || p.removed {
			return "there is no pool " + name
		}
		if size := p.cfg.Size; size > 0 && p.fresh >= size && len(p.offline) == 0 {
			return fmt.Sprintf("pool '%s' is full, unable to assign address: all %d are in use", name, size)
		}
	}
	return text
}

// poolAttributes returns what the pools of a peer's addresses tell beside.
func (e *Engine) poolAttributes(names []string, have []netip.Addr) []wire.ConfigAttribute {
	var list []wire.ConfigAttribute
	for _, name := range names {
		p := e.pools.byName[name]
		if p == nil || p.removed || !slices.ContainsFunc(have, p.cfg.holds) {
			continue
		}
		for _, a := range p.cfg.Attributes {
			list = append(list, wire.ConfigAttribute{Type: wire.ConfigType(a.Type), Value: []byte(a.Value)})
		}
	}
	return list
}
