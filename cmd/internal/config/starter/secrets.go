package starter

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/ipsecd/ipsecd/cmd/internal/config/ipsecconf"
	"github.com/ipsecd/ipsecd/cmd/internal/config/settings"
)

// sectionOf are the sections of swanctl.conf for the kinds of ipsec.secrets.
var sectionOf = map[string]string{
	"PSK": "ike", "RSA": "private", "ECDSA": "private", "PKCS8": "private", "P12": "pkcs12", "EAP": "eap", "XAUTH": "xauth", "NTLM": "ntlm",
}

// otherKinds are those without a section, with what they would do.
var otherKinds = map[string]string{"PIN": "unlock a smartcard with one of our private keys", "BLISS": "give one of our private keys"}

// secrets writes the entries of ipsec.secrets. Their names are made of whose they
// are, so that a line that moves remains the same secret.
func (t *translator) secrets(s *ipsecconf.Secrets) {
	taken := map[string]bool{}
	for _, e := range s.Entries {
		kind, ok := sectionOf[e.Kind]
		if !ok {
			t.warn(e.Position, "%s is not supported, the line is passed over; it would %s", e.Kind, otherKinds[e.Kind])
			continue
		}
		whose := cmp.Or(e.File, strings.Join(e.IDs, " "), "%any")
		name := kind + "-" + whose
		for i := 2; taken[name]; i++ {
			name = fmt.Sprintf("%s-%s#%d", kind, whose, i)
		}
		taken[name] = true
		out := t.root.Sub("secrets", e.Position).Sub(name, e.Position)
		v := settings.Value{Position: e.Position, Quoted: true, As: e.Kind}
		if e.File != "" {
			put(out, "file", v, t.inFolder(FolderKeys, e.File))
		}
		if e.Prompt && e.File != "" {
			put(out, "secret", v, Prompt)
		}
		if e.Secret != nil {
			put(out, "secret", v, "0x"+hex.EncodeToString(e.Secret))
		}
		if e.File != "" {
			continue // whose a key is, its certificate says
		}
		for i, id := range e.IDs {
			if !strings.HasPrefix(id, "%any") {
				put(out, fmt.Sprintf("id-%d", i), v, id)
			}
		}
	}
}
