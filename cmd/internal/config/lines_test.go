package config

import (
	"strings"
	"testing"
)

// TestLinesOfKeys: the engine can name the line of each key, also of one that was written in another file
// or is inherited from another section.
func TestLinesOfKeys(t *testing.T) {
	const main = `include base.conf
connections {
  a : base {
    remote_addrs = 192.0.2.1
    local {
      auth = psk
      id = us.example
    }
    remote-1 {
      auth = psk
      id = them.example
    }
    children {
      net {
        local_ts = 10.1.0.0/16
      }
    }
  }
}
secrets {
  ike-a {
    secret = x
  }
}
`
	c := load(t, main, "base.conf", "base {\n  proposals = aes256-sha256-x25519\n}\n")
	conn := c.IKE.Connections[0]
	for key, want := range map[string]string{
		"remote_addrs": "ipsecd.conf:4", "local": "ipsecd.conf:5", "local.id": "ipsecd.conf:7",
		"remote": "ipsecd.conf:9", "remote.id": "ipsecd.conf:11", "proposals": "base.conf:2", "encap": "",
	} {
		if got := conn.Lines[key]; !strings.HasSuffix(got, want) || (got == "") != (want == "") {
			t.Errorf("%s is at %q, want %q", key, got, want)
		}
	}
	if got := conn.Children[0].Lines["local_ts"]; !strings.HasSuffix(got, "ipsecd.conf:15") {
		t.Errorf("local_ts is at %q", got)
	}
	if got := c.IKE.Secrets[0].Source; !strings.HasSuffix(got, "ipsecd.conf:21") {
		t.Errorf("the secret is at %q", got)
	}
}
