package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/ipsecd/ipsecd/cmd/internal/vici"
)

// TestMessagesLikeStock writes what a charon may send, and ipsecd mostly does not.
func TestMessagesLikeStock(t *testing.T) {
	_, uri := serveScript(t, script{
		"list-sas":         {"list-sa", []func(*vici.Builder){fullSA, bareSA}, nil},
		"list-policies":    {"list-policy", []func(*vici.Builder){policy}, nil},
		"list-conns":       {"list-conn", []func(*vici.Builder){fullConn, version1Conn, plainConn}, nil},
		"list-authorities": {"list-authority", []func(*vici.Builder){fullAuthority}, nil},
		"get-pools":        replying(somePools),
		"get-algorithms":   replying(algorithms),
		"get-counters":     replying(someCounters),
		"reset-counters":   replying(success),
		"stats":            replying(someStats),
		"version": replying(func(b *vici.Builder) {
			keys(b, "daemon", "charon", "version", "5.9.8", "sysname", "Linux", "release", "6.1", "machine", "x86_64")
		}),
		"initiate":  {"control-log", []func(*vici.Builder){logLine}, success},
		"terminate": {"control-log", []func(*vici.Builder){logLine}, success},
		"rekey":     replying(success), "redirect": replying(success), "install": replying(success), "uninstall": replying(success),
		"flush-certs": replying(success), "reload-settings": replying(success),
	})
	w := world{uri: uri}
	for _, command := range []string{
		"--list-sas", "-l -i gw -I 3 -c net -C 4 -n", "--list-pols", "-P -t -c net", "--list-conns", "--list-authorities --name lab",
		"--list-pools", "-A --leases --name p4", "--list-algs", "--counters", "-C --all", "-C -n gw", "-C -R --all", "--stats", "--version", "-v -d",
		"--initiate --child net --timeout 5 --loglevel 2", "-i -i gw", "--terminate --ike gw --force --timeout 7s", "-t -C 7", "--rekey --child net --reauth", "-R -I 5",
		"--redirect --peer-ip 192.0.2.1 --peer-id @them --gateway gw.example", "--install --child net --ike gw", "-u -c net", "-f -t x509_crl", "--reload-settings",
	} {
		for _, format := range formats {
			args := slices.Concat(strings.Fields(command), format)
			compare(t, strings.Join(args, " "), w.stock(t, args...), w.ours(t, args...))
		}
	}
}

// TestRequestsLikeStock: the daemon is asked for the same in the same words, whatever it says to that.
func TestRequestsLikeStock(t *testing.T) {
	refusals := script{}
	for _, name := range []string{"initiate", "terminate", "rekey", "redirect", "install", "uninstall", "get-counters", "reset-counters", "reload-settings"} {
		refusals[name] = replying(refusing)
	}
	d, uri := serveScript(t, refusals)
	w := world{uri: uri}
	for _, command := range []string{
		"--initiate", "--initiate --child a --ike b --timeout 3", "--terminate --child a --ike b --child-id 1 --ike-id 2 --force --timeout 4 --loglevel 0",
		"--rekey --child a --ike b --child-id 1 --ike-id 2 --reauth", "--redirect --ike a --ike-id 2 --peer-ip b --peer-id c --gateway d",
		"--install --child a --ike b", "--uninstall --child=a", "--counters --name a", "--counters --name a --all", "--counters --reset --name a", "--reload-settings",
	} {
		args := strings.Fields(command)
		stock := w.stock(t, args...)
		asked := d.take()
		compare(t, command, stock, w.ours(t, args...))
		if now := d.take(); !slices.Equal(now, asked) {
			t.Errorf("%s: the stock swanctl asked\n%s\nand ours\n%s", command, asked, now)
		}
	}
}

func logLine(b *vici.Builder) {
	keys(b, "group", "IKE", "level", "1", "ikesa-name", "gw", "ikesa-uniqueid", "3", "msg", "establishing CHILD_SA net{4}")
}

func fullSA(b *vici.Builder) {
	b.Section("gw", func() {
		keys(b, "uniqueid", "3", "version", "2", "state", "ESTABLISHED", "local-host", "192.0.2.1", "local-port", "4500", "local-id", "C=CH, CN=us",
			"remote-host", "192.0.2.2", "remote-port", "4501", "remote-id", "them", "remote-xauth-id", "x", "remote-eap-id", "carol", "initiator", "yes",
			"initiator-spi", "0123456789abcdef", "responder-spi", "fedcba9876543210", "encr-alg", "AES_CBC", "encr-keysize", "256",
			"integ-alg", "HMAC_SHA2_256_128", "integ-keysize", "256", "prf-alg", "PRF_HMAC_SHA2_256", "dh-group", "CURVE_25519", "ppk", "yes",
			"established", "10", "rekey-time", "20", "reauth-time", "30")
		b.List("local-vips", []string{"10.3.0.1", "fec0::1"})
		b.List("remote-vips", []string{"10.4.0.1"})
		b.List("tasks-queued", []string{"IKE_REKEY", "CHILD_CREATE"})
		b.List("tasks-active", []string{"IKE_DPD"})
		b.List("tasks-passive", []string{"CHILD_REKEY"})
		b.Section("child-sas", func() {
			b.Section("net-4", func() {
				keys(b, "name", "net", "uniqueid", "4", "reqid", "1", "state", "INSTALLED", "mode", "TUNNEL", "protocol", "ESP", "encap", "yes",
					"spi-in", "c0000001", "spi-out", "c0000002", "cpi-in", "aaaa", "cpi-out", "bbbb", "mark-in", "0000002a", "mark-mask-in", "ffffffff", "mark-out", "0000002b",
					"if-id-in", "0000002a", "if-id-out", "0000002b", "encr-alg", "AES_CBC", "encr-keysize", "128", "integ-alg", "HMAC_SHA2_256_128", "dh-group", "MODP_2048", "esn", "1",
					"bytes-in", "1", "packets-in", "2", "use-in", "3", "bytes-out", "12345678", "packets-out", "1234567", "rekey-time", "3000", "life-time", "3600", "install-time", "60")
				b.List("local-ts", []string{"10.1.0.0/16", "10.3.0.0/16[tcp/443]"})
				b.List("remote-ts", []string{"10.2.0.0/16"})
			})
			b.Section("ah-5", func() {
				keys(b, "name", "ah", "uniqueid", "5", "reqid", "2", "state", "CREATED", "mode", "TRANSPORT", "protocol", "AH", "integ-alg", "HMAC_SHA2_256_128", "if-id-in", "1")
			})
		})
	})
}

// bareSA is one of which nothing is known yet.
func bareSA(b *vici.Builder) {
	b.Section("new", func() {
		keys(b, "uniqueid", "4", "version", "1", "state", "CONNECTING", "local-host", "%any", "remote-host", "192.0.2.9", "initiator-spi", "0123456789abcdef")
		b.Section("child-sas", func() {})
	})
}

func policy(b *vici.Builder) {
	b.Section("gw/net", func() {
		keys(b, "child", "net", "ike", "gw", "mode", "TUNNEL")
		b.List("local-ts", []string{"10.1.0.0/16", "10.3.0.0/16"})
		b.List("remote-ts", nil)
	})
}

func fullConn(b *vici.Builder) {
	b.Section("gw", func() {
		b.List("local_addrs", []string{"192.0.2.1", "192.0.2.3"})
		b.List("remote_addrs", []string{"%any"})
		keys(b, "version", "IKEv2", "reauth_time", "86400", "rekey_time", "14400", "unique", "UNIQUE_NO", "dpd_delay", "30", "ppk_id", "quantum", "ppk_required", "yes")
		b.Section("local-1", func() {
			keys(b, "class", "public key", "id", "us", "ca_id", "C=CH")
			b.List("groups", nil)
			b.List("certs", []string{"C=CH, CN=us", "C=CH, CN=we"})
			b.List("cacerts", []string{"C=CH, CN=CA"})
		})
		b.Section("remote-1", func() {
			keys(b, "class", "EAP", "eap-type", "EAP_MSCHAPV2", "eap_id", "e", "xauth_id", "x", "aaa_id", "aaa")
			b.List("groups", []string{"g", "h"})
			b.List("cert_policy", []string{"1.2.3"})
		})
		b.Section("remote-2", func() {})
		b.Section("children", func() {
			b.Section("net", func() {
				keys(b, "mode", "TUNNEL", "rekey_time", "3600", "rekey_bytes", "10", "rekey_packets", "0", "dpd_action", "trap", "interface", "lo", "priority", "7")
				b.List("local-ts", []string{"dynamic", "10.1.0.0/16"})
				b.List("remote-ts", []string{"dynamic"})
			})
			b.Section("let", func() { keys(b, "mode", "PASS", "rekey_time", "3600", "dpd_action", "none") })
		})
	})
}

func version1Conn(b *vici.Builder) {
	b.Section("old", func() {
		keys(b, "version", "IKEv1", "reauth_time", "0", "rekey_time", "14400", "ppk_required", "no")
		b.Section("children", func() {
			b.Section("net", func() { keys(b, "mode", "TRANSPORT", "rekey_time", "0", "rekey_bytes", "0", "rekey_packets", "5") })
		})
	})
}

func plainConn(b *vici.Builder) {
	b.Section("plain", func() { keys(b, "version", "IKEv1/2", "reauth_time", "0", "rekey_time", "0", "dpd_delay", "0") })
}

func fullAuthority(b *vici.Builder) {
	b.Section("lab", func() {
		b.Key("cacert", "C=CH, CN=CA")
		b.List("crl_uris", []string{"http://a", "http://b"})
		b.List("ocsp_uris", []string{"http://c", "http://d"})
		b.Key("cert_uri_base", "http://e")
	})
}

func somePools(b *vici.Builder) {
	b.Section("p4", func() {
		keys(b, "base", "10.3.0.0", "size", "254", "online", "1", "offline", "1")
		b.Section("leases", func() {
			b.Section("0", func() { keys(b, "address", "10.3.0.1", "identity", "carol", "status", "online") })
			b.Section("1", func() { keys(b, "address", "10.3.0.2", "identity", "dave", "status", "offline") })
		})
	})
	b.Section("p6", func() { keys(b, "base", "fec0::", "size", "4", "online", "0", "offline", "0") })
}

func algorithms(b *vici.Builder) {
	b.Section("encryption", func() { keys(b, "AES_CBC", "aes", "CAMELLIA_CBC", "openssl") })
	b.Section("xof", func() {})
}

func someCounters(b *vici.Builder) {
	b.Section("counters", func() {
		b.Section("", func() { keys(b, "ike-rekey-init", "0", "ike-init-in-req", "17") })
		b.Section("gw", func() { keys(b, "ike-rekey-init", "3", "create-child-out-resp", "1234567") })
	})
	success(b)
}

func someStats(b *vici.Builder) {
	four := func() { keys(b, "critical", "4", "high", "3", "medium", "2", "low", "1") }
	b.Section("uptime", func() { keys(b, "running", "2 hours", "since", "Jan 01 00:00:00 2026") })
	b.Section("workers", func() {
		keys(b, "total", "16", "idle", "11")
		b.Section("active", four)
	})
	b.Section("queues", four)
	b.Key("scheduled", "5")
	b.Section("ikesas", func() { keys(b, "total", "7", "half-open", "1") })
	b.List("plugins", []string{"random", "x509"})
	b.Section("mem", func() { keys(b, "total", "100", "allocs", "3") })
	b.Section("mallinfo", func() { keys(b, "sbrk", "1", "mmap", "2", "used", "3", "free", "4") })
}
