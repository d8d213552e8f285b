package daemon

import (
	"fmt"
	"testing"
)

// BenchmarkLoadConns loads so many connections over VICI, one after the other. Four times as many should take little
// more than four times as long.
func BenchmarkLoadConns(b *testing.B) {
	for _, action := range []string{"none", "trap"} {
		for _, n := range []int{250, 1000} {
			b.Run(fmt.Sprintf("%s/%d", action, n), func(b *testing.B) {
				for b.Loop() {
					b.StopTimer()
					p := startPeer(b, true, "none", canary)
					b.StartTimer()
					for i := range n {
						p.loadConn(b, fmt.Sprintf("c%d", i), fmt.Sprintf("10.%d.%d.0/24", i/250, i%250), action)
					}
					b.StopTimer()
					if err := p.stop(); err != nil {
						b.Fatal(err)
					}
					b.StartTimer()
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/conn")
			})
		}
	}
}
