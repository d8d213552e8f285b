package starter

// The words of ipsec.conf, and those that stand for them in swanctl.conf.
var (
	yesNo     = map[string]string{"yes": "yes", "no": "no"}
	autoWords = map[string]string{"ignore": "", "add": "none", "route": "trap", "start": "start"}
	typeWords = map[string]string{
		"tunnel": "tunnel", "transport": "transport", "transport_proxy": "transport_proxy", "beet": "beet",
		"passthrough": "pass", "pass": "pass", "drop": "drop", "reject": "drop",
	}
	exchangeWords = map[string]string{"ike": "0", "ikev1": "1", "ikev2": "2"}
	actionWords   = map[string]string{"none": "none", "clear": "none", "hold": "trap", "restart": "start"}
	uniqueWords   = map[string]string{"no": "no", "yes": "replace", "replace": "replace", "keep": "keep", "never": "never"}
	strictWords   = map[string]string{"no": "relaxed", "yes": "strict", "ifuri": "ifuri"}
	sendWords     = map[string]string{"never": "never", "no": "never", "always": "always", "yes": "always", "ifasked": "ifasked"}
	fragmentWords = map[string]string{"yes": "yes", "no": "no", "force": "force", "accept": "accept"}
	authbyWords   = map[string]string{
		"psk": "psk", "secret": "psk", "pubkey": "pubkey", "rsa": "pubkey", "rsasig": "pubkey", "ecdsa": "pubkey", "ecdsasig": "pubkey",
		"never": "", "eap": "eap", "xauthpsk": "xauthpsk", "xauthrsasig": "xauthrsasig",
	}
)

// What is in the tables below has no effect. Where that changes nothing, as with
// what only concerns IKEv1, there is no warning.

var setupEffects = map[string]string{
	"charondebug": "set how much is logged", "cachecrls": "keep fetched CRLs in ipsec.d/crls",
	"charonstart": "", "plutostart": "", "nat_traversal": "", "nocrsend": "", "plutodebug": "", "plutostderrlog": "", "prepluto": "", "postpluto": "",
	"interfaces": "", "klipsdebug": "", "dumpdir": "", "fragicmp": "", "hidetos": "", "packetdefault": "", "overridemtu": "", "crlcheckinterval": "",
	"keep_alive": "", "force_keepalive": "", "virtual_private": "", "pkcs11module": "", "pkcs11initargs": "", "pkcs11keepstate": "", "pkcs11proxy": "",
	"uniqueids": "", "strictcrlpolicy": "",
}

var connEffects = map[string]string{
	"aggressive": "", "xauth": "", "xauth_identity": "", "modeconfig": "", "dpdtimeout": "",
	"pfs": "", "pfsgroup": "", "eap": "", "auth": "", "rightupdown": "", "rightfirewall": "", "righthostaccess": "", "leftupdown": "",
	"leftfirewall": "", "lefthostaccess": "", "leftnexthop": "", "rightnexthop": "", "leftgroups": "", "leftgroups2": "", "leftcertpolicy": "",
	"leftsubnetwithin": "", "rightsubnetwithin": "", "leftnatip": "", "rightnatip": "", "leftca2": "", "rightca2": "", "rightgroups2": "",
	"leftdns": "ask the peer for DNS servers", "leftca": "choose among our certificates; name one in leftcert", "rightsourceip": "", "leftsourceip": "",
	"rightdns": "", "leftsendcert": "", "rightsendcert": "",
}

var caEffects = map[string]string{"ldaphost": "", "ldapbase": ""}
