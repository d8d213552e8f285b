//go:build lab

package scenario

import (
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

func withPerCPU(_ *testing.T, _ *sites, l *link, _ *siteFiles) {
	l.a.child, l.b.child = "per_cpu_sas = yes\nstart_action = trap", "per_cpu_sas = yes\nstart_action = trap"
}

// eachCPU has traffic of each CPU bring up a CHILD_SA that only this CPU uses, beside the one for all. Each is rekeyed by itself, and
// traffic goes on.
func eachCPU(t *testing.T, _ *sites, l *link) {
	l.a.control.Initiate(t, l.name)
	awaitChild(t, l.name, l.a.control, l.b.control)
	all := slices.Sorted(maps.Keys(sharesOf(l.a.control, l.name)))
	if !slices.Equal(all, []string{""}) {
		t.Fatalf("CHILD_SAs for the CPUs %q at first, want one for all", all)
	}
	ways := []struct{ from, to siteEnd }{{l.a, l.b}, {l.b, l.a}}
	for cpu := range runtime.NumCPU() {
		for _, way := range ways {
			labtest.WaitFor(t, time.Minute, fmt.Sprintf("%s: a CHILD_SA for CPU %d", way.from.ns.Role, cpu), func() error {
				_, _ = pinned(way.from, way.to, cpu)
				if shares := sharesOf(way.from.control, l.name); shares[strconv.Itoa(cpu)].SPIOut == "" {
					return fmt.Errorf("for CPUs %q", slices.Sorted(maps.Keys(shares)))
				}
				return nil
			})
		}
	}
	for _, way := range ways {
		rekeyCPU(t, way.from, way.to, l.name)
	}
	for _, way := range ways {
		checkCPUs(t, way.from, way.to, l.name)
	}
	if err := l.a.control.Terminate(l.name); err != nil {
		t.Fatal(err)
	}
	labtest.WaitFor(t, time.Minute, "all CHILD_SAs gone", func() error {
		for _, g := range []siteEnd{l.a, l.b} {
			if n := len(sharesOf(g.control, l.name)); n > 0 {
				return fmt.Errorf("%s: %d CHILD_SAs", g.ns.Role, n)
			}
			for _, sa := range labtest.XfrmStates(t, g.ns) {
				if sa.SPI != 0 && (sa.Src == g.addr || sa.Dst == g.addr) { // what it asked for and nobody answered has no SPI
					return fmt.Errorf("%s: an SA from %s to %s is left", g.ns.Role, sa.Src, sa.Dst)
				}
			}
		}
		return nil
	})
}

// sharesOf returns the installed CHILD_SAs of a connection by their CPUs; of several for one CPU, the last made.
func sharesOf(v labtest.Vici, name string) map[string]labtest.ChildSA {
	shares := map[string]labtest.ChildSA{}
	sas, err := v.SAs("ike", name)
	if err != nil {
		return shares
	}
	for _, sa := range sas {
		for _, c := range sa.Children {
			if c.State == "INSTALLED" && c.PerCPU == "yes" && number(c.UniqueID) > number(shares[c.CPU].UniqueID) {
				shares[c.CPU] = c
			}
		}
	}
	return shares
}

func number(id string) int {
	n, _ := strconv.Atoi(id)
	return n
}

// pinned pings with a process that stays on one CPU.
func pinned(from, to siteEnd, cpu int) (string, error) {
	return from.hosts.Try("taskset", "-c", strconv.Itoa(cpu), "ping", "-q", "-c", "3", "-i", "0.2", "-W", "10", "-I", from.host, to.host)
}

// checkCPUs pings from every CPU, and fails t unless the kernel has counted the packets on an SA for that CPU.
func checkCPUs(t *testing.T, from, to siteEnd, name string) {
	t.Helper()
	for cpu := range runtime.NumCPU() {
		before := sentByCPU(t, from, to, cpu)
		if out, err := pinned(from, to, cpu); err != nil {
			t.Errorf("%s, CPU %d: %v\n%s", from.ns.Role, cpu, err, out)
		}
		if sent := sentByCPU(t, from, to, cpu) - before; sent < 3 {
			t.Errorf("%s: of 3 packets of CPU %d, %d went by an SA of its own; %s has CHILD_SAs for %q", from.ns.Role, cpu, sent, name,
				slices.Sorted(maps.Keys(sharesOf(from.control, name))))
		}
	}
}

// sentByCPU counts what went by outbound SAs for a CPU. The machine's own ip is too old to tell CPUs.
func sentByCPU(t *testing.T, from, to siteEnd, cpu int) int {
	t.Helper()
	root := os.Getenv("LAB_CHARON6")
	out := from.ns.Run(t, "chroot", root, "ip", "-s", "xfrm", "state")
	packets := 0
	for block := range strings.SplitSeq(out, "\nsrc ") {
		block = strings.TrimPrefix(block, "src ")
		if !strings.HasPrefix(block, from.addr+" dst "+to.addr+"\n") || !strings.Contains(block, fmt.Sprintf("\tpcpu-num %d\n", cpu)) {
			continue
		}
		for line := range strings.Lines(block) {
			var bytes, n int
			if _, err := fmt.Sscanf(strings.TrimSpace(line), "%d(bytes), %d(packets)", &bytes, &n); err == nil {
				packets += n
				break
			}
		}
	}
	return packets
}

// rekeyCPU rekeys the CHILD_SA for the first CPU from one end: the new one is for the same.
func rekeyCPU(t *testing.T, from, to siteEnd, name string) {
	t.Helper()
	old := sharesOf(from.control, name)["0"]
	others := sharesOf(to.control, name)
	if _, err := from.control.Call("rekey", "child-id", old.UniqueID); err != nil {
		t.Fatal(err)
	}
	labtest.WaitFor(t, time.Minute, from.ns.Role+" has rekeyed the CHILD_SA for CPU 0", func() error {
		shares := sharesOf(from.control, name)
		if now := shares["0"]; now.SPIIn == "" || now.SPIIn == old.SPIIn {
			return fmt.Errorf("it is %s", now.SPIIn)
		}
		if len(shares) != runtime.NumCPU()+1 {
			return fmt.Errorf("CHILD_SAs for %q", slices.Sorted(maps.Keys(shares)))
		}
		if now := sharesOf(to.control, name); len(now) != len(others) {
			return fmt.Errorf("the peer has CHILD_SAs for %q", slices.Sorted(maps.Keys(now)))
		}
		return nil
	})
}
