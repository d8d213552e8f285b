package charonlog

import (
	"fmt"
	"strings"
	"time"
)

// conversions are those of strftime(3) in the C locale, in Go's words.
var conversions = map[byte]string{
	'a': "Mon", 'A': "Monday", 'b': "Jan", 'B': "January", 'h': "Jan", 'c': "Mon Jan _2 15:04:05 2006", 'd': "02", 'D': "01/02/06", 'e': "_2",
	'F': "2006-01-02", 'H': "15", 'I': "03", 'j': "002", 'm': "01", 'M': "04", 'p': "PM", 'r': "03:04:05 PM", 'R': "15:04", 'S': "05",
	'T': "15:04:05", 'x': "01/02/06", 'X': "15:04:05", 'y': "06", 'Y': "2006", 'z': "-0700", 'Z': "MST",
}

// strftime writes a time. Conversions that it does not know stay as they are.
func strftime(format string, t time.Time) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		layout, known := conversions[format[i]]
		switch {
		case known:
			b.WriteString(t.Format(layout))
		case format[i] == 's':
			fmt.Fprintf(&b, "%d", t.Unix())
		case format[i] == '%':
			b.WriteByte('%')
		default:
			b.WriteString(format[i-1 : i+1])
		}
	}
	return b.String()
}
