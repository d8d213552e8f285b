package show

import (
	"io"
	"strings"
	"unicode/utf8"
)

// table aligns columns by their widest cell. Cells may carry colour; it does not
// count.
type table struct {
	header []string
	rows   []row
}

// row has cells, or is a note: text of its own below the row before it.
type row struct {
	cells []string
	note  string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, row{cells: cells}) }

// note adds a line that no column bounds.
func (t *table) note(text string) { t.rows = append(t.rows, row{note: Clean(text)}) }

func (t *table) write(w io.Writer) error {
	width := make([]int, len(t.header))
	rows := append([]row{{cells: t.header}}, t.rows...)
	for _, r := range rows {
		for i, c := range r.cells {
			width[i] = max(width[i], visible(c))
		}
	}
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(r.note)
		r.align(&b, width)
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// align writes the cells with two spaces at least between them and none at the end.
func (r row) align(b *strings.Builder, width []int) {
	last := len(r.cells) - 1
	for last > 0 && r.cells[last] == "" {
		last--
	}
	for i, c := range r.cells {
		if i > last {
			return
		}
		b.WriteString(c)
		if i < last {
			b.WriteString(strings.Repeat(" ", width[i]-visible(c)+2))
		}
	}
}

// visible counts the characters that take room: not those of colour sequences.
func visible(s string) int {
	n := 0
	for s != "" {
		if i := strings.IndexByte(s, 'm'); strings.HasPrefix(s, "\x1b[") && i > 0 {
			s = s[i+1:]
			continue
		}
		_, size := utf8.DecodeRuneInString(s)
		s = s[size:]
		n++
	}
	return n
}
