package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/auth"
)

func TestConnectionLifetimes(t *testing.T) {
	const h, m = time.Hour, time.Minute
	for _, c := range []struct {
		keys                      string
		rekey, reauth, over, rand time.Duration
	}{
		{"", 4 * h, 0, 24 * m, 24 * m},
		{"rekey_time = 1h", h, 0, 6 * m, 6 * m},
		{"rekey_time = 0", 0, 0, 0, 0},
		{"reauth_time = 2h", 0, 2 * h, 12 * m, 12 * m},
		{"rekey_time = 1h\nreauth_time = 10h", h, 10 * h, h, h},
		{"rekey_time = 1h\nover_time = 10m", h, 0, 10 * m, 10 * m},
		{"rekey_time = 1h\nover_time = 2h", h, 0, 2 * h, 30 * m},
		{"rekey_time = 1h\nrand_time = 0", h, 0, 6 * m, 0},
	} {
		got, _ := loadMinimal(t, c.keys, "")
		if got.RekeyTime != c.rekey || got.ReauthTime != c.reauth || got.OverTime != c.over || got.RandTime != c.rand {
			t.Errorf("%q: rekey %v reauth %v over %v rand %v; want %v %v %v %v", c.keys, got.RekeyTime, got.ReauthTime, got.OverTime, got.RandTime, c.rekey, c.reauth, c.over, c.rand)
		}
	}
}

func TestChildLifetimes(t *testing.T) {
	const m = time.Minute
	for _, c := range []struct {
		keys              string
		rekey, life, rand time.Duration
	}{
		{"", 60 * m, 66 * m, 6 * m},
		{"rekey_time = 20m", 20 * m, 22 * m, 2 * m},
		{"life_time = 66m", 60 * m, 66 * m, 6 * m},
		{"rekey_time = 20m\nlife_time = 30m", 20 * m, 30 * m, 10 * m},
		{"rekey_time = 10m\nlife_time = 60m", 10 * m, 60 * m, 5 * m},
		{"rekey_time = 0", 0, 0, 0},
		{"rekey_time = 20m\nlife_time = 0", 20 * m, 0, 0},
		{"rand_time = 0", 60 * m, 66 * m, 0},
	} {
		_, got := loadMinimal(t, "", c.keys)
		if got.RekeyTime != c.rekey || got.LifeTime != c.life || got.RandTime != c.rand {
			t.Errorf("%q: rekey %v life %v rand %v; want %v %v %v", c.keys, got.RekeyTime, got.LifeTime, got.RandTime, c.rekey, c.life, c.rand)
		}
	}
	_, got := loadMinimal(t, "", "life_bytes = 1100\nrekey_packets = 1000")
	if got.RekeyBytes != 1000 || got.LifeBytes != 1100 || got.RekeyPackets != 1000 || got.LifePackets != 1100 {
		t.Errorf("volumes: %+v", got)
	}
}

// A connection of shunts only has no peer: it needs neither authentication nor addresses.
func TestShunts(t *testing.T) {
	c := load(t, `connections { bypass { children {
		ssh { local_ts = 0.0.0.0/0[tcp/22]
		      remote_ts = 10.0.0.0/8
		      mode = pass
		      start_action = trap }
		rest { local_ts = 10.1.0.0/16
		       remote_ts = 10.1.0.0/16
		       mode = drop
		       start_action = trap } } } }`)
	children := c.IKE.Connections[0].Children
	if len(c.Warnings) != 0 || children[0].Mode != ike.ModePass || children[1].Mode != ike.ModeDrop {
		t.Errorf("%v %+v", c.Warnings, children)
	}
}

func TestChildHandling(t *testing.T) {
	_, c := loadMinimal(t, "", "")
	if want := (ike.Handling{CopyECN: true, CopyDSCPOut: true}); c.Handling != want {
		t.Errorf("defaults: %+v", c.Handling)
	}
	_, c = loadMinimal(t, "", `
		mark_in = 7/0xff
		mark_in_sa = yes
		mark_out = 8
		set_mark_in = %same
		set_mark_out = %same/0x0f
		policies_fwd_out = yes
		icmp = yes
		sha256_96 = yes
		copy_ecn = no
		copy_dscp = in
		tfc_padding = mtu
		interface = eth0
		inactivity = 5m
		rekey_bytes = 1000
		life_bytes = 2000
		rand_packets = 7`)
	const all = 0xffffffff
	want := ike.Handling{
		CopyDSCPIn: true, MarkInSA: true, SetMarkIn: ike.Mark{Value: 7, Mask: all}, SetMarkOut: ike.Mark{Value: 8, Mask: 0xf},
		ForwardOut: true, ForwardICMP: true, PolicyInterface: "eth0", SHA256Trunc96: true, TFCPadding: ike.TFCPadMTU,
	}
	if c.Handling != want || c.MarkOut != (ike.Mark{Value: 8, Mask: all}) {
		t.Errorf("got %+v\nwant %+v", c.Handling, want)
	}
	if c.Inactivity != 5*time.Minute || c.RandBytes != 1000 || c.RandPackets != 7 || c.Interface != "" {
		t.Errorf("%+v", c)
	}
}

func TestConnection(t *testing.T) {
	c, child := loadMinimal(t, `
		local_addrs = 10.0.0.1
		local_port = 600
		proposals = aes256-sha256-modp2048, default
		encap = yes
		mobike = no
		dpd_delay = 10s
		fragmentation = no
		keyingtries = 0
		unique = replace
		childless = force
		ocsp = both
		if_id_in = 0x10
		if_id_out = 17`, `
		esp_proposals = aes128gcm16-x25519
		local_ts = 10.1.0.0/16, 10.2.0.0/16[tcp/443]
		mode = transport
		start_action = trap|start
		mark_out = 1/1
		reqid = 7
		priority = 8
		replay_window = 0
		policies = no
		hw_offload = yes
		copy_df = no`)
	if got := c.Proposals[0].String(); got != "aes256-sha256-prfsha256-modp2048" || len(c.Proposals) < 2 {
		t.Errorf("proposals: %v", c.Proposals)
	}
	if c.Name != "hq" || c.Source != DefaultPath+":2" || c.LocalPort != 600 || c.RemotePort != 500 || !c.ForceEncap || c.MOBIKE || c.DPDDelay != 10*time.Second ||
		c.Fragmentation || c.KeyingTries != 0 || c.Unique != ike.UniqueReplace || c.Childless != ike.ChildlessForce || c.OCSP != ike.OCSPBoth || c.IfIDIn != 16 || c.IfIDOut != 17 {
		t.Errorf("%+v", c)
	}
	if child.IfIDIn != 16 || child.IfIDOut != 17 {
		t.Errorf("the child inherits if_id %d and %d", child.IfIDIn, child.IfIDOut)
	}
	if len(child.LocalTS) != 2 || child.LocalTS[1].StartPort != 443 || !child.RemoteTS[0].Dynamic || child.Mode != ike.ModeTransport ||
		child.StartAction != ike.ActionTrapStart || child.MarkOut != (ike.Mark{Value: 1, Mask: 1}) || child.ReqID != 7 || child.Priority != 8 ||
		child.ReplayWindow != 0 || child.Policies || child.HWOffload != "crypto" || child.CopyDF {
		t.Errorf("%+v", child)
	}
}

// Without a word about it, everything is as swanctl.conf says.
func TestDefaults(t *testing.T) {
	c, child := loadMinimal(t, "", "")
	if len(c.Proposals) == 0 || len(child.Proposals) == 0 || c.LocalAddrs != nil || !c.Local.ID.IsAny() || c.KeyingTries != 1 ||
		c.LocalPort != 500 || c.IfIDOut != 0 || !c.Fragmentation {
		t.Errorf("%+v", c)
	}
	if child.StartAction != ike.ActionClear || child.ReplayWindow != 32 || !child.Policies || child.Mode != ike.ModeTunnel {
		t.Errorf("%+v", child)
	}
}

func TestWarnings(t *testing.T) {
	for _, c := range []struct {
		conn, child string
		want        []string
	}{
		{"vips = 0.0.0.0", "", nil},
		{"pools = rw", "", []string{"2: connections.hq: there is no pool rw; peers get no address from it"}},
		{"aggressive = false", "ipcomp = no", nil},
		{"", "updown = /bin/x a=b", nil},
		{"", "interface = eth0", nil}, // strongSwan's meaning, without an entry of interfaces
	} {
		got := warnings(load(t, fmt.Sprintf(minimal, c.conn, c.child)))
		if !slices.Equal(got, c.want) {
			t.Errorf("%q %q:\n got %q\nwant %q", c.conn, c.child, got, c.want)
		}
	}
}

func TestWarningsOfSections(t *testing.T) {
	c := load(t, `template { a = b
}
pools { p { addrs = 10.0.0.0/24
} }
secrets { eap-x { secret = y
} }
include nowhere.conf
charon {
  threads = 32
  plugins { vici { socket = unix:///run/x.vici
  } }
  syslog { daemon { default = 1
  } }
}
`)
	want := []string{
		"7: include nowhere.conf: there is no such file",
		"8: charon: without effect here: threads",
		"5: secrets.eap-x is not read; it would be used for EAP",
		"1: section template is not used: nothing refers to it",
	}
	if got := warnings(c); !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if c.Control.VICI != "unix:///run/x.vici" {
		t.Errorf("vici socket %q", c.Control.VICI)
	}
}

func TestSecrets(t *testing.T) {
	c := load(t, `secrets {
 ike-a { secret = "a b#c"
 }
 ike-b {
  secret = 0x6162
  id-1 = 192.0.2.1
  id-2 = @hq.example.org
 }
 ike-c { secret = 0sYWJj
 }
 ike-d { file = d.psk
 }
 ike-e { file = /opt/e.psk
 }
}`, "d.psk", "from a file\r\n", "../../opt/e.psk", "0x65\n")
	var got []string
	for _, s := range c.IKE.Secrets {
		got = append(got, s.Name+"="+string(s.Key.Bytes()))
	}
	want := []string{"ike-a=a b#c", "ike-b=ab", "ike-c=abc", "ike-d=from a file", "ike-e=e"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	hq, _ := auth.Parse("hq.example.org")
	if o := c.IKE.Secrets[1].Owners; len(o) != 2 || o[1] != hq {
		t.Errorf("owners %v", o)
	}
}

func TestCharonOptions(t *testing.T) {
	c := load(t, `charon {
  retransmit_timeout = 0.5
  retransmit_base = 1.5
  retransmit_tries = 3
  half_open_timeout = 10
  cookie_threshold = 0
  block_threshold = 7
  replay_window = 128
  port = 1500
}
timing { retransmit_tries = 4
}
`+fmt.Sprintf(minimal, "", ""))
	ti, li := c.IKE.Timing, c.IKE.Limits
	if ti.RetransmitTimeout != 500*time.Millisecond || ti.RetransmitBase != 1.5 || ti.HalfOpenTimeout != 10*time.Second {
		t.Errorf("%+v", ti)
	}
	if ti.RetransmitTries != 4 {
		t.Errorf("our own section comes first: %d tries", ti.RetransmitTries)
	}
	if li.CookieThreshold < 1<<30 || li.HalfOpenPerIP != 7 {
		t.Errorf("thresholds: %+v", li)
	}
	conn := c.IKE.Connections[0]
	if conn.Children[0].ReplayWindow != 128 || conn.LocalPort != 1500 || c.Ports.IKE != 1500 {
		t.Errorf("replay window %d, port %d", conn.Children[0].ReplayWindow, conn.LocalPort)
	}
}

// TestFragmentSizes: one size for both families, each its own, and strongSwan's meaning of 0.
func TestFragmentSizes(t *testing.T) {
	for options, want := range map[string][2]int{
		"": {}, "fragment_size = 1400": {1400, 1400}, "fragment_size = 0": {576, 1280}, "fragment_size = 1400\nfragment_size_v4 = 0": {576, 1400},
		"fragment_size_v6 = 1300": {0, 1300},
	} {
		c := load(t, "charon {\n"+options+"\n}\n"+fmt.Sprintf(minimal, "", ""))
		if got := [2]int{c.IKE.FragmentSize4, c.IKE.FragmentSize6}; got != want || len(warnings(c)) != 0 {
			t.Errorf("%q: %v, want %v; warnings %q", options, got, want, warnings(c))
		}
	}
	got := faults(t, etc("charon {\nfragment_size = 100\n}\n"+fmt.Sprintf(minimal, "", "")))
	if want := "expected 0, or a number from 256 to 65535"; len(got) != 1 || !strings.Contains(got[0], want) {
		t.Errorf("faults %q, want one with %q", got, want)
	}
}
