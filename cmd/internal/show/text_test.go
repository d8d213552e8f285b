package show

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ipsecd/ipsecd/cmd/internal/status/statustest"
)

func text(t *testing.T, write func(w io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func compare(t *testing.T, want, got string) {
	t.Helper()
	if d := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestTunnelTable(t *testing.T) {
	r := NewReport(statustest.New())
	r.Router.Problems = []string{"net.ipv4.fib_multipath_hash_policy is 0"}
	compare(t, `
CONNECTION  CHILD  STATE       SINCE  IN/OUT     LAST  REKEY  REMOTE               INTERFACE  BGP   ROUTES
hq          net    up          2d4h   1.2G/830M  1s    31m    203.0.113.7 (NAT-T)  hq         up    212
branch2     net    DOWN        4m     -          4m    -      198.51.100.9         branch2    idle  0
  └ IKE_SA_INIT: no answer; 5 attempts; next try in 40s
lab         a      up          3h     0/0        -     50m    192.0.2.77           -          -     -
lab         b      connecting  -      -          -     -      192.0.2.77           -          -     -
new         -      connecting  -      -          -     -      192.0.2.99           -          -     -

2 of 5 tunnels up, 1 of 3 BGP sessions established, 212 routes installed
! net.ipv4.fib_multipath_hash_policy is 0
last failover: branch2, 4m ago; routes moved: 212, groups updated: 1, time: 1.2 ms
`, "\n"+text(t, func(w io.Writer) error { return WriteTunnels(w, r, Style{}) }))
}

// A host without BGP and interfaces has no columns for them.
func TestTunnelTableOfPolicyBasedHost(t *testing.T) {
	st := statustest.New()
	st.Router, st.Config.Interfaces = nil, nil
	st.Engine.Connections = st.Engine.Connections[2:3]
	st.Reload.OK, st.Reload.Err = false, "ipsecd.conf:3: no"
	r := NewReport(st)
	compare(t, `
CONNECTION  CHILD  STATE       SINCE  IN/OUT  LAST  REKEY  REMOTE
lab         a      up          3h     0/0     -     50m    192.0.2.77
lab         b      connecting  -      -       -     -      192.0.2.77

1 of 2 tunnels up
! the last reload failed, the old configuration stays in force: ipsecd.conf:3: no
`, "\n"+text(t, func(w io.Writer) error { return WriteTunnels(w, r, Style{}) }))
	st.Reload.At = st.Started
	if got := text(t, func(w io.Writer) error { return WriteTunnels(w, NewReport(st), Style{}) }); !strings.Contains(got, "\n! connections with mistakes are left out: ipsecd.conf:3: no\n") {
		t.Errorf("at the start: %s", got)
	}
}

func TestSAText(t *testing.T) {
	st := statustest.New()
	st.Engine.IKESAs = st.Engine.IKESAs[:1]
	r := NewReport(st)
	r.SAs[0].Children = r.SAs[0].Children[1:]
	compare(t, `
hq: #1, ESTABLISHED, IKEv2, 00000000000000a1* 00000000000000b1
  local  192.0.2.1:4500 [192.0.2.1]
  remote 203.0.113.7:4500 [203.0.113.7] behind NAT
  aes256gcm16-prfsha384-ecp384
  established 3h ago, rekeying in 1h
  net: #8, reqid 1, INSTALLED, TUNNEL in UDP, ESP aes128-sha256-modp2048
    installed 1m ago, rekeying in 31m, expires in 1h5m
    in  0xc0ffee08 if_id 1, 1500 bytes, 15 packets, 1s ago
    out 0xdecade08 if_id 1, 840 bytes, 10 packets, 2s ago
    local  0.0.0.0/0
    remote 0.0.0.0/0
`, "\n"+text(t, func(w io.Writer) error { return WriteSAs(w, r, Style{}) }))
}

// Of CHILD_SAs with the same selectors it is told which CPU each is for.
func TestSATextOfACPU(t *testing.T) {
	st := statustest.New()
	st.Engine.IKESAs = st.Engine.IKESAs[:1]
	children := st.Engine.IKESAs[0].Children
	first := *children[len(children)-1].SA
	first.CPU.Bound = true
	children[len(children)-1].SA = &first
	r := NewReport(st)
	got := text(t, func(w io.Writer) error { return WriteSAs(w, r, Style{}) })
	if strings.Count(got, ", CPU ") != 1 || !strings.Contains(got, ", TUNNEL in UDP, CPU 0, ESP ") {
		t.Errorf("got\n%s", got)
	}
}

func TestPolicyTable(t *testing.T) {
	r := NewReport(statustest.New())
	// What xfrm computes as the guards' priorities is not of interest here.
	for i := range r.Policies {
		if r.Policies[i].ReqID == 0 {
			r.Policies[i].Priority = 9
		}
	}
	compare(t, `
DIR  SOURCE       DESTINATION  PROTO  DEVICE  ACTION   PRIORITY  IF_ID  REQID  LOCAL      PEER
fwd  10.9.0.0/16  0.0.0.0/0    any    -       block    9         -      -      -          -
in   10.9.0.0/16  0.0.0.0/0    any    -       block    9         -      -      -          -
out  0.0.0.0/0    10.9.0.0/16  any    -       block    9         -      -      -          -
out  0.0.0.0/0    10.9.0.0/16  any    hq      allow    9         -      -      -          -
fwd  10.2.0.0/16  10.1.0.0/16  any    -       protect  1000      -      2      192.0.2.1  192.0.2.77
in   10.2.0.0/16  10.1.0.0/16  any    -       protect  1000      -      2      192.0.2.1  192.0.2.77
out  10.1.0.0/16  10.2.0.0/16  any    -       protect  1000      -      2      192.0.2.1  192.0.2.77
`, "\n"+text(t, func(w io.Writer) error { return WritePolicies(w, r) }))
}

// What a peer wrote reaches the terminal without its control characters.
func TestBGPTable(t *testing.T) {
	r := NewReport(statustest.New())
	compare(t, `
NEIGHBOR  ADDRESS      AS     INTERFACE  STATE   SINCE  RECEIVED  ADVERTISED  MSGS IN/OUT
hq        169.254.1.1  65010  hq         up      2h     212       1           400/380
branch2   169.254.2.1  65020  branch2    idle    4m     0         0           0/0
circuit   192.0.2.254  65030  wan0       active  -      0         0           0/0
  └ peer said: ?[2Jbye
`, "\n"+text(t, func(w io.Writer) error { return WriteBGP(w, r, Style{}) }))
}

func TestRouteTable(t *testing.T) {
	r := NewReport(statustest.New())
	compare(t, `
PREFIX        KIND   INSTALLED  METRIC  GROUP  PATHS  NEXTHOPS
10.20.0.0/16  bgp    yes        20      11     2      via 169.254.1.1 dev hq
                                                      via 169.254.2.1 dev branch2 (down)
  └ branch2 is down
10.30.0.0/16  bgp    no         20      -      1      via 169.254.1.1 dev hq
  └ a foreign route of this prefix and metric exists
10.9.0.0/16   guard  yes        -       -      -      blackhole
`, "\n"+text(t, func(w io.Writer) error { return WriteRoutes(w, r) }))
}

// Colour changes no column.
func TestColourKeepsColumns(t *testing.T) {
	r := NewReport(statustest.New())
	plain := text(t, func(w io.Writer) error { return WriteTunnels(w, r, Style{}) })
	coloured := text(t, func(w io.Writer) error { return WriteTunnels(w, r, Style{Colour: true}) })
	if !strings.Contains(coloured, "\x1b[32mup\x1b[0m") || !strings.Contains(coloured, "\x1b[31;1mDOWN\x1b[0m") {
		t.Error("states are not coloured")
	}
	for _, code := range []string{"\x1b[32m", "\x1b[31;1m", "\x1b[33m", "\x1b[0m"} {
		coloured = strings.ReplaceAll(coloured, code, "")
	}
	compare(t, plain, coloured)
}

// The first lines are those of OpenBSD's ipsecctl(8), but for our addresses.
func TestOpenBSD(t *testing.T) {
	st := statustest.New()
	st.Engine.IKESAs = st.Engine.IKESAs[1:2]
	r := NewReport(st)
	flows := `flow esp in from 10.9.0.0/16 to 0.0.0.0/0 type deny
flow esp out from 0.0.0.0/0 to 10.9.0.0/16 type deny
flow esp out from 0.0.0.0/0 to 10.9.0.0/16 type bypass
flow esp in from 10.2.0.0/16 to 10.1.0.0/16 local 192.0.2.1 peer 192.0.2.77 srcid 192.0.2.1 dstid 192.0.2.77 type require
flow esp out from 10.1.0.0/16 to 10.2.0.0/16 local 192.0.2.1 peer 192.0.2.77 srcid 192.0.2.1 dstid 192.0.2.77 type require
`
	sad := `esp tunnel from 192.0.2.1 to 192.0.2.77 spi 0xdecade09 auth hmac-sha2-256 enc aes
esp tunnel from 192.0.2.77 to 192.0.2.1 spi 0xc0ffee09 auth hmac-sha2-256 enc aes
`
	for what, want := range map[string]string{"flow": flows, "sa": sad, "all": "FLOWS:\n" + flows + "\nSAD:\n" + sad} {
		compare(t, want, text(t, func(w io.Writer) error { return OpenBSD(w, r, what) }))
	}
	empty := &Report{}
	compare(t, "FLOWS:\nNo flows\n\nSAD:\nNo entries\n", text(t, func(w io.Writer) error { return OpenBSD(w, empty, "all") }))
	if err := OpenBSD(io.Discard, r, "tdb"); err == nil || !strings.Contains(err.Error(), "sa, flow or all") {
		t.Errorf("-s tdb: error %v", err)
	}
}
