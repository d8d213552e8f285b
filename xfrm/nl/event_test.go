package nl

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/ipsecd/ipsecd/xfrm"
)

// acquireBody builds an xfrm_user_acquire the way the kernel does.
func acquireBody() []byte {
	p := outPolicy()
	b := make([]byte, sizeAcquire)
	putID(b, p.Templates[0].Dst, 0, xfrm.ESP)
	putAddr(b[24:], p.Templates[0].Src)
	putSelector(b[40:], xfrm.Selector{
		Src: netip.MustParsePrefix("192.168.15.9/32"), Dst: netip.MustParsePrefix("192.168.14.200/32"),
		Proto: 17, DstPort: 500, DstPortMask: 0xffff,
	}, 0)
	full := appendPolicy(&p, 0)
	copy(b[96:], full[:sizePolicyInfo])
	ne.PutUint32(b[276:], 77)
	return append(b, full[sizePolicyInfo:]...)
}

func TestParseAcquire(t *testing.T) {
	ev, _, err := parseEvent(msgAcquire, acquireBody())
	if err != nil {
		t.Fatal(err)
	}
	want := xfrm.AcquireEvent{
		ReqID: 7, Proto: xfrm.ESP, Mode: xfrm.Tunnel,
		Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("10.0.0.2"),
		Packet: xfrm.Selector{
			Src: netip.MustParsePrefix("192.168.15.9/32"), Dst: netip.MustParsePrefix("192.168.14.200/32"),
			Proto: 17, DstPort: 500, DstPortMask: 0xffff,
		},
		Policy: xfrm.PolicyInfo{Policy: outPolicy()},
		Seq:    77,
	}
	if d := cmp.Diff(xfrm.Event(want), ev, values); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// The kernel says which CPU has met the packet, in an attribute of its own; the first one has the number 0.
func TestParseAcquireOfACPU(t *testing.T) {
	w := builder{b: acquireBody()}
	w.u32(attrSAPCPU, 0)
	ev, _, err := parseEvent(msgAcquire, w.b)
	if err != nil {
		t.Fatal(err)
	}
	if got := ev.(xfrm.AcquireEvent).CPU; got != (xfrm.CPU{Bound: true}) {
		t.Errorf("got %+v", got)
	}
}

func expireBody() []byte {
	sa := gcmSA()
	full := appendSA(&sa, 0, allFeatures)
	b := append([]byte{}, full[:sizeUserSAInfo]...)
	b = append(b, 1, 0, 0, 0, 0, 0, 0, 0)
	return append(b, full[sizeUserSAInfo:]...)
}

func TestParseExpire(t *testing.T) {
	ev, _, err := parseEvent(msgExpire, expireBody())
	if err != nil {
		t.Fatal(err)
	}
	got := ev.(xfrm.ExpireEvent)
	sa := gcmSA()
	if !got.Hard || got.SA.ID() != sa.ID() || got.SA.ReqID != 7 || got.SA.IfID != 0x2a || got.SA.Dir != xfrm.DirIn {
		t.Errorf("got %+v", got)
	}
	if got.SA.AEAD != nil {
		t.Error("the event carries the key")
	}
}

func TestParsePolicyExpire(t *testing.T) {
	p := outPolicy()
	full := appendPolicy(&p, 0)
	b := append(append([]byte{}, full[:sizePolicyInfo]...), 1, 0, 0, 0, 0, 0, 0, 0)
	ev, _, err := parseEvent(msgPolExpire, append(b, full[sizePolicyInfo:]...))
	if err != nil {
		t.Fatal(err)
	}
	if got := ev.(xfrm.PolicyExpireEvent); !got.Hard || got.Policy.ID() != p.ID() {
		t.Errorf("got %+v", got)
	}
}

func mappingBody() []byte {
	b := make([]byte, sizeMapping)
	copy(b, appendSAID(xfrm.SAID{Dst: netip.MustParseAddr("10.0.0.2"), SPI: 0xc0000001, Proto: xfrm.ESP}))
	ne.PutUint32(b[24:], 7)
	putAddr(b[28:], netip.MustParseAddr("10.0.0.1"))
	putAddr(b[44:], netip.MustParseAddr("10.0.0.9"))
	be.PutUint16(b[60:], 4500)
	be.PutUint16(b[62:], 61234)
	return b
}

func TestParseMapping(t *testing.T) {
	ev, _, err := parseEvent(msgMapping, mappingBody())
	if err != nil {
		t.Fatal(err)
	}
	want := xfrm.MappingEvent{
		ID:    xfrm.SAID{Dst: netip.MustParseAddr("10.0.0.2"), SPI: 0xc0000001, Proto: xfrm.ESP},
		ReqID: 7,
		Old:   netip.MustParseAddrPort("10.0.0.1:4500"),
		New:   netip.MustParseAddrPort("10.0.0.9:61234"),
	}
	if ev != xfrm.Event(want) {
		t.Errorf("got %+v, want %+v", ev, want)
	}
}

func linkBody() []byte {
	w := builder{b: make([]byte, unix.SizeofIfInfomsg)}
	ne.PutUint32(w.b[4:], 12)
	ne.PutUint32(w.b[8:], unix.IFF_UP|unix.IFF_LOWER_UP)
	w.attr(unix.IFLA_IFNAME, []byte("oci1\x00"))
	return w.b
}

func addrBody() []byte {
	w := builder{b: make([]byte, unix.SizeofIfAddrmsg)}
	w.b[0], w.b[1] = unix.AF_INET, 31
	ne.PutUint32(w.b[4:], 12)
	w.attr(unix.IFA_ADDRESS, []byte{169, 254, 21, 4})
	w.attr(unix.IFA_LOCAL, []byte{169, 254, 21, 5})
	return w.b
}

func TestParseLinkAndAddress(t *testing.T) {
	for _, c := range []struct {
		typ  uint16
		body []byte
		want xfrm.Event
	}{
		{unix.RTM_NEWLINK, linkBody(), xfrm.LinkEvent{Index: 12, Name: "oci1", Up: true, Running: true}},
		{unix.RTM_DELLINK, linkBody(), xfrm.LinkEvent{Index: 12, Name: "oci1", Up: true, Running: true, Deleted: true}},
		// With a peer the local address is ours, not the one listed as address.
		{unix.RTM_NEWADDR, addrBody(), xfrm.AddrEvent{Index: 12, Address: netip.MustParsePrefix("169.254.21.5/31")}},
	} {
		got, err := parseLinkEvent(c.typ, c.body)
		if err != nil || got != c.want {
			t.Errorf("got %+v, %v; want %+v", got, err, c.want)
		}
	}
}

func TestEventsCutShortAreErrors(t *testing.T) {
	for typ, body := range map[uint16][]byte{
		msgAcquire: acquireBody()[:sizeAcquire], msgExpire: expireBody()[:sizeExpire], msgMapping: mappingBody(),
	} {
		for n := range body {
			if _, _, err := parseEvent(typ, body[:n]); err == nil {
				t.Errorf("message %#x of %d bytes is read", typ, n)
			}
		}
	}
}
