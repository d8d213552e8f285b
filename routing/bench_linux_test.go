package routing_test

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/ipsecd/ipsecd/routing"
)

const benchRoutes = 100_000

// prefix4 returns the i-th /24 from 20.0.0.0 on.
func prefix4(i int) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{20 + byte(i>>16), byte(i >> 8), byte(i), 0}), 24)
}

func prefix6(i int) netip.Prefix {
	a := [16]byte{0x20, 0x01, 0x0d, 0xb8, byte(i >> 16), byte(i >> 8), byte(i)}
	return netip.PrefixFrom(netip.AddrFrom16(a), 56)
}

// install sets benchRoutes routes over legs 1 to 8 and applies them.
func install(b *testing.B, k routing.Kernel, cfg routing.Config, v6 bool) *routing.Manager {
	m, err := routing.New(k, cfg)
	if err != nil {
		b.Fatal(err)
	}
	if err := m.Start(); err != nil {
		b.Fatal(err)
	}
	legs := make([]routing.Leg, 8)
	for i := range legs {
		if legs[i] = leg(i + 1); v6 {
			legs[i] = leg6(i + 1)
		}
	}
	for i := range benchRoutes {
		r := routing.Route{Legs: legs}
		if r.Prefix = prefix4(i); v6 {
			r.Prefix = prefix6(i)
		}
		if err := m.Set(r); err != nil {
			b.Fatal(err)
		}
	}
	if stats, err := m.Apply(); err != nil || stats.RoutesAdded != benchRoutes {
		b.Fatalf("%+v, %v", stats, err)
	}
	return m
}

func remove(b *testing.B, m *routing.Manager) {
	for _, r := range m.Routes() {
		m.Withdraw(r.RouteID)
	}
	if _, err := m.Apply(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkInstall100k measures Set and Apply of 100,000 8-way routes.
func BenchmarkInstall100k(b *testing.B) {
	for _, c := range []struct {
		name string
		cfg  routing.Config
		v6   bool
	}{
		{"groups/ipv4", routing.Config{}, false},
		{"groups/ipv6", routing.Config{}, true},
		{"plain/ipv4", routing.Config{PlainRoutes: true}, false},
	} {
		b.Run(c.name, func(b *testing.B) {
			newNamespace(b, 8)
			k := dial(b)
			for b.Loop() {
				m := install(b, k, c.cfg, c.v6)
				b.StopTimer()
				remove(b, m)
				b.StartTimer()
			}
			b.ReportMetric(float64(benchRoutes*b.N)/b.Elapsed().Seconds(), "routes/s")
		})
	}
}

// BenchmarkLegLoss measures how long traffic stays on a lost leg under
// 100,000 routes.
func BenchmarkLegLoss(b *testing.B) {
	for _, v6 := range []bool{false, true} {
		name, lost := "ipv4", nexthop(3)
		if v6 {
			name, lost = "ipv6", leg6(3).Nexthop
		}
		b.Run(name, func(b *testing.B) {
			newNamespace(b, 8)
			m := install(b, dial(b), routing.Config{}, v6)
			var switched, worst float64
			for b.Loop() {
				stats, err := m.LegDown(lost)
				if err != nil || stats.GroupUpdates != 1 {
					b.Fatalf("%+v, %v", stats, err)
				}
				us := float64(stats.Switched.Microseconds())
				switched, worst = switched+us, max(worst, us)
				b.StopTimer()
				if _, err := m.LegUp(lost); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
			b.ReportMetric(switched/float64(b.N), "µs-switched")
			b.ReportMetric(worst, "µs-worst")
		})
	}
}

// BenchmarkRestart100k measures taking over 100,000 routes of a previous run.
func BenchmarkRestart100k(b *testing.B) {
	newNamespace(b, 8)
	k := dial(b)
	old := install(b, k, routing.Config{}, false)
	routes := old.Routes()
	for b.Loop() {
		m, err := routing.New(k, routing.Config{})
		if err != nil {
			b.Fatal(err)
		}
		if err := m.Start(); err != nil {
			b.Fatal(err)
		}
		for _, r := range routes {
			if err := m.Set(routing.Route{RouteID: r.RouteID, Legs: r.Legs}); err != nil {
				b.Fatal(err)
			}
		}
		if stats, err := m.SweepStale(); err != nil || stats != (routing.Stats{Switched: stats.Switched, Duration: stats.Duration}) {
			b.Fatal(fmt.Sprintf("%+v", stats), err)
		}
	}
}
