//go:build lab

package scenario

import (
	"fmt"
	"testing"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// edit is what makes a plain tunnel into a scenario's.
type edit = func(*testing.T, *sites, *link, *siteFiles)

// edits are done one after the other.
func edits(list ...edit) edit {
	return func(t *testing.T, s *sites, l *link, f *siteFiles) {
		for _, e := range list {
			e(t, s, l, f)
		}
	}
}

// bothEnds gives both ends the same lines of ipsec.conf.
func bothEnds(lines string) edit {
	return func(_ *testing.T, _ *sites, l *link, _ *siteFiles) {
		l.a.conn += "\n" + lines
		l.b.conn += "\n" + lines
	}
}

// initiator gives the end that sets the tunnel up lines of its own.
func initiator(lines string) edit {
	return func(_ *testing.T, _ *sites, l *link, _ *siteFiles) { l.a.conn += "\n" + lines }
}

// gateways leaves the networks out: the gateways speak for themselves.
func gateways(_ *testing.T, _ *sites, l *link, _ *siteFiles) {
	for _, g := range []*siteEnd{&l.a, &l.b} {
		g.net, g.host, g.hosts = "", g.addr, g.ns
	}
}

// roadWarrior makes the initiator a single host that may come from anywhere.
func roadWarrior(_ *testing.T, _ *sites, l *link, _ *siteFiles) {
	l.b.peer = "%any"
	l.a.net, l.a.host, l.a.hosts = "", l.a.addr, l.a.ns
}

// addressesAsIDs leaves the identities out: they are the addresses.
func addressesAsIDs(_ *testing.T, _ *sites, l *link, _ *siteFiles) { l.a.id, l.b.id = "", "" }

// swappedSides has each end on the right.
func swappedSides(_ *testing.T, _ *sites, l *link, _ *siteFiles) {
	l.a.swapped, l.b.swapped = true, true
}

// outerSix and innerSix are the addresses of IPv6 on either side of the tunnel.
func outerSix(_ *testing.T, s *sites, l *link, _ *siteFiles) { outside6(s, l) }
func innerSix(_ *testing.T, s *sites, l *link, _ *siteFiles) { inside6(s, l) }

// secondNets gives each end another network beside the first.
func secondNets(_ *testing.T, s *sites, l *link, _ *siteFiles) {
	us, them := s.ends(l)
	us.net += "," + aliceNet(l.n+secondNet)
	them.net += "," + bobNet(l.n+secondNet)
}

func pingSecond(t *testing.T, s *sites, l *link) {
	labtest.Ping(t, s.alice, 2, "-I", aliceAt(l.n+secondNet), bobAt(l.n+secondNet))
}

// alsoSections spreads a connection over sections.
func alsoSections(_ *testing.T, _ *sites, l *link, _ *siteFiles) {
	for _, g := range []*siteEnd{&l.a, &l.b} {
		g.conn = "also=" + l.name + "-lifetimes"
		g.more = fmt.Sprintf("conn %[1]s-lifetimes\n\tikelifetime=60m\n\tkeylife=20m\n\trekeymargin=3m\n\talso=%[1]s-tries\nconn %[1]s-tries\n\tkeyingtries=1\n", l.name)
	}
}

// certified gives both ends a certificate that leftcert names, for a kind of key. The
// initiator has no leftid: its identity is then the certificate's subject.
func certified(key string) edit {
	secret := "ECDSA"
	if key == "rsa" {
		secret = "RSA"
	}
	return func(t *testing.T, s *sites, l *link, f *siteFiles) {
		us, them := s.ends(l)
		f.ours.crl(t, "root", f.ca.root)
		f.ca.issue(t, f.ours, l.name, us.id, credential{key: key}, nil)
		f.ca.issue(t, f.theirs, l.name, them.id, credential{key: key}, nil)
		l.a.id = ""
		for _, g := range []*siteEnd{us, them} {
			g.conn += fmt.Sprintf("\nauthby=pubkey\nleftcert=%s%s.pem", certsFolder, l.name)
			g.secrets = fmt.Sprintf(": %s %s%s.pem\n", secret, keysFolder, l.name)
		}
		l.b.conn += fmt.Sprintf("\nrightid=\"C=CH, O=Lab, CN=%s\"", subjectOf(l, s))
	}
}

// subjectOf is the common name of the initiator.
func subjectOf(l *link, s *sites) string {
	if l.a.ns == s.us {
		return l.name + ".us.example"
	}
	return l.name + ".them.example"
}

// rawRSA gives each end a key, and the other's public key, without certificates.
func rawRSA(t *testing.T, s *sites, l *link, f *siteFiles) {
	withRawKeysOf(t, s, l, f, "rsa")
	us, them := s.ends(l)
	for _, own := range []struct {
		side, other *siteEnd
		name        string
	}{{us, them, l.name + "-our"}, {them, us, l.name + "-their"}} {
		own.side.local, own.other.remote = "", ""
		own.side.conn += fmt.Sprintf("\nauthby=pubkey\nleftsigkey=%s%s.pem", pubkeysFolder, own.name)
		own.other.conn += fmt.Sprintf("\nrightsigkey=%s%s.pem", pubkeysFolder, own.name)
		own.side.secrets = fmt.Sprintf(": RSA %s%s.pem\n", keysFolder, own.name)
	}
}

// dualProtocols lets ICMP and TCP have a CHILD_SA each.
func dualProtocols(_ *testing.T, _ *sites, l *link, _ *siteFiles) {
	ports := map[*siteEnd][2]string{&l.a: {"tcp", fmt.Sprintf("tcp/%d", firstPort)}, &l.b: {fmt.Sprintf("tcp/%d", firstPort), "tcp"}}
	for g, p := range ports {
		other := &l.a
		if g == other {
			other = &l.b
		}
		second := *l
		second.name += "-2"
		end := *g
		end.conn = fmt.Sprintf("leftprotoport=%s\nrightprotoport=%s", p[0], p[1])
		g.more = second.ipsecConf(&end, other)
		g.conn = "leftprotoport=icmp\nrightprotoport=icmp"
	}
}

// sendTCP sends through the second CHILD_SA.
func sendTCP(t *testing.T, _ *sites, l *link) {
	l.a.control.Initiate(t, l.name+"-2")
	labtest.IperfServers(t, l.b.hosts, firstPort)
	labtest.RunFlows(t, labtest.Flow{From: l.a.hosts, Bind: l.a.host, To: l.b.host, Port: firstPort, Bytes: 20_000})
	for _, g := range []siteEnd{l.a, l.b} {
		labtest.WaitFor(t, setupTime, g.ns.Role+" has counted both children's packets", func() error { return bothCarried(g, l.name) })
	}
}
