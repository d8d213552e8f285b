//go:build lab

package scenario

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/strongswan/govici/vici"
	"golang.org/x/sync/errgroup"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// TestSwanctlLikeCharon: the stock swanctl runs each of its commands against us, and then against charon in our place: the same
// files, the same peer, the same steps. What it writes has the same lines, keys and kinds of values in the same order.
func TestSwanctlLikeCharon(t *testing.T) {
	needIpsecd(t)
	p := newPair(t)
	inner(t, p.us, p.them, "172.30.1.1", "172.30.2.1", "10.50.1.1")
	inner(t, p.them, p.us, "172.30.2.1", "172.30.1.1", "10.50.0.1")
	s := newSwanctlSite(t)

	us := labtest.StartIpsecd(t, p.us, "# everything comes over VICI\n", nil)
	s.startPeer(t, p)
	ours := s.walk(t, p, us.Path)
	us.Stop(t)

	charon := labtest.StartCharon(t, p.us, "load = "+labtest.CharonPlugins+" revocation counters")
	s.startPeer(t, p)
	theirs := s.walk(t, p, charon.Path)
	if len(ours) != len(theirs) {
		t.Fatalf("%d steps with us, %d with charon", len(ours), len(theirs))
	}
	saveSteps(t, "ipsecd", ours)
	saveSteps(t, "charon", theirs)
	for i, step := range theirs {
		if d := gocmp.Diff(newer(step), ours[i].normal()); d != "" {
			t.Errorf("swanctl %s: -charon +ipsecd\n%s", step.Command, d)
		}
	}
}

// saveSteps keeps what was written for a reader.
func saveSteps(t *testing.T, who string, steps []walked) {
	t.Helper()
	var b strings.Builder
	for _, w := range steps {
		fmt.Fprintf(&b, "$ swanctl %s\n%s\n(status %d)\n", w.Command, strings.Join(w.Lines, "\n"), w.Status)
	}
	saveArtifact(t, "swanctl-"+who+".txt", b.String())
}

// inner gives a host an address behind its gateway, and a route to the other's.
func inner(t *testing.T, n, other *labtest.Netns, own, theirs, via string) {
	n.IP(t, "addr add "+own+"/32 dev lo", "route add "+theirs+" via "+via+" src "+own)
}

// swanctlSite is the folder of a swanctl, /etc/swanctl, as both daemons are given it.
type swanctlSite struct {
	dir, conf    string // conf: strongswan.conf, for swanctl itself
	theirs       files
	peerConf     string
	peer         *labtest.Charon
	withoutThird string // swanctl.conf without the third connection
}

func newSwanctlSite(t *testing.T) *swanctlSite {
	ca := certify(t, nil, "Lab Root", "rsa", nil)
	ours, theirs := certify(t, ca, "us.example", "rsa", nil), certify(t, ca, "them.example", "rsa", nil)
	folder := files{}
	folder.cert("x509ca", "root", ca)
	folder.cert("x509", "us", ours)
	folder.key(t, "us", ours)
	folder.crl(t, "root", ca)
	s := &swanctlSite{dir: labtest.RunDir(t), theirs: files{}}
	s.theirs.cert("x509ca", "root", ca)
	s.theirs.cert("x509", "them", theirs)
	s.theirs.key(t, "them", theirs)
	s.peerConf = peerSide
	folder["swanctl.conf"] = usSide
	before, third, _ := strings.Cut(usSide, "# third\n")
	_, after, _ := strings.Cut(third, "# end of third\n")
	s.withoutThird = before + after
	for name, content := range folder {
		full := filepath.Join(s.dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		labtest.WriteFile(t, full, content)
	}
	s.conf = labtest.WriteFile(t, filepath.Join(s.dir, "strongswan.conf"), "swanctl { load = "+labtest.SwanctlPlugins+" }\n")
	return s
}

// startPeer starts the peer anew.
func (s *swanctlSite) startPeer(t *testing.T, p *pair) {
	t.Helper()
	if s.peer != nil {
		s.peer.Stop(t)
	}
	s.peer = labtest.StartCharon(t, p.them, "load = "+labtest.CharonPlugins+" revocation")
	s.peer.Files(t, s.theirs)
	s.peer.Load(t, s.peerConf)
}

const usSide = `connections {
    gw {
        version = 2
        mobike = no
        local_addrs = 10.50.0.1
        remote_addrs = 10.50.1.1, 10.50.1.2
        proposals = aes128gcm16-prfsha256-x25519
        dpd_delay = 600s
        unique = replace
        ppk_id = quantum
        ppk_required = yes
        local {
            auth = psk
            id = us.example
        }
        remote {
            auth = psk
            id = them.example
        }
        children {
            net {
                local_ts = 172.30.1.1/32
                remote_ts = 172.30.2.1/32
                esp_proposals = aes128-sha256
                rekey_bytes = 100000000
                dpd_action = restart
            }
            waiting {
                local_ts = 172.30.1.1/32
                remote_ts = 172.30.9.0/24[tcp/443], 172.30.8.0/24[icmp/8]
            }
            stop {
                mode = drop
                local_ts = 172.29.3.0/24
                remote_ts = 172.29.4.0/24
                start_action = trap
            }
            let {
                mode = pass
                local_ts = 172.29.1.0/24
                remote_ts = 172.29.2.0/24
            }
        }
    }
    certs {
        version = 2
        mobike = no
        local_addrs = 10.50.0.2
        remote_addrs = 10.50.1.2
        proposals = aes128-sha256-modp2048
        reauth_time = 4h
        local {
            auth = pubkey
            id = us.example
            certs = us.pem
        }
        remote {
            auth = pubkey
            id = them.example
            cacerts = root.pem
        }
        children {
            certs {
                local_ts = dynamic
                remote_ts = dynamic
                mode = transport
                close_action = trap
                priority = 7
                interface = lo
            }
        }
    }
# third
    any {
        version = 2
        remote_addrs = %any
        local { auth = psk }
        remote {
            auth = psk
            revocation = strict
        }
        children {
            any { }
        }
    }
# end of third
}
secrets {
    ike-gw {
        id = them.example
        secret = "the key of gw"
    }
    ppk-gw {
        id = quantum
        secret = "a key of more entropy"
    }
}
authorities {
    lab {
        cacert = root.pem
        crl_uris = http://192.0.2.80/root.crl, http://192.0.2.81/root.crl
        ocsp_uris = http://192.0.2.80
    }
}
`

const peerSide = `connections {
    gw {
        version = 2
        mobike = no
        local_addrs = 10.50.1.1
        remote_addrs = 10.50.0.1
        proposals = aes128gcm16-prfsha256-x25519
        ppk_id = quantum
        local {
            auth = psk
            id = them.example
        }
        remote {
            auth = psk
            id = us.example
        }
        children {
            net {
                local_ts = 172.30.2.1/32
                remote_ts = 172.30.1.1/32
                esp_proposals = aes128-sha256
            }
        }
    }
    certs {
        version = 2
        mobike = no
        local_addrs = 10.50.1.2
        remote_addrs = 10.50.0.2
        proposals = aes128-sha256-modp2048
        local {
            auth = pubkey
            id = them.example
            certs = them.pem
        }
        remote {
            auth = pubkey
            id = us.example
        }
        children {
            certs {
                mode = transport
            }
        }
    }
}
secrets {
    ike-gw {
        id = us.example
        secret = "the key of gw"
    }
    ppk-gw {
        id = quantum
        secret = "a key of more entropy"
    }
}
`

// walked is what a command of swanctl's wrote.
type walked struct {
	Command string
	Status  int
	Lines   []string
}

// try runs swanctl.
func (s *swanctlSite) try(socket string, args ...string) (walked, error) {
	cmd := exec.Command("swanctl", append(slices.Clone(args), "--uri", "unix://"+socket)...)
	cmd.Env = append(os.Environ(), "STRONGSWAN_CONF="+s.conf, "SWANCTL_DIR="+s.dir)
	out, err := cmd.CombinedOutput()
	w := walked{Command: strings.Join(args, " ")}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		w.Status, err = exit.ExitCode(), nil
	}
	for line := range strings.Lines(string(out)) {
		if !strings.HasPrefix(line, "opening directory") {
			w.Lines = append(w.Lines, strings.TrimRight(line, "\n"))
		}
	}
	return w, err
}

// looks are the commands that change nothing; both is how people read them, and raw.
var looks = []struct {
	both bool
	args []string
}{
	{true, []string{"--list-conns"}}, {true, []string{"--list-authorities"}}, {true, []string{"--list-certs"}}, {true, []string{"--list-pols"}},
	{true, []string{"--list-sas"}}, {true, []string{"--list-algs"}}, {true, []string{"--stats"}}, {true, []string{"--counters"}},
	{false, []string{"--version", "--daemon"}}, {false, []string{"--list-pools"}},
	{false, []string{"--list-conns", "--ike", "certs"}}, {false, []string{"--list-authorities", "--name", "nosuch"}},
	{false, []string{"--list-certs", "--type", "x509_crl"}}, {false, []string{"--list-certs", "--subject", "us.example"}},
	{false, []string{"--list-pols", "--trap"}}, {false, []string{"--list-pols", "--drop"}}, {false, []string{"--list-pols", "--pass", "--child", "let"}},
	{false, []string{"--list-sas", "--ike", "nosuch"}}, {false, []string{"--list-sas", "--child", "net"}},
	{false, []string{"--counters", "--name", "gw"}}, {false, []string{"--counters", "--all"}}, {false, []string{"--counters", "--name", "nosuch"}},
}

// look runs them, several at a time: each takes its while to start.
func (s *swanctlSite) look(t *testing.T, socket string) []walked {
	t.Helper()
	var commands [][]string
	for _, l := range looks {
		if l.both {
			commands = append(commands, l.args)
		}
		commands = append(commands, append(slices.Clone(l.args), "--raw"))
	}
	results := make([]walked, len(commands))
	var g errgroup.Group
	g.SetLimit(4)
	for i, args := range commands {
		g.Go(func() (err error) {
			results[i], err = s.try(socket, args...)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	return results
}

// walk takes all steps.
func (s *swanctlSite) walk(t *testing.T, p *pair, socket string) (all []walked) {
	t.Helper()
	v := labtest.Vici{Path: socket}
	take := func(args ...string) {
		t.Helper()
		w, err := s.try(socket, args...)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, w)
	}
	last := func() { // above it is the log, which each daemon writes in its own way
		w := &all[len(all)-1]
		w.Lines = w.Lines[len(w.Lines)-1:]
	}
	file := labtest.WriteFile(t, filepath.Join(s.dir, "swanctl.conf"), usSide)
	take("--load-creds", "--noprompt", "--file", file)
	for _, what := range []string{"--load-authorities", "--load-pools", "--load-conns"} {
		take(what, "--file", file)
	}
	monitor, rekeys := s.monitor(t, p, socket), rekeyEvents(t, socket)
	for _, args := range [][]string{
		{"--install", "--child", "waiting"}, {"--install", "--child", "let", "--ike", "gw"}, {"--install", "--child", "net", "--ike", "certs"},
		{"--list-pols", "--raw"}, {"--uninstall", "--child", "stop"}, {"--uninstall", "--child", "nosuch"},
		{"--initiate", "--child", "nosuch"}, {"--initiate", "--ike", "nosuch"}, {"--terminate", "--ike", "nosuch"}, {"--terminate", "--child-id", "77"},
		{"--rekey", "--ike", "nosuch"}, {"--redirect", "--ike", "nosuch", "--gateway", "192.0.2.9"}, {"--redirect", "--gateway", "192.0.2.9", "--peer-ip", "junk"},
		{"--reload-settings"},
	} {
		take(args...)
	}
	for _, child := range []string{"net", "certs"} {
		take("--initiate", "--child", child)
		last()
	}
	labtest.Ping(t, p.us, 3, "-I", "172.30.1.1", "172.30.2.1")
	labtest.WaitFor(t, time.Minute, "the counted packets", func() error {
		if sa, err := v.IKE("gw"); err != nil || childOf(sa).PacketsIn < 3 || childOf(sa).PacketsOut < 3 {
			return fmt.Errorf("%+v, %v", childOf(sa), err)
		}
		return nil
	})
	take("--flush-certs") // the peer's certificate, which charon keeps
	all = append(all, s.look(t, socket)...)
	for _, kind := range []string{"--child", "--ike"} {
		before, _ := v.IKE("gw")
		name := map[string]string{"--child": "net", "--ike": "gw"}[kind]
		take("--rekey", kind, name)
		labtest.WaitFor(t, setupTime, "the rekey of "+name, func() error {
			now, err := v.IKE("gw")
			if err != nil || len(now.Children) != 1 || childOf(now).State != "INSTALLED" {
				return fmt.Errorf("%+v, %v", now, err)
			}
			if kind == "--child" && childOf(now).UniqueID == childOf(before).UniqueID || kind == "--ike" && now.UniqueID == before.UniqueID {
				return errors.New("still the old one")
			}
			return nil
		})
	}
	all = append(all, rekeys(t)...)
	take("--counters", "--name", "gw", "--reset")
	take("--counters", "--name", "gw", "--raw")
	for _, args := range [][]string{{"--child", "net"}, {"--ike", "gw"}, {"--ike", "certs"}} {
		take(append([]string{"--terminate"}, args...)...)
		last()
	}
	take("--list-sas")
	all = append(all, monitor(t)...)
	labtest.WriteFile(t, file, s.withoutThird)
	take("--load-all", "--noprompt", "--file", file)
	take("--list-conns", "--raw")
	return all
}

func childOf(sa labtest.IKESA) labtest.ChildSA {
	for _, c := range sa.Children {
		return c
	}
	return labtest.ChildSA{}
}

// monitor has swanctl write down events; the function that it returns sorts them by kind, of which the first counts.
func (s *swanctlSite) monitor(t *testing.T, p *pair, socket string) func(*testing.T) []walked {
	t.Helper()
	name := "monitor-" + filepath.Base(filepath.Dir(socket))
	m := labtest.Start(t, p.us, name, []string{"STRONGSWAN_CONF=" + s.conf}, "stdbuf", "-oL", "swanctl", "--monitor-sa", "--raw", "--uri", "unix://"+socket)
	return func(t *testing.T) (list []walked) {
		t.Helper()
		kinds := map[string]string{}
		labtest.WaitFor(t, setupTime, "the events", func() error {
			clear(kinds)
			for line := range strings.Lines(m.Log()) {
				kind, _, ok := strings.Cut(line, " event {")
				if !ok {
					continue
				}
				if strings.Contains(line, "event {up=yes") {
					kind += " up"
				}
				if kinds[kind] == "" && (strings.Contains(line, "gw {") || strings.Contains(line, "certs {")) {
					kinds[kind] = strings.TrimSpace(line)
				}
			}
			if len(kinds) < 4 { // up and down of both
				return fmt.Errorf("%d kinds so far: %v", len(kinds), kinds)
			}
			return nil
		})
		m.Stop(t)
		for kind, line := range kinds {
			list = append(list, walked{Command: "event " + kind, Lines: []string{line}})
		}
		slices.SortFunc(list, func(a, b walked) int { return cmp.Compare(a.Command, b.Command) })
		return list
	}
}

// rekeyEvents listens to what swanctl has no word for; the function that it returns writes the events of a rekey of each kind.
func rekeyEvents(t *testing.T, socket string) func(*testing.T) []walked {
	t.Helper()
	session, err := vici.NewSession(vici.WithAddr("unix", socket))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	events := make(chan vici.Event, 64)
	session.NotifyEvents(events)
	if err := session.Subscribe("ike-rekey", "child-rekey", "ike-update"); err != nil {
		t.Fatal(err)
	}
	return func(t *testing.T) (list []walked) {
		t.Helper()
		for range 2 {
			select {
			case e := <-events:
				list = append(list, walked{Command: "event " + e.Name, Lines: []string{rawMessage(e.Message)}})
			case <-time.After(setupTime):
				t.Fatalf("%d events of rekeys, want one of a CHILD_SA and one of an IKE SA", len(list))
			}
		}
		return list
	}
}

// rawMessage writes a message as swanctl --raw does.
func rawMessage(m *vici.Message) string {
	var parts []string
	for _, key := range m.Keys() {
		switch v := m.Get(key).(type) {
		case *vici.Message:
			parts = append(parts, key+" {"+rawMessage(v)+"}")
		case []string:
			parts = append(parts, key+"=["+strings.Join(v, " ")+"]")
		default:
			parts = append(parts, fmt.Sprintf("%s=%v", key, v))
		}
	}
	return strings.Join(parts, " ")
}
