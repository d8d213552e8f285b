package daemon

import (
	"net"
	"net/netip"
	"slices"
	"testing"

	"golang.org/x/net/bpf"

	"github.com/ipsecd/ipsecd/ike/wire"
)

// ikeMessage is one without payloads.
func ikeMessage(t *testing.T, exchange wire.ExchangeType, flags wire.Flags) []byte {
	t.Helper()
	data, err := wire.AppendMessage(nil, wire.Header{InitiatorSPI: 1, Exchange: exchange, Flags: flags})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestDivider(t *testing.T) {
	request := ikeMessage(t, wire.ExchangeSAInit, wire.FlagInitiator)
	tests := []struct {
		name string
		data []byte
		want int
	}{
		{"request for an IKE SA", request, strangersSocket},
		{"the response to ours", ikeMessage(t, wire.ExchangeSAInit, wire.FlagResponse), peersSocket},
		{"IKE_AUTH request", ikeMessage(t, wire.ExchangeAuth, wire.FlagInitiator), peersSocket},
		{"request of an SA", ikeMessage(t, wire.ExchangeInformational, 0), peersSocket},
		{"response of an SA", ikeMessage(t, wire.ExchangeCreateChildSA, wire.FlagInitiator|wire.FlagResponse), peersSocket},
		{"cut short", request[:flagsOffset], peersSocket},
		{"NAT keepalive", []byte{0xff}, peersSocket},
		{"nothing", nil, peersSocket},
	}
	for _, natt := range []bool{false, true} {
		vm, err := bpf.NewVM(divider(natt))
		if err != nil {
			t.Fatal(err)
		}
		for _, tt := range tests {
			data := tt.data
			if natt && len(data) > 1 {
				data = slices.Concat(nonESPMarker[:], data)
			}
			if got, err := vm.Run(data); err != nil || got != tt.want {
				t.Errorf("NAT-T %v, %s: socket %d, want %d (%v)", natt, tt.name, got, tt.want, err)
			}
		}
		if !natt {
			continue
		}
		esp := slices.Concat([]byte{1, 2, 3, 4}, request)
		if got, err := vm.Run(esp); err != nil || got != peersSocket {
			t.Errorf("ESP in UDP: socket %d (%v)", got, err)
		}
	}
}

// A port's messages come to the socket that is for them, and more requests of strangers than
// anybody reads leave room for those of peers. Nobody else gets the port.
func TestStrangersHaveASocketOfTheirOwn(t *testing.T) {
	for _, network := range []string{"udp4", "udp6"} {
		v6, host := network == "udp6", netip.MustParseAddr("127.0.0.1")
		if v6 {
			host = netip.IPv6Loopback()
		}
		free, err := net.ListenPacket(network, net.JoinHostPort(host.String(), "0"))
		if err != nil {
			t.Fatal(err)
		}
		to := free.LocalAddr().(*net.UDPAddr)
		free.Close()
		peers, err := openSocket(uint16(to.Port), false, v6)
		if err != nil {
			t.Fatal(err)
		}
		defer peers.close()
		strangers, err := peers.openStrangers()
		if err != nil {
			t.Fatal(err)
		}
		defer strangers.close()
		if again, err := openSocket(uint16(to.Port), false, v6); err == nil {
			again.close()
			t.Error("another daemon gets the port")
		}
		from, err := net.ListenPacket(network, net.JoinHostPort(host.String(), "0"))
		if err != nil {
			t.Fatal(err)
		}
		defer from.Close()
		send := func(data []byte) {
			t.Helper()
			if _, err := from.WriteTo(data, to); err != nil {
				t.Fatal(err)
			}
		}
		const flood = 20_000 // some megabytes, more than the buffer of peers has
		for range flood {
			send(ikeMessage(t, wire.ExchangeSAInit, wire.FlagInitiator))
		}
		send(ikeMessage(t, wire.ExchangeInformational, wire.FlagInitiator))
		p, err := peers.read()
		if err != nil || wire.ExchangeType(p.Data[exchangeOffset]) != wire.ExchangeInformational || p.Local.Addr() != host {
			t.Errorf("%s: the socket of peers has %x to %v, %v", network, p.Data, p.Local, err)
		}
		p, err = strangers.read()
		if err != nil || wire.ExchangeType(p.Data[exchangeOffset]) != wire.ExchangeSAInit || p.Local.Addr() != host {
			t.Errorf("%s: the socket of strangers has %x to %v, %v", network, p.Data, p.Local, err)
		}
		drops, err := socketDrops(uint16(to.Port))
		if err != nil || drops == 0 {
			t.Errorf("%s: %d dropped messages are counted, %v", network, drops, err)
		}
	}
}
