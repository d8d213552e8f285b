package main

import (
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"github.com/strongswan/govici/vici"

	"github.com/ipsecd/ipsecd/cmd/internal/viciclient"
)

var section = viciclient.Section

// text returns the value of a key, or of a key in sections; empty if there is none.
func text(m *vici.Message, path ...string) string { return clean(viciclient.Text(m, path...)) }

// need returns the value of a key that every daemon is thought to send. Without it, (null) is written, as by the stock swanctl.
func need(m *vici.Message, key string) string {
	if v, ok := m.Get(key).(string); ok {
		return clean(v)
	}
	return null
}

const null = "(null)"

// has reports whether there is a value of a key.
func has(m *vici.Message, key string) bool { _, ok := m.Get(key).(string); return ok }

// items returns a list, with what is between its items.
func items(m *vici.Message, key string) string {
	return clean(strings.Join(viciclient.List(m, key), " "))
}

// needItems is items for a list that is never empty.
func needItems(m *vici.Message, key string) string {
	if v := items(m, key); v != "" {
		return v
	}
	return null
}

// clean keeps what peers have sent from controlling a terminal.
func clean(s string) string {
	if printable(s) {
		return s
	}
	b := []byte(s)
	for i, c := range b {
		if c < ' ' || c > '~' {
			b[i] = '?'
		}
	}
	return string(b)
}

func printable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// eachSection calls f for each section of a message.
func eachSection(m *vici.Message, f func(name string, sec *vici.Message)) {
	if m == nil {
		return
	}
	for _, name := range m.Keys() {
		if sec := section(m, name); sec != nil {
			f(clean(name), sec)
		}
	}
}

// dump writes a message as it is, on a line of its own or indented.
func dump(w io.Writer, label string, m *vici.Message, pretty bool) {
	if pretty {
		fmt.Fprintf(w, "%s {\n", label)
		dumpLines(w, m, "  ")
		fmt.Fprintf(w, "}\n")
		return
	}
	fmt.Fprintf(w, "%s {%s}\n", label, dumpLine(m))
}

// octets is a value: in hexadecimal digits if it is no text.
func octets(s string) string {
	if printable(s) {
		return s
	}
	return "0x" + hex.EncodeToString([]byte(s))
}

func dumpLine(m *vici.Message) string {
	var parts []string
	for _, key := range m.Keys() {
		switch v := m.Get(key).(type) {
		case string:
			parts = append(parts, clean(key)+"="+octets(v))
		case []string:
			list := make([]string, len(v))
			for i := range v {
				list[i] = octets(v[i])
			}
			parts = append(parts, clean(key)+"=["+strings.Join(list, " ")+"]")
		case *vici.Message:
			parts = append(parts, clean(key)+" {"+dumpLine(v)+"}")
		}
	}
	return strings.Join(parts, " ")
}

func dumpLines(w io.Writer, m *vici.Message, indent string) {
	for _, key := range m.Keys() {
		switch v := m.Get(key).(type) {
		case string:
			fmt.Fprintf(w, "%s%s = %s\n", indent, clean(key), octets(v))
		case []string:
			fmt.Fprintf(w, "%s%s = [\n", indent, clean(key))
			for _, item := range v {
				fmt.Fprintf(w, "%s  %s\n", indent, octets(item))
			}
			fmt.Fprintf(w, "%s]\n", indent)
		case *vici.Message:
			fmt.Fprintf(w, "%s%s {\n", indent, clean(key))
			dumpLines(w, v, indent+"  ")
			fmt.Fprintf(w, "%s}\n", indent)
		}
	}
}
