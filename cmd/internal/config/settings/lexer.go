package settings

import "strings"

// lexer walks over the text of one file.
type lexer struct {
	file string
	text string
	pos  int
	line int
}

func (l *lexer) at() Position { return Position{File: l.file, Line: l.line} }

// peek returns the next octet, or 0 at the end.
func (l *lexer) peek() byte {
	if l.pos < len(l.text) {
		return l.text[l.pos]
	}
	return 0
}

func (l *lexer) end() bool { return l.pos >= len(l.text) }

// next moves on by one octet and returns it.
func (l *lexer) next() byte {
	c := l.text[l.pos]
	l.pos++
	if c == '\n' {
		l.line++
	}
	return c
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// blanks skips spaces within a line.
func (l *lexer) blanks() {
	for !l.end() && isBlank(l.peek()) {
		l.pos++
	}
}

// space skips spaces, line ends and comments.
func (l *lexer) space() {
	for {
		l.blanks()
		switch {
		case l.end():
			return
		case l.peek() == '#':
			l.comment()
		case l.peek() == '\n':
			l.next()
		default:
			return
		}
	}
}

// comment skips to the end of the line.
func (l *lexer) comment() {
	if i := strings.IndexByte(l.text[l.pos:], '\n'); i >= 0 {
		l.pos += i
	} else {
		l.pos = len(l.text)
	}
}

// name reads the name of a section or key; "::" stands for a colon in it. It
// returns "" where none begins.
func (l *lexer) name() string {
	var b strings.Builder
	for !l.end() {
		c := l.peek()
		if c == ':' && strings.HasPrefix(l.text[l.pos:], "::") {
			l.pos++
		} else if c <= ' ' || c == 0x7f || strings.IndexByte("#{}=\",:", c) >= 0 {
			break
		}
		b.WriteByte(c)
		l.pos++
	}
	return b.String()
}

// found describes what comes next, for messages.
func (l *lexer) found() string {
	switch {
	case l.end():
		return "the end of the file"
	case l.peek() == '\n':
		return "the end of the line"
	}
	return "'" + printable(l.text[l.pos:l.pos+1]) + "'"
}

// value reads what follows "=": words, joined by single spaces, and quoted
// strings, up to the end of the line, a comment or a closing brace.
func (l *lexer) value() (Value, error) {
	v := Value{Position: l.at()}
	var parts []string
	for {
		l.blanks()
		switch c := l.peek(); {
		case l.end() || c == '\n' || c == '#' || c == '}':
			v.Text = strings.Join(parts, " ")
			return v, nil
		case c == '"':
			s, err := l.quoted()
			if err != nil {
				return v, err
			}
			v.Quoted = true
			parts = append(parts, s)
		default:
			start := l.pos
			for !l.end() && !isBlank(l.peek()) && strings.IndexByte("\n#}\"", l.peek()) < 0 {
				l.pos++
			}
			parts = append(parts, l.text[start:l.pos])
		}
	}
}

// quoted reads a quoted string. It may go over several lines; a backslash at
// the end of one joins it to the next.
func (l *lexer) quoted() (string, error) {
	start := l.at()
	unterminated := start.Errorf("the string that begins here has no closing '\"'")
	l.next()
	var b strings.Builder
	for !l.end() {
		switch c := l.next(); c {
		case '"':
			return b.String(), nil
		case '\r':
		case '\\':
			if l.end() {
				return "", unterminated
			}
			l.escape(&b)
		default:
			b.WriteByte(c)
		}
	}
	return "", unterminated
}

// escape reads what follows a backslash.
func (l *lexer) escape(b *strings.Builder) {
	if strings.HasPrefix(l.text[l.pos:], "\r\n") {
		l.next()
	}
	switch c := l.next(); c {
	case 'n':
		b.WriteByte('\n')
	case 'r':
		b.WriteByte('\r')
	case 't':
		b.WriteByte('\t')
	case '\n':
	default:
		b.WriteByte(c)
	}
}

// pattern reads the file name of an include; a backslash keeps the next octet
// from ending it.
func (l *lexer) pattern() (string, error) {
	l.blanks()
	if l.peek() == '"' {
		return l.quoted()
	}
	var b strings.Builder
	for !l.end() && !isBlank(l.peek()) && strings.IndexByte("\n#}\"", l.peek()) < 0 {
		if l.peek() == '\\' && l.pos+1 < len(l.text) && strings.IndexByte("\"#} ", l.text[l.pos+1]) >= 0 {
			l.pos++
		}
		b.WriteByte(l.next())
	}
	return b.String(), nil
}

// printable shows text that may hold anything.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
}
