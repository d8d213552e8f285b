//go:build lab

package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// The connections of TestReload by the file that they are in. Most have no peer.
const (
	swanctlConnections = 8
	ipsecConnections   = 32
	ipsecdConnections  = 60 // in ipsecd.conf itself
)

// reloading is a gateway with a hundred connections, a few of them up, whose files are
// edited.
type reloading struct {
	us, them       siteEnd
	ipsecd         *labtest.Ipsecd
	links          []*link // that are up
	edited, legacy *link   // those of swanctl.conf and of ipsec.conf that are edited
}

// TestReload edits one of a hundred connections, by each of the commands that operators have
// for it: that one is replaced, nothing else is touched, and a mistake touches nothing.
func TestReload(t *testing.T) {
	needIpsecd(t)
	s := newSites(t)
	r := newReloading(t, s)
	steady := r.links[0]
	ping := labtest.StartPing(t, s.alice, 50*time.Millisecond, "-I", steady.a.host, steady.b.host)

	t.Run("ipsecctl", r.byIpsecctl)
	t.Run("mistake", r.mistakeInSwanctlConf)
	t.Run("swanctl", r.bySwanctl)
	t.Run("ipsec", r.byIpsec)
	t.Run("ipsec-mistake", r.mistakeInIpsecConf)

	if seen := ping.Stop(t); seen.Lost > 0 {
		t.Errorf("through a tunnel that no edit was about: %v", seen)
	}
}

// newReloading starts both daemons, and waits for the tunnels.
func newReloading(t *testing.T, s *sites) *reloading {
	r := &reloading{}
	for i, name := range []string{"steady-us", "steady-them", "edited", "legacy-steady", "legacy-edited"} {
		r.links = append(r.links, s.link(name, i+1, name != "steady-them"))
	}
	swanctl, legacy := slices.Clone(r.links[:3]), slices.Clone(r.links[3:])
	r.edited, r.legacy = r.links[2], r.links[4]
	var ipsecd []*link
	for n := len(r.links) + 1; n <= swanctlConnections+ipsecConnections+ipsecdConnections; n++ {
		idle := s.link(fmt.Sprintf("idle-%d", n), n, true)
		switch {
		case len(swanctl) < swanctlConnections:
			swanctl = append(swanctl, idle)
		case len(legacy) < ipsecConnections:
			legacy = append(legacy, idle)
		default:
			ipsecd = append(ipsecd, idle)
		}
	}
	// Edited tunnels come back by themselves; the peer takes them before and after.
	r.edited.a.child, r.legacy.a.conn = "start_action = start", "auto=start"
	for _, l := range []*link{r.edited, r.legacy} {
		l.b.child = "esp_proposals = aes128gcm16, aes256gcm16"
	}

	them := labtest.StartCharon(t, s.them)
	_, theirs := s.conf(r.links)
	them.Load(t, theirs)
	files := map[string]string{"ipsec.conf": ipsecDefaults}
	files["swanctl.conf"], _ = s.conf(swanctl)
	for _, l := range legacy {
		our, their := s.ends(l)
		files["ipsec.conf"] += l.ipsecConf(our, their)
		files["ipsec.secrets"] += l.ipsecSecrets(our)
	}
	conf, _ := s.conf(ipsecd)
	r.ipsecd = labtest.StartIpsecd(t, s.us, "include swanctl.conf\ninclude ipsec.conf\n"+conf, files)
	r.us, r.them = siteEnd{ns: s.us, control: r.ipsecd.Vici}, siteEnd{ns: s.them, control: them.Vici}
	for _, l := range r.links {
		our, their := s.ends(l)
		our.control, their.control = r.us.control, r.them.control
		if l != r.edited && l != r.legacy {
			l.a.control.Initiate(t, l.name)
		}
		awaitChild(t, l.name, our.control, their.control)
		pingBothWays(t, l)
	}
	return r
}

// edit replaces text in one of our files, where it is once.
func (r *reloading) edit(t *testing.T, file, after, old, new string) {
	t.Helper()
	text := r.read(t, file)
	head, tail, ok := strings.Cut(text, after)
	if !ok || !strings.Contains(tail, old) {
		t.Fatalf("%s: no %q after %q", file, old, after)
	}
	labtest.WriteFile(t, filepath.Join(r.ipsecd.Dir, file), head+after+strings.Replace(tail, old, new, 1))
}

func (r *reloading) read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(r.ipsecd.Dir, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// picture tells what an operator sees of the tunnels that are up, less those named: SPIs
// at either end, what the kernel holds and since when, and since when they are up.
func (r *reloading) picture(t *testing.T, less ...*link) []string {
	t.Helper()
	var out []string
	add := func(l *link, format string, args ...any) { out = append(out, l.name+": "+fmt.Sprintf(format, args...)) }
	var report struct {
		Tunnels []struct {
			Connection, State string
			Since             time.Time
		}
	}
	r.ipsecd.CtlJSON(t, &report, "show", "--json")
	if n, want := len(report.Tunnels), swanctlConnections+ipsecConnections+ipsecdConnections; n != want {
		t.Errorf("%d tunnels are configured, want %d", n, want)
	}
	links := slices.DeleteFunc(slices.Clone(r.links), func(l *link) bool { return slices.Contains(less, l) })
	for _, g := range []siteEnd{r.us, r.them} {
		sas, err := g.control.SAs()
		if err != nil {
			t.Fatal(err)
		}
		states := labtest.XfrmStates(t, g.ns)
		policies := strings.Split("\n"+g.ns.Run(t, "ip", "-s", "xfrm", "policy"), "\nsrc ")
		for _, l := range links {
			for _, ike := range sas {
				if ike.Name != l.name {
					continue
				}
				add(l, "%s: IKE SA #%s %s %s %s", g.ns.Role, ike.UniqueID, ike.State, ike.SPIInitiator, ike.SPIResponder)
				for _, c := range ike.Children {
					add(l, "%s: CHILD_SA #%s %s %s %s", g.ns.Role, c.UniqueID, c.State, c.SPIIn, c.SPIOut)
				}
			}
			for _, sa := range states {
				if sa.Src == l.a.addr || sa.Dst == l.a.addr {
					add(l, "%s: SA %08x of %d, added %s", g.ns.Role, sa.SPI, sa.ReqID, sa.Added)
				}
			}
			for _, p := range policies {
				if selector, rest, _ := strings.Cut(p, "\n"); strings.Contains(selector, l.a.net) {
					add(l, "%s: policy %s", g.ns.Role, policyLine(selector, rest))
				}
			}
		}
	}
	for _, row := range report.Tunnels {
		for _, l := range links {
			if row.Connection == l.name {
				add(l, "%s since %s", row.State, row.Since)
			}
		}
	}
	// An IKE SA and a CHILD_SA, two SAs and three policies at either end, and the report.
	if want := len(links) * (2*(2+2+3) + 1); len(out) != want {
		t.Errorf("%d lines for %d tunnels, want %d:\n%s", len(out), len(links), want, strings.Join(out, "\n"))
	}
	slices.Sort(out)
	return out
}

// policyLine is what 'ip -s xfrm policy' prints of a policy, less what its use changes.
func policyLine(selector, rest string) string {
	head, _, _ := strings.Cut(rest, "\n")
	_, added, _ := strings.Cut(rest, "add ")
	added, _, _ = strings.Cut(added, " use")
	return fmt.Sprintf("%s %s, added %s", selector, strings.TrimSpace(head), added)
}

// same fails t if the picture is no more what it was.
func (r *reloading) same(t *testing.T, what string, before []string, less ...*link) {
	t.Helper()
	if d := gocmp.Diff(before, r.picture(t, less...)); d != "" {
		t.Errorf("%s: -before +after:\n%s", what, d)
	}
}

// replaced waits until a tunnel has keys of another size, and uses it.
func (r *reloading) replaced(t *testing.T, l *link, keySize string) {
	t.Helper()
	labtest.WaitFor(t, setupTime, l.name+" with keys of "+keySize+" bits", func() error {
		for _, g := range []siteEnd{l.a, l.b} {
			c, err := g.control.Child(l.name)
			if err != nil {
				return err
			}
			if c.KeySize != keySize {
				return fmt.Errorf("%s has %s bits", g.ns.Role, c.KeySize)
			}
		}
		return nil
	})
	pingBothWays(t, l)
}

func (r *reloading) byIpsecctl(t *testing.T) {
	all, others := r.picture(t), r.picture(t, r.edited)
	r.edit(t, "swanctl.conf", "\n    edited {", "esp_proposals = aes128gcm16", "esp_proposals = aes256gcm16")
	for _, args := range [][]string{{"reload", "--dry-run"}, {"reload"}} {
		if args[len(args)-1] == "reload" {
			r.same(t, "dry run", all)
		}
		out, err := r.ipsecd.Ctl(args...)
		if err != nil {
			t.Fatal(err)
		}
		change, rest, _ := strings.Cut(out, "\n")
		if change != "replace  child edited.edited: esp_proposals" || strings.Count(rest, "\n") != 1 || !strings.HasSuffix(rest, " unchanged\n") {
			t.Errorf("%v: the plan is:\n%s", args, out)
		}
	}
	r.replaced(t, r.edited, "256")
	r.same(t, "reload", others, r.edited)
}

// refuses fails t unless a command failed, and its message has all the words.
func refuses(t *testing.T, command string, out string, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s did not fail: %s", command, out)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%s: the message lacks %q: %v", command, w, err)
		}
	}
}

func (r *reloading) mistakeInSwanctlConf(t *testing.T) {
	all, was := r.picture(t), r.read(t, "swanctl.conf")
	broken := was + "connections {\n    new {\n        version = three\n"
	labtest.WriteFile(t, filepath.Join(r.ipsecd.Dir, "swanctl.conf"), broken)
	place := fmt.Sprintf("swanctl.conf:%d", strings.Count(broken, "\n")-1)
	out, err := r.ipsecd.Ctl("reload", "--dry-run")
	refuses(t, "ipsecctl reload --dry-run", out, err, "exit status 1", place, "}")
	out, err = r.ipsecd.Ctl("reload")
	refuses(t, "ipsecctl reload", out, err, "exit status 1", "the old configuration stays", place, "}")
	labtest.WriteFile(t, filepath.Join(r.ipsecd.Dir, "swanctl.conf"), broken+"    }\n}\n")
	out, err = r.ipsecd.Ctl("reload")
	refuses(t, "ipsecctl reload", out, err, "exit status 1", fmt.Sprintf("swanctl.conf:%d", strings.Count(broken, "\n")), "version", "three")
	labtest.WriteFile(t, filepath.Join(r.ipsecd.Dir, "swanctl.conf"), was)
	r.same(t, "mistake", all)
}

// bySwanctl loads the file over VICI, as strongSwan's operators and its systemd unit do.
func (r *reloading) bySwanctl(t *testing.T) {
	others := r.picture(t, r.edited)
	r.edit(t, "swanctl.conf", "\n    edited {", "esp_proposals = aes256gcm16", "esp_proposals = aes128gcm16")
	if out, err := r.ipsecd.LoadAll(t, "swanctl.conf"); err != nil {
		t.Fatal(err, out)
	}
	r.replaced(t, r.edited, "128")
	r.same(t, "swanctl --load-all", others, r.edited)

	all := r.picture(t)
	r.edit(t, "swanctl.conf", "\n    steady-us {", "esp_proposals = aes128gcm16", "esp_proposalz = aes128gcm16")
	out, err := r.ipsecd.LoadAll(t, "swanctl.conf")
	refuses(t, "swanctl --load-all", out, err, "steady-us", "esp_proposalz")
	r.edit(t, "swanctl.conf", "\n    steady-us {", "esp_proposalz", "esp_proposals")
	r.same(t, "swanctl --load-all of a mistake", all)
}

// byIpsec has the files read anew: those of swanctl.conf are the files' again, and as they
// were.
func (r *reloading) byIpsec(t *testing.T) {
	all, others := r.picture(t), r.picture(t, r.legacy)
	if out, err := r.ipsecd.Ipsec(t, "reload"); err != nil || !strings.Contains(out, "Reloading") {
		t.Fatal(err, out)
	}
	r.same(t, "ipsec reload of the same", all)
	r.edit(t, "ipsec.conf", "conn legacy-edited\n", "esp=aes128gcm16!", "esp=aes256gcm16!")
	if out, err := r.ipsecd.Ipsec(t, "update"); err != nil || !strings.Contains(out, "Updating") {
		t.Fatal(err, out)
	}
	r.replaced(t, r.legacy, "256")
	r.same(t, "ipsec update", others, r.legacy)
}

func (r *reloading) mistakeInIpsecConf(t *testing.T) {
	all, was := r.picture(t), r.read(t, "ipsec.conf")
	broken := was + "conn new\n\tright=10.52.0.99\n\tikelifetime=long\n\tauto=add\n"
	labtest.WriteFile(t, filepath.Join(r.ipsecd.Dir, "ipsec.conf"), broken)
	place := fmt.Sprintf("ipsec.conf:%d", strings.Count(broken, "\n")-1)
	for _, verb := range []string{"update", "reload"} {
		out, err := r.ipsecd.Ipsec(t, verb)
		refuses(t, "ipsec "+verb, out, err, place, "ikelifetime", "long")
	}
	labtest.WriteFile(t, filepath.Join(r.ipsecd.Dir, "ipsec.conf"), was)
	r.same(t, "mistake", all)
}
