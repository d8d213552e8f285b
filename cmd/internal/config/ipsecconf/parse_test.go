package ipsecconf

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

// files makes a file system of names without the leading slash, and texts.
func files(pairs ...string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		fsys[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return fsys
}

// dump writes all that was read as "conn a: x=1@3 y=2@4".
func dump(f *File) string {
	var lines []string
	list := append(append([]*Section{}, f.Conns...), f.CAs...)
	if f.Setup != nil {
		list = append([]*Section{f.Setup}, list...)
	}
	for _, s := range list {
		line := s.Kind + " " + s.Name + ":"
		for _, k := range s.Keys() {
			line += fmt.Sprintf(" %s=%s@%d", k.Name, k.Value.Text, k.Value.Line)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"sections", "config setup\n uniqueids=no\nconn a\n\tleft=1\nca b\n  cacert=c\n", "config setup: uniqueids=no@2\nconn a: left=1@4\nca b: cacert=c@6"},
		{"blanks around the equals sign", "conn a\n  x = 1 \n", "conn a: x=1@2"},
		{"empty lines and comments do not end a section", "conn a\n\n# no\n  # no\n x=1 # no\n", "conn a: x=1@5"},
		{"a comment begins in a word too", "conn a\n x=1#no\n", "conn a: x=1@2"},
		{"but a key ID is none", "conn a\n x=@#0102 #no\n", "conn a: x=@#0102@2"},
		{"words are joined by one blank", "conn a\n x=1  2\t3\n", "conn a: x=1 2 3@2"},
		{"quotes keep blanks and equals signs", "conn a\n x=\"C=CH,  O=x # y\"\n", "conn a: x=C=CH,  O=x # y@2"},
		{"escapes and joined lines in quotes", "conn a\n x=\"a\\\"b\\\\c\\\nd\"\n y=1", `conn a: x=a"b\cd@2 y=1@4`},
		{"quotes over lines", "conn a\n x=\"b\nc\"\n y=1", "conn a: x=b\nc@2 y=1@4"},
		{"a later value replaces", "conn a\n x=1\n x=2\n", "conn a: x=2@3"},
		{"sections of one name are one", "conn a\n x=1\nconn b\nconn a\n y=1\n", "conn a: x=1@2 y=1@5\nconn b:"},
		{"version is passed over", "version 2.0\nconn a\n x=1\n", "conn a: x=1@3"},
		{"no line end at the end", "conn a\n x=1", "conn a: x=1@2"},
		{"carriage returns", "conn a\r\n x=1\r\n", "conn a: x=1@2"},
		{"a parameter called include", "conn a\n include=x\n", "conn a: include=x@2"},
		{"%default, wherever it stands", "conn a\n x=1\nconn %default\n x=9\n y=2\n", "conn a: x=1@2 y=2@5"},
		{"%default of each kind", "ca %default\n x=1\nconn a\nca b\n", "conn a:\nca b: x=1@2"},
		{"an empty value hides %default", "conn %default\n x=1\n y=1\nconn a\n x=\n", "conn a: y=1@3"},
		{"also", "conn a\n x=1\n also=b\nconn b\n x=2\n y=2\n", "conn a: x=1@2 y=2@6\nconn b: x=2@5 y=2@6"},
		{"also comes before %default", "conn %default\n y=9\nconn a\n also=b\nconn b\n y=2\n", "conn a: y=2@6\nconn b: y=2@6"},
		{"also in also, first named first", "conn a\n also=b\n also=c\nconn b\n also=d\nconn c\n x=c\nconn d\n x=d\n", "conn a: x=d@9\nconn b: x=d@9\nconn c: x=c@7\nconn d: x=d@9"},
		{"also in %default", "conn %default\n also=t\nconn t\n x=1\nconn a\n", "conn t: x=1@4\nconn a: x=1@4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := Parse(files("f", c.text), "/f")
			if err != nil {
				t.Fatal(err)
			}
			if got := dump(f); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			if len(f.Warnings) > 0 {
				t.Error(f.Warnings)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"left=1\n", `/f:1: found "left" at the beginning of a line, expected "config setup", "conn NAME", "ca NAME" or "include FILE"; indent the parameters of a section`},
		{"\n left=1\n", `/f:2: the parameter left is in no section; expected "config setup", "conn NAME" or "ca NAME" before it`},
		{"conn\n", `/f:1: conn has no name, expected conn NAME`},
		{"config\n", `/f:1: config has no name, expected config setup`},
		{"config set\n", `/f:1: found config "set", expected config setup`},
		{"conn a {\n", `/f:1: found "{" after conn a, expected the end of the line; parameters begin on the next one, indented`},
		{"conn a\n left\n", `/f:2: found "left" without a value, expected left=VALUE`},
		{"conn a\n left right=1\n", `/f:2: found "left" without a value, expected left=VALUE`},
		{"conn a\n =1\n", `/f:2: found '=', expected the name of a parameter`},
		{"conn a\n left=1 right=2\n", `/f:2: found '=' in the value of left; there is one parameter a line, and a value that holds '=' is quoted: left="…"`},
		{"conn a\n x=\"b\n\n", `/f:2: the string that begins here has no closing '"'`},
		{"conn a\n x=\"b\\", `/f:2: the string that begins here has no closing '"'`},
		{"conn a\n also=b\nconn b\n also=a\n", `/f:4: also=a leads back to conn a`},
		{"conn a\n also=a\n", `/f:2: also=a leads back to conn a`},
		{"include f\n", `/f:1: /f includes itself`},
		{"conn a\n \x1b[31m\n", `/f:2: found "?[31m" without a value, expected ?[31m=VALUE`},
	} {
		_, err := Parse(files("f", c.text), "/f")
		if err == nil || err.Error() != c.want {
			t.Errorf("%q:\ngot  %v\nwant %s", c.text, err, c.want)
		}
	}
}

func TestInclude(t *testing.T) {
	f, err := Parse(files(
		"etc/ipsec.conf", "conn a\n x=1\ninclude ipsec.d/*.conf\n z=1\ninclude none\ninclude no*\nconn b\n also=gone\n",
		"etc/ipsec.d/1.conf", " y=1\n",
		"etc/ipsec.d/2.conf", "conn c\n",
	), "/etc/ipsec.conf")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := dump(f), "conn a: x=1@2 y=1@1\nconn c: z=1@4\nconn b:"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := strings.Join(f.Names, " "); got != "/etc/ipsec.conf /etc/ipsec.d/1.conf /etc/ipsec.d/2.conf" {
		t.Error(got)
	}
	if len(f.Warnings) != 2 || f.Warnings[0].Error() != "/etc/ipsec.conf:5: include none: there is no such file" ||
		f.Warnings[1].Error() != "/etc/ipsec.conf:8: also=gone: there is no conn gone" {
		t.Error(f.Warnings)
	}
}

func TestIncludeDepth(t *testing.T) {
	fsys := fstest.MapFS{}
	for i := range 20 {
		fsys[fmt.Sprint("f", i)] = &fstest.MapFile{Data: fmt.Appendf(nil, "include f%d", i+1)}
	}
	_, err := Parse(fsys, "/f0")
	if err == nil || err.Error() != "/f15:1: includes are nested more than 16 deep" {
		t.Error(err)
	}
}

func TestDetect(t *testing.T) {
	for _, c := range []struct {
		name, text    string
		conf, secrets bool
	}{
		{"/etc/ipsec.conf", "", true, false},
		{"/x", "# x\nconfig setup # y\n", true, false},
		{"/x", "conn hq\n left=1\n", true, false},
		{"/x", "connections {\n}\n", false, false},
		{"/x", "conn {\n}\nca a {\n}\n", false, false},
		{"/etc/ipsec.secrets", "", false, true},
		{"/x", "192.0.2.1 : PSK \"x\"\n", false, true},
		{"/x", ": RSA key.pem\n", false, true},
		{"/x", "secrets { ike { secret = a : PSK b\n} }\n", false, false},
	} {
		if IsConf(c.name, c.text) != c.conf || IsSecrets(c.name, c.text) != c.secrets {
			t.Errorf("%s %q: conf %v, secrets %v", c.name, c.text, IsConf(c.name, c.text), IsSecrets(c.name, c.text))
		}
	}
}
