package main

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/youmark/pkcs8"
	"software.sslmate.com/src/go-pkcs12"

	"github.com/ipsecd/ipsecd/cmd/internal/vici"
)

// hungry takes everything, and has what the files do not.
func hungry() script {
	s := script{
		"get-keys":        replying(func(b *vici.Builder) { b.List("keys", []string{"aabb", "ccdd"}) }),
		"get-shared":      replying(func(b *vici.Builder) { b.List("keys", []string{"ike-1", "old"}) }),
		"get-conns":       replying(func(b *vici.Builder) { b.List("conns", []string{"old", "gw"}) }),
		"get-authorities": replying(func(b *vici.Builder) { b.List("authorities", []string{"old", "lab"}) }),
		"get-pools":       replying(func(b *vici.Builder) { b.Section("p4", func() {}); b.Section("old", func() {}) }),
	}
	id := func(b *vici.Builder) { keys(b, "success", "yes", "id", "ccdd") }
	for _, what := range []string{"conn", "authority", "pool", "cert", "shared", "key"} {
		s["load-"+what], s["unload-"+what] = replying(success), replying(success)
	}
	s["load-key"], s["load-token"], s["clear-creds"] = replying(id), replying(id), replying(success)
	return s
}

// refusingAll refuses whatever hungry takes.
func refusingAll() script {
	s := hungry()
	for name := range s {
		if !strings.HasPrefix(name, "get-") {
			s[name] = replying(refusing)
		}
	}
	return s
}

// more is what siteConf has not.
const more = `connections {
    all {
        vips = 0.0.0.0, ::
        pools = p4,p6
        nothing =
        empty = ""
        local-1 {
            certs = 0x010203, 0sAQID
            cert-a {
                file = us.pem
            }
        }
        remote-2 {
            groups = a b, c
            cert_policy = 1.2.3
            pubkeys = us.pem
        }
        children {
            net {
                ah_proposals = sha256 , sha512
                updown = /bin/true a,  b
                local_ts = ,
            }
            two { }
        }
    }
    none { }
    lost {
        remote {
            cacerts = nosuch.pem
        }
    }
}
pools {
    p6 {
        addrs = fec0::/64
        split_include = 10.0.0.0/8, 10.1.0.0/16
    }
}
authorities {
    file {
        file = /nowhere/ca.pem
        cert_uri_base = http://x
    }
}
secrets {
    ike-3 { id = x }
    xauth-1 { secret = x }
    ntlm-1 { secret = 0x11 }
    odd-1 { secret = x }
    rsa-enc {
        file = enc.pem
        secret = "opens it"
    }
    token-1 {
        handle = 0a0b
        slot = 2
        pin = 1234
    }
}
`

// TestLoadRequestsLikeStock: what is in files arrives at the daemon octet for octet.
func TestLoadRequestsLikeStock(t *testing.T) {
	s := newSite(t)
	s.conf(t, siteConf+more)
	//lint:ignore SA1019 keys that OpenSSL encrypted in this way are all over /etc
	old, err := x509.EncryptPEMBlock(rand.Reader, "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(rsaKey(t)), []byte("opens it"), x509.PEMCipherAES256)
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, "rsa/enc.pem", pem.EncodeToMemory(old))
	s.write(t, "x509aa/groups.pem", []byte("no certificate"))
	s.write(t, "x509ac/junk", []byte("nor is this"))
	for _, daemon := range []struct {
		name string
		script
		commands []string
	}{
		{"takes all", hungry(), []string{"--load-creds --noprompt", "--load-creds --clear", "--load-conns", "--load-conns --raw", "--load-authorities", "--load-authorities --pretty", "--load-pools", "--load-pools --raw"}},
		{"refuses all", refusingAll(), []string{"--load-conns", "--load-conns --raw", "--load-authorities", "--load-pools", "--load-pools --pretty"}},
	} {
		d, uri := serveScript(t, daemon.script)
		for _, w := range []world{{uri, s.dir}, {uri, "/nowhere"}} {
			for _, command := range daemon.commands {
				args := strings.Fields(command)
				if w.dir != s.dir {
					args = append(args, "--file", filepath.Join(s.dir, "swanctl.conf"))
				}
				stock := w.stock(t, args...)
				asked := d.take()
				compare(t, daemon.name+": "+command, stock, w.ours(t, args...))
				now := d.take()
				for i, r := range asked {
					if i >= len(now) || now[i] != r {
						t.Fatalf("%s: %s: the stock swanctl asks\n%s\nand ours\n%s", daemon.name, command, strings.Join(asked[i:], "\n"), strings.Join(now[min(i, len(now)):], "\n"))
					}
				}
				if len(now) > len(asked) {
					t.Errorf("%s: %s: ours asks for more:\n%s", daemon.name, command, strings.Join(now[len(asked):], "\n"))
				}
			}
		}
	}
}

// TestBrokenFileUnloadsNothing: the stock swanctl would take it for an empty one.
func TestBrokenFileUnloadsNothing(t *testing.T) {
	s := &site{dir: t.TempDir()}
	d, uri := serveScript(t, hungry())
	w := world{uri, s.dir}
	for _, text := range []string{"", "connections {\n gw {\n", "connections {\n gw { }\n} }\n"} {
		want := s.dir + "/swanctl.conf"
		if text != "" {
			s.conf(t, text)
			want += ":"
		}
		for _, command := range []string{"--load-all", "--load-conns", "--load-creds", "--load-pools", "--load-authorities"} {
			got := w.ours(t, command)
			if got.Status != exitLoad || !strings.HasPrefix(got.Stderr, want) || !strings.Contains(got.Stderr, "nothing was loaded or unloaded") {
				t.Errorf("%s with %q: %+v", command, text, got)
			}
			if asked := d.take(); asked != nil {
				t.Errorf("%s with %q asked for %s", command, text, asked)
			}
		}
	}
}

// TestPassphrases are asked for where a file needs one, and once more after a wrong one.
func TestPassphrases(t *testing.T) {
	s := &site{dir: t.TempDir()}
	s.conf(t, "secrets {\n ecdsa-known {\n file = known.pem\n secret = right\n }\n token-1 {\n handle = 01\n }\n}\n")
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	sec1, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	s.encrypted(t, "ecdsa/known.pem", key)
	s.encrypted(t, "pkcs8/asked.pem", key)
	_, edKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s.encrypted(t, "private/ed.pem", edKey)
	edDER, err := x509.MarshalPKCS8PrivateKey(edKey)
	if err != nil {
		t.Fatal(err)
	}
	own := newSite(t)
	chain, caDER, certDER := own.container(t)
	s.write(t, "pkcs12/b.p12", chain)

	d, uri := serveScript(t, hungry())
	w := world{uri, s.dir}
	var prompts []string
	got := w.oursUntil(t, t.Context(), func(prompt string) ([]byte, error) {
		prompts = append(prompts, prompt)
		if len(prompts) == 1 {
			return []byte("wrong"), nil
		}
		return []byte("right"), nil
	}, "--load-creds")
	want := []string{"Password for private file 'ed.pem': ", "Password for private file 'ed.pem': ", "Password for pkcs8 file 'asked.pem': ", "Password for pkcs12 file 'b.p12': ", "PIN for token-1: "}
	if !slices.Equal(prompts, want) || got.Status != 0 || got.Stderr != "" {
		t.Errorf("asked for %q: %+v", prompts, got)
	}
	asked := d.take()
	for what, der := range map[string][]byte{"the ECDSA key": sec1, "the Ed25519 key": edDER, "the CA of the container": caDER, "its certificate": certDER, "the PIN": []byte("right")} {
		if !slices.ContainsFunc(asked, func(r string) bool { return strings.Contains(r, quoted(der)) }) {
			t.Errorf("%s was not loaded:\n%s", what, strings.Join(asked, "\n"))
		}
	}
	for _, line := range []string{"loaded ECDSA key from '" + s.dir + "/ecdsa/known.pem'\n", "loaded ED25519 key from '" + s.dir + "/private/ed.pem'\n", "loaded RSA key from '" + s.dir + "/pkcs12/b.p12'\n"} {
		if !strings.Contains(got.Stdout, line) {
			t.Errorf("missing %q in\n%s", line, got.Stdout)
		}
	}
	// Without anybody to ask, encrypted keys go as they are, and the container not at all.
	if got = w.ours(t, "--load-creds", "--noprompt"); !strings.Contains(got.Stdout, "loaded pkcs8 key from '"+s.dir+"/pkcs8/asked.pem'\n") || strings.Contains(got.Stdout, "b.p12") {
		t.Errorf("%+v", got)
	}
}

// quoted is how octets stand in the requests that a daemon has had.
func quoted(b []byte) string { return strings.Trim(fmt.Sprintf("%q", b), `"`) }

func (s *site) encrypted(t *testing.T, file string, key any) {
	t.Helper()
	der, err := pkcs8.MarshalPrivateKey(key, []byte("right"), nil)
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, file, pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: der}))
}

// container packs the key and the certificates of a site.
func (s *site) container(t *testing.T) (p12, caDER, certDER []byte) {
	t.Helper()
	block := func(file string) []byte {
		b, err := os.ReadFile(filepath.Join(s.dir, file))
		if err != nil {
			t.Fatal(err)
		}
		p, _ := pem.Decode(b)
		return p.Bytes
	}
	caDER, certDER = block("x509ca/ca.pem"), block("x509/us.pem")
	ca, err := x509.ParseCertificate(caDER)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(certDER)
	if err != nil {
		t.Fatal(err)
	}
	key, err := x509.ParsePKCS1PrivateKey(block("private/us.pem"))
	if err != nil {
		t.Fatal(err)
	}
	if p12, err = pkcs12.Modern.Encode(key, cert, []*x509.Certificate{ca}, "right"); err != nil {
		t.Fatal(err)
	}
	return p12, caDER, certDER
}
