package vici

import (
	"errors"
	"net/netip"
	"strings"

	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/auth"
)

// redirect sends the peers of matching IKE SAs to another gateway; it does not wait for them to go.
func (c *call) redirect() error {
	sel, err := c.selection()
	if err != nil {
		return err
	}
	gateway := c.req.Keys["gateway"]
	if gateway == "" {
		return errors.New("missing target gateway")
	}
	peer, err := c.peer()
	if err != nil {
		return err
	}
	if sel.ikeName == "" && sel.ikeID == 0 && peer == (peerSelection{}) {
		return errors.New("missing redirect selector")
	}
	c.current() // an SA that has just come up counts
	var ids []uint32
	for _, sa := range c.ctl.Status().Engine.IKESAs {
		if sel.ike(&sa) && peer.matches(&sa) {
			ids = append(ids, sa.ID)
		}
	}
	c.counts(len(ids))
	if len(ids) == 0 {
		return errors.New("no matching SAs to redirect found")
	}
	for _, id := range ids {
		if err := c.ctl.Do(c.conn.ctx, ike.Redirect{IKEID: id, Gateway: gateway}); err != nil {
			return err
		}
	}
	c.reply.Key("success", "yes")
	c.reply.Keyf("matches", "%d", len(ids))
	return nil
}

// peerSelection are the keys peer-ip and peer-id. Those left out match every peer.
type peerSelection struct {
	from, to netip.Addr
	id       auth.Identity
}

// peer reads them: peer-ip is an address, a subnet or a range, peer-id an identity that may have wildcards.
func (c *call) peer() (p peerSelection, err error) {
	if ip := c.req.Keys["peer-ip"]; ip != "" {
		if p.from, p.to, err = addressRange(ip); err != nil {
			return p, errors.New("invalid peer IP selector")
		}
	}
	if id := c.req.Keys["peer-id"]; id != "" {
		if p.id, err = auth.Parse(id); err != nil {
			return p, errors.New("invalid peer identity selector")
		}
	}
	return p, nil
}

func addressRange(s string) (from, to netip.Addr, err error) {
	if a, b, ok := strings.Cut(s, "-"); ok {
		if from, err = netip.ParseAddr(a); err == nil {
			to, err = netip.ParseAddr(b)
		}
		return from, to, err
	}
	if strings.Contains(s, "/") {
		p, err := netip.ParsePrefix(s)
		return p.Masked().Addr(), last(p), err
	}
	a, err := netip.ParseAddr(s)
	return a, a, err
}

// last returns the highest address of a prefix.
func last(p netip.Prefix) netip.Addr {
	b := p.Addr().AsSlice()
	for i := p.Bits(); i >= 0 && i < len(b)*8; i++ {
		b[i/8] |= 0x80 >> (i % 8)
	}
	a, _ := netip.AddrFromSlice(b)
	return a
}

func (p peerSelection) matches(sa *ike.IKESAInfo) bool {
	a := sa.Remote.Addr()
	if p.from.IsValid() && (a.BitLen() != p.from.BitLen() || a.Less(p.from) || p.to.Less(a)) {
		return false
	}
	return p.id == (auth.Identity{}) || p.id.Matches(sa.RemoteID)
}
