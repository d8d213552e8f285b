package nl

import (
	"testing"

	"github.com/mdlayher/netlink"
	"golang.org/x/net/bpf"

	"github.com/ipsecd/ipsecd/xfrm"
)

func TestOnlyRemovalsPassTheFilter(t *testing.T) {
	prog, ok := bpf.Disassemble(onlyTypes(removals))
	if !ok {
		t.Fatal("the filter cannot be read back")
	}
	vm, err := bpf.NewVM(prog)
	if err != nil {
		t.Fatal(err)
	}
	for typ := range uint16(0x30) {
		b, err := netlink.Message{Header: netlink.Header{Type: netlink.HeaderType(typ), Length: 16}}.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		n, err := vm.Run(b)
		want := typ == msgDelSA || typ == msgDelPolicy || typ == msgFlushSA || typ == msgFlushPol
		if err != nil || n > 0 != want {
			t.Errorf("message type %#x: %d octets pass, %v", typ, n, err)
		}
	}
}

func TestOwnRemovalsAreNoNews(t *testing.T) {
	k := &Kernel{conn: &conn{}}
	k.conn.port.Store(77)
	for _, tt := range []struct {
		typ  netlink.HeaderType
		port uint32
		want xfrm.Event
	}{
		{msgFlushSA, 77, nil},
		{msgFlushPol, 77, nil},
		{msgFlushSA, 78, xfrm.RemovedEvent{}},
		{msgDelPolicy, 78, xfrm.RemovedEvent{}},
		{msgFlushPol, 78, xfrm.RemovedEvent{AllPolicies: true}},
	} {
		ev, err := k.readRemoval(netlink.Message{Header: netlink.Header{Type: tt.typ, PID: tt.port}})
		if err != nil || ev != tt.want {
			t.Errorf("message type %#x by port %d: %v, %v", tt.typ, tt.port, ev, err)
		}
	}
}
