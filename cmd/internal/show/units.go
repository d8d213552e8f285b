package show

import (
	"fmt"
	"time"
)

// Age writes a duration with its two largest units, the second only if it says
// something: 45s, 4m, 4m30s, 31m, 2h3m, 2d4h.
func Age(d time.Duration) string {
	const day = 24 * time.Hour
	d = d.Round(time.Second)
	switch {
	case d < 0:
		return "0s"
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < 10*time.Minute:
		return twoUnits(d, time.Minute, "m", time.Second, "s")
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < day:
		return twoUnits(d, time.Hour, "h", time.Minute, "m")
	}
	return twoUnits(d, day, "d", time.Hour, "h")
}

func twoUnits(d, large time.Duration, largeName string, small time.Duration, smallName string) string {
	text := fmt.Sprintf("%d%s", d/large, largeName)
	if rest := d % large / small; rest > 0 {
		text += fmt.Sprintf("%d%s", rest, smallName)
	}
	return text
}

// since writes how long ago t was, as of now; "-" if never.
func since(now, t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return Age(now.Sub(t))
}

// until writes how far t lies ahead of now; "-" if it is not set.
func until(now, t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return Age(t.Sub(now))
}

// Bytes writes a number of octets with three digits at most: 999, 1.2K, 830M.
func Bytes(n uint64) string {
	const units = "KMGTPE"
	if n < 1000 {
		return fmt.Sprint(n)
	}
	v := float64(n)
	for i := range units {
		v /= 1000
		switch {
		case v < 9.95:
			return fmt.Sprintf("%.1f%c", v, units[i])
		case v < 999.5 || i == len(units)-1:
			return fmt.Sprintf("%.0f%c", v, units[i])
		}
	}
	return fmt.Sprint(n)
}
