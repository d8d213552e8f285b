package config

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// parseBool reads strongSwan's words for yes and no.
func parseBool(s string) (bool, error) {
	switch strings.ToLower(s) {
	case "yes", "true", "enabled", "1":
		return true, nil
	case "no", "false", "disabled", "0":
		return false, nil
	}
	return false, errors.New("expected yes or no")
}

// parseUint reads a decimal number, or a hexadecimal one after 0x.
func parseUint(s string) (uint64, error) {
	base, digits := 10, s
	if len(s) > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X') {
		base, digits = 16, s[2:]
	}
	n, err := strconv.ParseUint(digits, base, 64)
	if errors.Is(err, strconv.ErrRange) {
		return 0, errors.New("the number is too large")
	}
	if err != nil {
		return 0, errors.New("expected a number")
	}
	return n, nil
}

// number returns a parser of numbers within bounds.
func number[T ~int | ~uint8 | ~uint16 | ~uint32 | ~uint64](low, high uint64) func(string) (T, error) {
	return func(s string) (T, error) {
		n, err := parseUint(s)
		if err != nil || n < low || n > high {
			return 0, fmt.Errorf("expected a number from %d to %d", low, high)
		}
		return T(n), nil
	}
}

var (
	parseUint32 = number[uint32](0, math.MaxUint32)
	parsePort   = number[uint16](1, math.MaxUint16)
	parseCount  = number[int](0, math.MaxInt32)
)

var timeUnits = map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour}

// parseDuration reads a whole number of seconds, or of the unit s, m, h or d
// that follows it.
func parseDuration(s string) (time.Duration, error) {
	bad := errors.New("expected a time such as 30s, 10m, 4h or 1d")
	unit, digits := time.Second, s
	if u, ok := timeUnits[lastByte(s)]; ok {
		unit, digits = u, strings.TrimRight(s[:len(s)-1], " ")
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, bad
	}
	if n > uint64(maxDuration/unit) {
		return 0, errors.New("expected a time of less than 10 years")
	}
	return time.Duration(n) * unit, nil
}

// parseSeconds is parseDuration, but allows fractions, as strongswan.conf does
// for retransmission.
func parseSeconds(s string) (time.Duration, error) {
	if d, err := parseDuration(s); err == nil {
		return d, nil
	}
	f, err := strconv.ParseFloat(strings.TrimSuffix(s, "s"), 64)
	if err != nil || !(f >= 0 && f < maxDuration.Seconds()) {
		return 0, errors.New("expected a time such as 0.5s, 4s or 1m")
	}
	return time.Duration(f * float64(time.Second)), nil
}

// parseBytes reads a number of octets; k, m and g are powers of 1024.
func parseBytes(s string) (uint64, error) {
	bad := errors.New("expected a number of octets such as 1000000, 512k, 100m or 4g")
	shift, digits := 0, s
	if i := strings.IndexByte("kmg", lastByte(strings.ToLower(s))); i >= 0 && s != "" {
		shift, digits = 10*(i+1), strings.TrimRight(s[:len(s)-1], " ")
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, bad
	}
	if err != nil || n > math.MaxUint64>>shift {
		return 0, errors.New("the number is too large")
	}
	return n << shift, nil
}

func lastByte(s string) byte {
	if s == "" {
		return 0
	}
	return s[len(s)-1]
}

// split cuts a list at its commas; empty items are dropped.
func split(s string) []string {
	items := strings.Split(s, ",")
	for i := range items {
		items[i] = strings.TrimSpace(items[i])
	}
	return slices.DeleteFunc(items, func(s string) bool { return s == "" })
}

// list returns a parser of comma-separated values.
func list[T any](parse func(string) (T, error)) func(string) ([]T, error) {
	return func(s string) ([]T, error) {
		var out []T
		for _, item := range split(s) {
			v, err := parse(item)
			if err != nil {
				return nil, fmt.Errorf("%q: %w", item, err)
			}
			out = append(out, v)
		}
		return out, nil
	}
}

// word returns a parser of fixed words.
func word[T any](words map[string]T) func(string) (T, error) {
	return func(s string) (T, error) {
		v, ok := words[strings.ToLower(s)]
		if !ok {
			names := make([]string, 0, len(words))
			for w := range words {
				names = append(names, w)
			}
			slices.Sort(names)
			return v, fmt.Errorf("expected one of %s", strings.Join(names, ", "))
		}
		return v, nil
	}
}

// text is the parser that takes everything.
func text(s string) (string, error) { return s, nil }
