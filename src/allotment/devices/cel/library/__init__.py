"""The functions that a selector can call, a module a library, as Kubernetes puts them together by version."""
