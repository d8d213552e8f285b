package vici

import (
	"bytes"
	"strings"
	"testing"
)

// The encoding is checked against the octets that the protocol's description
// gives for these elements.
func TestBuilderOctets(t *testing.T) {
	var b Builder
	b.Key("key1", "value1")
	b.Section("section1", func() {
		b.Section("sub-section", func() { b.Key("key2", "value2") })
		b.List("list1", []string{"item1", "item2"})
	})
	want := "\x03\x04key1\x00\x06value1" +
		"\x01\x08section1" +
		"\x01\x0bsub-section\x03\x04key2\x00\x06value2\x02" +
		"\x04\x05list1\x05\x00\x05item1\x05\x00\x05item2\x06" +
		"\x02"
	if string(b.Bytes()) != want {
		t.Errorf("got %q\nwant %q", b.Bytes(), want)
	}
	s, err := Parse(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	sec := s.Sections["section1"]
	if s.Keys["key1"] != "value1" || sec.Sections["sub-section"].Keys["key2"] != "value2" || strings.Join(sec.Lists["list1"], ",") != "item1,item2" {
		t.Errorf("parsed %+v", s)
	}
}

func TestNoPrefixOfASectionParses(t *testing.T) {
	var b Builder
	b.Section("s", func() {
		b.Key("k", "v")
		b.List("l", []string{"1", "2"})
	})
	for i := 1; i < len(b.Bytes()); i++ {
		if _, err := Parse(b.Bytes()[:i]); err == nil {
			t.Errorf("the first %d octets parse", i)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	deep := strings.Repeat("\x01\x01s", maxDepth+2)
	for name, in := range map[string]string{
		"unknown element":   "\x09\x01a",
		"section end first": "\x02",
		"list in a list":    "\x04\x01l\x04\x01m\x06\x06",
		"item outside":      "\x05\x00\x01a",
		"too deep":          deep,
		"name cut":          "\x03\x05ab",
		"value cut":         "\x03\x01a\x00\x09b",
	} {
		if _, err := Parse([]byte(in)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestOversizeIsCut(t *testing.T) {
	var b Builder
	b.Key(strings.Repeat("n", 300), strings.Repeat("v", 70000))
	s, err := Parse(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if got := len(s.Keys[strings.Repeat("n", maxName)]); got != maxValue {
		t.Errorf("value of %d octets, want %d", got, maxValue)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("\x03\x04key1\x00\x06value1\x01\x01s\x02"))
	f.Add([]byte("\x04\x01l\x05\x00\x01a\x06"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse(data)
		if err == nil && s == nil {
			t.Error("neither a message nor an error")
		}
	})
}

func FuzzReadPacket(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x09\x00\x07version"))
	f.Add([]byte("\x00\x00\x00\x03\x03\xffa"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := readPacket(bytes.NewReader(data))
		if err != nil {
			return
		}
		b, err := p.append(nil)
		if err != nil {
			t.Fatalf("a packet that was read cannot be written: %v", err)
		}
		q, err := readPacket(bytes.NewReader(b))
		if err != nil || q.kind != p.kind || q.name != p.name || !bytes.Equal(q.body, p.body) {
			t.Fatalf("%+v became %+v (%v)", p, q, err)
		}
	})
}
