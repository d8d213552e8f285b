//go:build lab

package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// siteScenario is a scenario of strongSwan's test suite, re-created: two sites, a
// tunnel, pings between the hosts behind it, ESP on the wire and nothing else.
type siteScenario struct {
	name string
	// edit makes the plain tunnel into the scenario's.
	edit func(t *testing.T, s *sites, l *link, f *siteFiles)
	// before is done at first, up when the tunnel is there, before the pings.
	before, up func(t *testing.T, s *sites, l *link)
	// check is done after the pings.
	check func(t *testing.T, s *sites, l *link)
	// wire is done at last, with what crossed transit.
	wire func(t *testing.T, c *labtest.Capture, l *link)
	// encap is set where ESP travels in UDP.
	encap bool
	// auto is set where nobody has to ask for the tunnel.
	auto bool
	// instead takes the place of it all.
	instead func(t *testing.T, s *sites, l *link)
}

// siteFiles are those of swanctl's folders, and who signs certificates.
type siteFiles struct {
	ca           authority
	ours, theirs files
}

// runSites runs scenarios in both roles between one pair of daemons. The options
// are strongswan.conf's, for both.
func runSites(t *testing.T, s *sites, scenarios []siteScenario, options string) {
	runSitesBy(t, s, scenarios, func(links []*link, f *siteFiles) { s.start(t, links, f, options) })
}

// runSitesBy is runSites with daemons that are started otherwise.
func runSitesBy(t *testing.T, s *sites, scenarios []siteScenario, start func([]*link, *siteFiles)) {
	f := &siteFiles{ca: newAuthority(t), ours: files{}, theirs: files{}}
	var links []*link
	for i, sc := range scenarios {
		for role, name := range []string{"us", "them"} {
			l := s.link(sc.name+"-"+name, 2*i+role+1, role == 0)
			if sc.edit != nil {
				sc.edit(t, s, l, f)
			}
			links = append(links, l)
		}
	}
	start(links, f)
	s.tap = s.capture(t)
	ok := true
	for i, sc := range scenarios {
		for role := range 2 {
			l := links[2*i+role]
			ok = t.Run(l.name, func(t *testing.T) { sc.run(t, s, l) }) && ok
		}
	}
	s.tap.Finish(t)
	if ok {
		checkWire(t, s.tap, scenarios, links)
	}
}

// start starts both daemons with the tunnels, charon first.
func (s *sites) start(t *testing.T, links []*link, f *siteFiles, options string) (*labtest.Ipsecd, *labtest.Charon) {
	t.Helper()
	links = withSeconds(links)
	ours, theirs := s.conf(links)
	them := s.charon(t, s.them, options)
	them.Files(t, f.theirs)
	them.Load(t, theirs)
	all := map[string]string{"swanctl.conf": ours}
	maps.Copy(all, f.ours)
	us := labtest.StartIpsecd(t, s.us, "include swanctl.conf\ncharon {\n"+options+"\n}\n"+interfacesConf(s.interfaces), all)
	for _, l := range links {
		our, their := s.ends(l)
		our.control, their.control = us.Vici, them.Vici
	}
	return us, them
}

// withSeconds returns the tunnels, and those that they need too.
func withSeconds(links []*link) []*link {
	links = slices.Clone(links)
	for _, l := range links {
		if l.second != nil {
			links = append(links, l.second)
		}
	}
	return links
}

// run sets the tunnel up, uses it, and takes it down again.
func (sc siteScenario) run(t *testing.T, s *sites, l *link) {
	if sc.instead != nil {
		sc.instead(t, s, l)
		return
	}
	if sc.before != nil {
		sc.before(t, s, l)
	}
	if !sc.auto {
		l.a.control.Initiate(t, l.name)
	}
	awaitChild(t, l.name, l.a.control, l.b.control)
	if sc.up != nil {
		sc.up(t, s, l)
	}
	pingBothWays(t, l)
	checkStates(t, l, sc.encap)
	if sc.check != nil {
		sc.check(t, s, l)
	}
	if err := l.a.control.Terminate(l.name); err != nil {
		t.Fatal(err)
	}
	awaitGone(t, l)
}

// pingBothWays sends from either site to the other.
func pingBothWays(t *testing.T, l *link) {
	t.Helper()
	labtest.Ping(t, l.a.hosts, 2, "-I", l.a.host, l.b.host)
	labtest.Ping(t, l.b.hosts, 2, "-I", l.b.host, l.a.host)
}

// checkStates fails t unless each gateway has the two SAs of the tunnel that both
// daemons report, and both have carried packets.
func checkStates(t *testing.T, l *link, encap bool) {
	t.Helper()
	for _, g := range []siteEnd{l.a, l.b} {
		child, err := g.control.Child(l.name)
		if err != nil {
			t.Error(err)
			continue
		}
		used := 0
		for _, sa := range labtest.XfrmStates(t, g.ns) {
			spi := fmt.Sprintf("%08x", sa.SPI)
			if spi != child.SPIIn && spi != child.SPIOut {
				continue
			}
			if sa.Packets > 0 {
				used++
			}
			if sa.Encap != encap {
				t.Errorf("%s: SA %s in UDP: %v", g.ns.Role, spi, sa.Encap)
			}
		}
		if used != 2 {
			t.Errorf("%s: %d SAs of %s have carried packets, want 2", g.ns.Role, used, l.name)
		}
	}
}

// awaitGone waits until neither daemon nor kernel has anything of the tunnel.
func awaitGone(t *testing.T, l *link) {
	t.Helper()
	labtest.WaitFor(t, time.Minute, l.name+" gone", func() error {
		if err := goneAt(l.name, l.a.control, l.b.control); err != nil {
			return err
		}
		for _, g := range []siteEnd{l.a, l.b} {
			for _, sa := range labtest.XfrmStates(t, g.ns) {
				if sa.Src == g.addr || sa.Dst == g.addr {
					return fmt.Errorf("%s: an SA from %s to %s is left", g.ns.Role, sa.Src, sa.Dst)
				}
			}
		}
		return nil
	})
}

// checkWire fails t unless each tunnel's packets crossed transit as ESP, none of
// them in the clear.
func checkWire(t *testing.T, c *labtest.Capture, scenarios []siteScenario, links []*link) {
	t.Helper()
	if n := c.Count(t, clearSites); n > 0 {
		t.Errorf("%d packets crossed in the clear, the first of them:\n%s", n, c.Print(t, clearSites, 5))
	}
	esp := c.Print(t, "esp or udp port 4500 or ip6 proto 50", 100_000)
	for i, l := range links {
		sent, back := 0, 0
		for line := range strings.Lines(esp) {
			if !strings.Contains(line, "ESP") {
				continue
			}
			if strings.Contains(line, " In ") && mentions(line, l.a.addr+" >", l.a.addr+".4500 >") {
				sent++
			}
			if strings.Contains(line, " Out ") && mentions(line, "> "+l.a.addr+":", "> "+l.a.addr+".4500:") {
				back++
			}
		}
		sc := scenarios[i/2]
		if sc.wire != nil {
			sc.wire(t, c, l)
		}
		if sc.instead != nil {
			continue
		}
		if sent < 4 || back < 4 {
			t.Errorf("%s: %d ESP packets from and %d to %s, want at least 4 each", l.name, sent, back, l.a.addr)
		}
	}
}

func mentions(line string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(line, " "+w) {
			return true
		}
	}
	return false
}
