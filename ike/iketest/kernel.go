package iketest

import (
	"bytes"
	"slices"

	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/suite"
)

// Kernel holds the SAs of one host. It does what the actions of the engine ask for, and
// calls what makes no sense a violation.
type Kernel struct {
	// Refuse, if set, is asked before a CHILD_SA is installed; an error is what
	// the engine gets.
	Refuse func(*ike.ChildSA) error

	host     *Host
	children map[uint32]*installed
	inbound  map[uint32]*installed // by SPI
	byReqID  map[uint32][]*installed
	order    int  // counts outbound SAs
	changed  bool // since the last check
}

// installed is a CHILD_SA in the kernel.
type installed struct {
	sa       *ike.ChildSA
	keys     keys
	outbound int  // when its outbound SA was added, in the order of all; 0: it has none
	hasOut   bool // it had one once
	reported bool // the engine has heard that it is here
	in, out  uint64
}

// keys are copies of an ESPKeys, since the executor wipes those.
type keys struct {
	encr, integ                        suite.Transform
	esn                                bool
	encrIn, encrOut, integIn, integOut []byte
}

func newKernel(h *Host) *Kernel {
	k := &Kernel{host: h}
	k.clear()
	return k
}

func (k *Kernel) clear() {
	k.children = map[uint32]*installed{}
	k.inbound = map[uint32]*installed{}
	k.byReqID = map[uint32][]*installed{}
	k.changed = true
}

// Children returns how many CHILD_SAs the kernel holds.
func (k *Kernel) Children() int { return len(k.children) }

func (k *Kernel) install(a ike.InstallChild) error {
	n, h, sa := k.host.net, k.host, a.Child
	if a.Keys == nil || a.Keys.EncrIn.Len() == 0 || a.Keys.EncrOut.Len() == 0 {
		n.violate("%s installs %s without keys", h.Name, childText{sa})
		return nil
	}
	c := &installed{sa: sa, keys: copyKeys(a.Keys)}
	for _, key := range []suite.Key{a.Keys.EncrIn, a.Keys.EncrOut, a.Keys.IntegIn, a.Keys.IntegOut} {
		key.Wipe()
	}
	if k.Refuse != nil {
		if err := k.Refuse(sa); err != nil {
			n.tracef("%s: kernel refuses %s: %v", h.Name, childText{sa}, err)
			return err
		}
	}
	switch {
	case k.children[sa.ID] != nil:
		n.violate("%s installs %s twice", h.Name, childText{sa})
	case k.inbound[sa.SPIIn] != nil:
		n.violate("%s installs %s, and the inbound SPI is in use", h.Name, childText{sa})
	case sa.SPIIn < 256 || sa.SPIOut < 256:
		n.violate("%s installs %s with a reserved SPI", h.Name, childText{sa})
	case sa.ReqID == 0:
		n.violate("%s installs %s without a reqid", h.Name, childText{sa})
	}
	n.tracef("%s: kernel has %s, outbound: %v", h.Name, childText{sa}, !a.DeferOutbound)
	k.children[sa.ID], k.inbound[sa.SPIIn] = c, c
	k.byReqID[sa.ReqID] = append(k.byReqID[sa.ReqID], c)
	k.changed = true
	if !a.DeferOutbound {
		k.addOutbound(c)
	}
	k.expireLater(c)
	return nil
}

func (k *Kernel) addOutbound(c *installed) {
	k.order++
	c.outbound, c.hasOut = k.order, true
	k.changed = true
}

func (k *Kernel) installOutbound(id uint32) {
	c := k.children[id]
	if c == nil || c.hasOut {
		k.host.net.violate("%s: InstallOutbound for {%d}, which has not deferred it", k.host.Name, id)
		return
	}
	k.host.net.tracef("%s: kernel sends on %s", k.host.Name, childText{c.sa})
	k.addOutbound(c)
}

func (k *Kernel) removeOutbound(id uint32) {
	c := k.children[id]
	if c == nil || c.outbound == 0 {
		k.host.net.violate("%s: RemoveOutbound for {%d}, which has none", k.host.Name, id)
		return
	}
	k.host.net.tracef("%s: kernel no longer sends on %s", k.host.Name, childText{c.sa})
	c.outbound = 0
	k.changed = true
}

func (k *Kernel) remove(id uint32) {
	c := k.children[id]
	if c == nil {
		k.host.net.violate("%s: RemoveChild for {%d}, which the kernel does not have", k.host.Name, id)
		return
	}
	k.host.net.tracef("%s: kernel removes %s", k.host.Name, childText{c.sa})
	delete(k.children, id)
	delete(k.inbound, c.sa.SPIIn)
	k.byReqID[c.sa.ReqID] = slices.DeleteFunc(k.byReqID[c.sa.ReqID], func(o *installed) bool { return o == c })
	k.changed = true
}

func (k *Kernel) move(sa *ike.ChildSA) {
	c := k.children[sa.ID]
	if c == nil || c.sa.SPIIn != sa.SPIIn || c.sa.SPIOut != sa.SPIOut {
		k.host.net.violate("%s: MoveChild for %s, which the kernel does not have", k.host.Name, childText{sa})
		return
	}
	k.host.net.tracef("%s: kernel moves %s to %v:%d - %v:%d", k.host.Name, childText{sa}, sa.Local, sa.LocalPort, sa.Remote, sa.RemotePort)
	c.sa = sa
	k.changed = true
}

// newest returns the CHILD_SA on which the kernel sends for a reqid: the one
// whose outbound SA was added last.
func (k *Kernel) newest(reqid uint32) *installed {
	var best *installed
	for _, c := range k.byReqID[reqid] {
		if c.outbound != 0 && (best == nil || c.outbound > best.outbound) {
			best = c
		}
	}
	return best
}

// expireLater deletes the SAs when their lifetime is over, as the kernel does by itself.
func (k *Kernel) expireLater(c *installed) {
	if c.sa.LifeTime <= 0 {
		return
	}
	h := k.host
	h.net.background(c.sa.LifeTime, func() {
		if k.children[c.sa.ID] != c {
			return
		}
		h.net.tracef("%s: kernel lets %s expire", h.Name, childText{c.sa})
		h.Do(ike.Expire{SPI: c.sa.SPIIn, Dst: c.sa.Local, Hard: true})
	})
}

func copyKeys(k *ike.ESPKeys) keys {
	return keys{
		encr: k.Encr, integ: k.Integ, esn: k.ESN,
		encrIn: bytes.Clone(k.EncrIn.Bytes()), encrOut: bytes.Clone(k.EncrOut.Bytes()),
		integIn: bytes.Clone(k.IntegIn.Bytes()), integOut: bytes.Clone(k.IntegOut.Bytes()),
	}
}
