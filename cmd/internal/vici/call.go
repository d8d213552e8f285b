package vici

import (
	"fmt"
	"strconv"

	"github.com/ipsecd/ipsecd/cmd/internal/status"
)

// call is one request being served. A command that returns an error is answered
// with success=no and errmsg.
type call struct {
	conn     *conn
	req      *Section
	ctl      status.Control
	reply    *Builder
	streamed bool // events were sent

	// failure is what stands before errmsg in the answer about a failure.
	failure func(*Builder)
}

// commands are the commands by name.
var commands map[string]func(*call) error

func init() {
	commands = map[string]func(*call) error{
		"version":          (*call).version,
		"stats":            (*call).stats,
		"reload-settings":  (*call).reloadSettings,
		"initiate":         (*call).initiate,
		"terminate":        (*call).terminate,
		"rekey":            (*call).rekey,
		"redirect":         (*call).redirect,
		"install":          (*call).install,
		"uninstall":        (*call).uninstall,
		"list-sas":         (*call).listSAs,
		"list-conns":       (*call).listConns,
		"list-policies":    (*call).listPolicies,
		"get-conns":        (*call).getConns,
		"load-conn":        (*call).loadConn,
		"unload-conn":      (*call).unloadConn,
		"load-cert":        (*call).loadCert,
		"load-key":         (*call).loadKey,
		"unload-key":       (*call).unloadKey,
		"get-keys":         (*call).getKeys,
		"load-token":       (*call).loadToken,
		"load-shared":      (*call).loadShared,
		"unload-shared":    (*call).unloadShared,
		"get-shared":       (*call).getShared,
		"clear-creds":      (*call).clearCreds,
		"load-authority":   (*call).loadAuthority,
		"unload-authority": (*call).unloadAuthority,
		"get-authorities":  (*call).getAuthorities,
		"load-pool":        (*call).loadPool,
		"unload-pool":      (*call).unloadPool,
		"get-pools":        (*call).getPools,
		"list-certs":       (*call).listCerts,
		"list-authorities": (*call).listAuthorities,
		"get-counters":     (*call).getCounters,
		"reset-counters":   (*call).resetCounters,
		"get-algorithms":   (*call).getAlgorithms,
		"flush-certs":      (*call).flushCerts,
		"ipsecd-show":      (*call).show,
		"ipsecd-addresses": (*call).addresses,
		"ipsecd-reload":    (*call).reload,
	}
}

// eventNames are the events that clients can register for.
var eventNames = map[string]bool{
	"list-sa": true, "list-policy": true, "list-conn": true, "list-cert": true, "list-authority": true,
	"log": true, "control-log": true,
	"ike-updown": true, "child-updown": true, "ike-rekey": true, "child-rekey": true, "ike-update": true, "alert": true,
}

// stream sends an event to the requester, if it registered for it. It returns
// false when the client is gone.
func (c *call) stream(event string, fill func(b *Builder)) bool {
	for range c.conn.registered(event) {
		var b Builder
		fill(&b)
		c.streamed = true
		if !c.conn.send(packet{kind: eventPacket, name: event, body: b.Bytes()}) {
			return false
		}
	}
	return true
}

// counts has the answer about a failure tell how many SAs matched, as that about success does.
func (c *call) counts(matches int) {
	c.failure = func(b *Builder) { b.Keyf("matches", "%d", matches) }
}

// ok answers success.
func (c *call) ok() error {
	c.reply.Key("success", "yes")
	return nil
}

// number reads an id: decimal, or hexadecimal after 0x. 0 stands for any.
func (c *call) number(key string) (uint32, error) {
	s := c.req.Keys[key]
	if s == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(s, 0, 32)
	if err != nil {
		return 0, fmt.Errorf("%s: a number is expected, not %s", key, quote(s))
	}
	return uint32(n), nil
}

// maxQuote bounds what an error repeats of a request, in octets.
const maxQuote = 64

// quote repeats a value of a request in an error.
func quote(s string) string { return fmt.Sprintf("%q", cut(s)) }

// single is quote as charon does it.
func single(s string) string { return "'" + cut(s) + "'" }

func cut(s string) string {
	if len(s) > maxQuote {
		return s[:maxQuote] + "..."
	}
	return s
}

// flag reads a boolean as strongSwan's settings have it.
func (c *call) flag(key string) bool {
	switch c.req.Keys[key] {
	case "yes", "true", "enabled", "1":
		return true
	}
	return false
}
