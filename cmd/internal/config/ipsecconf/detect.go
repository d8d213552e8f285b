package ipsecconf

import (
	"path"
	"regexp"
)

var (
	confLine    = regexp.MustCompile(`(?m)^(config[ \t]+setup|(conn|ca)[ \t]+[^\s={#"]+)[ \t\r]*(#.*)?$`)
	secretsLine = regexp.MustCompile(`(?m)^[^#\n={]*:[ \t]+(PSK|RSA|ECDSA|PKCS8|P12|EAP|XAUTH|NTLM|PIN|BLISS)[ \t]`)
)

// IsConf reports whether a file is an ipsec.conf, by its name or by a line that
// no strongswan.conf or swanctl.conf can hold.
func IsConf(name, text string) bool {
	return path.Base(name) == "ipsec.conf" || confLine.MatchString(text)
}

// IsSecrets reports whether a file is an ipsec.secrets.
func IsSecrets(name, text string) bool {
	return path.Ext(name) == ".secrets" || secretsLine.MatchString(text)
}
