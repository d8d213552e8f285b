// Package floors holds the test that keeps the packages on their floors: imports
// go down only, the engine stays pure, and GoBGP stays in the router process.
package floors
