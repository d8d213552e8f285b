package daemon

import (
	"fmt"
	"net"
	"net/netip"

	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/xfrm"
)

// offloads returns what to try in turn for hw_offload: nil is without. The device is that of our outer
// address.
func (in *installer) offloads(c *ike.ChildSA) ([]*xfrm.Offload, error) {
	mode := c.Config.HWOffload
	if mode == "" {
		return []*xfrm.Offload{nil}, nil
	}
	device := in.deviceOf(c.Local)
	packet, crypto := &xfrm.Offload{Device: device, Packet: true}, &xfrm.Offload{Device: device}
	switch {
	case mode == "auto" && device == "":
		return []*xfrm.Offload{nil}, nil
	case mode == "auto":
		return []*xfrm.Offload{packet, crypto, nil}, nil
	case device == "":
		return nil, fmt.Errorf("hw_offload = %s: no network device has our address %v", mode, c.Local)
	case mode == "packet":
		return []*xfrm.Offload{packet}, nil
	}
	return []*xfrm.Offload{crypto}, nil
}

// offloaded gives SAs and policies the offload.
func offloaded(o *xfrm.Offload, sas []*xfrm.SA, policies []xfrm.Policy) {
	for _, sa := range sas {
		sa.Offload = o
	}
	for i := range policies {
		if o != nil && o.Packet {
			policies[i].Offload = o
		}
	}
}

// deviceOf returns the name of the network device that has an address; "" if there is none.
func deviceOf(a netip.Addr) string {
	devices, err := net.Interfaces()
	if err != nil {
		return ""
	}
	for _, d := range devices {
		addrs, err := d.Addrs()
		if err != nil {
			continue
		}
		for _, n := range addrs {
			if p, err := netip.ParsePrefix(n.String()); err == nil && p.Addr() == a {
				return d.Name
			}
		}
	}
	return ""
}
