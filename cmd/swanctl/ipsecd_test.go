package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/ipsecd/ipsecd/cmd/internal/status/statustest"
	"github.com/ipsecd/ipsecd/ike"
)

// TestLikeStock has each of the two swanctls load the same site into an ipsecd of its own, and show and change what is there: all that they
// write, and their exit statuses, are the same.
func TestLikeStock(t *testing.T) {
	s := newSite(t)
	stockCtl, stockURI := serveStatus(t, s)
	oursCtl, oursURI := serveStatus(t, s)
	for _, ctl := range []*statustest.Control{stockCtl, oursCtl} {
		ctl.OnDo = func(ev ike.Event) {
			if _, ok := ev.(ike.Terminate); ok {
				st := *ctl.Status()
				engine := *st.Engine
				engine.IKESAs = engine.IKESAs[:1]
				st.Engine = &engine
				ctl.Set(&st)
			}
		}
	}
	theirs, own := world{stockURI, s.dir}, world{oursURI, s.dir}
	both := func(args ...string) {
		t.Helper()
		compare(t, strings.Join(args, " "), theirs.stock(t, args...), own.ours(t, args...))
	}
	// What is there before has other sources, which load-all unloads.
	both("--list-conns", "--raw")
	both("--list-pols")
	both("--initiate", "--child", "a") // which is up
	both("--load-all", "--noprompt")
	for _, command := range []string{
		"--list-sas", "--list-sas --ike hq --noblock", "--list-sas --ike nosuch", "--list-sas --child net --ike-id 1", "--list-pols", "--list-pols --drop",
		"--list-conns", "--list-authorities", "--list-authorities --name lab", "--list-pools", "--list-pools --leases --name p4", "--list-algs",
		"--list-certs", "--list-certs --short", "--list-certs --utc", "--list-certs --type x509_crl", "--list-certs --flag ca", "--list-certs --subject us.example --utc --short",
		"--list-certs --type ocsp_response", "--counters", "--counters --all", "--counters --name hq", "--counters --name nosuch", "--version", "--version --daemon",
	} {
		for _, format := range formats {
			both(slices.Concat(strings.Fields(command), format)...)
		}
	}
	both("--list-certs", "--type", "x509", "--pem")
	for _, command := range []string{
		"--initiate --child nosuch", "--initiate --ike nosuch --raw", "--rekey --ike hq", "--install --child net --ike gw", "--list-pols --trap", "--uninstall --child net", "--install --child nosuch",
		"--rekey --child nosuch", "--redirect --ike nosuch --gateway 192.0.2.9", "--redirect --ike hq", "--terminate --ike lab", "--terminate --child-id 77", "--terminate",
		"--list-sas", "--counters --reset --name hq", "--reload-settings", "--flush-certs", "--list-certs --type ocsp_response",
		"--load-creds --noprompt --clear", "--load-conns", "--load-pools --pretty", "--load-authorities --raw",
	} {
		both(strings.Fields(command)...)
	}
	s.conf(t, "connections {\n only {\n  remote_addrs = 192.0.2.9\n  local { auth = psk }\n  remote { auth = psk }\n children { c { } }\n }\n bad {\n  nosuch = 1\n  local { auth = psk }\n  remote { auth = psk }\n }\n }\n")
	both("--load-all", "--noprompt")
	both("--list-conns", "--raw")
	both("--list-authorities")
}
