package config

import (
	"fmt"
	"strings"
	"testing"
)

// Every key that is known and not honoured says so, with its line and what it would
// have done; a value that asks for nothing says nothing.
func TestKeysNotHonouredAreWarnedAbout(t *testing.T) {
	for _, table := range []struct {
		keys map[string]unsupported
		text string // where %s is the key
		path string
	}{
		{unsupportedConnection, fmt.Sprintf(minimal, "%s", ""), "connections.hq."},
		{unsupportedChild, fmt.Sprintf(minimal, "", "%s"), "connections.hq.children.net."},
		{unsupportedAuth, strings.Replace(fmt.Sprintf(minimal, "", ""), "remote { auth = psk }", "remote { auth = psk\n%s\n}", 1), "connections.hq.remote."},
		{unsupportedLocal, strings.Replace(fmt.Sprintf(minimal, "", ""), "local { auth = psk }", "local { auth = psk\n%s\n}", 1), "connections.hq.local."},
	} {
		for key, u := range table.keys {
			load := func(value string) []string {
				t.Helper()
				c, err := LoadFS(etc(fmt.Sprintf(table.text, key+" = "+value)), DefaultPath)
				if err != nil {
					t.Errorf("%s = %s: %v", key, value, err)
					return nil
				}
				return warnings(c)
			}
			line := 1 + strings.Count(table.text[:strings.Index(table.text, "%s")], "\n")
			want := fmt.Sprintf("%d: %s%s is not honoured; it would %s", line, table.path, key, u.effect)
			if got := load("17"); len(got) != 1 || got[0] != want {
				t.Errorf("%s:\ngot  %q\nwant %q", key, got, want)
			}
			for _, value := range u.harmless {
				if got := load(value); len(got) > 0 {
					t.Errorf("%s = %s: %q", key, value, got)
				}
			}
		}
	}
}

// The same of secrets and sections.
func TestSectionsNotHonouredAreWarnedAbout(t *testing.T) {
	text := fmt.Sprintf(minimal, "", "")
	c, err := LoadFS(etc(strings.Replace(text, "local { auth = psk }", "local { auth = psk\ncacert-1 { file = ca.pem\n}\n}", 1)), DefaultPath)
	if err != nil {
		t.Fatal(err)
	}
	if got := warnings(c); len(got) != 1 || !strings.Contains(got[0], "connections.hq.local.cacert-1 is not honoured; it would ") {
		t.Errorf("%q", got)
	}
	for kind, use := range otherSecrets {
		c, err := LoadFS(etc(text+"secrets { "+kind+"-x { secret = s } }\n"), DefaultPath)
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		if got := warnings(c); len(got) != 1 || got[0] != fmt.Sprintf("13: secrets.%s-x is not read; it would be used for %s", kind, use) {
			t.Errorf("%s: %q", kind, got)
		}
	}
	for name, effect := range ignoredSections {
		c, err := LoadFS(etc(text+name+" { x { y = z\n} }\n"), DefaultPath)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := warnings(c); len(got) != 1 || got[0] != fmt.Sprintf("13: section %s is not honoured; it would %s", name, effect) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestEveryKeyOfSecretsAndAuthoritiesIsKnown(t *testing.T) {
	text := "secrets {\n private { file = x\n }\n rsa { file = x\n }\n ecdsa { file = x\n }\n pkcs8 { file = x\n }\n}\nauthorities { a { } }\n"
	f, err := ReadFS(etc(text), DefaultPath)
	if err != nil {
		t.Fatal(err)
	}
	for kind, keys := range map[string]string{
		"secrets.private*": `file secret`, "secrets.rsa*": `file secret`, "secrets.ecdsa*": `file secret`, "secrets.pkcs8*": `file secret`,
		"authorities.*": `cacert file handle slot module crl_uris ocsp_uris cert_uri_base`,
	} {
		for key := range strings.FieldsSeq(keys) {
			if !f.read.schema[kind][key] {
				t.Errorf("%s.%s is not known", kind, key)
			}
		}
	}
}
