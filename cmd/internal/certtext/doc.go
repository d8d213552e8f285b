// Package certtext writes certificates, public keys, CRLs and OCSP responses for people, in the layout of strongSwan's tools.
package certtext
