package routing_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ipsecd/ipsecd/routing"
)

func TestCheckSysctls(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"net/ipv4/nexthop_compat_mode":       "1\n",
		"net/ipv4/fib_multipath_hash_policy": "1\n",
		// A kernel without IPv6 has no third file.
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	only := routing.CheckSysctls(dir, false)
	if only[0].OK() || only[0].Have != "1" || only[0].Want != "0" || !only[1].OK() || only[2].Err == nil {
		t.Errorf("check: %+v", only)
	}
	set := routing.CheckSysctls(dir, true)
	if !set[0].OK() || !set[0].Changed || set[1].Changed || set[2].OK() {
		t.Errorf("set: %+v", set)
	}
	text, err := os.ReadFile(filepath.Join(dir, "net/ipv4/nexthop_compat_mode"))
	if err != nil || string(text) != "0\n" {
		t.Errorf("file holds %q, %v", text, err)
	}
}
