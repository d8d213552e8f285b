package vici

import (
	"crypto/x509"

	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/auth"
)

// listConns streams one list-conn event for each configured connection.
func (c *call) listConns() error {
	for _, conn := range c.ctl.Status().Config.IKE.Connections {
		if want := c.req.Keys["ike"]; want != "" && want != conn.Name {
			continue
		}
		if !c.stream("list-conn", func(b *Builder) { writeConn(b, conn) }) {
			return nil
		}
	}
	return nil
}

func writeConn(b *Builder, conn *ike.Connection) {
	b.Section(conn.Name, func() {
		b.List("local_addrs", addrStrings(conn.LocalAddrs))
		b.List("remote_addrs", addrStrings(conn.RemoteAddrs))
		b.Key("version", "IKEv2")
		b.Keyf("reauth_time", "%d", seconds(conn.ReauthTime))
		b.Keyf("rekey_time", "%d", seconds(conn.RekeyTime))
		b.Key("unique", uniqueNames[conn.Unique])
		if conn.DPDDelay != 0 {
			b.Keyf("dpd_delay", "%d", seconds(conn.DPDDelay))
		}
		if !conn.PPKID.IsAny() {
			b.Key("ppk_id", conn.PPKID.String())
		}
		b.Flag("ppk_required", conn.PPKRequired)
		writeAuth(b, "local-1", conn.Local)
		writeAuth(b, "remote-1", conn.Remote)
		b.Section("children", func() {
			for _, ch := range conn.Children {
				writeChildConfig(b, ch)
			}
		})
	})
}

var uniqueNames = map[ike.UniquePolicy]string{
	ike.UniqueNo: "UNIQUE_NO", ike.UniqueNever: "UNIQUE_NEVER", ike.UniqueKeep: "UNIQUE_KEEP", ike.UniqueReplace: "UNIQUE_REPLACE",
}

func addrStrings(list []ike.AddrMatch) []string {
	if len(list) == 0 {
		return []string{"%any"}
	}
	out := make([]string, len(list))
	for i, m := range list {
		out[i] = m.String()
	}
	return out
}

func writeAuth(b *Builder, section string, a ike.AuthConfig) {
	b.Section(section, func() {
		class := "public key"
		if a.Method == ike.AuthPSK {
			class = "pre-shared key"
		}
		if !a.ID.IsAny() {
			b.Key("id", a.ID.String())
		}
		b.Key("class", class)
		if state := revocationStates[a.Terms.Revocation]; state != "" {
			b.Key("revocation", state)
		}
		b.List("groups", nil) // ours have none
		policies := make([]string, len(a.Terms.Policies))
		for i, p := range a.Terms.Policies {
			policies[i] = p.String()
		}
		b.List("cert_policy", policies)
		b.List("certs", subjects(a.Terms.Certs))
		b.List("cacerts", subjects(a.Terms.CACerts))
	})
}

// revocationStates are the least states of the peer's certificates that a policy accepts; relaxed asks for none.
var revocationStates = map[auth.RevocationPolicy]string{auth.RevocationStrict: "GOOD", auth.RevocationIfURI: "SKIPPED"}

// subjects names certificates as charon does.
func subjects(certs []*x509.Certificate) []string {
	var names []string
	for _, c := range certs {
		names = append(names, auth.Subject(c).String())
	}
	return names
}

func writeChildConfig(b *Builder, ch *ike.ChildConfig) {
	b.Section(ch.Name, func() {
		b.Key("mode", ch.Mode.String())
		b.Keyf("rekey_time", "%d", seconds(ch.RekeyTime))
		b.Keyf("rekey_bytes", "%d", ch.RekeyBytes)
		b.Keyf("rekey_packets", "%d", ch.RekeyPackets)
		b.Key("dpd_action", actionNames[ch.DPDAction])
		b.Key("close_action", actionNames[ch.CloseAction])
		b.List("local-ts", selectors(ch.LocalTS))
		b.List("remote-ts", selectors(ch.RemoteTS))
		if ch.PolicyInterface != "" {
			b.Key("interface", ch.PolicyInterface)
		}
		if ch.Priority != 0 {
			b.Keyf("priority", "%d", ch.Priority)
		}
	})
}

var actionNames = map[ike.ChildAction]string{
	ike.ActionClear: "none", ike.ActionTrap: "trap", ike.ActionStart: "start", ike.ActionTrapStart: "trap|start",
}
