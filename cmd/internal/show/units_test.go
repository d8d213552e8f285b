package show

import (
	"testing"
	"time"
)

func TestAge(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second:                    "0s",
		0:                               "0s",
		1400 * time.Millisecond:         "1s",
		59600 * time.Millisecond:        "1m",
		4 * time.Minute:                 "4m",
		4*time.Minute + 30*time.Second:  "4m30s",
		31*time.Minute + 59*time.Second: "31m",
		time.Hour:                       "1h",
		2*time.Hour + 3*time.Minute:     "2h3m",
		52*time.Hour + 59*time.Minute:   "2d4h",
		400 * 24 * time.Hour:            "400d",
	} {
		if got := Age(d); got != want {
			t.Errorf("Age(%v) = %s, want %s", d, got, want)
		}
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[uint64]string{
		0: "0", 999: "999", 1000: "1.0K", 1234: "1.2K", 9949: "9.9K", 9950: "10K", 999_499: "999K", 999_500: "1.0M",
		830_000_000: "830M", 1_234_567_890: "1.2G", 1<<64 - 1: "18E",
	} {
		if got := Bytes(n); got != want {
			t.Errorf("Bytes(%d) = %s, want %s", n, got, want)
		}
	}
}
