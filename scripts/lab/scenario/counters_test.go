//go:build lab

package scenario

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// counters of one CHILD_SA, or of a child over all its SAs.
type counters struct {
	BytesIn, PacketsIn, BytesOut, PacketsOut uint64
}

// TestCounters compares what the kernel, 'ipsecctl show sa --json' and the
// metrics say, before and after a rekey, and looks for the keys in all of them.
func TestCounters(t *testing.T) {
	needIpsecd(t)
	p := newPair(t)
	conn := p.tunnel("count", 1, suites[0])
	conn.start = false
	conn.psk = "canary-1f2e3d4c5b6a"
	theirs := conn.reversed()
	them := startCharon(t, p.them, []connection{theirs}, []tunnelInterface{p.themInterface(1)})
	us := startIpsecd(t, p.us, []connection{conn}, []tunnelInterface{p.usInterface(1)}, "metrics { listen = "+metricsListen+" }\n")
	us.Initiate(t, conn.name)
	awaitChild(t, conn.name, us.Vici, them.Vici)
	labtest.Ping(t, p.us, 10, "-s", "1000", p.themInner(1))

	var first counters
	labtest.WaitFor(t, time.Minute, "counters agree", func() error {
		first = kernelCounters(t, p.us, 1)
		if first.PacketsOut < 10 || first.PacketsIn < 10 {
			return fmt.Errorf("the kernel counts %+v after 10 pings", first)
		}
		return agree(t, p, us, conn.name, first, first)
	})

	keys := append(kernelKeys(t, p.us), conn.psk)
	if err := us.RekeyChild(conn.name); err != nil {
		t.Fatal(err)
	}
	labtest.WaitFor(t, setupTime, "the old CHILD_SA is gone", func() error {
		if states := labtest.XfrmStates(t, p.us); len(states) != 2 {
			return fmt.Errorf("%d states", len(states))
		}
		if kernelCounters(t, p.us, 1) == first {
			return errors.New("still the old one")
		}
		return nil
	})
	labtest.Ping(t, p.us, 10, "-s", "500", p.themInner(1))
	labtest.WaitFor(t, time.Minute, "counters agree after a rekey", func() error {
		second := kernelCounters(t, p.us, 1)
		sum := counters{first.BytesIn + second.BytesIn, first.PacketsIn + second.PacketsIn, first.BytesOut + second.BytesOut, first.PacketsOut + second.PacketsOut}
		return agree(t, p, us, conn.name, second, sum)
	})
	checkNoKeys(t, p, us, append(keys, kernelKeys(t, p.us)...))
}

// kernelCounters adds up the namespace's SAs of an interface.
func kernelCounters(t *testing.T, n *labtest.Netns, ifID uint32) counters {
	t.Helper()
	var c counters
	for _, s := range labtest.XfrmStates(t, n) {
		switch {
		case s.IfID != ifID:
		case strings.HasPrefix(s.Src, "10.50.0."):
			c.BytesOut, c.PacketsOut = c.BytesOut+s.Bytes, c.PacketsOut+s.Packets
		default:
			c.BytesIn, c.PacketsIn = c.BytesIn+s.Bytes, c.PacketsIn+s.Packets
		}
	}
	return c
}

// agree compares ipsecctl's figures of the present CHILD_SA and the metrics of
// the child with what they should be.
func agree(t *testing.T, p *pair, us *labtest.Ipsecd, child string, sa, total counters) error {
	t.Helper()
	if got := shownCounters(t, us, child); got != sa {
		return fmt.Errorf("ipsecctl show sa (-kernel +ipsecctl): %s", cmp.Diff(sa, got))
	}
	if got := metricCounters(t, p.us, child); got != total {
		return fmt.Errorf("metrics (-kernel +metrics): %s", cmp.Diff(total, got))
	}
	return nil
}

// shownCounters are those of 'ipsecctl show sa --json'.
func shownCounters(t *testing.T, us *labtest.Ipsecd, child string) counters {
	t.Helper()
	var report struct {
		SAs []struct {
			Children []struct {
				Child   string `json:"child"`
				Traffic struct {
					BytesIn    uint64 `json:"bytes_in"`
					PacketsIn  uint64 `json:"packets_in"`
					BytesOut   uint64 `json:"bytes_out"`
					PacketsOut uint64 `json:"packets_out"`
				} `json:"traffic"`
			} `json:"children"`
		} `json:"sas"`
	}
	us.CtlJSON(t, &report, "show", "sa", "--json")
	var c counters
	for _, sa := range report.SAs {
		for _, ch := range sa.Children {
			if ch.Child == child {
				c.BytesIn, c.PacketsIn = c.BytesIn+ch.Traffic.BytesIn, c.PacketsIn+ch.Traffic.PacketsIn
				c.BytesOut, c.PacketsOut = c.BytesOut+ch.Traffic.BytesOut, c.PacketsOut+ch.Traffic.PacketsOut
			}
		}
	}
	return c
}

// metricCounters are those of ipsec_child_{bytes,packets}_total.
func metricCounters(t *testing.T, n *labtest.Netns, child string) counters {
	t.Helper()
	var c counters
	fields := map[string]*uint64{"bytes_in": &c.BytesIn, "packets_in": &c.PacketsIn, "bytes_out": &c.BytesOut, "packets_out": &c.PacketsOut}
	sample := regexp.MustCompile(`^ipsec_child_(bytes|packets)_total\{(.*)\} (\S+)$`)
	direction := regexp.MustCompile(`direction="(\w+)"`)
	for s := bufio.NewScanner(strings.NewReader(scrape(t, n))); s.Scan(); {
		m := sample.FindStringSubmatch(s.Text())
		if m == nil || !strings.Contains(m[2], `child="`+child+`"`) {
			continue
		}
		d := direction.FindStringSubmatch(m[2])
		v, err := strconv.ParseFloat(m[3], 64)
		if d == nil || fields[m[1]+"_"+d[1]] == nil || err != nil {
			t.Fatalf("unexpected sample %q", s.Text())
		}
		*fields[m[1]+"_"+d[1]] += uint64(v)
	}
	return c
}

// kernelKeys are the keys of the namespace's SAs, in hexadecimal.
func kernelKeys(t *testing.T, n *labtest.Netns) []string {
	t.Helper()
	var keys []string
	for _, m := range regexp.MustCompile(`0x([0-9a-f]{32,})`).FindAllStringSubmatch(n.Run(t, "ip", "xfrm", "state"), -1) {
		keys = append(keys, m[1])
	}
	if len(keys) == 0 {
		t.Fatal("'ip xfrm state' shows no keys")
	}
	return keys
}

// checkNoKeys looks for keys where operators look.
func checkNoKeys(t *testing.T, p *pair, us *labtest.Ipsecd, keys []string) {
	t.Helper()
	places := map[string]string{"the log": us.Log(), "metrics": scrape(t, p.us)}
	for _, args := range [][]string{{"show"}, {"show", "--json"}, {"show", "sa"}, {"show", "sa", "--json"}, {"show", "policy"}, {"-s", "sa"}, {"-s", "flow"}} {
		out, err := us.Ctl(args...)
		if err != nil {
			t.Error(err)
		}
		places["ipsecctl "+strings.Join(args, " ")] = out
	}
	for where, text := range places {
		for _, k := range keys {
			// A key may be printed as text, in hexadecimal, or in part.
			for _, form := range []string{k, fmt.Sprintf("%x", k), k[:16]} {
				if strings.Contains(strings.ToLower(text), strings.ToLower(form)) {
					t.Errorf("%s shows the key %s", where, form)
				}
			}
		}
	}
	saveArtifact(t, "metrics.txt", places["metrics"])
}

// saveArtifact keeps text for a reader.
func saveArtifact(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(labtest.Artifacts(t), name), []byte(text), 0o644); err != nil {
		t.Error(err)
	}
}
