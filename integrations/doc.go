// Package integrations tests IDs with the libraries that games use: ORMs,
// drivers, web frameworks, encodings. It is a module of its own, so that none of
// them is a dependency of mergesafe.
package integrations
