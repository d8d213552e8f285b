// Package vici is the server side of strongSwan's VICI protocol: its packets
// and messages, a server that no client can hold up, and the commands, which
// answer from the daemon's status.
package vici
