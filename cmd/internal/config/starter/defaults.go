package starter

// What starter uses where ipsec.conf says nothing.
const (
	defaultIKELifetime = 3 * 3600 // seconds
	defaultLifetime    = 3600     // seconds, of a CHILD_SA
	defaultMargin      = 540      // seconds before the end of life
	defaultFuzz        = 100      // percent of the margin that is left to chance
	defaultKeyingTries = "3"
	defaultDPDDelay    = "30s"
	defaultUnique      = "replace"
)

// firewallScript is what leftfirewall has run: our command ipsec.
const firewallScript = "ipsec _updown iptables"

// Prompt stands in place of a passphrase that is to be asked for.
const Prompt = "%prompt"

// The folders of certificates and keys, beside ipsec.conf.
const (
	Folder       = "ipsec.d"
	FolderCerts  = "certs"
	FolderCAs    = "cacerts"
	FolderCRLs   = "crls"
	FolderKeys   = "private"
	FolderAAs    = "aacerts"
	FolderACs    = "acerts"
	FolderOCSP   = "ocspcerts"
	SecretsFile  = "ipsec.secrets"
	defaultLabel = " (default)"
)
