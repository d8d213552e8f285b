package labtest

import (
	"bufio"
	"strings"
	"testing"
	"time"
)

func TestParsePing(t *testing.T) {
	const reply = "[%] 64 bytes from 10.0.0.1: icmp_seq=# ttl=64 time=0.1 ms\n"
	line := func(at, seq string) string {
		return strings.NewReplacer("%", at, "#", seq).Replace(reply)
	}
	tests := []struct {
		name string
		in   string
		want PingResult
	}{
		{"nothing", "PING 10.0.0.1 (10.0.0.1) 56(84) bytes of data.\n", PingResult{}},
		{"all answered", line("100.00", "1") + line("100.01", "2"), PingResult{2, 0, 10 * time.Millisecond}},
		{"starts late", line("100.00", "5") + line("100.01", "6"), PingResult{2, 0, 10 * time.Millisecond}},
		{"two lost", line("100.00", "1") + line("100.03", "4"), PingResult{2, 2, 30 * time.Millisecond}},
		{"out of order", line("100.00", "1") + line("100.01", "3") + line("100.02", "2"), PingResult{3, 0, 10 * time.Millisecond}},
		{"wraps", line("100.00", "65535") + line("100.01", "0") + line("100.02", "2"), PingResult{3, 1, 10 * time.Millisecond}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := parsePing(bufio.NewScanner(strings.NewReader(tt.in)))
			got.LongestGap = got.LongestGap.Round(time.Millisecond)
			if got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}
