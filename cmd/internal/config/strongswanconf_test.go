package config

import (
	"fmt"
	"strings"
	"testing"
)

// debian is strongswan.conf as Debian installs it, with some of the files that it
// includes.
func debian(more string) map[string]string {
	return map[string]string{
		"etc/strongswan.conf":                  "charon {\n load_modular = yes\n plugins {\n  include strongswan.d/charon/*.conf\n }\n}\n\ninclude strongswan.d/*.conf\n" + more,
		"etc/strongswan.d/charon/aes.conf":     "aes {\n    # Whether to load the plugin.\n    load = yes\n}\n",
		"etc/strongswan.d/charon/vici.conf":    "vici {\n load = yes\n socket = unix:///run/x.vici\n}\n",
		"etc/strongswan.d/charon/stroke.conf":  "stroke {\n load = yes\n}\n",
		"etc/strongswan.d/charon.conf":         "charon {\n    # block_threshold = 5\n    crypto_test {\n    }\n    x509 {\n    }\n}\n",
		"etc/strongswan.d/charon-logging.conf": "charon {\n filelog {\n }\n syslog {\n }\n}\n",
		"etc/strongswan.d/starter.conf":        "starter {\n}\n",
		"etc/strongswan.d/pool.conf":           "pool {\n}\n",
		"etc/swanctl/swanctl.conf":             strings.ReplaceAll(minimal, "%s", ""),
	}
}

func loadFiles(t *testing.T, files map[string]string) *Config {
	t.Helper()
	var pairs []string
	for name, text := range files {
		pairs = append(pairs, name, text)
	}
	c, err := loadHost(host(pairs...))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestDebianStrongswanConf(t *testing.T) {
	c := loadFiles(t, debian(""))
	if len(c.Warnings) > 0 {
		t.Errorf("warnings of an untouched host: %v", c.Warnings)
	}
	if c.Control.VICI != "unix:///run/x.vici" || !c.Routing.SourceRoutes.Install || c.Routing.SourceRoutes.Table != 220 {
		t.Errorf("%+v, %+v", c.Control, c.Routing)
	}
}

// Options without effect are named in one warning, plug-ins' too; charon-systemd's
// options come before charon's.
func TestStrongswanConfOptions(t *testing.T) {
	files := debian("charon {\n threads = 32\n port = 501\n retransmit_tries = 3\n}\ncharon-systemd {\n retransmit_tries = 2\n install_routes = no\n routing_table = 77\n}\n")
	files["etc/strongswan.d/charon/updown.conf"] = "updown {\n load = yes\n dns_handler = yes\n}\n"
	c := loadFiles(t, files)
	want := SourceRoutes{Install: false, Table: 77, Priority: 77}
	if c.Ports.IKE != 501 || c.IKE.Timing.RetransmitTries != 2 || c.Routing.SourceRoutes != want {
		t.Errorf("port %d, tries %d, %+v", c.Ports.IKE, c.IKE.Timing.RetransmitTries, c.Routing.SourceRoutes)
	}
	if len(c.Warnings) != 1 || c.Warnings[0].Text != "charon: without effect here: threads" {
		t.Errorf("%v", c.Warnings)
	}
}

// charon takes the tables that every host has; with us the routes have the same effect from a table of their own.
func TestSourceRoutesStayOutOfTheHostsTables(t *testing.T) {
	for _, table := range []string{"0", "253", "254", "255"} {
		c := loadFiles(t, debian("charon {\n routing_table_prio = 7\n routing_table = "+table+"\n}\n"))
		if got, want := c.Routing.SourceRoutes, (SourceRoutes{Install: true, Table: 220, Priority: 7}); got != want {
			t.Errorf("%s: %+v", table, got)
		}
		const want = "/etc/strongswan.conf:11: charon.routing_table = %s is not honoured; it would put source routes among those of the host: they go into table 220"
		if w := warnings(c); len(w) != 1 || !strings.HasPrefix(w[0], fmt.Sprintf(want, table)) {
			t.Errorf("%s: %q", table, w)
		}
	}
}
