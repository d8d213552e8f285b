package main

import (
	"strconv"
	"strings"

	"github.com/strongswan/govici/vici"

	"github.com/ipsecd/ipsecd/cmd/internal/certtext"
)

// span writes a number of seconds in the largest unit of which there are more
// than two.
func span(seconds string) string {
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return seconds
	}
	return certtext.Span(n)
}

// algorithms writes the algorithms of an SA: its cipher and integrity, then those of the
// given keys.
func algorithms(m *vici.Message, keys ...string) string {
	out := sized(m, "encr")
	if integ := sized(m, "integ"); integ != "" {
		out += "/" + integ
	}
	for _, k := range keys {
		if a := text(m, k); a != "" {
			out += "/" + a
		}
	}
	if text(m, "esn") == "1" {
		out += "/ESN"
	}
	return out
}

func sized(m *vici.Message, kind string) string {
	name, size := text(m, kind+"-alg"), text(m, kind+"-keysize")
	if name == "" || size == "" || size == "0" {
		return name
	}
	return strings.Join([]string{name, size}, "_")
}
