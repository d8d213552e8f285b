package vici

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// TestFault_CVE_2018_5388_ControlSocketLength: strongSwan read as much as a client of its control socket announced. The length is
// checked before anything is read, and never believed beyond what comes.
func TestFault_CVE_2018_5388_ControlSocketLength(t *testing.T) {
	for _, n := range []uint32{maxSegment + 1, 1 << 20, 1 << 31, 1<<32 - 1} {
		r := bytes.NewReader(append(binary.BigEndian.AppendUint32(nil, n), make([]byte, 100)...))
		if p, err := readPacket(r); err == nil {
			t.Errorf("length %d: %+v", n, p)
		}
		if r.Len() != 100 {
			t.Errorf("length %d: %d octets are read", n, 100-r.Len())
		}
	}
	for _, data := range []string{
		"\x00\x00\x00\x00",             // nothing
		"\x00\x08\x00\x00\x00\x07vers", // ends early
		"\x00\x00\x00\x02\x00\xff",     // a name longer than the packet
		"\x00\x00\x00\x02\x00\x00",     // a name of no octets
	} {
		if p, err := readPacket(bytes.NewReader([]byte(data))); err == nil {
			t.Errorf("%q reads as %+v", data, p)
		}
	}
}
