// Package suggest finds what somebody who mistyped a name may have meant.
package suggest

import (
	"slices"
	"strings"
)

// DidYouMean returns "; did you mean X?" if one of the names is close to what
// was written, otherwise "".
func DidYouMean(written string, names []string) string {
	best, distance := "", 1+len(written)/3
	for _, n := range slices.Sorted(slices.Values(names)) {
		d := editDistance(written, n)
		if len(written) > 2 && strings.HasPrefix(n, written) {
			d = min(d, 1)
		}
		if d <= distance && (best == "" || d < distance) {
			best, distance = n, d
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}

// editDistance counts the insertions, deletions and replacements of octets
// that make b of a.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
