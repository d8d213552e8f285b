package ipsecconf

import "strings"

// lexer cuts the text of one file into statements, one a line.
type lexer struct {
	file string
	text string
	pos  int
	line int
}

// statement is a line that says something.
type statement struct {
	Position
	indented bool
	tokens   []token
}

// token is a word, a quoted string or an equals sign.
type token struct {
	text   string
	quoted bool
	equals bool
}

func (l *lexer) at() Position { return Position{File: l.file, Line: l.line} }

func (l *lexer) end() bool { return l.pos >= len(l.text) }

// peek returns the next octet, or the end of a line at the end.
func (l *lexer) peek() byte {
	if l.end() {
		return '\n'
	}
	return l.text[l.pos]
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// blanks skips spaces within a line and reports whether there were any.
func (l *lexer) blanks() bool {
	start := l.pos
	for !l.end() && isBlank(l.peek()) {
		l.pos++
	}
	return l.pos > start
}

// next returns the next statement; ok is false at the end.
func (l *lexer) next() (s statement, ok bool, err error) {
	for !l.end() {
		s = statement{Position: l.at(), indented: l.blanks()}
		if s.tokens, err = l.tokens(); err != nil {
			return s, false, err
		}
		if len(s.tokens) > 0 {
			return s, true, nil
		}
	}
	return s, false, nil
}

// tokens reads to the end of the line, and over it. A "#" begins a comment
// unless it is quoted or follows a "@" that begins a word, as in a key ID.
func (l *lexer) tokens() ([]token, error) {
	var out []token
	for {
		l.blanks()
		switch c := l.peek(); c {
		case '\n':
			l.pos++
			l.line++
			return out, nil
		case '#':
			for !l.end() && l.peek() != '\n' {
				l.pos++
			}
		case '=':
			l.pos++
			out = append(out, token{text: "=", equals: true})
		case '"':
			s, err := l.quoted()
			if err != nil {
				return nil, err
			}
			out = append(out, token{text: s, quoted: true})
		default:
			out = append(out, token{text: l.word()})
		}
	}
}

func (l *lexer) word() string {
	start := l.pos
	if strings.HasPrefix(l.text[l.pos:], "@#") {
		l.pos += 2
	}
	for !l.end() && !isBlank(l.peek()) && strings.IndexByte("\"#=\n", l.peek()) < 0 {
		l.pos++
	}
	return l.text[start:l.pos]
}

// quoted reads a string in quotes. It may go over several lines; a backslash at
// the end of one joins it to the next.
func (l *lexer) quoted() (string, error) {
	begin := l.at()
	unterminated := begin.Errorf("the string that begins here has no closing '\"'")
	l.pos++
	var b strings.Builder
	for !l.end() {
		c := l.text[l.pos]
		l.pos++
		switch c {
		case '"':
			return b.String(), nil
		case '\\':
			if l.end() {
				return "", unterminated
			}
			l.escape(&b)
		case '\n':
			l.line++
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return "", unterminated
}

// escape reads what follows a backslash.
func (l *lexer) escape(b *strings.Builder) {
	if strings.HasPrefix(l.text[l.pos:], "\r\n") {
		l.pos++
	}
	c := l.text[l.pos]
	l.pos++
	switch c {
	case 'n':
		b.WriteByte('\n')
	case 'r':
		b.WriteByte('\r')
	case 't':
		b.WriteByte('\t')
	case '\n':
		l.line++
	default:
		b.WriteByte(c)
	}
}
