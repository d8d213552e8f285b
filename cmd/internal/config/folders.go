package config

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/ipsecd/ipsecd/cmd/internal/config/settings"
	"github.com/ipsecd/ipsecd/cmd/internal/config/starter"
)

// The folders beside swanctl.conf and our own file, as strongSwan names them.
const (
	folderCerts   = "x509"
	folderCAs     = "x509ca"
	folderCRLs    = "x509crl"
	folderOCSP    = "x509ocsp"
	folderAAs     = "x509aa"
	folderACs     = "x509ac"
	folderPubkeys = "pubkey"
	folderPKCS12  = "pkcs12"
)

// keyFolders are those of private keys; what is in them says itself what it is.
var keyFolders = []string{"private", "rsa", "ecdsa", "pkcs8"}

// bases returns the directories whose folders count: those of the files that
// were read, and those above conf.d.
func (l *loader) bases() []string {
	var list []string
	add := func(dir string) {
		if !slices.Contains(list, dir) {
			list = append(list, dir)
		}
	}
	for _, name := range l.file.Names {
		if path.Base(name) == "strongswan.conf" {
			continue // it names no credentials, and /etc is nobody's folder
		}
		for _, dir := range basesOf(name) {
			add(dir)
		}
	}
	return list
}

func basesOf(file string) []string {
	dir := path.Dir(file)
	if path.Base(dir) == "conf.d" {
		return []string{path.Dir(dir), dir}
	}
	return []string{dir}
}

// locate finds the file that a key names: relative to the folder beside the
// file that names it, else in that folder beside another of the files.
func (l *loader) locate(folders []string, v settings.Value, name string) (string, error) {
	if path.IsAbs(name) {
		return path.Clean(name), nil
	}
	var tried []string
	for _, base := range append(basesOf(v.File), l.bases()...) {
		for _, folder := range folders {
			full := path.Join(base, folder, name)
			if _, err := fs.Stat(l.fsys, strings.TrimPrefix(full, "/")); err == nil {
				return full, nil
			}
			if !slices.Contains(tried, full) {
				tried = append(tried, full)
			}
		}
	}
	return "", fmt.Errorf("there is no file %s", strings.Join(tried, " or "))
}

// legacyFolders are the names of folders in ipsec.d. Keys are read from there only
// if ipsec.secrets names them, certificates if a connection does.
var legacyFolders = map[string]string{
	folderCAs: starter.FolderCAs, folderCRLs: starter.FolderCRLs, folderOCSP: starter.FolderOCSP,
	folderAAs: starter.FolderAAs, folderACs: starter.FolderACs,
}

// inFolder lists the files of a folder beside each of the files, and in ipsec.d, in
// the order of their names. A folder that is not there is empty.
func (l *loader) inFolder(folder string) []string {
	var dirs, out []string
	for _, base := range l.bases() {
		dirs = append(dirs, path.Join(base, folder))
	}
	if name, ok := legacyFolders[folder]; ok && l.ipsecD != "" {
		dirs = append(dirs, path.Join(l.ipsecD, name))
	}
	for _, dir := range dirs {
		entries, err := fs.ReadDir(l.fsys, strings.TrimPrefix(dir, "/"))
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				l.warn(Position{File: dir, Line: 1}, "cannot be listed: %v", cause(err))
			}
			continue
		}
		for _, e := range entries {
			if !e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
				out = append(out, path.Join(dir, e.Name()))
			}
		}
	}
	return out
}

// content reads a file of a credential, and its mode.
func (l *loader) content(name string) ([]byte, fs.FileMode, error) {
	f, err := l.fsys.Open(strings.TrimPrefix(name, "/"))
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", name, cause(err))
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", name, cause(err))
	}
	b, err := io.ReadAll(io.LimitReader(f, maxCredentialFile+1))
	switch {
	case err != nil:
		return nil, 0, fmt.Errorf("%s: %w", name, cause(err))
	case len(b) > maxCredentialFile:
		return nil, 0, fmt.Errorf("%s is longer than %d octets", name, maxCredentialFile)
	}
	return b, info.Mode(), nil
}

// blob reads a value that is a credential itself: 0x before hexadecimal
// digits, or 0s before base64.
func blob(s string) ([]byte, bool) {
	if digits, ok := strings.CutPrefix(s, "0x"); ok {
		b, err := hex.DecodeString(digits)
		return b, err == nil
	}
	if text, ok := strings.CutPrefix(s, "0s"); ok {
		b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
		return b, err == nil
	}
	return nil, false
}
