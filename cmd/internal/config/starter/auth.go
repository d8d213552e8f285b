package starter

import (
	"strings"

	"github.com/ipsecd/ipsecd/cmd/internal/config/settings"
)

// authentication writes who the ends are and how they prove it. Each may have a
// second round.
func (c *conn) authentication() {
	method := c.preset("authby")
	method.Text = "pubkey"
	if v, ok := c.get("authby"); ok {
		if text, ok := c.translate(v, authbyWords); ok && text != "" {
			method, method.Text = v, text
		}
	}
	c.auth(c.left, c.ike.Sub("local", c.sec.Position), "", method)
	c.auth(c.right, c.ike.Sub("remote", c.sec.Position), "", method)
	for _, e := range []*end{c.left, c.right} {
		if v, ok := e.get("auth2"); ok {
			name := map[bool]string{true: "local-2", false: "remote-2"}[e == c.left]
			c.auth(e, c.ike.Sub(name, v.Position), "2", v)
		}
	}
	if v, ok := c.left.get("sendcert"); ok {
		if text, ok := c.translate(v, sendWords); ok {
			put(c.ike, "send_cert", v, text)
		}
	}
	if v, ok := c.right.get("sendcert"); ok {
		if text, _ := c.translate(v, sendWords); text == "never" {
			put(c.ike, "send_certreq", v, "no")
		}
	}
}

// auth writes one round of one end.
func (c *conn) auth(e *end, t *settings.Tree, round string, method settings.Value) {
	if v, ok := e.get("auth" + round); ok {
		method = v
		if v.Text == "secret" {
			method.Text = "psk"
		}
	}
	put(t, "auth", method, method.Text)
	if round != "" {
		put(t, "round", method, round)
	}
	cert, hasCert := e.get("cert" + round)
	if hasCert {
		c.certs(t, cert)
	}
	c.identity(e, t, round, hasCert)
	if strings.HasPrefix(method.Text, "psk") {
		return
	}
	c.publicKey(e, t, round)
	c.eap(e, t, method.Text)
	if e != c.right {
		return
	}
	if c.strict.Text != "" && method.Text != "psk" {
		put(t, "revocation", c.strict, c.strict.Text)
	}
	if v, ok := e.get("groups" + round); ok {
		put(t, "groups", v, v.Text)
	}
	if v, ok := e.get("certpolicy"); ok {
		put(t, "cert_policy", v, v.Text)
	}
	ca, ok := e.get("ca" + round)
	if ok && ca.Text == "%same" {
		ca, ok = c.left.get("ca" + round)
	}
	if ok && ca.Text != "%same" {
		put(t, "ca_id", ca, ca.Text)
	}
}

// certs names certificates in ipsec.d/certs.
func (c *conn) certs(t *settings.Tree, v settings.Value) {
	var names []string
	for _, item := range list(v.Text) {
		if strings.HasPrefix(item, "%") {
			c.bad(v, "certificates on smartcards are not supported; expected names of files in %s/%s", Folder, FolderCerts)
			return
		}
		names = append(names, c.inFolder(FolderCerts, item))
	}
	put(t, "certs", v, strings.Join(names, ", "))
}

// identity writes who an end is: the address that it has, if nothing else is said.
// With a certificate it is who that says.
func (c *conn) identity(e *end, t *settings.Tree, round string, hasCert bool) {
	v, ok := e.get("id" + round)
	if !ok && round != "" && e == c.left {
		v, ok = e.get("id")
	}
	if ok {
		// "%" stands before an identity that may be another one of its certificate.
		if rest, found := strings.CutPrefix(v.Text, "%"); found && !strings.HasPrefix(rest, "any") {
			v.Text = rest
		}
		put(t, "id", v, v.Text)
		return
	}
	host, anyToo := e.host()
	if hasCert || round != "" || anyToo && e == c.right || strings.HasPrefix(host.Text, "%") || strings.ContainsAny(host.Text, ",/") {
		return
	}
	if a, ok := e.single(); ok {
		put(t, "id", host, a.String())
	} else if host.Text != "0.0.0.0" && host.Text != "::" {
		put(t, "id", host, host.Text)
	}
}

// publicKey writes a key that is used without a certificate.
func (c *conn) publicKey(e *end, t *settings.Tree, round string) {
	v, ok := e.get("sigkey", "rsasigkey")
	if !ok || round != "" || v.Text == "" || v.Text == "%cert" {
		return
	}
	text := strings.TrimPrefix(v.Text, "ssh:")
	if rest, found := strings.CutPrefix(text, "dns:"); found {
		text = rest
	}
	if !strings.HasPrefix(text, "0x") && !strings.HasPrefix(text, "0s") {
		text = c.inFolder(FolderCerts, text)
	}
	put(t, "pubkeys", v, text)
}

// eap writes the identities of EAP and XAuth.
func (c *conn) eap(e *end, t *settings.Tree, method string) {
	if strings.HasPrefix(method, "eap") {
		if v, ok := c.get("eap_identity"); ok {
			if v.Text == "%identity" {
				v.Text = "%any"
			}
			put(t, "eap_id", v, v.Text)
		}
		if v, ok := c.get("aaa_identity"); ok && e == c.left {
			put(t, "aaa_id", v, v.Text)
		}
	}
	if v, ok := c.get("xauth_identity"); ok && strings.HasPrefix(method, "xauth") && e == c.left {
		put(t, "xauth_id", v, v.Text)
	}
}
