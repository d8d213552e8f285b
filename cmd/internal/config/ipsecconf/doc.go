// Package ipsecconf reads the grammar of ipsec.conf and ipsec.secrets. It knows
// no parameter and gives none a meaning; it keeps the file and line of everything
// it reads.
//
//	file       := (section | parameter | include | "version" …)*
//	section    := ("config setup" | "conn" name | "ca" name) newline
//	parameter  := blanks name "=" [ value ] newline
//	value      := (word | quoted)*            joined by single spaces
//	include    := "include" pattern newline
//
// A section begins at the first column, its parameters do not. It goes on over
// empty lines, comments and included files until the next one begins. Sections
// of one name are one section. "also = name" takes over the parameters of another
// section of its kind, "%default" is taken over by all of its kind; what is nearer
// comes first, and "name =" hides what is further.
package ipsecconf
