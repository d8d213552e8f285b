package config

import (
	"testing"
)

// Configurations are made of what was read, credentials included: what becomes of the files afterwards does not matter.
func TestFilesAreReadOnce(t *testing.T) {
	ca := certify(t, nil, "Root", nil)
	moon := certify(t, ca, "moon.example", nil)
	fsys := swanctl("certs = moonCert.pem\nid = moon.example", "auth = pubkey", "secrets { ike { secret = x } }",
		"x509/moonCert.pem", moon.pem(), "x509ca/ca.pem", ca.pem(), "private/moonKey.pem", asPEM("PRIVATE KEY", moon.pkcs8(t)))
	f, err := ReadFS(fsys, DefaultPath)
	if err != nil {
		t.Fatal(err)
	}
	before, err := f.Beside(nil)
	if err != nil {
		t.Fatal(err)
	}
	clear(fsys)
	var none *Loaded
	c, err := f.Beside(none.WithConnection(loadedConn("b", "192.0.2.8")))
	if err != nil {
		t.Fatal(err)
	}
	if changes := Diff(before, c).Changes; len(changes) != 1 || changes[0].Verb != Start || changes[0].Name != "b" {
		t.Errorf("%+v, want only the start of b", changes)
	}
	if c.IKE.Connections[0] != before.IKE.Connections[0] {
		t.Error("the connection of the file was read again")
	}
	own(t, c)
	if c, err = f.Beside(none.WithoutConnection("hq")); err != nil || len(c.IKE.Connections) != 0 {
		t.Errorf("%v, %v", c, err)
	}
	if c, err = f.Beside(nil); err != nil || len(Diff(before, c).Changes) != 0 {
		t.Errorf("without what was loaded, it is not as it was: %v", err)
	}
}
