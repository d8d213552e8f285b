package nl

import (
	"bytes"
	"net/netip"
	"testing"

	"github.com/ipsecd/ipsecd/xfrm"
)

// linux/xfrm.h, struct xfrm_user_offload: a device's index, then XFRM_OFFLOAD_IPV6 (1), _INBOUND (2) and _PACKET (4).
func TestOffload(t *testing.T) {
	v4, v6 := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")
	for _, c := range []struct {
		offload xfrm.Offload
		dst     netip.Addr
		dir     xfrm.Dir
		flags   byte
	}{
		{xfrm.Offload{Device: "#7"}, v4, xfrm.DirOut, 0},
		{xfrm.Offload{Device: "#7"}, v6, xfrm.DirIn, 3},
		{xfrm.Offload{Device: "#7", Packet: true}, v4, xfrm.DirIn, 6},
		{xfrm.Offload{Device: "#7", Packet: true}, v4, xfrm.DirFwd, 6},
	} {
		var w builder
		w.offload(&c.offload, 7, c.dst, c.dir)
		want := ne.AppendUint16(nil, 12)
		want = ne.AppendUint16(want, 28)
		want = ne.AppendUint32(want, 7)
		want = append(want, c.flags, 0, 0, 0)
		if !bytes.Equal(w.b, want) {
			t.Errorf("%+v %v %v: % x, want % x", c.offload, c.dst, c.dir, w.b, want)
			continue
		}
		if got := parseOffload(w.b[4:]); *got != c.offload {
			t.Errorf("read back: %+v, want %+v", got, c.offload)
		}
	}
	var w builder
	if w.offload(nil, 0, v4, xfrm.DirIn); len(w.b) != 0 {
		t.Errorf("no offload: % x", w.b)
	}
}
