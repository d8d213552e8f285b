package ipsecconf

import (
	"strings"
	"testing"
)

// Whatever the file says, the answer is sections or an error with a place.
func FuzzParse(f *testing.F) {
	f.Add("config setup\n uniqueids=no # x\nconn %default\n also=a\nconn a\n leftid=\"C=CH, O=\\\"x\\\"\"\n right=%any\n")
	f.Add("version 2\ninclude f\nca x\n cacert=\n")
	f.Add("conn a\n also=b\nconn b\n also=c\nconn c\n leftid=@#01\n x=\"a\\\nb\"")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := Parse(files("f", text), "/f")
		if err != nil {
			if !strings.HasPrefix(err.Error(), "/f:") {
				t.Errorf("error without a place: %v", err)
			}
			return
		}
		for _, s := range file.Conns {
			for _, k := range s.Keys() {
				if k.Value.Line < 1 || k.Value.Line > strings.Count(text, "\n")+1 {
					t.Errorf("%s is at line %d", k.Name, k.Value.Line)
				}
			}
		}
	})
}

// No error and no warning holds a secret.
func FuzzParseSecrets(f *testing.F) {
	f.Add("192.0.2.1 @a : PSK \"x\"\n: RSA key.pem 'y'\ninclude f\n")
	f.Add(": PSK 0x00ff\n: PSK 0sAAA=\n\"C=CH\" : EAP x # y")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSecrets(files("f", text), "/f")
		if err != nil {
			if !strings.HasPrefix(err.Error(), "/f:") {
				t.Errorf("error without a place: %v", err)
			}
			return
		}
		for _, e := range s.Entries {
			if e.Kind == "PSK" && len(e.Secret) == 0 {
				t.Errorf("line %d: a PSK without a key", e.Line)
			}
		}
	})
}
