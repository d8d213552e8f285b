package nl

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSysctl(t *testing.T) {
	s := Sysctl{Root: t.TempDir()}
	x := InterfaceSettings("oci.1")[0]
	file := filepath.Join(s.Root, "net/ipv4/conf/oci.1/rp_filter")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := s.Set(x); err == nil {
		t.Error("no error for a parameter that the kernel lacks")
	}
	if err := os.WriteFile(file, []byte("1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := s.Set(x); err != nil {
		t.Fatal(err)
	}
	if got, _ := s.Get(x.Key); got != "2" {
		t.Errorf("rp_filter is %q, want 2", got)
	}
	if _, err := s.Get("../etc/passwd"); err == nil {
		t.Error("a key outside the tree is read")
	}
}
