package starter

import (
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ipsecd/ipsecd/cmd/internal/config/ipsecconf"
	"github.com/ipsecd/ipsecd/cmd/internal/config/settings"
)

// translate reads an ipsec.conf on the host 192.0.2.1.
func translate(t *testing.T, text string) Result {
	t.Helper()
	f, err := ipsecconf.Parse(fstest.MapFS{"etc/ipsec.conf": {Data: []byte(text)}}, "/etc/ipsec.conf")
	if err != nil {
		t.Fatal(err)
	}
	us := netip.MustParseAddr("192.0.2.1")
	return Translate(f, nil, Options{Dir: "/etc", Local: func(a netip.Addr) bool { return a == us }})
}

// keys lists all values as "a.b.key": "value".
func keys(s *settings.Section) map[string]string {
	out := map[string]string{}
	for _, k := range s.Keys() {
		out[k.Name] = k.Value.Text
	}
	for _, sub := range s.Sections() {
		for k, v := range keys(sub) {
			out[sub.Name+"."+k] = v
		}
	}
	return out
}

// connection returns what a conn section "a" says, with auto=add and further
// lines.
func connection(t *testing.T, lines ...string) map[string]string {
	t.Helper()
	r := translate(t, "conn a\n auto=add\n "+strings.Join(lines, "\n ")+"\n")
	for _, e := range append(r.Errors, r.Warnings...) {
		t.Errorf("%q: %v", lines, e)
	}
	out := map[string]string{}
	for k, v := range keys(r.Root) {
		k = strings.TrimPrefix(k, "connections.a.")
		out[strings.Replace(k, "children.a.", "child.", 1)] = v
	}
	return out
}

// What a section that says almost nothing means. These are starter's defaults where
// they are not swanctl.conf's.
func TestDefaults(t *testing.T) {
	want := map[string]string{
		"local_addrs": "%any", "remote_addrs": "198.51.100.1", "local.auth": "pubkey", "remote.auth": "pubkey", "remote.id": "198.51.100.1",
		"keyingtries": "3", "unique": "replace", "rekey_time": "0", "reauth_time": "10260s", "over_time": "540s", "rand_time": "540s",
		"child.rekey_time": "3060s", "child.life_time": "3600s", "child.rand_time": "540s", "child.start_action": "none",
	}
	if got := connection(t, "right=198.51.100.1"); !maps.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestParameters(t *testing.T) {
	for _, c := range []struct {
		lines string // separated by ";"
		want  string // keys with values, separated by ";"; "key=-" is not set
	}{
		{"keyexchange=ikev2", "version=2"},
		{"keyexchange=ike", "version=0"},
		{"auto=route", "child.start_action=trap"},
		{"auto=start", "child.start_action=start"},
		{"type=transport", "child.mode=transport"},
		{"ike=aes256-sha256-modp2048", "proposals=aes256-sha256-modp2048,default"},
		{"ike=aes256-sha256-modp2048!", "proposals=aes256-sha256-modp2048"},
		{"esp=aes256gcm16-modp2048,aes128!", "child.esp_proposals=aes256gcm16-modp2048,aes128"},
		{"ah=sha256!", "child.ah_proposals=sha256;child.esp_proposals=-"},
		{"left=192.0.2.1", "local_addrs=192.0.2.1;local.id=192.0.2.1"},
		{"left=%defaultroute", "local_addrs=%any;local.id=-"},
		{"left=192.0.2.9;right=192.0.2.1;rightid=@us;leftid=@them;leftsubnet=10.2.0.0/16;rightsubnet=10.1.0.0/16",
			"local_addrs=192.0.2.1;remote_addrs=192.0.2.9;local.id=@us;remote.id=@them;child.local_ts=10.1.0.0/16;child.remote_ts=10.2.0.0/16"},
		{"left=192.0.2.8;right=192.0.2.9", "local_addrs=192.0.2.8"},
		{"right=%gw.example", "remote_addrs=gw.example, 0.0.0.0/0, ::/0;remote.id=-"},
		{"right=gw.example", "remote_addrs=gw.example;remote.id=gw.example"},
		{"right=198.51.100.1;rightallowany=yes", "remote_addrs=198.51.100.1, 0.0.0.0/0, ::/0;remote.id=-"},
		{"right=%any", "remote_addrs=%any;remote.id=-"},
		{"right=198.51.100.1,198.51.100.2", "remote_addrs=198.51.100.1,198.51.100.2;remote.id=-"},
		{"leftikeport=4500;rightikeport=4501", "local_port=4500;remote_port=4501"},
		{"rightid=%gw.example", "remote.id=gw.example"},
		{"rightid=%any", "remote.id=%any"},
		{"leftsubnet=10.1.0.0/16,10.2.0.0/16", "child.local_ts=10.1.0.0/16, 10.2.0.0/16"},
		{"leftsubnet=10.1.0.0/16[tcp/http], %dynamic[17/1701]", "child.local_ts=10.1.0.0/16[tcp/80], dynamic[17/1701]"},
		{"leftprotoport=tcp/22", "child.local_ts=dynamic[tcp/22];child.remote_ts=-"},
		{"leftprotoport=17/%any", "child.local_ts=dynamic[17]"},
		{"leftprotoport=%any/%any", "child.local_ts=dynamic"},
		{"leftprotoport=gre;leftsubnet=10.1.0.0/16,10.2.0.0/16[udp/%opaque]", "child.local_ts=10.1.0.0/16[gre], 10.2.0.0/16[udp/opaque]"},
		{"rightprotoport=udp/1000-2000", "child.remote_ts=dynamic[udp/1000-2000]"},
		{"authby=secret", "local.auth=psk;remote.auth=psk"},
		{"authby=psk;rightauth=pubkey", "local.auth=psk;remote.auth=pubkey"},
		{"leftauth=secret;rightauth=rsa-2048-sha256", "local.auth=psk;remote.auth=rsa-2048-sha256"},
		{"leftcert=us.pem", "local.certs=/etc/ipsec.d/certs/us.pem;local.id=-"},
		{"leftcert=/x/us.pem, b.pem;leftid=us.example", "local.certs=/x/us.pem, /etc/ipsec.d/certs/b.pem;local.id=us.example"},
		{"right=198.51.100.1;rightcert=them.pem", "remote.certs=/etc/ipsec.d/certs/them.pem;remote.id=-"},
		{"leftsigkey=us.pub;rightrsasigkey=0sAQID", "local.pubkeys=/etc/ipsec.d/certs/us.pub;remote.pubkeys=0sAQID"},
		{"rightca=\"C=CH, CN=ca\"", "remote.ca_id=C=CH, CN=ca"},
		{"leftca=\"C=CH, CN=ca\";rightca=%same;leftcert=a", "remote.ca_id=C=CH, CN=ca"},
		{"leftsendcert=never;rightsendcert=no", "send_cert=never;send_certreq=no"},
		{"leftsendcert=yes", "send_cert=always;send_certreq=-"},
		{"rightgroups=a,b;rightcertpolicy=1.2.3", "remote.groups=a,b;remote.cert_policy=1.2.3"},
		{"leftauth2=eap;leftid2=carol", "local-2.auth=eap;local-2.round=2;local-2.id=carol"},
		{"rightauth=eap-radius;eap_identity=%identity;aaa_identity=\"C=x\"", "remote.auth=eap-radius;remote.eap_id=%any"},
		{"ikelifetime=31680s;lifetime=31680s", "reauth_time=31140s;child.life_time=31680s;child.rekey_time=31140s"},
		{"keylife=20m;rekeymargin=3m;rekeyfuzz=50%;ikelifetime=1h;reauth=no", "rekey_time=3420s;reauth_time=-;rand_time=90s;over_time=180s;child.rekey_time=1020s;child.life_time=1200s;child.rand_time=90s"},
		{"rekey=no", "rekey_time=0;reauth_time=-;child.rekey_time=0;child.life_time=0"},
		{"lifebytes=1000;marginbytes=200;rekeyfuzz=50%", "child.life_bytes=1000;child.rekey_bytes=800;child.rand_bytes=100"},
		{"lifepackets=1000", "child.life_packets=1000;child.rekey_packets=-"},
		{"dpdaction=restart", "dpd_delay=30s;child.dpd_action=start"},
		{"dpdaction=hold;dpddelay=5s;dpdtimeout=9s", "dpd_delay=5s;child.dpd_action=trap"},
		{"dpdaction=clear", "dpd_delay=30s;child.dpd_action=none"},
		{"dpdaction=none;dpddelay=5s", "dpd_delay=-;child.dpd_action=-"},
		{"closeaction=restart", "child.close_action=start"},
		{"keyingtries=%forever", "keyingtries=0"},
		{"mobike=no;forceencaps=yes;fragmentation=force", "mobike=no;encap=yes;fragmentation=force"},
		{"mark=42", "child.mark_in=42;child.mark_out=42"},
		{"mark=%unique/0xff", "child.mark_in=%unique/0xff;child.mark_out=%unique/0xff"},
		{"mark_in=1/1;mark_out=2;reqid=7;replay_window=64;if_id_out=9", "child.mark_in=1/1;child.mark_out=2;child.reqid=7;child.replay_window=64;child.if_id_out=9"},
		{"compress=yes;tfc=%mtu;inactivity=5m;installpolicy=no", "child.ipcomp=yes;child.tfc_padding=mtu;child.inactivity=5m;child.policies=no"},
		{"leftupdown=/x y;lefthostaccess=yes", "child.updown=/x y;child.hostaccess=yes"},
		{"leftfirewall=yes;lefthostaccess=yes", "child.updown=ipsec _updown iptables;child.hostaccess=yes"},
		{"rightfirewall=yes", "child.updown=-"},
		{"leftsourceip=%config", "vips=0.0.0.0"},
		{"leftsourceip=%config;rightsubnet=2001:db8::/32", "vips=::"},
		{"leftsourceip=%config6, 10.0.0.9", "vips=::, 10.0.0.9"},
		{"rightsourceip=10.3.0.0/24,%dhcp;rightdns=10.1.0.1", "pools=10.3.0.0/24, dhcp;pools.10.3.0.0/24.addrs=10.3.0.0/24;pools.10.3.0.0/24.dns=10.1.0.1"},
		{"type=passthrough;leftsubnet=10.1.0.0/16;rightsubnet=10.1.0.0/16;authby=never", "child.mode=pass;local.auth=-;local_addrs=-;child.local_ts=10.1.0.0/16"},
		{"type=drop", "child.mode=drop"},
		{"ikedscp=101110", "dscp=101110"},
		{"mediation=yes;me_peerid=@x", "mediation=yes;mediation_peer=@x"},
	} {
		got := connection(t, strings.Split(c.lines, ";")...)
		for w := range strings.SplitSeq(c.want, ";") {
			key, value, _ := strings.Cut(w, "=")
			if text, ok := got[key]; value == "-" && ok || value != "-" && text != value {
				t.Errorf("%s: %s = %q, want %q", c.lines, key, text, value)
			}
		}
	}
}

func TestSetupAndCA(t *testing.T) {
	r := translate(t, `config setup
  uniqueids=never
  strictcrlpolicy=ifuri
conn a
  auto=add
ca x
  cacert=ca.pem
  crluri=http://crl/1
  crluri2=http://crl/2
  ocspuri=http://ocsp
  certuribase=http://certs/
  auto=add
ca unused
  cacert=other.pem
`)
	got := keys(r.Root)
	for key, want := range map[string]string{
		"connections.a.unique": "never", "connections.a.remote.revocation": "ifuri",
		"authorities.x.file": "/etc/ipsec.d/cacerts/ca.pem", "authorities.x.crl_uris": "http://crl/1, http://crl/2",
		"authorities.x.ocsp_uris": "http://ocsp", "authorities.x.cert_uri_base": "http://certs/", "authorities.unused.file": "",
	} {
		if got[key] != want {
			t.Errorf("%s = %q, want %q", key, got[key], want)
		}
	}
	if len(r.Errors)+len(r.Warnings) > 0 {
		t.Error(r.Errors, r.Warnings)
	}
}

// Between the same two ends there is one connection, however many sections say so.
func TestSectionsOfOnePeerAreOneConnection(t *testing.T) {
	r := translate(t, `conn %default
  auto=add
  authby=psk
conn a
  right=198.51.100.1
  rightsubnet=10.1.0.0/16
conn b
  right=198.51.100.1
  rightsubnet=10.2.0.0/16
conn other
  right=198.51.100.2
conn template
  auto=ignore
`)
	var got []string
	for _, c := range r.Root.Section("connections").Sections() {
		for _, child := range c.Section("children").Sections() {
			got = append(got, c.Name+"."+child.Name)
		}
	}
	if want := []string{"a.a", "a.b", "other.other"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestProblems(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"keyexchange=ikev1", "/etc/ipsec.conf:3: conn a is skipped: IKEv1 (keyexchange=ikev1) is not supported; ikev2 is"},
		{"auto=begin", `/etc/ipsec.conf:3: conn a: auto = "begin": expected one of add, ignore, route, start`},
		{"lifetime=1x", `/etc/ipsec.conf:3: conn a: lifetime = "1x": expected a time such as 30s, 10m, 4h or 1d`},
		{"rekeyfuzz=50", `/etc/ipsec.conf:3: conn a: rekeyfuzz = "50": expected a number followed by %`},
		{"reauth=maybe", `/etc/ipsec.conf:3: conn a: reauth = "maybe": expected one of no, yes`},
		{"leftprotoport=tcp/nosuchservice", `/etc/ipsec.conf:3: conn a: leftprotoport = "tcp/nosuchservice": port nosuchservice: expected a number up to 65535, a range, the name of a service, %any or %opaque`},
		{"leftcert=%smartcard", `/etc/ipsec.conf:3: conn a: leftcert = "%smartcard": certificates on smartcards are not supported; expected names of files in ipsec.d/certs`},
		{"leftsubnet=vhost:%no", `/etc/ipsec.conf:3: conn a: leftsubnet = "vhost:%no": virtual hosts are no longer known; expected networks such as 10.1.0.0/16`},
		{"lifetime=5m", "/etc/ipsec.conf:3: conn a: a life of 300s is no longer than the margin of 540s before it ends; a tenth of it is used"},
		{"ikelifetiem=1h", "/etc/ipsec.conf:3: conn a: the parameter ikelifetiem is not known, and passed over; did you mean ikelifetime?"},
		{"leftdns=%config4", "/etc/ipsec.conf:3: conn a: leftdns is not honoured; it would ask the peer for DNS servers"},
		{"pfs=yes", ""},
	} {
		r := translate(t, "conn a\n auto=add\n "+c.line+"\n")
		var got []string
		for _, e := range append(r.Errors, r.Warnings...) {
			got = append(got, e.Error())
		}
		if s := strings.Join(got, "\n"); s != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.line, s, c.want)
		}
	}
}

func TestSecrets(t *testing.T) {
	s, err := ipsecconf.ParseSecrets(fstest.MapFS{"s": {Data: []byte(`192.0.2.1 192.0.2.2 : PSK "a"
%any @x : PSK 0x6162
: PSK c
: RSA key.pem "pass"
: ECDSA /x/key.pem
@us : PSK "d"
@us : PSK "e"
carol : EAP "f"
: BLISS b.der
: RSA asked.pem %prompt
`)}}, "/s")
	if err != nil {
		t.Fatal(err)
	}
	r := Translate(nil, s, Options{Dir: "/etc"})
	want := map[string]string{
		"ike-192.0.2.1 192.0.2.2.id-0": "192.0.2.1", "ike-192.0.2.1 192.0.2.2.id-1": "192.0.2.2", "ike-192.0.2.1 192.0.2.2.secret": "0x61",
		"ike-%any @x.id-1": "@x", "ike-%any @x.secret": "0x6162", "ike-%any.secret": "0x63",
		"private-key.pem.file": "/etc/ipsec.d/private/key.pem", "private-key.pem.secret": "0x70617373", "private-/x/key.pem.file": "/x/key.pem",
		"ike-@us.id-0": "@us", "ike-@us.secret": "0x64", "ike-@us#2.id-0": "@us", "ike-@us#2.secret": "0x65",
		"eap-carol.id-0": "carol", "eap-carol.secret": "0x66", "private-asked.pem.file": "/etc/ipsec.d/private/asked.pem", "private-asked.pem.secret": Prompt,
	}
	if got := keys(r.Root.Section("secrets")); !maps.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if len(r.Warnings) != 1 {
		t.Error(r.Warnings)
	}
}

// Whatever the file says, no section is lost and every problem has a place.
func FuzzTranslate(f *testing.F) {
	f.Add("conn %default\n auto=start\n lifetime=0\n margintime=1d\nconn a\n leftsubnet=[,],[tcp/x]\n leftprotoport=/-\n rightsourceip=%,::/0\n")
	f.Add("config setup\n uniqueids=keep\nca x\n auto=add\n cacert=%\nconn a\n auto=route\n also=b\nconn b\n left=%\n right=%%,192.0.2.1\n rekeyfuzz=%")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := ipsecconf.Parse(fstest.MapFS{"f": {Data: []byte(text)}}, "/f")
		if err != nil {
			return
		}
		r := Translate(file, nil, Options{Dir: "/etc", Local: func(netip.Addr) bool { return true }})
		for _, e := range append(r.Errors, r.Warnings...) {
			if e.File != "/f" || e.Line < 1 {
				t.Errorf("without a place: %v", e)
			}
		}
	})
}
