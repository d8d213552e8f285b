//go:build lab

package scenario

import (
	"cmp"
	"fmt"
	"strings"
)

// vendor is the other end of an example, as its vendor has configured it.
type vendor struct {
	name      string // of the connection and its child
	addr      string
	ike, esp  string   // all that it takes, in its order
	ikeLife   int      // seconds
	life      int      // of a CHILD_SA
	want      string   // "ENCRYPTION/KEYSIZE/GROUP" after a rekey, as charon names them; empty: as the tunnel before
	inside    string   // address of its interface; empty: by policies
	selectors []string // its networks, one for each child; host 1 of each answers
	conn      string   // further lines of its connection
	child     string   // of its child
	local     string   // of its section local
	remote    string   // of its section remote
}

var vendors = []vendor{
	{name: "aws1", addr: "198.51.100.11", ike: awsIKE, esp: awsESP, ikeLife: 28800, life: 3600, want: "AES_GCM_16/256/ECP_384", inside: "169.254.11.1"},
	{name: "aws2", addr: "198.51.100.12", ike: awsIKE, esp: awsESP, ikeLife: 28800, life: 3600, inside: "169.254.12.1"},
	{name: "azure", addr: "198.51.100.21", ike: "aes256-sha384-ecp384", esp: "aes256gcm16-ecp384", ikeLife: 28800, life: 27000,
		want: "AES_GCM_16/256/ECP_384", inside: "169.254.21.1"},
	{name: "oci1", addr: "198.51.100.31", ike: ociIKE, esp: ociESP, ikeLife: 28800, life: 3600, want: "AES_GCM_16/256/ECP_384", inside: "169.254.31.1"},
	{name: "oci2", addr: "198.51.100.32", ike: ociIKE, esp: ociESP, ikeLife: 28800, life: 3600, inside: "169.254.32.1"},
	{name: "google0", addr: "198.51.100.41", ike: googleIKE, esp: googleESP, ikeLife: 36000, life: 10800, want: "AES_GCM_16/256/ECP_384", inside: "169.254.41.1"},
	{name: "google1", addr: "198.51.100.42", ike: googleIKE, esp: googleESP, ikeLife: 36000, life: 10800, inside: "169.254.42.1"},
	{name: "asa-lan", addr: "198.51.100.50", ike: "aes256-sha256-ecp256", esp: "aes256-sha256-ecp256", ikeLife: 86400, life: 28800,
		want: "AES_CBC/256/ECP_256", selectors: []string{"10.50.0", "10.50.1"}},
	{name: "fortigate", addr: "198.51.100.60", ike: "aes256-sha256-modp2048", esp: "aes256-sha256-modp2048", ikeLife: 86400, life: 43200,
		want: "AES_CBC/256/MODP_2048", selectors: []string{"10.60.0"}, child: "local_ts = 10.60.0.0/16"},
	{name: "branch", addr: "198.51.100.70", ike: "aes256gcm16-prfsha384-ecp384", esp: "aes256gcm16-ecp384", ikeLife: 14400, life: 3600,
		want: "AES_GCM_16/256/ECP_384", selectors: []string{"10.70.0"}, child: "local_ts = 10.70.0.0/16", conn: "mobike = yes",
		local: "auth = pubkey\ncerts = branch.pem\nid = branch.example.net", remote: "auth = pubkey\nid = gateway.example.org"},
	{name: "hub", addr: "198.51.100.80", ike: "aes128gcm16-prfsha256-x25519", esp: "aes128gcm16-x25519", ikeLife: 14400, life: 3600,
		want: "AES_GCM_16/128/CURVE_25519", selectors: []string{"10.80.1", "10.80.2"}, conn: "mobike = yes"},
	{name: "gre", addr: "198.51.100.90", ike: "aes128gcm16-prfsha256-x25519", esp: "aes128gcm16-x25519", ikeLife: 14400, life: 3600,
		want: "AES_GCM_16/128/CURVE_25519", child: "mode = transport\nlocal_ts = dynamic[gre]\nremote_ts = dynamic[gre]"},
}

// What the clouds take: the strongest is not the first.
const (
	awsIKE    = "aes128-sha256-modp2048, aes256-sha384-ecp256, aes256gcm16-prfsha384-ecp384"
	awsESP    = "aes128-sha256-modp2048, aes256-sha384-ecp256, aes256gcm16-ecp384"
	ociIKE    = "aes256-sha384-ecp384, aes256-sha256-modp2048"
	ociESP    = "aes256gcm16-ecp384, aes128gcm16-modp2048, aes256-sha256-modp2048"
	googleIKE = "aes256gcm16-prfsha512-ecp384, aes128gcm16-prfsha256-modp2048"
	googleESP = "aes256gcm16-ecp384, aes128gcm16-modp2048"
)

// carol is a single host.
const (
	carol     = "198.51.100.100"
	carolConf = `roadwarriors {
version = 2
local_addrs = 198.51.100.100
remote_addrs = 192.0.2.1
vips = 0.0.0.0
proposals = aes256gcm16-prfsha384-ecp384
local {
auth = pubkey
certs = carol.pem
id = carol.hosts.example.org
}
remote {
auth = pubkey
id = gateway.example.org
}
children {
roadwarriors {
esp_proposals = aes256gcm16-ecp384
remote_ts = 10.1.0.0/16
}
}
}
`
)

// greInner are the addresses of the example with GRE.
const greInner, greInnerThem = "172.16.90.1", "172.16.90.2"

// conf writes the connection and the secret of the vendor's end. The network of the
// gateway is that of all examples.
func (v vendor) conf(ifID int) (conn, secret string) {
	ts := "remote_ts = 10.1.0.0/16"
	if v.inside != "" {
		ts = fmt.Sprintf("local_ts = 0.0.0.0/0\nremote_ts = 0.0.0.0/0\nif_id_in = %[1]d\nif_id_out = %[1]d", ifID)
	}
	children := ""
	for i, name := range v.children() {
		local := ""
		if len(v.selectors) > 0 {
			local = "local_ts = " + v.selectors[i] + ".0/24"
		}
		children += fmt.Sprintf("%s {\nesp_proposals = %s\nrekey_time = %ds\nlife_time = %ds\n%s\n%s\n%s\n}\n", name, v.esp, v.life*9/10, v.life, ts, local, v.child)
	}
	conn = fmt.Sprintf(`%s {
version = 2
mobike = no
local_addrs = %s
remote_addrs = %s
proposals = %s
rekey_time = %ds
over_time = %ds
%s
local {
%s
}
remote {
%s
}
children {
%s}
}
`, v.name, v.addr, exampleGateway, v.ike, v.ikeLife*9/10, v.ikeLife/10, v.conn, cmp.Or(v.local, "auth = psk\nid = "+v.addr),
		cmp.Or(v.remote, "auth = psk\nid = "+exampleGateway), children)
	if v.local == "" {
		secret = fmt.Sprintf("ike-%s {\nid-a = %s\nid-b = %s\nsecret = \"%s\"\n}\n", v.name, v.addr, exampleGateway, v.key())
	}
	return conn, secret
}

func (v vendor) key() string { return "the key of " + v.addr }

// children are the names of the vendor's: those of its connection but for the ASA.
func (v vendor) children() []string {
	if v.name == "asa-lan" {
		return []string{"asa-lan", "asa-dmz"}
	}
	names := []string{v.name}
	for i := 1; i < len(v.selectors); i++ {
		names = append(names, fmt.Sprintf("%s-%d", v.name, i+1))
	}
	return names
}

// peers are the addresses that answer through the tunnel, and those that they are asked from.
func (v vendor) hosts() (us string, them []string) {
	switch {
	case v.name == "gre":
		return greInner, []string{greInnerThem}
	case v.inside != "":
		return strings.TrimSuffix(v.inside, "1") + "2", []string{v.inside}
	}
	for _, s := range v.selectors {
		them = append(them, s+".1")
	}
	return exampleHost, them
}
