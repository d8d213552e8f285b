package config

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ipsecd/ipsecd/ike"
)

// etc makes a file system in which /etc/ipsecd/ipsecd.conf is the text; the pairs
// that follow are further files of /etc/ipsecd that only their owner may read.
func etc(text string, pairs ...string) fstest.MapFS {
	fsys := fstest.MapFS{"etc/ipsecd/ipsecd.conf": {Data: []byte(text), Mode: 0o644}}
	for i := 0; i < len(pairs); i += 2 {
		fsys[path.Join("etc/ipsecd", pairs[i])] = &fstest.MapFile{Data: []byte(pairs[i+1]), Mode: 0o600}
	}
	return fsys
}

// load reads a text that must be right.
func load(t *testing.T, text string, pairs ...string) *Config {
	t.Helper()
	c, err := LoadFS(etc(text, pairs...), DefaultPath)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// faults reads a text that must be wrong and returns its errors without the
// name of the file: "12: text".
func faults(t *testing.T, fsys fs.FS) []string {
	t.Helper()
	_, err := LoadFS(fsys, DefaultPath)
	if err == nil {
		t.Fatal("no error")
	}
	lines := strings.Split(err.Error(), "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], DefaultPath+":")
	}
	return lines
}

func warnings(c *Config) []string {
	var out []string
	for _, w := range c.Warnings {
		out = append(out, strings.TrimPrefix(w.String(), DefaultPath+":"))
	}
	return out
}

// minimal is a connection with what it needs; %s stand for further keys of the
// connection and of its child.
const minimal = `connections {
 hq {
  remote_addrs = 192.0.2.1
  local { auth = psk }
  remote { auth = psk }
  %s
  children { net {
    %s
  } }
 }
}
secrets { ike { secret = s3cret } }
`

func loadMinimal(t *testing.T, conn, child string) (*ike.Connection, *ike.ChildConfig) {
	t.Helper()
	c := load(t, fmt.Sprintf(minimal, conn, child))
	return c.IKE.Connections[0], c.IKE.Connections[0].Children[0]
}
