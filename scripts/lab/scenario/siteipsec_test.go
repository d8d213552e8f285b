//go:build lab

package scenario

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"strings"
	"testing"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// ipsecDefaults is what all connections of an ipsec.conf have in common.
const ipsecDefaults = `conn %default
	keyexchange=ikev2
	mobike=no
	authby=secret
	ike=aes128gcm16-prfsha256-x25519!
`

// ipsecConf writes the connection for one end as ipsec.conf has it. The further
// lines and sections of the end are in its words then.
func (l *link) ipsecConf(me, other *siteEnd) string {
	mine, its := "left", "right"
	if me.swapped {
		mine, its = its, mine
	}
	var b strings.Builder
	fmt.Fprintf(&b, "conn %s\n\tauto=add\n", l.name)
	for _, p := range [][2]string{
		{"esp", l.esp + "!"},
		{mine, me.addr}, {mine + "id", me.id}, {mine + "subnet", me.net},
		{its, cmp.Or(me.peer, other.addr)}, {its + "id", other.id}, {its + "subnet", other.net},
	} {
		if p[1] != "" {
			fmt.Fprintf(&b, "\t%s=%s\n", p[0], p[1])
		}
	}
	for line := range strings.Lines(me.conn) {
		if line = strings.TrimSpace(line); line != "" {
			fmt.Fprintf(&b, "\t%s\n", line)
		}
	}
	return b.String() + me.more + "\n"
}

// ipsecSecrets writes what one end has in ipsec.secrets: the pre-shared key unless the
// connection says otherwise.
func (l *link) ipsecSecrets(me *siteEnd) string {
	psk := fmt.Sprintf("%s %s : PSK \"%s\"\n", cmp.Or(l.a.id, l.a.addr), cmp.Or(l.b.id, l.b.addr), cmp.Or(me.secret, "psk of "+l.name))
	return cmp.Or(me.secrets, psk)
}

// ipsecFolders are those of ipsec.d by swanctl's names.
var ipsecFolders = map[string]string{"x509": "certs", "x509ca": "cacerts", "x509crl": "crls", "pubkey": "certs", "private": "private"}

// Folders of ipsec.d, as the texts of ends name them: charon's are elsewhere.
const (
	certsFolder   = "CERTS/"
	pubkeysFolder = "PUBKEYS/"
	casFolder     = "CACERTS/"
	keysFolder    = "PRIVATE/"
)

// ipsecFiles writes the files of both daemons; theirs are in a directory.
func (s *sites) ipsecFiles(links []*link, f *siteFiles, setup, theirDir string) (ours, theirs map[string]string) {
	ours, theirs = map[string]string{}, maps.Clone(map[string]string(f.theirs))
	for name, text := range f.ours {
		folder, file, _ := strings.Cut(name, "/")
		ours[path.Join("ipsec.d", ipsecFolders[folder], file)] = text
	}
	for _, side := range []map[string]string{ours, theirs} {
		side["ipsec.conf"] = ipsecDefaults + "ca lab\n\tcacert=" + casFolder + "root.pem\n\tauto=add\n"
	}
	ours["ipsec.conf"] += "config setup\n" + setup
	for _, l := range links {
		our, their := s.ends(l)
		ours["ipsec.conf"] += l.ipsecConf(our, their)
		ours["ipsec.secrets"] += l.ipsecSecrets(our)
		theirs["ipsec.conf"] += l.ipsecConf(their, our)
		theirs["ipsec.secrets"] += l.ipsecSecrets(their)
	}
	inFolders := strings.NewReplacer(certsFolder, "", pubkeysFolder, "", casFolder, "", keysFolder, "")
	elsewhere := strings.NewReplacer(certsFolder, theirDir+"/x509/", pubkeysFolder, theirDir+"/pubkey/",
		casFolder, theirDir+"/x509ca/", keysFolder, theirDir+"/private/")
	for _, name := range []string{"ipsec.conf", "ipsec.secrets"} {
		ours[name], theirs[name] = inFolders.Replace(ours[name]), elsewhere.Replace(theirs[name])
	}
	return ours, theirs
}

// startIpsec starts both daemons with the tunnels in ipsec.conf and ipsec.secrets, charon
// first. The options are strongswan.conf's, for both.
func (s *sites) startIpsec(t *testing.T, links []*link, f *siteFiles, setup, options string) {
	t.Helper()
	them := labtest.StartCharon(t, s.them, options, "load = "+labtest.StrokePlugins)
	ours, theirs := s.ipsecFiles(links, f, setup, them.Dir)
	them.StartStarter(t, s.them, theirs)
	us := labtest.StartIpsecd(t, s.us, "include ipsec.conf\ncharon {\n"+options+"\n}\n", ours)
	for _, l := range links {
		our, their := s.ends(l)
		our.control, their.control = us.Vici, them.Vici
	}
}
