//go:build lab

package scenario

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// mistake is one thing that can be wrong between two ends, and what our side
// must say about it.
type mistake struct {
	name string
	// ours and theirs spoil the configuration of one side.
	ours, theirs func(*connection)
	// want are patterns that one line of the log must match, all of them: what
	// failed, and what to change. It is we who initiate.
	want []string
	// answer are those for the peer as the initiator; none: it does not apply. line is that of our
	// configuration that must be named then.
	answer []string
	line   string
}

var mistakes = []mistake{
	{
		name:   "wrong-psk",
		theirs: func(c *connection) { c.psk = "another key" },
		want:   []string{`wrong-psk`, `secrets\.ike-wrong-psk`, `AUTHENTICATION_FAILED`},
		answer: []string{`MAC mismatched`, `secrets\.ike-answer-wrong-psk`},
	},
	{
		name:   "wrong-identity",
		theirs: func(c *connection) { c.localID = "somebody.example" },
		want:   []string{`wrong-identity`, `AUTHENTICATION_FAILED`, `wrong-identity\.them\.example|wrong-identity\.us\.example`},
		answer: []string{`peer 'somebody\.example'`, `expects 'answer-wrong-identity\.them\.example'`},
		line:   "id = answer-wrong-identity.them.example",
	},
	{
		name:   "no-common-ike-proposal",
		theirs: func(c *connection) { c.ike = "aes256-sha512-modp4096" },
		want:   []string{`no-common-ike-proposal`, `(?i)proposals`, `aes128gcm16-prfsha256-x25519`},
		answer: []string{`no common encryption algorithm: peer offers aes256; we allow aes128gcm16`, `no common DH group: peer offers modp4096; we allow x25519`},
		line:   "proposals = aes128gcm16-prfsha256-x25519",
	},
	{
		name:   "no-common-esp-proposal",
		theirs: func(c *connection) { c.esp = "aes256-sha512" },
		want:   []string{`no-common-esp-proposal`, `(?i)esp_proposals`, `aes128gcm16`},
		answer: []string{`no common encryption algorithm: peer offers aes256; we allow aes128gcm16`},
		line:   "esp_proposals = aes128gcm16",
	},
	{
		name: "no-common-selectors",
		ours: func(c *connection) { c.localTS, c.remoteTS = "10.77.0.0/16", "10.78.0.0/16" },
		theirs: func(c *connection) {
			c.localTS, c.remoteTS = "10.88.0.0/16", "10.87.0.0/16"
		},
		want:   []string{`no-common-selectors`, `(?i)local_ts|remote_ts`, `10\.7[78]\.0\.0`},
		answer: []string{`10\.87\.0\.0/16 === 10\.88\.0\.0/16`, `10\.77\.0\.0/16 === 10\.78\.0\.0/16`},
		line:   "local_ts = 10.77.0.0/16",
	},
	{
		name: "unreachable",
		ours: func(c *connection) { c.remote = "10.50.2.99" },
		want: []string{`unreachable`, `10\.50\.2\.99`, `(?i)no answer`},
	},
}

// answered is the mistake of a connection that the peer initiates.
func (m mistake) answered() mistake {
	m.name, m.want = "answer-"+m.name, append(m.answer, "answer-"+m.name)
	return m
}

// plainSuite is what a connection has that is right.
var plainSuite = suite{"", "aes128gcm16-prfsha256-x25519", "aes128gcm16", "", "", ""}

// spoilt returns both ends of the n-th connection, with its mistake.
func (m mistake) spoilt(p *pair, n int) (our, their connection) {
	our = p.tunnel(m.name, n, plainSuite)
	our.start = false
	their = our.reversed()
	if m.ours != nil {
		m.ours(&our)
	}
	if m.theirs != nil {
		m.theirs(&their)
	}
	return our, their
}

// TestErrors makes each mistake in a connection of its own, initiated by us and then in another one by the
// peer, and expects one line that says what is wrong and names what to change.
func TestErrors(t *testing.T) {
	needIpsecd(t)
	p := newPair(t)
	all := slices.Clone(mistakes)
	for _, m := range mistakes {
		if m.answer != nil {
			all = append(all, m.answered())
		}
	}
	var ours, theirs []connection
	var interfaces []tunnelInterface
	for i, m := range all {
		our, their := m.spoilt(p, i+1)
		ours, theirs = append(ours, our), append(theirs, their)
		interfaces = append(interfaces, p.usInterface(i+1))
	}
	them := startCharon(t, p.them, theirs, nil)
	us := startIpsecd(t, p.us, ours, interfaces, quickDPD)
	conf := swanctlConf(ours)
	for i, m := range all {
		t.Run(m.name, func(t *testing.T) {
			from, line := us.Vici, ""
			if i >= len(mistakes) {
				from, line = them.Vici, m.place(conf)
			}
			_, err := from.Call("initiate", "child", m.name, "timeout", "60000")
			if err == nil {
				t.Fatal("initiate succeeded")
			}
			t.Logf("initiate: %v", err)
			m.want = append(slices.Clone(m.want), line)
			labtest.WaitFor(t, time.Minute, "the error in the log", func() error { return m.explained(us.Log()) })
			if n := m.complaints(us.Log()); n != 1 {
				t.Errorf("%d lines complain, want 1", n)
			}
		})
	}
	if !us.Running() {
		t.Error("ipsecd ended")
	}
}

// place returns the place that the complaint must name: that of the first such line after the connection's name.
func (m mistake) place(conf string) string {
	if m.line == "" {
		return ""
	}
	inside := false
	n := 0
	for line := range strings.Lines(conf) {
		n++
		inside = inside || strings.TrimSpace(line) == m.name+" {"
		if inside && strings.TrimSpace(line) == m.line {
			return fmt.Sprintf(`swanctl\.conf:%d\b`, n)
		}
	}
	return "no line " + m.line + " in the configuration"
}

// explained says what is missing in the log.
func (m mistake) explained(log string) error {
	closest, most := "", -1
	for line := range strings.Lines(log) {
		if !isComplaint(line) {
			continue
		}
		matched := 0
		for _, w := range m.want {
			if regexp.MustCompile(w).MatchString(line) {
				matched++
			}
		}
		if matched == len(m.want) {
			return nil
		}
		if matched > most {
			closest, most = line, matched
		}
	}
	return fmt.Errorf("no warning or error matches all of %q; closest: %s", m.want, strings.TrimSpace(closest))
}

// complaints counts the warnings and errors about the connection.
func (m mistake) complaints(log string) int {
	n := 0
	for line := range strings.Lines(log) {
		if isComplaint(line) && strings.Contains(line, m.name) {
			n++
		}
	}
	return n
}

func isComplaint(line string) bool {
	return strings.Contains(line, "level=WARN") || strings.Contains(line, "level=ERROR")
}

// TestSyntaxErrors starts ipsecd with files that it must refuse, naming file and
// line, what was wrong, and what was expected.
func TestSyntaxErrors(t *testing.T) {
	needIpsecd(t)
	n := labtest.NewNetns(t, "us")
	tests := []struct {
		name, conf string
		want       []string
	}{
		{"unclosed", "connections {\n  a {\n", []string{`ipsecd\.conf:\d`, `\}`}},
		{"unknown-key", "metrics {\n  lisen = 127.0.0.1:9814\n}\n", []string{`ipsecd\.conf:2`, `lisen`, `listen`}},
		{"bad-value", "interfaces {\n  x1 {\n    if_id = one\n  }\n}\n", []string{`ipsecd\.conf:3`, `if_id`, `one`, `number`}},
		{"bad-proposal", syntaxConf("aes256-nonsense"), []string{`ipsecd\.conf:15`, `proposals`, `nonsense`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := labtest.NewIpsecd(t, n, tt.conf, nil)
			d.Launch(t)
			if err := d.Wait(t, time.Minute); err == nil {
				t.Error("ipsecd ended without an error")
			}
			for _, w := range tt.want {
				if !regexp.MustCompile(w).MatchString(d.Log()) {
					t.Errorf("the message lacks %s: %s", w, d.Log())
				}
			}
			if lines := strings.Count(d.Log(), "\n"); lines != 1 {
				t.Errorf("%d lines, want one: %s", lines, d.Log())
			}
		})
	}
}

// syntaxConf is a whole connection with proposals of one's own.
func syntaxConf(proposals string) string {
	return fmt.Sprintf(`secrets {
  ike-a {
    id = 10.0.0.1
    secret = "a key"
  }
}
connections {
  a {
    remote_addrs = 10.0.0.1
    local { auth = psk }
    remote {
      auth = psk
      id = 10.0.0.1
    }
    proposals = %s
    children { a { local_ts = 10.1.0.0/16 } }
  }
}
`, proposals)
}
