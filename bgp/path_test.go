package bgp

import (
	"net/netip"
	"testing"

	api "github.com/osrg/gobgp/v3/api"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
)

func anyOf(t testing.TB, m proto.Message) *anypb.Any {
	a, err := anypb.New(m)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func apiPath(t testing.TB, prefix string, bits uint32, attrs ...proto.Message) *api.Path {
	p := &api.Path{Nlri: anyOf(t, &api.IPAddressPrefix{Prefix: prefix, PrefixLen: bits})}
	for _, a := range attrs {
		p.Pattrs = append(p.Pattrs, anyOf(t, a))
	}
	return p
}

func TestPathOf(t *testing.T) {
	sequence := &api.AsPathAttribute{Segments: []*api.AsSegment{
		{Type: api.AsSegment_AS_CONFED_SEQUENCE, Numbers: []uint32{1, 2}},
		{Type: api.AsSegment_AS_SEQUENCE, Numbers: []uint32{31898, 64512}},
		{Type: api.AsSegment_AS_SET, Numbers: []uint32{7, 8, 9}},
	}}
	got, ok := pathOf(apiPath(t, "10.2.0.0", 16, &api.OriginAttribute{}, sequence, &api.NextHopAttribute{NextHop: "192.0.2.1"},
		&api.MultiExitDiscAttribute{Med: 5}, &api.LocalPrefAttribute{LocalPref: 200}, &api.CommunitiesAttribute{Communities: []uint32{1}}))
	want := Path{Nexthop: netip.MustParseAddr("192.0.2.1"), ASPathLen: 3, LocalPref: 200, MED: 5}
	if !ok || got != want {
		t.Errorf("got %+v, %v, want %+v", got, ok, want)
	}

	// RFC 2545 section 3: the global address first, if there is one.
	for hops, want := range map[[2]string]string{
		{"2001:db8::1", "fe80::1"}: "2001:db8::1",
		{"::", "fe80::1"}:          "fe80::1",
		{"::ffff:192.0.2.1", "::"}: "192.0.2.1",
	} {
		got, ok := pathOf(apiPath(t, "2001:db8:2::", 48, &api.MpReachNLRIAttribute{NextHops: hops[:]}))
		if !ok || got.Nexthop.String() != want || got.LocalPref != 100 {
			t.Errorf("next hops %v: %+v, %v, want %s", hops, got, ok, want)
		}
	}
	for name, p := range map[string]*api.Path{
		"no next hop":          apiPath(t, "10.2.0.0", 16, &api.OriginAttribute{}),
		"unspecified next hop": apiPath(t, "10.2.0.0", 16, &api.NextHopAttribute{NextHop: "0.0.0.0"}),
		"no address":           apiPath(t, "10.2.0.0", 16, &api.NextHopAttribute{NextHop: "x"}),
		"broken attribute":     {Pattrs: []*anypb.Any{{TypeUrl: "type.googleapis.com/apipb.NextHopAttribute", Value: []byte{0xff}}}},
	} {
		if got, ok := pathOf(p); ok {
			t.Errorf("%s: accepted as %+v", name, got)
		}
	}
}

func TestPrefixOf(t *testing.T) {
	for in, want := range map[*api.Path]string{
		apiPath(t, "10.2.0.9", 16):     "10.2.0.0/16", // bits beyond the length
		apiPath(t, "2001:db8::1", 32):  "2001:db8::/32",
		apiPath(t, "0.0.0.0", 0):       "0.0.0.0/0",
		apiPath(t, "10.2.0.0", 33):     "",
		apiPath(t, "", 16):             "",
		{}:                             "",
		{Nlri: &anypb.Any{Value: nil}}: "",
	} {
		got, ok := prefixOf(in)
		if ok != (want != "") || ok && got.String() != want {
			t.Errorf("%v: got %v, %v, want %q", in, got, ok, want)
		}
	}
}

// BenchmarkTableEvent is one change of a prefix with eight paths.
func BenchmarkTableEvent(b *testing.B) {
	s := &Server{mailbox: newMailbox(), peers: make(map[netip.Addr]*peer)}
	var paths []*api.Path
	for i := range 8 {
		a := netip.AddrFrom4([4]byte{169, 254, 21, byte(i)})
		s.peers[a] = &peer{neighbor: Neighbor{Name: a.String(), Address: a}}
		p := apiPath(b, "10.2.0.0", 16, &api.OriginAttribute{},
			&api.AsPathAttribute{Segments: []*api.AsSegment{{Type: api.AsSegment_AS_SEQUENCE, Numbers: []uint32{31898}}}},
			&api.NextHopAttribute{NextHop: a.String()}, &api.LocalPrefAttribute{LocalPref: 100})
		p.NeighborIp = a.String()
		paths = append(paths, p)
	}
	b.ReportAllocs()
	for b.Loop() {
		s.tableEvent(paths)
	}
	if got := s.Take().Updates; len(got) != 1 || len(got[0].Paths) != 8 {
		b.Fatalf("%+v", got)
	}
}
