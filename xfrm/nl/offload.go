package nl

import (
	"fmt"
	"net/netip"

	"github.com/ipsecd/ipsecd/xfrm"
)

// offload appends an xfrm_user_offload.
func (w *builder) offload(o *xfrm.Offload, ifindex int, dst netip.Addr, dir xfrm.Dir) {
	if o == nil {
		return
	}
	var b [sizeOffload]byte
	ne.PutUint32(b[0:], uint32(ifindex))
	if dst.Is6() {
		b[4] |= offloadIPv6
	}
	if dir != xfrm.DirOut {
		b[4] |= offloadInbound
	}
	if o.Packet {
		b[4] |= offloadPacket
	}
	w.attr(attrOffloadDev, b[:])
}

// parseOffload reads one. The codec knows the device's index only.
func parseOffload(b []byte) *xfrm.Offload {
	return &xfrm.Offload{Device: fmt.Sprintf("#%d", int32(ne.Uint32(b))), Packet: b[4]&offloadPacket != 0}
}

// offloadIndex resolves the device.
func (k *Kernel) offloadIndex(o *xfrm.Offload) (int, error) {
	if o == nil {
		return 0, nil
	}
	return k.ifindex(o.Device)
}

// nameOffload puts the device's name in the place of its index.
func (k *Kernel) nameOffload(o *xfrm.Offload) {
	if o == nil {
		return
	}
	if i, err := k.ifindex(o.Device); err == nil {
		o.Device = k.ifname(i)
	}
}
