package starter

import (
	"strings"

	"github.com/ipsecd/ipsecd/cmd/internal/config/ipsecconf"
	"github.com/ipsecd/ipsecd/cmd/internal/config/settings"
)

// conn reads one conn section.
type conn struct {
	*reader
	ike   *settings.Tree // the connection
	child *settings.Tree
	left  *end // us
	right *end
	shunt bool
}

// conn writes a section as a connection with one child of the same name.
func (t *translator) conn(sec *ipsecconf.Section) {
	c := &conn{reader: t.reader(sec)}
	c.ike = settings.NewTree(sec.Name, sec.Position)
	c.child = c.ike.Sub("children", sec.Position).Sub(sec.Name, sec.Position)
	start, wanted := c.auto()
	if !wanted {
		return
	}
	if t.opts.Taken != nil && t.opts.Taken(sec.Name) {
		t.warn(sec.Position, "%s is skipped: swanctl.conf has a connection of that name", c.label)
		return
	}
	if v, ok := c.get("keyexchange"); ok {
		version, _ := c.translate(v, exchangeWords)
		if version == "1" {
			t.warn(v.Position, "%s is skipped: IKEv1 (keyexchange=ikev1) is not supported; ikev2 is", c.label)
			return
		}
		put(c.ike, "version", v, version)
	}
	c.left, c.right = &end{c.reader, "left"}, &end{c.reader, "right"}
	c.swap()
	put(c.child, "start_action", start, start.Text)

	c.traffic()
	c.lifetimes()
	c.liveness()
	c.marks()
	c.negotiated()
	c.virtual()
	c.scripts()
	c.others()
	c.rest(connEffects)
	t.add(c)
}

// negotiated reads what is agreed on with the peer. A shunt has none: what is said
// about it anyway goes nowhere.
func (c *conn) negotiated() {
	ike, child := c.ike, c.child
	if c.shunt {
		c.ike, c.child = settings.NewTree("", c.sec.Position), settings.NewTree("", c.sec.Position)
	}
	c.addresses()
	c.proposals()
	c.authentication()
	c.ike, c.child = ike, child
}

// auto reads whether the section counts at all: not by default.
func (c *conn) auto() (settings.Value, bool) {
	v, ok := c.get("auto")
	if !ok {
		return v, false
	}
	v.Text, ok = c.translate(v, autoWords)
	return v, ok && v.Text != ""
}

// traffic reads the mode and the selectors.
func (c *conn) traffic() {
	if v, ok := c.get("type"); ok {
		if mode, ok := c.translate(v, typeWords); ok {
			c.shunt = mode == "pass" || mode == "drop"
			put(c.child, "mode", v, mode)
		}
	}
	c.left.selectors(c.child, "local_ts")
	c.right.selectors(c.child, "remote_ts")
	c.word("installpolicy", yesNo, c.child, "policies")
	c.word("compress", yesNo, c.child, "ipcomp")
	c.copy("inactivity", c.child, "inactivity")
	if v, ok := c.get("tfc"); ok {
		put(c.child, "tfc_padding", v, strings.TrimPrefix(v.Text, "%"))
	}
}

// proposals reads ike and either of esp and ah.
func (c *conn) proposals() {
	c.proposal("ike", c.ike, "proposals")
	esp, hasESP := c.get("esp")
	if ah, ok := c.get("ah"); ok {
		if hasESP {
			c.bad(ah, "there is esp=%s too; expected one of the two", esp.Text)
		}
		c.proposal("ah", c.child, "ah_proposals")
		return
	}
	c.proposal("esp", c.child, "esp_proposals")
}

// proposal writes a list of proposals. Unless "!" ends it, the default ones follow.
func (c *conn) proposal(name string, t *settings.Tree, key string) {
	v, ok := c.get(name)
	if !ok {
		return
	}
	text, strict := strings.CutSuffix(v.Text, "!")
	if !strict {
		text += ",default"
	}
	put(t, key, v, text)
}

// liveness reads what is done about a dead peer. Without dpdaction nobody looks.
func (c *conn) liveness() {
	c.word("closeaction", actionWords, c.child, "close_action")
	c.read["dpddelay"], c.read["dpdtimeout"] = true, true
	v, ok := c.get("dpdaction")
	if !ok || v.Text == "none" {
		return
	}
	action, ok := c.translate(v, actionWords)
	if !ok {
		return
	}
	put(c.child, "dpd_action", v, action)
	if d, ok := c.get("dpddelay"); ok {
		put(c.ike, "dpd_delay", d, d.Text)
	} else {
		put(c.ike, "dpd_delay", d, defaultDPDDelay)
	}
}

// marks reads what tells the traffic of children apart.
func (c *conn) marks() {
	c.copy("mark", c.child, "mark_in")
	c.copy("mark", c.child, "mark_out")
	for _, key := range []string{"mark_in", "mark_out", "set_mark_in", "set_mark_out", "if_id_in", "if_id_out", "reqid", "replay_window"} {
		c.copy(key, c.child, key)
	}
}

// scripts reads what runs when the child comes up and goes down.
func (c *conn) scripts() {
	updown, has := c.left.get("updown")
	if has {
		put(c.child, "updown", updown, updown.Text)
	}
	if v, ok := c.left.get("firewall"); ok {
		on, _ := c.translate(v, yesNo)
		switch {
		case on == "yes" && has:
			c.bad(v, "there is %s too; expected one of the two", updown.As)
		case on == "yes":
			put(c.child, "updown", v, firewallScript)
		}
	}
	if v, ok := c.left.get("hostaccess"); ok {
		put(c.child, "hostaccess", v, v.Text)
	}
}

// others reads what is the same in both files but for its name.
func (c *conn) others() {
	put(c.ike, "unique", c.preset("uniqueids"), c.unique)
	c.word("mobike", yesNo, c.ike, "mobike")
	c.word("forceencaps", yesNo, c.ike, "encap")
	c.word("fragmentation", fragmentWords, c.ike, "fragmentation")
	c.copy("ikedscp", c.ike, "dscp")
	c.word("mediation", yesNo, c.ike, "mediation")
	c.copy("mediated_by", c.ike, "mediated_by")
	c.copy("me_peerid", c.ike, "mediation_peer")
	switch v, ok := c.get("keyingtries"); {
	case !ok:
		put(c.ike, "keyingtries", v, defaultKeyingTries)
	case v.Text == "%forever":
		put(c.ike, "keyingtries", v, "0")
	default:
		put(c.ike, "keyingtries", v, v.Text)
	}
}
