package labtest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The text is iproute2's of Debian 12, for one AEAD state in UDP with ESN and
// one with separate algorithms.
const ipXfrmState = `src 10.9.1.1 dst 10.9.1.2
	proto esp spi 0xc41c1b3e(3290176318) reqid 1(0x00000001) mode tunnel
	replay-window 0 seq 0x00000000 flag af-unspec esn (0x10100000)
	aead rfc4106(gcm(aes)) 0xaabb (160 bits) 128
	encap type espinudp sport 4500 dport 4500 addr 0.0.0.0
	anti-replay esn context:
	 seq-hi 0x0, seq 0x0, oseq-hi 0x0, oseq 0x2
	 replay_window 4096, bitmap-length 128
	 00000000 00000000 00000000 00000000 
	if_id 0x65
	lifetime config:
	  limit: soft (INF)(bytes), hard (INF)(bytes)
	  limit: soft (INF)(packets), hard (INF)(packets)
	  expire add: soft 3321(sec), hard 3960(sec)
	  expire use: soft 0(sec), hard 0(sec)
	lifetime current:
	  168(bytes), 2(packets)
	  add 2026-01-01 10:00:00 use 2026-01-01 10:00:01
	stats:
	  replay-window 0 replay 0 failed 0
src fd00::2 dst fd00::1
	proto esp spi 0x00000100(256) reqid 2(0x00000002) mode tunnel
	replay-window 32 seq 0x00000000 flag af-unspec (0x00100000)
	auth-trunc hmac(sha256) 0xaa (256 bits) 128
	enc cbc(aes) 0xbb (256 bits)
	lifetime config:
	  limit: soft (INF)(bytes), hard (INF)(bytes)
	lifetime current:
	  0(bytes), 0(packets)
	  add 2026-01-01 10:00:00 use -
`

func TestParseStates(t *testing.T) {
	got, err := parseStates(ipXfrmState)
	if err != nil {
		t.Fatal(err)
	}
	want := []XfrmState{
		{Src: "10.9.1.1", Dst: "10.9.1.2", SPI: 0xc41c1b3e, ReqID: 1, Mode: "tunnel", IfID: 0x65, Algorithm: "rfc4106(gcm(aes))", Encap: true, ESN: true, Window: 4096, Bytes: 168, Packets: 2, Added: "2026-01-01 10:00:00"},
		{Src: "fd00::2", Dst: "fd00::1", SPI: 0x100, ReqID: 2, Mode: "tunnel", Algorithm: "cbc(aes)", Window: 32, Added: "2026-01-01 10:00:00"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
