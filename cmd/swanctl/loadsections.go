package main

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/strongswan/govici/vici"

	"github.com/ipsecd/ipsecd/cmd/internal/config/settings"
)

func loadConns(s *session, from source) error {
	return thing{"connections", "connections", "conn", names("get-conns", "conns"), connection}.load(s, from)
}

func loadAuthorities(s *session, from source) error {
	return thing{"authorities", "authorities", "authority", names("get-authorities", "authorities"), authority}.load(s, from)
}

func loadPools(s *session, from source) error {
	return thing{"pools", "pools", "pool", poolNames, pool}.load(s, from)
}

func poolNames(s *session) (list []string, err error) {
	m, err := s.call("get-pools", vici.NewMessage())
	if err != nil {
		return nil, err
	}
	if s.dumping() {
		s.dump("get-pools reply", m)
	}
	for _, name := range m.Keys() {
		if section(m, name) != nil {
			list = append(list, name)
		}
	}
	return list, nil
}

// The keys of connections that have several values.
var (
	connLists = []string{"local_addrs", "remote_addrs", "proposals", "esp_proposals", "ah_proposals", "local_ts", "remote_ts", "vips", "pools", "groups", "cert_policy"}
	connFiles = map[string]string{"certs": "x509", "cacerts": "x509ca", "pubkeys": "pubkey"} // with the folder of the files that they name
)

// connection makes a message of a connection and the sections in it: its keys, then its sections.
func connection(from source, sec *settings.Section) (*vici.Message, error) {
	m := vici.NewMessage()
	for _, k := range sec.Keys() {
		folder, isFile := connFiles[k.Name]
		switch {
		case isFile:
			var blobs []string
			for _, item := range split(k.Value.Text) {
				b, err := from.credential(folder, item)
				if err != nil {
					return nil, fmt.Errorf("loading %s certificate '%s' failed: %w", k.Name, from.path(folder, item), err)
				}
				blobs = append(blobs, string(b))
			}
			_ = m.Set(k.Name, blobs)
		case slices.Contains(connLists, k.Name):
			_ = m.Set(k.Name, split(k.Value.Text))
		default:
			_ = m.Set(k.Name, k.Value.Text)
		}
	}
	for _, sub := range sec.Sections() {
		inner, err := connection(from, sub)
		if err != nil {
			return nil, err
		}
		_ = m.Set(sub.Name, inner)
	}
	return m, nil
}

func authority(from source, sec *settings.Section) (*vici.Message, error) {
	m := vici.NewMessage()
	for _, k := range sec.Keys() {
		switch k.Name {
		case "cacert":
			b, err := from.credential("x509ca", k.Value.Text)
			if err != nil {
				return nil, fmt.Errorf("loading ca certificate '%s' failed: %w", from.path("x509ca", k.Value.Text), err)
			}
			_ = m.Set(k.Name, string(b))
		case "crl_uris", "ocsp_uris":
			_ = m.Set(k.Name, split(k.Value.Text))
		default:
			_ = m.Set(k.Name, k.Value.Text)
		}
	}
	return m, nil
}

func pool(_ source, sec *settings.Section) (*vici.Message, error) {
	m := vici.NewMessage()
	for _, k := range sec.Keys() {
		if k.Name == "addrs" {
			_ = m.Set(k.Name, k.Value.Text)
			continue
		}
		_ = m.Set(k.Name, split(k.Value.Text))
	}
	return m, nil
}

// split cuts a list at its commas.
func split(text string) []string {
	list := []string{}
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			list = append(list, item)
		}
	}
	return list
}

// path is where a credential is: a name is one of a file in its folder.
func (from source) path(folder, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(from.dir, folder, name)
}

// credential reads a credential that is named, or written in hexadecimal digits after 0x or in base64 after 0s.
func (from source) credential(folder, item string) ([]byte, error) {
	if digits, ok := strings.CutPrefix(item, "0x"); ok {
		return hex.DecodeString(digits)
	}
	if digits, ok := strings.CutPrefix(item, "0s"); ok {
		return base64.StdEncoding.DecodeString(digits)
	}
	return readFile(from.path(folder, item))
}
