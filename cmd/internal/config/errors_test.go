package config

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
)

// at fills in minimal; the keys of the connection are on line 6, those of the
// child on line 8.
func at(conn, child string) string { return fmt.Sprintf(minimal, conn, child) }

// The texts are what an operator acts on: they name the line, what was found
// and what was expected.
func TestConnectionErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{at("rekey_time = 4x", ""), `6: connections.hq.rekey_time = "4x": expected a time such as 30s, 10m, 4h or 1d`},
		{at("rekeytime = 4h", ""), `6: unknown key connections.hq.rekeytime; did you mean rekey_time?`},
		{at("childrn { }", ""), `6: unknown section connections.hq.childrn; did you mean children?`},
		{at("proposals = aes256-sha256", ""), `6: connections.hq.proposals = "aes256-sha256": IKE proposal "aes256-sha256": no DH group; add one such as ecp256, x25519 or modp2048`},
		{at("proposals = ,", ""), `6: connections.hq.proposals = ",": expected at least one proposal, or default`},
		{at("unique = sometimes", ""), `6: connections.hq.unique = "sometimes": expected one of keep, never, no, replace`},
		{at("encap = maybe", ""), `6: connections.hq.encap = "maybe": expected yes or no`},
		{at("if_id_out = %unik", ""), `6: connections.hq.if_id_out = "%unik": expected a number from 0 to 4294967295, %unique or %unique-dir`},
		{at("ppk_required = yes", ""), `2: connections.hq has ppk_required = yes, and there is no post-quantum pre-shared key: add a section ppk to secrets`},
		{at("ppk_id = fleet  \n ppk_required = yes", "") + "\nsecrets { ppk-x { id = other\n secret = x } }", `2: connections.hq.ppk_id = fleet has no key: no ppk section of secrets has that id`},
		{at("dpd_delay = 10s  mobike = no", ""), `6: connections.hq.dpd_delay = "10s mobike = no": a value goes on to the end of its line; put "mobike = …" on a line of its own`},
		{at("", "life_time = 1h\nrekey_time = 2h"), `8: connections.hq.children.net.life_time is not longer than rekey_time: the CHILD_SA would end before it is rekeyed`},
		{at("", "replay_window = 5000"), `8: connections.hq.children.net.replay_window = "5000": expected a number from 0 to 4096`},
		{at("", "start_action = hold"), `8: connections.hq.children.net.start_action = "hold": expected none, trap, start or trap|start`},
		{at("", "local_ts = 10.1.0.0/16, lan"), `8: connections.hq.children.net.local_ts = "10.1.0.0/16, lan": "lan": expected a subnet such as 10.1.0.0/16, a range, or dynamic; then optionally [protocol/port]`},
		{"connections { hq = yes }", `1: found the key hq, expected connections: sections with the keys of one each`},
		{"connections { hq {\n remote_addrs = 192.0.2.1\n remote { auth = psk }\n} }\nsecrets { ike { secret = x } }", `1: connections.hq has no section local; expected local { auth = psk } or local { auth = pubkey }`},
		{"connections { hq {\n local { id = a }\n remote { auth = psk }\n} }\nsecrets { ike { secret = x } }", `1: connections.hq.local: there is no certificate with a private key for 'a'`},
		{strings.Replace(at("local_addrs = 10.0.0.1", ""), "ike {", "ike { id = 192.0.2.2\n", 1), `2: connections.hq has no pre-shared key: no ike section of secrets has the id 192.0.2.1 or 10.0.0.1`},
		{strings.Replace(at("", ""), "secret = s3cret", "", 1), `12: secrets.ike has no key; expected secret = "…", or file = the name of a file that holds it`},
	} {
		if got := faults(t, etc(c.text)); !slices.Equal(got, []string{c.want}) {
			t.Errorf("%s\n got %q\nwant %q", c.text, got, c.want)
		}
	}
}

func TestSecretErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"secrets { ike { secret = 0x1 } }", `1: secrets.ike.secret: after 0x an even number of hexadecimal digits is expected`},
		{"secrets { ike { secret = 0s! } }", `1: secrets.ike.secret: after 0s base64 is expected`},
		{"secrets { ike { secret = \"\" } }", `1: secrets.ike.secret: the key is empty`},
		{"secrets { ike { file = none } }", `1: secrets.ike.file = "none": /etc/ipsecd/none: file does not exist`},
		{"secrets { ike { file = open } }", `1: secrets.ike.file = "open": /etc/ipsecd/open can be read by others than its owner (mode 0640); run: chmod 600 /etc/ipsecd/open`},
		{"secrets { ike { file = long } }", `1: secrets.ike.file = "long": /etc/ipsecd/long is longer than 65536 octets`},
		{"secrets { ike { file = blank } }", `1: secrets.ike.file = "blank": the key is empty`},
		{"secrets { ike { file = a\nsecret = hush } }", `1: secrets.ike has both secret and file; expected one of them`},
		{"secrets { ike-k { secret = hush\nids = x\nsekret = y } }", `3: unknown key secrets.ike-k.sekret; did you mean secret?`},
		{"secrets { token-a { } }", ""},
		{"secrets { rsakey { } }", `1: secrets.rsakey has no file; expected the name of a private key`},
		{"secrets { rsakey { file = none } }", `1: secrets.rsakey.file = "none": there is no file /etc/ipsecd/rsa/none or /etc/ipsecd/private/none`},
		{"secrets { kie-a { secret = hush } }", `1: unknown kind of secret kie-a; a pre-shared key is in a section that begins with ike`},
	} {
		if c.want == "" {
			load(t, c.text)
			continue
		}
		fsys := etc(c.text, "open", "k", "long", strings.Repeat("x", maxSecretFile+1), "blank", "\n")
		fsys["etc/ipsecd/open"].Mode = 0o640
		got := faults(t, fsys)
		if !slices.Equal(got, []string{c.want}) {
			t.Errorf("%s\n got %q\nwant %q", c.text, got, c.want)
		}
		if strings.Contains(strings.Join(got, ""), "hush") {
			t.Errorf("the secret is in the message: %q", got)
		}
	}
}

const twoInterfaces = `interfaces {
 a { if_id = 1
     addresses = 169.254.21.5/31
 }
 b { if_id = 2
     addresses = 169.254.21.9/30
 }
}
`

func bgpWith(neighbor string) string {
	return twoInterfaces + "bgp {\n as = 65515\n router_id = 10.0.0.1\n neighbors {\n x {\n as = 31898\n" + neighbor + "\n} } }\n"
}

func TestHandlingErrors(t *testing.T) {
	for _, c := range []struct{ child, want string }{
		{"set_mark_in = %same", `8: connections.hq.children.net.set_mark_in = "%same": %same needs mark_in or mark_out`},
		{"mark_in = %unique/0", `8: connections.hq.children.net.mark_in = "%unique/0": the mask 0 leaves no room for a mark`},
		{"mode = drop\nif_id_out = %unique", `9: connections.hq.children.net.if_id_out: a shunt has no SA that could get a number of its own; expected a number`},
		{"copy_dscp = both", `8: connections.hq.children.net.copy_dscp = "both": expected one of false, in, no, out, true, yes`},
		{"tfc_padding = max", `8: connections.hq.children.net.tfc_padding = "max": expected a number of octets up to 65535, or mtu`},
		{"replay_window = 0\nesp_proposals = aes128gcm16-esn", `8: connections.hq.children.net.replay_window = 0: esn in esp_proposals needs a window; write noesn, or a window such as 32`},
	} {
		if got := faults(t, etc(at("", c.child))); !slices.Equal(got, []string{c.want}) {
			t.Errorf("%s\n got %q\nwant %q", c.child, got, c.want)
		}
	}
}

func TestOwnSectionErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"interfaces { a { mtu = 1400 } }", `1: interfaces.a has no if_id; expected a number that no other interface has`},
		{"interfaces { a { if_id = 0 } }", `1: interfaces.a.if_id = "0": expected a number from 1 to 4294967295`},
		{"interfaces {\n a { if_id = 1 }\n b { if_id = 1 }\n}", `3: interfaces.b.if_id = 1 is that of interfaces.a too (/etc/ipsecd/ipsecd.conf:2); an if_id belongs to one interface`},
		{"interfaces { a { if_id = 1\nmtuu = 1 } }", `2: unknown key interfaces.a.mtuu; did you mean mtu?`},
		{"interfaces { a { if_id = 1\nmtu = 500 } }", `2: interfaces.a.mtu = "500": expected a number from 576 to 65535`},
		{"interfaces { a { if_id = 1\nmtu = 1000\naddresses = 2001:db8::1/64 } }", `2: interfaces.a.mtu = 1000 is too small for the IPv6 address 2001:db8::1/64; expected at least 1280`},
		{"interfaces { a { if_id = 1\naddresses = 169.254.21.5 } }", `2: interfaces.a.addresses = "169.254.21.5": "169.254.21.5": expected an address with its prefix length, such as 169.254.21.5/31`},
		{"interfaces { an-interface-name { if_id = 1 } }", `1: interfaces.an-interface-name: expected the name of an interface: 1 to 15 characters, no space, slash or colon`},
		{"interfcaes { a { if_id = 1 } }", `1: unknown section interfcaes; did you mean interfaces?`},
		{"protekt = 10.0.0.0/8", `1: unknown key protekt outside of sections; did you mean protect?`},
		{"protect = 10.2.0.1/16", `1: protect = "10.2.0.1/16": "10.2.0.1/16": expected a network without host bits: 10.2.0.0/16, or 10.2.0.1/32 for one address`},
		{"protect = 192.0.2.0/24\n" + at("", ""), `3: connections.hq.remote_addrs: 192.0.2.1 is inside of the protected network 192.0.2.0/24 (/etc/ipsecd/ipsecd.conf:1); the tunnel to it could never come up`},
		{"bgp { as = 1 }", `1: bgp has no router_id; expected an IPv4 address of ours`},
		{bgpWith("interface = a"), `13: bgp.neighbors.x has no address; expected the neighbour's address`},
		{bgpWith("interface = a\naddress = 169.254.21.5"), `16: bgp.neighbors.x.address = 169.254.21.5 is our own address on interface a`},
		{bgpWith("interface = a\naddress = 169.254.21.8"), `16: bgp.neighbors.x.address = 169.254.21.8 is in no subnet of interface a, which has 169.254.21.5/31; correct one of them, or set local_address`},
		{bgpWith("interface = a\naddress = 169.254.21.4\nlocal_address = 169.254.21.7"), `17: bgp.neighbors.x.local_address = 169.254.21.7 is not an address of interface a, which has 169.254.21.5/31`},
		{bgpWith("address = 10.0.0.9\nhold_time = 2s"), `16: bgp.neighbors.x.hold_time = 2s: expected at least 3s`},
		{bgpWith("address = 10.0.0.9\nhold_time = 9s\nkeepalive = 9s"), `17: bgp.neighbors.x.keepalive = 9s: expected less than hold_time (9s)`},
		{bgpWith("address = 10.0.0.9\n}\ny { as = 1\naddress = 10.0.0.9"), `17: bgp.neighbors.y.address = 10.0.0.9 is that of neighbour x too (/etc/ipsecd/ipsecd.conf:13); sessions are told apart by the neighbour's address, so give each far end one of its own`},
		{bgpWith("address = 10.0.0.9\npassword_file = pw"), `16: bgp.neighbors.x.password_file = "pw": expected a password of 1 to 80 octets in the file`},
		{twoInterfaces + at("", "interface = c"), `16: connections.hq.children.net.interface = "c": no such entry of interfaces; did you mean a?`},
		{twoInterfaces + at("", "interface = a\nif_id_out = 2"), `16: connections.hq.children.net.if_id_out: 2, but interface a has the if_id 1 (/etc/ipsecd/ipsecd.conf:2); remove one of the two`},
		{"routing { metric = 10\nguard_metric = 10 }", `2: routing.guard_metric = 10: expected more than metric (10), or the guard routes would hide the learned ones`},
		{"routing { table = local }", `1: routing.table = "local": expected main, or the number of a routing table other than 255`},
		{"metrics { listen = 9814 }", `1: metrics.listen = "9814": expected an address and a port such as 127.0.0.1:9814`},
		{"control { vici = /run/x }", `1: control.vici = "/run/x": expected unix:///run/charon.vici, or tcp:// with an address and port`},
		{"ports { nat_t = 500 }", `1: ports.ike and ports.nat_t are both 500; expected two ports`},
		{"timing { retry_max = 1s }", `1: timing.retry_max (1s) is less than retry_initial (2s)`},
		{"timing { retransmit_base = 0.5 }", `1: timing.retransmit_base = "0.5": expected a number from 1 to 10 such as 1.8`},
		{"limits { children_per_ike = 0 }", `1: limits.children_per_ike = "0": expected a number from 1 to 10000000`},
	} {
		got := faults(t, etc(c.text, "pw", ""))
		if !slices.Equal(got, []string{c.want}) {
			t.Errorf("%s\n got %q\nwant %q", c.text, got, c.want)
		}
	}
}

// All faults are reported at once, in the order of the lines.
func TestAllErrors(t *testing.T) {
	got := faults(t, etc(`bgp { as = 0
}
interfaces {
  a { if_id = x
  }
}
protect = everything
`))
	var lines []string
	for _, e := range got {
		line, _, _ := strings.Cut(e, ":")
		lines = append(lines, line)
	}
	if want := []string{"1", "1", "4", "7"}; !slices.Equal(lines, want) {
		t.Errorf("errors of the lines %v, want %v: %q", lines, want, got)
	}
}

func TestErrorInIncludedFileNamesIt(t *testing.T) {
	_, err := LoadFS(etc("include swanctl.conf", "swanctl.conf", "\nconnections { a = b }"), DefaultPath)
	if err == nil || !strings.HasPrefix(err.Error(), "/etc/ipsecd/swanctl.conf:2: found the key a") {
		t.Errorf("got %v", err)
	}
}

func TestLoadMissingFile(t *testing.T) {
	_, err := Load(t.TempDir() + "/none.conf")
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
