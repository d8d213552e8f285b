package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
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

// flat lists every value of a section as "a.b.key=value", inherited ones too.
func flat(s *Section, prefix string, depth int) map[string]string {
	out := map[string]string{}
	for _, k := range s.Keys() {
		out[prefix+k.Name] = k.Value.Text
	}
	if depth > 0 {
		for _, sub := range s.Sections() {
			maps.Copy(out, flat(sub, prefix+sub.Name+".", depth-1))
		}
	}
	return out
}

func TestValues(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"plain", "a = b", "a=b"},
		{"no spaces", "a=b\n", "a=b"},
		{"blanks at the ends and between words", "a =  b \t c  \n", "a=b c"},
		{"comment after a value", "a = b # c\n", "a=b"},
		{"comment line", "# a = x\na = b\n", "a=b"},
		{"quoted, with what would end a value", `a = " b # } { "`, "a= b # } { "},
		{"escapes", `a = "x\"y\\z\tw"`, "a=x\"y\\z\tw"},
		{"a backslash joins lines", "a = \"x\\\ny\"", "a=xy"},
		{"a quoted value over two lines", "a = \"x\ny\"", "a=x\ny"},
		{"braces and equals signs within a value", "a = b{c=d", "a=b{c=d"},
		{"section on one line", "s { a = b }", "s.a=b"},
		{"brace on the next line", "s\n{\n a = b\n}\n", "s.a=b"},
		{"carriage returns", "s {\r\n a = b\r\n}\r\n", "s.a=b"},
		{"a later key replaces", "a = b\na = c", "a=c"},
		{"an empty value unsets", "a = b\na =\nc = d", "c=d"},
		{"an empty quoted value is a value", `a = ""`, "a="},
		{"sections of one name merge", "s { a = 1\n}\ns { b = 2\n}", "s.a=1 s.b=2"},
		{"a colon in a name", "C::/x { a = b\n}", "C:/x.a=b"},
		{"a key called include", "include = x", "include=x"},
		{"a selector with brackets", "ts = 10.0.0.0/8[tcp/443], ::/0", "ts=10.0.0.0/8[tcp/443], ::/0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := Parse(files("f", c.text), "/f")
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for k, v := range flat(f.Root, "", 3) {
				got = append(got, k+"="+v)
			}
			slices.Sort(got)
			if s := strings.Join(got, " "); s != c.want {
				t.Errorf("got %q, want %q", s, c.want)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a\nb = c", `/f:1: found the end of the line after "a", expected '= value' for a key or '{' for a section`},
		{"\n\ns {\n a = b\n", `/f:3: section s, which begins here, has no closing '}'`},
		{"a = b\n}\n", `/f:2: found '}', but no section of this file is open`},
		{"= b", `/f:1: found '=', expected the name of a key or section, or '}'`},
		{"{ }", `/f:1: found '{', expected the name of a key or section, or '}'`},
		{"a = \"b\nc = d\n", `/f:1: the string that begins here has no closing '"'`},
		{"a = b \"c\\", `/f:1: the string that begins here has no closing '"'`},
		{"s : { }", `/f:1: found '{', expected the name of a section that s inherits from`},
		{"s : a, { }", `/f:1: found '{', expected the name of a section that s inherits from`},
		{"include \nb = c", `/f:1: include: found the end of the line, expected the name of a file`},
		{"\x1b[31m = b", `/f:1: found '?', expected the name of a key or section, or '}'`},
		{"a : a { }", `/f:1: the reference to a leads back to the section that makes it`},
		{"a : b { }\nb : a { }", `/f:2: the reference to a leads back to the section that makes it`},
		{"a {\n b : a { }\n}", `/f:2: section b contains itself: it inherits from section a (/f:1)`},
		{"a {\n b : c { }\n}\nc {\n d : a { }\n}", `/f:5: section d contains itself: it inherits from section a (/f:1)`},
		{strings.Repeat("s {\n", 40) + strings.Repeat("}\n", 40), `/f:33: sections are nested more than 32 deep`},
		{"include f", `/f:1: /f includes itself`},
		{"include [", `/f:1: include [: syntax error in pattern`},
	} {
		_, err := Parse(files("f", c.text), "/f")
		if err == nil || err.Error() != c.want {
			t.Errorf("%q:\n got %v\nwant %s", c.text, err, c.want)
		}
	}
}

func TestMissingFileIsNotExist(t *testing.T) {
	_, err := Parse(files(), "/etc/none.conf")
	if !errors.Is(err, fs.ErrNotExist) || err.Error() != "/etc/none.conf: file does not exist" {
		t.Errorf("got %v", err)
	}
}

func TestChainOfReferencesIsBounded(t *testing.T) {
	var b strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&b, "s%d : s%d { }\n", i, i+1)
	}
	_, err := Parse(files("f", b.String()), "/f")
	if err == nil || !strings.Contains(err.Error(), "inherits from more than 64 sections") {
		t.Errorf("got %v", err)
	}
}

func TestIncludes(t *testing.T) {
	fsys := files(
		"etc/swanctl/swanctl.conf", "a = 1\ninclude conf.d/*.conf\ns {\n  include inner\n  k = after\n}\ninclude missing.conf\ninclude none/*.conf\ninclude \"/opt/with space\"\ninclude /opt/with\\ space\n",
		"etc/swanctl/conf.d/20.conf", "a = 20\n",
		"etc/swanctl/conf.d/10.conf", "a = 10\nb = 10\ninclude deeper/x",
		"etc/swanctl/conf.d/deeper/x", "c = deep\n",
		"etc/swanctl/conf.d/readme.txt", "not read\n",
		"etc/swanctl/inner", "k = before\nsub { i = 1\n}\n",
		"opt/with space", "d = 4",
	)
	f, err := Parse(fsys, "/etc/swanctl/swanctl.conf")
	if err != nil {
		t.Fatal(err)
	}
	got := flat(f.Root, "", 3)
	want := map[string]string{"a": "20", "b": "10", "c": "deep", "d": "4", "s.k": "after", "s.sub.i": "1"}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	v, _ := f.Root.Value("c")
	if v.Position != (Position{File: "/etc/swanctl/conf.d/deeper/x", Line: 1}) {
		t.Errorf("position of an included value: %v", v.Position)
	}
	if len(f.Warnings) != 1 || f.Warnings[0].Error() != "/etc/swanctl/swanctl.conf:7: include missing.conf: there is no such file" {
		t.Errorf("warnings: %v", f.Warnings)
	}
	if f.Names[1] != "/etc/swanctl/conf.d/10.conf" {
		t.Errorf("files were read in the order %v", f.Names)
	}
}

// The braces of a file have to match within it, or one bad file would move
// what follows it into another section.
func TestIncludedFileCannotCloseSection(t *testing.T) {
	_, err := Parse(files("f", "s {\ninclude g\n}\n", "g", "a = b\n}\n"), "/f")
	if err == nil || err.Error() != "/g:2: found '}', but no section of this file is open" {
		t.Errorf("got %v", err)
	}
}

func TestIncludeDepth(t *testing.T) {
	fsys := fstest.MapFS{}
	for i := range 20 {
		fsys[fmt.Sprint("f", i)] = &fstest.MapFile{Data: fmt.Appendf(nil, "include f%d", i+1)}
	}
	_, err := Parse(fsys, "/f0")
	if err == nil || err.Error() != "/f15:1: includes are nested more than 16 deep" {
		t.Errorf("got %v", err)
	}
}

func TestReferences(t *testing.T) {
	const text = `
conn-b : t1, t2 {
  own = b
  cleared =
  children { net { k = b
    }
  }
}
conn-c : conns.a { }
t1 { x = t1
  own = t1
  cleared = t1
  children { net { k = t1
      l = t1
    }
    only1 { k = t1
    }
  } }
t2 { x = t2
  y = t2
  children { net { m = t2
    } } }
conns { a : conn-b { z = a
  } }
`
	f, err := Parse(files("f", text), "/f")
	if err != nil {
		t.Fatal(err)
	}
	b := map[string]string{
		"own": "b", "x": "t1", "y": "t2",
		"children.net.k": "b", "children.net.l": "t1", "children.net.m": "t2", "children.only1.k": "t1",
	}
	if got := flat(f.Root.Section("conn-b"), "", 3); !maps.Equal(got, b) {
		t.Errorf("conn-b: got %v\nwant %v", got, b)
	}
	c := maps.Clone(b)
	c["z"] = "a"
	if got := flat(f.Root.Section("conn-c"), "", 3); !maps.Equal(got, c) {
		t.Errorf("conn-c: got %v\nwant %v", got, c)
	}
	net := f.Root.Section("conn-b").Section("children").Section("net")
	if v, _ := net.Value("l"); v.Line != 14 || net.Line != 5 {
		t.Errorf("positions: inherited value %v (want line 14), section %v (want line 5)", v.Position, net.Position)
	}
	f, err = Parse(files("f", "a : none { }"), "/f")
	if err != nil || len(f.Warnings) != 1 || f.Warnings[0].Error() != "/f:1: section a refers to none, but there is no such section" {
		t.Errorf("reference to nothing: %v, %v", f.Warnings, err)
	}
}

// What is written by any tree is read back as that tree.
func TestRoundTrip(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 0))
		want := map[string]string{}
		var b strings.Builder
		write(&b, r, want, "", 3)
		f, err := Parse(files("f", b.String()), "/f")
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, b.String())
		}
		if got := flat(f.Root, "", 5); !maps.Equal(got, want) {
			t.Fatalf("seed %d: got %v\nwant %v\n%s", seed, got, want, b.String())
		}
	}
}

func write(b *strings.Builder, r *rand.Rand, want map[string]string, prefix string, depth int) {
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	for range r.IntN(4) {
		key := string(rune('a' + r.IntN(5)))
		v := make([]byte, 1+r.IntN(8))
		for j := range v {
			v[j] = "ab \\\"#{}=,:\n\t."[r.IntN(13)]
		}
		want[prefix+key] = string(v)
		fmt.Fprintf(b, "%s = \"%s\" # comment }\n", key, quote.Replace(string(v)))
	}
	if depth == 0 {
		return
	}
	for i := range r.IntN(3) {
		fmt.Fprintf(b, "s%d {\n", i)
		write(b, r, want, fmt.Sprintf("%ss%d.", prefix, i), depth-1)
		b.WriteString("}\n")
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"a = b\ns : t, u.v { c = \"d\\n\" }\nt { }\n", "include f\n", "include g\n", "a = \"", "a::b { c = d } # e",
		"s {\n\ts { : } }", "a : b { c : a { } }\nb { d : a { } }",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		file, err := Parse(files("f", text, "g", "x = y\n"), "/f")
		if err != nil {
			if !strings.HasPrefix(err.Error(), "/f:") {
				t.Errorf("error without a place: %v", err)
			}
			return
		}
		lines := strings.Count(text, "\n") + 1
		walk(t, file.Root, lines, 3)
	})
}

func walk(t *testing.T, s *Section, lines, depth int) {
	for _, k := range s.Keys() {
		if k.Value.File == "/f" && (k.Value.Line < 1 || k.Value.Line > lines) {
			t.Errorf("%s is at %v of %d lines", k.Name, k.Value.Position, lines)
		}
		if v, ok := s.Value(k.Name); !ok || v != k.Value {
			t.Errorf("Keys has %v, Value %v", k.Value, v)
		}
	}
	for _, sub := range s.Sections() {
		if depth > 0 {
			walk(t, sub, lines, depth-1)
		}
	}
}
