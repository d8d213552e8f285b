package daemon

import (
	"net/netip"
	"testing"
	"testing/quick"

	"github.com/ipsecd/ipsecd/ike"
)

func TestPrefixesCoverRange(t *testing.T) {
	for _, tt := range []struct {
		start, end string
		want       []string
	}{
		{"10.0.0.0", "10.0.0.255", []string{"10.0.0.0/24"}},
		{"10.0.0.1", "10.0.0.6", []string{"10.0.0.1/32", "10.0.0.2/31", "10.0.0.4/31", "10.0.0.6/32"}},
		{"0.0.0.0", "255.255.255.255", []string{"0.0.0.0/0"}},
		{"::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", []string{"::/0"}},
		{"2001:db8::", "2001:db8::1:ffff", []string{"2001:db8::/111"}},
		{"255.255.255.254", "255.255.255.255", []string{"255.255.255.254/31"}},
		{"10.0.0.2", "10.0.0.1", nil},
	} {
		got := prefixes(netip.MustParseAddr(tt.start), netip.MustParseAddr(tt.end))
		if len(got) != len(tt.want) {
			t.Errorf("%s-%s: %v, want %v", tt.start, tt.end, got, tt.want)
			continue
		}
		for i, p := range got {
			if p.String() != tt.want[i] {
				t.Errorf("%s-%s: %v, want %v", tt.start, tt.end, got, tt.want)
			}
		}
	}
}

// A port is matched by the masks exactly when it lies in the range.
func TestPortMasksCoverRange(t *testing.T) {
	f := func(a, b, probe uint16) bool {
		if a > b {
			a, b = b, a
		}
		hits := 0
		for _, m := range portMasks(a, b) {
			if probe&m.mask == m.port {
				hits++
			}
		}
		in := probe >= a && probe <= b
		return in && hits == 1 || !in && hits == 0
	}
	if err := quick.Check(f, &quick.Config{MaxCount: 20000}); err != nil {
		t.Error(err)
	}
	if got := portMasks(0xffff, 0); len(got) != 1 || got[0].mask != 0 {
		t.Errorf("OPAQUE: %v", got)
	}
}

func TestSelectorsPairFamilies(t *testing.T) {
	ts := func(s string) ike.TrafficSelector {
		p := netip.MustParsePrefix(s)
		return ike.TrafficSelector{Start: p.Addr(), End: last(p), EndPort: 0xffff}
	}
	got := selectors(
		[]ike.TrafficSelector{ts("10.0.0.0/24"), ts("::/0")},
		[]ike.TrafficSelector{ts("10.1.0.0/16"), ts("2001:db8::/32")})
	if len(got) != 2 || got[0].Src.String() != "10.0.0.0/24" || got[0].Dst.String() != "10.1.0.0/16" ||
		got[1].Src.String() != "::/0" || got[1].Dst.String() != "2001:db8::/32" {
		t.Errorf("got %v", got)
	}
}

// RFC 7296 section 3.13.1: the type of ICMP is the upper octet of the port, the code the lower one. The
// kernel has them in two fields, and in the same ones for both directions.
func TestSelectorsOfICMP(t *testing.T) {
	host := func(a string, start, end uint16) []ike.TrafficSelector {
		addr := netip.MustParseAddr(a)
		return []ike.TrafficSelector{{Start: addr, End: addr, Protocol: 1, StartPort: start, EndPort: end}}
	}
	for _, v := range []struct {
		name     string
		from, to uint16
		want     string
	}{
		{"echo request, any code", 0x0800, 0x08ff, "src 10.0.0.1/32 dst 10.0.0.2/32 proto 1 sport 8/0xff"},
		{"port unreachable", 0x0303, 0x0303, "src 10.0.0.1/32 dst 10.0.0.2/32 proto 1 sport 3/0xff dport 3/0xff"},
		{"all of it", 0, 0xffff, "src 10.0.0.1/32 dst 10.0.0.2/32 proto 1"},
	} {
		for _, sides := range [][2][]ike.TrafficSelector{
			{host("10.0.0.1", v.from, v.to), host("10.0.0.2", v.from, v.to)},
			{host("10.0.0.1", 0, 0xffff), host("10.0.0.2", v.from, v.to)},
		} {
			got := selectors(sides[0], sides[1])
			if len(got) != 1 || got[0].String() != v.want {
				t.Errorf("%s: %v, want %s", v.name, got, v.want)
				continue
			}
			back := reverse(got[0])
			if back.SrcPort != got[0].SrcPort || back.DstPort != got[0].DstPort || back.Src != got[0].Dst {
				t.Errorf("%s: the way back is %v", v.name, back)
			}
		}
	}
}

func TestSelectorsOfDifferentProtocols(t *testing.T) {
	tcp, udp := ike.PrefixSelector(netip.MustParsePrefix("10.0.0.0/8")), ike.PrefixSelector(netip.MustParsePrefix("10.9.0.0/16"))
	tcp.Protocol, udp.Protocol = 6, 17
	if got := selectors([]ike.TrafficSelector{tcp}, []ike.TrafficSelector{udp}); len(got) != 0 {
		t.Errorf("no packet is TCP and UDP: %v", got)
	}
}
